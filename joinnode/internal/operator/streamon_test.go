package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
)

// TestStreamOn is the example of the design page: totals of 60, 110, 120, 70 and
// 130, of which those from 100 on are the table.
func TestStreamOn(t *testing.T) {
	steps := [][]arrival{
		{},
		{inserted(2, "u", 110)},
		{retracted(3, "u", 110), inserted(3, "u", 120)},
		{retracted(4, "u", 120)},
		{inserted(5, "u", 130)},
	}
	for on, want := range map[operator.Change][]string{
		operator.Inserted: {`emit @2 ["u" int(110)]`, `emit @5 ["u" int(130)]`},
		operator.Updated:  {`emit @3 ["u" int(120)]`},
		operator.Deleted:  {`emit @4 ["u" int(120)]`},
	} {
		t.Run(on.String(), func(t *testing.T) {
			d := drive(t, operator.NewStreamOn, operator.StreamOnConfig{On: on, Keys: 1})
			var got []string
			for _, s := range steps {
				got = append(got, d.step(s...)...)
			}
			require.Equal(t, want, got)
		})
	}
}

func TestStreamOnSeesTheNetOfAStep(t *testing.T) {
	d := drive(t, operator.NewStreamOn, operator.StreamOnConfig{On: operator.Updated, Keys: 1})
	require.Equal(t, []string{`emit @9 [float64(1) "d"]`, `emit @7 ["k" int(2)]`}, d.step(
		retracted(5, 1, "a"), inserted(5, 1, "b"), retracted(6, 1, "b"), inserted(6, 1, "c"),
		retracted(7, "k", 1), inserted(7, "k", 2),
		inserted(8, "new", 1), retracted(8, "old", 1),
		retracted(9, "same", 1), inserted(9, "same", 1),
		retracted(9, 1, "c"), inserted(9, 1.0, "d")))
	require.Empty(t, d.step())
}

func TestStreamOnConfig(t *testing.T) {
	for _, cfg := range []operator.StreamOnConfig{{}, {On: operator.Deleted + 1}, {On: operator.Inserted, Keys: -1}} {
		_, err := operator.NewStreamOn(cfg, operatortest.NewLog())
		require.ErrorIs(t, err, operator.ErrConfig)
	}
	for on, name := range map[operator.Change]string{operator.Inserted: "StreamOn ADD", operator.Updated: "StreamOn UPDATE", operator.Deleted: "StreamOn DELETE"} {
		d := drive(t, operator.NewStreamOn, operator.StreamOnConfig{On: on, Text: "Spend"})
		require.Equal(t, operator.Description{Name: name, Lines: []string{"Spend", "state: none"}}, d.op.Describe())
	}
}
