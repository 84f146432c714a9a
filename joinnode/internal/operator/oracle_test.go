package operator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// oracle is the interval join as semantics.md words it: rows in slices, a scan
// for everything, all times in big integers.
type oracle struct {
	cfg      operator.JoinConfig
	out      *operatortest.Log
	rows     [2][]*oracleRow
	used     [2]map[string]int
	uses     int
	wm       [2]int64
	idle     [2]bool
	frontier int64
	told     bool // whether the output was told to be idle
	flushed  [2]bool
	arrived  int
	stats    operator.Stats
	// bytes is what the row at hand would take its side to. The oracle has no
	// memory of its own to measure, so it believes the operator's report, which
	// other tests compare with the heap.
	bytes int64
}

type oracleRow struct {
	ts      int64
	arrived int
	key     string
	cols    []any // the kept ones
	nulls   uint64
	why     operator.CloseReason
	matched bool
	closed  bool
}

func newOracle(cfg operator.JoinConfig, out *operatortest.Log) *oracle {
	return &oracle{cfg: cfg, out: out, used: [2]map[string]int{{}, {}},
		wm: [2]int64{math.MinInt64, math.MinInt64}, frontier: math.MinInt64}
}

func minus(a, b int64) *big.Int { return new(big.Int).Sub(big.NewInt(a), big.NewInt(b)) }

func farther(a, b, d int64) bool { return minus(a, b).Cmp(big.NewInt(d)) > 0 }

func saturated(x *big.Int) int64 {
	if x.IsInt64() {
		return x.Int64()
	}
	if x.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// keyText is semantics.md §3 in the simplest words.
func keyText(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("text %q", x)
	case float64:
		if math.IsNaN(x) {
			return "null"
		}
		return new(big.Rat).SetFloat64(x).String()
	case json.Number:
		r, _ := new(big.Rat).SetString(x.String())
		return r.String()
	case int, int8:
		return new(big.Rat).SetInt64(value.FromGo(x).Int()).String()
	case bool:
		return fmt.Sprint(x)
	default:
		text, err := json.Marshal(x)
		if err != nil {
			panic(err) // test rows are chosen so that this cannot be
		}
		return "json " + string(text)
	}
}

func (o *oracle) Advance(port int, p operator.Progress) {
	ports := []int{port}
	if o.cfg.Clocked {
		ports = []int{0, 1}
	}
	for _, port := range ports {
		o.idle[port] = p.Idle
		o.wm[port] = max(o.wm[port], p.Seen)
		retention := o.retention(port)
		var kept, gone []*oracleRow
		for _, x := range o.rows[port] {
			if o.wm[port] != math.MinInt64 && farther(o.wm[port], x.ts, retention) {
				gone = append(gone, x)
			} else {
				kept = append(kept, x)
			}
		}
		o.rows[port] = kept
		o.stats.Expired += int64(len(gone))
		why := operator.ClosedByWindow
		if p.Idle {
			why = operator.ClosedByIdle
		}
		if port == 0 {
			o.giveUp(gone, why)
		}
	}
}

// retention is how long rows of a port are kept: as long as a row in order of the
// other stream can match, or as the plan says.
func (o *oracle) retention(port int) int64 {
	switch between := o.cfg.Between || o.cfg.Lower != 0 || o.cfg.Upper != 0; {
	case port == 0 && o.cfg.LeftRetention != 0:
		return o.cfg.LeftRetention
	case port == 1 && o.cfg.RightRetention != 0:
		return o.cfg.RightRetention
	case !between:
		return o.cfg.Within
	case port == 0:
		return max(o.cfg.Upper, 0)
	default:
		return max(-o.cfg.Lower, 0)
	}
}

// near tells whether times of a row at port and one at the other port match.
func (o *oracle) near(port int, x, y int64) bool {
	if o.cfg.Lower == 0 && o.cfg.Upper == 0 && !o.cfg.Between {
		return !farther(x, y, o.cfg.Within) && !farther(y, x, o.cfg.Within)
	}
	left, right := x, y
	if port == 1 {
		left, right = y, x
	}
	after := minus(right, left)
	return after.Cmp(big.NewInt(o.cfg.Lower)) >= 0 && after.Cmp(big.NewInt(o.cfg.Upper)) <= 0
}

func byTime(rows []*oracleRow) {
	slices.SortFunc(rows, func(a, b *oracleRow) int {
		if c := minus(a.ts, b.ts).Sign(); c != 0 {
			return c
		}
		return a.arrived - b.arrived
	})
}

// giveUp emits those of rows that wait for a match as NULL rows.
func (o *oracle) giveUp(rows []*oracleRow, why operator.CloseReason) {
	if !o.cfg.Left {
		return
	}
	byTime(rows)
	for _, x := range rows {
		if x.matched {
			continue
		}
		o.stats.LeftTimeouts++
		o.emit(x.ts, x, nil, x.nulls|1<<o.cfg.RightSource, why)
	}
}

func (o *oracle) emit(ts int64, left, right *oracleRow, nulls uint64, why operator.CloseReason) {
	var cols []any
	for _, c := range o.cfg.Out {
		x := [2]*oracleRow{left, right}[c.Port]
		if x == nil {
			cols = append(cols, nil)
		} else {
			cols = append(cols, x.cols[c.Col])
		}
	}
	o.out.Emit(operator.Record{TS: ts, Diff: 1, Row: encode(cols), Nulls: nulls, Why: why})
}

