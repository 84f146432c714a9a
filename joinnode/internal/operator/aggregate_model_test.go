package operator_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// modelGroup is a group as a list of rows, from which everything is computed
// anew whenever it is asked for.
type modelGroup struct {
	key     []value.Value // as first spelled
	rows    []row.Row     // in order of arrival
	refused []string
	since   int // when it got its first row
}

// model has the groups of an aggregate.
type model struct {
	cfg    operator.AggregateConfig
	groups map[string]*modelGroup
	clock  int
}

func newModel(cfg operator.AggregateConfig) *model {
	return &model{cfg: cfg, groups: map[string]*modelGroup{}}
}

func keyOf(r row.Row, cols int) string {
	var key []byte
	for i := range cols {
		key = value.AppendKey(key, r.Col(i))
	}
	return string(key)
}

func columns(r row.Row) []value.Value {
	var cols []value.Value
	r.Walk(func(_ int, v value.Value) { cols = append(cols, v) })
	return cols
}

// insert returns false when a sum of integers overflows.
func (m *model) insert(r row.Row) bool {
	m.clock++
	key := keyOf(r, m.cfg.Keys)
	g := m.groups[key]
	if g == nil {
		g = &modelGroup{}
		m.groups[key] = g
	}
	for _, a := range m.cfg.Aggs {
		if a.Kind != operator.AggSum {
			continue
		}
		before := integerSum(g.values(a))
		after := integerSum((&modelGroup{rows: append(g.rows[:len(g.rows):len(g.rows)], r)}).values(a))
		if !after.IsInt64() && after.CmpAbs(before) > 0 {
			g.refused = append(g.refused, operatortest.Row(r))
			return false
		}
	}
	if len(g.rows) == 0 {
		g.key, g.since = columns(r)[:m.cfg.Keys], m.clock
	}
	g.rows = append(g.rows, r)
	return true
}

// retract returns whether the row was counted.
func (m *model) retract(r row.Row) bool {
	g := m.groups[keyOf(r, m.cfg.Keys)]
	if g == nil {
		return false
	}
	text := operatortest.Row(r)
	for i, x := range g.refused {
		if x == text {
			g.refused = append(g.refused[:i:i], g.refused[i+1:]...)
			return false
		}
	}
	for i, x := range g.rows {
		if operatortest.Row(x) == text {
			g.rows = append(g.rows[:i:i], g.rows[i+1:]...)
			return true
		}
	}
	return false
}

// values are what an aggregation takes into account, in order of arrival.
func (g *modelGroup) values(a operator.Aggregation) []value.Value {
	var all []value.Value
	seen := map[string]bool{}
	for _, r := range g.rows {
		v := r.Col(a.Arg)
		if v.IsNull() || v.IsNaN() {
			continue
		}
		switch a.Kind {
		case operator.AggSum, operator.AggAvg, operator.AggVar, operator.AggVarSamp, operator.AggStddev, operator.AggStddevSamp:
			if _, ok := v.Float64(); !ok {
				continue
			}
		}
		key := string(value.AppendKey(nil, v))
		if a.Distinct && seen[key] {
			continue
		}
		seen[key] = true
		all = append(all, v)
	}
	return all
}

// isDecimal tells whether a number is no integer as arithmetic understands it.
func isDecimal(v value.Value) bool {
	switch v = v.Resolve(); v.Kind {
	case value.Float:
		return true
	case value.Number:
		if bytes.ContainsAny(v.Text, ".eE") {
			return true
		}
		i, _ := new(big.Int).SetString(string(v.Text), 10)
		return !i.IsInt64() && !i.IsUint64()
	}
	return false
}

func integerSum(values []value.Value) *big.Int {
	sum := new(big.Int)
	for _, v := range values {
		if x, ok := new(big.Int).SetString(operatortestNumber(v), 10); ok && !isDecimal(v) {
			sum.Add(sum, x)
		}
	}
	return sum
}

func operatortestNumber(v value.Value) string { return string(value.AppendJSON(nil, v.Resolve())) }

