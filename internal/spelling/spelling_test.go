package spelling

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	fields := []string{"sql", "streamKey", "joinMaxKeys", "joinMaxRows", "blockTimeout"}
	for word, want := range map[string]string{
		"joinMaxKey":    "joinMaxKeys",
		"streamKy":      "streamKey",
		"stream_key":    "streamKey",
		"STREAMKEY":     "streamKey",
		"steramKey":     "streamKey", // a swap is one mistake
		"blockTimeuot":  "blockTimeout",
		"sq":            "sql",
		"":              "",
		"rows":          "",
		"joinMaxMemory": "",
	} {
		require.Equal(t, want, Nearest(word, fields), word)
	}
	require.Empty(t, Nearest("x", nil))
	require.Equal(t, `: did you mean "sql"?`, Hint("Sql", fields))
	require.Empty(t, Hint("nothing", fields))
}

func TestDistanceIsADistance(t *testing.T) {
	word := rapid.SliceOfN(rapid.RuneFrom([]rune("abc")), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		require.Zero(t, distance(a, a))
		require.Equal(t, distance(a, b), distance(b, a))
		require.LessOrEqual(t, distance(a, b), max(len(a), len(b)))
		require.GreaterOrEqual(t, distance(a, b), max(len(a)-len(b), len(b)-len(a)))
		require.Equal(t, string(a) == string(b), distance(a, b) == 0)
	})
}
