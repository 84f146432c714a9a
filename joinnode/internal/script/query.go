package script

import (
	"slices"
	"time"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// query is one query while it is bound: the node that has its rows so far and
// the sources whose columns are in them.
type query struct {
	b       *builder
	node    node
	sources []source
	ident   []ref // what tells the rows apart
	time    ref   // the time of the row of the first stream; nil: none
	parent  *table
	zone    *time.Location
	ttl     int64
	ttlPos  syntax.Pos
	ttlUsed bool
	follow  int64 // IDLETIMEOUT of WITHIN joins
	behind  int64 // the sum of the bounds of interval joins so far

	// Of the result.
	order      []orderBy
	parentKeys []string
}

// source is one alias of a query.
type source struct {
	alias  string
	schema schema
	table  *table // nil: elements of an array, or a fold
	node   node
}

// query binds a query; parent is the table under which it stands, or nil.
func (b *builder) query(s syntax.Query, parent *table) (*query, error) {
	q := &query{b: b, parent: parent}
	switch s := s.(type) {
	case *syntax.Select:
		return q, q.selectQuery(s)
	case *syntax.DistinctOn:
		return q, q.distinctOn(s)
	case *syntax.StreamOn:
		return q, q.streamOn(s)
	}
	return nil, b.errorf(s.Position(), ErrUnsupported, "write Parent.name := JOIN table ON table.x = @.y", "a relationship belongs to a parent table")
}

// from is the first source.
func (q *query) from(alias string, t *table) {
	q.node = q.source(alias, t)
	q.ident = q.identity(alias, t)
	if t.node.kind() == Stream {
		q.time = refOf(alias, hiddenTime)
	}
}

// source makes the rows of t visible under alias.
func (q *query) source(alias string, t *table) node {
	stamp := add(q.b, &stampNode{in: t.node})
	n := add(q.b, &aliasNode{in: stamp, alias: alias})
	q.sources = append(q.sources, source{alias: alias, schema: t.node.schema(), table: t, node: n})
	return n
}

// identity is what tells the rows of a table apart.
func (q *query) identity(alias string, t *table) []ref {
	if t.node.kind() == Stream {
		return []ref{refOf(alias, hiddenSeq)}
	}
	ident := []ref{}
	for _, k := range t.node.keys() {
		ident = append(ident, under(alias, k))
	}
	return ident
}

func (q *query) find(alias string) *source {
	for i := range q.sources {
		if q.sources[i].alias == alias {
			return &q.sources[i]
		}
	}
	return nil
}

// resolve finds the column that a name means.
func (q *query) resolve(c *syntax.Column) (ref, error) {
	first := c.Path[0]
	if s := q.find(first.Name); s != nil && (first.Name != "@" || !first.Quoted) {
		if len(c.Path) == 1 {
			if s.schema.open && len(s.schema.fields) == 0 {
				return ref(c.Path), nil // the whole row
			}
			return nil, q.b.errorf(c.Pos, ErrUnsupported, "name its columns, or write "+first.Name+".* in the SELECT list", "%s is a whole row here", first.Name)
		}
		if err := q.checkColumn(s, c.Path[1], c.Pos); err != nil {
			return nil, err
		}
		return ref(c.Path), nil
	}
	if first.Name == "@" && !first.Quoted {
		return nil, q.b.errorf(c.Pos, plan.ErrUnknownName, "@ is the parent row in Parent.name := SELECT … FROM @ …", "there is no parent row here")
	}
	if len(c.Path) > 1 && !c.Path[1].IsIndex && q.visibleSources() > 1 && !q.isField(first.Name) {
		return nil, q.b.unknown(c.Pos, "alias", first.Name, q.aliases(), "the aliases here: "+q.aliasList()+"; a field inside another is written alias."+ref(c.Path).String())
	}
	s, err := q.owner(first.Name, c)
	if err != nil {
		return nil, err
	}
	return append(refOf(s.alias), c.Path...), nil
}

// owner finds the source that an unqualified column belongs to: the FROM table
// when it can have it, else the only other one that does.
func (q *query) owner(name string, c *syntax.Column) (*source, error) {
	var candidates []*source
	var parent *source
	for i := range q.sources {
		s := &q.sources[i]
		switch {
		case s.alias == "@":
			parent = s
		case s.alias[0] != 0:
			candidates = append(candidates, s)
		}
	}
	if parent != nil {
		candidates = append(candidates, parent)
	}
	if len(candidates) > 0 && candidates[0].schema.has(name) {
		return candidates[0], nil
	}
	var found []*source
	var known []string
	for _, s := range candidates {
		if s.schema.has(name) {
			found = append(found, s)
		}
		known = append(known, s.schema.fields...)
		known = append(known, s.alias)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, q.b.unknown(c.Pos, "column", name, known, "write alias.column; the aliases here: "+q.aliasList())
	}
	return nil, q.b.errorf(c.Pos, plan.ErrUnknownName, "write "+found[0].alias+"."+name+" or "+found[1].alias+"."+name, "column %q is ambiguous", name)
}

func (q *query) aliases() []string {
	var list []string
	for _, s := range q.sources {
		if s.alias[0] != 0 {
			list = append(list, s.alias)
		}
	}
	return list
}

func (q *query) visibleSources() int { return len(q.aliases()) }

// isField tells whether a source is known to have a column of the name.
func (q *query) isField(name string) bool {
	return slices.ContainsFunc(q.sources, func(s source) bool { return slices.Contains(s.schema.fields, name) })
}

func (q *query) aliasList() string {
	list := ""
	for _, s := range q.sources {
		if s.alias[0] == 0 {
			continue
		}
		if list != "" {
			list += ", "
		}
		list += s.alias
	}
	return list
}

func (q *query) checkColumn(s *source, st syntax.Step, pos syntax.Pos) error {
	if st.IsIndex || s.schema.has(st.Name) {
		return nil
	}
	of := s.alias
	if s.table != nil {
		of = s.table.name
	}
	hint := of + " has no columns to name"
	if len(s.schema.fields) > 0 {
		hint = "its columns: " + joined(s.schema.fields)
	}
	if near := spelling.Nearest(st.Name, s.schema.fields); near != "" {
		hint = "did you mean " + near + "?"
	}
	return q.b.errorf(pos, plan.ErrUnknownName, hint, "%s has no column %q", of, st.Name)
}

func joined(list []string) string {
	s := ""
	for i, x := range list {
		if i > 0 {
			s += ", "
		}
		s += x
	}
	return s
}

// bind returns an expression whose columns are refs into the query's rows.
func (q *query) bind(e syntax.Expr) (syntax.Expr, error) {
	return rewrite(e, func(x syntax.Expr) (syntax.Expr, error) {
		c, ok := x.(*syntax.Column)
		if !ok {
			return nil, nil
		}
		r, err := q.resolve(c)
		if err != nil {
			return nil, err
		}
		return bound(c.Pos, r), nil
	})
}

// checkScalar refuses functions that work on several rows.
func (q *query) checkScalar(e syntax.Expr) error {
	var err error
	syntax.Walk(e, func(x syntax.Expr) bool {
		if s, ok := x.(*syntax.Star); ok && err == nil {
			err = q.b.errorf(s.Pos, ErrUnsupported, "", "* cannot stand here")
		}
		if c, ok := x.(*syntax.Call); ok && err == nil {
			switch kind := eval.Classify(c.Name).Kind; {
			case kind == eval.Aggregate:
				err = q.b.errorf(c.Pos, ErrUnsupported, "aggregates stand in the SELECT list or in HAVING", "aggregate %s cannot stand here", c.Name)
			case kind != eval.Scalar && kind != eval.Unknown:
				err = q.b.errorf(c.Pos, ErrUnsupported, "group by endOfMinute(time) and the like for windows of time", "function %s is not available in a table script", c.Name)
			case c.Over != nil:
				err = q.b.errorf(c.Pos, ErrUnsupported, "", "OVER is not available in a table script")
			}
		}
		return err == nil
	})
	return err
}

// options reads WITH (…) of a statement.
func (q *query) options(opts []syntax.Option) error {
	given := map[string]bool{}
	for _, o := range opts {
		if given[o.Name] {
			return q.b.errorf(o.Pos, plan.ErrOption, "", "WITH option %s is given twice", o.Name)
		}
		given[o.Name] = true
		switch o.Name {
		case "STATETTL":
			d, err := plan.OptionDuration(q.b.sql, o)
			if err != nil {
				return err
			}
			q.ttl, q.ttlPos = int64(d), o.Pos
		case "TIMEZONE":
			zone, err := eval.LoadZone(o.Value)
			if err != nil {
				return q.b.errorf(o.Pos, plan.ErrOption, "write a name such as TIMEZONE = 'Asia/Shanghai' or 'UTC'", "TIMEZONE: %v", err)
			}
			q.zone = zone
		case "IDLETIMEOUT":
			d, err := plan.OptionDuration(q.b.sql, o)
			if err != nil {
				return err
			}
			q.follow = int64(d)
		case "TIMESTAMP", "TIMEUNIT", "MAXOUTOFORDERNESS", "MAXFUTURESKEW":
			return q.b.errorf(o.Pos, plan.ErrOption, "declare it with the stream: IMPORT "+q.firstInput()+" "+o.Name+" "+o.Value, "%s belongs to an input stream in a table script", o.Name)
		default:
			return q.b.unknown(o.Pos, "WITH option", o.Name, []string{"STATETTL", "TIMEZONE", "IDLETIMEOUT"},
				"a statement of a table script takes STATETTL, TIMEZONE and, for a WITHIN join, IDLETIMEOUT")
		}
	}
	return nil
}

func (q *query) firstInput() string {
	if len(q.b.inputs) > 0 {
		return q.b.inputs[0].name
	}
	return "name"
}

// distinctOn is DISTINCT source ON key ORDER BY time DESC.
func (q *query) distinctOn(s *syntax.DistinctOn) error {
	if err := q.options(s.With); err != nil {
		return err
	}
	t, err := q.b.lookup(s.Source.Name, s.Source.Pos)
	if err != nil {
		return err
	}
	if t.node.kind() == State {
		return q.b.errorf(s.Source.Pos, ErrKind, "read it as it is, or make a stream of its changes first: STREAM ON UPDATE AS SELECT …",
			"DISTINCT … ON makes a state table of a stream, and %s is a state table already", t.name)
	}
	alias := s.Source.Alias
	if alias == "" {
		alias = s.Source.Name
	}
	q.from(alias, t)
	n := &dedupNode{in: t.node, ttl: q.ttl}
	column := func(e syntax.Expr, what string) (ref, error) {
		c, ok := e.(*syntax.Column)
		if !ok {
			return nil, q.b.errorf(e.Position(), ErrUnsupported, "compute it in a column first: "+t.name+".name := expression", "%s of DISTINCT … ON takes columns", what)
		}
		r, err := q.resolve(c)
		if err != nil {
			return nil, err
		}
		return r[1:], nil
	}
	for _, e := range s.On {
		r, err := column(e, "ON")
		if err != nil {
			return err
		}
		n.on = append(n.on, t.node.provide(r))
	}
	for _, o := range s.OrderBy {
		r, err := column(o.Expr, "ORDER BY")
		if err != nil {
			return err
		}
		n.order = append(n.order, orderBy{r, o.Desc})
	}
	n.by = n.orderText()
	if n.byTime() {
		// The time of a row is one whatever its spelling and unit.
		n.in = add(q.b, &stampNode{in: t.node})
		n.order[0].ref = refOf(hiddenTime)
	}
	q.node = add(q.b, n)
	return nil
}

// streamOn is STREAM ON … AS query.
func (q *query) streamOn(s *syntax.StreamOn) error {
	inner, err := q.b.query(s.Query, q.parent)
	if err != nil {
		return err
	}
	if inner.node.kind() == Stream {
		return q.b.errorf(s.Query.Pos, ErrKind, "make a state table of it first: DISTINCT … ON key ORDER BY time DESC, or an aggregation",
			"STREAM ON %s needs a state table, and this query's rows are a stream that never changes", s.On)
	}
	on := map[syntax.ChangeKind]operator.Change{syntax.OnAdd: operator.Inserted, syntax.OnUpdate: operator.Updated, syntax.OnDelete: operator.Deleted}
	q.node = add(q.b, &streamOnNode{in: inner.node, on: on[s.On]})
	return nil
}
