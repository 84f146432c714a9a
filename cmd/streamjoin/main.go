// Command streamjoin hosts rule chains with the node x/streamAggregator, checks
// queries, plays recorded messages into a chain, and has a demonstration that needs
// no input.
package main

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

// cli is the command line; kong reads the tags.
type cli struct {
	Demo  demoCommand  `cmd:"" help:"Play simulated temperature and vibration sensors through the two-stage chain: join, then aggregate. Ctrl-C ends it."`
	Run   runCommand   `cmd:"" help:"Run rule chains with their endpoints, and the admin REST API. Ctrl-C ends it."`
	Play  playCommand  `cmd:"" help:"Play the recorded messages of a chain's folder into it, and compare what leaves with what is expected."`
	Check checkCommand `cmd:"" help:"Compile a query: print how it would run, or what is wrong with it."`
}

func main() {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("streamjoin"),
		kong.Description("Joins of live streams in SQL, inside RuleGo rule chains."),
	)
	if err != nil {
		fail(err)
	}
	command, err := parser.Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "streamjoin: %v (streamjoin --help, streamjoin <command> --help)\n", err)
		os.Exit(2)
	}
	if err := command.Run(newConsole(os.Stdout)); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "streamjoin:", err)
	os.Exit(1)
}
