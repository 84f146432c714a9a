package row_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

func items(text string) (all []string, ok bool) {
	ok = row.Items([]byte(text), func(item []byte) { all = append(all, string(item)) })
	return all, ok
}

func TestItemsAreTheElementsWhateverTheyAre(t *testing.T) {
	got, ok := items(` [ 1 , "a]" , {"b": [2, 3]},[ ],null, true ] `)
	require.True(t, ok)
	require.Equal(t, []string{"1", `"a]"`, `{"b": [2, 3]}`, "[ ]", "null", "true"}, got)

	got, ok = items("[]")
	require.True(t, ok)
	require.Empty(t, got)
}

func TestItemsOfNoArray(t *testing.T) {
	for text, before := range map[string]int{"": 0, "{}": 0, `"[1]"`: 0, "1": 0, "[": 0, "[1": 1, "[1,": 1, "[1,]": 1, "[1 2]": 1, "[1]]": 1, `[{"a":1},{]`: 1} {
		got, ok := items(text)
		require.False(t, ok, text)
		require.Len(t, got, before, text)
	}
}

func FuzzItemsAreThoseOfEncodingJSON(f *testing.F) {
	for _, text := range []string{"[]", `[1,"a",{"b":[]},[[]],null]`, `[1,{]`, `{"a":[1]}`, " [\t1 ]\n", `["\u00e9\\"]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want []json.RawMessage
		valid := json.Unmarshal([]byte(text), &want) == nil && row.KindOf([]byte(text)) == row.Array
		got, ok := items(text)
		require.Equal(t, valid, ok)
		if !ok {
			return
		}
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, string(want[i]), got[i])
		}
	})
}
