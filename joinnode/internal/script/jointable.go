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
	for _, e := range conjuncts(j.On) {
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
	n.rest = conjunction(n.restOf(on))
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
	if e := conjunction(on); e != nil {
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
	return conjuncts(e), q.checkScalar(e)
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
	if !mixed || !keyed || related || j.Explicit || state == 0 && (n.left || len(q.sources) > 2) {
		return nil // relational
	}
	if why := n.in[state].versions(); why != "" {
		return q.b.errorf(j.Pos, ErrUnsupported, "order it by the event time, descending (IMPORT … TIMESTAMP declares it), or write INNER JOIN for the rows as of now",
			"JOIN of a stream and a state table on its key takes the version as of the row's time, but the versions of %s do not follow event time: %s", q.stateName(n, t, state), why)
	}
	n.asOf(state)
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
		q.ident = append(q.ident[:len(q.ident):len(q.ident)], own...)
		n.ident = q.ident
		if q.time == nil && t.node.kind() == Stream {
			q.time = refOf(q.sources[len(q.sources)-1].alias, hiddenTime)
		}
	}
}

func (n *joinNode) rightAlias(q *query) string { return q.sources[len(q.sources)-1].alias }

// timeTerm reads column ± interval …: a row time of one side.
func (q *query) timeTerm(n *joinNode, e syntax.Expr) (c *syntax.Column, shift int64, ok bool) {
	switch e := e.(type) {
	case *syntax.Column:
		return e, 0, true
	case *syntax.Binary:
		iv, isInterval := e.Y.(*syntax.Interval)
		if (e.Op == "+" || e.Op == "-") && isInterval {
			if c, shift, ok = q.timeTerm(n, e.X); !ok {
				return nil, 0, false
			}
			if e.Op == "-" {
				return c, shift - iv.D, true
			}
			return c, shift + iv.D, true
		}
		if iv, isInterval = e.X.(*syntax.Interval); e.Op == "+" && isInterval {
			c, shift, ok = q.timeTerm(n, e.Y)
			return c, shift + iv.D, ok
		}
	}
	return nil, 0, false
}

// limit is what one condition says of right time − left time.
type limit struct {
	lower, upper       int64
	hasLower, hasUpper bool
}

