package operator_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// folded is an output that folds changes into the multiset of rows that they
// make, and notes what no step may do.
type folded struct {
	rows   map[string]int
	step   []operator.Record // of this step, rows copied
	broken []string
	now    operator.Progress
}

func newFolded() *folded {
	return &folded{rows: map[string]int{}, now: operator.Progress{Seen: math.MinInt64, Low: math.MinInt64}}
}

func (f *folded) Emit(rec operator.Record) {
	text := operatortest.Row(rec.Row)
	f.rows[text] += int(rec.Diff)
	if f.rows[text] == 0 {
		delete(f.rows, text)
	}
	if f.rows[text] < 0 {
		f.broken = append(f.broken, "retracted what was not there: "+text)
	}
	rec.Row = row.AppendRow(row.Row{}, rec.Row)
	f.step = append(f.step, rec)
}

func (f *folded) Advance(p operator.Progress) {
	if p.Seen < f.now.Seen || p.Low < f.now.Low || p.Low > p.Seen {
		f.broken = append(f.broken, fmt.Sprintf("progress from %+v to %+v", f.now, p))
	}
	f.now = p
}

func (f *folded) Drop(_ int, rec operator.Record, why operator.Reason, _ bool) {
	f.broken = append(f.broken, fmt.Sprintf("dropped: %s %s", why, operatortest.Record(rec)))
}

// endStep checks the step that has ended: it is a net, retractions first.
func (f *folded) endStep(t require.TestingT) {
	require.Empty(t, f.broken)
	signs := map[string]int8{}
	inserting := false
	for _, rec := range f.step {
		text := operatortest.Row(rec.Row)
		if s, ok := signs[text]; ok {
			require.Equal(t, s, rec.Diff, "inserted and retracted in one step: %s", text)
		}
		signs[text] = rec.Diff
		require.False(t, inserting && rec.Diff < 0, "a retraction after an insertion")
		inserting = rec.Diff > 0
	}
	f.step = f.step[:0]
}

// A relationalCase is a join with the naive model of it: two lists of rows.
type relationalCase struct {
	cfg  operator.RelationalJoinConfig
	rows [2][][]any
}

// join computes the join anew.
func (c *relationalCase) join() map[string]int {
	all := map[string]int{}
	for _, l := range c.rows[0] {
		matched := false
		for _, r := range c.rows[1] {
			if keysMatch(l[:c.cfg.Keys[0]], r[:c.cfg.Keys[1]]) {
				composite := c.composite(l, r)
				if c.cfg.Residual == nil || c.cfg.Residual(composite) {
					matched = true
					all[operatortest.Row(composite)]++
				}
			}
		}
		if c.cfg.Left && !matched {
			all[operatortest.Row(c.composite(l, nil))]++
		}
	}
	return all
}

func keysMatch(a, b []any) bool {
	for i := range a {
		x, y := value.FromGo(a[i]), value.FromGo(b[i])
		if x.IsNull() || x.IsNaN() || y.IsNull() || y.IsNaN() || string(value.AppendKey(nil, x)) != string(value.AppendKey(nil, y)) {
			return false
		}
	}
	return true
}

func (c *relationalCase) composite(l, r []any) row.Row {
	var cols []any
	for _, o := range c.cfg.Out {
		side := l
		if o.Port == 1 {
			side = r
		}
		if side == nil {
			cols = append(cols, nil)
		} else {
			cols = append(cols, side[o.Col])
		}
	}
	return encode(cols)
}

// drawRelational draws a join whose rows have Keys key columns, two kept ones and
// one that is not kept.
func drawRelational(t *rapid.T) *relationalCase {
	keys := rapid.IntRange(0, 2).Draw(t, "keys")
	cfg := operator.RelationalJoinConfig{Keys: [2]int{keys, keys}, Keep: [2]int{keys + 2, keys + 2}, Left: rapid.Bool().Draw(t, "left")}
	for range rapid.IntRange(0, 5).Draw(t, "columns") {
		cfg.Out = append(cfg.Out, operator.OutCol{Port: uint8(rapid.IntRange(0, 1).Draw(t, "port")), Col: rapid.IntRange(0, keys+1).Draw(t, "column")})
	}
	if rapid.Bool().Draw(t, "residual") {
		cfg.Out = append(cfg.Out, operator.OutCol{Port: 0, Col: keys}, operator.OutCol{Port: 1, Col: keys})
		n := len(cfg.Out)
		cfg.Residual = func(r row.Row) bool {
			order, ok := value.Compare(r.Col(n-2), r.Col(n-1))
			return ok && order <= 0
		}
	}
	return &relationalCase{cfg: cfg}
}

func relationalKey() *rapid.Generator[any] {
	return rapid.SampledFrom([]any{nil, 1, 1.0, 2, "a", math.NaN(), map[string]any{"k": 1}})
}

func (c *relationalCase) drawRow(t *rapid.T, port int) []any {
	var cols []any
	for range c.cfg.Keys[port] {
		cols = append(cols, relationalKey().Draw(t, "key"))
	}
	cols = append(cols, rapid.IntRange(0, 2).Draw(t, "number"))
	cols = append(cols, rapid.SampledFrom([]any{nil, "x", []any{1}, map[string]any{"m": 1.5}}).Draw(t, "value"))
	return append(cols, rapid.IntRange(0, 1).Draw(t, "unkept"))
}

func TestRelationalJoinIsTheJoinOfItsInputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawRelational(t)
		out := newFolded()
		j, err := operator.NewRelationalJoin(c.cfg, out)
		require.NoError(t, err)
		for step := range rapid.IntRange(1, 30).Draw(t, "steps") {
			ts := int64(step)
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				port := rapid.IntRange(0, 1).Draw(t, "port")
				retract := func(i int) {
					j.Process(port, operator.Record{TS: ts, Diff: -1, Row: encode(c.rows[port][i])})
					c.rows[port] = slices.Delete(c.rows[port], i, i+1)
				}
				insert := func(cols []any) {
					j.Process(port, operator.Record{TS: ts, Diff: 1, Row: encode(cols)})
					c.rows[port] = append(c.rows[port], cols)
				}
				n := len(c.rows[port])
				switch what := rapid.IntRange(0, 5).Draw(t, "what"); {
				case what < 3 || n == 0:
					insert(c.drawRow(t, port))
				case what == 3:
					retract(rapid.IntRange(0, n-1).Draw(t, "row"))
				case what == 4: // an update
					retract(rapid.IntRange(0, n-1).Draw(t, "row"))
					insert(c.drawRow(t, port))
				default: // a duplicate
					insert(c.rows[port][rapid.IntRange(0, n-1).Draw(t, "row")])
				}
			}
			j.EndStep()
			want := c.join()
			require.Equal(t, want, out.rows)
			out.endStep(t)
			require.Equal(t, want, readAll(j))
		}
		for port, rows := range c.rows {
			for _, cols := range rows {
				j.Process(port, operator.Record{TS: 100, Diff: -1, Row: encode(cols)})
			}
		}
		j.EndStep()
		require.Empty(t, out.rows)
		require.Zero(t, j.Stats().Rows)
		require.Zero(t, j.Stats().Keys)
	})
}

// readAll reads a table.
func readAll(r operator.Reader) map[string]int {
	all := map[string]int{}
	r.Read(func(r row.Row) bool { all[operatortest.Row(r)]++; return true })
	return all
}
