package plan

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// placeWhere gives every conjunct of WHERE the earliest place that semantics.md
// §7 allows: the input, where it names one alias that is FROM or INNER-joined;
// else the first composite that has all its aliases; the last one for conjuncts
// whose value can differ from call to call.
func (b *builder) placeWhere() error {
	last := len(b.plan.Stages) - 1
	b.warnOfNull(b.stmt.Where)
	for _, e := range syntax.Conjuncts(b.stmt.Where) {
		cols, err := b.names.columnsOf(e, nil)
		if err != nil {
			return err
		}
		aliases := map[int]bool{}
		highest := -1
		for _, c := range cols {
			aliases[c.input] = true
			highest = max(highest, c.input)
		}
		c := Conjunct{Text: syntax.PrintExpr(e), Expr: e}
		switch {
		case eval.Volatile(e) || len(aliases) == 0:
			b.plan.Stages[last].Filters = append(b.plan.Stages[last].Filters, c)
		case len(aliases) == 1 && b.inner(highest):
			b.plan.Inputs[highest].Filters = append(b.plan.Inputs[highest].Filters, c)
		default:
			stage := max(highest-1, 0)
			b.plan.Stages[stage].Filters = append(b.plan.Stages[stage].Filters, c)
		}
	}
	return nil
}

// inner tells whether an input's rows can only appear matched: FROM, or joined
// by INNER JOIN.
func (b *builder) inner(input int) bool {
	return input == 0 || !b.plan.Stages[input-1].Left
}

// conjunction joins conjuncts to one expression; nil when there are none.
func conjunction(cs []Conjunct) syntax.Expr {
	all := make([]syntax.Expr, len(cs))
	for i, c := range cs {
		all[i] = c.Expr
	}
	return syntax.Conjunction(all)
}

// warnOfNull warns of comparisons with NULL, or with a field called nil, which
// streamsql's users write for IS NULL.
func (b *builder) warnOfNull(e syntax.Expr) {
	syntax.Walk(e, func(e syntax.Expr) bool {
		c, ok := e.(*syntax.Binary)
		if !ok || c.Op != "=" && c.Op != "!=" || !syntax.WritesNull(c.X) && !syntax.WritesNull(c.Y) {
			return true
		}
		test := map[string]string{"=": "IS NULL", "!=": "IS NOT NULL"}[c.Op]
		b.warnf("line %d, column %d: %s is never true; write %s", c.Pos.Line, c.Pos.Col, syntax.PrintExpr(c), test)
		return true
	})
}
