package streamaggregator

import (
	"strconv"
	"strings"
	"time"

	"github.com/rulego/rulego/api/types"
)

// lose counts a result that could not be delivered, and says so in the log, at
// most once in ten seconds.
func (n *Node) lose(why string) {
	total := n.lost.Add(1)
	if n.lostNotice.allow(time.Now()) {
		n.log.Warn("a result could not be delivered: %s (%d so far)", why, total)
	}
}

// reportLoss tells the node that emitted a message, if one of ours did, that the
// receiver was destroyed and took nothing. That happens when a chain stops, as
// RuleGo destroys its nodes in no particular order; component.Drain avoids it.
func reportLoss(ctx types.RuleContext) {
	if ctx.GetContext() == nil {
		return
	}
	if sender, ok := ctx.GetContext().Value(senderKey{}).(*Node); ok {
		sender.lose("node " + strconv.Quote(ctx.GetSelfId()) + " was destroyed before; call component.Drain before stopping the engine")
	}
}

func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
