package script

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// joinKind is how two tables are joined.
type joinKind uint8

const (
	relational joinKind = iota // rows as of now, with retraction
	temporal                   // the version as of the stream row's time
	interval                   // two streams, times within bounds
)

// joinNode joins the rows of a query so far with those of one more table, which
// stands under alias.
type joinNode struct {
	core
	in     [2]node
	alias  string          // of in[1]
	right  map[string]bool // the aliases whose columns in[1] has
	how    joinKind
	left   bool
	pairs  [2][]syntax.Expr // bound: the equalities of ON, by side
	rest   syntax.Expr      // bound: what else ON asks for
	on     string
	ident  []ref // of the result of a relational join
	nested bool  // in[1] is nested under in[0]: keys with NULLs match
	ttl    int64
	zone   *time.Location
	// Of an interval join: right time − left time is in [lo, hi], ns; follow
	// is its IDLETIMEOUT.
	lo, hi   int64
	follow   int64
	disorder int64 // headroom for rows out of order
	behind   int64 // the sum of the bounds of the joins on the left
}

func (n *joinNode) inputs() []node { return n.in[:] }

func (n *joinNode) kind() Kind {
	if n.how == relational {
		return State
	}
	return Stream
}

func (n *joinNode) keys() []ref    { return n.ident }
func (n *joinNode) schema() schema { return schema{} }

func (n *joinNode) side(r ref) int {
	if len(r) > 0 && n.right[r[0].Name] {
		return 1
	}
	return 0
}

func (n *joinNode) provide(r ref) ref { return n.in[n.side(r)].provide(r) }

func (n *joinNode) timing(r ref) timing {
	s := n.side(r)
	t := n.in[s].timing(r)
	t.row = t.row && n.how == temporal && s == 0
	return t
}

func (n *joinNode) need(*builder) {
	for s := range n.in {
		n.in[s].base().used = true
		wantAll(n.in[s], n.pairs[s]...)
	}
	wantAll(n, n.rest)
	for _, r := range n.wanted.list {
		want(n.in[n.side(r)], r)
	}
	for _, r := range n.versioned() {
		want(n.in[1], r)
	}
}

// versioned are the columns by which it is decided whether a temporal join's table
// has a new version: all of its row. Of a table with a history every row is one.
func (n *joinNode) versioned() []ref {
	if n.how != temporal || keepsHistory(n.in[1]) {
		return nil
	}
	rs := append([]ref(nil), n.in[1].keys()...)
	for _, r := range allOf(n.in[1].schema()) {
		rs = append(rs, under(n.alias, r))
	}
	for i := range rs {
		rs[i] = n.in[1].provide(rs[i])
	}
	return rs
}

// port arranges one side: the join key first, then the columns that are wanted.
func (n *joinNode) port(b *builder, s int) (e edge, keep layout, err error) {
	e = n.in[s].base().edge
	if rs := n.versioned(); s == 1 && rs != nil {
		if e, err = b.consolidate(n, n.in[1], e, rs); err != nil {
			return e, nil, err
		}
	}
	var cols []column
	for i, x := range n.pairs[s] {
		c := column{ref: refOf(numbered("\x00j", i)), expr: x}
		if col, ok := x.(*syntax.Column); ok {
			c = column{ref: ref(col.Path)}
			if at, rest := e.layout.locate(c.ref); at < 0 || len(rest) > 0 {
				c = column{ref: ref(col.Path), expr: x}
			}
		}
		cols = append(cols, c)
	}
	for _, r := range n.wanted.list {
		if n.side(r) == s && layoutOf(cols).find(r) < 0 {
			cols = append(cols, column{ref: r})
		}
	}
	e, err = b.arrange(n.in[s], e, cols, n.zone)
	return e, layoutOf(cols), err
}

