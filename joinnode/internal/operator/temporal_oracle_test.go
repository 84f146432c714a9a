package operator_test

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// temporalOracle is the temporal join as docs/tables.md words it: everything in
// slices, a scan for everything, and what may be dropped is dropped at once.
type temporalOracle struct {
	cfg     operator.TemporalJoinConfig
	out     *operatortest.Log
	keys    map[string][]*oracleVersion // by time
	waiting []*oracleRow
	left    map[string][]*oracleReading
	known   map[string]bool // keys that have, or had, versions
	low     [2]int64
	idle    [2]bool
	flushed [2]bool
	history int64 // the least of low as of the last EndStep
	absent  int64
	told    operator.Progress
	step    []oracleChange
	arrived int
	stats   operator.Stats

	// How many LateVersions the last step must and may have counted.
	mustCount, mayCount int64
}

type oracleVersion struct {
	ts    int64
	cols  []any // nil: none
	split bool  // a version has come that rows joined with this one would have seen
}

// oracleReading is a row that has left, and what its version would be by now.
type oracleReading struct {
	ts   int64
	now  []any
	bare bool // its key has no versions: forgotten once it gets one
}

type oracleChange struct {
	key       string
	put       bool
	retracted int64
}

func newTemporalOracle(cfg operator.TemporalJoinConfig, out *operatortest.Log) *temporalOracle {
	return &temporalOracle{cfg: cfg, out: out, keys: map[string][]*oracleVersion{}, left: map[string][]*oracleReading{}, known: map[string]bool{},
		low: [2]int64{math.MinInt64, math.MinInt64}, history: math.MinInt64, absent: math.MinInt64,
		told: operator.Progress{Seen: math.MinInt64, Low: math.MinInt64}}
}

// same tells whether two rows are alike to the type of each value.
func same(a, b []any) bool {
	if (a == nil) != (b == nil) || operatortest.Row(encode(a)) != operatortest.Row(encode(b)) {
		return false
	}
	for i := range a {
		if _, ok := a[i].(map[string]any); ok && !reflect.DeepEqual(a[i], b[i]) { // 1 and 1.0 within
			return false
		}
	}
	return true
}

// of returns the versions of a key, without those that are dropped.
func (o *temporalOracle) of(key string) []*oracleVersion {
	all := o.keys[key]
	newest := -1 // at or before the history's begin
	for i, v := range all {
		if v.ts <= o.history {
			newest = i
		}
	}
	keep := max(newest, 0)
	if newest >= 0 && all[newest].cols == nil {
		keep++
	}
	for _, v := range all[:keep] {
		o.stats.Expired++
		if v.cols == nil {
			o.absent = max(o.absent, v.ts)
		}
	}
	o.keys[key] = all[keep:]
	if len(all) == keep {
		for _, r := range o.left[key] {
			r.bare = true
		}
	}
	return o.keys[key]
}

func (o *temporalOracle) at(key string, t int64) (found *oracleVersion) {
	for _, v := range o.of(key) {
		if v.ts <= t {
			found = v
		}
	}
	return found
}

// put makes cols what the table had from ts to the next version.
func (o *temporalOracle) put(key string, ts int64, cols []any, past bool) {
	versions := o.of(key) // marks what is bare
	before := o.at(key, ts)
	exact := before != nil && !before.split
	if !exact {
		o.mayCount++
	}
	if past && before == nil && (len(versions) > 0 && versions[0].ts <= o.history || ts < o.absent) {
		return
	}
	v := &oracleVersion{ts: ts, cols: cols}
	after := slices.IndexFunc(versions, func(w *oracleVersion) bool { return w.ts > ts })
	late := false
	for _, r := range o.left[key] {
		if r.ts >= ts && (after < 0 || r.ts < versions[after].ts) {
			late = late || !same(r.now, cols)
			r.now = cols
			v.split = v.split || r.bare
			if before != nil && before.ts < ts {
				before.split = true
			}
		}
	}
	o.left[key] = slices.DeleteFunc(o.left[key], func(r *oracleReading) bool { return r.bare })
	if late && (cols != nil || len(versions) > 0) { // nothing ends where there is nothing
		o.mustCount++
		if exact {
			o.mayCount++
		}
	}
	if before != nil && before.ts == ts {
		before.cols = cols
		o.of(key)
		return
	}
	v.split = v.split || before == nil && o.known[key] || before != nil && before.split
	o.known[key] = true
	if after < 0 {
		after = len(versions)
	}
	o.keys[key] = slices.Insert(slices.Clone(versions), after, v)
	o.of(key)
}

// current is put at a time not below that of the newest version.
func (o *temporalOracle) current(key string, ts int64, cols []any) {
	if versions := o.of(key); len(versions) > 0 {
		ts = max(ts, versions[len(versions)-1].ts)
	}
	o.put(key, ts, cols, false)
}

func (o *temporalOracle) Advance(port int, p operator.Progress) {
	o.low[port] = max(o.low[port], p.Low)
	o.idle[port] = p.Idle
}

