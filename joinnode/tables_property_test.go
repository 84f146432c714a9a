package joinnode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model/tables"
)

// scriptRun is the engine as a tables.Subject.
type scriptRun struct {
	q       *joinnode.Streamsql
	clock   *testClock
	asJSON  bool
	results []tables.Message
	lates   []tables.Late
	seq     uint64
	failed  error
}

func newScriptRun(sql string, asJSON bool) (*scriptRun, error) {
	r := &scriptRun{clock: newTestClock(time.UnixMilli(tables.Epoch).UnixNano()), asJSON: asJSON}
	return r, r.start(sql)
}

// start makes a new engine, whose results follow those of the one before.
func (r *scriptRun) start(sql string) error {
	r.q = joinnode.New(joinnode.WithDiscardLog(), joinnode.WithClock(r.clock))
	if err := r.q.Execute(sql); err != nil {
		return err
	}
	r.q.AddResultSink(func(res joinnode.Result) {
		var rows []map[string]any
		if err := decode(res.JSON, &rows); err != nil || len(rows) != 1 {
			r.failed = fmt.Errorf("result %s: %w", res.JSON, err)
			return
		}
		if r.seq++; res.Seq != r.seq {
			r.failed = fmt.Errorf("result %d has the number %d", r.seq, res.Seq)
		}
		m := tables.Message{Table: res.Table, Key: string(res.Key), Row: rows[0], TS: res.TS}
		if res.Key != nil {
			m.Change = string(res.Type)
		}
		r.results = append(r.results, m)
	})
	r.q.AddLateSink(func(l joinnode.LateRow) {
		r.lates = append(r.lates, tables.Late{Table: l.Table, Reason: l.Reason, TS: l.TS})
	})
	return nil
}

// decode keeps numbers as they are spelled.
func decode(data []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	return d.Decode(into)
}

func (r *scriptRun) Emit(stream string, row map[string]any, clock int64) error {
	r.clock.Set(time.UnixMilli(clock).UnixNano())
	if r.asJSON {
		data, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if err := r.q.EmitJSON(stream, data); err != nil {
			return err
		}
	} else if err := r.q.EmitTo(stream, row); err != nil {
		return err
	}
	return r.q.Drain(context.Background())
}

func (r *scriptRun) Tick(clock int64) error {
	r.clock.Set(time.UnixMilli(clock).UnixNano())
	return r.q.Drain(context.Background())
}

func (r *scriptRun) Stop(clock int64) error {
	r.clock.Set(time.UnixMilli(clock).UnixNano())
	r.q.Stop()
	return r.failed
}

func (r *scriptRun) Results() []tables.Message {
	out := r.results
	r.results = nil
	return out
}

func (r *scriptRun) Lates() []tables.Late {
	out := r.lates
	r.lates = nil
	return out
}

func (r *scriptRun) Rows(table string) ([]map[string]any, bool) {
	data, err := r.q.TableJSON(nil, table, joinnode.TableQuery{})
	if err != nil {
		r.failed = err
		return nil, true
	}
	var rows []map[string]any
	if err := decode(data, &rows); err != nil {
		r.failed = err
	}
	return rows, true
}

// TestTablesAreTheBatch is the central property of table scripts: for random
// scripts over random rows, out of order and repeated ones among them, the
// changes of every state table fold to the table that a naive evaluation of all
// rows so far gives, each change is needed, and every stream has the rows that
// its definition asks for.
func TestTablesAreTheBatch(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		t.Run(map[bool]string{false: "as maps", true: "as JSON"}[asJSON], func(t *testing.T) {
			setChecks(t, totalChecks(t)/2)
			rapid.Check(t, func(t *rapid.T) {
				s := tables.Draw(t, 30)
				run, err := newScriptRun(s.Script, asJSON)
				require.NoError(t, err, s.Script)
				defer run.q.Stop()
				require.NoError(t, tables.Compare(s, tables.Strictness{Messages: true, Times: true, Late: []string{"late", "bad_timestamp"}}, run))
			})
		})
	}
}

// TestTablesInBatches plays scenarios to two engines, one that is waited for after
// every event and one that is not: what leaves, and in which order, must not
// depend on how rows and timers meet in the loop.
func TestTablesInBatches(t *testing.T) {
	setChecks(t, totalChecks(t)/10+1)
	rapid.Check(t, func(t *rapid.T) {
		s := tables.Draw(t, 30)
		waited, err := newScriptRun(s.Script, true)
		require.NoError(t, err, s.Script)
		defer waited.q.Stop()
		hurried, err := newScriptRun(s.Script, true)
		require.NoError(t, err, s.Script)
		defer hurried.q.Stop()
		var want []tables.Message
		for _, ev := range s.Events {
			switch {
			case ev.Stop:
				require.NoError(t, waited.Stop(ev.Clock))
				require.NoError(t, hurried.Stop(ev.Clock))
			case ev.Stream == "":
				require.NoError(t, waited.Tick(ev.Clock))
				hurried.clock.Set(time.UnixMilli(ev.Clock).UnixNano())
			default:
				require.NoError(t, waited.Emit(ev.Stream, ev.Row, ev.Clock))
				hurried.clock.Set(time.UnixMilli(ev.Clock).UnixNano())
				data, err := json.Marshal(ev.Row)
				require.NoError(t, err)
				require.NoError(t, hurried.q.EmitJSON(ev.Stream, data))
			}
			want = append(want, waited.Results()...)
		}
		require.Equal(t, want, hurried.Results(), s.Script)
	})
}

// TestTablesOverReloads plays scenarios to an engine and to a succession of
// engines, each of which takes over from the one before: with the state kept,
// nobody can tell the difference.
func TestTablesOverReloads(t *testing.T) {
	setChecks(t, totalChecks(t)/10+1)
	rapid.Check(t, func(t *rapid.T) {
		s := tables.Draw(t, 30)
		one, err := newScriptRun(s.Script, true)
		require.NoError(t, err, s.Script)
		defer one.q.Stop()
		many, err := newScriptRun(s.Script, true)
		require.NoError(t, err, s.Script)
		defer func() { many.q.Stop() }()
		for i, ev := range s.Events {
			if rapid.IntRange(0, 5).Draw(t, "reload") == 0 {
				old := many.q
				require.NoError(t, many.start(s.Script))
				a, err := many.q.Adopt(old)
				require.NoError(t, err)
				require.True(t, a.Taken, a.Differs)
			}
			for _, run := range []*scriptRun{one, many} {
				switch {
				case ev.Stop:
					require.NoError(t, run.Stop(ev.Clock))
				case ev.Stream == "":
					require.NoError(t, run.Tick(ev.Clock))
				default:
					require.NoError(t, run.Emit(ev.Stream, ev.Row, ev.Clock))
				}
			}
			require.Equal(t, one.Results(), many.Results(), "%s\nevent %d: %s", s.Script, i, ev)
			require.Equal(t, one.Lates(), many.Lates(), "%s\nevent %d: %s", s.Script, i, ev)
		}
		require.NoError(t, one.failed)
		require.NoError(t, many.failed)
	})
}