func (n *joinNode) lower(b *builder) (edge, error) {
	var e [2]edge
	var keep [2]layout
	for s := range e {
		var err error
		if e[s], keep[s], err = n.port(b, s); err != nil {
			return edge{}, err
		}
	}
	var out []operator.OutCol
	l := layout{}
	for _, r := range n.wanted.list {
		s := n.side(r)
		out = append(out, operator.OutCol{Port: uint8(s), Col: keep[s].find(r)})
		l = append(l, r)
	}
	txt := operator.JoinText{On: n.on, Kept: [2][]string{keep[0].texts(), keep[1].texts()}}
	txt.Ports = [2]string{"the left side", n.alias}
	var rest eval.Predicate
	if n.rest != nil {
		var err error
		if rest, err = eval.CompilePredicateIn(n.rest, b.scopeOf(l, n, n.zone)); err != nil {
			return edge{}, b.place(err)
		}
	}
	keys, kept := [2]int{len(n.pairs[0]), len(n.pairs[1])}, [2]int{len(keep[0]), len(keep[1])}
	what := fmt.Sprintf("left=%t on %s keys %v keep (%s) (%s) out %v ttl %d nested=%t%s", n.left, n.on, keys,
		strings.Join(keep[0].texts(), ","), strings.Join(keep[1].texts(), ","), out, n.ttl, n.nested, zoneText(n.zone))
	switch n.how {
	case temporal:
		cfg := operator.TemporalJoinConfig{Keys: keys, Keep: kept, Left: n.left, Out: out, Text: txt}
		v, res := b.vertex(n.table, "TemporalJoin "+what, true, l, func(ctx *eval.Context, o operator.Output) (operator.Operator, error) {
			c := cfg
			c.Residual = holds(rest, ctx)
			return operator.NewTemporalJoin(c, o)
		}, e[0], e[1])
		b.lookedUpBySides(v, keys, e)
		return res, nil
	case interval:
		return n.lowerInterval(b, e, keys, kept, out, l, txt, what, rest)
	}
	in := []edge{e[0], e[1]}
	if n.ttl > 0 {
		in = append(in, now())
	}
	cfg := operator.RelationalJoinConfig{Keys: keys, Keep: kept, Left: n.left, Out: out, TTL: n.ttl, NullsMatch: n.nested, Text: txt}
	v, res := b.vertex(n.table, "RelationalJoin "+what, true, l, func(ctx *eval.Context, o operator.Output) (operator.Operator, error) {
		c := cfg
		c.Residual = holds(rest, ctx)
		return operator.NewRelationalJoin(c, o)
	}, in...)
	res.reader = v
	return res, nil
}

// lookedUpBySides is lookedUp for both ports of a join.
func (b *builder) lookedUpBySides(v int, keys [2]int, e [2]edge) {
	for s := range e {
		b.lookedUp(v, s, keys[s], e[s])
	}
}

// kept is how long an interval join keeps the rows of both sides, by the time of
// each: for the greater bound, as WITHIN does. Bounds on times leave no headroom for
// disorder of their own, so they get what the inputs declare.
func (n *joinNode) kept() int64 { return max(n.lo, -n.lo, n.hi, -n.hi) + n.disorder }

// disorderOf is the greatest MAXOUTOFORDERNESS of the inputs behind n.
func disorderOf(n node) int64 {
	if in, ok := n.(*inputNode); ok {
		return int64(in.disorder)
	}
	var d int64
	for _, in := range n.inputs() {
		d = max(d, disorderOf(in))
	}
	return d
}

// keepsHistory tells whether versions that never were current may come from n.
func keepsHistory(n node) bool {
	switch n := n.(type) {
	case *dedupNode:
		return n.byTime()
	case *aliasNode, *stampNode, *filterNode, *projectNode, *extendNode, *unnestNode, *foldNode:
		return keepsHistory(n.inputs()[0])
	}
	return false
}

// lowerInterval makes a WITHIN join: each port behind a check for late rows.
func (n *joinNode) lowerInterval(b *builder, e [2]edge, keys, kept [2]int, out []operator.OutCol, l layout, txt operator.JoinText, what string, rest eval.Predicate) (edge, error) {
	within := n.kept()
	clocked := e[0].clocked && e[1].clocked
	for s := range e {
		if s == 0 && n.behind > 0 {
			continue // composite rows come in time, and their side does not idle (semantics.md §4, §5)
		}
		late, lead := within, e[s].lead
		var v int
		v, e[s] = b.vertex(n.table, fmt.Sprintf("Lateness %d follow %d", late, n.follow), true, e[s].layout, func(_ *eval.Context, o operator.Output) (operator.Operator, error) {
			return operator.NewLateness(late, "", o)
		}, e[s])
		e[s].lead = lead
		b.program.Vertices[v].Ports[0].Follow = n.follow
	}
	cfg := operator.JoinConfig{Within: within, Left: n.left, LeftRetention: within, RightRetention: within + n.behind, Clocked: clocked, Keys: keys, Keep: kept, Out: out, RightSource: 1, Text: txt,
		MaxKeys: b.gates.Keys, MaxRows: b.gates.Rows, MaxBytes: b.gates.Bytes}
	if within == 0 || n.lo != -within || n.hi != within {
		cfg.Lower, cfg.Upper, cfg.Between = n.lo, n.hi, true
	}
	what += fmt.Sprintf(" bounds %d %d retention %d clocked %t gates %+v", n.lo, n.hi, cfg.RightRetention, clocked, b.gates)
	v, res := b.vertex(n.table, "IntervalJoin "+what, true, l, func(_ *eval.Context, o operator.Output) (operator.Operator, error) {
		return operator.NewIntervalJoin(cfg, o)
	}, e[0], e[1])
	b.lookedUpBySides(v, keys, e)
	if rest == nil {
		return res, nil
	}
	cond := visible(syntax.PrintExpr(n.rest))
	_, res = b.vertex(n.table, "Filter "+cond, false, l, func(ctx *eval.Context, o operator.Output) (operator.Operator, error) {
		return operator.NewFilter(func(r row.Row) bool { return holds(rest, ctx)(r) }, cond, false, o), nil
	}, res)
	return res, nil
}
