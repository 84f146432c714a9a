package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/component"
)

// runCommand is streamjoin run.
type runCommand struct {
	Chains []string `arg:"" name:"chain" help:"Files with rule chains (JSON)."`
}

// Run starts the chains and serves until a signal comes; then every chain is
// drained, so that no accepted row is lost, and stopped.
func (c *runCommand) Run(out *console) (err error) {
	h, err := newHost(types.NewStdLogger(os.Stdout))
	if err != nil {
		return err
	}
	var running []types.RuleEngine
	defer func() { err = errors.Join(err, stopAll(running)) }()
	for _, file := range c.Chains {
		engine, err := h.load(file)
		if err != nil {
			return err
		}
		running = append(running, engine)
		out.printf("chain %q from %s is running", engine.Id(), file)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out.printf("ready; Ctrl-C ends it")
	<-ctx.Done()
	stop() // a second Ctrl-C ends the process at once
	return nil
}

// load starts the chain in a file.
func (h *host) load(file string) (types.RuleEngine, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	engine, err := h.start(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return engine, nil
}

// stopAll drains and stops chains, the one started last first.
func stopAll(running []types.RuleEngine) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	var errs []error
	for i := len(running) - 1; i >= 0; i-- {
		if err := component.Drain(ctx, running[i]); err != nil {
			errs = append(errs, fmt.Errorf("chain %q: %w", running[i].Id(), err))
		}
		running[i].Stop(ctx)
	}
	return errors.Join(errs...)
}
