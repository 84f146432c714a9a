package streamaggregator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
)

func TestSplitRows(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		err  string
	}{
		{`{"a":1}`, []string{`{"a":1}`}, ""},
		{" \n{\"a\":\"}]\\\"\"} ", []string{`{"a":"}]\""}`}, ""},
		{`[]`, nil, ""},
		{` [ ] `, nil, ""},
		{`[{"a":[{}]} , {"b":2}]`, []string{`{"a":[{}]}`, `{"b":2}`}, ""},
		{``, nil, "empty"},
		{`5`, nil, `starts with '5'`},
		{`"x"`, nil, `starts with '"'`},
		{`[{"a":1},2]`, nil, "element 1 (offset 9) is no object"},
		{`[{"a":1},]`, nil, "element 1"},
		{`[{"a":1}{"b":2}]`, nil, "offset 8: want a comma"},
		{`[{"a":1}`, nil, "does not end"},
		{`[{"a":1},`, nil, "does not end"},
		{`[`, nil, "does not end"},
		{`{"a":1`, nil, "does not end"},
		{`{"a":"`, nil, "does not end"},
		{`{"a":1}}`, nil, "text after the object"},
		{`[{}] x`, nil, "text after the array"},
		{strings.Repeat(`{"a":`, 20000), nil, "nested deeper"},
	} {
		rows, err := splitRows([]byte(c.in))
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%.60s", c.in)
			continue
		}
		require.NoError(t, err, c.in)
		var got []string
		for _, r := range rows {
			got = append(got, string(r))
		}
		require.Equal(t, c.want, got, c.in)
	}
}

