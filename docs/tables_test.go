package docs_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rulego/streamsql/functions"
	"github.com/rulego/streamsql/logger"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// TestConfigurationTable compares the table of the node's fields with its form.
func TestConfigurationTable(t *testing.T) {
	var shown, has []string
	for _, row := range readPage(t, "README.md").table(t, "Configuration of the node") {
		shown = append(shown, strings.TrimSpace(strings.Join(code(row[0]), "")+" "+strings.Join(code(row[2]), "")))
	}
	for _, f := range streamaggregator.New().Def().Fields {
		value := ""
		if f.Name != "tables" {
			value = fmt.Sprint(f.DefaultValue)
		}
		has = append(has, strings.TrimSpace(f.Name+" "+value))
	}
	require.Equal(t, has, shown)
}

// TestMetadataTables compares the relations, the metadata and their values with
// the constants of the node.
func TestMetadataTables(t *testing.T) {
	readme := readPage(t, "README.md")
	text := readme.prose()
	_, text, _ = strings.Cut(text, "\n## Relations and metadata\n")
	text, _, _ = strings.Cut(text, "\n## ")
	shown := code(text)
	for _, name := range []string{
		"Success", "Failure", streamaggregator.RelationEvent, streamaggregator.RelationLate,
		streamaggregator.MetaQueryType, streamaggregator.MetaResultType, streamaggregator.MetaUnmatched, streamaggregator.MetaClosedBy,
		streamaggregator.MetaTimestamp, streamaggregator.MetaTable, streamaggregator.MetaKey, streamaggregator.MetaSeq, streamaggregator.MetaStream, streamaggregator.MetaReason, streamaggregator.MetaTS, streamaggregator.MetaWatermark,
		streamaggregator.QueryStreamJoin, streamaggregator.QueryAggregation, streamaggregator.QueryCEP, streamaggregator.QuerySelect, streamaggregator.QueryTable,
		string(joinnode.JoinMatched), string(joinnode.LeftUnmatched), string(joinnode.WindowTriggered), string(joinnode.PatternMatched), string(joinnode.RowSelected),
		string(joinnode.RowInserted), string(joinnode.RowUpdated), string(joinnode.RowDeleted),
	} {
		require.Contains(t, shown, name)
	}
	require.Equal(t, *streamaggregator.New().Def().RelationTypes, []string{"Success", "Failure", "stream_event", "stream_late"})
}

// TestCounterTable compares the table of counters with those of a query.
func TestCounterTable(t *testing.T) {
	q := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, q.Execute("SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k"))
	defer q.Stop()
	readme := readPage(t, "README.md")
	var shown, has []string
	for _, row := range readme.table(t, "Counters") {
		shown = append(shown, code(row[0])...)
	}
	for name := range q.GetStats() {
		if stage, ok := strings.CutPrefix(name, "join_stage1_"); ok {
			has = append(has, stage)
		} else {
			require.Contains(t, readme.prose(), "`"+name+"`")
		}
	}
	slices.Sort(shown)
	slices.Sort(has)
	require.Equal(t, has, shown)
}

// TestCounterTableOfScripts compares the table of counters of table scripts with
// those of a script that has all of them.
func TestCounterTableOfScripts(t *testing.T) {
	q := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, q.Execute("Pairs := SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k"))
	defer q.Stop()
	readme := readPage(t, "README.md")
	var shown, has []string
	for _, row := range readme.table(t, "Counters of table scripts") {
		shown = append(shown, code(row[0])...)
	}
	for name := range q.GetStats() {
		general := true
		for place, shape := range map[string]string{"table_Pairs_": "table_{table}_", "input_a_": "input_{stream}_", "input_b_": ""} {
			metric, ok := strings.CutPrefix(name, place)
			if general = general && !ok; ok && shape != "" {
				has = append(has, shape+metric)
			}
		}
		if general {
			require.Contains(t, readme.prose(), "`"+name+"`")
		}
	}
	require.ElementsMatch(t, has, shown)
}

