package operator_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// driven is an operator of a script that a test feeds by hand.
type driven struct {
	t   *testing.T
	op  operator.Operator
	log *operatortest.Log
	seq uint64
}

// drive makes an operator; what the constructor says of cfg must be fine.
func drive[C any, O operator.Operator](t *testing.T, construct func(C, operator.Output) (O, error), cfg C) *driven {
	log := operatortest.NewLog()
	log.Clocked = true // rows of a script may be late
	op, err := construct(cfg, log)
	require.NoError(t, err)
	return &driven{t: t, op: op, log: log}
}

// arrival is a record of a test, at its port 0.
type arrival struct {
	ts   int64
	diff int8
	cols []any
}

func inserted(ts int64, cols ...any) arrival  { return arrival{ts, 1, cols} }
func retracted(ts int64, cols ...any) arrival { return arrival{ts, -1, cols} }

// step does one step and returns what came out.
func (d *driven) step(arrivals ...arrival) []string {
	for _, a := range arrivals {
		d.seq++
		d.op.Process(0, operator.Record{TS: a.ts, Seq: d.seq, Diff: a.diff, Row: encode(a.cols)})
	}
	d.op.EndStep()
	require.Empty(d.t, d.log.Broken)
	return d.log.Take()
}

// time moves the script's time, which is port 1, before a step.
func (d *driven) time(now int64) { d.op.Advance(1, operator.Progress{Seen: now, Low: now}) }

// rows returns the table's rows in no particular order.
func (d *driven) rows() []string {
	var all []string
	d.op.(operator.Reader).Read(func(r row.Row) bool { all = append(all, operatortest.Row(r)); return true })
	return all
}

func newest(cfg operator.DedupConfig) operator.DedupConfig {
	cfg.Keys, cfg.Order = 1, []operator.OrderKey{{Col: 2, Desc: true}}
	return cfg
}

// TestDedupKeepsTheNewest is the example of the design page.
func TestDedupKeepsTheNewest(t *testing.T) {
	d := drive(t, operator.NewDedup, newest(operator.DedupConfig{History: true}))
	require.Equal(t, []string{`emit @1000 [int(1) "a" int(1000)]`}, d.step(inserted(1000, 1, "a", 1000)))
	require.Equal(t, []string{`emit @3000 [int(1) "a" int(1000)] retracted`, `emit @3000 [int(1) "b" int(3000)]`}, d.step(inserted(3000, 1, "b", 3000)))
	require.Equal(t, []string{`emit @2000 [int(1) "c" int(2000)] past`}, d.step(inserted(2000, 1, "c", 2000)))
	require.Empty(t, d.step(inserted(3000, 1, "b", 3000)), "the same bytes again")
	require.Equal(t, []string{`[int(1) "b" int(3000)]`}, d.rows())

	d = drive(t, operator.NewDedup, newest(operator.DedupConfig{}))
	d.step(inserted(3000, 1, "b", 3000))
	require.Empty(t, d.step(inserted(2000, 1, "c", 2000)), "no history wanted")
}

func TestDedupOrder(t *testing.T) {
	asc := []operator.OrderKey{{Col: 1}}
	desc := []operator.OrderKey{{Col: 1, Desc: true}}
	type object = map[string]any
	for name, test := range map[string]struct {
		order         []operator.OrderKey
		before, after any
		wins          bool
	}{
		"less, ascending":                 {asc, 2, 1.5, true},
		"greater, ascending":              {asc, 1.5, 2, false},
		"less, descending":                {desc, 2, 1.5, false},
		"greater, descending":             {desc, "a", "b", true},
		"a tie":                           {desc, 1, 1.0, true},
		"NULL, ascending":                 {asc, 1, nil, false},
		"NULL, descending":                {desc, 1, nil, false},
		"NaN is like NULL":                {desc, -1, math.NaN(), false},
		"a value after NULL":              {desc, nil, 1, true},
		"a value after NaN, ascending":    {asc, math.NaN(), 1, true},
		"NULL after NaN is a tie":         {asc, math.NaN(), nil, true},
		"numbers before text":             {asc, "1", 2, true},
		"numbers before text, descending": {desc, "1", 2, false},
		"booleans before numbers":         {asc, 0, true, true},
		"text before objects":             {asc, object{"a": 1}, "z", true},
		"objects among themselves":        {asc, object{"a": 2}, object{"a": 1}, true},
		"objects that are one":            {asc, object{"a": 1, "b": 2}, object{"b": 2, "a": 1.0}, true},
		"no order":                        {nil, 2, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, operator.NewDedup, operator.DedupConfig{Keys: 1, Order: test.order})
			d.step(inserted(1, "k", test.before, "before"))
			out := d.step(inserted(1, "k", test.after, "after"))
			if test.wins {
				require.Len(t, out, 2)
			} else {
				require.Empty(t, out)
			}
		})
	}
	d := drive(t, operator.NewDedup, operator.DedupConfig{Keys: 1, Order: []operator.OrderKey{{Col: 1, Desc: true}, {Col: 2}}})
	d.step(inserted(1, "k", 1, 5))
	require.Empty(t, d.step(inserted(1, "k", 1.0, 6)), "the second column decides")
	require.Len(t, d.step(inserted(1, "k", 1.0, 4)), 2)
}

