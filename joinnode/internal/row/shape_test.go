package row_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// wholeRows is a row of one whole-row column per message; "" is NULL.
func wholeRows(t require.TestingT, msgs ...string) row.Row {
	x := row.NewExtractor([]row.Path{path()})
	var r row.Row
	for _, msg := range msgs {
		var err error
		if msg == "" {
			r = row.Append(r, value.Value{})
		} else if r, err = x.JSON(r, []byte(msg), new(row.Scratch)); err != nil {
			require.NoError(t, err)
		}
	}
	return r
}

// wholeMaps is the same of rows that came in as Go maps.
func wholeMaps(t require.TestingT, msgs ...string) row.Row {
	x := row.NewExtractor([]row.Path{path()})
	var r row.Row
	for _, msg := range msgs {
		if msg == "" {
			r = row.Append(r, value.Value{})
			continue
		}
		var err error
		r, err = x.Map(r, decode(t, []byte(msg)).(map[string]any))
		require.NoError(t, err)
	}
	return r
}

// selectAll is SELECT * FROM s JOIN v: left fields flat, then both aliases.
var selectAll = []row.Field{{Col: 0, Spread: true}, {Name: "s", Col: 0, Whole: true}, {Name: "v", Col: 1, Whole: true}}

func TestShape(t *testing.T) {
	star := func(cols ...int) (fields []row.Field) {
		for _, c := range cols {
			fields = append(fields, row.Field{Col: c, Spread: true, Prefix: string("sv"[c])})
		}
		return fields
	}
	for _, c := range []struct {
		name   string
		fields []row.Field
		rows   []string
		json   string
		sorted string // where rows that came as maps give another order; "" otherwise
	}{
		{"SELECT *", selectAll, []string{`{"k":1,"b":80.50}`, `{"k":1,"c":[1]}`},
			`{"k":1,"b":80.50,"s":{"k":1,"b":80.50},"v":{"k":1,"c":[1]}}`,
			`{"b":80.50,"k":1,"s":{"b":80.50,"k":1},"v":{"c":[1],"k":1}}`},
		{"unmatched right alias", selectAll, []string{`{"k":1}`, ``}, `{"k":1,"s":{"k":1},"v":{}}`, ``},
		{"an alias wins over a left field", selectAll, []string{`{"v":7,"k":1}`, `{"k":2}`},
			`{"k":1,"s":{"v":7,"k":1},"v":{"k":2}}`, `{"k":1,"s":{"k":1,"v":7},"v":{"k":2}}`},
		{"also written with escapes", selectAll, []string{`{"\u0076":7}`, `{}`}, `{"s":{"\u0076":7},"v":{}}`, `{"s":{"v":7},"v":{}}`},
		{"empty left row", selectAll, []string{`{}`, `{}`}, `{"s":{},"v":{}}`, ``},

		{"alias.*", star(1), []string{`{"a":1}`, `{"a":2,"b":null}`}, `{"a":2,"b":null}`, ``},
		{"s.*, v.*", star(0, 1), []string{`{"a":1,"b":2}`, `{"b":3,"c":4}`}, `{"a":1,"b":2,"v.b":3,"c":4}`, ``},
		{"v.*, s.*", star(1, 0), []string{`{"a":1,"b":2}`, `{"b":3,"c":4}`}, `{"b":3,"c":4,"a":1,"s.b":2}`, ``},
		{"v.* of a NULL row", star(0, 1), []string{`{"a":1}`, ``}, `{"a":1}`, ``},
		{"v.* twice", star(1, 1), []string{``, `{"a":1}`}, `{"a":1,"v.a":1}`, ``},
		{"the prefixed name is taken by another row", star(0, 1), []string{`{"a":1,"v.a":2}`, `{"a":3}`}, `{"a":1,"v.a":2,"v.v.a":3}`, ``},
		{"the prefixed name is taken by the same row", star(0, 1), []string{`{"a":1}`, `{"a":3,"v.a":4}`}, `{"a":1,"v.a":3,"v.v.a":4}`, ``},
		{"a named column keeps its name", append(star(1), row.Field{Name: "a", Col: 0}), []string{`{"x":1}`, `{"a":3,"b":4}`},
			`{"v.a":3,"b":4,"a":{"x":1}}`, ``},
		{"a prefixed name may be a named column", append(star(1), row.Field{Name: "a", Col: 1}, row.Field{Name: "v.a", Col: 1}),
			[]string{``, `{"a":3}`}, `{"v.v.a":3,"a":{"a":3},"v.a":{"a":3}}`, ``},
		{"*, v.*", append(slices.Clone(selectAll), star(1)...), []string{`{"a":1}`, `{"a":2,"b":3}`},
			`{"a":1,"s":{"a":1},"v":{"a":2,"b":3},"v.a":2,"b":3}`, ``},

		{"duplicates in a whole row", selectAll, []string{`{"k":1,"x":2,"k":{"n":3}}`, `{"y":1,"y":2}`},
			`{"x":2,"k":{"n":3},"s":{"x":2,"k":{"n":3}},"v":{"y":2}}`, `{"k":{"n":3},"x":2,"s":{"k":{"n":3},"x":2},"v":{"y":2}}`},
		{"names that need escapes", selectAll, []string{`{"a\"\n":"<b>&\u0001","é":"\u00e9"}`, ``},
			`{"a\"\n":"<b>&\u0001","é":"é","s":{"a\"\n":"<b>&\u0001","é":"\u00e9"},"v":{}}`,
			`{"a\"\n":"<b>&\u0001","é":"é","s":{"a\"\n":"<b>&\u0001","é":"é"},"v":{}}`},
		{"white space of the message stays inside values", selectAll, []string{` { "a" : [ 1 ] } `, ``},
			`{"a":[ 1 ],"s":{ "a" : [ 1 ] },"v":{}}`, `{"a":[1],"s":{"a":[1]},"v":{}}`},
		{"a whole row that is not asked to be whole", []row.Field{{Name: "x", Col: 1}}, []string{`{}`, ``}, `{"x":null}`, ``},
		{"a column beyond the row", []row.Field{{Name: "x", Col: 5}, {Name: "y", Col: 6, Whole: true}, {Col: 7, Spread: true}},
			nil, `{"x":null,"y":{}}`, ``},
		{"no fields", nil, nil, `{}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := row.NewShape(c.fields)
			fromJSON := wholeRows(t, c.rows...)
			require.Equal(t, c.json, string(s.AppendJSON(nil, fromJSON)))
			require.Equal(t, decode(t, []byte(c.json)), any(s.Map(fromJSON)))

			fromMaps := wholeMaps(t, c.rows...)
			require.Equal(t, decode(t, []byte(c.json)), any(s.Map(fromMaps)))
			if c.sorted == "" {
				c.sorted = c.json
			}
			require.Equal(t, c.sorted, string(s.AppendJSON(nil, fromMaps)))
		})
	}
}

func TestShapeOfNamedColumns(t *testing.T) {
	at := time.Date(2024, 8, 6, 12, 0, 0, 5, time.UTC)
	r := fromGo(1, "quote \"", 80.5, json.Number("80.50"), nil, true, at, math.NaN(), uint64(math.MaxUint64), []any{1, "<"}, "bad \xff", float32(0.1))
	names := []string{"i", "s", "f", "n", "null", "b", "t", "nan", "u", "list", "utf8", "f32"}
	var fields []row.Field
	for i, name := range names {
		fields = append(fields, row.Field{Name: name, Col: i})
	}
	s := row.NewShape(fields)
	require.Equal(t, `{"i":1,"s":"quote \"","f":80.5,"n":80.50,"null":null,"b":true,"t":"2024-08-06T12:00:00.000000005Z",`+
		`"nan":null,"u":18446744073709551615,"list":[1,"<"],"utf8":"bad `+"\ufffd"+`","f32":0.1}`, string(s.AppendJSON(nil, r)))

	m := s.Map(r)
	require.True(t, math.IsNaN(m["nan"].(float64)))
	delete(m, "nan")
	require.Equal(t, map[string]any{"i": 1, "s": "quote \"", "f": 80.5, "n": json.Number("80.50"), "null": nil, "b": true, "t": at,
		"u": uint64(math.MaxUint64), "list": []any{1, "<"}, "utf8": "bad \xff", "f32": float32(0.1)}, m)
}

func TestShapeKeepsSelectOrder(t *testing.T) {
	r := fromGo(0, 1, 2, 3)
	s := row.NewShape([]row.Field{{Name: "c", Col: 2}, {Name: "a", Col: 0}, {Name: "again", Col: 2}, {Name: "d", Col: 3}, {Name: "b", Col: 1}})
	require.Equal(t, `[{"c":2,"a":0,"again":2,"d":3,"b":1}`, string(s.AppendJSON([]byte("["), r)))
}

// What a sink does to one result does not reach the row, which may match again.
func TestMapSharesNothing(t *testing.T) {
	r := wholeMaps(t, `{"a":[1],"o":{"x":1}}`, `{"b":[2]}`)
	s := row.NewShape(append(slices.Clone(selectAll), row.Field{Name: "named", Col: 1}))
	first := s.Map(r)
	want := s.Map(r)
	first["a"].([]any)[0] = "changed"
	first["o"].(map[string]any)["x"] = "changed"
	first["v"].(map[string]any)["b"] = "changed"
	first["named"].(map[string]any)["b"].([]any)[0] = "changed"
	require.Equal(t, want, s.Map(r))
}

func TestWholeRowOfANilMap(t *testing.T) {
	r, err := row.NewExtractor([]row.Path{path()}).Map(row.Row{}, nil)
	require.NoError(t, err)
	s := row.NewShape(selectAll[:2])
	require.Equal(t, `{"s":{}}`, string(s.AppendJSON(nil, r)))
	require.Equal(t, map[string]any{"s": map[string]any{}}, s.Map(r))
}

// Two names that JSON can only write alike are one name.
func TestSpreadOfNamesThatAreNoUTF8(t *testing.T) {
	r, err := row.NewExtractor([]row.Path{path()}).Map(row.Row{}, map[string]any{"\xfe": 1, "\xff": 2})
	require.NoError(t, err)
	s := row.NewShape([]row.Field{{Col: 0, Spread: true, Prefix: "s"}})
	require.Equal(t, "{\"\ufffd\":1,\"s.\ufffd\":2}", string(s.AppendJSON(nil, r)))
	require.Equal(t, map[string]any{"\ufffd": 1, "s.\ufffd": 2}, s.Map(r))
}

func genFields(t *rapid.T, cols int) []row.Field {
	var fields []row.Field
	for _, name := range rapid.Permutation([]string{"a", "b", "p.a", "named", "é\"\n"}).Draw(t, "names")[:rapid.IntRange(0, 3).Draw(t, "named")] {
		fields = append(fields, row.Field{Name: name, Col: rapid.IntRange(0, cols).Draw(t, "col"), Whole: rapid.Bool().Draw(t, "whole")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "spreads") {
		fields = append(fields, row.Field{Spread: true, Col: rapid.IntRange(0, cols).Draw(t, "col"),
			Prefix: rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "prefix")})
	}
	return rapid.Permutation(fields).Draw(t, "fields")
}

// JSON and Map are one value; each name stands once; no named column and, of a
// spread with a prefix, no field is lost.
func TestShapeWritesOneValueTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
				return ""
			}
			return genObject(t, 2)
		}), 0, 3).Draw(t, "rows")
		fields := genFields(t, len(msgs))
		s := row.NewShape(fields)

		whole := wholeRows
		if rapid.Bool().Draw(t, "maps") {
			whole = wholeMaps
		}
		r := whole(t, msgs...)
		text := s.AppendJSON(nil, r)
		require.True(t, json.Valid(text), "%q", text)
		m := s.Map(r)
		require.Equal(t, decode(t, text), any(m), "%q", text)
		written := membersOf(t, text)
		require.Len(t, m, len(written), "each name once: %q", text)

		least := 0
		for _, f := range fields {
			switch object, _ := r.Col(f.Col).ToGo().(map[string]any); {
			case !f.Spread:
				require.Contains(t, m, f.Name)
				least++
			case f.Prefix != "":
				least += len(object)
			default:
				for name := range object {
					require.Contains(t, m, name, "left out only when taken")
				}
			}
		}
		require.GreaterOrEqual(t, len(m), least)
		require.Equal(t, string(text), string(s.AppendJSON(nil, r)), "the same again")
	})
}

// Rows of more fields than are compared one by one.
func TestSpreadOfManyFields(t *testing.T) {
	var msg strings.Builder
	for i := range 100 {
		msg.WriteString(`,"f` + strings.Repeat("x", i) + `":` + strings.Repeat("1", i+1))
	}
	object := "{" + msg.String()[1:] + "}"
	s := row.NewShape([]row.Field{{Col: 0, Spread: true, Prefix: "s"}, {Col: 1, Spread: true, Prefix: "v"}})
	r := wholeRows(t, object, object)
	m := s.Map(r)
	require.Len(t, m, 200)
	require.Equal(t, m["f"], m["v.f"])
	require.Equal(t, decode(t, s.AppendJSON(nil, r)), any(m))
}

func TestShapeIsSafeForConcurrentUse(t *testing.T) {
	s := row.NewShape([]row.Field{{Col: 0, Spread: true, Prefix: "s"}, {Col: 1, Spread: true, Prefix: "v"}})
	r := wholeRows(t, `{"a":1,"\u0062":2}`, `{"a":3,"b":4}`)
	want := `{"a":1,"b":2,"v.a":3,"v.b":4}`
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				if got := string(s.AppendJSON(nil, r)); got != want {
					t.Errorf("got %s", got)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestAppendJSONDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("allocation counts differ under the race detector")
	}
	named := extract(t, message, path("deviceId"), path("ts"), path("temperature"))
	for _, c := range []struct {
		name   string
		fields []row.Field
		r      row.Row
	}{
		{"named", []row.Field{{Name: "deviceId", Col: 0}, {Name: "ts", Col: 1}, {Name: "temp", Col: 2}}, named},
		{"SELECT *", selectAll, wholeRows(t, message, message)},
		{"s.*, v.*", []row.Field{{Col: 0, Spread: true, Prefix: "s"}, {Col: 1, Spread: true, Prefix: "v"}}, wholeRows(t, message, message)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := row.NewShape(c.fields)
			buf := s.AppendJSON(nil, c.r)
			require.Zero(t, testing.AllocsPerRun(100, func() { buf = s.AppendJSON(buf[:0], c.r) }))
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	x := row.NewExtractor([]row.Path{path("deviceId"), path("ts"), path("temperature")})
	r, err := x.JSON(row.Row{}, []byte(message), new(row.Scratch))
	require.NoError(b, err)
	whole := wholeRows(b, message, message)
	for _, c := range []struct {
		name   string
		fields []row.Field
		r      row.Row
	}{
		{"columns=3", []row.Field{{Name: "deviceId", Col: 0}, {Name: "ts", Col: 1}, {Name: "temp", Col: 2}}, r},
		{"star", selectAll, whole},
		{"prefixed", []row.Field{{Col: 0, Spread: true, Prefix: "s"}, {Col: 1, Spread: true, Prefix: "v"}}, whole},
	} {
		s := row.NewShape(c.fields)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = s.AppendJSON(buf[:0], c.r)
			}
		})
	}
}
