package pipeline

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// spy is an operator that tells what is done to it. It passes records on at once,
// or keeps them until the end of the step.
type spy struct {
	name  string
	keeps bool
	calls *[]string
	out   operator.Output
	kept  []operator.Record
	p     operator.Progress
}

func (s *spy) say(format string, args ...any) {
	*s.calls = append(*s.calls, s.name+" "+fmt.Sprintf(format, args...))
}

func (s *spy) Advance(port int, p operator.Progress) {
	text := fmt.Sprintf("advance %d to %s", port, sinceEpoch(p.Seen))
	if p.Seen != p.Low {
		text += " low " + sinceEpoch(p.Low)
	}
	if p.Idle {
		text += " idle"
	}
	s.say("%s", text)
	if s.p = p; !s.keeps && port == 0 {
		s.out.Advance(p)
	}
}

func (s *spy) Process(port int, rec operator.Record) {
	s.say("process %d seq %d", port, rec.Seq)
	if !s.keeps {
		s.out.Emit(rec)
		return
	}
	rec.Row = row.Row{Enc: append([]byte(nil), rec.Row.Enc...)}
	s.kept = append(s.kept, rec)
}

func (s *spy) EndStep() {
	s.say("end")
	for _, rec := range s.kept {
		s.out.Emit(rec)
	}
	if s.keeps {
		s.out.Advance(s.p)
	}
	s.kept = nil
}

func (s *spy) Wake(_ int, need int64) (int64, bool)   { return need, need != maxTime }
func (s *spy) Flush(port int, _ operator.CloseReason) { s.say("flush %d", port) }
func (s *spy) Stats() operator.Stats                  { return operator.Stats{} }
func (s *spy) Describe() operator.Description         { return operator.Description{Name: "spy " + s.name} }
func (s *sketch) spy(name string, keeps bool, calls *[]string, ports ...script.Port) script.Port {
	return s.vertex(name, "spy "+name, func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return &spy{name: name, keeps: keeps, calls: calls, out: out, p: unseen}, nil
	}, ports...)
}

// TestOrderWithinAStep in a diamond: progress from the input down, then now(),
// then the record, then the end of the step, upstream first, of those to which
// something came. Each outlet numbers its records.
func TestOrderWithinAStep(t *testing.T) {
	var calls, want []string
	var s sketch
	in := s.input("in", eventTime)
	other := s.input("other", eventTime)
	a := s.spy("a", true, &calls, in)
	b := s.spy("b", false, &calls, in)
	c := s.spy("c", false, &calls, a, b, now)
	s.spy("d", false, &calls, other)
	s.output("out", script.Stream, c)
	r := s.run(t)
	r.put(t, r.at("other", 1, 1, 9*second))
	r.drain(t)
	calls = nil
	r.put(t, r.at("in", 1, 1, 5*second))
	require.Equal(t, []string{`out {"k":1,"v":1,"ts":1700000005000000000} @5s`, `out {"k":1,"v":1,"ts":1700000005000000000} @5s`}, r.drain(t))
	want = []string{
		"a advance 0 to 5s", "b advance 0 to 5s", "c advance 1 to 5s",
		"c advance 2 to 5s",
		"a process 0 seq 1", "b process 0 seq 1", "c process 1 seq 1",
		"a end", "c process 0 seq 1", "c advance 0 to 5s", "b end", "c end",
	}
	require.Equal(t, want, calls)
	calls = nil
	r.Stop()
	want = []string{"a flush 0", "a end", "c advance 0 to 5s", "b flush 0", "b end", "c flush 0", "c flush 1", "c flush 2", "c end", "d flush 0", "d end"}
	require.Equal(t, want, calls)
	require.Equal(t, "spy c", r.DescribeVertex(c.Index).Name)
}

// TestFanOut: one vertex feeds several ports and outputs, in order.
func TestFanOut(t *testing.T) {
	var s sketch
	in := s.input("in")
	even := s.filter("even", "v even", func(r row.Row) bool { n, _ := r.Col(colV).Int64(); return n%2 == 0 }, in)
	s.output("first", script.Stream, even)
	big := s.filter("big", "v > 2", func(r row.Row) bool { n, _ := r.Col(colV).Int64(); return n > 2 }, even)
	s.output("big", script.Stream, big)
	s.output("second", script.Stream, even)
	r := s.run(t, newClock().use)
	r.put(t, r.at("in", 1, 1, nil), r.at("in", 1, 2, nil), r.at("in", 1, 4, nil))
	require.Equal(t, []string{
		`first {"k":1,"v":2,"ts":null} @0s`, `second {"k":1,"v":2,"ts":null} @0s`,
		`big {"k":1,"v":4,"ts":null} @0s`, `first {"k":1,"v":4,"ts":null} @0s`, `second {"k":1,"v":4,"ts":null} @0s`,
	}, r.drain(t))
	stats := r.Stats()
	require.EqualValues(t, 3, stats["input_count"])
	require.EqualValues(t, 5, stats["output_count"])
	require.EqualValues(t, 1, stats["table_even_filtered"])
	require.EqualValues(t, 1, stats["table_big_filtered"])
	r.Stop()
}

