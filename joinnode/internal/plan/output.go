package plan

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// item is one column, or one spread, of the SELECT list.
type item struct {
	expr  syntax.Expr // a Column for copies and spreads
	field row.Field   // Col is set by its place in the list
}

// bindOutput reads the SELECT list: names (semantics.md §7), stars, and that no
// two columns share a name.
func (b *builder) bindOutput() error {
	b.taken = map[string]bool{}
	for i := range b.stmt.Items {
		it := &b.stmt.Items[i]
		if star, ok := it.Expr.(*syntax.Star); ok {
			if err := b.bindStar(star); err != nil {
				return err
			}
			continue
		}
		cols, err := b.names.columnsOf(it.Expr, nil)
		if err != nil {
			return err
		}
		field := row.Field{Name: it.Alias}
		if c, ok := it.Expr.(*syntax.Column); ok {
			field.Whole = len(cols[0].path) == 0
			if field.Name == "" {
				field.Name = columnName(c)
			}
		}
		if field.Name == "" {
			field.Name = syntax.PrintExpr(it.Expr)
		}
		if err := b.take(field.Name, it.Pos, "name one of them with AS: "+syntax.PrintExpr(it.Expr)+" AS another_name"); err != nil {
			return err
		}
		b.items = append(b.items, item{expr: it.Expr, field: field})
	}
	if len(b.stmt.OrderBy) > 0 {
		b.warnf("ORDER BY has no effect on a WITHIN join: each result has one row")
		for i := range b.stmt.OrderBy {
			if _, err := b.names.columnsOf(b.stmt.OrderBy[i].Expr, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// take refuses a second output column of one name.
func (b *builder) take(name string, pos syntax.Pos, hint string) error {
	if b.taken[name] {
		return b.errorf(pos, ErrDuplicateName, hint, "two output columns are named %q", name)
	}
	b.taken[name] = true
	return nil
}

// bindStar expands * to the FROM row's fields plus every alias with its whole
// row, and alias.* to that row's fields.
func (b *builder) bindStar(s *syntax.Star) error {
	if s.Qualifier != "" {
		for i := range b.plan.Inputs {
			if b.plan.Inputs[i].Alias == s.Qualifier {
				b.items = append(b.items, b.wholeRow(i, row.Field{Spread: true, Prefix: s.Qualifier}))
				return nil
			}
		}
		return b.errorf(s.Pos, ErrUnknownName, b.names.aliasHint(s.Qualifier, &syntax.Column{Path: []syntax.Step{{Name: s.Qualifier}}}),
			"unknown alias %q", s.Qualifier)
	}
	b.items = append(b.items, b.wholeRow(0, row.Field{Spread: true}))
	for i := range b.plan.Inputs {
		alias := b.plan.Inputs[i].Alias
		if err := b.take(alias, s.Pos, "* adds every alias with its whole row: give the other column another name with AS, or leave it out"); err != nil {
			return err
		}
		b.items = append(b.items, b.wholeRow(i, row.Field{Name: alias, Whole: true}))
	}
	return nil
}

func (b *builder) wholeRow(input int, f row.Field) item {
	return item{expr: &syntax.Column{Path: []syntax.Step{{Name: b.plan.Inputs[input].Alias}}}, field: f}
}

// columnName is the output name of a column without AS: its last field name.
func columnName(c *syntax.Column) string {
	for i := len(c.Path) - 1; i >= 0; i-- {
		if !c.Path[i].IsIndex {
			return c.Path[i].Name
		}
	}
	return ""
}
