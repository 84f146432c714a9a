package main

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode"
)

// checkCommand is streamjoin check: it compiles a query and runs nothing.
type checkCommand struct {
	SQL string `arg:"" name:"sql" help:"The query."`
}

// Run prints OK and the operator graph, or returns the error with its caret.
func (c *checkCommand) Run(out *console) error {
	query := joinnode.New(joinnode.WithDiscardLog()) // the plan has the warnings
	defer query.Stop()
	if err := query.Execute(c.SQL); err != nil {
		return fmt.Errorf("the query does not compile:\n%w", err)
	}
	out.printf("OK\n\n%s", query.Explain())
	return nil
}