// TestCounterTableOfStreamSQL compares the table of the counters of queries
// without WITHIN with what such a query counts: beside what every query has, and
// what StreamSQL says of its channels and workers, which have nothing to do here.
func TestCounterTableOfStreamSQL(t *testing.T) {
	q := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, q.Execute("SELECT COUNT(*) AS n FROM s GROUP BY TumblingWindow('10s')"))
	require.NoError(t, q.EmitTo("s", map[string]any{}))
	q.Stop()
	var shown, has []string
	for _, row := range readPage(t, "docs/sql.md").table(t, "Counters of these queries") {
		shown = append(shown, code(row[0])...)
	}
	readme := readPage(t, "README.md").prose()
	for name := range q.GetStats() {
		channel := strings.HasSuffix(name, "_len") || strings.HasSuffix(name, "_cap") ||
			slices.Contains([]string{"expanding", "active_retries", "bufferUsed", "droppedCount", "rowsDroppedCount"}, name)
		ofJoins := slices.Contains([]string{"late_dropped", "bad_timestamp", "future_timestamp"}, name)
		if ofJoins || !channel && !strings.Contains(readme, "`"+name+"`") {
			has = append(has, name)
		}
	}
	require.ElementsMatch(t, has, shown)
}

// TestAdvice provokes every loss that one query can have and compares the
// warnings with the table.
func TestAdvice(t *testing.T) {
	log := &lines{}
	q := joinnode.New(joinnode.WithLogger(log), joinnode.WithJoinMaxKeys(2), joinnode.WithJoinMaxRows(2))
	require.NoError(t, q.Execute("SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k WHERE a.x IS NULL OR a.x > 1 WITH (TIMESTAMP = 'ts', TIMEUNIT = 'ms')"))
	for _, row := range []string{
		`{"k":1,"ts":100000}`, `{"k":2,"ts":100000}`, // both keys
		`{"k":2,"ts":100000}`, // one row too many
		`{"k":2,"ts":1000}`, `{"k":2}`, `{"k":1,"ts":100000,"x":"text"}`,
		fmt.Sprintf(`{"k":2,"ts":%d}`, time.Now().Add(48*time.Hour).UnixMilli()),
	} {
		require.NoError(t, q.EmitJSON("a", []byte(row)))
	}
	q.Stop()
	// What joinMaxBytes refuses needs a row of its size, with room among the rows.
	q = joinnode.New(joinnode.WithLogger(log), joinnode.WithJoinMaxBytes(joinnode.MinJoinMaxBytes))
	require.NoError(t, q.Execute("SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k"))
	require.NoError(t, q.EmitJSON("a", []byte(`{"k":1,"x":"`+strings.Repeat("x", joinnode.MinJoinMaxBytes)+`"}`)))
	q.Stop()
	// Evictions need a gate of their own: here joinMaxRows comes first.
	q = joinnode.New(joinnode.WithLogger(log), joinnode.WithJoinMaxKeys(1))
	require.NoError(t, q.Execute("SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k"))
	require.NoError(t, q.EmitJSON("a", []byte(`[{"k":1},{"k":2}]`)))
	q.Stop()

	said := strings.Join(log.all(), "\n")
	checked := 0
	for _, row := range readPage(t, "README.md").table(t, "Counters") {
		for _, name := range code(row[0]) {
			if strings.Contains(said, "counter "+name+")") {
				require.Contains(t, said, "counter "+name+"); "+row[2])
				checked++
			}
		}
	}
	require.Equal(t, 7, checked, said)
}

// TestFunctionTable compares the table of functions with StreamSQL's registry:
// exactly the scalar ones are there.
func TestFunctionTable(t *testing.T) {
	var shown, has []string
	for _, row := range readPage(t, "docs/sql.md").table(t, "Functions") {
		shown = append(shown, code(row[1])...)
	}
	for name := range functions.ListAll() {
		args := []string{"a.x", "a.x, a.y", "a.x, a.y, a.z", "a.x, a.y, a.z, a.u", ""}
		if slices.ContainsFunc(args, func(args string) bool {
			return joinnode.Check("SELECT "+name+"("+args+") AS r FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k") == nil
		}) {
			has = append(has, name)
		}
	}
	slices.Sort(shown)
	slices.Sort(has)
	require.Equal(t, has, shown)
}

