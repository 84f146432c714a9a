package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Gates are the bounds that each side of each stage has beside WITHIN.
type Gates struct {
	Keys, Rows int
	Bytes      int64
}

// String names them; 0 rows or bytes are no bound.
func (g Gates) String() string {
	text := fmt.Sprintf("%d keys, ", g.Keys)
	if g.Rows > 0 {
		text += fmt.Sprintf("%d rows", g.Rows)
	} else {
		text += "rows unbounded"
	}
	if g.Bytes > 0 {
		text += fmt.Sprintf(", %d bytes", g.Bytes)
	}
	return text
}

// Explain prints the operator graph from the sinks up: what each operator does,
// which columns it keeps, which parts of WHERE were moved to which input, and
// what bounds its state.
func (p *Plan) Explain(gates Gates) string {
	var b strings.Builder
	b.WriteString("Project " + strings.Join(p.Output.Text, ", ") + "\n")
	p.explainStage(&b, len(p.Stages)-1, 1, gates)
	b.WriteString("time: " + p.Time.describe() + "\n")
	for _, w := range p.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	return b.String()
}

func (p *Plan) explainStage(b *strings.Builder, i, depth int, gates Gates) {
	st := &p.Stages[i]
	line := func(depth int, format string, args ...any) {
		b.WriteString(strings.Repeat("  ", depth-1) + "└ " + fmt.Sprintf(format, args...) + "\n")
	}
	note := func(format string, args ...any) {
		b.WriteString(strings.Repeat("  ", depth) + "  " + fmt.Sprintf(format, args...) + "\n")
	}
	if len(st.Filters) > 0 {
		line(depth, "Filter %s", texts(st.Filters))
		depth++
	}
	line(depth, "IntervalJoin stage %d %s on %s within %s", i+1, kindText(st.Left), st.On, syntax.FormatDuration(time.Duration(st.Within)))
	leftRetention, rightRetention := syntax.FormatDuration(time.Duration(st.Within)), syntax.FormatDuration(time.Duration(st.RightRetention))
	note("left  keeps %s for %s", columnsText(st.LeftLayout.Text, st.LeftKeys, st.LeftKeep), leftRetention)
	in := &p.Inputs[i+1]
	note("right keeps %s for %s", columnsText(in.Layout.Text, in.Keys, in.Keep), rightRetention)
	note("state ≤ left rate × %s + right rate × %s rows; gates a side: %s", leftRetention, rightRetention, gates)
	if i > 0 {
		p.explainStage(b, i-1, depth+1, gates)
	} else {
		p.explainInput(line, &p.Inputs[0], depth+1)
	}
	p.explainInput(line, in, depth+1)
}

func (p *Plan) explainInput(line func(int, string, ...any), in *Input, depth int) {
	if len(in.Filters) > 0 {
		line(depth, "Filter %s (moved to the input)", texts(in.Filters))
		depth++
	}
	name := in.Stream
	if in.Alias != in.Stream {
		name += " AS " + in.Alias
	}
	line(depth, "Stream %s reads %s", name, strings.Join(in.Layout.Text, ", "))
}

func (t Time) describe() string {
	if !t.Event() {
		return "arrival (processing time)"
	}
	unit := "guessed by magnitude"
	if t.Unit != "" {
		unit = t.Unit
	}
	idle := "never idle"
	if t.IdleTimeout > 0 {
		idle = "idle after " + syntax.FormatDuration(t.IdleTimeout)
	}
	skew := "no bound on future timestamps"
	if t.MaxFutureSkew > 0 {
		skew = "at most " + syntax.FormatDuration(t.MaxFutureSkew) + " ahead of the clock"
	}
	return fmt.Sprintf("event time from %s (unit %s), %s, %s", t.Text, unit, idle, skew)
}

func kindText(left bool) string {
	if left {
		return "LEFT"
	}
	return "INNER"
}

func texts(cs []Conjunct) string {
	all := make([]string, len(cs))
	for i, c := range cs {
		all[i] = c.Text
	}
	return strings.Join(all, " AND ")
}

func columnsText(cols []string, keys, keep int) string {
	text := "key (" + strings.Join(cols[:keys], ", ") + ")"
	if keep > keys {
		text += ", " + strings.Join(cols[keys:keep], ", ")
	}
	return text
}