func TestDedupEmitsOneNetChangeAStep(t *testing.T) {
	d := drive(t, operator.NewDedup, newest(operator.DedupConfig{History: true}))
	require.Equal(t, []string{
		`emit @4 ["k" "d" int(4)] past`, // was the newest for a moment
		`emit @3 ["k" "c" int(3)] past`,
		`emit @5 ["k" "g" int(5)]`,
		`emit @1 ["l" "a" int(1)]`,
	}, d.step(inserted(4, "k", "d", 4), inserted(1, "l", "a", 1), inserted(5, "k", "f", 5), inserted(3, "k", "c", 3), inserted(5, "k", "g", 5)))
	require.Equal(t, []string{
		`emit @6 ["l" "a" int(1)] retracted`, `emit @6 ["l" "b" int(6)]`,
		`emit @7 ["k" "g" int(5)] retracted`, `emit @7 ["k" "x" int(7)]`,
	}, d.step(inserted(6, "l", "b", 6), inserted(7, "k", "x", 7)))

	d = drive(t, operator.NewDedup, operator.DedupConfig{Keys: 1})
	d.step(inserted(1, "k", "a"))
	require.Empty(t, d.step(inserted(2, "k", "b"), inserted(3, "k", "a")), "there and back")
}

func TestDedupOfEqualTimesHasNoPast(t *testing.T) {
	cfg := newest(operator.DedupConfig{History: true})
	cfg.Order = append(cfg.Order, operator.OrderKey{Col: 1})
	d := drive(t, operator.NewDedup, cfg)
	d.step(inserted(5, "k", "b", 5))
	require.Empty(t, d.step(inserted(5, "k", "c", 5)), "it never was the version of its time")
	require.Equal(t, []string{`emit @5 ["k" "b" int(5)] retracted`, `emit @5 ["k" "a" int(5)]`}, d.step(inserted(5, "k", "a", 5)))
}

// TestDedupKeepsSpelling: keys that are equal are one however they are spelled,
// and a retraction spells the row as it came.
func TestDedupKeepsSpelling(t *testing.T) {
	d := drive(t, operator.NewDedup, operator.DedupConfig{Keys: 1})
	type object = map[string]any
	d.step(inserted(1, 1, "a"))
	require.Equal(t, []string{`emit @2 [int(1) "a"] retracted`, `emit @2 [float64(1) "a"]`}, d.step(inserted(2, 1.0, "a")))
	require.Len(t, d.step(inserted(3, nil, "a")), 1)
	require.Len(t, d.step(inserted(3, math.NaN(), object{"x": 1})), 2)
	require.Empty(t, d.step(inserted(3, math.NaN(), object{"x": 1})))
	require.Len(t, d.step(inserted(3, object{"a": 1, "b": []any{2}}, "x")), 1)
	require.Equal(t, []string{
		`emit @4 [map[string]interface {}(map[a:1 b:[2]]) "x"] retracted`,
		`emit @4 [map[string]interface {}(map[a:1 b:[2]]) []interface {}([7])]`,
	}, d.step(inserted(4, object{"b": []any{2.0}, "a": 1}, []any{7})))
	require.Equal(t, int64(3), d.op.Stats().Rows)
	require.Len(t, d.rows(), 3)
}

func TestDedupWithoutKeyHasOneRow(t *testing.T) {
	d := drive(t, operator.NewDedup, operator.DedupConfig{Order: []operator.OrderKey{{Col: 0}}})
	require.Len(t, d.step(inserted(1, 5, "x")), 1)
	require.Len(t, d.step(inserted(1, 4, map[string]any{"x": 1})), 2)
	require.Empty(t, d.step(inserted(1, 6, "z")))
	require.Len(t, d.rows(), 1)
}

