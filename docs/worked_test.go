package docs_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
// In a table script there are also
//
//	read Users id=1 limit=2 a state table's rows of now, or some of them
//	explain                 the graph
//	reload X := …           another script takes this one's place
//	→ Users update {…}  (key {…}, time 5000)
//	                        a change: table, what it is, row; no key in a stream table,
//	                        "closed by stop" in front of the key if a stop gave it out
//	✗ left late {…}  (in T, time 5000)
//	                        a row that the table T has dropped
//
// where times are milliseconds, or what is above the start of the clock, and are
// left out unless the script has event time.
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
	p := &player{t: t, b: b, sql: head, options: []joinnode.Option{joinnode.WithDiscardLog()}}
	for strings.HasPrefix(p.sql, "join") {
		var option string
		option, p.sql, _ = strings.Cut(p.sql, "\n")
		name, value, _ := strings.Cut(option, " ")
		n, err := strconv.Atoi(value)
		require.NoError(t, err, "%s: %s", b, option)
		set := map[string]func(int) joinnode.Option{"joinMaxKeys": joinnode.WithJoinMaxKeys, "joinMaxRows": joinnode.WithJoinMaxRows}[name]
		require.NotNil(t, set, "%s: %s", b, option)
		p.options = append(p.options, set(n))
	}
	time.Sleep(time.Until(epoch)) // a bubble's clock starts in 2000
	p.q = p.execute(p.sql)
	defer func() { p.q.Stop() }()
	p.out.printf("%s\n\n", head)

	began := time.Now()
	for _, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		if strings.HasPrefix(line, resultMark) || strings.HasPrefix(line, dropMark) || strings.HasPrefix(line, valueMark) {
			continue // put there anew by what really happens
		}
		p.out.printf("%s\n", line)
		step, _, _ := strings.Cut(line, "  #")
		p.step(strings.TrimSpace(step), began)
		synctest.Wait()
	}
	return p.out.String()
}

// player is an example while it runs.
type player struct {
	t       *testing.T
	b       *block
	sql     string
	options []joinnode.Option
	q       *joinnode.Streamsql
	out     transcript
	seq     atomic.Uint64 // of the last result of a script, reloads or not
}

// execute starts a query, whose results go into the transcript.
func (p *player) execute(sql string) *joinnode.Streamsql {
	q := joinnode.New(p.options...)
	require.NoError(p.t, q.Execute(sql), p.b.String())
	timed := strings.Contains(sql, "TIMESTAMP")
	q.AddResultSink(func(r joinnode.Result) {
		if q.IsTableScript() {
			if want := p.seq.Add(1); r.Seq != want { // a sink must not end the test
				p.t.Errorf("%s: result %d has seq %d: results are numbered without a gap", p.b, want, r.Seq)
			}
		}
		p.out.printf("%s%s%s%s\n", resultMark, ofTable(r), strings.TrimSuffix(strings.TrimPrefix(string(r.JSON), "["), "]"), known(r, timed))
	})
	q.AddLateSink(func(r joinnode.LateRow) {
		if !q.IsTableScript() {
			p.out.printf("%s%s %s\n", dropMark, r.Stream, r.Reason)
			return
		}
		p.out.printf("%s%s %s%s\n", dropMark, strings.TrimSpace(r.Stream+" "+r.Reason), r.JSON, droppedBy(r, timed))
	})
	return q
}

// step does what one line says.
func (p *player) step(step string, began time.Time) {
	t := p.t
	word, rest, _ := strings.Cut(step, " ")
	switch word {
	case "":
	case "at":
		d, err := time.ParseDuration(rest)
		require.NoError(t, err, "%s: %s", p.b, step)
		time.Sleep(d - time.Since(began))
		require.Equal(t, d, time.Since(began), "%s: time does not run backwards: %s", p.b, step)
	case "stop":
		p.q.Stop()
	case "stats":
		require.NoError(t, p.q.Drain(context.Background()))
		for _, name := range strings.Fields(rest) {
			stats := p.q.GetStats()
			value, ok := stats[name]
			if !ok {
				value, ok = stats["join_stage1_"+name]
			}
			require.True(t, ok, "%s: no counter %s", p.b, name)
			p.values(fmt.Sprintf("%s %d", name, value))
		}
	case "read":
		p.values(readTable(t, p.q, rest)...)
	case "explain":
		p.values(strings.Split(strings.TrimSpace(p.q.Explain()), "\n")...)
	case "reload":
		next := p.execute(rest)
		a, err := next.Adopt(p.q)
		require.NoError(t, err, "%s: %s", p.b, step)
		p.q = next
		if a.Taken {
			p.values("kept")
		} else {
			p.values("let go: " + a.Differs)
		}
	default:
		require.NoError(t, p.q.EmitJSON(word, []byte(rest)), "%s: %s", p.b, step)
	}
}

func (p *player) values(list ...string) {
	for _, v := range list {
		p.out.printf("%s%s\n", valueMark, v)
	}
}

// ofTable says of a script's row whose it is and what happens to it.
func ofTable(r joinnode.Result) string {
	if r.Table == "" {
		return ""
	}
	return fmt.Sprintf("%s %s ", r.Table, r.Type)
}

// known is what else the engine tells of a result.
func known(r joinnode.Result, timed bool) string {
	var parts []string
	if r.Type == joinnode.LeftUnmatched {
		parts = append(parts, strings.Join(r.Unmatched, " and ")+" NULL", "closed by "+r.ClosedBy)
	}
	if r.Table != "" && r.ClosedBy != "" {
		parts = append(parts, "closed by "+r.ClosedBy)
	}
	if r.Key != nil {
		parts = append(parts, "key "+string(r.Key))
	}
	if r.Table != "" && timed {
		parts = append(parts, "time "+instant(r.TS))
	}
	return remark(parts)
}

// droppedBy says which table of a script has dropped a row, and the row's time.
func droppedBy(r joinnode.LateRow, timed bool) string {
	var parts []string
	if r.Table != "" {
		parts = append(parts, "in "+r.Table)
	}
	if timed && r.TS != 0 {
		parts = append(parts, "time "+instant(r.TS))
	}
	return remark(parts)
}

func remark(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

// instant writes a time in ns since the epoch: in milliseconds or, from the start
// of the clock on, as what is above that.
func instant(ns int64) string {
	if ns >= epoch.UnixNano() {
		return "+" + time.Duration(ns-epoch.UnixNano()).String()
	}
	return strconv.FormatFloat(float64(ns)/float64(time.Millisecond), 'f', -1, 64)
}

// readTable reads a table of a script: its name, then key columns and a limit as
// name=value.
func readTable(t *testing.T, q *joinnode.Streamsql, args string) []string {
	t.Helper()
	fields := strings.Fields(args)
	require.NotEmpty(t, fields)
	choice := joinnode.TableQuery{Key: map[string]any{}}
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		if name != "limit" {
			choice.Key[name] = value
			continue
		}
		var err error
		choice.Limit, err = strconv.Atoi(value)
		require.NoError(t, err)
	}
	text, err := q.TableJSON(nil, fields[0], choice)
	require.NoError(t, err)
	var rows []json.RawMessage
	require.NoError(t, json.Unmarshal(text, &rows))
	if len(rows) == 0 {
		return []string{"nothing"}
	}
	shown := make([]string, len(rows))
	for i, r := range rows {
		shown[i] = string(r)
	}
	return shown
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
