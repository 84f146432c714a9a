package operator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func member(names ...string) row.Path {
	var p row.Path
	for _, n := range names {
		p = append(p, syntax.Step{Name: n})
	}
	return p
}

// expanded lists the rows that an expander makes of one, and counts what is bad.
func expanded(e operator.Expander, cols ...any) (rows []string, bad int) {
	bad = e.Expand(encode(cols), func(cols row.Row) { rows = append(rows, operatortest.Row(cols)) })
	return rows, bad
}

func jsonText(text string) value.Value { return value.OfJSON([]byte(text)) }

func TestElementsOfJSON(t *testing.T) {
	e := operator.NewElements(1, []row.Path{member("sku"), member("price", "net"), {}}, true)
	require.Equal(t, 4, e.Columns())
	expand := func(v value.Value) (rows []string, bad int) {
		r := row.Append(encode([]any{"order"}), v)
		bad = e.Expand(r, func(cols row.Row) { rows = append(rows, operatortest.Row(cols)) })
		return rows, bad
	}
	rows, bad := expand(jsonText(`[ {"sku":"a","price":{"net":1.50}}, 7, {"sku":null}, null, [{}], "{}", {} ]`))
	require.Equal(t, []string{`["a" 1.50 {"sku":"a","price":{"net":1.50}} int64(0)]`, `[∅ ∅ {"sku":null} int64(2)]`, `[∅ ∅ {} int64(6)]`}, rows)
	require.Equal(t, 4, bad)

	for text, wantBad := range map[string]int{`[]`: 0, `{"sku":"a"}`: 1, `[{"sku":1},`: 1} {
		_, bad := expand(jsonText(text))
		require.Equal(t, wantBad, bad, text)
	}
	for _, v := range []value.Value{value.OfText(`[{}]`), value.OfInt(1), value.OfBool(true), value.OfNumber([]byte("1"))} {
		rows, bad := expand(v)
		require.Empty(t, rows)
		require.Equal(t, 1, bad, "no array: %v", v.ToGo())
	}
	rows, bad = expand(value.Value{})
	require.Empty(t, rows)
	require.Zero(t, bad, "NULL has no elements")
}

type line struct {
	Sku   string
	Price map[string]float64
	note  string
}

// secret is an object for Go and a string for JSON.
type secret struct{ Sku string }

func (secret) MarshalJSON() ([]byte, error) { return []byte(`"***"`), nil }

type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return nil, errors.New("broken") }

func TestElementsOfGoValues(t *testing.T) {
	e := operator.NewElements(0, []row.Path{member("Sku"), member("Price", "net")}, true)
	a := line{Sku: "a", Price: map[string]float64{"net": 1.5}, note: "not seen"}
	cases := map[string]struct {
		array any
		rows  []string
		bad   int
	}{
		"[]any": {[]any{map[string]any{"Sku": "a", "Price": map[string]any{"net": 1}}, 1, nil, map[string]any(nil), []any{}, a, &a, json.RawMessage(`{"Sku":"r"}`), json.RawMessage(`{"Sku"`)},
			[]string{`["a" int(1) int64(0)]`, `["a" float64(1.5) int64(5)]`, `["a" float64(1.5) int64(6)]`, `["r" ∅ int64(7)]`}, 5},
		"[]map[string]any":           {[]map[string]any{{"Sku": "a"}, nil, {}}, []string{`["a" ∅ int64(0)]`, `[∅ ∅ int64(2)]`}, 1},
		"[]struct":                   {[]line{a, {}}, []string{`["a" float64(1.5) int64(0)]`, `["" ∅ int64(1)]`}, 0},
		"[]*struct":                  {[]*line{nil, &a}, []string{`["a" float64(1.5) int64(1)]`}, 1},
		"array":                      {[1]line{a}, []string{`["a" float64(1.5) int64(0)]`}, 0},
		"pointer":                    {&[]line{a}, []string{`["a" float64(1.5) int64(0)]`}, 0},
		"[]map[string]string":        {[]map[string]string{{"Sku": "a"}}, []string{`["a" ∅ int64(0)]`}, 0},
		"JSON text":                  {json.RawMessage(`[{"Sku":"a"},2]`), []string{`["a" ∅ int64(0)]`}, 1},
		"no objects":                 {[]any{time.Unix(1, 0), secret{"x"}, "text", 1.5, []byte("{}"), func() {}}, nil, 6},
		"an object that has no JSON": {[]any{broken{}}, []string{`[∅ ∅ int64(0)]`}, 0},
		"nil slice":                  {[]any(nil), nil, 0},
		"typed nil slice":            {[]line(nil), nil, 0},
		"empty":                      {[]any{}, nil, 0},
		"map":                        {map[string]any{"Sku": "a"}, nil, 1},
		"struct":                     {a, nil, 1},
		"bytes":                      {[]byte(`[{}]`), nil, 1},
		"time":                       {time.Unix(1, 0), nil, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rows, bad := expanded(e, c.array)
			require.Equal(t, c.rows, rows)
			require.Equal(t, c.bad, bad)
		})
	}
}

