package joinnode_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	original "github.com/rulego/streamsql"
	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/metrics"
	"github.com/rulego/streamsql/schema"
	"github.com/rulego/streamsql/stream"
	"github.com/rulego/streamsql/types"
	"github.com/stretchr/testify/require"

	streamsql "github.com/streamjoin/streamjoin/joinnode" // the one line that a program changes
)

// engine is what streamsql.Streamsql v1.2.0 exports.
type engine interface {
	Execute(sql string) error
	Emit(data map[string]any)
	EmitSync(data map[string]any) (map[string]any, error)
	SchemaDropped() int64
	IsAggregationQuery() bool
	IsCEPQuery() bool
	Stream() *stream.Stream
	TriggerWindow()
	GetStats() map[string]int64
	GetDetailedStats() map[string]any
	Metrics() *metrics.Registry
	Stop()
	AddSink(sink func([]map[string]any))
	AddSyncSink(sink func([]map[string]any))
	PrintTable()
	ToChannel() <-chan []map[string]any
	RegisterTable(name string, rows []map[string]any, keyFields ...string) (*stream.MemoryTableSource, error)
	RegisterTableSource(src stream.TableSource) error
	UpsertTable(name string, row map[string]any) error
}

var (
	_ engine = (*original.Streamsql)(nil)
	_ engine = (*streamsql.Streamsql)(nil)
)

// TestEveryMethodIsThere with the same signature, also those that a later
// version may add.
func TestEveryMethodIsThere(t *testing.T) {
	theirs, ours := reflect.TypeFor[*original.Streamsql](), reflect.TypeFor[*streamsql.Streamsql]()
	require.Equal(t, reflect.TypeFor[engine]().NumMethod(), theirs.NumMethod(), "the list above is that of v1.2.0")
	for i := range theirs.NumMethod() {
		want := theirs.Method(i)
		got, ok := ours.MethodByName(want.Name)
		require.True(t, ok, want.Name)
		require.Equal(t, withoutReceiver(want.Type), withoutReceiver(got.Type), want.Name)
	}
}

func withoutReceiver(method reflect.Type) reflect.Type {
	var in, out []reflect.Type
	for i := 1; i < method.NumIn(); i++ {
		in = append(in, method.In(i))
	}
	for i := range method.NumOut() {
		out = append(out, method.Out(i))
	}
	return reflect.FuncOf(in, out, method.IsVariadic())
}

// TestEveryOptionIsThere with the same parameters. The list of names is read
// from the source, so that none is forgotten here.
func TestEveryOptionIsThere(t *testing.T) {
	options := map[string][2]any{
		"WithLogLevel":              {original.WithLogLevel, streamsql.WithLogLevel},
		"WithDiscardLog":            {original.WithDiscardLog, streamsql.WithDiscardLog},
		"WithLogger":                {original.WithLogger, streamsql.WithLogger},
		"WithHighPerformance":       {original.WithHighPerformance, streamsql.WithHighPerformance},
		"WithLowLatency":            {original.WithLowLatency, streamsql.WithLowLatency},
		"WithCustomPerformance":     {original.WithCustomPerformance, streamsql.WithCustomPerformance},
		"WithBufferSizes":           {original.WithBufferSizes, streamsql.WithBufferSizes},
		"WithOverflowStrategy":      {original.WithOverflowStrategy, streamsql.WithOverflowStrategy},
		"WithWorkerConfig":          {original.WithWorkerConfig, streamsql.WithWorkerConfig},
		"WithMonitoring":            {original.WithMonitoring, streamsql.WithMonitoring},
		"WithSchema":                {original.WithSchema, streamsql.WithSchema},
		"WithAnalyticMaxPartitions": {original.WithAnalyticMaxPartitions, streamsql.WithAnalyticMaxPartitions},
		"WithGroupMaxPartitions":    {original.WithGroupMaxPartitions, streamsql.WithGroupMaxPartitions},
		"WithWindowMaxRows":         {original.WithWindowMaxRows, streamsql.WithWindowMaxRows},
	}
	exported := optionsOf(t, "github.com/rulego/streamsql")
	require.Len(t, options, len(exported))
	for _, name := range exported {
		require.Contains(t, options, name)
		theirs, ours := reflect.TypeOf(options[name][0]), reflect.TypeOf(options[name][1])
		require.Equal(t, theirs.NumIn(), ours.NumIn(), name)
		for i := range theirs.NumIn() {
			require.Equal(t, theirs.In(i), ours.In(i), name)
		}
		require.Equal(t, reflect.TypeFor[streamsql.Option](), ours.Out(0), name)
	}
}

