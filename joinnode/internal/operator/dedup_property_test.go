package operator_test

import (
	"cmp"
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

// TestDedupAgainstAllRows holds Dedup against a model that keeps every row and
// looks at all of them each time. The order is by small integers and NULL, so
// that ties are frequent.
func TestDedupAgainstAllRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := operator.DedupConfig{Keys: rapid.IntRange(0, 2).Draw(t, "keys")}
		history := rapid.Bool().Draw(t, "history")
		cfg.History = history
		cfg.Order = []operator.OrderKey{{Col: cfg.Keys, Desc: history || rapid.Bool().Draw(t, "descending")}}
		if rapid.Bool().Draw(t, "STATETTL") {
			cfg.TTL = rapid.Int64Range(1, 10).Draw(t, "ttl")
		}
		m := &dedupModel{t: t, cfg: cfg, now: math.MinInt64, keys: map[string]*dedupKey{}, current: map[string]string{}, versions: map[string]map[int64]string{}}
		op, err := operator.NewDedup(cfg, m)
		require.NoError(t, err)
		op.PrefetchAlways()
		m.op = op
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			m.step()
		}
	})
}

// dedupModel is the Output of a Dedup and knows what has to come.
type dedupModel struct {
	t   *rapid.T
	cfg operator.DedupConfig
	op  *operator.Dedup
	now int64
	n   int

	keys     map[string]*dedupKey
	current  map[string]string           // by key, from what was emitted
	versions map[string]map[int64]string // by key and time, from what was emitted
	changes  int                         // emitted in this step
}

// dedupKey is one key with all its rows in the order of arrival.
type dedupKey struct {
	rows    []dedupRow
	touched int64
	all     map[int64]string // by time, those that fell too
}

type dedupRow struct {
	order any
	text  string
}

func (m *dedupModel) key(r row.Row) string {
	var key []byte
	for i := range m.cfg.Keys {
		key = value.AppendKey(key, r.Col(i))
	}
	return string(key)
}

// Emit implements operator.Output.
func (m *dedupModel) Emit(rec operator.Record) {
	key, text := m.key(rec.Row), byteForByte(rec.Row)
	if rec.Diff > 0 {
		if m.versions[key] == nil {
			m.versions[key] = map[int64]string{}
		}
		m.versions[key][rec.TS] = text
	}
	if rec.Past {
		require.True(m.t, m.cfg.History)
		return
	}
	m.changes++
	if rec.Diff < 0 {
		require.Equal(m.t, m.current[key], text, "a retraction has the bytes of its row")
		delete(m.current, key)
		return
	}
	require.NotContains(m.t, m.current, key)
	m.current[key] = text
}

// Advance implements operator.Output.
func (m *dedupModel) Advance(operator.Progress) {}

// Drop implements operator.Output.
func (m *dedupModel) Drop(_ int, _ operator.Record, why operator.Reason, _ bool) {
	require.Fail(m.t, "dropped", why)
}

func (m *dedupModel) step() {
	before := m.want()
	if m.cfg.TTL > 0 && rapid.IntRange(0, 2).Draw(m.t, "time passes") == 0 {
		first := m.now == math.MinInt64
		m.now = max(m.now, 0) + rapid.Int64Range(0, 8).Draw(m.t, "by")
		for _, k := range m.keys {
			if first {
				k.touched = m.now // keys count as touched when now() becomes known
			}
		}
		m.op.Advance(1, operator.Progress{Seen: m.now, Low: m.now})
		for _, k := range m.keys {
			if m.now >= k.touched+m.cfg.TTL {
				k.rows = nil
			}
		}
	}
	for range rapid.IntRange(0, 4).Draw(m.t, "rows") {
		m.arrive()
	}
	m.changes = 0
	m.op.EndStep()
	after := m.want()
	require.Equal(m.t, after, m.current)
	net := 0
	for key, text := range before {
		if after[key] != text {
			net++
		}
	}
	for key, text := range after {
		if before[key] != text {
			net++
		}
	}
	require.Equal(m.t, net, m.changes, "no change but the net")

	read := []string{}
	m.op.Read(func(r row.Row) bool { read = append(read, byteForByte(r)); return true })
	want := []string{}
	for _, text := range after {
		want = append(want, text)
	}
	require.ElementsMatch(m.t, want, read)
	require.Equal(m.t, int64(len(after)), m.op.Stats().Keys)
	if m.cfg.History && m.cfg.TTL == 0 {
		for key, k := range m.keys {
			require.Equal(m.t, k.all, m.versions[key], "versions")
		}
	}
	m.checkWake()
}

