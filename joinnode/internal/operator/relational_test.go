package operator_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

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
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				c.drawChange(t, func(port int, diff int8, cols []any) {
					j.Process(port, operator.Record{TS: int64(step), Diff: diff, Row: encode(cols)})
				})
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

// drawChange inserts, retracts or updates a row.
func (c *relationalCase) drawChange(t *rapid.T, process func(port int, diff int8, cols []any)) {
	port := rapid.IntRange(0, 1).Draw(t, "port")
	retract := func(i int) {
		process(port, -1, c.rows[port][i])
		c.rows[port] = slices.Delete(c.rows[port], i, i+1)
	}
	insert := func(cols []any) {
		process(port, 1, cols)
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

// TestRelationalJoinForgetsKeys has the rows of keys that nobody touches fall,
// while the inputs still have them and retract them later. The model's rows are
// those that have not fallen.
func TestRelationalJoinForgetsKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawRelational(t)
		c.cfg.TTL = 10
		out := newFolded()
		j, err := operator.NewRelationalJoin(c.cfg, out)
		require.NoError(t, err)
		upstream := &relationalCase{cfg: c.cfg}
		touched := map[string]int64{}
		keyOf := func(port int, cols []any) string {
			var key []byte
			for _, v := range cols[:c.cfg.Keys[port]] {
				key = value.AppendKey(key, value.FromGo(v))
			}
			return string(key)
		}
		// A row that can be part of no result touches nothing.
		concerns := func(port int, cols []any) bool {
			return port == 0 && c.cfg.Left || keysMatch(cols[:c.cfg.Keys[port]], cols[:c.cfg.Keys[port]])
		}
		now, known := int64(0), false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "time passes") {
				due, ok := j.Wake(2, math.MaxInt64)
				require.Equal(t, known && len(touched) > 0, ok)
				if ok {
					require.Equal(t, slices.Min(slices.Collect(maps.Values(touched)))+c.cfg.TTL, due)
				}
				now += rapid.Int64Range(0, 12).Draw(t, "by")
				for key, at := range touched {
					if !known {
						touched[key] = now // TTL counts from the first now()
					} else if now >= at+c.cfg.TTL {
						delete(touched, key)
						for port := range c.rows {
							c.rows[port] = slices.DeleteFunc(c.rows[port], func(cols []any) bool { return keyOf(port, cols) == key })
						}
					}
				}
				known = true
				j.Advance(2, operator.Progress{Seen: now, Low: now})
			}
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				upstream.drawChange(t, func(port int, diff int8, cols []any) {
					j.Process(port, operator.Record{TS: now, Diff: diff, Row: encode(cols)})
					if concerns(port, cols) {
						touched[keyOf(port, cols)] = now
					}
					kept := func(cols []any) string { return operatortest.Row(encode(cols[:c.cfg.Keep[port]])) }
					i := slices.IndexFunc(c.rows[port], func(have []any) bool { return kept(have) == kept(cols) })
					switch {
					case diff > 0:
						c.rows[port] = append(c.rows[port], cols)
					case i >= 0:
						c.rows[port] = slices.Delete(c.rows[port], i, i+1)
					}
				})
			}
			j.EndStep()
			for key := range touched { // a key without rows is none
				if !slices.ContainsFunc([]int{0, 1}, func(port int) bool {
					return slices.ContainsFunc(c.rows[port], func(cols []any) bool { return concerns(port, cols) && keyOf(port, cols) == key })
				}) {
					delete(touched, key)
				}
			}
			require.Equal(t, c.join(), out.rows)
			out.endStep(t)
		}
	})
}

// readAll reads a table.
func readAll(r operator.Reader) map[string]int {
	all := map[string]int{}
	r.Read(func(r row.Row) bool { all[operatortest.Row(r)]++; return true })
	return all
}

