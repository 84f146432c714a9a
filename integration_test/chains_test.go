// Package integration_test runs whole rule chains over real parts: RuleGo's
// engine, an MQTT broker, HTTP.
package integration_test

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write expected.jsonl anew from what the chains do; read the diff against semantics.md")

// epoch is where the fake clock stands when a chain starts; the arrivals'
// timestamps count from it (1700000000000 ms).
var epoch = time.Unix(1_700_000_000, 0)

// TestChains runs every folder of chains/ and compares everything that leaves
// on stream_event, payload and metadata, with the folder's expected.jsonl. A new
// folder is picked up by itself.
func TestChains(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(chainsDir, "*", "chain.json"))
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, chain := range dirs {
		dir := filepath.Dir(chain)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			s := loadScenario(t, dir)
			require.NotEmpty(t, s.def.RuleChain.AdditionalInfo["description"], "a chain tells what it shows")
			require.NotEmpty(t, s.Arrivals)
			switch s.endpoint() {
			case "":
				synctest.Test(t, func(t *testing.T) { compare(t, s, playDirectly(t, s)) })
			case "endpoint/mqtt":
				compare(t, s, playMQTT(t, s))
			case "endpoint/http":
				compare(t, s, playHTTP(t, s))
			default:
				t.Fatalf("no player for a chain fed by %s", s.endpoint())
			}
		})
	}
}

func compare(t *testing.T, s scenario, got []event) {
	t.Helper()
	path := filepath.Join(s.Dir, "expected.jsonl")
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(jsonLines(t, got)), 0o644))
		return
	}
	require.Equal(t, jsonLines(t, s.Expected), jsonLines(t, got))
}

// playDirectly hands the arrivals to the engine one by one, each at its instant
// of a fake clock, and lets everything settle in between.
func playDirectly(t *testing.T, s scenario) []event {
	t.Helper()
	time.Sleep(time.Until(epoch)) // the bubble's clock starts in 2000
	e, seen := start(t, s.def.RuleChain.ID, s.Chain)
	for _, a := range s.Arrivals {
		offset, err := a.Offset()
		require.NoError(t, err)
		time.Sleep(time.Until(epoch.Add(offset)))
		synctest.Wait() // timers that are due at this instant come first
		seen.sending()
		msg := message(a.Metadata, a.Body)
		e.OnMsgAndWait(msg)
		synctest.Wait()

		answers := seen.answers(s.firstNode())
		last := answers[len(answers)-1]
		require.Len(t, answers, seen.sent, "one answer for each message")
		require.Equal(t, msg.Id, last.id)
		require.Equal(t, msg.GetData(), last.data, "the message passes untouched")
		if a.Failure == "" {
			require.Equal(t, types.Success, last.relation, "%s: %v", a.Body, last.err)
		} else {
			require.Equal(t, types.Failure, last.relation, "%s", a.Body)
			require.ErrorContains(t, last.err, a.Failure)
		}
	}
	drainAndStop(t, e)
	synctest.Wait()
	return seen.left(t, true)
}

// playMQTT publishes the arrivals to a real broker that the chain's endpoint
// subscribes to.
func playMQTT(t *testing.T, s scenario) []event {
	t.Helper()
	broker := startBroker(t)
	e, seen := start(t, s.def.RuleChain.ID, s.withVar(t, "broker", broker.address))
	for _, a := range s.Arrivals {
		broker.publish(t, a.Topic, a.Body)
	}
	require.Eventually(t, func() bool { return len(seen.answers(s.firstNode())) == len(s.Arrivals) },
		10*time.Second, 5*time.Millisecond, "every published message reaches the node")
	for i, o := range seen.answers(s.firstNode()) {
		require.Equal(t, string(s.Arrivals[i].Body), o.data, "messages keep their order")
		require.Equal(t, types.Success, o.relation, "%v", o.err)
	}
	drainAndStop(t, e)
	return seen.left(t, false)
}

// playHTTP posts the arrivals to the chain's endpoint; the router waits, so the
// answer tells whether the row was taken.
func playHTTP(t *testing.T, s scenario) []event {
	t.Helper()
	address := freeAddress(t)
	e, seen := start(t, s.def.RuleChain.ID, s.withVar(t, "listen", address))
	for _, a := range s.Arrivals {
		status, answer := post(t, "http://"+address+a.Path, string(a.Body))
		if a.Failure == "" {
			require.Equal(t, http.StatusOK, status, answer)
			require.Equal(t, string(a.Body), answer, "the message passes untouched")
		} else {
			require.Equal(t, http.StatusBadRequest, status, answer)
			require.True(t, strings.Contains(answer, a.Failure), answer)
		}
	}
	drainAndStop(t, e)
	return seen.left(t, false)
}
