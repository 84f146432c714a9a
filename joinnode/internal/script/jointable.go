package script

import (
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// joinTable joins the rows so far with table t. related says that ON comes from
// the parent row or a relationship, where rows are those of now.
func (q *query) joinTable(j *syntax.Join, t *table, alias string, where []syntax.Expr, related bool) ([]syntax.Expr, error) {
	left := q.node
	right := q.source(alias, t)
	n := &joinNode{in: [2]node{left, right}, alias: alias, right: map[string]bool{alias: true}, left: j.Kind == syntax.LeftJoin, zone: q.zone}
	on, err := q.bindOn(j, alias)
	if err != nil {
		return nil, err
	}
	for _, e := range syntax.Conjuncts(j.On) {
		eachColumn(e, func(c *syntax.Column) { related = related || c.Path[0].Name == "@" && !c.Path[0].Quoted })
	}
	streams := left.kind() == Stream && right.kind() == Stream
	switch {
	case j.Temporal && streams:
		return nil, q.temporalJoin(n, j, t, false, 1, false)
	case j.Within != nil || streams:
		if on, where, err = q.intervalBounds(n, j, on, where); err != nil {
			return nil, err
		}
	case j.Temporal && related:
		related = false
	}
	n.on = visible(printed(on))
	n.split(on)
	n.rest = syntax.Conjunction(n.restOf(on))
	if len(n.pairs[0]) == 0 {
		pos := j.Pos
		if j.On != nil {
			pos = j.OnPos
		}
		return nil, q.b.errorf(pos, ErrUnsupported, "write ON "+aliasHint(q, alias)+".x = "+alias+".y", "JOIN %s needs ON with an equality of columns of both sides", t.name)
	}
	if n.how != interval {
		if err := q.decide(n, j, t, related); err != nil {
			return nil, err
		}
	}
	if n.how == interval && n.left && n.rest != nil {
		return nil, q.b.errorf(j.OnPos, ErrUnsupported, "put the condition into WHERE, or into the table that is joined", "ON of a LEFT interval join takes equalities and bounds of time only")
	}
	q.identify(n, t)
	if n.how == relational && q.ttl > 0 {
		n.ttl, q.ttlUsed = q.ttl, true
	}
	q.node = add(q.b, n)
	return where, nil
}

func aliasHint(q *query, not string) string {
	for _, s := range q.sources {
		if s.alias != not && s.alias[0] != 0 {
			return s.alias
		}
	}
	return "a"
}

func printed(on []syntax.Expr) string {
	if e := syntax.Conjunction(on); e != nil {
		return syntax.PrintExpr(e)
	}
	return ""
}

// bindOn binds ON, whose columns may already be bound by a relationship.
func (q *query) bindOn(j *syntax.Join, alias string) ([]syntax.Expr, error) {
	if j.On == nil {
		return nil, nil
	}
	e, err := q.bind(j.On)
	if err != nil {
		return nil, err
	}
	if err := q.b.checkStable(e); err != nil {
		return nil, err
	}
	return syntax.Conjuncts(e), q.checkScalar(e)
}

// sidesOf tells which sides of the join an expression reads.
func (n *joinNode) sidesOf(e syntax.Expr) (sides [2]bool) {
	eachColumn(e, func(c *syntax.Column) { sides[n.side(ref(c.Path))] = true })
	return sides
}

// pair returns the two sides of an equality between them.
func (n *joinNode) pair(e syntax.Expr) (x, y syntax.Expr, ok bool) {
	bin, isBinary := e.(*syntax.Binary)
	if !isBinary || bin.Op != "=" {
		return nil, nil, false
	}
	l, r := n.sidesOf(bin.X), n.sidesOf(bin.Y)
	switch {
	case l == [2]bool{true, false} && r == [2]bool{false, true}:
		return bin.X, bin.Y, true
	case l == [2]bool{false, true} && r == [2]bool{true, false}:
		return bin.Y, bin.X, true
	}
	return nil, nil, false
}

func (n *joinNode) split(on []syntax.Expr) {
	for _, e := range on {
		if x, y, ok := n.pair(e); ok {
			n.pairs[0], n.pairs[1] = append(n.pairs[0], x), append(n.pairs[1], y)
		}
	}
}

func (n *joinNode) restOf(on []syntax.Expr) (rest []syntax.Expr) {
	for _, e := range on {
		if _, _, ok := n.pair(e); !ok {
			rest = append(rest, e)
		}
	}
	return rest
}

// onKey tells whether the equalities fix the whole key of a side.
func (n *joinNode) onKey(side int) bool {
	for _, k := range n.in[side].keys() {
		if !slices.ContainsFunc(n.pairs[side], func(e syntax.Expr) bool {
			c, ok := e.(*syntax.Column)
			return ok && equal(n.in[side].provide(ref(c.Path)), n.in[side].provide(k))
		}) {
			return false
		}
	}
	return true
}

// partner returns the column of the left side that ON makes equal to a key column of
// the right one, as which users may know it; the column itself when there is none.
func (n *joinNode) partner(k ref) ref {
	for i, e := range n.pairs[1] {
		right, ok := e.(*syntax.Column)
		if !ok || !equal(n.in[1].provide(ref(right.Path)), n.in[1].provide(k)) {
			continue
		}
		if left, ok := n.pairs[0][i].(*syntax.Column); ok {
			return n.in[0].provide(ref(left.Path))
		}
	}
	return k
}

// decide chooses between the rows of now and the version as of the stream row's
// time (docs/tables.md, "Joins").
func (q *query) decide(n *joinNode, j *syntax.Join, t *table, related bool) error {
	state := 1 // the side that is the state
	if n.in[0].kind() == State && n.in[1].kind() == Stream {
		state = 0
	}
	mixed := n.in[0].kind() != n.in[1].kind()
	keyed := mixed && len(n.in[state].keys()) > 0 && n.onKey(state)
	if j.Temporal {
		return q.temporalJoin(n, j, t, mixed, state, keyed)
	}
	if mixed && !keyed && !related && !j.Explicit && q.ttl == 0 {
		q.b.warnf("JOIN %s is not on the whole key (%s), so it gives the rows as of now and keeps every row of the stream; WITH (STATETTL = '1d') bounds that",
			t.name, joined(keyNames(n.in[state].keys())))
	}
	if !mixed || !keyed || related || j.Explicit || state == 0 && (n.left || len(q.sources) > 2) {
		return nil // relational
	}
	if why := n.in[state].versions(); why != "" {
		return q.b.errorf(j.Pos, ErrUnsupported, "order it by the event time, descending (IMPORT … TIMESTAMP declares it), or write INNER JOIN for the rows as of now",
			"JOIN of a stream and a state table on its key takes the version as of the row's time, but the versions of %s do not follow event time: %s", q.stateName(n, t, state), why)
	}
	n.asOf(state)
	q.warnOfArrival(n)
	return nil
}

// warnOfArrival warns of a stream by arrival time that is joined with versions by
// event time: its rows would take the version of when they came.
func (q *query) warnOfArrival(n *joinNode) {
	in := inputOf(n.in[0])
	if in == nil || in.time != nil || !keepsHistory(n.in[1]) {
		return
	}
	q.b.warnf("%s has arrival time, so its rows take the version of when they came; IMPORT %s TIMESTAMP field declares the time that they carry", in.name, in.name)
}

// inputOf returns the only input behind n, nil when there are several.
func inputOf(n node) *inputNode {
	for n != nil {
		if in, ok := n.(*inputNode); ok {
			return in
		}
		if len(n.inputs()) != 1 {
			return nil
		}
		n = n.inputs()[0]
	}
	return nil
}

func (q *query) stateName(n *joinNode, t *table, state int) string {
	if state == 1 {
		return t.name
	}
	return q.sources[0].table.name
}

// asOf makes n a temporal join whose stream is port 0.
func (n *joinNode) asOf(state int) {
	n.how = temporal
	if state == 0 {
		n.in[0], n.in[1] = n.in[1], n.in[0]
		n.pairs[0], n.pairs[1] = n.pairs[1], n.pairs[0]
		n.alias = n.in[1].(*aliasNode).alias
		n.right = map[string]bool{n.alias: true}
	}
}

func (q *query) temporalJoin(n *joinNode, j *syntax.Join, t *table, mixed bool, state int, keyed bool) error {
	switch {
	case n.in[1].kind() == Stream && n.in[0].kind() == Stream:
		return q.b.errorf(j.Source.Pos, ErrKind, "make a state table of it: "+t.name+" := DISTINCT "+t.name+" ON key ORDER BY time DESC", "TEMPORAL JOIN needs a state table, and %s is a stream", t.name)
	case !mixed:
		return q.b.errorf(j.Pos, ErrKind, "use JOIN for the rows as of now, or make a stream of the left side: STREAM ON UPDATE AS SELECT …", "TEMPORAL JOIN needs a stream on its left side, and both sides are state tables")
	case state == 0 && (n.left || len(q.sources) > 2):
		return q.b.errorf(j.Pos, ErrKind, "write FROM "+t.name+" LEFT TEMPORAL JOIN …", "TEMPORAL JOIN needs the stream on its left side, and %s is the stream", t.name)
	case !keyed:
		name := q.stateName(n, t, state)
		return q.b.errorf(j.Pos, ErrUnsupported, "ON must set each column of the key equal to one of the stream; for other conditions use INNER JOIN",
			"TEMPORAL JOIN must be on the key of %s: (%s)", name, joined(keyNames(n.in[state].keys())))
	}
	if why := n.in[state].versions(); why != "" {
		return q.b.errorf(j.Pos, ErrUnsupported, "order it by the event time, descending: IMPORT … TIMESTAMP declares it",
			"TEMPORAL JOIN takes the version as of the row's time, but the versions of %s do not follow event time: %s", q.stateName(n, t, state), why)
	}
	n.asOf(state)
	q.warnOfArrival(n)
	return nil
}

// identify says what tells the rows of the join apart.
func (q *query) identify(n *joinNode, t *table) {
	own := q.identity(n.rightAlias(q), t)
	switch n.how {
	case temporal:
		// The stream's row alone: it meets one version.
		if n.alias != q.sources[len(q.sources)-1].alias {
			q.ident = own
		}
		if q.time == nil {
			q.time = refOf(q.sources[len(q.sources)-1].alias, hiddenTime)
		}
	case interval:
		q.ident = append(q.ident[:len(q.ident):len(q.ident)], own...)
	default:
		if n.in[0].kind() == State && n.in[1].kind() == State && n.onKey(1) {
			own = nil // each row on the left meets one on the right
		}
		if !n.left {
			for i := range own {
				if p := n.partner(own[i]); keyName(p) == keyName(own[i]) {
					own[i] = p
				}
			}
		}
		q.ident = append(q.ident[:len(q.ident):len(q.ident)], own...)
		n.ident = q.ident
		if q.time == nil && t.node.kind() == Stream {
			q.time = refOf(q.sources[len(q.sources)-1].alias, hiddenTime)
		}
	}
}

func (n *joinNode) rightAlias(q *query) string { return q.sources[len(q.sources)-1].alias }