func TestRelationalJoinKeepsTheContract(t *testing.T) {
	for _, left := range []bool{false, true} {
		t.Run(fmt.Sprintf("left %t", left), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				operatortest.Check(t, operatortest.Subject{
					New: func(out operator.Output) (operator.Operator, error) {
						return operator.NewRelationalJoin(operator.RelationalJoinConfig{
							Keys: [2]int{1, 1}, Keep: [2]int{3, 3}, Left: left, Out: []operator.OutCol{{0, 0}, {0, 1}, {0, 2}, {1, 2}},
						}, out)
					},
					Ports: 2, Lateness: []int64{0, 5}, Script: true, Keys: []int{2, 2}, Time: []bool{false, false}, Keeps: true,
					Row: func(t *rapid.T, _ int) row.Row {
						return encode([]any{relationalKey().Draw(t, "key"), rapid.IntRange(1, 3).Draw(t, "id"), rapid.IntRange(1, 3).Draw(t, "value")})
					},
				})
			})
		})
	}
}

// A dialogue is a join whose output is read step by step.
type dialogue struct {
	*operator.RelationalJoin
	log *operatortest.Log
}

func newDialogue(t *testing.T, cfg operator.RelationalJoinConfig) *dialogue {
	log := operatortest.NewLog()
	log.Clocked = true // a table's changes may be late
	j, err := operator.NewRelationalJoin(cfg, log)
	require.NoError(t, err)
	return &dialogue{RelationalJoin: j, log: log}
}

func (d *dialogue) change(port int, ts int64, diff int8, cols ...any) *dialogue {
	d.Process(port, operator.Record{TS: ts, Diff: diff, Row: encode(cols)})
	return d
}

func (d *dialogue) end() []string {
	d.EndStep()
	return d.log.Take()
}

func ordersAndUsers(left bool) operator.RelationalJoinConfig {
	return operator.RelationalJoinConfig{
		Keys: [2]int{1, 1}, Keep: [2]int{2, 2}, Left: left,
		Out: []operator.OutCol{{Port: 0, Col: 1}, {Port: 1, Col: 1}},
	}
}

func TestRelationalJoinRetractsWhatAnUpdateChanges(t *testing.T) {
	d := newDialogue(t, ordersAndUsers(false))
	d.change(1, 1000, 1, "u1", "DE")
	require.Empty(t, d.end())
	for i, ts := range []int64{999, 1000, 4999, 5000} {
		d.change(0, ts, 1, "u1", i)
		require.Equal(t, []string{fmt.Sprintf(`emit @%d [int(%d) "DE"]`, ts, i)}, d.end())
	}
	d.change(1, 5000, -1, "u1", "DE").change(1, 5000, 1, "u1", "US")
	require.Equal(t, []string{
		`emit @5000 [int(0) "DE"] retracted`, `emit @5000 [int(1) "DE"] retracted`, `emit @5000 [int(2) "DE"] retracted`, `emit @5000 [int(3) "DE"] retracted`,
		`emit @5000 [int(0) "US"]`, `emit @5000 [int(1) "US"]`, `emit @5000 [int(2) "US"]`, `emit @5000 [int(3) "US"]`,
	}, d.end())
	require.Equal(t, operator.Stats{Matches: 8, Rows: 5, Keys: 2, Bytes: d.Stats().Bytes, Visited: 12}, d.Stats())
}

func TestRelationalJoinGivesPairsTheTimeOfTheirCause(t *testing.T) {
	d := newDialogue(t, ordersAndUsers(true))
	d.change(0, 10, 1, "k", "a")
	require.Equal(t, []string{`emit @10 ["a" ∅] nulls=10`}, d.end())
	d.change(1, 30, 1, "k", "x").change(0, 20, 1, "k", "b")
	require.Equal(t, []string{`emit @30 ["a" ∅] nulls=10 retracted`, `emit @30 ["a" "x"]`, `emit @30 ["b" "x"]`}, d.end(), "the later of both causes")
	d.change(1, 35, 1, "k", "y").change(1, 40, -1, "k", "x")
	require.Equal(t, []string{`emit @40 ["a" "x"] retracted`, `emit @40 ["b" "x"] retracted`, `emit @35 ["a" "y"]`, `emit @35 ["b" "y"]`}, d.end())
	d.change(1, 50, -1, "k", "y").change(0, 60, -1, "k", "b")
	require.Equal(t, []string{`emit @50 ["a" "y"] retracted`, `emit @60 ["b" "y"] retracted`, `emit @50 ["a" ∅] nulls=10`}, d.end())
	d.change(0, 55, -1, "k", "a")
	require.Equal(t, []string{`emit @55 ["a" ∅] nulls=10 retracted`}, d.end())
	require.Zero(t, d.Stats().Rows)

	d.change(0, 60, 1, "k", "a").change(1, 60, 1, "k", "x").change(1, 60, 1, "k", "y")
	require.Len(t, d.end(), 2)
	d.change(1, 75, -1, "k", "x").change(1, 70, -1, "k", "y")
	require.Equal(t, []string{`emit @75 ["a" "x"] retracted`, `emit @70 ["a" "y"] retracted`, `emit @75 ["a" ∅] nulls=10`}, d.end(), "the later of both that left")

	cfg := ordersAndUsers(false)
	cfg.Out = cfg.Out[:1]
	d = newDialogue(t, cfg)
	d.change(0, 1, 1, "k", "a").change(1, 30, 1, "k", "x").change(1, 20, 1, "k", "y")
	require.Equal(t, []string{`emit @30 ["a"]`, `emit @30 ["a"]`}, d.end(), "equal composites have one time")
}

