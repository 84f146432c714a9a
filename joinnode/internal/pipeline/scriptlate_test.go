package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// refuser drops what it is given, at once or when the next record has come.
type refuser struct {
	later bool
	out   operator.Output
	kept  []operator.Record
	stats operator.Stats
}

func (d *refuser) Advance(int, operator.Progress) {}
func (d *refuser) Process(_ int, rec operator.Record) {
	if !d.later {
		d.out.Drop(0, rec, operator.Late, false)
		return
	}
	rec.Row = row.Row{Enc: slices.Clone(rec.Row.Enc)}
	d.kept = append(d.kept, rec)
}

func (d *refuser) EndStep() {
	for len(d.kept) > 1 {
		d.out.Drop(0, d.kept[0], operator.BadElement, false)
		d.kept = d.kept[1:]
		d.stats.LateVersions++
	}
}
func (d *refuser) Wake(int, int64) (int64, bool) { return 0, false }
func (d *refuser) Flush(int, operator.CloseReason) {
	for _, rec := range d.kept {
		d.out.Drop(0, rec, operator.SumOverflow, false)
	}
}
func (d *refuser) Stats() operator.Stats          { return d.stats }
func (d *refuser) Describe() operator.Description { return operator.Description{Name: "refuser"} }

func (s *sketch) refuser(table string, later bool, from script.Port) script.Port {
	return s.vertex(table, fmt.Sprint("refuser ", later), func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return &refuser{later: later, out: out}, nil
	}, from)
}

// TestLateOutputOfAScript: the row at hand comes whole, with its stream; others
// as the operator has them.
func TestLateOutputOfAScript(t *testing.T) {
	var s sketch
	in := s.input("in", eventTime, disorder(1e9), func(in *script.Input) { in.MaxFutureSkew = 3600e9 })
	twice := s.pass("twice", "twice", func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewProject(func(dst, src row.Row) row.Row {
			v, _ := src.Col(colV).Int64()
			return row.Append(row.AppendColumns(dst, src, []int{colK}), value.OfInt(2*v))
		}, "k, 2 * v", out), nil
	}, in)
	s.refuser("atOnce", false, twice)
	s.refuser("later", true, twice)
	s.refuser("behind", false, s.latest("behind", in))
	c := newClock()
	r := s.run(t, wantLate, c.use)
	ts := func(at int64) string { return fmt.Sprint(epoch + at) }
	r.put(t, r.at("in", 1, 5, 2*second))
	require.Equal(t, []string{
		`late 0 atOnce late ts=2s wm=1s {"k":1,"ts":` + ts(2*second) + `,"v":5}`,
		`late -1 behind late ts=2s wm=none {"k":1,"v":5,"ts":` + ts(2*second) + `}`,
	}, r.drain(t))
	r.put(t, r.at("in", 1, 6, 1*second)) // behind keeps the other row
	require.Equal(t, []string{
		`late 0 atOnce late ts=1s wm=1s {"k":1,"ts":` + ts(1*second) + `,"v":6}`,
		`late -1 later bad_element ts=2s wm=1s {"k":1,"v":10,"ts":null}`,
	}, r.drain(t))
	r.put(t, r.at("in", 1, 7, "no time"))
	require.Equal(t, []string{`late 0  bad_timestamp ts=none wm=1s {"k":1,"ts":"no time","v":7}`}, r.drain(t))
	r.put(t, r.at("in", 1, 8, 3601*second))
	require.Equal(t, []string{`late 0  future_timestamp ts=1h0m1s wm=1s {"k":1,"ts":` + ts(3601*second) + `,"v":8}`}, r.drain(t))
	r.Stop()
	require.Equal(t, []string{`late -1 later sum_overflow ts=1s wm=1s {"k":1,"v":12,"ts":null}`}, r.take())

	stats := r.Stats()
	for name, n := range map[string]int64{
		"input_count": 4, "dropped_count": 7, "input_in_bad_timestamp": 1, "input_in_future_timestamp": 1,
		"table_atOnce_late_dropped": 2, "table_behind_late_dropped": 1, "table_later_bad_element": 1, "table_later_sum_overflow": 1, "table_later_late_version": 1,
	} {
		require.Equal(t, n, stats[name], name)
	}
	lines := r.log.take()
	require.Equal(t, 1, containing(lines, "table atOnce: rows came later than the watermark and were dropped (1 since the last warning, counter late_dropped); set or enlarge MAXOUTOFORDERNESS"))
	require.Equal(t, 1, containing(lines, "table later: changes of tables came after results that they would have changed (1 since the last warning, counter late_version); "))
	require.Equal(t, 1, containing(lines, `input in: rows without a usable TIMESTAMP were dropped, the last one with ts = "no time" (1 since`))
	require.Equal(t, 1, containing(lines, "input in: rows dated too far in the future were dropped"))
	require.Equal(t, 1, containing(lines, "table later: elements of arrays"))
	require.Equal(t, 1, containing(lines, "table later: rows would have taken a sum"))
	require.Len(t, lines, 7)
}

// TestLateOutputOfAWaitingRow that leaves while another row of its stream, of the
// same time, is at hand.
func TestLateOutputOfAWaitingRow(t *testing.T) {
	var s sketch
	s.refuser("later", true, s.input("in", eventTime))
	r := s.run(t, wantLate)
	r.put(t, r.at("in", 1, "first", 2*second), r.at("in", 1, "second", 2*second))
	require.Equal(t, []string{fmt.Sprintf(`late -1 later bad_element ts=2s wm=2s {"k":1,"v":"first","ts":%d}`, epoch+2*second)}, r.drain(t))
	r.Stop()
}

