package operator_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
)

func TestTableEmitsOneRecordAChange(t *testing.T) {
	for _, keep := range []bool{false, true} {
		d := drive(t, operator.NewTable, operator.TableConfig{Keys: 1, Keep: keep})
		require.Equal(t, []string{
			`emit @1 ["a" int(1)] insert`,
			`emit @2 ["b" int(1)] insert`,
		}, d.step(inserted(1, "a", 1), inserted(2, "b", 1)))
		require.Equal(t, []string{
			`emit @4 ["b" int(2)] update`,
			`emit @3 ["a" int(1)] retracted delete`,
		}, d.step(retracted(4, "b", 1), retracted(3, "a", 1), inserted(4, "b", 2)))
		require.Empty(t, d.step(retracted(5, "b", 2), inserted(5, "b", 3), retracted(6, "b", 3), inserted(6, "b", 2)), "there and back")
		require.Empty(t, d.step(inserted(5, "c", 1), retracted(5, "c", 1)), "never there")
		require.Equal(t, []string{`emit @8 ["b" int(4)] update`},
			d.step(inserted(7, "b", 4), retracted(8, "b", 2)), "the new row may come before the old one leaves")
		require.Empty(t, d.step(inserted(9, "b", 4), retracted(9, "b", 4)), "the row of another source takes the place of one that is the same")
		st := d.op.Stats()
		if keep {
			require.Equal(t, []string{`["b" int(4)]`}, d.rows())
			require.Equal(t, int64(1), st.Rows)
			require.Equal(t, int64(1), st.Keys)
		} else {
			require.Empty(t, d.rows())
			require.Zero(t, st.Rows)
		}
	}
}

func TestTableKnowsAKeyInEachSpelling(t *testing.T) {
	d := drive(t, operator.NewTable, operator.TableConfig{Keys: 1})
	d.step(inserted(1, 1, "x"))
	require.Equal(t, []string{`emit @2 [float64(1) "y"] update`}, d.step(retracted(2, 1, "x"), inserted(2, 1.0, "y")), "the second spelling is the first key again")
	require.Equal(t, []string{`emit @3 [int(1) "x"] update`, `emit @3 [int(2) "z"] insert`},
		d.step(retracted(3, 1.0, "y"), inserted(3, 2, "z"), inserted(3, 1, "x")), "and so it is behind another key")
}

func TestTableKeepsWhatARecordSays(t *testing.T) {
	d := drive(t, operator.NewTable, operator.TableConfig{Keys: 1})
	rec := numbered(4)
	d.op.Process(0, rec)
	rec.Diff, rec.TS = -1, 5
	require.Equal(t, []string{`emit @4 [int(4) "x"] nulls=10 closed=idle insert`}, d.step())
	d.op.Process(0, rec)
	require.Equal(t, []string{`emit @5 [int(4) "x"] nulls=10 closed=idle retracted delete`}, d.step())
}

func TestTableStateTTL(t *testing.T) {
	d := drive(t, operator.NewTable, operator.TableConfig{Keys: 1, TTL: 10})
	d.time(100)
	d.step(inserted(100, "a", 1), inserted(100, "b", 1), inserted(100, "c", 1))
	d.time(105)
	d.step(retracted(105, "c", 1), inserted(105, "c", 2))
	at, ok := d.op.Wake(1, 107)
	require.True(t, ok)
	require.Equal(t, int64(110), at, "the script's time moves no progress of the table")
	d.time(110)
	require.Equal(t, []string{
		`emit @110 ["a" int(1)] retracted delete`,
		`emit @111 ["b" int(2)] update`,
	}, d.step(retracted(111, "b", 1), inserted(111, "b", 2)))
	require.Equal(t, []string{`emit @112 ["a" int(2)] insert`}, d.step(retracted(112, "a", 1), inserted(112, "a", 2)), "its source did not know")
	d.time(115)
	require.Equal(t, []string{`emit @115 ["c" int(2)] retracted delete`}, d.step())
	require.Empty(t, d.step(retracted(116, "c", 2)), "deleted twice")
	require.Equal(t, int64(3), d.op.Stats().Fallen)
	require.ElementsMatch(t, []string{`["a" int(2)]`, `["b" int(2)]`}, d.rows())
}

func TestTableConfig(t *testing.T) {
	for _, cfg := range []operator.TableConfig{{Keys: -1}, {TTL: -1}, {Net: true, Keep: true}, {Net: true, TTL: 1}} {
		_, err := operator.NewTable(cfg, operatortest.NewLog())
		require.ErrorIs(t, err, operator.ErrConfig)
	}
	d := drive(t, operator.NewTable, operator.TableConfig{Text: "Latest, by id"})
	require.Equal(t, operator.Description{Name: "Table", Lines: []string{"Latest, by id", "state: none"}}, d.op.Describe())
	_, ok := d.op.Wake(1, 5)
	require.False(t, ok)
	_, ok = d.op.Wake(0, math.MaxInt64)
	require.False(t, ok)
	d = drive(t, operator.NewTable, operator.TableConfig{TTL: 1e9})
	require.Equal(t, operator.Description{Name: "Table", Lines: []string{"state: one row a key", "state: a key not touched for 1s is deleted (STATETTL)"}}, d.op.Describe())
}
