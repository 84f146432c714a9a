package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// The columns of every input's rows, and so of most edges.
const (
	colK = iota
	colV
	colTS
)

var columns = []string{"k", "v", "ts"}

// sketch is a script.Program that is being put together by hand.
type sketch struct{ program script.Program }

// inputOption is an option of an input.
type inputOption func(*script.Input)

func eventTime(in *script.Input) { in.TimeCol, in.TimeText, in.Unit = colTS, "ts", value.Nanosecond }

func idle(d time.Duration) inputOption     { return func(in *script.Input) { in.IdleTimeout = d } }
func disorder(d time.Duration) inputOption { return func(in *script.Input) { in.Disorder = d } }

// now is the port that carries now().
var now = script.Port{From: script.FromNow}

func follow(p script.Port, timeout int64) script.Port {
	p.Follow = timeout
	return p
}

// input adds a stream with rows k, v, ts.
func (s *sketch) input(stream string, options ...inputOption) script.Port {
	in := script.Input{Stream: stream, TimeCol: -1, Shape: shapeOf(columns...)}
	for _, name := range columns {
		in.Paths = append(in.Paths, row.Path{syntax.Step{Name: name}})
	}
	for _, o := range options {
		o(&in)
	}
	s.program.Inputs = append(s.program.Inputs, in)
	return script.Port{From: script.FromInput, Index: len(s.program.Inputs) - 1}
}

type building = func(ctx *eval.Context, out operator.Output) (operator.Operator, error)

// vertex adds an operator with state. Its identity is what, and that of its
// sources.
func (s *sketch) vertex(table, what string, build building, ports ...script.Port) script.Port {
	v := script.Vertex{Table: table, Ports: ports, Build: build, Stateful: true, Identity: what}
	for _, p := range ports {
		v.Shapes = append(v.Shapes, shapeOf(columns...))
		v.Identity += fmt.Sprintf("<%d", p.From)
		switch p.From {
		case script.FromVertex:
			v.Identity += s.program.Vertices[p.Index].Identity
		case script.FromInput:
			v.Identity += s.program.Inputs[p.Index].Stream
		case script.FromNow:
		}
		v.Identity += ">"
	}
	s.program.Vertices = append(s.program.Vertices, v)
	return script.Port{From: script.FromVertex, Index: len(s.program.Vertices) - 1}
}

// pass adds an operator without state.
func (s *sketch) pass(table, what string, build building, port script.Port) script.Port {
	p := s.vertex(table, what, build, port)
	s.program.Vertices[p.Index].Stateful = false
	return p
}

// output lets the records of a vertex leave.
func (s *sketch) output(name string, kind script.Kind, from script.Port, names ...string) {
	if len(names) == 0 {
		names = columns
	}
	s.program.Outputs = append(s.program.Outputs, script.Output{Vertex: from.Index, Name: name, Kind: kind, Shape: shapeOf(names...), Names: names})
}

func shapeOf(names ...string) *row.Shape {
	var fields []row.Field
	for i, name := range names {
		fields = append(fields, row.Field{Name: name, Col: i})
	}
	return row.NewShape(fields)
}

func (s *sketch) dedup(table string, cfg operator.DedupConfig, ports ...script.Port) script.Port {
	return s.vertex(table, fmt.Sprintf("Dedup %+v", cfg), func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewDedup(cfg, out)
	}, ports...)
}

// latest is the last row of each k by ts.
func (s *sketch) latest(table string, from script.Port) script.Port {
	return s.dedup(table, operator.DedupConfig{Keys: 1, Order: []operator.OrderKey{{Col: colTS, Desc: true}}}, from)
}

func (s *sketch) table(name string, from script.Port) script.Port {
	return s.vertex(name, "Table", func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewTable(operator.TableConfig{Keys: 1, Keep: true}, out)
	}, from)
}

// sums is count(*) and sum(v) by k.
func (s *sketch) sums(table string, ttl int64, ports ...script.Port) script.Port {
	cfg := operator.AggregateConfig{Keys: 1, TTL: ttl, Aggs: []operator.Aggregation{
		{Kind: operator.AggCount, Arg: -1, Time: -1}, {Kind: operator.AggSum, Arg: colV, Time: -1}}}
	return s.vertex(table, fmt.Sprintf("Aggregate %+v", cfg), func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewAggregate(cfg, out)
	}, ports...)
}

// recent lets rows in until now() is d past their ts.
func (s *sketch) recent(table string, d int64, from script.Port) script.Port {
	return s.vertex(table, fmt.Sprint("Recency ", d), func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewRecency(operator.RecencyConfig{Bounds: []operator.Bound{{At: func(r row.Row) (int64, bool) {
			ts, ok := value.Timestamp(r.Col(colTS), value.Nanosecond)
			return ts + d, ok
		}}}}, out)
	}, from, now)
}

// within is a WITHIN join on k behind checks for late rows, which the port's time
// concerns too; its rows are k, v of the left and v of the right.
func (s *sketch) within(table string, d int64, left bool, ports ...script.Port) script.Port {
	for i, p := range ports {
		ports[i] = s.vertex(table, "Lateness", func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
			return operator.NewLateness(d, "", out)
		}, p)
	}
	clocked := true
	for _, p := range ports {
		clocked = clocked && !s.hasEventTime(p)
	}
	cfg := operator.JoinConfig{Within: d, RightRetention: d, Left: left, Clocked: clocked, Keys: [2]int{1, 1}, Keep: [2]int{3, 3}, MaxKeys: 1000, RightSource: 1,
		Out: []operator.OutCol{{Port: 0, Col: colK}, {Port: 0, Col: colV}, {Port: 1, Col: colV}}}
	return s.vertex(table, fmt.Sprintf("IntervalJoin %+v", cfg), func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewIntervalJoin(cfg, out)
	}, ports...)
}