func TestRelationalJoinOrdersPairsByTheLaterCause(t *testing.T) {
	d := newDialogue(t, ordersAndUsers(false))
	d.change(0, 1, 1, "k", "a").change(0, 2, 1, "k", "b").change(1, 3, 1, "k", "x").change(1, 4, 1, "k", "y").change(0, 5, 1, "k", "c")
	require.Equal(t, []string{
		`emit @3 ["a" "x"]`, `emit @3 ["b" "x"]`, `emit @4 ["a" "y"]`, `emit @4 ["b" "y"]`, `emit @5 ["c" "x"]`, `emit @5 ["c" "y"]`,
	}, d.end())
}

func TestRelationalJoinSaysNothingWithoutANetChange(t *testing.T) {
	cfg := ordersAndUsers(true)
	d := newDialogue(t, cfg)
	d.change(0, 1, 1, "k", "a", "unkept").change(1, 1, 1, "k", "x")
	require.Len(t, d.end(), 1)
	d.change(0, 2, -1, "k", "a", "unkept").change(0, 2, 1, "k", "a", "changed")
	require.Empty(t, d.end(), "a column that is not kept")
	d.change(1, 3, -1, "k", "x").change(1, 3, 1, "k", "y").change(1, 3, -1, "k", "y").change(1, 3, 1, "k", "x")
	require.Empty(t, d.end(), "there and back")
	d.change(0, 4, 1, "k", "a")
	require.Equal(t, []string{`emit @4 ["a" "x"]`}, d.end(), "a duplicate counts")
	d.change(1, 5, 1, "k", "x").change(0, 5, -1, "k", "a")
	require.Empty(t, d.end(), "one left row less and one right row more: 2 × 1 = 1 × 2")
	d.change(0, 6, -1, "k", "never there").change(1, 6, -1, "nobody", "x")
	require.Empty(t, d.end())
	require.Equal(t, int64(3), d.Stats().Rows)
	d.Process(0, operator.Record{TS: 7, Diff: 1, Past: true, Row: encode([]any{"k", "b"})})
	require.Empty(t, d.end(), "history")
}

func TestRelationalJoinNullsMatchNothing(t *testing.T) {
	d := newDialogue(t, ordersAndUsers(true))
	d.change(1, 1, 1, nil, "x").change(0, 1, 1, nil, "a").change(0, 1, 1, math.NaN(), "b")
	require.Equal(t, []string{`emit @1 ["a" ∅] nulls=10`, `emit @1 ["b" ∅] nulls=10`}, d.end())
	d = newDialogue(t, ordersAndUsers(false))
	d.change(1, 1, 1, nil, "x").change(0, 1, 1, nil, "a")
	require.Empty(t, d.end())
	require.Zero(t, d.Stats().Rows, "kept, though they can be in no result")
}

