package joinnode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model"
)

// TestRandomOperations does everything that can be done to an engine in random
// order: rows one by one, in arrays and in groups, rows that are refused, time,
// Drain, reloads that keep the state and reloads that cannot, Stop. What leaves
// through the sinks of all engines together is what the model says, in order.
func TestRandomOperations(t *testing.T) {
	setChecks(t, totalChecks(t)/10+1)
	rapid.Check(t, func(t *rapid.T) {
		o := newOperations(t)
		defer func() { o.engine.Stop() }()
		t.Repeat(map[string]func(*rapid.T){
			"row":          o.row,
			"row again":    o.row, // twice as likely as the rest
			"array":        o.array,
			"group":        o.group,
			"refused":      o.refused,
			"time":         o.time,
			"drain":        o.drain,
			"same reload":  o.reloadSame,
			"other reload": o.reloadOther,
		})
		o.stop(t)
	})
}

// operations is an engine and the model of it between two operations.
type operations struct {
	record  *record
	clock   *testClock
	now     int64
	query   model.Query
	engine  *subject
	old     *subject // the one before; nil without reload
	model   *model.Model
	want    []string
	started bool // the engine has seen a row
	n       int
	log     strings.Builder
}

func (o *operations) note(format string, args ...any) {
	fmt.Fprintf(&o.log, "%v: "+format+"\n", append([]any{time.Duration(o.now - model.Epoch)}, args...)...)
}

func newOperations(t *rapid.T) *operations {
	o := &operations{record: &record{}, clock: newTestClock(model.Epoch), now: model.Epoch}
	o.query = model.Query{
		Sources: []model.Source{{Stream: "sa", Alias: "a"}, {Stream: "sb", Alias: "b"}, {Stream: "sc", Alias: "c"}},
		Joins: []model.Join{
			{Left: true, Within: 5, On: []model.Equality{{Alias: "a", Field: "k", JoinedField: "k"}}},
			{Left: rapid.Bool().Draw(t, "second is left"), Within: 3, On: []model.Equality{{Alias: "a", Field: "k", JoinedField: "k"}}},
		},
		Columns: []model.Column{{Alias: "a", Field: "id", As: "aid"}, {Alias: "b", Field: "id", As: "bid"}, {Alias: "c", Field: "id", As: "cid"}},
		MaxKeys: 3,
	}
	if rapid.Bool().Draw(t, "event time") {
		o.query.Timestamp, o.query.IdleTimeout = "ts", 7
	}
	o.engine = o.newEngine(t)
	o.note("%s", o.query.Text())
	o.model = model.New(o.query)
	return o
}

func (o *operations) newEngine(t *rapid.T) *subject {
	return startInto(t, o.record, o.query.Text(), false, engineOptions(o.query, o.clock)...)
}

// draw makes a row and tells the model of it.
func (o *operations) draw(t *rapid.T, stream string) joinnode.JSONRow {
	o.n++
	row := map[string]any{
		"id": fmt.Sprintf("%s%d", stream[1:], o.n),
		"k":  rapid.SampledFrom([]any{1, 2, 3, 4, "text"}).Draw(t, "k"),
		"ts": o.now - rapid.Int64Range(0, 8).Draw(t, "behind"),
	}
	text, err := json.Marshal(row)
	require.NoError(t, err)
	o.note("%s %s", stream, text)
	o.want = append(o.want, modelText(o.model.Arrive(model.Arrival{Stream: stream, Row: row, Clock: o.now}))...)
	o.started = true
	return joinnode.JSONRow{Stream: stream, Data: text}
}

func drawStream(t *rapid.T) string {
	return rapid.SampledFrom([]string{"sa", "sb", "sc"}).Draw(t, "stream")
}

func (o *operations) row(t *rapid.T) {
	r := o.draw(t, drawStream(t))
	require.NoError(t, o.engine.EmitJSON(r.Stream, r.Data))
}

func (o *operations) array(t *rapid.T) {
	stream := drawStream(t)
	var rows []json.RawMessage
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		rows = append(rows, o.draw(t, stream).Data)
	}
	text, err := json.Marshal(append([]json.RawMessage{}, rows...))
	require.NoError(t, err)
	require.NoError(t, o.engine.EmitJSON(stream, text))
}

func (o *operations) group(t *rapid.T) {
	var rows []joinnode.JSONRow
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		rows = append(rows, o.draw(t, drawStream(t)))
	}
	require.NoError(t, o.engine.EmitRows(rows))
}

