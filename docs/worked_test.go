package docs_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

var rewrite = flag.Bool("rewrite", false, "write the results of the worked examples into the pages; read the diff against the rules")

// Marks of the lines that say what came out.
const (
	resultMark = "→ "
	dropMark   = "✗ "
	valueMark  = "= "
)

// TestWorkedExamples runs every block of language stream:
//
//	joinMaxKeys 2           options, one a line, before the SQL
//	SELECT …                the query, up to an empty line
//
//	at 10s                  lets the clock go on to 10 s after the start
//	left {"k":1}            a row of the stream left
//	stop                    ends the query
//	stats name …            counters and gauges of stage 1, or with their whole name
//	→ {"k":1}  (…)          a result; for an unmatched row what is NULL and what closed it
//	✗ left late             a row of the stream left that was dropped, and why
//	= name 3                a counter
//
// What follows "  #" in a line that does something is for the reader. The clock
// is a fake one and starts at epoch.
func TestWorkedExamples(t *testing.T) {
	for _, p := range pages(t) {
		for i := len(p.blocks) - 1; i >= 0; i-- { // from the end, so that lines keep their numbers while rewritten
			b := p.blocks[i]
			if b.lang != "stream" {
				continue
			}
			t.Run(b.name(), func(t *testing.T) {
				var got string
				synctest.Test(t, func(t *testing.T) { got = play(t, b) })
				if !*rewrite {
					require.Equal(t, b.text, got, b.String())
					return
				}
				n := strings.Count(b.text, "\n")
				lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
				p.lines = append(p.lines[:b.line-1], append(lines, p.lines[b.line-1+n:]...)...)
			})
		}
		if *rewrite {
			require.NoError(t, os.WriteFile(filepath.Join(root, p.path), []byte(strings.Join(p.lines, "\n")), 0o644))
		}
	}
}

// epoch is where the clock of the examples starts: 2023-11-14T22:13:20Z.
var epoch = time.Unix(1_700_000_000, 0)

// play runs an example and returns its text with what really came out.
func play(t *testing.T, b *block) string {
	head, body, ok := strings.Cut(b.text, "\n\n")
	require.True(t, ok, "%s: no empty line behind the query", b)
	sql, opts := head, []joinnode.Option{joinnode.WithDiscardLog()}
	for strings.HasPrefix(sql, "join") {
		var option string
		option, sql, _ = strings.Cut(sql, "\n")
		name, value, _ := strings.Cut(option, " ")
		n, err := strconv.Atoi(value)
		require.NoError(t, err, "%s: %s", b, option)
		set := map[string]func(int) joinnode.Option{"joinMaxKeys": joinnode.WithJoinMaxKeys, "joinMaxRows": joinnode.WithJoinMaxRows}[name]
		require.NotNil(t, set, "%s: %s", b, option)
		opts = append(opts, set(n))
	}
	time.Sleep(time.Until(epoch)) // a bubble's clock starts in 2000
	q := joinnode.New(opts...)
	require.NoError(t, q.Execute(sql), b.String())
	defer q.Stop()
	var out transcript
	out.printf("%s\n\n", head)
	q.AddResultSink(func(r joinnode.Result) {
		known := ""
		if r.Type == joinnode.LeftUnmatched {
			known = fmt.Sprintf("  (%s NULL, closed by %s)", strings.Join(r.Unmatched, " and "), r.ClosedBy)
		}
		out.printf("%s%s%s\n", resultMark, strings.TrimSuffix(strings.TrimPrefix(string(r.JSON), "["), "]"), known)
	})
	q.AddLateSink(func(r joinnode.LateRow) { out.printf("%s%s %s\n", dropMark, r.Stream, r.Reason) })

	began := time.Now()
	for _, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		if strings.HasPrefix(line, resultMark) || strings.HasPrefix(line, dropMark) || strings.HasPrefix(line, valueMark) {
			continue // put there anew by what really happens
		}
		out.printf("%s\n", line)
		step, _, _ := strings.Cut(line, "  #")
		step = strings.TrimSpace(step)
		word, rest, _ := strings.Cut(step, " ")
		switch word {
		case "":
		case "at":
			d, err := time.ParseDuration(rest)
			require.NoError(t, err, "%s: %s", b, line)
			time.Sleep(d - time.Since(began))
			require.Equal(t, d, time.Since(began), "%s: time does not run backwards: %s", b, line)
		case "stop":
			q.Stop()
		case "stats":
			require.NoError(t, q.Drain(context.Background()))
			for _, name := range strings.Fields(rest) {
				stats := q.GetStats()
				value, ok := stats[name]
				if !ok {
					value, ok = stats["join_stage1_"+name]
				}
				require.True(t, ok, "%s: no counter %s", b, name)
				out.printf("%s%s %d\n", valueMark, name, value)
			}
		default:
			require.NoError(t, q.EmitJSON(word, []byte(rest)), "%s: %s", b, line)
		}
		synctest.Wait()
	}
	return out.String()
}

// transcript is written to by the example's steps and, between them, by the
// sinks.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *transcript) printf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(&t.text, format, args...)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
