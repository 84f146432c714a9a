package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type decoded struct {
	DeviceID    string   `json:"deviceId"`
	Temperature *float64 `json:"temperature"`
	Vibration   *float64 `json:"vibration"`
	TS          int64    `json:"ts"`
}

func take(t *testing.T, seed uint64, rate, n int) (streams []string, rows []decoded) {
	t.Helper()
	p := newPlant(seed, rate)
	for i := range n {
		r := p.read(time.UnixMilli(1_700_000_000_000 + int64(i)))
		var d decoded
		require.NoError(t, json.Unmarshal(r.body, &d))
		streams, rows = append(streams, r.stream), append(rows, d)
	}
	return streams, rows
}

// A pair of readings is of one machine and next to each other, so that it joins;
// a run has pairs above both limits and pairs that are not, so that the demo has
// something to show.
func TestPlantPairsReadings(t *testing.T) {
	const rate, n = 20, 4000
	streams, rows := take(t, 1, rate, n)
	machines := map[string]bool{}
	anomalies := 0
	for i := 0; i < n; i += 2 {
		hot, shaking := rows[i], rows[i+1]
		require.Equal(t, temperatureStream, streams[i])
		require.Equal(t, vibrationStream, streams[i+1])
		require.Equal(t, hot.DeviceID, shaking.DeviceID)
		require.Equal(t, int64(1_700_000_000_000+i), hot.TS)
		machines[hot.DeviceID] = true
		if *hot.Temperature > 75 && *shaking.Vibration > 30 {
			anomalies++
		}
	}
	require.Len(t, machines, rate/2)
	require.Greater(t, anomalies, n/2/50, "a demo without alerts shows nothing")
	require.Less(t, anomalies, n/2/3, "alerts are the exception")
}

func TestPlantFollowsItsSeed(t *testing.T) {
	_, one := take(t, 7, 10, 200)
	_, same := take(t, 7, 10, 200)
	_, other := take(t, 8, 10, 200)
	require.Equal(t, one, same)
	require.NotEqual(t, one, other)
}

func TestPlantOfOneMachine(t *testing.T) {
	_, rows := take(t, 1, 1, 4)
	for _, r := range rows {
		require.Equal(t, "m1", r.DeviceID)
	}
}
