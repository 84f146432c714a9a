package script

import (
	"bytes"
	"slices"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// finish decides what leaves and what can be read, and makes the vertices that
// these need.
func (b *builder) finish() error {
	exported, err := b.exported()
	if err != nil {
		return err
	}
	var ends []*endNode
	end := func(t *table, export bool) {
		b.table = t.name
		n := add(b, &endNode{in: t.node, table: t, export: export})
		n.used = true
		ends = append(ends, n)
	}
	for _, t := range exported {
		end(t, true)
	}
	for _, t := range b.order {
		if t.node.kind() == State && !slices.Contains(exported, t) {
			end(t, false)
		}
	}
	read := map[*inputNode]bool{}
	for i := len(b.nodes) - 1; i >= 0; i-- {
		n := b.nodes[i]
		if in, ok := n.(*inputNode); ok {
			// Every stream that the script names takes rows, and has a part in now().
			read[in], in.used = in.used, true
		}
		if n.base().used {
			n.need(b)
		}
	}
	for _, n := range b.nodes {
		if !n.base().used {
			continue
		}
		e, err := n.lower(b)
		if err != nil {
			return err
		}
		n.base().edge = e
	}
	if len(b.program.Inputs) == 0 {
		return b.errorf(syntax.Pos{Line: 1, Col: 1}, ErrUnsupported, "", "the script reads no stream")
	}
	for _, n := range ends {
		if n.export {
			b.program.Outputs = append(b.program.Outputs, n.output)
		}
	}
	b.listTables(ends)
	b.prune()
	for _, in := range b.inputs {
		if in.imported && !read[in] {
			b.warnf("IMPORT %s: no table reads the stream", in.name)
		}
	}
	return nil
}

// target is the only place that tables are exported to.
const target = "stream_event"

// exported returns the tables that leave: those of EXPORT, else the last one.
func (b *builder) exported() ([]*table, error) {
	var list []*table
	for _, st := range b.exports {
		name := st.Name.String()
		t := b.tables[name]
		if t == nil {
			return nil, b.unknown(st.Name.Position(), "table", name, b.names(), "EXPORT names a table of the script")
		}
		if own := st.Name.Parts[len(st.Name.Parts)-1].Name; strings.HasPrefix(own, "_") || strings.HasPrefix(name, "_") {
			return nil, b.errorf(st.Name.Position(), plan.ErrUnknownName, "give it a name without the underscore", "tables whose name begins with _ never leave the script")
		}
		if st.To.Name != target {
			return nil, b.errorf(st.To.Pos, plan.ErrUnknownName, "write EXPORT "+name+" TO "+target, "unknown target %q", st.To.Name)
		}
		if slices.Contains(list, t) {
			return nil, b.errorf(st.Name.Position(), plan.ErrDuplicateName, "", "%s is exported twice", name)
		}
		list = append(list, t)
	}
	if len(list) > 0 {
		return list, nil
	}
	if b.last == nil {
		return nil, b.errorf(syntax.Pos{Line: 1, Col: 1}, ErrUnsupported, "add a query, or Name := query", "the script defines no table")
	}
	t := b.tables[b.last.name]
	if strings.HasPrefix(t.name, "_") || strings.Contains(t.name, "._") {
		return nil, b.errorf(syntax.Pos{Line: 1, Col: 1}, ErrUnsupported, "name the tables that leave: EXPORT name TO "+target, "the last table, %s, is hidden, so nothing leaves the script", t.name)
	}
	return []*table{t}, nil
}

// endNode is a table as it leaves the script and as it is read: its key first,
// then its columns.
type endNode struct {
	core
	in     node
	table  *table
	export bool
	output Output
	read   Table
}

func (n *endNode) inputs() []node      { return []node{n.in} }
func (n *endNode) kind() Kind          { return n.in.kind() }
func (n *endNode) keys() []ref         { return n.in.keys() }
func (n *endNode) schema() schema      { return n.in.schema() }
func (n *endNode) provide(r ref) ref   { return n.in.provide(r) }
func (n *endNode) timing(r ref) timing { return n.in.timing(r) }

// columns are the key, the named columns, and the whole row of an open table.
func (n *endNode) columns() layout {
	l := layout{}
	for _, k := range n.in.keys() {
		l = append(l, n.in.provide(k))
	}
	for _, r := range allOf(n.in.schema()) {
		if p := n.in.provide(r); l.find(p) < 0 {
			l = append(l, p)
		}
	}
	return l
}

func (n *endNode) need(*builder) {
	for _, r := range n.columns() {
		want(n.in, r)
	}
}

// fields writes a row as users see it.
func (n *endNode) fields(l layout) (fields []row.Field, names []string) {
	s := n.in.schema()
	if s.open {
		fields = append(fields, row.Field{Col: l.find(n.in.provide(ref{})), Spread: true})
	}
	for _, f := range s.fields {
		if strings.HasPrefix(f, "_") {
			continue // hidden, as tables with such names are
		}
		fields = append(fields, row.Field{Name: f, Col: l.find(n.in.provide(refOf(f)))})
		names = append(names, f)
	}
	return fields, names
}

func (n *endNode) lower(b *builder) (edge, error) {
	l := n.columns()
	e, err := b.exactly(n.in, n.in.base().edge, l)
	if err != nil {
		return edge{}, err
	}
	fields, names := n.fields(l)
	shape := row.NewShape(fields)
	keys := n.in.keys()
	n.read = Table{Name: n.table.name, Kind: n.kind(), Reader: -1, Shape: shape}
	n.output = Output{Name: n.table.name, Kind: n.kind(), Shape: shape, Names: names, Window: isWindow(n.in)}
	if n.kind() == Stream {
		n.output.Vertex = b.passing(n.table.name, e)
		return e, nil
	}
	n.read.Key = keyNames(keys)
	n.read.KeyOf = keyShape(n.read.Key)
	n.output.Key = n.read.KeyOf
	n.read.Reader, n.read.View = e.reader, e.view
	if n.export || e.reader < 0 {
		cfg := operator.TableConfig{Keys: len(keys), Keep: e.reader < 0, Net: e.net && e.reader >= 0, Text: "key (" + joined(n.read.Key) + ")"}
		v, _ := b.vertex(n.table.name, "Table "+cfg.Text, cfg.Keep, l, func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
			return operator.NewTable(cfg, out)
		}, e)
		n.output.Vertex = v
		if cfg.Keep {
			n.read.Reader, n.read.View = v, nil
		}
	}
	n.read.Less = n.less(l, len(keys))
	return e, nil
}

