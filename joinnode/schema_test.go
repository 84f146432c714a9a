package joinnode_test

import (
	"encoding/json"
	"testing"

	"github.com/rulego/streamsql/schema"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

var reading = schema.Schema{Name: "reading", Fields: []schema.FieldDef{
	{Name: "k", Type: schema.TypeString, Required: true},
	{Name: "v", Type: schema.TypeFloat, Required: true},
	{Name: "site", Type: schema.TypeString, Default: "home \"1\""},
	{Name: "n", Type: schema.TypeInt, Default: 7},
}}

const withSchema = "SELECT a.v AS v, a.site AS site, a.n AS n FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k"

// TestSchema on every way in: numbers are numbers however they are spelled,
// defaults are filled in, the caller's row stays as it is.
func TestSchema(t *testing.T) {
	for _, in := range emitters() {
		t.Run(in.name, func(t *testing.T) {
			e := start(t, withSchema, false, joinnode.WithSchema(reading))
			emit := func(stream, text string, value any) error {
				m := map[string]any{}
				require.NoError(t, json.Unmarshal([]byte(text), &m))
				if value != nil {
					m["v"] = value
				}
				size, before := len(m), text
				err := in.emit(e.Streamsql, stream, m, []byte(text))
				require.Len(t, m, size)
				require.Equal(t, before, text)
				return err
			}
			require.NoError(t, emit("sa", ` {"k":"x","v":80.50} `, json.Number("80.50")))
			require.NoError(t, emit("sa", `{"k":"x","v":2,"n":5,"site":"there"}`, nil))
			require.ErrorContains(t, emit("sa", `{"k":"x","v":"text"}`, nil), `field "v" expects float, got string`)
			require.ErrorContains(t, emit("sb", `{"v":1}`, nil), `required field "k" is missing`)
			require.ErrorContains(t, emit("sb", `{}`, nil), `schema validation failed`)
			require.NoError(t, emit("sb", `{"k":"x","v":1}`, nil))
			e.Stop()
			require.Equal(t, []string{`{"n":7,"site":"home \"1\"","v":80.50} join_matched`, `{"n":5,"site":"there","v":2} join_matched`}, e.take())
			require.EqualValues(t, 3, e.SchemaDropped())
		})
	}
}

// TestSchemaOfAnArray: one bad row refuses the whole, and is the one counted.
func TestSchemaOfAnArray(t *testing.T) {
	e := start(t, withSchema, false, joinnode.WithSchema(reading))
	require.ErrorContains(t, e.EmitJSON("sa", []byte(`[{"k":"x","v":1},{"k":"x"},{"v":1}]`)), "row 2 of 3: schema validation failed")
	require.EqualValues(t, 1, e.SchemaDropped())
	require.ErrorIs(t, e.EmitJSON("sa", []byte(`[{"k":"x","v":1},null]`)), joinnode.ErrInvalidJSON)
	require.ErrorIs(t, e.EmitRows([]joinnode.JSONRow{{Stream: "sa", Data: []byte(`null`)}}), joinnode.ErrInvalidJSON)
	require.EqualValues(t, 1, e.SchemaDropped())
	e.drain(t)
	require.Zero(t, e.GetStats()["join_stage1_buffered_rows"])
	e.Stop()
}

func TestSchemaOfADelegatedQuery(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithSchema(reading))
	require.NoError(t, e.Execute("SELECT v, site, n FROM s"))
	var got []string
	e.AddJSONSink(func(text []byte) { got = append(got, string(text)) })
	require.NoError(t, e.EmitJSON("s", []byte(`{"k":"x","v":1.5}`)))
	require.Error(t, e.EmitJSON("s", []byte(`{"k":"x"}`)))
	e.Emit(map[string]any{"k": "x"})
	result, err := e.EmitSync(map[string]any{"k": "x", "v": 2.5, "n": 1})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"v": 2.5, "site": `home "1"`, "n": 1}, result)
	_, err = e.EmitSync(map[string]any{"k": 1, "v": 2.5})
	require.ErrorContains(t, err, "schema validation failed")
	e.Stop()
	require.Contains(t, got, `[{"n":7,"site":"home \"1\"","v":1.5}]`)
	require.EqualValues(t, 3, e.SchemaDropped())
	require.EqualValues(t, 3, e.GetStats()["schema_dropped"])
	require.Zero(t, e.GetStats()["refused_after_stop"])
}
