package definition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// Warnings finds connections through which nothing comes, or what is hardly meant:
// from or to nodes that are not there, of a relation that x/streamAggregator does not
// have, and from its Success to another query. RuleGo accepts them all in silence.
func Warnings(def types.RuleChain) []string {
	nodes := make(map[string]*types.RuleNode, len(def.Metadata.Nodes))
	var ids []string
	for i, n := range def.Metadata.Nodes {
		id := n.Id
		if id == "" {
			id = fmt.Sprintf("node%d", i) // as RuleGo names it
		}
		nodes[id] = n
		ids = append(ids, id)
	}
	var found []string
	for _, c := range def.Metadata.Connections {
		warn := func(format string, args ...any) {
			found = append(found, fmt.Sprintf("connection %s –%s→ %s: ", c.FromId, c.Type, c.ToId)+fmt.Sprintf(format, args...))
		}
		from, to := nodes[c.FromId], nodes[c.ToId]
		if from == nil {
			warn("there is no node %q, nothing comes through%s", c.FromId, spelling.Hint(c.FromId, ids))
		}
		if to == nil {
			warn("there is no node %q, what comes through is lost%s", c.ToId, spelling.Hint(c.ToId, ids))
		}
		if from == nil || from.Type != streamaggregator.Type {
			continue
		}
		relations := *streamaggregator.New().Def().RelationTypes
		switch {
		case !slices.Contains(relations, c.Type):
			warn("%s has no relation %q, nothing comes through (it has %s)%s", streamaggregator.Type, c.Type, strings.Join(relations, ", "), spelling.Hint(c.Type, relations))
		case c.Type == types.Success && to != nil && to.Type == streamaggregator.Type:
			warn("Success passes the incoming messages on, not the results: to feed results to a second query write %q", streamaggregator.RelationEvent)
		case c.Type == streamaggregator.RelationLate && from.Configuration["lateEvents"] != true:
			warn(`nothing comes through unless the node has "lateEvents": true`)
		}
	}
	return found
}
