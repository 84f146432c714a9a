package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/chains"
)

func TestReplayClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &replayClock{now: playEpoch}
		var rang []string
		c.AfterFunc(time.Second, func() { rang = append(rang, "1s") })
		stopped := c.AfterFunc(2*time.Second, func() { rang = append(rang, "2s") })
		c.AfterFunc(0, func() { rang = append(rang, "now") })
		synctest.Wait()
		require.Equal(t, time.Second, c.until(playEpoch.Add(time.Minute)))
		require.Equal(t, time.Millisecond, c.until(playEpoch.Add(time.Millisecond)))
		c.moveTo(playEpoch.Add(999 * time.Millisecond))
		synctest.Wait()
		require.Equal(t, []string{"now"}, rang)
		require.True(t, stopped.Stop())
		require.False(t, stopped.Stop())
		c.moveTo(playEpoch.Add(time.Minute))
		synctest.Wait()
		require.Equal(t, []string{"now", "1s"}, rang)
		require.Equal(t, playEpoch.Add(time.Minute), c.Now())
	})
}

// A player that knows when a timer was taken note of never moves the clock past it.
func TestReplayClockTellsWhoWaitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &replayClock{now: playEpoch}
		var seen []time.Duration
		var sweep func()
		sweep = func() {
			seen = append(seen, c.Now().Sub(playEpoch))
			c.AfterFunc(10*time.Second, sweep)
		}
		c.AfterFunc(3*time.Second, sweep)
		require.Nil(t, c.moveTo(playEpoch.Add(2*time.Second)), "none is due")
		for i, steady := range []bool{false, false, true, true} {
			r := c.moveTo(c.Now().Add(c.until(playEpoch.Add(time.Hour))))
			require.Equal(t, steady, r.steady, "%d: a sweep repeats the time ahead", i)
			<-r.again
		}
		require.Equal(t, []time.Duration{3 * time.Second, 13 * time.Second, 23 * time.Second, 33 * time.Second}, seen)
		c.AfterFunc(10*time.Second, func() {}) // at one instant with the sweep
		r := c.moveTo(playEpoch.Add(43 * time.Second))
		synctest.Wait()
		select {
		case <-r.again:
			t.Fatal("only one of two timers was set again")
		default:
		}
	})
}

// Long silences take as long as one of 10 s, so that days can be played.
func TestStride(t *testing.T) {
	for _, c := range []struct {
		speed   float64
		silence time.Duration
		stride  time.Duration
	}{
		{1, 0, 20 * time.Millisecond},
		{10, 10 * time.Second, 200 * time.Millisecond},
		{10, 100 * time.Second, 2 * time.Second},
		{1e-9, time.Second, 1},
	} {
		require.Equal(t, c.stride, (&playCommand{Speed: c.speed}).stride(c.silence))
	}
}

func TestDescribe(t *testing.T) {
	event := func(metadata map[string]string) chains.Event {
		return chains.Event{Metadata: metadata, Rows: []json.RawMessage{[]byte(`{"n":1}`)}}
	}
	require.Equal(t, `{"n":1}  (left_unmatched, closed by stop)`, describe(event(map[string]string{"resultType": "left_unmatched", "closedBy": "stop"})))
	require.Equal(t, `{"n":1}  (Users.spending: update)`, describe(event(map[string]string{"resultType": "update", "table": "Users.spending", "key": `{"id":1}`})))
}

func TestArrivalMetadata(t *testing.T) {
	routers := []string{"plant/#", "/streams/:stream/of/:site"}
	require.Equal(t, map[string]string{"k": "v"}, arrivalMetadata(chains.Arrival{Metadata: map[string]string{"k": "v"}}, routers))
	require.Equal(t, map[string]string{"topic": "plant/x"}, arrivalMetadata(chains.Arrival{Topic: "plant/x"}, routers))
	require.Equal(t, map[string]string{"stream": "acks", "site": "n"}, arrivalMetadata(chains.Arrival{Path: "/streams/acks/of/n"}, routers))
}

func TestPlaybackNamesDifferences(t *testing.T) {
	event := func(node, row string) chains.Event {
		return chains.Event{At: "1s", Node: node, Metadata: map[string]string{"resultType": "join_matched"}, Rows: []json.RawMessage{json.RawMessage(row)}}
	}
	var out bytes.Buffer
	p := newPlayback(&console{w: &out}, &replayClock{now: playEpoch}, types.RuleChain{}, []chains.Event{event("a", `{"n":1}`), event("a", `{"n":2.0}`), event("b", `{"n":3}`)})
	heard := event("a", `{"n":1}`)
	heard.At = ""
	p.result(heard)
	require.Zero(t, p.wrong, out.String())
	p.result(event("a", `{"n":2}`))
	p.result(event("a", `{"n":4}`))
	p.sending(chains.Arrival{Failure: "unknown"})
	p.answered(nil)
	require.EqualError(t, p.sum(), "4 of the lines above differ from what is expected")
	for _, says := range []string{`{"n":2}  (join_matched)`, `expected     {"n":2.0}`, "nothing more was expected", "it was to be refused: unknown", `missing: {"n":3}`} {
		require.Contains(t, out.String(), says)
	}
}

// testPlay plays every folder that is shipped, and one whose chain does something else.
func testPlay(t *testing.T, binary string) {
	dirs, err := filepath.Glob("../../chains/*/chain.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(dirs), 10)
	for _, chain := range dirs {
		stdout, stderr, exit := run(t, binary, "play", "--speed", "1000", filepath.Dir(chain))
		require.Zero(t, exit, "%s\n%s", stdout, stderr)
		require.Contains(t, stdout, "all as expected")
		if filepath.Base(filepath.Dir(chain)) == "shop" {
			require.Regexp(t, `! shop +\{.*"gift wrap".*\(Users\.total_spend: bad_element\)`, stdout)
		}
	}
	other := t.TempDir()
	for _, name := range []string{"chain.json", "arrivals.jsonl", "expected.jsonl"} {
		text, err := os.ReadFile(filepath.Join("../../chains/command-ack", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(other, name), []byte(strings.Replace(string(text), "WITHIN 10 SECONDS", "WITHIN 12 SECONDS", 1)), 0o600))
	}
	stdout, stderr, exit := run(t, binary, "play", "--speed", "1000", other)
	require.Equal(t, 1, exit)
	require.Contains(t, stdout, `    15s ✓ join`, "c2, 12 s after it was sent")
	require.Contains(t, stdout, "missing: ")
	require.Contains(t, stderr, "differ from what is expected")

	_, stderr, exit = run(t, binary, "play", t.TempDir())
	require.Equal(t, 1, exit)
	require.Contains(t, stderr, "a folder to play has chain.json, arrivals.jsonl and expected.jsonl")
}