// refused sends what must change nothing at all.
func (o *operations) refused(t *rapid.T) {
	good := joinnode.JSONRow{Stream: "sa", Data: []byte(`{"id":"x","k":1,"ts":1}`)}
	switch rapid.IntRange(0, 3).Draw(t, "refused") {
	case 0:
		require.ErrorIs(t, o.engine.EmitJSON("sa", []byte(`{"id":"x","k":1`)), joinnode.ErrInvalidJSON)
	case 1:
		require.ErrorIs(t, o.engine.EmitJSON("sb", []byte(`[{"id":"x","k":1},null]`)), joinnode.ErrInvalidJSON)
	case 2:
		require.ErrorIs(t, o.engine.EmitTo("nobody", map[string]any{"k": 1}), joinnode.ErrUnknownStream)
	case 3:
		require.ErrorIs(t, o.engine.EmitRows([]joinnode.JSONRow{good, {Stream: "sa", Data: []byte(`7`)}}), joinnode.ErrInvalidJSON)
	}
}

func (o *operations) time(t *rapid.T) {
	o.now += rapid.Int64Range(1, 12).Draw(t, "ns")
	o.clock.Set(o.now)
	o.note("time")
	if o.started {
		o.want = append(o.want, modelText(o.model.Advance(o.now))...)
	}
}

func (o *operations) drain(t *rapid.T) {
	if o.old != nil {
		<-o.old.Done() // Drain speaks for the new engine's rows only
	}
	o.note("drain")
	require.Equal(t, o.want, o.engine.drain(t), &o.log)
	o.want = nil
	if !o.started {
		return
	}
	stats := o.engine.GetStats()
	for name, want := range o.model.Counters() {
		if o.query.Timestamp == "" && name[len(name)-4:] == "mark" {
			continue // in processing time a watermark is the clock of the last event
		}
		require.Equal(t, want, stats[name], "%s\n%s", name, &o.log)
	}
}

// reload hands the old engine's state to one for the present query.
func (o *operations) reload(t *rapid.T) joinnode.Adoption {
	o.old = o.engine
	o.engine = o.newEngine(t)
	o.note("reload as %s", o.query.Text())
	adoption, err := o.engine.Adopt(o.old.Streamsql)
	require.NoError(t, err)
	require.ErrorIs(t, o.old.EmitTo("sa", map[string]any{"k": 1}), joinnode.ErrStopped)
	return adoption
}

// reloadSame changes nothing, or something that leaves the state usable.
func (o *operations) reloadSame(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "change") {
	case 3:
		o.query.Where = []model.Expr{model.IsNull{X: model.Operand{Alias: "b", Field: "id"}, Not: rapid.Bool().Draw(t, "not")}}
	case 1:
		for i := range o.query.Columns {
			o.query.Columns[i].As = fmt.Sprintf("%s%d", o.query.Columns[i].Alias, o.n)
		}
	case 2:
		o.query.Where = []model.Expr{model.Compare{
			L: model.Operand{Alias: "a", Field: "k"}, R: model.Operand{Literal: rapid.Int64Range(1, 4).Draw(t, "limit")}, Op: ">="}}
	}
	adoption := o.reload(t)
	require.True(t, adoption.Taken, adoption.Differs)
	require.Empty(t, adoption.Differs)
	o.model.Continue(o.query)
}

// reloadOther changes the join graph: what waits must leave now.
func (o *operations) reloadOther(t *rapid.T) {
	within := o.query.Joins[0].Within
	o.query.Joins = append([]model.Join{}, o.query.Joins...)
	o.query.Joins[0].Within = 9 - within%9 + time.Duration(rapid.IntRange(0, 3).Draw(t, "within"))
	if o.query.Joins[0].Within == within {
		o.query.Joins[0].Within++
	}
	adoption := o.reload(t)
	require.False(t, adoption.Taken)
	require.Contains(t, adoption.Differs, "WITHIN")
	o.want = append(o.want, modelText(o.model.Close(o.now, "reload"))...)
	o.model = model.New(o.query)
	o.started = false
}

func (o *operations) stop(t *rapid.T) {
	o.want = append(o.want, modelText(o.model.Stop(o.now))...)
	o.engine.Stop()
	require.Equal(t, o.want, o.record.take(), &o.log)
}
