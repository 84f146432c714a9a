package operator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// TestGolden runs testdata/*.txt: one join at a time, the calls made on it, and
// what it did. Columns of a row are the key, then the others; 1 is a Go int,
// 1.0 a JSON number, {…} a Go map, ∅ NULL.
//
//	join [left] within=… [lower=… upper=…] [between] [left-retention=…] [right-retention=…] [clocked] [keys=…] [keep=l,r] [out=port.col,…] [max-keys=…] [max-rows=…] [max-bytes=…]
//	run
//	  L|R <ts> <columns>       an arrival: watermark, row, end of step
//	  time <port> <ts> [idle]  time passes on a port
//	  wake <port> [<need>]
//	  flush <port> <reason>
//	  stats | describe
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		var g golden
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "join":
				return g.join(t, d)
			case "run":
				var b strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					fmt.Fprintln(&b, line)
					for _, out := range g.call(t, strings.Fields(line)) {
						fmt.Fprintln(&b, "  "+out)
					}
				}
				return b.String()
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	}
}

type golden struct {
	op   *operator.IntervalJoin
	log  *operatortest.Log
	seen [2]int64
	both bool // the clock drives both ports
}

func (g *golden) join(t *testing.T, d *datadriven.TestData) string {
	cfg := operator.JoinConfig{RightSource: 1, Keys: [2]int{1, 1}, Keep: [2]int{2, 2},
		Left: d.HasArg("left"), Clocked: d.HasArg("clocked"), Between: d.HasArg("between"),
		Text: operator.JoinText{On: "a.k = b.k", Ports: [2]string{"a", "b"}, Kept: [2][]string{{"a.k", "a.v"}, {"b.k", "b.v"}}}}
	d.ScanArgs(t, "within", &cfg.Within)
	cfg.RightRetention = cfg.Within
	d.MaybeScanArgs(t, "lower", &cfg.Lower)
	d.MaybeScanArgs(t, "upper", &cfg.Upper)
	d.MaybeScanArgs(t, "left-retention", &cfg.LeftRetention)
	d.MaybeScanArgs(t, "right-retention", &cfg.RightRetention)
	d.MaybeScanArgs(t, "max-keys", &cfg.MaxKeys)
	d.MaybeScanArgs(t, "max-rows", &cfg.MaxRows)
	d.MaybeScanArgs(t, "max-bytes", &cfg.MaxBytes)
	if d.MaybeScanArgs(t, "keys", &cfg.Keys[0]) {
		cfg.Keys[1] = cfg.Keys[0]
	}
	d.MaybeScanArgs(t, "keep", &cfg.Keep[0], &cfg.Keep[1])
	out := []string{"0.0", "0.1", "1.1"}
	if arg, ok := d.Arg("out"); ok {
		out = arg.Vals
	}
	for _, o := range out {
		port, col, _ := strings.Cut(o, ".")
		cfg.Out = append(cfg.Out, operator.OutCol{Port: uint8(number(t, port)), Col: int(number(t, col))})
	}
	g.log = operatortest.NewLog()
	g.log.Clocked, g.both = cfg.Clocked, cfg.Clocked
	g.seen = [2]int64{math.MinInt64, math.MinInt64}
	var err error
	if g.op, err = operator.NewIntervalJoin(cfg, g.log); err != nil {
		return err.Error()
	}
	return ""
}

func (g *golden) call(t *testing.T, words []string) []string {
	require.NotEmpty(t, words)
	switch words[0] {
	case "L", "R":
		port := 0
		if words[0] == "R" {
			port = 1
		}
		ts := number(t, words[1])
		g.time(port, ts, false)
		g.op.Process(port, operator.Record{TS: ts, Diff: 1, Row: rowOf(words[2:])})
		g.op.EndStep()
	case "time":
		g.time(int(number(t, words[1])), number(t, words[2]), len(words) > 3 && words[3] == "idle")
		g.op.EndStep()
	case "wake":
		need := int64(math.MaxInt64)
		if len(words) > 2 {
			need = number(t, words[2])
		}
		at, ok := g.op.Wake(int(number(t, words[1])), need)
		if !ok {
			return []string{"never"}
		}
		return []string{strconv.FormatInt(at, 10)}
	case "flush":
		why := map[string]operator.CloseReason{"stop": operator.ClosedByStop, "reload": operator.ClosedByReload}[words[2]]
		g.op.Flush(int(number(t, words[1])), why)
		g.op.EndStep()
	case "stats":
		st := g.op.Stats()
		return []string{fmt.Sprintf("matches=%d left_timeouts=%d keys_evicted=%d expired=%d rows=%d keys=%d",
			st.Matches, st.LeftTimeouts, st.KeysEvicted, st.Expired, st.Rows, st.Keys)}
	case "describe":
		d := g.op.Describe()
		return append([]string{d.Name}, d.Lines...)
	default:
		t.Fatalf("unknown call %q", words[0])
	}
	require.Empty(t, g.log.Broken)
	return g.log.Take()
}

func (g *golden) time(port int, ts int64, idle bool) {
	for p := range g.seen {
		if (p == port || g.both) && ts > g.seen[p] {
			g.seen[p] = ts
			g.op.Advance(p, operator.Progress{Seen: ts, Low: math.MinInt64, Idle: idle})
		}
	}
}

func number(t *testing.T, word string) int64 {
	n, err := strconv.ParseInt(word, 10, 64)
	require.NoError(t, err)
	return n
}

func rowOf(words []string) row.Row {
	var cols []any
	for _, w := range words {
		n, err := strconv.Atoi(w)
		switch {
		case w == "∅":
			cols = append(cols, nil)
		case err == nil:
			cols = append(cols, n)
		case w[0] >= '0' && w[0] <= '9':
			cols = append(cols, json.Number(w))
		case w[0] == '{':
			cols = append(cols, map[string]any{"x": strings.Trim(w, "{}")})
		default:
			cols = append(cols, w)
		}
	}
	return encode(cols)
}
