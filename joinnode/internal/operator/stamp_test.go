package operator_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
)

func TestStampAppendsTimeAndOrder(t *testing.T) {
	for _, test := range []struct {
		cfg  operator.StampConfig
		want string
		line []string
	}{
		{operator.StampConfig{TS: true}, "int64(4)", []string{"the row's time becomes a column", "state: none"}},
		{operator.StampConfig{Seq: true}, "int64(7)", []string{"the row's order of entry becomes a column", "state: none"}},
		{operator.StampConfig{TS: true, Seq: true}, "int64(4) int64(7)", []string{"the row's time and order of entry become columns", "state: none"}},
	} {
		log := operatortest.NewLog()
		s, err := operator.NewStamp(test.cfg, log)
		require.NoError(t, err)
		s.Advance(0, operator.Progress{Seen: 9, Low: 3, Idle: true})
		s.Process(0, numbered(4))
		rec := numbered(4)
		rec.Row = encode([]any{map[string]any{"x": 1}})
		rec.Nulls, rec.Why, rec.Past, rec.Diff = 0, operator.NotClosed, true, -1
		s.Process(0, rec)
		s.EndStep()
		require.Equal(t, []string{
			"advance seen=9 low=3 idle",
			`emit @4 [int(4) "x" ` + test.want + "] nulls=10 closed=idle",
			"emit @4 [map[string]interface {}(map[x:1]) " + test.want + "] retracted past",
		}, log.Take())
		require.Equal(t, operator.Description{Name: "Stamp", Lines: test.line}, s.Describe())
		test.cfg.Keep = 1
		kept, err := operator.NewStamp(test.cfg, log)
		require.NoError(t, err)
		kept.Process(0, numbered(4))
		require.Equal(t, []string{`emit @4 [int(4) ` + test.want + "] nulls=10 closed=idle"}, log.Take())
		at, ok := s.Wake(0, 5)
		require.True(t, ok)
		require.Equal(t, int64(5), at)
		_, ok = s.Wake(0, math.MaxInt64)
		require.False(t, ok)
	}
}
