package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/streamaggregator"
)

// resultPrinter is an aspect that prints each row that leaves a node on
// stream_event, and counts them.
type resultPrinter struct {
	out   *console
	words map[string]string // node id → word at the head of the line

	mu       sync.Mutex
	counts   map[string]int // node id → rows
	windowed int            // rows that the windows say they counted
}

var _ types.AfterAspect = (*resultPrinter)(nil)

func newResultPrinter(out *console, words map[string]string) *resultPrinter {
	return &resultPrinter{out: out, words: words, counts: make(map[string]int)}
}

// Order implements types.Aspect: last, the message as it leaves.
func (p *resultPrinter) Order() int { return 1000 }

// New implements types.Aspect: one printer for all contexts of the engine.
func (p *resultPrinter) New() types.Aspect { return p }

// PointCut implements types.NodeAspect.
func (p *resultPrinter) PointCut(_ types.RuleContext, _ types.RuleMsg, relation string) bool {
	return relation == streamaggregator.RelationEvent
}

// After implements types.AfterAspect; it changes nothing.
func (p *resultPrinter) After(ctx types.RuleContext, msg types.RuleMsg, _ error, _ string) types.RuleMsg {
	node := ctx.GetSelfId()
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(msg.GetData()), &rows); err != nil {
		p.out.printf("%s sent what is no array of rows: %v", node, err)
		return msg
	}
	for _, row := range rows {
		p.out.printf("%-10s %s", p.words[node], row)
		p.count(node, row)
	}
	return msg
}

func (p *resultPrinter) count(node string, row []byte) {
	var window struct {
		Count int `json:"cnt"`
	}
	if err := json.Unmarshal(row, &window); err != nil {
		window.Count = 0 // a row without a whole number of that name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[node]++
	p.windowed += window.Count
}

// rows is how many rows have left a node.
func (p *resultPrinter) rows(node string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[node]
}

// aggregated is how many joined rows the windows have counted.
func (p *resultPrinter) aggregated() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.windowed
}

// warnings is a logger that passes on what needs attention and nothing else.
type warnings struct{ out *console }

// Printf implements types.Logger; the chain's log nodes use it for what the
// result printer shows already.
func (w warnings) Printf(string, ...any) {}

// Debugf implements types.Logger.
func (w warnings) Debugf(string, ...any) {}

// Infof implements types.Logger.
func (w warnings) Infof(string, ...any) {}

// Warnf implements types.Logger.
func (w warnings) Warnf(format string, args ...any) { w.out.printf("warning: "+format, args...) }

// Errorf implements types.Logger.
func (w warnings) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
