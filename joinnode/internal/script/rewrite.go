package script

import "github.com/streamjoin/streamjoin/joinnode/internal/syntax"

// rewrite returns a copy of e in which change has replaced what it wants to:
// where it returns nil, the parts of the expression are gone through.
func rewrite(e syntax.Expr, change func(syntax.Expr) (syntax.Expr, error)) (syntax.Expr, error) {
	if e == nil {
		return nil, nil
	}
	if done, err := change(e); done != nil || err != nil {
		return done, err
	}
	r := rewriter{change: change}
	out := r.parts(e)
	return out, r.err
}

type rewriter struct {
	change func(syntax.Expr) (syntax.Expr, error)
	err    error
}

func (r *rewriter) one(e syntax.Expr) syntax.Expr {
	if r.err != nil || e == nil {
		return e
	}
	var out syntax.Expr
	out, r.err = rewrite(e, r.change)
	return out
}

func (r *rewriter) list(es []syntax.Expr) []syntax.Expr {
	out := make([]syntax.Expr, len(es))
	for i, e := range es {
		out[i] = r.one(e)
	}
	return out
}

func (r *rewriter) parts(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Unary:
		c := *e
		c.X = r.one(e.X)
		return &c
	case *syntax.Binary:
		c := *e
		c.X, c.Y = r.one(e.X), r.one(e.Y)
		return &c
	case *syntax.IsNull:
		c := *e
		c.X = r.one(e.X)
		return &c
	case *syntax.In:
		c := *e
		c.X, c.List = r.one(e.X), r.list(e.List)
		return &c
	case *syntax.Between:
		c := *e
		c.X, c.Lo, c.Hi = r.one(e.X), r.one(e.Lo), r.one(e.Hi)
		return &c
	case *syntax.Like:
		c := *e
		c.X, c.Pattern = r.one(e.X), r.one(e.Pattern)
		return &c
	case *syntax.Case:
		c := *e
		c.Operand = r.one(e.Operand)
		c.Whens = make([]syntax.When, len(e.Whens))
		for i, w := range e.Whens {
			c.Whens[i] = syntax.When{Cond: r.one(w.Cond), Then: r.one(w.Then)}
		}
		c.Else = r.one(e.Else)
		return &c
	case *syntax.Call:
		c := *e
		c.Args = r.list(e.Args)
		return &c
	}
	return e
}
