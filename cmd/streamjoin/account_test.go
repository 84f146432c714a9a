package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAccountThatAddsUp(t *testing.T) {
	a := account{entries: []entry{
		{"sent", 10, []part{{10, "accepted", false}, {0, "refused", true}}},
		{"accepted", 10, []part{{7, "filtered", false}, {3, "kept", false}}},
		{"joined", 0, []part{{0, "delivered", false}}},
	}}
	require.NoError(t, a.check())
	require.Equal(t, ""+
		"sent            10 = 10 accepted\n"+
		"accepted        10 = 7 filtered + 3 kept\n"+
		"joined           0 = 0\n"+
		"no row lost", a.String())
}

func TestAccountNamesWhatIsMissing(t *testing.T) {
	a := account{entries: []entry{
		{"sent", 10, []part{{10, "accepted", false}}},
		{"accepted", 10, []part{{7, "filtered", false}, {2, "kept", false}}},
		{"joined", 3, []part{{4, "delivered", false}}},
	}}
	require.EqualError(t, a.check(), "rows were lost: "+
		"1 of 10 accepted rows are not accounted for; -1 of 3 joined rows are not accounted for")
	require.NotContains(t, a.String(), "no row lost")
}

func TestAccountKnowsThatDroppedRowsAreLost(t *testing.T) {
	a := account{entries: []entry{
		{"sent", 10, []part{{7, "accepted", false}, {3, "refused", true}}},
	}}
	require.EqualError(t, a.check(), "rows were lost: 3 of 10 sent rows: refused")
	require.Equal(t, "sent            10 = 7 accepted + 3 refused", a.String())
}
