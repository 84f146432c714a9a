package joinnode_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model"
)

// TestGolden runs the text files of testdata; -rewrite writes them anew. Their
// commands:
//
//	query [max-keys=n] [max-rows=n]   the SQL of a new engine; prints its error or ok
//	emit                              lines "stream row"; prints the results, each as the bytes it left as
//	advance 10s                       lets the clock pass; prints the results
//	stop                              prints the last results
//	stats name…                       counters and gauges of stage 1 unless the name says otherwise
//	late                              the late output so far
//	explain                           the operator graph
//	tables                            a script's tables: kind, key, bound
//	table name [limit=n] [key=value]  the rows of a script's state table
//	check                             one statement per paragraph; prints error or ok
//	where                             a row, then conditions on a: true, false or unknown
//	project                           a row, then expressions on a: what they become
//
// The clock starts at 2023-11-14T22:13:20Z, which is 1700000000 s.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			g := &golden{}
			defer g.stop()
			datadriven.RunTest(t, file, g.run)
		})
	}
}

// golden is the engine that a file talks to.
type golden struct {
	engine *joinnode.Streamsql
	clock  *testClock
	now    int64
	out    bytes.Buffer // results since the last command; the emitter writes, Drain and Stop order it
	late   bytes.Buffer
}

func (g *golden) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "query":
		return g.query(t, d)
	case "emit":
		return g.emit(t, d.Input)
	case "advance":
		by, err := time.ParseDuration(d.CmdArgs[0].Key)
		require.NoError(t, err, d.Pos)
		g.now += int64(by)
		g.clock.Set(g.now)
		require.NoError(t, g.engine.Drain(t.Context()))
		return g.results()
	case "stop":
		g.engine.Stop()
		return g.results()
	case "stats":
		return g.stats(d)
	case "late":
		defer g.late.Reset()
		return g.late.String()
	case "explain":
		return g.engine.Explain()
	case "tables":
		return listTables(g.engine)
	case "table":
		return readTable(g.engine, d.CmdArgs)
	case "check":
		return check(d.Input)
	case "where":
		return eachExpression(d.Input, truth)
	case "project":
		return eachExpression(d.Input, projected)
	}
	d.Fatalf(t, "unknown command %s", d.Cmd)
	return ""
}

func listTables(engine *joinnode.Streamsql) string {
	var b strings.Builder
	for _, t := range engine.ScriptTables() {
		fmt.Fprintf(&b, "%s %s %v: %s\n", t.Kind, t.Name, t.Key, t.Bound)
	}
	return b.String()
}

func readTable(engine *joinnode.Streamsql, args []datadriven.CmdArg) string {
	choice := joinnode.TableQuery{Key: map[string]any{}}
	for _, a := range args[1:] {
		if a.Key == "limit" {
			n, err := strconv.Atoi(a.Vals[0])
			if err != nil {
				return err.Error()
			}
			choice.Limit = n
			continue
		}
		choice.Key[a.Key] = a.Vals[0]
	}
	rows, err := engine.TableJSON(nil, args[0].Key, choice)
	if err != nil {
		return err.Error()
	}
	return string(rows)
}

func (g *golden) stop() {
	if g.engine != nil {
		g.engine.Stop()
	}
}

func (g *golden) query(t *testing.T, d *datadriven.TestData) string {
	g.stop()
	g.now = model.Epoch
	g.clock = newTestClock(g.now)
	g.out.Reset()
	g.late.Reset()
	opts := []joinnode.Option{joinnode.WithDiscardLog(), joinnode.WithClock(g.clock)}
	var n int
	if d.HasArg("max-keys") {
		d.ScanArgs(t, "max-keys", &n)
		opts = append(opts, joinnode.WithJoinMaxKeys(n))
	}
	if d.HasArg("max-rows") {
		d.ScanArgs(t, "max-rows", &n)
		opts = append(opts, joinnode.WithJoinMaxRows(n))
	}
	g.engine = joinnode.New(opts...)
	if err := g.engine.Execute(d.Input); err != nil {
		g.engine = nil
		return err.Error()
	}
	g.engine.AddResultSink(func(r joinnode.Result) {
		if r.Table != "" {
			fmt.Fprintf(&g.out, "%s %s%s %s @%dms\n", r.Table, r.Type, r.Key, r.JSON[1:len(r.JSON)-1], r.TS/int64(time.Millisecond))
			return
		}
		fmt.Fprintf(&g.out, "%s", r.JSON)
		if r.Type != joinnode.JoinMatched {
			g.out.WriteString(known(string(r.Type), r.Unmatched, r.ClosedBy))
		}
		g.out.WriteByte('\n')
	})
	g.engine.AddLateSink(func(l joinnode.LateRow) {
		if g.engine.IsTableScript() {
			fmt.Fprintf(&g.late, "%q %q %s @%dms %s\n", l.Stream, l.Table, l.Reason, l.TS/int64(time.Millisecond), l.JSON)
			return
		}
		fmt.Fprintf(&g.late, "%q %s ts=%s watermark=%s %s\n", l.Stream, l.Reason, sinceEpoch(l.TS), sinceEpoch(l.Watermark), l.JSON)
	})
	return "ok"
}