// exactly returns a number without rounding, or false for an infinity.
func exactly(v value.Value) (*big.Float, bool) {
	const precision = 2200
	if !isDecimal(v) {
		f, _, err := big.ParseFloat(operatortestNumber(v), 10, precision, big.ToNearestEven)
		return f, err == nil
	}
	f, _ := v.Float64()
	if math.IsInf(f, 0) {
		return nil, false
	}
	return new(big.Float).SetPrec(precision).SetFloat64(f), true
}

// moments returns sum and sum of squared distances from the mean.
func exactMoments(values []value.Value) (sum, squares *big.Float, finite bool) {
	sum, squares = new(big.Float).SetPrec(2200), new(big.Float).SetPrec(2200)
	var all []*big.Float
	for _, v := range values {
		f, ok := exactly(v)
		if !ok {
			return nil, nil, false
		}
		all = append(all, f)
		sum.Add(sum, f)
	}
	if len(all) == 0 {
		return sum, squares, true
	}
	mean := new(big.Float).Quo(sum, big.NewFloat(float64(len(all))))
	for _, f := range all {
		d := new(big.Float).Sub(f, mean)
		squares.Add(squares, d.Mul(d, d))
	}
	return sum, squares, true
}

func toFloat(f *big.Float) value.Value {
	x, _ := f.Float64()
	return value.OfFloat(x)
}

// result computes one aggregate.
func (g *modelGroup) result(a operator.Aggregation) value.Value {
	if a.Arg < 0 {
		return value.OfInt(int64(len(g.rows)))
	}
	values := g.values(a)
	n := float64(len(values))
	switch a.Kind {
	case operator.AggCount:
		return value.OfInt(int64(len(values)))
	case operator.AggSum:
		decimals := false
		for _, v := range values {
			decimals = decimals || isDecimal(v)
		}
		if !decimals {
			sum := integerSum(values)
			if !sum.IsInt64() {
				return value.Value{}
			}
			return value.OfInt(sum.Int64())
		}
		if sum, _, ok := exactMoments(values); ok {
			return toFloat(sum)
		}
		return infinite(values)
	case operator.AggCollect:
		if len(values) == 0 {
			return value.Value{}
		}
		all := []json.RawMessage{}
		for _, v := range values {
			all = append(all, value.AppendJSON(nil, v))
		}
		return value.OfJSON(append(append([]byte("["), bytes.Join(rawBytes(all), []byte(","))...), ']'))
	case operator.AggMin, operator.AggMax, operator.AggFirstValue, operator.AggLastValue:
		return g.extreme(a)
	}
	if len(values) == 0 {
		return value.Value{}
	}
	if a.Kind != operator.AggAvg { // moments go by the nearest floats
		for i, v := range values {
			f, _ := v.Float64()
			values[i] = value.OfFloat(f)
		}
	}
	sum, squares, finite := exactMoments(values)
	switch {
	case !finite && a.Kind == operator.AggAvg:
		return infinite(values)
	case a.Kind == operator.AggAvg:
		return toFloat(new(big.Float).Quo(sum, big.NewFloat(n)))
	case !finite || math.IsInf(toFloat(squares).Float(), 0):
		return value.Value{}
	}
	over := func(f *big.Float, n float64) value.Value { return toFloat(new(big.Float).Quo(f, big.NewFloat(n))) }
	root := func(v value.Value) value.Value { return value.OfFloat(math.Sqrt(v.Float())) }
	switch a.Kind {
	case operator.AggVar:
		return over(squares, n)
	case operator.AggStddev:
		return root(over(squares, n))
	case operator.AggVarSamp:
		return over(squares, math.Max(n-1, 1))
	}
	return root(over(squares, math.Max(n-1, 1)))
}

func rawBytes(all []json.RawMessage) [][]byte {
	var out [][]byte
	for _, x := range all {
		out = append(out, x)
	}
	return out
}

// infinite is the sum of values of which some are infinite.
func infinite(values []value.Value) value.Value {
	var sum float64
	for _, v := range values {
		if f, _ := v.Float64(); math.IsInf(f, 0) {
			sum += f
		}
	}
	if math.IsNaN(sum) {
		return value.Value{}
	}
	return value.OfFloat(sum)
}