// FuzzSplitRows: whatever encoding/json calls an object or an array of objects is
// split into rows that say the same; nothing else passes with valid rows.
func FuzzSplitRows(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `[{"a":"\\"},{}]`, `[{]}]`, `[{"a":1} {"b":2}]`, `[]`, `{`, `"`, `[{"a":[1,{"b":"]"}]}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := splitRows(data)
		valid := err == nil
		for _, r := range rows {
			valid = valid && json.Valid(r)
		}
		var want []json.RawMessage
		isRows := json.Unmarshal(data, &want) == nil && !strings.HasPrefix(strings.TrimSpace(string(data)), "null")
		for _, e := range want {
			isRows = isRows && e[0] == '{'
		}
		var object map[string]json.RawMessage
		if json.Valid(data) && json.Unmarshal(data, &object) == nil && object != nil {
			isRows, want = true, []json.RawMessage{json.RawMessage(strings.Trim(string(data), " \t\r\n"))}
		}
		require.Equal(t, isRows, valid, "%q", data)
		if valid {
			require.Len(t, rows, len(want))
			for i := range rows {
				require.Equal(t, string(want[i]), string(rows[i]))
			}
		}
	})
}

func TestWideRow(t *testing.T) {
	wide := func(text string) (string, error) {
		points, err := splitRows([]byte(text))
		require.NoError(t, err)
		row, err := wideRow(points)
		return string(row), err
	}
	row, err := wide(`[{"name":"t","value":9007199254740993},{"name":"v","value":1,"error":"timeout"},{"name":"p","value":"x","error":""},{"name":"q","error":null},{"name":"t","value":2}]`)
	require.NoError(t, err)
	require.Equal(t, `{"t":9007199254740993,"p":"x","q":null,"t":2}`, row)

	row, err = wide(`[{"name":"v","value":1,"error":"timeout"}]`)
	require.NoError(t, err)
	require.Empty(t, row)

	_, err = wide(`[{"value":1}]`)
	require.ErrorIs(t, err, ErrInput)
	_, err = wide(`[{"name":7,"value":1}]`)
	require.ErrorIs(t, err, ErrInput)
	_, err = wide(`[{"name":"a","value":01}]`)
	require.ErrorContains(t, err, "point 0")
}

func testContext(t testing.TB) types.RuleContext {
	t.Helper()
	return engine.NewRuleContext(t.Context(), engine.NewConfig(), nil, nil, nil, nil, nil, nil)
}

func message(meta map[string]string, data string) types.RuleMsg {
	m := types.NewMetadata()
	for k, v := range meta {
		m.PutValue(k, v)
	}
	return types.NewMsg(1, "T", types.JSON, m, data)
}

func TestStreamKey(t *testing.T) {
	meta := map[string]string{"streamName": "temp", "site": "north", "empty": ""}
	for _, c := range []struct {
		key, row, want string
		kind           keyKind
		perRow         bool
	}{
		{"", `{}`, "", keyNone, false},
		{"streamName", `{}`, "temp", keyMetadata, false},
		{"${metadata.streamName}", `{}`, "temp", keyMetadata, false},
		{"${ metadata.streamName }", `{}`, "temp", keyMetadata, false},
		{"${msg.stream}", `{"stream":"vib"}`, "vib", keyPath, true},
		{"${msg.a.b}", `{"a":{"b":"deep"},"b":"no"}`, "deep", keyPath, true},
		{"${msg.stream}", `{"stream":"a","stream":"b"}`, "b", keyPath, true},
		{"${msg.stream}", `{"str\u0065am":"v\u0069b"}`, "vib", keyPath, true},
		{"${msg.stream + 'X'}", `{"stream":"vib"}`, "vibX", keyTemplate, true},
		{"${metadata.site}Stream", `{}`, "northStream", keyTemplate, false},
		{"${msg.n > 5 ? 'hot' : 'cold'}", `{"n":6}`, "hot", keyTemplate, true},
		{"${msgType}", `{}`, "T", keyTemplate, false},
	} {
		k, err := parseStreamKey(c.key)
		require.NoError(t, err, c.key)
		require.Equal(t, c.kind, k.kind, c.key)
		require.Equal(t, c.perRow, k.perRow, c.key)
		got, err := k.ofRow(testContext(t), message(meta, c.row), []byte(c.row))
		require.NoError(t, err, c.key)
		require.Equal(t, c.want, got, c.key)
	}
	for _, c := range []struct{ key, row string }{
		{"missing", `{}`}, {"empty", `{}`}, {"${metadata.missing}", `{}`}, {"${msg.stream}", `{}`},
		{"${msg.stream}", `{"stream":""}`}, {"${msg.stream}", `{"stream":null}`}, {"${msg.stream}", `{"stream":{}}`},
		{"${msg.a.b}", `{"a":5}`}, {"${msg.a + msg.b}", `{}`}, {"${msg.a.b + 'x'}", `{}`}, {"${msg.a ?? nil}", `{}`},
	} {
		k, err := parseStreamKey(c.key)
		require.NoError(t, err, c.key)
		got, err := k.ofRow(testContext(t), message(meta, c.row), []byte(c.row))
		require.ErrorIs(t, err, ErrNoStreamName, "%s gave %q", c.key, got)
		require.NotContains(t, err.Error(), "\n", c.key)
	}
}

// FuzzStreamKey: no key and no row make it panic, and a path gives what the
// template engine gives for it.
func FuzzStreamKey(f *testing.F) {
	f.Add("${msg.stream}", []byte(`{"stream":"a"}`))
	f.Add("${msg.a.b}", []byte(`{"a":{"b":"x"}}`))
	f.Add("${metadata.k}", []byte(`{}`))
	f.Add("${msg.a + 'x'}", []byte(`{"a":1`))
	f.Add("${include('x')", []byte(`[`))
	f.Fuzz(func(t *testing.T, key string, row []byte) {
		if strings.Contains(key, "include") || strings.Contains(key, "fileExists") || len(key) > 64 {
			t.Skip("reads files and URLs")
		}
		k, err := parseStreamKey(key)
		if err != nil {
			return
		}
		msg := message(map[string]string{"k": "v"}, string(row))
		got, err := k.ofRow(testContext(t), msg, row)
		require.True(t, err != nil || got != "" || k.kind == keyNone)
		var object map[string]any
		if k.kind != keyPath || json.Unmarshal(row, &object) != nil || object == nil {
			return
		}
		slow, slowErr := parseTemplate(key)
		require.NoError(t, slowErr)
		want, slowErr := slow.ofRow(testContext(t), msg, row)
		if _, isText := at(object, k.path).(string); isText {
			require.Equal(t, want, got)
			require.Equal(t, slowErr == nil, err == nil)
		}
	})
}

func at(v any, path []string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}
