package row_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// usualPaths have columns of one member, of several columns, and further down.
var usualPaths = []row.Path{path("a"), path("b"), path("c", "a"), path("d"), path("d"), path("d", 0), path("0"), path(0)}

// FuzzUsual reads a message when another one has taught the order of members: what
// is found, or refused, is what a reader that knows nothing finds.
func FuzzUsual(f *testing.F) {
	for _, s := range [][2]string{
		{`{"a":1,"b":"x","e":null}`, `{"a":2.50,"b":"y","e":true}`},
		{`{"a":1,"b":"x"}`, `{"a":1,"b":"x","c":{"a":1}}`},
		{`{"a":1,"b":"x","c":{"a":1}}`, `{"a":1,"b":"x"}`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`},
		{`{"a":1,"b":2}`, ` { "a" : 1 , "b" : 2 } `},
		{`{"a":1,"a":2}`, `{"a":1,"a":null}`},
		{`{"d":[1],"0":1,"a":"\u0061"}`, `{"d":[2],"0":{"a":[1]},"a":"\ud800"}`},
		{`{"a":1,"b":2}`, `{"a":1,"b":02}`},
		{`{"a":1,"b":2}`, `{"a":"1,"b":2}`},
		{`{"a":1,"b":2}`, `{"a":1,"b":2`},
		{`{"a":1,"b":2}`, `{"a":1,"b":`},
		{`{"a":1,"b":2}`, `{"a":1,}`},
		{`{"a":1,"b":2}`, `{"a":1 x`},
		{`{"a":1,"b":2}`, `{"a":-,"b":2.e`},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	x := row.NewExtractor(usualPaths)
	f.Fuzz(func(t *testing.T, before, msg []byte) {
		taught := new(row.Scratch)
		_, _ = x.JSON(row.Row{}, before, taught) // it may be broken
		want, wantErr := x.JSON(row.Row{}, msg, new(row.Scratch))
		for range 2 {
			got, err := x.JSON(row.Row{}, msg, taught)
			require.Equal(t, wantErr, err)
			require.Equal(t, want, got)
		}
	})
}

// TestUsualKeepsNothing of a message that was refused half way.
func TestUsualKeepsNothing(t *testing.T) {
	x := row.NewExtractor([]row.Path{path("a"), path("b")})
	var sc row.Scratch
	for _, msg := range []string{`{"a":1,"b":2}`, `{"a":3,"b":}`} {
		_, err := x.JSON(row.Row{}, []byte(msg), &sc)
		require.Equal(t, msg == `{"a":3,"b":}`, err != nil)
	}
	r, err := x.JSON(row.Row{}, []byte(`{"b":4}`), &sc)
	require.NoError(t, err)
	require.Equal(t, value.Value{}, r.Col(0))
}
