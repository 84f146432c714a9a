package workload

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// TestUpdates: every key comes once before any comes twice, on the first port;
// then rows of both ports come as often as they should, some of them late.
func TestUpdates(t *testing.T) {
	const n = 4000
	keys, err := NewKeys(1000)
	require.NoError(t, err)
	u, err := NewUpdates(UpdatesConfig{Keys: 1000, First: 1, Every: 16, Late: 100, Lag: 500, Skip: 7})
	require.NoError(t, err)
	c, err := NewChunk(n, keys)
	require.NoError(t, err)
	require.NoError(t, c.FillUpdates(u))
	first := map[int32]bool{}
	for _, r := range c.Rows[:1000] {
		require.Equal(t, uint8(1), r.Port)
		first[r.Key] = true
	}
	require.Len(t, first, 1000)
	require.NotEqual(t, int32(0), c.Rows[0].Key, "in random order")
	require.Equal(t, Base.UnixMicro()+7*updateStep, c.Rows[0].TS)
	versions, late, newest := 0, 0, c.Rows[999].TS
	for i, r := range c.Rows[1000:] {
		versions += int(r.Port)
		require.Equal(t, (1000+i)%16 == 15, r.Port == 1)
		if r.TS < newest {
			late++
			require.GreaterOrEqual(t, r.TS, newest-500*updateStep)
		}
		newest = max(newest, r.TS)
	}
	require.Equal(t, 4000/16-1000/16, versions)
	require.InDelta(t, 300, late, 60)
}

// TestExtractedRows have the columns that an engine takes from the message.
func TestExtractedRows(t *testing.T) {
	keys, err := NewKeys(50)
	require.NoError(t, err)
	cfg := UpdatesConfig{Keys: 50, Every: 2}
	u, err := NewUpdates(cfg)
	require.NoError(t, err)
	twin, err := NewUpdates(cfg)
	require.NoError(t, err)
	path := func(name string) row.Path { return row.Path{syntax.Step{Name: name}} }
	x, err := NewExtracted(200, keys, [2]*row.Extractor{
		row.NewExtractor([]row.Path{path("deviceId"), path("ts"), {}}), row.NewExtractor([]row.Path{path("vibration")})})
	require.NoError(t, err)
	require.NoError(t, x.FillUpdates(u))
	m, err := NewMessages(200, keys)
	require.NoError(t, err)
	require.NoError(t, m.FillUpdates(twin))
	for i := range x.Rows {
		if x.Rows[i].Port == 0 {
			require.Equal(t, x.Key(i), string(x.Encoded(i).Col(0).Text))
			require.Equal(t, string(m.Message(i)), string(x.Encoded(i).Col(2).Text))
			continue
		}
		var fields map[string]any
		require.NoError(t, json.Unmarshal(m.Message(i), &fields))
		f, _ := x.Encoded(i).Col(0).Float64()
		require.InDelta(t, fields["vibration"], f, 1e-9)
	}
}
