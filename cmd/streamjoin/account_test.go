package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAccountThatAddsUp(t *testing.T) {
	a := account{entries: []entry{
		{"sent", 10, []part{{10, "accepted"}, {0, "refused"}}},
		{"accepted", 10, []part{{7, "filtered"}, {3, "kept"}}},
		{"joined", 0, []part{{0, "delivered"}}},
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
		{"sent", 10, []part{{10, "accepted"}}},
		{"accepted", 10, []part{{7, "filtered"}, {2, "kept"}}},
		{"joined", 3, []part{{4, "delivered"}}},
	}}
	require.EqualError(t, a.check(), "rows were lost: "+
		"1 of 10 accepted rows are not accounted for; -1 of 3 joined rows are not accounted for")
	require.NotContains(t, a.String(), "no row lost")
}
