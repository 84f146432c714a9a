package row_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

func TestValidNamesOffsetAndReason(t *testing.T) {
	for _, c := range []struct {
		msg    string
		offset int
		reason string
	}{
		{``, 0, "unexpected end, want a value"},
		{`  `, 2, "unexpected end, want a value"},
		{"\ufeff{}", 0, "byte order mark"},
		{`{"a":01}`, 6, "leading zero"},
		{`{"a":-01}`, 7, "leading zero"},
		{`{"a":1.}`, 7, "want a digit"},
		{`{"a":.5}`, 5, "want a value"},
		{`{"a":+1}`, 5, "want a value"},
		{`{"a":-}`, 6, "want a digit"},
		{`{"a":1e}`, 7, "want a digit"},
		{`{"a":1e+}`, 8, "want a digit"},
		{`{"a":0x1}`, 6, "want a comma"},
		{`{"a":NaN}`, 5, "want a value"},
		{`{"a":Infinity}`, 5, "want a value"},
		{`{"a":tru}`, 8, "want true"},
		{`{"a":nulL}`, 8, "want null"},
		{`{"a":falsey}`, 10, "want a comma"},
		{"{\"a\":\"x\ny\"}", 7, "control character 0x0a"},
		{"{\"a\":\"0123456789\x1f\"}", 16, "control character 0x1f"},
		{"{\"a\x00\":1}", 3, "control character 0x00"},
		{`{"a":"\x"}`, 7, "escape character"},
		{`{"a":"\u12G4"}`, 10, "four hexadecimal digits"},
		{`{"a":"\u12`, 10, "unexpected end inside a string"},
		{`{"a":"\`, 7, "unexpected end inside a string"},
		{`{"a":"x`, 7, "unexpected end inside a string"},
		{`{"a":"x\"}`, 10, "unexpected end inside a string"},
		{`{"a":1`, 6, "unexpected end, want a comma or the closing brace"},
		{`{"a":[1`, 7, "unexpected end, want a comma or the closing bracket"},
		{`{"a":1]`, 6, "want a comma or the closing brace"},
		{`[1}`, 2, "want a comma or the closing bracket"},
		{`{"a"}`, 4, "want a colon"},
		{`{"a" 1}`, 5, "want a colon"},
		{`{"a":}`, 5, "want a value"},
		{`{"a":1,}`, 7, "name of a member"},
		{`{,}`, 1, "name of a member"},
		{`{a:1}`, 1, "name of a member"},
		{`{'a':1}`, 1, "name of a member"},
		{`{1:1}`, 1, "name of a member"},
		{`[1,]`, 3, "want a value"},
		{`[,1]`, 1, "want a value"},
		{`[1 2]`, 3, "want a comma"},
		{`{"a":1} {"b":2}`, 8, "nothing behind the message"},
		{`{"a":1}x`, 7, "nothing behind the message"},
		{`{"a":1}` + "\x00", 7, "unexpected byte 0x00"},
		{`{"a":1} // c`, 8, "nothing behind"},
		{"{\"a\":1\u00a0}", 6, "unexpected byte 0xc2"},
		{"{\"a\":1\v}", 6, "unexpected byte 0x0b"},
		{strings.Repeat(`{"a":`, 20_000), 5 * 9990, "nested too deeply"},
		{strings.Repeat(`[`, 20_000), 9990, "nested too deeply"},
	} {
		require.False(t, json.Valid([]byte(c.msg)), "the case is wrong: %.80s", c.msg)
		for _, err := range refusals(c.msg) {
			var je *row.JSONError
			require.ErrorAs(t, err, &je, "%.80q", c.msg)
			require.ErrorIs(t, err, row.ErrJSON)
			require.Equal(t, c.offset, je.Offset, "%.80q: %v", c.msg, err)
			require.Contains(t, err.Error(), c.reason, "%.80q", c.msg)
		}
	}
}

// refusals are the errors of all functions that validate a whole message, with
// no column, with columns that lead through the fault, and with the whole row.
func refusals(msg string) []error {
	errs := []error{row.Valid([]byte(msg))}
	_, err := row.Split(nil, []byte(msg))
	errs = append(errs, err)
	for _, paths := range [][]row.Path{
		nil,
		{path("a")},
		{path("a", "a", "a"), path("a", 0, -1), path("b")},
		{path()},
	} {
		_, err := row.NewExtractor(paths).JSON(row.Row{}, []byte(msg), new(row.Scratch))
		errs = append(errs, err)
	}
	return errs
}

func TestValidAccepts(t *testing.T) {
	for _, msg := range []string{
		`0`, `-0`, `1e5`, `1E+05`, `-1.5e-10`, `""`, `true`, ` null `, `[]`, `{}`, "\r\n\t [ ] \n", `[[],{},[{}]]`,
		`{"":{"":[]}}`, `"\u0000\uD800\/"`, "\"\u2028\xff\"",
		strings.Repeat(`[`, 9990) + strings.Repeat(`]`, 9990),
		strings.Repeat(`{"a":`, 9990) + `1` + strings.Repeat(`}`, 9990),
	} {
		require.True(t, json.Valid([]byte(msg)), "the case is wrong: %.80s", msg)
		require.NoError(t, row.Valid([]byte(msg)), "%.80q", msg)
	}
}

// The one difference from encoding/json: ten levels are kept for what a result
// puts around a value.
func TestNestingLimit(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth))
	}
	deep := path(slices.Repeat([]any{"a"}, 9_995)...)
	for _, paths := range [][]row.Path{nil, {path("a", "a")}, {path()}, {deep}} {
		x := row.NewExtractor(paths)
		_, err := x.JSON(row.Row{}, nested(9990), new(row.Scratch))
		require.NoError(t, err)
		_, err = x.JSON(row.Row{}, nested(9991), new(row.Scratch))
		require.ErrorContains(t, err, "nested too deeply")
	}
	r := extract(t, string(nested(9990)), path())
	out := row.NewShape([]row.Field{{Name: "v", Col: 0, Whole: true}}).AppendJSON([]byte("["), r)
	require.True(t, json.Valid(append(out, ']')))
}

