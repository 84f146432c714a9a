package main

import (
	"fmt"
	"strings"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// account shows where every row of a demo went, by the engine's own counters.
type account struct {
	entries []entry
}

// entry is one line of an account: rows that came to a place, and what became of
// them. Where the parts do not add up to the whole, rows were lost.
type entry struct {
	place string
	whole int64
	parts []part
}

// part is a number of rows that share a fate. A demo has no use for rows that are
// late, refused or dropped, so these are lost although they are accounted for.
type part struct {
	rows int64
	fate string
	lost bool
}

// joinStage is the prefix of the counters of the demo's only join.
const joinStage = "join_stage1_"

// newAccount balances a demo whose chain was drained: sent rows went into it, and
// results has seen what came out.
func newAccount(sent int, e types.RuleEngine, results *resultPrinter) (*account, error) {
	join, err := nodeStats(e, joinNode)
	if err != nil {
		return nil, err
	}
	window, err := nodeStats(e, windowNode)
	if err != nil {
		return nil, err
	}
	joined := int64(results.rows(joinNode))
	return &account{entries: []entry{
		{"sent", int64(sent), []part{
			{join["node_accepted"], "accepted by the join", false},
			{join["node_refused"], "refused", true},
		}},
		{"accepted", join["node_accepted"], []part{
			{join[joinStage+"filtered"], "below a limit of WHERE", false},
			{join[joinStage+"expired"], "kept for WITHIN, then let go", false},
			{join[joinStage+"late_dropped"], "late", true},
			{join[joinStage+"input_dropped"] + join[joinStage+"rows_dropped"] + join[joinStage+"memory_dropped"] + join[joinStage+"rows_evicted"], "dropped by a limit", true},
		}},
		{"matched", join[joinStage+"matches_emitted"], []part{
			{joined, "sent on to the windows", false},
			{join["node_undelivered"], "undelivered", true},
		}},
		{"sent on", joined, []part{
			{int64(results.aggregated()), "counted in windows", false},
			{window["node_refused"], "refused by the window node", true},
		}},
	}}, nil
}

// check returns an error that names every place where rows are missing or lost.
func (a *account) check() error {
	var wrong []string
	for _, e := range a.entries {
		if missing := e.missing(); missing != 0 {
			wrong = append(wrong, fmt.Sprintf("%d of %d %s rows are not accounted for", missing, e.whole, e.place))
		}
		for _, p := range e.parts {
			if p.lost && p.rows != 0 {
				wrong = append(wrong, fmt.Sprintf("%d of %d %s rows: %s", p.rows, e.whole, e.place, p.fate))
			}
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("rows were lost: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// String is the account as printed at the end of a demo.
func (a *account) String() string {
	var out strings.Builder
	for _, e := range a.entries {
		fates := make([]string, 0, len(e.parts))
		for _, p := range e.parts {
			if p.rows != 0 {
				fates = append(fates, fmt.Sprintf("%d %s", p.rows, p.fate))
			}
		}
		if len(fates) == 0 {
			fates = []string{"0"}
		}
		fmt.Fprintf(&out, "%-9s %8d = %s\n", e.place, e.whole, strings.Join(fates, " + "))
	}
	if a.check() == nil {
		out.WriteString("no row lost")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// missing is what the parts lack.
func (e entry) missing() int64 {
	rest := e.whole
	for _, p := range e.parts {
		rest -= p.rows
	}
	return rest
}

// nodeStats returns the counters of one x/streamAggregator node of a chain.
func nodeStats(e types.RuleEngine, id string) (map[string]int64, error) {
	ctx, ok := e.RootRuleChainCtx().GetNodeById(types.RuleNodeId{Id: id, Type: types.NODE})
	if !ok {
		return nil, fmt.Errorf("the chain has no node %q", id)
	}
	node, ok := component.Node(ctx)
	if !ok {
		return nil, fmt.Errorf("node %q is no %s", id, streamaggregator.Type)
	}
	return node.Stats(), nil
}
