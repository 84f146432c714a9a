package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/chains"
	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/component/definition"
	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// playCommand is streamjoin play.
type playCommand struct {
	Dir   string  `arg:"" name:"folder" help:"Folder with chain.json, arrivals.jsonl and expected.jsonl, such as chains/card-face."`
	Speed float64 `help:"How much faster than the clock; a silence of more than 10 s counts as 10 s. The results are the same at any speed." default:"10"`
}

// playEpoch is where the clock of a replay stands at the start: the timestamps in the
// messages of the shipped chains count from it.
var playEpoch = time.UnixMilli(1_700_000_000_000)

const (
	playStep    = 20 * time.Millisecond // by which the clock is moved, in real time
	playPause   = 5 * time.Millisecond  // for results to be printed below the message they come of
	playSilence = 10 * time.Second      // of the clock; a longer silence takes no longer than this one
)

// Validate is called by kong.
func (c *playCommand) Validate() error {
	if c.Speed <= 0 {
		return fmt.Errorf("--speed must be above 0, got %v", c.Speed)
	}
	return nil
}

// Run sends the recorded messages into the chain, each at its instant of a clock of
// its own, and compares what leaves the nodes with what is expected. Endpoints are
// left out: what they would receive goes straight into the chain.
func (c *playCommand) Run(out *console) error {
	scenario, err := chains.Load(c.Dir)
	if err != nil {
		return fmt.Errorf("%w (a folder to play has %s, arrivals.jsonl and expected.jsonl)", err, chainFile)
	}
	def, err := definition.Parse(scenario.Chain)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(c.Dir, chainFile), err)
	}
	clock := &replayClock{now: playEpoch}
	h, err := newHost(warnings{out}, streamaggregator.New(joinnode.WithClock(clock)))
	if err != nil {
		return err
	}
	out.printf("%s: %s", def.RuleChain.Name, def.RuleChain.AdditionalInfo["description"])
	out.printf("%d messages, %g times as fast as the clock, long silences cut short; Ctrl-C ends it", len(scenario.Arrivals), c.Speed)
	routers := routersOf(def)
	if len(def.Metadata.Endpoints) > 0 {
		out.printf("without its endpoint (%s): messages go straight into the chain", def.Metadata.Endpoints[0].Type)
	}
	def.Metadata.Endpoints = nil
	text, err := json.Marshal(def)
	if err != nil {
		return err
	}
	heard := newPlayback(out, clock, def, scenario.Expected)
	engine, err := h.start(text, heard)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	played := c.play(ctx, engine, heard, routers, scenario.Arrivals)
	stop()
	drain, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	drained := component.Drain(drain, engine)
	engine.Stop(drain)
	if err := errors.Join(played, drained); err != nil {
		return err
	}
	return heard.sum()
}

// play sends the messages, in order and each when the clock has come to its instant.
func (c *playCommand) play(ctx context.Context, engine types.RuleEngine, heard *playback, routers []string, arrivals []chains.Arrival) error {
	for i, a := range arrivals {
		offset, err := a.Offset()
		if err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
		at := playEpoch.Add(offset)
		stride := c.stride(at.Sub(heard.clock.Now()))
		for heard.clock.Now().Before(at) {
			step := min(stride, heard.clock.until(at))
			if err := pause(ctx, time.Duration(float64(playStep)*float64(step)/float64(stride))); err != nil {
				return err
			}
			if err := settle(ctx, heard.clock.moveTo(heard.clock.Now().Add(step))); err != nil {
				return err
			}
		}
		if err := pause(ctx, playPause); err != nil { // for what was due by now
			return err
		}
		heard.sending(a)
		metadata := types.NewMetadata()
		for k, v := range arrivalMetadata(a, routers) {
			metadata.PutValue(k, v)
		}
		engine.OnMsgAndWait(types.NewMsg(0, "TELEMETRY", types.JSON, metadata, string(a.Body)))
		if err := pause(ctx, playPause); err != nil {
			return err
		}
	}
	return nil
}

// stride is how far the clock moves in one playStep: as --speed says, or farther
// where one would else sit through a long silence before the next message.
func (c *playCommand) stride(silence time.Duration) time.Duration {
	cut := max(1, float64(silence)/float64(playSilence))
	return max(1, time.Duration(float64(playStep)*c.Speed*cut))
}

// settle waits for what timers that went off have set going.
func settle(ctx context.Context, r *ring) error {
	if r == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return errInterrupted
	case <-r.again:
	case <-time.After(playStep): // there may be nothing more to wait for
	}
	if r.steady {
		return nil
	}
	return pause(ctx, playPause)
}

func pause(ctx context.Context, d time.Duration) error {
	if d < 100*time.Microsecond && ctx.Err() == nil {
		return nil // to sleep would take longer
	}
	select {
	case <-ctx.Done():
		return errInterrupted
	case <-time.After(d):
		return nil
	}
}

// routersOf are the paths that the chain's endpoints listen on.
func routersOf(def types.RuleChain) []string {
	var paths []string
	for _, e := range def.Metadata.Endpoints {
		for _, r := range e.Routers {
			paths = append(paths, r.From.Path)
		}
	}
	return paths
}

// arrivalMetadata is the metadata of a message as the chain's endpoint would set it:
// MQTT the topic, HTTP the parameters in the path.
func arrivalMetadata(a chains.Arrival, routers []string) map[string]string {
	metadata := map[string]string{}
	for k, v := range a.Metadata {
		metadata[k] = v
	}
	if a.Topic != "" {
		metadata["topic"] = a.Topic
	}
	have := strings.Split(a.Path, "/")
	for _, path := range routers {
		want := strings.Split(path, "/")
		if a.Path == "" || len(want) != len(have) {
			continue
		}
		for i, part := range want {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				metadata[name] = have[i]
			}
		}
	}
	return metadata
}