// passing returns the vertex that e comes from; rows of an input pass through one
// of their own.
func (b *builder) passing(table string, e edge) int {
	if e.port.From == FromVertex {
		return e.port.Index
	}
	from := make([]int, len(e.layout))
	for i := range from {
		from[i] = i
	}
	b.table = table
	return b.keep(b.nodes[len(b.nodes)-1], e, e.layout, from).port.Index
}

func isWindow(n node) bool {
	switch n := n.(type) {
	case *groupNode:
		return n.bucket >= 0
	case *projectNode:
		return isWindow(n.in)
	case *filterNode:
		return isWindow(n.in)
	}
	return false
}

// less orders rows by the ORDER BY of the definition, NULLs last, then by key.
func (n *endNode) less(l layout, keys int) func(a, b row.Row) bool {
	type by struct {
		col  int
		desc bool
	}
	var order []by
	for _, o := range n.table.order {
		if col := l.find(n.in.provide(o.ref)); col >= 0 {
			order = append(order, by{col, o.desc})
		}
	}
	return func(a, b row.Row) bool {
		for _, o := range order {
			x, y := a.Col(o.col), b.Col(o.col)
			if x.IsNull() != y.IsNull() {
				return y.IsNull()
			}
			if c, ok := value.Compare(x, y); ok && c != 0 {
				return (c < 0) != o.desc
			}
		}
		for i := range keys {
			x, y := a.Col(i), b.Col(i)
			if c, ok := value.Compare(x, y); ok {
				if c != 0 {
					return c < 0
				}
				continue
			}
			if c := bytes.Compare(value.AppendKey(nil, x), value.AppendKey(nil, y)); c != 0 {
				return c < 0
			}
		}
		return false
	}
}

// keyName is the name of a key column in metadata and messages.
func keyName(k ref) string {
	for i := len(k) - 1; i >= 0; i-- {
		switch name := k[i].Name; {
		case k[i].IsIndex:
		case name == hiddenSeq:
			return "_seq"
		case name == hiddenIndex:
			return "_index"
		case strings.HasPrefix(name, "\x00k"):
			return strings.TrimLeft(name[2:], "0123456789")
		case strings.HasPrefix(name, "\x00g"):
			return "_group" + name[2:]
		default:
			return name
		}
	}
	return "_row"
}

// keyNames names the key columns, each differently.
func keyNames(keys []ref) []string {
	names := []string{}
	for _, k := range keys {
		name := keyName(k)
		for slices.Contains(names, name) {
			name += "_"
		}
		names = append(names, name)
	}
	return names
}

func keyShape(names []string) *row.Shape {
	fields := make([]row.Field, len(names))
	for i, n := range names {
		fields[i] = row.Field{Name: n, Col: i}
	}
	return row.NewShape(fields)
}

// listTables describes every named table.
func (b *builder) listTables(ends []*endNode) {
	tables := b.order
	for _, n := range ends {
		if !slices.Contains(tables, n.table) { // an input that leaves as it came
			tables = append([]*table{n.table}, tables...)
		}
	}
	for _, t := range tables {
		entry := Table{Name: t.name, Kind: t.node.kind(), Reader: -1}
		for _, n := range ends {
			if n.table == t {
				entry = n.read
			}
		}
		for i := range b.program.Vertices {
			if b.program.Vertices[i].Table == t.name {
				entry.Vertices = append(entry.Vertices, i)
			}
		}
		entry.Bound = boundOf(t.node)
		b.program.Tables = append(b.program.Tables, entry)
	}
}
