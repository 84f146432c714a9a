package script

import (
	"fmt"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Explain prints the tables in order of definition, each with its kind, its key,
// what bounds its state, and its operators, which describe themselves.
func (p *Program) Explain(describe func(vertex int) operator.Description) string {
	var b strings.Builder
	for i := range p.Inputs {
		in := &p.Inputs[i]
		fmt.Fprintf(&b, "input %s: %s\n", in.Stream, in.describe())
	}
	leaves := map[string]bool{}
	for i := range p.Outputs {
		leaves[p.Outputs[i].Name] = true
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		fmt.Fprintf(&b, "%s %s", t.Kind, t.Name)
		if t.Kind == State {
			fmt.Fprintf(&b, ", key (%s)", strings.Join(t.Key, ", "))
		}
		if leaves[t.Name] {
			b.WriteString(", exported")
		}
		fmt.Fprintf(&b, "\n  bound: %s\n", t.Bound)
		for _, v := range t.Vertices {
			p.explainVertex(&b, v, describe(v))
		}
	}
	for _, w := range p.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	return b.String()
}

func (p *Program) explainVertex(b *strings.Builder, v int, d operator.Description) {
	var from []string
	for _, port := range p.Vertices[v].Ports {
		switch port.From {
		case FromInput:
			from = append(from, p.Inputs[port.Index].Stream)
		case FromNow:
			from = append(from, "now()")
		default:
			name := fmt.Sprintf("#%d", port.Index)
			if t := p.Vertices[port.Index].Table; t != p.Vertices[v].Table {
				name += " of " + t
			}
			from = append(from, name)
		}
	}
	fmt.Fprintf(b, "  #%d %s ← %s\n", v, d.Name, strings.Join(from, ", "))
	for _, line := range d.Lines {
		b.WriteString("      " + line + "\n")
	}
}

func (in *Input) describe() string {
	reads := make([]string, len(in.Paths))
	for i, p := range in.Paths {
		if reads[i] = p.String(); len(p) == 0 {
			reads[i] = "the whole row"
		}
	}
	s := "reads " + strings.Join(reads, ", ")
	if len(reads) == 0 {
		s = "reads no column"
	}
	if in.TimeCol < 0 {
		return s + "; arrival time"
	}
	s += "; event time from " + in.TimeText
	if in.Unit != value.AutoUnit {
		s += " in " + unitText(in.Unit)
	}
	if in.Disorder > 0 {
		s += ", " + syntax.FormatDuration(in.Disorder) + " out of order"
	}
	if in.IdleTimeout > 0 {
		return s + ", idle after " + syntax.FormatDuration(in.IdleTimeout)
	}
	return s + ", never idle"
}

func unitText(u value.Unit) string {
	switch u {
	case value.Nanosecond:
		return "ns"
	case value.Microsecond:
		return "us"
	case value.Millisecond:
		return "ms"
	case value.Second:
		return "seconds"
	case value.Minute:
		return "minutes"
	case value.Hour:
		return "hours"
	}
	return "days"
}
