package main

import (
	"context"
	"fmt"
	"strings"
	"time"

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

// part is a number of rows that share a fate.
type part struct {
	rows int64
	fate string
}

// joinStage is the prefix of the counters of the demo's only join.
const joinStage = "join_stage1_"

// newAccount balances a demo: sent rows went into it. join are the counters of
// the join node when it had processed them all and still held what WITHIN keeps;
// drained are those of both nodes at the end; results has seen what came out.
func newAccount(sent int, join map[string]int64, drained demoStats, results *resultPrinter) *account {
	joined := int64(results.rows(joinNode))
	return &account{entries: []entry{
		{"sent", int64(sent), []part{
			{join["node_accepted"], "accepted by the join"},
			{join["node_refused"], "refused"},
		}},
		{"accepted", join["node_accepted"], []part{
			{join[joinStage+"filtered"], "below a limit of WHERE"},
			{join[joinStage+"expired"], "kept as long as WITHIN said"},
			{join[joinStage+"buffered_rows"], "still kept at the end"},
			{join[joinStage+"late_dropped"], "late"},
			{join[joinStage+"input_dropped"] + join[joinStage+"rows_dropped"] + join[joinStage+"rows_evicted"], "dropped by a limit"},
		}},
		{"joined", drained.join[joinStage+"matches_emitted"], []part{
			{joined, "left the join"},
			{drained.join["node_undelivered"], "undelivered"},
		}},
		{"left", joined, []part{
			{int64(results.aggregated()), "counted in windows"},
			{drained.window["node_refused"], "refused by the window node"},
		}},
	}}
}

// check returns an error that names every place where rows are missing.
func (a *account) check() error {
	var wrong []string
	for _, e := range a.entries {
		if missing := e.missing(); missing != 0 {
			wrong = append(wrong, fmt.Sprintf("%d of %d %s rows are not accounted for", missing, e.whole, e.place))
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

// demoStats are the counters of the demo's two nodes.
type demoStats struct{ join, window map[string]int64 }

func readStats(e types.RuleEngine) (demoStats, error) {
	join, err := nodeStats(e, joinNode)
	if err != nil {
		return demoStats{}, err
	}
	window, err := nodeStats(e, windowNode)
	return demoStats{join: join, window: window}, err
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

// settled waits until the join has processed all rows it was sent and returns
// its counters at that moment, or those it has when ctx ends.
func settled(ctx context.Context, e types.RuleEngine) (map[string]int64, error) {
	const glance = 5 * time.Millisecond
	again := time.NewTicker(glance)
	defer again.Stop()
	for {
		stats, err := nodeStats(e, joinNode)
		if err != nil || stats["input_count"]+stats["input_dropped_count"] >= stats["node_accepted"] {
			return stats, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return stats, nil
		}
	}
}
