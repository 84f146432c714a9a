package script

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// build makes an operator; Vertex.Build has the same form.
type build = func(ctx *eval.Context, out operator.Output) (operator.Operator, error)

// vertex adds a vertex that reads the given edges and returns its number and the
// edge behind it with layout l. what names the operator and all that it is told.
func (b *builder) vertex(table, what string, stateful bool, l layout, make build, in ...edge) (int, edge) {
	v := Vertex{Table: table, Build: make, Stateful: stateful}
	id := what
	clocked := true
	for _, e := range in {
		v.Ports = append(v.Ports, e.port)
		v.Shapes = append(v.Shapes, keptShape(e.layout))
		// What an operator is told names columns; the layout says which those are.
		id += " <" + e.identity + " (" + strings.Join(e.layout.texts(), ",") + ")>"
		clocked = clocked && (e.clocked || e.port.From == FromNow)
	}
	v.Identity = digest(id)
	b.program.Vertices = append(b.program.Vertices, v)
	n := len(b.program.Vertices) - 1
	return n, edge{port: Port{From: FromVertex, Index: n}, layout: l, identity: v.Identity, clocked: clocked, reader: -1}
}

func digest(s string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(s)) // a hash never fails
	return fmt.Sprintf("%x", h.Sum(nil))
}

// now is the edge that carries the script's time.
func now() edge { return edge{port: Port{From: FromNow}, identity: "now", reader: -1} }

// keptShape writes what an operator keeps of a row, for the late output.
func keptShape(l layout) *row.Shape {
	taken := map[string]bool{}
	var fields []row.Field
	for i, r := range l {
		if len(r) == 0 {
			fields = append(fields, row.Field{Col: i, Spread: true})
			continue
		}
		name := visible(r.String())
		if len(r) == 1 {
			name = visible(r[0].Name)
		}
		if !taken[name] {
			taken[name] = true
			fields = append(fields, row.Field{Name: name, Col: i})
		}
	}
	return row.NewShape(fields)
}

// scopeOf is how bound expressions find columns of rows with layout l.
func (b *builder) scopeOf(l layout, n node, zone *time.Location) eval.Scope {
	return eval.Scope{
		Locate: func(c *syntax.Column) (int, row.Path, error) {
			col, rest := l.locate(ref(c.Path))
			if col < 0 {
				return 0, nil, b.errorf(c.Pos, ErrUnsupported, "", "column %s is not available here", visible(ref(c.Path).String()))
			}
			return col, rest, nil
		},
		Unit: func(c *syntax.Column) value.Unit { return n.timing(ref(c.Path)).unit },
		Zone: zone,
	}
}

// column is one column of a projection.
type column struct {
	ref  ref
	expr syntax.Expr // bound; nil copies ref
}

func copies(rs ...ref) []column {
	cols := make([]column, len(rs))
	for i, r := range rs {
		cols[i] = column{ref: r}
	}
	return cols
}

func layoutOf(cols []column) layout {
	l := make(layout, len(cols))
	for i, c := range cols {
		l[i] = c.ref
	}
	return l
}

// arrange returns an edge whose rows begin with exactly the given columns: e
// itself when they do so already, else a projection of it. n is the node that e
// belongs to.
func (b *builder) arrange(n node, e edge, cols []column, zone *time.Location) (edge, error) {
	exprs := make([]eval.Expr, len(cols))
	from := make([]int, len(cols))
	same, plain := len(e.layout) >= len(cols), true
	texts := make([]string, len(cols))
	scope := b.scopeOf(e.layout, n, zone)
	for i, c := range cols {
		from[i] = -1
		r := c.ref
		expr := c.expr
		if expr == nil {
			expr = bound(syntax.Pos{}, r)
		}
		if col, ok := expr.(*syntax.Column); ok {
			if at, rest := e.layout.locate(ref(col.Path)); at >= 0 && len(rest) == 0 {
				from[i] = at
			}
		}
		if from[i] < 0 {
			plain = false
			var err error
			if exprs[i], err = eval.CompileIn(expr, scope); err != nil {
				return edge{}, b.place(err)
			}
		}
		same = same && from[i] == i
		texts[i] = visible(syntax.PrintExpr(expr))
		if col, ok := expr.(*syntax.Column); ok {
			texts[i] = layout{ref(col.Path)}.texts()[0]
		}
	}
	if same {
		if len(e.layout) == len(cols) {
			e.layout = layoutOf(cols)
		} else {
			e.layout = append(layoutOf(cols), e.layout[len(cols):]...)
		}
		return e, nil
	}
	apply := func(ctx *eval.Context, dst, src row.Row) row.Row {
		if plain {
			return row.AppendColumns(dst, src, from)
		}
		for i := range from {
			if from[i] >= 0 {
				dst = row.AppendColumns(dst, src, from[i:i+1])
			} else {
				dst = row.Append(dst, exprs[i](ctx, src))
			}
		}
		return dst
	}
	list := strings.Join(texts, ", ")
	_, out := b.vertex(n.base().table, "Project "+list+zoneText(zone), false, layoutOf(cols), func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewProject(func(dst, src row.Row) row.Row { return apply(ctx, dst, src) }, list, out), nil
	}, e)
	out.reader, out.net, out.lead = e.reader, e.net, leading(from, e.lead)
	out.view = e.view.then(func(ctx *eval.Context, dst, src row.Row) (row.Row, bool) {
		return apply(ctx, dst, src), true
	})
	return out, nil
}

// leading returns how many columns of a projection are the same ones of its
// input, up to most.
func leading(from []int, most int) int {
	n := 0
	for n < min(len(from), most) && from[n] == n {
		n++
	}
	return n
}

// lookedUp notes that vertex v looks the records of a port up by their first keys
// columns.
func (b *builder) lookedUp(v, port, keys int, e edge) {
	b.program.Vertices[v].Ports[port].Shown = keys > 0 && keys <= e.lead
}

// keep projects e to some of its columns.
func (b *builder) keep(n node, e edge, rs []ref, from []int) edge {
	list := strings.Join(layout(rs).texts(), ", ")
	cut := leading(from, len(from)) == len(from)
	_, out := b.vertex(n.base().table, "Project "+list, false, rs, func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		if cut && len(from) > 0 {
			return operator.NewCut(len(from), list, out), nil
		}
		return operator.NewProject(func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, from) }, list, out), nil
	}, e)
	out.reader, out.net, out.lead = e.reader, e.net, leading(from, e.lead)
	out.view = e.view.then(func(ctx *eval.Context, dst, src row.Row) (row.Row, bool) {
		return row.AppendColumns(dst, src, from), true
	})
	return out
}

func zoneText(zone *time.Location) string {
	if zone == nil {
		return ""
	}
	return " in " + zone.String()
}

// predicate compiles a bound condition over rows of e.
func (b *builder) predicate(n node, e edge, cond syntax.Expr, zone *time.Location) (eval.Predicate, error) {
	p, err := eval.CompilePredicateIn(cond, b.scopeOf(e.layout, n, zone))
	return p, b.place(err)
}

func holds(p eval.Predicate, ctx *eval.Context) func(row.Row) bool {
	if p == nil {
		return nil
	}
	return func(r row.Row) bool { return p(ctx, r) == value.True }
}
