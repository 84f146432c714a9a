package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/component/admin"
)

// runCommand is streamjoin run.
type runCommand struct {
	Chains []string `arg:"" name:"chain" help:"Files with rule chains (JSON)."`
	Listen string   `help:"Address of the admin REST API; empty: none. Beyond this machine it needs a token." default:"127.0.0.1:6334"`
	Token  string   `help:"Bearer token that the admin API asks for." env:"STREAMJOIN_TOKEN"`
}

// Run starts the chains and the admin API and serves until a signal comes; then
// every chain is drained, so that no accepted row is lost, and stopped.
func (c *runCommand) Run(out *console) (err error) {
	h, err := newHost(types.NewStdLogger(os.Stdout))
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
		defer cancel()
		err = errors.Join(err, h.stop(ctx))
	}()
	for _, file := range c.Chains {
		if err := h.load(file, out); err != nil {
			return err
		}
	}
	if c.Listen != "" {
		api := admin.New(h.pool, admin.Options{Token: c.Token, Config: h.config})
		endpoint, err := api.NewEndpoint(h.config, c.Listen)
		if err != nil {
			return fmt.Errorf("admin API: %w", err)
		}
		defer endpoint.Destroy()
		if err := endpoint.Start(); err != nil {
			return fmt.Errorf("admin API: %w", err)
		}
		out.printf("admin API on http://%s", endpoint.Config.Server)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out.printf("ready; Ctrl-C ends it")
	<-ctx.Done()
	stop() // a second Ctrl-C ends the process at once
	return nil
}

// load starts the chain in a file.
func (h *host) load(file string, out *console) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	e, err := h.start(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	out.printf("chain %q from %s is running", e.Id(), file)
	return nil
}