func encode(cols []any) row.Row {
	var r row.Row
	for _, c := range cols {
		r = row.Append(r, value.FromGo(c))
	}
	return r
}

func decode(r row.Row) []any {
	var cols []any
	r.Walk(func(_ int, v value.Value) { cols = append(cols, v.ToGo()) })
	return cols
}

func (o *oracle) Process(port int, rec operator.Record) {
	if o.flushed[port] {
		return
	}
	o.arrived++
	cols := decode(rec.Row)
	var key []string
	for _, c := range cols[:o.cfg.Keys[port]] {
		key = append(key, keyText(c))
	}
	x := &oracleRow{ts: rec.TS, arrived: o.arrived, key: strings.Join(key, " AND "), cols: cols[:max(o.cfg.Keep[port], o.cfg.Keys[port])], nulls: rec.Nulls, why: rec.Why}

	if o.cfg.MaxRows > 0 && len(o.rows[port]) >= o.cfg.MaxRows {
		o.out.Drop(port, rec, operator.RowsGate, false)
		return
	}
	if o.cfg.MaxBytes > 0 && o.bytes > o.cfg.MaxBytes {
		o.out.Drop(port, rec, operator.BytesGate, false)
		return
	}
	for keys := o.keys(port); o.cfg.MaxKeys > 0 && !slices.Contains(keys, x.key) && len(keys) >= o.cfg.MaxKeys; keys = o.keys(port) {
		o.evict(port, slices.MinFunc(keys, func(a, b string) int { return o.used[port][a] - o.used[port][b] }))
	}
	var partners []*oracleRow
	for _, y := range o.rows[1-port] {
		if y.key == x.key && !y.closed && o.near(port, x.ts, y.ts) {
			partners = append(partners, y)
		}
	}
	byTime(partners)
	for _, y := range partners {
		x.matched, y.matched = true, true
		left, right := x, y
		if port == 1 {
			left, right = y, x
		}
		why := left.why
		if why == operator.NotClosed {
			why = right.why
		}
		o.stats.Matches++
		o.emit(max(x.ts, y.ts), left, right, left.nulls|right.nulls, why)
	}
	o.rows[port] = append(o.rows[port], x)
	o.uses++
	o.used[port][x.key] = o.uses
	if len(partners) > 0 {
		o.used[1-port][x.key] = o.uses
	}
}

func (o *oracle) keys(port int) []string {
	var keys []string
	for _, y := range o.rows[port] {
		if !slices.Contains(keys, y.key) {
			keys = append(keys, y.key)
		}
	}
	return keys
}

func (o *oracle) evict(port int, key string) {
	var kept, gone []*oracleRow
	for _, y := range o.rows[port] {
		if y.key == key {
			gone = append(gone, y)
		} else {
			kept = append(kept, y)
		}
	}
	o.rows[port] = kept
	o.stats.KeysEvicted++
	byTime(gone)
	for _, y := range gone {
		o.out.Drop(port, operator.Record{TS: y.ts, Diff: 1, Row: encode(y.cols), Nulls: y.nulls, Why: y.why},
			operator.KeyEvicted, o.cfg.Left && port == 0 && !y.matched)
	}
}

func (o *oracle) EndStep() {
	below := func(port int, d int64) int64 {
		if o.wm[port] == math.MinInt64 {
			return math.MinInt64
		}
		return saturated(minus(o.wm[port], d))
	}
	frontier, idle := below(0, o.retention(0)), o.idle[0]
	if right := below(1, o.retention(1)); !o.cfg.Left && right > frontier {
		frontier, idle = right, o.idle[1]
	}
	if o.cfg.Clocked {
		frontier, idle = o.wm[0], o.idle[0]
	}
	if frontier > o.frontier || idle != o.told {
		o.frontier, o.told = max(frontier, o.frontier), idle
		o.out.Advance(operator.Progress{Seen: o.frontier, Low: o.frontier, Idle: idle})
	}
}

func (o *oracle) Flush(port int, why operator.CloseReason) {
	if o.flushed[port] {
		return
	}
	o.flushed[port] = true
	if port == 0 {
		o.giveUp(o.rows[0], why)
		for _, x := range o.rows[0] {
			if o.cfg.Left && !x.matched {
				x.matched, x.closed = true, true
			}
		}
	}
	if o.flushed[0] && o.flushed[1] {
		o.stats.Expired += int64(len(o.rows[0]) + len(o.rows[1]))
		o.rows = [2][]*oracleRow{}
	}
}

// adopt makes o the oracle of cfg with its rows' columns mapped.
func (o *oracle) adopt(cfg operator.JoinConfig, maps [2][]int, keep [2]func(row.Row) bool) {
	o.cfg = cfg
	for port, m := range maps {
		var kept []*oracleRow
		for _, x := range o.rows[port] {
			cols := make([]any, len(m))
			for i, from := range m {
				if from >= 0 {
					cols[i] = x.cols[from]
				}
			}
			if x.cols = cols; keep[port] == nil || keep[port](encode(cols)) {
				kept = append(kept, x)
			}
		}
		o.rows[port] = kept
	}
}

func (o *oracle) Wake(port int, need int64) (int64, bool) {
	panic("not asked of the oracle: operatortest checks Wake by replaying")
}

func (o *oracle) Stats() operator.Stats {
	st := o.stats
	for port := range o.rows {
		st.Rows += int64(len(o.rows[port]))
		st.Keys += int64(len(o.keys(port)))
	}
	return st
}

func (o *oracle) Describe() operator.Description { return operator.Description{} }
