package row_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// FuzzWholeRow: a whole row that is written at once is written as it is member by
// member, which it is where another source stands beside it.
func FuzzWholeRow(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"a":1}`, `{"a":1,"b":"x y","c":[1,{"d":null}],"e":true,"f":-1.5e3}`, `{ "a":1}`, `{"a": 1}`, `{"a":1 ,"b":2}`, "{\"a\":\n1}",
		`{"a":"\u00e9","b":"\n","c\"d":"\/"}`, `{"é":"ü"}`, "{\"a\":\"\xff\"}", `{"a":1,"a":2}`, `{"a":"<&>"}`, "{\"a\":\"\x7f\"}", `{"a":{"b": 1}}`, `{"":""}`,
	} {
		f.Add([]byte(text))
	}
	alone := row.NewShape([]row.Field{{Spread: true}})
	beside := row.NewShape([]row.Field{{Spread: true}, {Col: 1, Spread: true}})
	x := row.NewExtractor([]row.Path{path()})
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := x.JSON(row.Row{}, text, new(row.Scratch))
		if err != nil {
			return
		}
		require.Equal(t, string(beside.AppendJSON(nil, r)), string(alone.AppendJSON([]byte{}, r)))
	})
}

// TestWholeRowThatIsNone: what is no object has no members.
func TestWholeRowThatIsNone(t *testing.T) {
	s := row.NewShape([]row.Field{{Spread: true}})
	for _, v := range []value.Value{{}, value.OfInt(1), value.OfJSON([]byte(`[1]`)), value.OfText("x")} {
		require.Equal(t, "{}", string(s.AppendJSON(nil, row.Append(row.Row{}, v))))
	}
	require.Equal(t, "{}", string(s.AppendJSON(nil, row.Row{})))
}