// agree checks Valid against encoding/json, down to the offset of the fault.
func agree(t require.TestingT, msg []byte) {
	err := row.Valid(msg)
	require.Equal(t, json.Valid(msg), err == nil, "%q: %v", msg, err)
	if err == nil {
		return
	}
	var je *row.JSONError
	require.ErrorAs(t, err, &je)
	var se *json.SyntaxError
	var x any
	require.ErrorAs(t, json.Unmarshal(msg, &x), &se)
	want := int(se.Offset) - 1
	if strings.Contains(se.Error(), "unexpected end") ||
		strings.Contains(se.Error(), "invalid character ' '") && msg[want] != ' ' {
		want = len(msg) // encoding/json puts a space there to see what it does
	}
	require.Equal(t, want, je.Offset, "%q: %v, encoding/json: %v", msg, err, se)
}

func genMutated(t *rapid.T) []byte {
	msg := []byte(genSpace(t) + genValue(t, 4) + genSpace(t))
	for range rapid.IntRange(0, 3).Draw(t, "mutations") {
		at := rapid.IntRange(0, len(msg)).Draw(t, "at")
		junk := rapid.SampledFrom([]string{"", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", "+",
			"\x00", "\x1f", "\xff", " ", "n", "true", "\\u", "\\u00e", "a", "\ufeff", "\"a\":"}).Draw(t, "junk")
		cut := min(len(msg)-at, rapid.SampledFrom([]int{0, 0, 1, 2, 50}).Draw(t, "cut"))
		msg = append(msg[:at:at], append([]byte(junk), msg[at+cut:]...)...)
	}
	return msg
}

func TestValidAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { agree(t, genMutated(t)) })
}

