package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/component/admin"
)

// runCommand is streamjoin run.
type runCommand struct {
	Chains []string `arg:"" name:"chain" help:"Files with rule chains (JSON), or folders with a chain.json."`
	Listen string   `help:"Address of the admin REST API; empty: none. Beyond this machine it needs a token." default:"127.0.0.1:6334"`
	Token  string   `help:"Bearer token that the admin API asks for." env:"STREAMJOIN_TOKEN"`
}

// chainFile is the chain in a folder such as those of chains/.
const chainFile = "chain.json"

// errInterrupted means that a signal came before a chain had started.
var errInterrupted = errors.New("interrupted")

// Run starts the chains and the admin API and serves until a signal comes; then
// every chain is drained, so that no accepted row is lost, and stopped.
func (c *runCommand) Run(out *console) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := newHostLog(out)
	h, err := newHost(log)
	if err != nil {
		return err
	}
	defer func() {
		drain, cancel := context.WithTimeout(context.Background(), drainTimeout)
		defer cancel()
		err = errors.Join(err, h.stop(drain, func(e types.RuleEngine) { logAccount(log, e) }))
	}()
	if err := c.start(ctx, h, log); err != nil {
		if errors.Is(err, errInterrupted) {
			stop()
			log.Infof("%v", err)
			return nil
		}
		return err
	}
	if c.Listen != "" {
		api := admin.New(h.pool, admin.Options{Token: c.Token, Config: h.config, Aspects: []types.Aspect{newEndpointAspect()}})
		endpoint, err := api.NewEndpoint(h.config, c.Listen)
		if err != nil {
			return fmt.Errorf("admin API: %w", tokenAdvice(err))
		}
		defer endpoint.Destroy()
		if err := endpoint.Start(); err != nil {
			return fmt.Errorf("admin API: %w", err)
		}
		log.Infof("admin API on http://%s", endpoint.Config.Server)
	}
	for _, e := range h.started {
		log.Infof("chain %q is running", e.Id())
	}
	log.Infof("ready; Ctrl-C ends it")
	<-ctx.Done()
	stop() // a second Ctrl-C ends the process at once
	log.Infof("stopping: draining what was accepted; Ctrl-C again ends it at once")
	return nil
}

// start starts all chains, in order, until ctx ends.
func (c *runCommand) start(ctx context.Context, h *host, log hostLog) error {
	for _, path := range c.Chains {
		text, file, err := readChain(path)
		if err != nil {
			return err
		}
		log.Infof("starting the chain in %s", file)
		type result struct {
			engine types.RuleEngine
			err    error
		}
		started := make(chan result, 1)
		go func() { // left behind when a signal comes first: the process ends then
			e, err := h.start(text)
			started <- result{e, err}
		}()
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w while the chain in %s was starting", errInterrupted, file)
		case r := <-started:
			if r.err != nil {
				return fmt.Errorf("%s: %w", file, r.err)
			}
			h.keep(r.engine)
			for _, w := range component.Warnings(r.engine) {
				log.Warnf("%s: %s", file, w)
			}
		}
	}
	return nil
}

// readChain reads a chain's file; of a folder, its chain.json.
func readChain(path string) (text []byte, file string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, path, err
	}
	switch {
	case info.IsDir():
		path = filepath.Join(path, chainFile)
	case filepath.Ext(path) == ".jsonl":
		return nil, path, fmt.Errorf("%s is a list of messages and no rule chain: the chain is in %s beside it, and streamjoin play %s sends them into it", path, chainFile, filepath.Dir(path))
	}
	text, err = os.ReadFile(path)
	return text, path, err
}

// tokenAdvice says what to do about an address that needs a token.
func tokenAdvice(err error) error {
	if errors.Is(err, admin.ErrTokenRequired) {
		return fmt.Errorf("%w: set one with --token or in STREAMJOIN_TOKEN", err)
	}
	return err
}