// extreme sorts all rows.
func (g *modelGroup) extreme(a operator.Aggregation) value.Value {
	type timed struct {
		v  value.Value
		ts int64
	}
	var all []timed
	for _, r := range g.rows {
		v := r.Col(a.Arg)
		if v.IsNull() || v.IsNaN() {
			continue
		}
		ts := int64(0)
		if a.Time >= 0 {
			ts = math.MinInt64
			if t, ok := r.Col(a.Time).Int64(); ok {
				ts = t
			}
		}
		all = append(all, timed{v, ts})
	}
	if len(all) == 0 {
		return value.Value{}
	}
	less := func(i, j int) bool { return all[i].ts < all[j].ts }
	switch a.Kind {
	case operator.AggMin:
		less = func(i, j int) bool { return kindsThenValues(all[i].v, all[j].v) < 0 }
	case operator.AggMax:
		less = func(i, j int) bool { return kindsThenValues(all[i].v, all[j].v) > 0 }
	}
	sort.SliceStable(all, less)
	if a.Kind == operator.AggLastValue {
		return all[len(all)-1].v
	}
	return all[0].v
}

// kindsThenValues is the order of the documentation: booleans, numbers, text,
// objects and arrays.
func kindsThenValues(a, b value.Value) int {
	rank := func(v value.Value) int {
		switch v = v.Resolve(); v.Kind {
		case value.Bool:
			return 0
		case value.Text:
			return 2
		case value.JSON, value.Any:
			return 3
		}
		return 1
	}
	if x, y := rank(a), rank(b); x != y {
		return x - y
	}
	if rank(a) == 3 {
		return bytes.Compare(value.AppendKey(nil, a), value.AppendKey(nil, b))
	}
	order, _ := value.Compare(a, b)
	return order
}

// requireRow compares a row with what the group should be: floats within 1e-9.
func (m *model) requireRow(t *rapid.T, g *modelGroup, r row.Row) {
	got := columns(r)
	require.Len(t, got, m.cfg.Keys+len(m.cfg.Aggs))
	for i, v := range g.key {
		require.Equal(t, operatortest.Value(v), operatortest.Value(got[i]), "key column %d", i)
	}
	for i, a := range m.cfg.Aggs {
		want, v := g.result(a), got[m.cfg.Keys+i]
		if want.Kind == value.Float && v.Kind == value.Float && computed(a.Kind) && !math.IsInf(want.Float(), 0) {
			require.InDelta(t, want.Float(), v.Float(), 1e-9*math.Max(1, math.Abs(want.Float())), "%s distinct=%t of %v", a.Kind, a.Distinct, texts(g.values(a)))
			continue
		}
		if a.Kind == operator.AggSum && a.Distinct && want.Kind != v.Kind && !want.IsNull() {
			// Of 1 and 1.0 either may stand for both.
			x, _ := want.Float64()
			y, _ := v.Float64()
			require.InDelta(t, x, y, 1e-9*math.Max(1, math.Abs(x)))
			continue
		}
		if a.Kind == operator.AggMin || a.Kind == operator.AggMax {
			// Equal and spelled like one of them; which one has tests of its own.
			require.Equal(t, value.AppendKey(nil, want), value.AppendKey(nil, v))
			a.Distinct = false
			require.True(t, want.IsNull() || slices.Contains(texts(g.values(a)), operatortest.Value(v)))
			continue
		}
		require.Equal(t, operatortest.Value(want), operatortest.Value(v), "%s distinct=%t of %v", a.Kind, a.Distinct, texts(g.values(a)))
	}
}

func computed(k operator.AggregateKind) bool {
	switch k {
	case operator.AggCount, operator.AggCollect, operator.AggMin, operator.AggMax, operator.AggFirstValue, operator.AggLastValue:
		return false
	}
	return true
}

func texts(values []value.Value) []string {
	var all []string
	for _, v := range values {
		all = append(all, operatortest.Value(v))
	}
	return all
}