// TestOptionTable compiles a query with each option of the table.
func TestOptionTable(t *testing.T) {
	values := map[string]string{"TIMESTAMP": "ts", "TIMEUNIT": "ms", "IDLETIMEOUT": "30s", "MAXFUTURESKEW": "0"}
	rows := readPage(t, "docs/sql.md").table(t, "WITH")
	require.Len(t, rows, len(values))
	for _, row := range rows {
		name := code(row[0])[0]
		require.Contains(t, values, name)
		require.NoError(t, joinnode.Check("SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k WITH ("+name+" = '"+values[name]+"')"))
	}
	for _, unit := range code(rows[1][1]) {
		require.NoError(t, joinnode.Check("SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k WITH (TIMESTAMP = 'ts', TIMEUNIT = '"+unit+"')"))
	}
}

// TestTimeFunctionTable: the functions of the time package are there in stream
// joins and in table scripts.
func TestTimeFunctionTable(t *testing.T) {
	checked := 0
	for _, row := range readPage(t, "docs/sql.md").tables("Functions")[1] {
		for _, name := range code(row[0]) {
			call := name + "(a.t)"
			if name == "atZone" {
				call = name + "(a.t, 'UTC')"
			}
			require.NoError(t, joinnode.Check("SELECT "+call+" AS r FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k"))
			require.NoError(t, joinnode.Check("X := SELECT "+call+" AS r FROM a"))
			require.ErrorContains(t, joinnode.Check("SELECT "+call+" AS r FROM a"), "unknown function")
			checked++
		}
	}
	require.Equal(t, 14, checked)
}

// TestWhichStatementRunsWhere executes the statements of the table.
func TestWhichStatementRunsWhere(t *testing.T) {
	rows := readPage(t, "docs/sql.md").tables("Which statement runs where")[1]
	require.Len(t, rows, 15)
	for _, row := range rows {
		q := joinnode.New(joinnode.WithDiscardLog())
		require.NoError(t, q.Execute(code(row[0])[0]), row[0])
		runs := "StreamSQL"
		switch {
		case q.IsTableScript():
			runs = "table script"
		case q.IsStreamJoinQuery():
			runs = "stream join"
		}
		require.Equal(t, row[1], runs, row[0])
		q.Stop()
	}
}

// TestOptionsByKind gives each kind of query each option.
func TestOptionsByKind(t *testing.T) {
	values := map[string]string{"TIMESTAMP": "ts", "TIMEUNIT": "ms", "TIMEZONE": "UTC"}
	frames := []string{ // by column
		"SELECT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k WITH ({})",
		"IMPORT a WITH ({}); SELECT x FROM a",
		"X := SELECT DISTINCT a.x FROM a JOIN b WITHIN 5 SECONDS ON a.k = b.k WITH ({})",
		"SELECT COUNT(*) AS n FROM s GROUP BY TumblingWindow('10s') WITH ({})",
	}
	rows := readPage(t, "docs/sql.md").tables("WITH")[1]
	require.Len(t, rows, 8)
	for _, row := range rows {
		name := code(row[0])[0]
		value := "10s"
		if v, ok := values[name]; ok {
			value = v
		}
		for i, frame := range frames {
			err := joinnode.Check(strings.Replace(frame, "{}", name+" = '"+value+"'", 1))
			if row[i+1] == "no" {
				require.ErrorContains(t, err, name, "%s in %s", name, frame)
			} else {
				require.NoError(t, err, "%s in %s", name, frame)
			}
		}
	}
}

// TestReservedWords: every word of the list needs backquotes as the name of a
// stream, and with them it works.
func TestReservedWords(t *testing.T) {
	_, list, _ := strings.Cut(readPage(t, "docs/sql.md").prose(), "\nReserved: ")
	list, _, _ = strings.Cut(list, "\n\n")
	words := code(list)
	require.Greater(t, len(words), 30)
	for _, word := range words {
		const tail = " AS a JOIN b WITHIN 5 SECONDS ON a.k = b.k"
		require.Error(t, joinnode.Check("SELECT a.x FROM "+word+tail), word)
		require.NoError(t, joinnode.Check("SELECT a.x FROM `"+word+"`"+tail), word)
	}
}

// lines is a logger that keeps what it is told.
type lines struct {
	mu   sync.Mutex
	text []string
}

var _ logger.Logger = (*lines)(nil)

func (l *lines) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.text)
}

func (l *lines) Debug(string, ...any)             {}
func (l *lines) Info(string, ...any)              {}
func (l *lines) Warn(format string, args ...any)  { l.add(format, args...) }
func (l *lines) Error(format string, args ...any) { l.add(format, args...) }
func (l *lines) SetLevel(logger.Level)            {}
