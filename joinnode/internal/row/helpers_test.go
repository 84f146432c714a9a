package row_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// path makes a Path of names (string) and indexes (int).
func path(steps ...any) row.Path {
	var p row.Path
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			p = append(p, syntax.Step{Name: s})
		case int:
			p = append(p, syntax.Step{Index: s, IsIndex: true})
		default:
			panic(fmt.Sprintf("no step: %v", s))
		}
	}
	return p
}

// follow is the slow, obvious reading of a path, over what encoding/json
// decodes. It is the oracle of every test about paths.
func follow(x any, p row.Path) any {
	for _, step := range p {
		switch c := x.(type) {
		case map[string]any:
			name := step.Name
			if step.IsIndex {
				name = strconv.Itoa(step.Index)
			}
			x = c[name]
		case []any:
			i := step.Index
			if i < 0 {
				i += len(c)
			}
			if !step.IsIndex || i < 0 || i >= len(c) {
				return nil
			}
			x = c[i]
		default:
			return nil
		}
	}
	return x
}

// decode is json.Unmarshal that keeps the spelling of numbers.
func decode(t require.TestingT, text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var x any
	require.NoError(t, d.Decode(&x), "%s", text)
	_, err := d.Token()
	require.ErrorIs(t, err, io.EOF, "%s", text)
	return x
}

// values are a row's columns as Go values.
func values(r row.Row) []any {
	var out []any
	r.Walk(func(_ int, v value.Value) { out = append(out, v.ToGo()) })
	return out
}

func extract(t *testing.T, msg string, paths ...row.Path) row.Row {
	t.Helper()
	r, err := row.NewExtractor(paths).JSON(row.Row{}, []byte(msg), new(row.Scratch))
	require.NoError(t, err)
	return r
}

// names are the member names of generated documents, each in several spellings,
// and the steps of generated paths.
var names = map[string][]string{
	"a":           {`"a"`, `"a"`, `"\u0061"`},
	"b":           {`"b"`, `"b"`, `"\u0062"`},
	"0":           {`"0"`},
	"-1":          {`"-1"`, `"\u002d1"`},
	"a.b":         {`"a.b"`},
	"":            {`""`},
	"é\"\n":       {`"é\"\n"`, `"\u00e9\u0022\u000a"`},
	"\ufffd":      {"\"\xff\"", `"\ud800"`},
	"a long name": {`"a long name"`, `"a lon\u0067 name"`},
}

func nameList() []string {
	return []string{"a", "b", "0", "-1", "a.b", "", "é\"\n", "\ufffd", "a long name"}
}

var scalars = []string{
	"0", "-0", "1", "80.50", "1e400", "-1.5E-7", "9007199254740993", "123456789012345678901234567890.125",
	"true", "false", "null", `""`, `"text"`, `"a rather long text without anything special"`,
	`"tab\tquote\"slash\/\\ \b\f\n\r"`, `"é 日本語 😀"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\udc00x"`, `"\ud83d\u0041"`,
	"\"\xff\xc3(\"", "\"\xe0\x80\"", `"12345678\"90123456789"`, "\"\u2028\u007f\"", `"</script>&"`,
}

func genSpace(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", "", " ", "\n\t ", "\r"}).Draw(t, "space")
}

// genValue draws the text of a JSON value, up to depth containers deep.
func genValue(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case depth > 0 && kind < 4:
		return genObject(t, depth)
	case depth > 0 && kind < 6:
		text := "["
		for i := range rapid.IntRange(0, 4).Draw(t, "elements") {
			if i > 0 {
				text += genSpace(t) + ","
			}
			text += genSpace(t) + genValue(t, depth-1)
		}
		return text + genSpace(t) + "]"
	default:
		return rapid.SampledFrom(scalars).Draw(t, "scalar")
	}
}

// genObject draws the text of an object whose names often repeat.
func genObject(t *rapid.T, depth int) string {
	text := "{"
	for i := range rapid.IntRange(0, 6).Draw(t, "members") {
		if i > 0 {
			text += genSpace(t) + ","
		}
		name := rapid.SampledFrom(nameList()).Draw(t, "name")
		text += genSpace(t) + rapid.SampledFrom(names[name]).Draw(t, "spelling") +
			genSpace(t) + ":" + genSpace(t) + genValue(t, depth-1)
	}
	return text + genSpace(t) + "}"
}

func genPath(t *rapid.T) row.Path {
	var p row.Path
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		if rapid.IntRange(0, 2).Draw(t, "index") == 0 {
			p = append(p, path(rapid.IntRange(-3, 3).Draw(t, "i"))...)
		} else {
			p = append(p, path(rapid.SampledFrom(nameList()).Draw(t, "step"))...)
		}
	}
	return p
}