func TestDedupStateTTL(t *testing.T) {
	d := drive(t, operator.NewDedup, newest(operator.DedupConfig{TTL: 10}))
	wake := func() any {
		at, ok := d.op.Wake(1, math.MaxInt64)
		if !ok {
			return "never"
		}
		return at
	}
	require.Equal(t, "never", wake())
	d.step(inserted(100, "a", 1, 100), inserted(90, "b", 1, 90))
	require.Equal(t, "never", wake(), "now() is unknown")
	d.time(95) // they count as touched now
	require.Equal(t, int64(105), wake())
	d.time(97)
	d.step(inserted(80, "a", 0, 80)) // loses, but touches
	require.Equal(t, int64(105), wake())
	d.time(104)
	require.Empty(t, d.step())
	d.time(106)
	require.Equal(t, []string{`emit @106 ["b" int(1) int(90)] retracted`}, d.step())
	require.Equal(t, int64(107), wake())

	d.time(120)
	require.Equal(t, []string{`emit @70 ["a" int(1) int(100)] retracted`, `emit @70 ["a" int(2) int(70)]`}, d.step(inserted(70, "a", 2, 70)),
		"it fell before the row came")
	require.Equal(t, int64(130), wake())
	d.time(125)
	require.Empty(t, d.step(inserted(70, "a", 2, 70)), "the same bytes touch")
	require.Equal(t, int64(135), wake())
	d.time(1000)
	require.Empty(t, d.step(inserted(70, "a", 2, 70)), "deleted and back in one step")
	st := d.op.Stats()
	require.Equal(t, int64(3), st.Fallen)
	require.Equal(t, int64(1), st.Keys)

	d = drive(t, operator.NewDedup, newest(operator.DedupConfig{TTL: math.MaxInt64}))
	d.step(inserted(100, "a", 1, 100))
	d.time(1)
	_, ok := d.op.Wake(1, math.MaxInt64)
	require.False(t, ok, "beyond the end of time")
	d.time(math.MaxInt64)
	require.Empty(t, d.step())
}

func TestDedupConfig(t *testing.T) {
	for name, cfg := range map[string]operator.DedupConfig{
		"keys":            {Keys: -1},
		"ttl":             {TTL: -1},
		"column":          {Order: []operator.OrderKey{{Col: -1}}},
		"history":         {History: true},
		"ascending":       {History: true, Order: []operator.OrderKey{{Col: 1}}},
		"descending only": {History: true, Order: []operator.OrderKey{{Col: 1}, {Col: 2, Desc: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := operator.NewDedup(cfg, operatortest.NewLog())
			require.ErrorIs(t, err, operator.ErrConfig)
		})
	}
	d := drive(t, operator.NewDedup, newest(operator.DedupConfig{History: true, TTL: 24 * 3600e9, Text: "DISTINCT ON k"}))
	require.Equal(t, operator.Description{Name: "Dedup", Lines: []string{
		"DISTINCT ON k", "older rows go into the history", "state: one row a key", "state: a key not touched for 24h0m0s is deleted (STATETTL)",
	}}, d.op.Describe())
}

// TestProgressComesAfterTheChanges, at the end of the step.
func TestProgressComesAfterTheChanges(t *testing.T) {
	table := func(cfg operator.TableConfig, out operator.Output) (operator.Operator, error) {
		return operator.NewTable(cfg, out)
	}
	dedup := func(cfg operator.TableConfig, out operator.Output) (operator.Operator, error) {
		return operator.NewDedup(operator.DedupConfig{Keys: cfg.Keys}, out)
	}
	added := func(cfg operator.TableConfig, out operator.Output) (operator.Operator, error) {
		return operator.NewStreamOn(operator.StreamOnConfig{On: operator.Inserted, Keys: cfg.Keys}, out)
	}
	for name, construct := range map[string]func(operator.TableConfig, operator.Output) (operator.Operator, error){"Table": table, "Dedup": dedup, "StreamOn": added} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, construct, operator.TableConfig{Keys: 1})
			d.op.Advance(0, operator.Progress{Seen: 9, Low: 7})
			d.op.Advance(0, operator.Progress{Seen: 9, Low: 5, Idle: true})
			require.Empty(t, d.log.Take())
			out := d.step(inserted(9, "k", 1))
			require.Len(t, out, 2)
			require.Equal(t, "advance seen=9 low=7 idle", out[1], "Low never falls")
			require.Empty(t, d.step())
			d.op.Process(0, operator.Record{TS: 3, Diff: 1, Past: true, Row: encode([]any{"past"})})
			d.op.Flush(0, operator.ClosedByStop)
			require.Empty(t, d.log.Take())
			d.op.Process(0, operator.Record{TS: 9, Diff: 1, Row: encode([]any{"l", 1})})
			d.op.Flush(0, operator.ClosedByStop)
			require.Len(t, d.log.Take(), 1, "flushing does not wait for the end of the step")
		})
	}
}