func TestRelationalJoinTellsTheLeastProgress(t *testing.T) {
	d := newDialogue(t, ordersAndUsers(false))
	d.Advance(0, operator.Progress{Seen: 10, Low: 8})
	require.Equal(t, []string{fmt.Sprintf("advance seen=10 low=%d", int64(math.MinInt64))}, d.end())
	d.Advance(1, operator.Progress{Seen: 5, Low: 5})
	require.Equal(t, []string{"advance seen=10 low=5"}, d.end())
	require.Empty(t, d.end())
	d.Advance(1, operator.Progress{Seen: 5, Low: 5, Idle: true})
	require.Equal(t, []string{"advance seen=10 low=8"}, d.end(), "the idle port is left out")
	d.Advance(0, operator.Progress{Seen: 10, Low: 9, Idle: true})
	require.Equal(t, []string{"advance seen=10 low=8 idle"}, d.end())
	d.Advance(1, operator.Progress{Seen: 6, Low: 6})
	require.Equal(t, []string{"advance seen=10 low=8"}, d.end(), "Low never falls")
}

func TestRelationalJoinFallenRowsLeaveAtNow(t *testing.T) {
	cfg := ordersAndUsers(true)
	cfg.TTL = 100
	d := newDialogue(t, cfg)
	d.change(0, 5, 1, "k", "a").change(1, 5, 1, "k", "x").change(0, 5, 1, "l", "b")
	require.Len(t, d.end(), 2)
	_, ok := d.Wake(2, math.MaxInt64)
	require.False(t, ok, "now() is unknown")
	d.Advance(2, operator.Progress{Seen: 50, Low: 50})
	d.change(0, 7, -1, "l", "b").change(0, 7, 1, "l", "c")
	require.Equal(t, []string{`emit @7 ["b" ∅] nulls=10 retracted`, `emit @7 ["c" ∅] nulls=10`}, d.end())
	d.Advance(2, operator.Progress{Seen: 60, Low: 60})
	d.change(0, 60, 1, "l", "c")
	require.Len(t, d.end(), 1)
	at, ok := d.Wake(2, math.MaxInt64)
	require.True(t, ok)
	require.Equal(t, int64(150), at)
	d.Advance(2, operator.Progress{Seen: 155, Low: 155})
	d.change(0, 140, 1, "k", "z")
	require.Equal(t, []string{`emit @155 ["a" "x"] retracted`, `emit @140 ["z" ∅] nulls=10`}, d.end(), "the key fell before its record came")
	require.Equal(t, int64(1), d.Stats().Fallen)
	d.Flush(2, operator.ClosedByStop)
	d.Advance(2, operator.Progress{Seen: 1000, Low: 1000})
	require.Empty(t, d.end(), "now() stays when the query ends")
}

func TestRelationalJoinRefusesABadConfiguration(t *testing.T) {
	for name, spoil := range map[string]func(*operator.RelationalJoinConfig){
		"keys differ":     func(c *operator.RelationalJoinConfig) { c.Keys[1] = 2 },
		"negative keys":   func(c *operator.RelationalJoinConfig) { c.Keys = [2]int{-1, -1} },
		"negative TTL":    func(c *operator.RelationalJoinConfig) { c.TTL = -1 },
		"column not kept": func(c *operator.RelationalJoinConfig) { c.Out[0].Col = 2 },
		"no such port":    func(c *operator.RelationalJoinConfig) { c.Out[0].Port = 2 },
		"negative column": func(c *operator.RelationalJoinConfig) { c.Out[0].Col = -1 },
	} {
		cfg := ordersAndUsers(true)
		spoil(&cfg)
		_, err := operator.NewRelationalJoin(cfg, operatortest.NewLog())
		require.ErrorIs(t, err, operator.ErrConfig, name)
	}
}

func TestRelationalJoinDescribesItself(t *testing.T) {
	cfg := ordersAndUsers(true)
	cfg.TTL = int64(time.Hour)
	cfg.Text = operator.JoinText{On: "o.userid = u.id", Ports: [2]string{"o", "u"}, Kept: [2][]string{{"userid", "n"}, nil}}
	require.Equal(t, operator.Description{Name: "RelationalJoin LEFT", Lines: []string{
		"on o.userid = u.id", "keeps of o: userid, n", "state: every row of o and of u", "state: a key untouched for 1h0m0s leaves (STATETTL)",
	}}, newDialogue(t, cfg).Describe())
	require.Equal(t, operator.Description{Name: "RelationalJoin INNER", Lines: []string{
		"state: every row of the left side and of the right side",
	}}, newDialogue(t, ordersAndUsers(false)).Describe())
}