// versions are the rows of each k as versions in event time.
func (s *sketch) versions(table string, from script.Port) script.Port {
	return s.dedup(table, operator.DedupConfig{Keys: 1, History: true, Order: []operator.OrderKey{{Col: colTS, Desc: true}}}, from)
}

// asOf is a LEFT TEMPORAL JOIN on k; its rows are k, v of the stream and v of the
// version.
func (s *sketch) asOf(table string, stream, versions script.Port) script.Port {
	cfg := operator.TemporalJoinConfig{Keys: [2]int{1, 1}, Keep: [2]int{3, 3}, Left: true,
		Out: []operator.OutCol{{Port: 0, Col: colK}, {Port: 0, Col: colV}, {Port: 1, Col: colV}}}
	return s.vertex(table, fmt.Sprintf("TemporalJoin %+v", cfg), func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewTemporalJoin(cfg, out)
	}, stream, versions)
}

// windows counts rows by k in windows of size ms.
func (s *sketch) windows(table string, size int64, from script.Port) script.Port {
	bucket := s.pass(table, "bucket", func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewProject(func(dst, src row.Row) row.Row {
			end := value.Value{}
			if ts, ok := value.Timestamp(src.Col(colTS), value.Nanosecond); ok {
				ms := ts / int64(time.Millisecond)
				end = value.OfInt(ms - ms%size + size - 1)
			}
			return row.Append(row.AppendColumns(dst, src, []int{colK}), end)
		}, "bucket", out), nil
	}, from)
	cfg := operator.WindowConfig{Bucket: 1, AggregateConfig: operator.AggregateConfig{Keys: 2, AppendOnly: true,
		Aggs: []operator.Aggregation{{Kind: operator.AggCount, Arg: -1, Time: -1}}}}
	return s.vertex(table, fmt.Sprintf("Window %+v", cfg), func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewWindow(cfg, out)
	}, bucket)
}

// hasEventTime tells whether a port has an input with event time behind it.
func (s *sketch) hasEventTime(p script.Port) bool {
	switch p.From {
	case script.FromInput:
		return s.program.Inputs[p.Index].TimeCol >= 0
	case script.FromVertex:
		return slices.ContainsFunc(s.program.Vertices[p.Index].Ports, s.hasEventTime)
	case script.FromNow:
	}
	return false
}

func (s *sketch) filter(table, text string, pass func(row.Row) bool, from script.Port) script.Port {
	return s.pass(table, "Filter "+text, func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewFilter(pass, text, false, out), nil
	}, from)
}

// scripted is a pipeline of a script with a record of what it delivered.
type scripted struct {
	subject
	program    *script.Program
	extractors []*row.Extractor
}

// run makes a pipeline of the sketch that has not begun.
func (s *sketch) run(t testing.TB, changes ...func(*Config)) *scripted {
	t.Helper()
	r := &scripted{program: &s.program, subject: subject{log: &logRecord{}}}
	for i := range s.program.Inputs {
		r.extractors = append(r.extractors, row.NewExtractor(s.program.Inputs[i].Paths))
	}
	cfg := Config{
		Clock: SystemClock{}, Log: r.log, QueueRows: 1000, BacklogLimit: 1000, Block: true, BlockTimeout: 10 * time.Second, MaxKeys: 1000,
		OnResult: func(res *Result) {
			o := &s.program.Outputs[res.Output]
			text := fmt.Sprintf("%s %s @%s", o.Name, o.Shape.AppendJSON(nil, res.Row), sinceEpoch(res.TS))
			if res.Change != operator.NoChange {
				text += " " + res.Change.String()
			}
			if res.Why != operator.NotClosed {
				text += " " + res.Why.String()
			}
			r.deliver(text)
		},
		OnLate: func(l *Late) {
			r.deliver(strings.TrimSpace(fmt.Sprintf("late %d %s %s ts=%s wm=%s %s", l.Input, l.Table, l.Reason, sinceEpoch(l.TS), sinceEpoch(l.Watermark), l.JSON)))
		},
		OnEnd:    func() { r.mu.Lock(); defer r.mu.Unlock(); r.ended++ },
		WantLate: func() bool { return false },
	}
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	r.Pipeline, err = NewScript(&s.program, cfg)
	require.NoError(t, err)
	return r
}

// at encodes a row of an input; ts is in ns behind the epoch, or anything else.
func (r *scripted) at(input string, k, v, ts any) Row {
	for i := range r.program.Inputs {
		if r.program.Inputs[i].Stream != input {
			continue
		}
		m := map[string]any{"k": k, "v": v}
		if ns, ok := ts.(int64); ok {
			m["ts"] = epoch + ns
		} else if ts != nil {
			m["ts"] = ts
		}
		enc, err := r.extractors[i].Map(row.Row{}, m)
		if err != nil {
			panic(err)
		}
		out := Row{Input: i, Row: enc}
		if r.WantsLate() {
			out.Raw = value.AppendJSON(nil, value.FromGo(m))
		}
		if col := r.program.Inputs[i].TimeCol; col >= 0 {
			ts, ok := value.Timestamp(enc.Col(col), value.Nanosecond)
			out.TS, out.BadTime = ts, !ok
		}
		return out
	}
	panic("no input " + input)
}