// TestOverflowOfAScript: rows without room are counted for their input.
func TestOverflowOfAScript(t *testing.T) {
	var s sketch
	s.input("a")
	s.input("b")
	hold := s.latest("hold", s.input("c"))
	r := s.run(t, wantLate, newClock().use, func(c *Config) { c.QueueRows, c.Block = 1, false })
	r.put(t, r.at("a", 1, 1, nil))
	r.drain(t)
	begun, release := make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Read(func(Snapshot) { close(begun); <-release })
	}()
	<-begun
	r.put(t, r.at("a", 1, 1, nil), r.at("b", 1, 2, nil)) // a group larger than the queue is taken when it is empty
	r.put(t, r.at("b", 1, 3, nil))
	close(release)
	<-done
	require.Equal(t, []string{`late 1  input_dropped ts=0s wm=0s {"k":1,"v":3}`}, r.drain(t))
	stats := r.Stats()
	require.EqualValues(t, 1, stats["input_b_input_dropped"])
	require.Zero(t, stats["input_a_input_dropped"])
	require.EqualValues(t, 1, stats["input_dropped_count"])
	require.EqualValues(t, 1, stats["dropped_count"])
	require.Equal(t, 1, containing(r.log.take(), "input b: rows found no room"))
	r.Stop()
	require.Empty(t, readRows(t, r.Pipeline, hold, "k"))
}

// TestEveryCounterOfAScriptIsThereFromTheStart, at zero.
func TestEveryCounterOfAScriptIsThereFromTheStart(t *testing.T) {
	var s sketch
	in := s.input("a", eventTime)
	latest := s.latest("Latest", in)
	s.table("Latest", latest)
	s.within("Pairs", second, false, in, s.input("b", eventTime))
	r := s.run(t)
	want := []string{"input_count", "output_count", "input_dropped_count", "dropped_count", "refused_after_stop", "now"}
	for _, in := range []string{"a", "b"} {
		for _, name := range strings.Fields("bad_timestamp future_timestamp input_dropped watermark idle") {
			want = append(want, fmt.Sprintf("input_%s_%s", in, name))
		}
	}
	for _, table := range []string{"Latest", "Pairs"} {
		for _, name := range strings.Fields(`late_dropped late_version bad_timestamp bad_element sum_overflow ttl_deleted type_mismatch
			function_errors filtered rows keys bytes`) {
			want = append(want, fmt.Sprintf("table_%s_%s", table, name))
		}
	}
	for _, name := range strings.Fields("matches left_timeouts rows_dropped memory_dropped keys_evicted") {
		want = append(want, "table_Pairs_"+name)
	}
	stats := r.Stats()
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(stats)))
	for name, v := range stats {
		require.Zero(t, v, name)
	}
	r.Stop()
}

// TestScriptAdvice: each reason of a loss in a table says what to do, and names a
// counter that there is.
func TestScriptAdvice(t *testing.T) {
	var names []string
	for m := range numTableMetrics {
		names = append(names, m.String())
	}
	for why := range operator.Reason(operator.NumReasons) {
		switch why {
		case operator.Filtered, operator.FutureTimestamp, operator.Overflow:
			require.Zero(t, tableLosses[why], "not a table's")
		default:
			require.Contains(t, names, tableLosses[why].Counter, why.String())
			require.NotEmpty(t, tableLosses[why].What)
			require.NotEmpty(t, tableLosses[why].Todo)
		}
	}
	require.Contains(t, names, lateVersions.Counter)
}

// TestMismatchesOfAScript are warned of, with an example if there is one.
func TestMismatchesOfAScript(t *testing.T) {
	var s sketch
	s.pass("t", "counts", func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewFilter(func(r row.Row) bool {
			if ctx.TypeMismatch++; r.Col(colK).Kind != value.Text {
				ctx.Example = &eval.Mismatch{SQL: "k < 'a'", Values: "such and such"}
			}
			if ctx.TypeMismatch == 3 {
				ctx.FunctionErrors, ctx.LastFunctionError = 1, fmt.Errorf("no such thing")
			}
			return true
		}, "", false, out), nil
	}, s.input("in"))
	c := newClock()
	r := s.run(t, c.use)
	r.put(t, r.at("in", "text", 1, nil))
	r.drain(t)
	require.Equal(t, []string{"table t: 1 values of kinds that do not go with an aggregate were left out of it (counter type_mismatch); cast, or mend the source"}, r.log.take())
	c.set(10 * second)
	r.put(t, r.at("in", 1, 1, nil), r.at("in", 1, 1, nil))
	r.drain(t)
	lines := r.log.take()
	require.Equal(t, 1, containing(lines, "table t: 1 function calls failed and gave NULL (counter function_errors), the last one with: no such thing"))
	require.Equal(t, 1, containing(lines, "table t: values of kinds that do not go together gave NULL, such as such and such in k < 'a' ("))
	require.EqualValues(t, 3, r.Stats()["table_t_type_mismatch"])
	require.EqualValues(t, 1, r.Stats()["table_t_function_errors"])
	r.Stop()
}