// TestElementsOfJSONAndGoAgree: the same array gives the same columns, whether it
// came as JSON text or decoded.
func TestElementsOfJSONAndGoAgree(t *testing.T) {
	scalar := rapid.SampledFrom([]string{`1`, `"x"`, `null`, `true`, `[1]`, `{"a":"in"}`})
	element := rapid.OneOf(scalar, rapid.Map(rapid.SliceOfN(scalar, 2, 2), func(s []string) string {
		return fmt.Sprintf(`{"a":%s,"b":%s}`, s[0], s[1])
	}))
	e := operator.NewElements(0, []row.Path{member("a"), member("b", "a"), member("b")}, true)
	canonical := func(rows *[]string) func(row.Row) {
		return func(cols row.Row) {
			var key []byte
			cols.Walk(func(_ int, v value.Value) { key = value.AppendKey(key, v) })
			*rows = append(*rows, string(key))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := "[" + strings.Join(rapid.SliceOfN(element, 0, 5).Draw(t, "elements"), ",") + "]"
		var decoded any
		require.NoError(t, json.Unmarshal([]byte(text), &decoded))
		var fromJSON, fromGo []string
		badJSON := e.Expand(row.Append(row.Row{}, jsonText(text)), canonical(&fromJSON))
		badGo := e.Expand(encode([]any{decoded}), canonical(&fromGo))
		require.Equal(t, fromJSON, fromGo)
		require.Equal(t, badJSON, badGo)
	})
}

func TestUnnest(t *testing.T) {
	for _, left := range []bool{false, true} {
		log := operatortest.NewLog()
		u, err := operator.NewUnnest(operator.UnnestConfig{Expander: operator.NewElements(1, []row.Path{member("n"), member("m")}, true), Left: left, Text: "o.items i"}, log)
		require.NoError(t, err)
		u.Advance(0, operator.Progress{Seen: 9, Low: 3, Idle: true})
		require.Equal(t, []string{"advance seen=9 low=3 idle"}, log.Take())

		items := []any{map[string]any{"n": 1, "m": []any{2}}, "bad", map[string]any{"n": "x"}}
		rec := operator.Record{TS: 5, Seq: 3, Diff: 1, Row: encode([]any{"o", items}), Why: operator.ClosedByIdle}
		u.Process(0, rec)
		require.Equal(t, []string{
			`emit @5 ["o" []interface {}([map[m:[2] n:1] bad map[n:x]]) int(1) []interface {}([2]) int64(0)] closed=idle`,
			`emit @5 ["o" []interface {}([map[m:[2] n:1] bad map[n:x]]) "x" ∅ int64(2)] closed=idle`,
			`drop bad_element port=0 @5 ["o" []interface {}([map[m:[2] n:1] bad map[n:x]])] closed=idle`,
		}, log.Take())
		rec.Diff = -1
		u.Process(0, rec)
		lines := log.Take()
		require.Len(t, lines, 2, "what is bad was told when the row came")
		require.Contains(t, lines[0], "int64(0)] closed=idle retracted")

		for _, nothing := range []any{nil, []any{}, []any{1}} {
			u.Process(0, operator.Record{TS: 6, Diff: -1, Row: encode([]any{"o", nothing})})
			if left {
				v := operatortest.Value(value.FromGo(nothing))
				require.Equal(t, []string{`emit @6 ["o" ` + v + ` ∅ ∅ ∅] retracted`}, log.Take())
			}
			require.Empty(t, log.Take())
		}
		at, ok := u.Wake(0, 7)
		require.True(t, ok)
		require.Equal(t, int64(7), at)
	}
	_, err := operator.NewUnnest(operator.UnnestConfig{}, operatortest.NewLog())
	require.ErrorIs(t, err, operator.ErrConfig)
}

func TestUnnestKeepsTheContract(t *testing.T) {
	for _, left := range []bool{false, true} {
		rapid.Check(t, func(t *rapid.T) {
			operatortest.Check(t, operatortest.Subject{
				New: func(out operator.Output) (operator.Operator, error) {
					return operator.NewUnnest(operator.UnnestConfig{Expander: operator.NewElements(1, []row.Path{member("a")}, false), Left: left}, out)
				},
				Ports: 1, Lateness: []int64{2}, Script: true, Keys: []int{1}, Time: []bool{false},
				Row: func(t *rapid.T, _ int) row.Row {
					text := rapid.SampledFrom([]string{`[]`, `[{"a":1},{"a":2}]`, `[1,{}]`}).Draw(t, "items")
					return row.Append(encode([]any{rapid.IntRange(0, 3).Draw(t, "key")}), jsonText(text))
				},
			})
		})
	}
}

func TestUnnestDescribesItself(t *testing.T) {
	describe := func(left bool) operator.Description {
		u, err := operator.NewUnnest(operator.UnnestConfig{Expander: operator.NewElements(0, nil, false), Left: left, Text: "o.items i"}, operatortest.NewLog())
		require.NoError(t, err)
		return u.Describe()
	}
	require.Equal(t, operator.Description{Name: "Unnest INNER", Lines: []string{"o.items i", "state: none"}}, describe(false))
	require.Equal(t, "Unnest LEFT", describe(true).Name)
}

func TestUnnestPassesHistoryOn(t *testing.T) {
	out := newFolded()
	u, err := operator.NewUnnest(operator.UnnestConfig{Expander: operator.NewElements(0, []row.Path{member("n")}, false)}, out)
	require.NoError(t, err)
	u.Process(0, operator.Record{TS: 5, Diff: 1, Past: true, Row: row.Append(row.Row{}, jsonText(`[{"n":1}]`))})
	require.Len(t, out.step, 1)
	require.True(t, out.step[0].Past)
}

// Source leaves out what every element would else have a copy of.
func TestUnnestKeepsItsSourceColumns(t *testing.T) {
	log := operatortest.NewLog()
	u, err := operator.NewUnnest(operator.UnnestConfig{Expander: operator.NewElements(1, []row.Path{{{Name: "a"}}}, false), Source: []int{0}}, log)
	require.NoError(t, err)
	r := row.Append(row.Append(row.Row{}, value.OfText("k")), value.OfJSON([]byte(`[{"a":1},{"a":2}]`)))
	u.Process(0, operator.Record{TS: 3, Diff: 1, Row: r})
	require.Equal(t, []string{`emit @3 ["k" 1]`, `emit @3 ["k" 2]`}, log.Take())
}
