package row_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func TestExtractOneColumn(t *testing.T) {
	number := func(s string) value.Value { return value.OfNumber([]byte(s)) }
	plain := func(s string) value.Value { return value.OfBytes([]byte(s), true) }
	text := func(s string) value.Value { return value.OfBytes([]byte(s), false) }
	raw := func(s string) value.Value { return value.OfJSON([]byte(s)) }
	null := value.Value{}
	for _, c := range []struct {
		name string
		msg  string
		path row.Path
		want value.Value
	}{
		{"number as spelled", `{"a":80.50}`, path("a"), number("80.50")},
		{"integer beyond float64", `{"a":9007199254740993}`, path("a"), number("9007199254740993")},
		{"exponent", `{"a":1E400}`, path("a"), number("1E400")},
		{"plain text", `{"a":"x y"}`, path("a"), plain("x y")},
		{"empty text", `{"a":""}`, path("a"), plain("")},
		{"unicode text", `{"a":"日本"}`, path("a"), plain("日本")},
		{"escape not needed on output", `{"a":"\u00e9\/"}`, path("a"), plain("é/")},
		{"escape needed on output", `{"a":"x\"\ny"}`, path("a"), text("x\"\ny")},
		{"surrogate pair", `{"a":"\ud83d\ude00"}`, path("a"), plain("😀")},
		{"lone surrogates", `{"a":"\ud83d\u0041\udc00"}`, path("a"), plain("\ufffdA\ufffd")},
		{"no UTF-8", "{\"a\":\"x\xff\xfey\"}", path("a"), plain("x\ufffd\ufffdy")},
		{"no UTF-8 at the start of long text", "{\"a\":\"\xff0123456789abcdef\"}", path("a"), plain("\ufffd0123456789abcdef")},
		{"no UTF-8 in a long name", "{\"\xff0123456789abcdef\":1}", path("\ufffd0123456789abcdef"), number("1")},
		{"no UTF-8 in an object", "{\"a\":{\"\xff\":\"\xc3\"}}", path("a"), raw("{\"\ufffd\":\"\ufffd\"}")},
		{"true", `{"a":true}`, path("a"), value.OfBool(true)},
		{"false", `{"a":false}`, path("a"), value.OfBool(false)},
		{"null", `{"a":null}`, path("a"), null},
		{"missing", `{"b":1}`, path("a"), null},
		{"empty object", `{}`, path("a"), null},
		{"object as it came", `{"a": { "x" : 1.0 } }`, path("a"), raw(`{ "x" : 1.0 }`)},
		{"array as it came", `{"a":[1, {} ]}`, path("a"), raw(`[1, {} ]`)},
		{"whole row", "\n {\"a\" : 1,\"b\":2} ", path(), raw(`{"a" : 1,"b":2}`)},

		{"names are case-sensitive", `{"A":1}`, path("a"), null},
		{"escaped name", `{"\u0061":1}`, path("a"), number("1")},
		{"name with escape needed", `{"x\ny":1}`, path("x\ny"), number("1")},
		{"name with a dot is one step", `{"a.b":1,"a":{"b":2}}`, path("a.b"), number("1")},
		{"two steps do not find a name with a dot", `{"a.b":1}`, path("a", "b"), null},
		{"empty name", `{"":1}`, path(""), number("1")},
		{"no prefix match", `{"ab":1,"":2}`, path("a"), null},

		{"nested", `{"a":{"x":0,"b":{"c":1}}}`, path("a", "b", "c"), number("1")},
		{"nested in a scalar", `{"a":1}`, path("a", "b"), null},
		{"nested in text", `{"a":"{\"b\":1}"}`, path("a", "b"), null},
		{"nested in null", `{"a":null}`, path("a", "b"), null},
		{"nested in an array", `{"a":[{"b":1}]}`, path("a", "b"), null},
		{"element", `{"a":[1,2,3]}`, path("a", 1), number("2")},
		{"element of element", `{"a":[[1],[2,[3]]]}`, path("a", 1, 1, 0), number("3")},
		{"field of element", `{"items":[{"price":1.50}]}`, path("items", 0, "price"), number("1.50")},
		{"beyond the end", `{"a":[1]}`, path("a", 1), null},
		{"last element", `{"a":[1,2,3]}`, path("a", -1), number("3")},
		{"first from the end", `{"a":[1,2,3]}`, path("a", -3), number("1")},
		{"before the start", `{"a":[1,2,3]}`, path("a", -4), null},
		{"empty array", `{"a":[ ]}`, path("a", -1), null},
		{"negative in negative", `{"a":[[1],[2,3]]}`, path("a", -1, -2), number("2")},
		{"index finds a member", `{"a":{"0":1}}`, path("a", 0), number("1")},
		{"negative index finds a member", `{"a":{"-1":1}}`, path("a", -1), number("1")},
		{"name does not find an element", `{"a":[1]}`, path("a", "0"), null},

		{"last duplicate", `{"a":1,"a":2}`, path("a"), number("2")},
		{"last duplicate is null", `{"a":1,"a":null}`, path("a"), null},
		{"escaped duplicate", `{"a":1,"\u0061":2}`, path("a"), number("2")},
		{"last duplicate has another shape", `{"a":{"b":1},"a":2}`, path("a", "b"), null},
		{"last duplicate lacks the member", `{"a":{"b":1},"a":{"c":2}}`, path("a", "b"), null},
		{"last duplicate is an array", `{"a":{"0":1},"a":[2]}`, path("a", 0), number("2")},
		{"last duplicate is a shorter array", `{"a":[1,2],"a":[3]}`, path("a", 1), null},
		{"duplicates at two levels", `{"a":{"b":1,"b":2},"a":{"b":3,"b":{"c":4}}}`, path("a", "b", "c"), number("4")},
		{"duplicates in the whole row", `{"a":1, "b":2 ,"a":3}`, path(), raw(`{"b":2,"a":3}`)},
		{"escaped duplicates in the whole row", `{"\u0061":1,"a":{"x":1,"x":2}}`, path(), raw(`{"a":{"x":1,"x":2}}`)},
		{"all but one replaced", `{"a":1,"a":2,"a":3}`, path(), raw(`{"a":3}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.True(t, json.Valid([]byte(c.msg)), "the case is wrong")
			r := extract(t, c.msg, c.path)
			require.Equal(t, 1, r.Len())
			require.Equal(t, c.want, r.Col(0))

			if len(c.path) > 0 {
				got, ok := row.Lookup([]byte(c.msg), c.path)
				require.Equal(t, c.want, got)
				require.Equal(t, ok, c.want.Kind != value.Null || c.name == "null" || c.name == "last duplicate is null")
			}
		})
	}
}

func TestExtractManyColumnsAtOnce(t *testing.T) {
	msg := `{"x":{"0":"obj","y":[1,2]},"n":{"y":1},"x":{"0":"last","y":[{"z":3},{"z":4}]},"n":5}`
	r := extract(t, msg, path("x", "y", -1, "z"), path("x"), path("x", 0), path("x", "0"), path("n"), path("n", "y"),
		path("x", "y", 0, "z"), path("x", "y"), path("n"), path("missing"), path("x", "y", 1))
	require.Equal(t, []any{
		json.Number("4"), decode(t, []byte(`{"0":"last","y":[{"z":3},{"z":4}]}`)), "last", "last", json.Number("5"), nil,
		json.Number("3"), decode(t, []byte(`[{"z":3},{"z":4}]`)), json.Number("5"), nil, decode(t, []byte(`{"z":4}`)),
	}, values(r))
}

// A Scratch remembers the last message: what it remembers must not show.
func TestExtractWithChangingMemberOrder(t *testing.T) {
	paths := []row.Path{path("a"), path("b", "c"), path(), path("x y")}
	x, other := row.NewExtractor(paths), row.NewExtractor([]row.Path{path("b"), path("a")})
	sc := new(row.Scratch)
	long := `"` + strings.Repeat("n", 100) + `"`
	var wide []string
	for i := range 100 {
		wide = append(wide, `"w`+strconv.Itoa(i)+`":1`)
	}
	for _, msg := range []string{
		`{"a":1,"b":{"c":2},"x y":3}`, `{"a":1,"b":{"c":2},"x y":3}`, `{"b":{"c":2},"a":1}`, `{"a":1,"a":2,"b":{"c":3,"c":4}}`,
		`{"a" :1,"b": {"c":2}}`, `{"a" :1,"b":{"c":2}}`, `{ "a":1 , "b":5 }`, `{"a":1`, `{"a":`, `{"a"`, `{"a":1,`, `{"a:1}`, `{"a\":1}`,
		`{"ab":1,"b":{"c":2}}`, `{"\u0061":1,"b":{"c":2}}`, `{"\u0061":2,"b":{"c":2}}`, `{"a":1,"b":{"c":2},"z":[],"z":{}}`,
		`{` + long + `:1,"a":2}`, `{` + long + `:1,"a":2}`, `{}`, `{"a":{"a":1,"b":{"c":2}}}`,
		`{` + strings.Join(wide, ",") + `,"a":7}`, `{` + strings.Join(wide, ",") + `,"a":8,"w1":2}`, `{"a":1,"b":{"c":2},"x y":3}`,
	} {
		checkExtract(t, x, paths, []byte(msg), sc)
		if strings.HasPrefix(msg, `{"b"`) {
			checkExtract(t, other, []row.Path{path("b"), path("a")}, []byte(msg), sc)
		}
	}
}

// More columns than are compared one by one.
func TestExtractWideRow(t *testing.T) {
	var paths []row.Path
	var msg strings.Builder
	var want []any
	for i := range 200 {
		paths = append(paths, path("f"+strconv.Itoa(i)), path(i))
		if i > 0 {
			msg.WriteByte(',')
		}
		msg.WriteString(`"f` + strconv.Itoa(i) + `":` + strconv.Itoa(i) + `,"` + strconv.Itoa(i) + `":true`)
		want = append(want, json.Number(strconv.Itoa(i)), true)
	}
	require.Equal(t, want, values(extract(t, "{"+msg.String()+"}", paths...)))
	whole := "{" + msg.String() + `,"f7":null}`
	require.Equal(t, decode(t, []byte(whole)), extract(t, whole, path()).Col(0).ToGo())
}

func TestExtractAppends(t *testing.T) {
	x := row.NewExtractor([]row.Path{path("a")})
	var sc row.Scratch
	r := row.Append(row.Row{}, value.OfInt(1))
	r, err := x.JSON(r, []byte(`{"a":2}`), &sc)
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), json.Number("2")}, values(r))

	same, err := x.JSON(r, []byte(`{"a":3`), &sc)
	require.Error(t, err)
	require.Equal(t, r, same)
}

func TestExtractWantsAnObject(t *testing.T) {
	for msg, reason := range map[string]string{
		` [{"a":1}]`: "the message is an array, want an object at byte offset 1",
		`null`:       "the message is null, want an object at byte offset 0",
		`"x"`:        "the message is a string",
		`[{"a":1]`:   "want a comma or the closing brace of the object at byte offset 7",
	} {
		_, err := row.NewExtractor(nil).JSON(row.Row{}, []byte(msg), new(row.Scratch))
		require.ErrorIs(t, err, row.ErrJSON)
		require.ErrorContains(t, err, reason)
	}
}

// The row keeps nothing of the message.
func TestExtractCopies(t *testing.T) {
	msg := []byte(`{"a":"text","b":[1],"a":"again"}`)
	r, err := row.NewExtractor([]row.Path{path("a"), path("b"), path()}).JSON(row.Row{}, msg, new(row.Scratch))
	require.NoError(t, err)
	want := values(r)
	for i := range msg {
		msg[i] = '!'
	}
	require.Equal(t, want, values(r))
}

// checkExtract compares all columns with what encoding/json decodes.
func checkExtract(t require.TestingT, x *row.Extractor, paths []row.Path, msg []byte, sc *row.Scratch) {
	r, err := x.JSON(row.Row{}, msg, sc)
	var object map[string]json.RawMessage
	isObject := json.Unmarshal(msg, &object) == nil && object != nil
	require.Equal(t, isObject, err == nil, "%q: %v", msg, err)
	if err != nil {
		require.ErrorIs(t, err, row.ErrJSON)
		return
	}
	require.Equal(t, len(paths), r.Len())
	whole := decode(t, msg)
	for i, p := range paths {
		v := r.Col(i)
		want := follow(whole, p)
		require.Equal(t, want, v.ToGo(), "%q at %v", msg, p)
		require.True(t, utf8.Valid(v.Text))
		if v.Plain {
			require.True(t, value.IsPlain(v.Text))
		}
		if found, ok := row.Lookup(msg, p); ok {
			require.Equal(t, want, found.ToGo(), "%q at %v", msg, p)
		} else {
			require.Nil(t, want, "%q at %v", msg, p)
		}
		if len(p) == 0 {
			require.Len(t, membersOf(t, v.Text), len(whole.(map[string]any)), "each name once in %q", v.Text)
		}
	}
}

// membersOf lists the names of an object's members with their repetitions.
func membersOf(t require.TestingT, object []byte) []string {
	var list []string
	d := json.NewDecoder(strings.NewReader(string(object)))
	_, err := d.Token()
	require.NoError(t, err)
	for d.More() {
		name, err := d.Token()
		require.NoError(t, err)
		list = append(list, name.(string))
		var skip json.RawMessage
		require.NoError(t, d.Decode(&skip))
	}
	return list
}

func TestExtractAgreesWithEncodingJSON(t *testing.T) {
	sc := new(row.Scratch) // one for all, as the engine uses it
	rapid.Check(t, func(t *rapid.T) {
		var paths []row.Path
		for range rapid.IntRange(0, 20).Draw(t, "columns") {
			paths = append(paths, genPath(t))
		}
		x := row.NewExtractor(paths)
		for range 3 {
			msg := []byte(genSpace(t) + genObject(t, 4) + genSpace(t))
			checkExtract(t, x, paths, msg, sc)
			checkExtract(t, x, paths, msg, sc) // the order of members is known now
		}
		checkExtract(t, x, paths, genMutated(t), sc)
	})
}

// fuzzPaths lead through everything that names and genPath can make.
var fuzzPaths = []row.Path{
	path(), path("a"), path("b"), path(""), path("a.b"), path("a", "b"), path("a", "b", "a"), path("a", 0), path("a", -1),
	path("a", "0"), path("b", 0, -1), path("b", -1, 1), path("b", 0, "a"), path("b", 2), path("b", -2, "b"), path("\ufffd"),
	path(0), path("0"), path("é\"\n"),
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		`{}`, ` {"a":1} `, `{"a":{"b":{"a":"\u00e9"}},"b":[[1,[2]],{"a":null,"b":1e5}]}`, `{"a":[1],"a":{"0":2}}`,
		"{\"\xff\":\"\xe0\x80\"}", `{"0":1,"\u0030":-0.0E-1}`, `{"a.b":tru}`, `[{"a":1}]`, `"\ud800\udc00"`, `{"a":"\u12`,
		`{"b":[]`, `{"a":01}`, "\ufeff{}", `{"é\"\n":"12345678\\"}`, `nul`, `{"a":-}`, strings.Repeat(`{"a":[`, 100),
		`{"a" : "x" , "b" : [ 1 , { "a" : 2 } ] }`,
	} {
		f.Add([]byte(s))
	}
	x := row.NewExtractor(fuzzPaths)
	f.Fuzz(func(t *testing.T, msg []byte) {
		if strings.Count(string(msg), "{")+strings.Count(string(msg), "[") > 9000 {
			t.Skip("encoding/json nests ten levels deeper")
		}
		agree(t, msg)
		sc := new(row.Scratch)
		checkExtract(t, x, fuzzPaths, msg, sc)
		checkExtract(t, x, fuzzPaths, msg, sc)
		spans, err := row.Split(nil, msg)
		if err == nil {
			for _, s := range spans {
				checkExtract(t, x, fuzzPaths, msg[s.Start:s.End], new(row.Scratch))
			}
		}
	})
}

// FuzzLookup reads text that nobody has validated.
func FuzzLookup(f *testing.F) {
	for _, s := range []string{`{"a":{"b":1}}`, `{"a":{"b":`, `{"b":[[1,[2`, `{"a":1,`, `{`, `{"a"`, `{"b":[{"a":"\`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		for _, p := range fuzzPaths {
			if v, ok := row.Lookup(msg, p); !ok {
				require.Equal(t, value.Value{}, v)
			}
		}
	})
}

// message is of the size and kind that issue 3 measures with.
const message = `{"deviceId":"device-00042","ts":1722945600123,"temperature":80.50,"humidity":41.25,` +
	`"status":"ok","site":"hall-7","seq":123456,"battery":0.87}`

func TestExtractDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("allocation counts differ under the race detector")
	}
	for _, c := range []struct {
		name  string
		msg   string
		paths []row.Path
	}{
		{"flat", message, []row.Path{path("deviceId"), path("ts"), path("temperature")}},
		{"whole", message, []row.Path{path("deviceId"), path()}},
		{"nested", `{"a":{"b":[{"c":"x\n"},{"\u0063":"é"}]},"d":[[1],[2]]}`, []row.Path{path("a", "b", -1, "c"), path("d", 1, 0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := row.NewExtractor(c.paths)
			msg := []byte(c.msg)
			var sc row.Scratch
			var r row.Row
			run := func() {
				var err error
				if r, err = x.JSON(row.Row{Enc: r.Enc[:0]}, msg, &sc); err != nil {
					t.Fatal(err)
				}
			}
			run()
			require.Zero(t, testing.AllocsPerRun(100, run))
		})
	}
}

func TestSplitAndLookupDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("allocation counts differ under the race detector")
	}
	msg := []byte(`[` + message + `,` + message + `]`)
	one := []byte(message)
	var spans []row.Span
	p := path("deviceId")
	run := func() {
		var err error
		if spans, err = row.Split(spans[:0], msg); err != nil || len(spans) != 2 {
			t.Fatal(spans, err)
		}
		if _, ok := row.Lookup(one, p); !ok {
			t.Fatal("not found")
		}
	}
	run()
	require.Zero(t, testing.AllocsPerRun(100, run))
}

func BenchmarkExtractJSON(b *testing.B) {
	msg := []byte(message)
	b.Run("columns=3", func(b *testing.B) {
		benchmarkExtract(b, msg, path("deviceId"), path("ts"), path("temperature"))
	})
	b.Run("whole", func(b *testing.B) { benchmarkExtract(b, msg, path("deviceId"), path("ts"), path()) })
	b.Run("json.Unmarshal", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(msg)))
		for b.Loop() {
			var m map[string]any
			if err := json.Unmarshal(msg, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchmarkExtract(b *testing.B, msg []byte, paths ...row.Path) {
	x := row.NewExtractor(paths)
	var sc row.Scratch
	var r row.Row
	b.ReportAllocs()
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		var err error
		if r, err = x.JSON(row.Row{Enc: r.Enc[:0]}, msg, &sc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	msg := []byte(message)
	p := path("site")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := row.Lookup(msg, p); !ok {
			b.Fatal("not found")
		}
	}
}
