package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/chains"
	"github.com/streamjoin/streamjoin/component"
)

// demoCommand is streamjoin demo.
type demoCommand struct {
	Rate int           `help:"Readings a second, of both streams together." default:"200"`
	Seed uint64        `help:"Seed of the simulated values." default:"1"`
	For  time.Duration `help:"End after this time (10s) instead of at Ctrl-C."`
}

// The demo's chain and its nodes, as they stand in chains/.
const (
	demoChain  = "two-stage"
	joinNode   = "join"
	windowNode = "window"
)

// drainTimeout bounds how long the end of a run waits for what is under way.
const drainTimeout = 30 * time.Second

// Validate is called by kong.
func (c *demoCommand) Validate() error {
	if c.Rate < 1 || c.Rate > 100_000 {
		return fmt.Errorf("--rate must be between 1 and 100000, got %d", c.Rate)
	}
	if c.For < 0 {
		return fmt.Errorf("--for must not be negative, got %s", c.For)
	}
	return nil
}

// Run plays sensors into the chain until the time is over or a signal comes, then
// drains the chain and accounts for every row. A row that is missing is an error.
func (c *demoCommand) Run(out *console) error {
	chain, err := chains.Chain(demoChain)
	if err != nil {
		return err
	}
	h, err := newHost(warnings{out})
	if err != nil {
		return err
	}
	results := newResultPrinter(out, map[string]string{joinNode: "joined", windowNode: "aggregated"})
	engine, err := h.start(chain, results)
	if err != nil {
		return fmt.Errorf("start the demo's chain: %w", err)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.For)
		defer cancel()
	}
	out.printf("%s: %s", demoChain, engine.Definition().RuleChain.AdditionalInfo["description"])
	out.printf("%d readings a second, seed %d; Ctrl-C ends it", c.Rate, c.Seed)
	sent, began := c.play(ctx, engine, out, results), time.Now()
	out.hide()
	stop() // a second Ctrl-C ends the process at once

	drain, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	if err := component.Drain(drain, engine); err != nil {
		return err
	}
	account, err := newAccount(sent, engine, results)
	engine.Stop(drain)
	if err != nil {
		return err
	}
	out.printf("\n%s\ndrained in %s", account, time.Since(began).Round(time.Millisecond))
	return account.check()
}

// play sends readings at the rate until ctx ends, in order, and returns how many.
func (c *demoCommand) play(ctx context.Context, engine types.RuleEngine, out *console, results *resultPrinter) int {
	const pace = 10 * time.Millisecond
	counterEvery := time.Second
	if out.terminal {
		counterEvery = 200 * time.Millisecond
	}
	interval := time.Second / time.Duration(c.Rate)
	sensors := newPlant(c.Seed, c.Rate)
	began := time.Now()
	tick, counter := time.NewTicker(pace), time.NewTicker(counterEvery)
	defer tick.Stop()
	defer counter.Stop()
	for sent := 0; ; {
		select {
		case <-ctx.Done():
			return sent
		case <-counter.C:
			seconds := time.Since(began).Seconds()
			out.show("%6.1f s · %d sent · %d joined · %d aggregated · %.0f rows/s",
				seconds, sent, results.rows(joinNode), results.rows(windowNode), float64(sent)/seconds)
		case now := <-tick.C:
			for due := int(now.Sub(began) / interval); sent < due && ctx.Err() == nil; sent++ {
				send(engine, sensors.read(began.Add(time.Duration(sent)*interval)))
			}
		}
	}
}

// send hands one reading to the chain. It waits until the chain has taken it:
// OnMsg alone may reorder messages.
func send(engine types.RuleEngine, r reading) {
	metadata := types.NewMetadata()
	metadata.PutValue("streamName", r.stream)
	engine.OnMsgAndWait(types.NewMsg(0, "TELEMETRY", types.JSON, metadata, string(r.body)))
}
