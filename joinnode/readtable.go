package joinnode

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TableInfo describes one table of a script.
type TableInfo struct {
	Name     string
	Kind     string   // "stream" or "state"
	Key      []string // names of the key columns of a state
	Bound    string   // what bounds its state, in words
	Exported bool
}

// TableQuery chooses among the rows of a table. The zero TableQuery takes all.
type TableQuery struct {
	// Key holds values of key columns by name. A string also equals a number or a
	// truth value that is spelled so, since parameters of URLs are text.
	Key map[string]any
	// Limit is the greatest number of rows; 0 = no limit.
	Limit int
}

// ErrTableQuery marks a TableQuery that does not suit the table.
var ErrTableQuery = errors.New("invalid table query")

// ScriptTables describes the tables of a script in order of definition; nil for
// other queries and before Execute.
func (s *Streamsql) ScriptTables() []TableInfo {
	q, err := s.script()
	if err != nil {
		return nil
	}
	list := make([]TableInfo, len(q.program.Tables))
	for i := range q.program.Tables {
		t := &q.program.Tables[i]
		list[i] = TableInfo{Name: t.Name, Kind: t.Kind.String(), Key: slices.Clone(t.Key), Bound: t.Bound}
		for j := range q.program.Outputs {
			list[i].Exported = list[i].Exported || q.program.Outputs[j].Name == t.Name
		}
	}
	return list
}

// Table returns the rows of a state table of a script as they are now: between
// two arrivals, with everything that was accepted before and everything that was
// due by now. They are in the order of the table's ORDER BY, then of its key, and
// belong to the caller. While they are copied the query processes nothing. It may be
// called from a sink, and after Stop for the rows that the query ended with. Errors:
// ErrNotExecuted; ErrUnknownTable, also for a query that is no script and for a
// stream table, which has no rows of now.
func (s *Streamsql) Table(name string) ([]map[string]any, error) {
	return s.QueryTable(name, TableQuery{})
}

// QueryTable is Table for some of the rows. Beside Table's errors there is
// ErrTableQuery for a column that is not of the key and for a negative limit.
func (s *Streamsql) QueryTable(name string, choice TableQuery) ([]map[string]any, error) {
	t, rows, err := s.readTable(name, choice)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(rows))
	for i, r := range rows {
		out[i] = t.Shape.Map(r)
	}
	return out, nil
}

// TableJSON appends the rows as a JSON array of objects to dst; numbers that came
// as JSON keep their spelling. Its errors are QueryTable's; dst is then returned
// as it was.
func (s *Streamsql) TableJSON(dst []byte, name string, choice TableQuery) ([]byte, error) {
	t, rows, err := s.readTable(name, choice)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for i, r := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.Shape.AppendJSON(dst, r)
	}
	return append(dst, ']'), nil
}

// script returns the running table script.
func (s *Streamsql) script() (*scriptQuery, error) {
	q, err := s.running()
	if err != nil {
		return nil, err
	}
	sq, ok := q.(*scriptQuery)
	if !ok {
		return nil, fmt.Errorf("%w: only a table script has tables to read", errNoScript)
	}
	return sq, nil
}

// errNoScript is ErrUnknownTable for a query that has no tables at all.
var errNoScript = fmt.Errorf("%w: the query is no table script", ErrUnknownTable)

func (s *Streamsql) readTable(name string, choice TableQuery) (*script.Table, []row.Row, error) {
	q, err := s.script()
	if err != nil {
		return nil, nil, err
	}
	t, err := q.table(name)
	if err != nil {
		return nil, nil, err
	}
	match, err := matcher(t, choice)
	if err != nil {
		return nil, nil, err
	}
	var rows []row.Row
	err = q.pipeline.Read(func(snap pipeline.Snapshot) {
		reader, ctx := snap.Reader(t.Reader)
		if reader == nil {
			return
		}
		reader.Read(func(r row.Row) bool {
			own, in := viewed(t, ctx, r)
			if in && match(own) {
				rows = append(rows, own)
			}
			return true
		})
	})
	if err != nil {
		return nil, nil, err
	}
	sort.SliceStable(rows, func(i, j int) bool { return t.Less(rows[i], rows[j]) })
	if choice.Limit > 0 && len(rows) > choice.Limit {
		rows = rows[:choice.Limit]
	}
	return t, rows, nil
}

// viewed returns a copy of the table's row that a reader's row is.
func viewed(t *script.Table, ctx *eval.Context, r row.Row) (row.Row, bool) {
	if t.View == nil {
		return row.AppendRow(row.Row{}, r), true
	}
	return t.View(ctx, row.Row{}, r)
}

func (q *scriptQuery) table(name string) (*script.Table, error) {
	var known []string
	for i := range q.program.Tables {
		t := &q.program.Tables[i]
		if t.Name == name {
			if t.Kind == script.Stream {
				return nil, fmt.Errorf("%w: %s is a stream, whose rows pass and are not kept; a state table of it can be read: Latest := DISTINCT %s ON key ORDER BY time DESC", ErrUnknownTable, name, name)
			}
			return t, nil
		}
		known = append(known, t.Name)
	}
	if slices.Contains(q.streams(), name) {
		return nil, fmt.Errorf("%w: %s is an input stream, whose rows pass and are not kept; a state table of it can be read: %s := DISTINCT %s ON key ORDER BY time DESC", ErrUnknownTable, name, name, name)
	}
	return nil, fmt.Errorf("%w %q%s", ErrUnknownTable, name, spelling.Hint(name, known))
}

// matcher returns the test for the chosen key.
func matcher(t *script.Table, choice TableQuery) (func(row.Row) bool, error) {
	if choice.Limit < 0 {
		return nil, fmt.Errorf("%w: the limit must not be negative, is %d", ErrTableQuery, choice.Limit)
	}
	type test struct {
		col  int
		keys [][]byte
	}
	var tests []test
	for name, v := range choice.Key {
		col := slices.Index(t.Key, name)
		if col < 0 {
			return nil, fmt.Errorf("%w: %q is not of the key of %s%s; its key columns: %v", ErrTableQuery, name, t.Name, spelling.Hint(name, t.Key), t.Key)
		}
		x := test{col: col, keys: [][]byte{value.AppendKey(nil, value.FromGo(v))}}
		if text, ok := v.(string); ok {
			if scalar, ok := value.ParseJSON([]byte(text)); ok && scalar.Kind != value.JSON && scalar.Kind != value.Text {
				x.keys = append(x.keys, value.AppendKey(nil, scalar))
			}
		}
		tests = append(tests, x)
	}
	return func(r row.Row) bool {
		for _, x := range tests {
			k := value.AppendKey(nil, r.Col(x.col))
			if !slices.ContainsFunc(x.keys, func(want []byte) bool { return string(want) == string(k) }) {
				return false
			}
		}
		return true
	}, nil
}
