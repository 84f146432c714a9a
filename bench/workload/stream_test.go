package workload

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMatchesAreCounted compares the counter a key with all pairs of rows.
func TestMatchesAreCounted(t *testing.T) {
	const window, n = 100, 700
	for _, filter := range []bool{false, true} {
		s, err := New(Config{Window: window, Keys: 20, Filter: filter})
		require.NoError(t, err)
		keys, err := NewKeys(20)
		require.NoError(t, err)
		c, err := NewChunk(n, keys)
		require.NoError(t, err)
		require.NoError(t, c.Fill(s))
		var pairs, rejected int64
		buffered := 0
		last := c.Rows[n-1].TS
		for i := range c.Rows {
			a := &c.Rows[i]
			if filter && !a.Passes() {
				rejected++
				continue
			}
			if last-a.TS <= Within.Microseconds() {
				buffered++
			}
			for k := range i {
				b := &c.Rows[k]
				if a.Port != b.Port && a.Key == b.Key && a.TS-b.TS <= Within.Microseconds() && (!filter || b.Passes()) {
					pairs++
				}
			}
		}
		require.Equal(t, pairs, c.Matches)
		require.Equal(t, rejected, c.Rejected)
		require.Equal(t, buffered, s.Buffered())
		require.Equal(t, filter, rejected > 0)
		require.InDelta(t, 2*window, buffered, 10)
	}
}

// TestFormsSayTheSame: message, map and encoded row carry the same values.
func TestFormsSayTheSame(t *testing.T) {
	keys, err := NewKeys(100_001)
	require.NoError(t, err)
	s, err := New(Config{Window: 1000, Keys: 100_001})
	require.NoError(t, err)
	c, err := NewMessages(2000, keys)
	require.NoError(t, err)
	require.NoError(t, c.Fill(s))
	twin, err := New(Config{Window: 1000, Keys: 100_001})
	require.NoError(t, err)
	e, err := NewEncoded(2000, keys)
	require.NoError(t, err)
	require.NoError(t, e.Fill(twin))
	for i := range c.Rows {
		var got map[string]any
		require.NoError(t, json.Unmarshal(c.Message(i), &got))
		m := c.Map(i)
		require.Equal(t, len(m), len(got))
		name := readingNames[c.Rows[i].Port]
		require.Equal(t, m["deviceId"], got["deviceId"])
		require.InDelta(t, m[name], got[name], 1e-9)
		require.InDelta(t, m["humidity"], got["humidity"], 1e-9)
		require.InDelta(t, float64(m["ts"].(int64)), got["ts"], 1)
		require.Equal(t, c.Key(i), string(e.Encoded(i).Col(0).Text))
		var reading float64
		require.NoError(t, json.Unmarshal(e.Encoded(i).Col(1).Text, &reading))
		require.InDelta(t, m[name], reading, 1e-9)
	}
	require.InDelta(t, 150, c.MessageSize(), 15)
	require.Equal(t, Base.Add(15*time.Millisecond).UnixNano(), c.Rows[1].Nanos())
}