func sinceEpoch(ns int64) string {
	if ns == 0 {
		return "none"
	}
	return time.Duration(ns - model.Epoch).String()
}

// emit sends one row a line. Errors stand among the results.
func (g *golden) emit(t *testing.T, input string) string {
	require.NotNil(t, g.engine, "the query before it failed")
	lines := bufio.NewScanner(strings.NewReader(input))
	for lines.Scan() {
		stream, row, _ := strings.Cut(lines.Text(), " ")
		err := g.engine.EmitJSON(stream, []byte(row))
		require.NoError(t, g.engine.Drain(t.Context()))
		if err != nil {
			fmt.Fprintf(&g.out, "error: %v\n", err)
		}
	}
	require.NoError(t, lines.Err())
	return g.results()
}

func (g *golden) results() string {
	defer g.out.Reset()
	return g.out.String()
}

func (g *golden) stats(d *datadriven.TestData) string {
	stats := g.engine.GetStats()
	var b strings.Builder
	for _, arg := range d.CmdArgs {
		name := arg.Key
		if arg.Key == "all" {
			names := []string{}
			for name := range stats {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				fmt.Fprintln(&b, name)
			}
			continue
		}
		if _, ok := stats[name]; !ok {
			name = "join_stage1_" + name
		}
		value, ok := stats[name]
		if !ok {
			fmt.Fprintf(&b, "%s is missing\n", arg.Key)
			continue
		}
		if strings.HasSuffix(name, "_watermark") {
			fmt.Fprintf(&b, "%s %s\n", arg.Key, sinceEpoch(value))
			continue
		}
		fmt.Fprintf(&b, "%s %d\n", arg.Key, value)
	}
	return b.String()
}

// check checks one statement per paragraph.
func check(input string) string {
	var b strings.Builder
	for i, sql := range strings.Split(input, "\n\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := joinnode.Check(sql); err != nil {
			fmt.Fprintln(&b, err)
			var located *joinnode.SQLError
			if !errors.As(err, &located) {
				b.WriteString("(no place)\n")
			}
			continue
		}
		b.WriteString("ok\n")
	}
	return b.String()
}

// eachExpression evaluates every line behind the first, which is the row.
func eachExpression(input string, eval func(row, expr string) string) string {
	row, exprs, _ := strings.Cut(input, "\n")
	var b strings.Builder
	for _, expr := range strings.Split(exprs, "\n") {
		fmt.Fprintf(&b, "%s\n", eval(row, expr))
	}
	return b.String()
}

// truth tells true, false and unknown apart by asking for NOT as well.
func truth(row, expr string) string {
	passes := func(condition string) (bool, int64, error) {
		results, stats, err := evaluate("a.id", " WHERE "+condition, row)
		return results != "", stats["join_stage1_type_mismatch"], err
	}
	isTrue, mismatch, err := passes(expr)
	if err != nil {
		return err.Error()
	}
	isFalse, _, err := passes("NOT (" + expr + ")")
	if err != nil {
		return err.Error()
	}
	text := map[[2]bool]string{{true, false}: "true", {false, true}: "false", {false, false}: "unknown", {true, true}: "both?"}[[2]bool{isTrue, isFalse}]
	if mismatch > 0 {
		text += ", type mismatch"
	}
	return text
}

func projected(row, expr string) string {
	if !strings.Contains(expr, "*") || strings.Contains(expr, " * ") {
		expr += " AS r"
	}
	results, _, err := evaluate(expr, "", row)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(results)
}

// evaluate runs one row of a through a join that it passes.
func evaluate(items, where, row string) (string, map[string]int64, error) {
	e := joinnode.New(joinnode.WithDiscardLog())
	if err := e.Execute("SELECT " + items + " FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.kk = b.kk" + where); err != nil {
		return "", nil, err
	}
	defer e.Stop()
	var out bytes.Buffer
	e.AddJSONSink(func(text []byte) { fmt.Fprintf(&out, "%s\n", text) })
	if err := e.EmitJSON("sa", []byte(row)); err != nil {
		return "", nil, err
	}
	if err := e.EmitJSON("sb", []byte(`{}`)); err != nil {
		return "", nil, err
	}
	e.Stop()
	return out.String(), e.GetStats(), nil
}
