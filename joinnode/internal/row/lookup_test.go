package row

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func TestFollow(t *testing.T) {
	type inner struct{ B []int }
	a, b := syntax.Step{Name: "a"}, syntax.Step{Name: "B"}
	last := syntax.Step{Index: -1, IsIndex: true}
	for name, v := range map[string]value.Value{
		"JSON":               value.OfJSON([]byte(`{"a":{"B":[6,7]}}`)),
		"map":                value.FromGo(map[string]any{"a": map[string]any{"B": []any{6, 7}}}),
		"map of structs":     value.FromGo(map[string]inner{"a": {[]int{6, 7}}}),
		"pointer":            value.FromGo(&map[string]*inner{"a": {[]int{6, 7}}}),
		"raw":                value.FromGo(json.RawMessage(`{"a":{"B":[6,7]}}`)),
		"raw in a map":       value.FromGo(map[string]any{"a": json.RawMessage(`{"B":[6,7]}`)}),
		"raw at the end":     value.FromGo(map[string]any{"a": map[string]any{"B": []any{json.RawMessage(`7`)}}}),
		"raw as an element":  value.FromGo(map[string][]json.RawMessage{"a": nil, "A": nil}),
		"JSON without it":    value.OfJSON([]byte(`{"a":{"b":[6,7]}}`)),
		"broken JSON":        value.OfJSON([]byte(`{"a":{"B":[6,`)),
		"scalar":             value.OfInt(7),
		"text":               value.OfText(`{"a":{"B":[6,7]}}`),
		"null":               {},
		"null in a map":      value.FromGo(map[string]any{"a": nil}),
		"scalar on the way":  value.FromGo(map[string]any{"a": 7}),
		"array for a member": value.FromGo([]any{7}),
	} {
		found := Follow(v, Path{a, b, last})
		switch name {
		case "JSON", "map", "map of structs", "pointer", "raw", "raw in a map", "raw at the end":
			i, ok := found.Int64()
			require.True(t, ok, name)
			require.EqualValues(t, 7, i, name)
		default:
			require.True(t, found.IsNull(), name)
		}
		require.Equal(t, v.ToGo() == nil, Follow(v, nil).IsNull(), name)
	}
}