// optionsOf lists the With… functions in the source of a package.
func optionsOf(t *testing.T, path string) (names []string) {
	t.Helper()
	pkg, err := build.Import(path, ".", build.FindOnly)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(pkg.Dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "With") {
				names = append(names, f.Name.Name)
			}
		}
	}
	require.NotEmpty(t, names)
	return names
}

// program is code as it is written against streamsql: only the import at the
// top of this file is another one.
func program() ([]map[string]any, error) {
	ssql := streamsql.New(
		streamsql.WithLogger(logger.NewDiscardLogger()),
		streamsql.WithHighPerformance(),
		streamsql.WithBufferSizes(100, 100, 100),
		streamsql.WithSchema(schema.Schema{Name: "in", Fields: []schema.FieldDef{{Name: "v", Type: schema.TypeFloat, Required: true}}}),
	)
	defer ssql.Stop()
	if err := ssql.Execute("SELECT deviceId, v * 2 AS twice FROM stream WHERE v > 1"); err != nil {
		return nil, err
	}
	var rows []map[string]interface{}
	ssql.AddSyncSink(func(results []map[string]interface{}) { rows = append(rows, results...) })
	ssql.Emit(map[string]interface{}{"deviceId": "d1", "v": 1.0})
	ssql.Emit(map[string]interface{}{"deviceId": "d1", "v": 2.0})
	ssql.Emit(map[string]interface{}{"deviceId": "d1"})
	ssql.Stop()
	return append(rows, map[string]any{"dropped": ssql.SchemaDropped()}), nil
}

func TestProgramWrittenForStreamsql(t *testing.T) {
	rows, err := program()
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"deviceId": "d1", "twice": 4.0}, {"dropped": int64(1)}}, rows)
}

// TestSameAnswersAsStreamsql: the same calls on both, where streamsql's own
// result does not depend on scheduling.
func TestSameAnswersAsStreamsql(t *testing.T) {
	theirs, ours := original.New(original.WithCustomPerformance(types.DefaultPerformanceConfig())), streamsql.New()
	run := func(e engine) (results []map[string]any) {
		defer e.Stop()
		require.NoError(t, e.Execute("SELECT id, d.room AS room FROM s JOIN d ON id = d.id WHERE v > 1"))
		_, err := e.RegisterTable("d", []map[string]any{{"id": 1, "room": "hall"}}, "id")
		require.NoError(t, err)
		require.NoError(t, e.UpsertTable("d", map[string]any{"id": 2, "room": "yard"}))
		require.False(t, e.IsAggregationQuery())
		require.False(t, e.IsCEPQuery())
		require.NotNil(t, e.Stream())
		require.NotNil(t, e.Metrics())
		for id := 1; id <= 3; id++ {
			row, err := e.EmitSync(map[string]any{"id": id, "v": 5})
			require.NoError(t, err)
			results = append(results, row)
		}
		require.Contains(t, e.GetDetailedStats(), "basic_stats")
		require.Contains(t, e.GetStats(), "input_count")
		return results
	}
	want := run(theirs)
	got := run(ours)
	require.Len(t, want, 3)
	require.Equal(t, want, got)
}