func (o *temporalOracle) Process(port int, rec operator.Record) {
	if o.flushed[port] {
		return
	}
	cols := decode(rec.Row)
	var key []string
	null := false
	for _, c := range cols[:o.cfg.Keys[port]] {
		key = append(key, keyText(c))
		null = null || keyText(c) == "null"
	}
	name := strings.Join(key, " AND ")
	if null {
		name = ""
	}
	cols = cols[:max(o.cfg.Keep[port], o.cfg.Keys[port])]
	if port == 0 {
		if !rec.Past && rec.Diff > 0 {
			o.arrived++
			o.waiting = append(o.waiting, &oracleRow{ts: rec.TS, arrived: o.arrived, key: name, cols: cols, nulls: rec.Nulls, why: rec.Why})
		}
		return
	}
	switch {
	case null:
	case rec.Past && rec.Diff > 0:
		o.put(name, rec.TS, cols, true)
	case rec.Past:
		o.put(name, rec.TS, nil, true)
	case rec.Diff > 0:
		o.change(name).put = true
		o.current(name, rec.TS, cols)
	default:
		c := o.change(name)
		c.retracted = max(c.retracted, rec.TS)
	}
}

func (o *temporalOracle) change(key string) *oracleChange {
	for i := range o.step {
		if o.step[i].key == key {
			return &o.step[i]
		}
	}
	o.step = append(o.step, oracleChange{key: key, retracted: math.MinInt64})
	return &o.step[len(o.step)-1]
}

func (o *temporalOracle) retract() {
	for _, c := range o.step {
		if c.retracted == math.MinInt64 {
			continue
		}
		if versions := o.of(c.key); c.put && len(versions) > 0 && versions[len(versions)-1].ts >= c.retracted {
			continue
		}
		o.current(c.key, c.retracted, nil)
	}
	o.step = nil
}

func (o *temporalOracle) EndStep() {
	o.retract()
	o.release(func(ts int64) bool {
		return (o.idle[0] || o.low[0] >= ts) && (o.idle[1] || o.low[1] >= ts)
	})
	o.history = max(o.history, min(o.low[0], o.low[1]))
	for key := range o.keys {
		o.of(key)
	}
	now := o.told
	now.Idle = o.idle[0] && o.idle[1]
	switch {
	case now.Idle:
	case o.idle[0]:
		now.Low = max(now.Low, o.low[1])
	case o.idle[1]:
		now.Low = max(now.Low, o.low[0])
	default:
		now.Low = max(now.Low, min(o.low[0], o.low[1]))
	}
	now.Seen = now.Low
	if now != o.told {
		o.told = now
		o.out.Advance(now)
	}
}

func (o *temporalOracle) release(due func(ts int64) bool) {
	byTime(o.waiting)
	var waiting []*oracleRow
	for _, x := range o.waiting {
		if !due(x.ts) {
			if x.key != "" || o.cfg.Left { // an INNER row without a key is gone already
				waiting = append(waiting, x)
			}
			continue
		}
		o.join(x)
	}
	o.waiting = waiting
}

func (o *temporalOracle) join(x *oracleRow) {
	var v *oracleVersion
	if x.key != "" {
		versions := o.of(x.key)
		v = o.at(x.key, x.ts)
		if v == nil && (len(versions) > 0 && versions[0].ts <= o.history || x.ts < o.absent) {
			o.out.Drop(0, operator.Record{TS: x.ts, Diff: 1, Row: encode(x.cols), Nulls: x.nulls, Why: x.why}, operator.Late, false)
			return
		}
		reading := &oracleReading{ts: x.ts}
		if v != nil {
			reading.now = v.cols
		}
		o.left[x.key] = append(o.left[x.key], reading)
	}
	composite := func(right []any) row.Row {
		var cols []any
		for _, c := range o.cfg.Out {
			from := x.cols
			if c.Port == 1 {
				from = right
			}
			if from == nil {
				cols = append(cols, nil)
			} else {
				cols = append(cols, from[c.Col])
			}
		}
		return encode(cols)
	}
	rec := operator.Record{TS: x.ts, Diff: 1, Nulls: x.nulls, Why: x.why}
	if v != nil && v.cols != nil {
		if rec.Row = composite(v.cols); o.cfg.Residual == nil || o.cfg.Residual(rec.Row) {
			o.stats.Matches++
			o.out.Emit(rec)
			return
		}
	}
	if o.cfg.Left {
		o.stats.LeftTimeouts++
		rec.Row, rec.Nulls = composite(nil), rec.Nulls|2
		o.out.Emit(rec)
	}
}

func (o *temporalOracle) Flush(port int, _ operator.CloseReason) {
	if o.flushed[port] {
		return
	}
	if o.flushed[port] = true; o.flushed[0] && o.flushed[1] {
		o.retract()
		o.release(func(int64) bool { return true })
		for _, versions := range o.keys {
			o.stats.Expired += int64(len(versions))
		}
		o.keys = nil
	}
}

func (o *temporalOracle) Wake(int, int64) (int64, bool) {
	panic("not asked of the oracle: operatortest checks Wake by replaying")
}

func (o *temporalOracle) Stats() operator.Stats {
	st := o.stats
	st.Rows = int64(len(o.waiting))
	keys := map[string]bool{}
	for _, x := range o.waiting {
		if x.key == "" && !o.cfg.Left {
			st.Rows--
		}
		if x.key != "" {
			keys[x.key] = true
		}
	}
	st.Keys = int64(len(keys))
	for _, versions := range o.keys {
		st.Rows += int64(len(versions))
		if len(versions) > 0 {
			st.Keys++
		}
	}
	return st
}

func (o *temporalOracle) Describe() operator.Description { return operator.Description{} }