func TestKindOf(t *testing.T) {
	for msg, want := range map[string]row.Kind{
		` {"a"`: row.Object, "\n[": row.Array, `"x"`: row.Scalar, `-1`: row.Scalar, `7`: row.Scalar, `true`: row.Scalar,
		`false`: row.Scalar, `null`: row.Scalar, ``: row.Broken, `  `: row.Broken, `x`: row.Broken, "\ufeff{}": row.Broken,
	} {
		require.Equal(t, want, row.KindOf([]byte(msg)), msg)
	}
}

type element struct {
	text   string
	offset int
}

func elements(msg string) ([]element, error) {
	var got []element
	err := row.Elements([]byte(msg), func(e []byte, offset int) error {
		got = append(got, element{string(e), offset})
		return nil
	})
	return got, err
}

func TestElements(t *testing.T) {
	for _, c := range []struct {
		msg  string
		want []element
	}{
		{` {"a":1} `, []element{{`{"a":1}`, 1}}},
		{`[]`, nil},
		{` [ ] `, nil},
		{`[{"a":1}]`, []element{{`{"a":1}`, 1}}},
		{"[ {\"a\":[{}]} ,\n{} ]", []element{{`{"a":[{}]}`, 2}, {`{}`, 15}}},
		{`[` + strings.Repeat(`{},`, 39) + `{}]`, nil},
	} {
		got, err := elements(c.msg)
		require.NoError(t, err)
		if len(c.msg) > 100 {
			require.Len(t, got, 40)
			continue
		}
		require.Equal(t, c.want, got)
	}
}

func TestElementsRefuses(t *testing.T) {
	for _, c := range []struct {
		msg    string
		offset int
		reason string
	}{
		{`1`, 0, "the message is a number, want an object or an array of objects"},
		{` "x"`, 1, "the message is a string"},
		{`null`, 0, "the message is null"},
		{`[{"a":1}, 7, {"a":2}]`, 10, "element 1 of the array is a number, want an object"},
		{`[[{}]]`, 1, "element 0 of the array is an array"},
		{`[{},null,true]`, 4, "element 1 of the array is null"},
		{`[{}, false]`, 5, "element 1 of the array is a boolean"},
		{`[1, {"a":x}]`, 9, "want a value"}, // broken wins over odd
		{`[{"a":1},{"a":2}`, 16, "unexpected end"},
		{`[{}] x`, 5, "nothing behind"},
	} {
		got, err := elements(c.msg)
		require.Empty(t, got, "nothing is yielded of %s", c.msg)
		var je *row.JSONError
		require.ErrorAs(t, err, &je, c.msg)
		require.Equal(t, c.offset, je.Offset, "%s: %v", c.msg, err)
		require.Contains(t, je.Msg, c.reason)

		before := []row.Span{{Start: 1, End: 2}}
		after, err := row.Split(before, []byte(c.msg))
		require.Error(t, err)
		require.Equal(t, before, after)
	}
}

func TestElementsStopsAtAnError(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	err := row.Elements([]byte(`[{},{},{}]`), func([]byte, int) error {
		calls++
		if calls == 2 {
			return stop
		}
		return nil
	})
	require.ErrorIs(t, err, stop)
	require.Equal(t, 2, calls)
}

func TestSplitFindsWhatEncodingJSONFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msg := genMutated(t)
		if rapid.Bool().Draw(t, "array") {
			msg = []byte("[" + genObject(t, 2) + " ," + string(msg) + ",{}]")
		}
		spans, err := row.Split(nil, msg)

		var want []json.RawMessage
		good := json.Valid(msg)
		if good && json.Unmarshal(msg, &want) != nil {
			want = []json.RawMessage{msg}
		}
		for _, e := range want {
			good = good && strings.HasPrefix(strings.TrimSpace(string(e)), "{")
		}
		if good && strings.TrimSpace(string(msg)) == "null" {
			good = false
		}
		require.Equal(t, good, err == nil, "%s: %v", msg, err)
		if !good {
			return
		}
		require.Len(t, spans, len(want))
		for i, s := range spans {
			require.Equal(t, strings.TrimSpace(string(want[i])), string(msg[s.Start:s.End]))
		}
	})
}