// limitOf reads x op y where both are times of different sides.
func (q *query) limitOf(n *joinNode, op string, x, y syntax.Expr) (l limit, ok bool, err error) {
	cx, sx, okx := q.timeTerm(n, x)
	cy, sy, oky := q.timeTerm(n, y)
	if !okx || !oky || n.side(ref(cx.Path)) == n.side(ref(cy.Path)) {
		return limit{}, false, nil
	}
	timed := func(c *syntax.Column) bool { return n.in[n.side(ref(c.Path))].timing(ref(c.Path)).row }
	if !timed(cx) || !timed(cy) {
		if !timed(cx) && !timed(cy) && sx == 0 && sy == 0 {
			return limit{}, false, nil // a comparison of other columns
		}
		bad := cx
		if timed(cx) {
			bad = cy
		}
		return limit{}, false, q.b.errorf(bad.Pos, ErrUnsupported, "bound the TIMESTAMP columns that IMPORT declares, or use WITHIN, which needs none",
			"an interval join bounds the times of both streams, and %s is not the time of its rows", visible(text(ref(bad.Path))))
	}
	// x.t + sx op y.t + sy  ⇔  x.t − y.t op sy − sx
	d := sy - sx
	if n.side(ref(cx.Path)) == 0 { // left − right op d  ⇔  right − left (flipped op) −d
		d = -d
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	switch op {
	case "<":
		return limit{upper: d - 1, hasUpper: true}, true, nil
	case "<=":
		return limit{upper: d, hasUpper: true}, true, nil
	case ">":
		return limit{lower: d + 1, hasLower: true}, true, nil
	}
	return limit{lower: d, hasLower: true}, true, nil
}

// intervalBounds makes n an interval join: by WITHIN, or by conditions on the
// times of both sides, which are taken out of ON and, for an inner join, out of
// WHERE.
func (q *query) intervalBounds(n *joinNode, j *syntax.Join, on, where []syntax.Expr) (onLeft, whereLeft []syntax.Expr, err error) {
	n.how, n.follow = interval, q.follow
	left, right := n.in[0].kind(), n.in[1].kind()
	if left == State || right == State {
		return nil, nil, q.b.errorf(j.Pos, ErrKind, "leave WITHIN away; TEMPORAL JOIN takes the version as of the row's time, INNER JOIN the row of now", "WITHIN joins two streams, and one side is a state table")
	}
	var all limit
	if j.Within != nil {
		w := int64(j.Within.D)
		all = limit{-w, w, true, true}
		onLeft, whereLeft = on, where
	} else {
		take := func(conds []syntax.Expr) (kept []syntax.Expr, err error) {
			for _, e := range conds {
				ls, ok, err := q.limitsOf(n, e)
				if err != nil {
					return nil, err
				}
				if !ok {
					kept = append(kept, e)
				}
				for _, l := range ls {
					all.narrow(l)
				}
			}
			return kept, nil
		}
		if onLeft, err = take(on); err != nil {
			return nil, nil, err
		}
		whereLeft = where
		if !n.left && !(all.hasLower && all.hasUpper) {
			if whereLeft, err = q.takeWhere(n, where, &all); err != nil {
				return nil, nil, err
			}
		}
	}
	if !all.hasLower || !all.hasUpper {
		pos := j.Pos
		if j.On != nil {
			pos = j.OnPos
		}
		missing := "bounds"
		switch {
		case all.hasLower:
			missing = "an upper bound"
		case all.hasUpper:
			missing = "a lower bound"
		}
		return nil, nil, q.b.errorf(pos, ErrUnsupported,
			"add WITHIN 30 SECONDS, or bound both ways: a.time BETWEEN b.time - INTERVAL 5 MINUTE AND b.time + INTERVAL 1 HOUR; or make one side a state table",
			"a join of two streams needs %s on the time between their rows", missing)
	}
	if all.lower > all.upper {
		return nil, nil, q.b.errorf(j.OnPos, ErrUnsupported, "", "no two rows can match: the bounds leave no time between them")
	}
	n.lo, n.hi, n.behind = all.lower, all.upper, q.behind
	if j.Within == nil {
		n.disorder = max(disorderOf(n.in[0]), disorderOf(n.in[1]))
	}
	q.behind += n.kept()
	return onLeft, whereLeft, nil
}

func (l *limit) narrow(by limit) {
	if by.hasLower && (!l.hasLower || by.lower > l.lower) {
		l.lower, l.hasLower = by.lower, true
	}
	if by.hasUpper && (!l.hasUpper || by.upper < l.upper) {
		l.upper, l.hasUpper = by.upper, true
	}
}

// limitsOf reads one condition.
func (q *query) limitsOf(n *joinNode, e syntax.Expr) (ls []limit, ok bool, err error) {
	switch e := e.(type) {
	case *syntax.Between:
		if e.Not {
			return nil, false, nil
		}
		lo, okLo, err := q.limitOf(n, ">=", e.X, e.Lo)
		if err != nil {
			return nil, false, err
		}
		hi, okHi, err := q.limitOf(n, "<=", e.X, e.Hi)
		if err != nil {
			return nil, false, err
		}
		return []limit{lo, hi}, okLo && okHi, nil
	case *syntax.Binary:
		switch e.Op {
		case "<", "<=", ">", ">=":
			l, ok, err := q.limitOf(n, e.Op, e.X, e.Y)
			return []limit{l}, ok, err
		}
	}
	return nil, false, nil
}

// takeWhere finds bounds among the conditions of WHERE that read only what is
// joined so far.
func (q *query) takeWhere(n *joinNode, where []syntax.Expr, all *limit) (kept []syntax.Expr, err error) {
	for _, e := range where {
		known := true
		eachColumn(e, func(c *syntax.Column) { known = known && (len(c.Path) < 2 || q.find(c.Path[0].Name) != nil) })
		if known {
			if bound, err := q.bind(e); err == nil {
				ls, ok, err := q.limitsOf(n, bound)
				if err != nil {
					return nil, err
				}
				if ok {
					for _, l := range ls {
						all.narrow(l)
					}
					continue
				}
			}
		}
		kept = append(kept, e)
	}
	return kept, nil
}