// TestStateSendsNetChanges: what one arrival did to a key, once.
func TestStateSendsNetChanges(t *testing.T) {
	var s sketch
	s.output("Products", script.State, s.table("Products", s.latest("Products", s.input("products", eventTime))))
	r := s.run(t)
	r.put(t, r.at("products", 1, "a", second), r.at("products", 1, "b", 3*second), r.at("products", 1, "c", 2*second), r.at("products", 1, "b", 3*second))
	require.Equal(t, []string{
		`Products {"k":1,"v":"a","ts":1700000001000000000} @1s insert`,
		`Products {"k":1,"v":"b","ts":1700000003000000000} @3s update`,
	}, r.drain(t))
	stats := r.Stats()
	require.EqualValues(t, 2, stats["table_Products_rows"], "of both vertices")
	require.Positive(t, stats["table_Products_bytes"])
	r.Stop()
}

// TestBuildErrors name the table.
func TestBuildErrors(t *testing.T) {
	var s sketch
	s.dedup("Bad", operator.DedupConfig{Keys: -1}, s.input("in"))
	_, err := NewScript(&s.program, Config{Clock: SystemClock{}, Log: &logRecord{}})
	require.ErrorIs(t, err, operator.ErrConfig)
	require.ErrorContains(t, err, "table Bad")
}

// TestExpressionsSeeTheScriptsTime: now(), or the clock while it is unknown.
func TestExpressionsSeeTheScriptsTime(t *testing.T) {
	var s sketch
	in := s.input("in", eventTime, disorder(1e9))
	s.input("other", eventTime)
	stamped := s.pass("stamped", "now", func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewProject(func(dst, src row.Row) row.Row {
			return row.Append(row.AppendColumns(dst, src, []int{colK}), value.OfInt(ctx.Now().UnixNano()-epoch))
		}, "now", out), nil
	}, in)
	s.output("out", script.Stream, stamped, "k", "now")
	c := newClock()
	r := s.run(t, c.use)
	c.set(77)
	r.put(t, r.at("in", 1, nil, 5*second))
	require.Equal(t, []string{`out {"k":1,"now":77} @5s`}, r.drain(t), "other was never seen")
	c.set(78)
	r.put(t, r.at("other", 1, nil, 9*second), r.at("in", 2, nil, 6*second))
	require.Equal(t, []string{`out {"k":2,"now":5000000000} @6s`}, r.drain(t), "the least watermark")
	r.Stop()
}

// TestVersionsAsOfTheRowsTime is the design's example: orders leave once both
// watermarks have reached them, and an idle table does not hold them back.
func TestVersionsAsOfTheRowsTime(t *testing.T) {
	var s sketch
	orders, users := s.input("orders", eventTime, idle(0)), s.input("users", eventTime, idle(5e9))
	s.output("out", script.Stream, s.asOf("out", orders, s.versions("users", users)), "k", "order", "country")
	c := newClock()
	r := s.run(t, c.use)
	r.put(t, r.at("users", "u1", "DE", 1000*ms), r.at("users", "u1", "US", 5000*ms))
	for i, ts := range []int64{999, 1000, 4999, 5000, 5001} {
		r.put(t, r.at("orders", "u1", i, ts*ms))
	}
	require.Equal(t, []string{
		`out {"k":"u1","order":0,"country":null} @999ms`, `out {"k":"u1","order":1,"country":"DE"} @1s`,
		`out {"k":"u1","order":2,"country":"DE"} @4.999s`, `out {"k":"u1","order":3,"country":"US"} @5s`,
	}, r.drain(t))
	c.set(5*second - 1)
	require.Empty(t, r.drain(t))
	c.set(5 * second)
	require.Equal(t, []string{`out {"k":"u1","order":4,"country":"US"} @5.001s`}, r.drain(t))
	r.put(t, r.at("users", "u1", "FR", 5000*ms+1))
	require.Empty(t, r.drain(t), "revises nothing")
	require.EqualValues(t, 1, r.Stats()["table_out_late_version"])
	require.Equal(t, 1, containing(r.log.take(), "table out: changes of tables came after results"))
	r.put(t, r.at("orders", "u1", 5, 9*second))
	r.drain(t)
	r.Stop()
	require.Equal(t, []string{`out {"k":"u1","order":5,"country":"FR"} @9s`}, r.take())
}

// TestWindows close when the watermark has passed them, and at Stop.
func TestWindows(t *testing.T) {
	var s sketch
	s.output("out", script.Stream, s.windows("out", 10, s.input("in", eventTime, disorder(2*1e6))), "k", "end", "n")
	r := s.run(t, wantLate)
	end := func(ms int64) string { return fmt.Sprint(epoch/1e6 + ms) }
	r.put(t, r.at("in", 1, 1, 3*ms), r.at("in", 1, 1, 12*ms-1), r.at("in", 1, 1, 9*ms))
	require.Empty(t, r.drain(t))
	r.put(t, r.at("in", 1, 1, 12*ms))
	require.Equal(t, []string{`out {"k":1,"end":` + end(9) + `,"n":2} @9ms`}, r.drain(t))
	r.put(t, r.at("in", 1, 7, 9*ms))
	require.Equal(t, []string{fmt.Sprintf(`late 0 out late ts=9ms wm=10ms {"k":1,"ts":%d,"v":7}`, epoch+9*ms)}, r.drain(t))
	r.Stop()
	require.Equal(t, []string{`out {"k":1,"end":` + end(19) + `,"n":2} @19ms stop`}, r.take())
}