func (m *dedupModel) arrive() {
	var cols []any
	for range m.cfg.Keys {
		cols = append(cols, drawKey(m.t))
	}
	ts := rapid.Int64Range(0, 9).Draw(m.t, "ts")
	order := any(ts)
	if !m.cfg.History && rapid.IntRange(0, 5).Draw(m.t, "NULL") == 0 {
		order = nil
	}
	m.n++
	cols = append(cols, order, fmt.Sprintf("%0*d", rapid.SampledFrom([]int{1, 1, 20, 300}).Draw(m.t, "length"), m.n/2))
	if rapid.IntRange(0, 3).Draw(m.t, "Go value") == 0 {
		cols = append(cols, map[string]any{"n": m.n / 3})
	}
	r := encode(cols)
	if rapid.Bool().Draw(m.t, "shown before") {
		a := operator.Arrival{Record: operator.Record{TS: ts, Diff: 1, Row: r}}
		m.op.Prefetch([]operator.Arrival{a, {Port: 1}, a})
	}
	key := m.key(r)
	k := m.keys[key]
	if k == nil {
		k = &dedupKey{all: map[int64]string{}}
		m.keys[key] = k
	}
	k.rows = append(k.rows, dedupRow{order: order, text: byteForByte(r)})
	k.all[ts] = byteForByte(r)
	k.touched = m.now
	m.op.Process(0, operator.Record{TS: ts, Diff: 1, Row: r})
	clear(r.Enc) // the row was only lent
	clear(r.Side)
}

// want is the rows that the table has to have.
func (m *dedupModel) want() map[string]string {
	all := map[string]string{}
	for key, k := range m.keys {
		if len(k.rows) > 0 {
			all[key] = m.winner(k.rows)
		}
	}
	return all
}

func (m *dedupModel) winner(rows []dedupRow) string {
	rows = slices.Clone(rows)
	slices.Reverse(rows) // of equal ones the last
	return slices.MinFunc(rows, func(a, b dedupRow) int {
		x, isX := a.order.(int64)
		y, isY := b.order.(int64)
		switch {
		case !isX || !isY:
			return cmp.Compare(value.TriOf(isY), value.TriOf(isX))
		case m.cfg.Order[0].Desc:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}).text
}

func (m *dedupModel) checkWake() {
	least, any := int64(math.MaxInt64), false
	for _, k := range m.keys {
		if len(k.rows) > 0 && m.cfg.TTL > 0 && m.now != math.MinInt64 {
			least, any = min(least, k.touched+m.cfg.TTL), true
		}
	}
	at, ok := m.op.Wake(1, math.MaxInt64)
	require.Equal(m.t, any, ok)
	if ok {
		require.Equal(m.t, least, at)
	}
}

// drawSmall draws rows that often have the same key, order or bytes.
func drawSmall(t *rapid.T, _ int) row.Row {
	return encode([]any{rapid.SampledFrom([]any{"a", "b", 1, 1.0, nil}).Draw(t, "key"), rapid.IntRange(0, 9).Draw(t, "order"), drawValue(t)})
}

func TestStatefulOperatorsKeepTheContract(t *testing.T) {
	subject := func(ports int, construct func(ttl int64, out operator.Output) (operator.Operator, error), keys int) func(*rapid.T) {
		return func(t *rapid.T) {
			var ttl int64
			if ports == 2 {
				ttl = rapid.Int64Range(1, 20).Draw(t, "ttl")
			}
			operatortest.Check(t, operatortest.Subject{
				New:   func(out operator.Output) (operator.Operator, error) { return construct(ttl, out) },
				Ports: ports, Lateness: []int64{3, 0}, Row: drawSmall,
				Script: true, Keys: []int{keys, -1}, Time: []bool{false, true}, Keeps: true,
			})
		}
	}
	dedup := func(ttl int64, out operator.Output) (operator.Operator, error) {
		return operator.NewDedup(operator.DedupConfig{Keys: 1, Order: []operator.OrderKey{{Col: 1, Desc: true}}, History: true, TTL: ttl}, out)
	}
	table := func(ttl int64, out operator.Output) (operator.Operator, error) {
		return operator.NewTable(operator.TableConfig{Keys: 1, Keep: true, TTL: ttl}, out)
	}
	t.Run("Dedup", rapid.MakeCheck(subject(1, dedup, -1)))
	t.Run("Dedup with STATETTL", rapid.MakeCheck(subject(2, dedup, -1)))
	t.Run("Table", rapid.MakeCheck(subject(1, table, 1)))
	t.Run("Table with STATETTL", rapid.MakeCheck(subject(2, table, 1)))
	t.Run("Table without rows", rapid.MakeCheck(subject(1, func(_ int64, out operator.Output) (operator.Operator, error) {
		return operator.NewTable(operator.TableConfig{Keys: 1}, out)
	}, 1)))
	for _, on := range []operator.Change{operator.Inserted, operator.Updated, operator.Deleted} {
		t.Run("StreamOn "+on.String(), rapid.MakeCheck(subject(1, func(_ int64, out operator.Output) (operator.Operator, error) {
			return operator.NewStreamOn(operator.StreamOnConfig{On: on, Keys: 1}, out)
		}, 1)))
	}
	t.Run("Stamp", rapid.MakeCheck(subject(1, func(_ int64, out operator.Output) (operator.Operator, error) {
		return operator.NewStamp(operator.StampConfig{TS: true, Seq: true}, out)
	}, -1)))
	t.Run("Lateness", rapid.MakeCheck(subject(1, func(_ int64, out operator.Output) (operator.Operator, error) {
		return operator.NewLateness(2, "", out)
	}, -1)))
}
