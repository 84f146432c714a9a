package joinnode_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/schema"
	"github.com/rulego/streamsql/types"

	"github.com/streamjoin/streamjoin/joinnode"
)

func ExampleWithLogLevel() {
	q := joinnode.New(joinnode.WithLogLevel(logger.ERROR)) // warnings of this engine are not logged
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleWithDiscardLog() {
	q := joinnode.New(joinnode.WithDiscardLog())
	q.Emit(map[string]any{"deviceId": "d1"}) // would be a warning: Execute was not called
	fmt.Println("silence")
	// Output: silence
}

func ExampleWithLogger() {
	q := joinnode.New(joinnode.WithLogger(logger.NewLogger(logger.WARN, os.Stderr)))
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleWithHighPerformance() {
	// The single option goes before the preset, in whatever order they stand.
	q := joinnode.New(joinnode.WithBufferSizes(64, 64, 0), joinnode.WithHighPerformance())
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleWithLowLatency() {
	q := joinnode.New(joinnode.WithLowLatency())
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleWithCustomPerformance() {
	config := types.DefaultPerformanceConfig()
	config.BufferConfig.DataChannelSize = 4096
	config.OverflowConfig.Strategy = "block" // streamsql's own default would drop
	q := joinnode.New(joinnode.WithCustomPerformance(config))
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleWithBufferSizes() {
	q := joinnode.New(joinnode.WithBufferSizes(-1, 0, 0))
	err := q.Execute(hotAndShaking)
	fmt.Println(errors.Is(err, joinnode.ErrOption))
	fmt.Println(err)
	// Output:
	// true
	// invalid option: buffer sizes -1, 0, 0 must not be negative
}

func ExampleWithOverflowStrategy() {
	q := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithBufferSizes(1, 1, 0), joinnode.WithOverflowStrategy("drop", 0))
	_ = q.Execute(hotAndShaking)
	busy, release := make(chan bool), make(chan bool)
	q.AddSink(func([]map[string]any) { busy <- true; <-release })
	_ = q.EmitRows([]joinnode.JSONRow{ // a group is never torn apart
		{Stream: "tempStream", Data: []byte(`{"deviceId":"d1","temperature":80}`)},
		{Stream: "vibrationStream", Data: []byte(`{"deviceId":"d1","vibration":31}`)},
	})
	<-busy // a result waits in the sink
	err := q.EmitTo("tempStream", map[string]any{"deviceId": "d2"})
	fmt.Println(err, q.GetStats()["join_stage1_input_dropped"])
	close(release)
	q.Stop()
	// Output: <nil> 1
}

func ExampleWithWorkerConfig() {
	q := joinnode.New(joinnode.WithWorkerConfig(4, 2, 10)) // accepted, without effect
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleWithMonitoring() {
	q := joinnode.New(joinnode.WithMonitoring(time.Second, true)) // accepted; counters are always on
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleWithSchema() {
	q := joinnode.New(joinnode.WithSchema(schema.Schema{Name: "reading", Fields: []schema.FieldDef{
		{Name: "deviceId", Type: schema.TypeString, Required: true},
	}}))
	_ = q.Execute(hotAndShaking)
	fmt.Println(q.EmitJSON("tempStream", []byte(`{"temperature":80}`)))
	q.Stop()
	// Output: schema validation failed: schema "reading": required field "deviceId" is missing
}

func ExampleWithAnalyticMaxPartitions() {
	q := joinnode.New(joinnode.WithAnalyticMaxPartitions(50000))
	fmt.Println(q.Execute("SELECT deviceId, lag(v) OVER (PARTITION BY deviceId) AS before FROM readings"))
	// Output: <nil>
}

func ExampleWithGroupMaxPartitions() {
	q := joinnode.New(joinnode.WithGroupMaxPartitions(50000))
	fmt.Println(q.Execute("SELECT deviceId, COUNT(*) AS n FROM readings GROUP BY deviceId, TumblingWindow('10s')"))
	// Output: <nil>
}

func ExampleWithWindowMaxRows() {
	q := joinnode.New(joinnode.WithWindowMaxRows(300000))
	fmt.Println(q.Execute("SELECT COUNT(*) AS n FROM readings GROUP BY TumblingWindow('30s')"))
	// Output: <nil>
}

func ExampleWithJoinMaxKeys() {
	q := joinnode.New(joinnode.WithJoinMaxKeys(1), joinnode.WithDiscardLog())
	_ = q.Execute(noAck)
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": 1, "ts": 1700000000000})
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": 2, "ts": 1700000000000})
	q.AddJSONSink(func(b []byte) { fmt.Println(string(b)) })
	q.Stop()
	fmt.Println(q.GetStats()["join_stage1_keys_evicted"])
	// Output:
	// [{"cmdId":2,"ackCode":null}]
	// 1
}

func ExampleWithJoinMaxRows() {
	q := joinnode.New(joinnode.WithJoinMaxRows(1), joinnode.WithDiscardLog())
	_ = q.Execute(noAck)
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": 1, "ts": 1700000000000})
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": 2, "ts": 1700000000000})
	q.Stop()
	fmt.Println(q.GetStats()["join_stage1_rows_dropped"])
	// Output: 1
}

func ExampleWithJoinMaxBytes() {
	q := joinnode.New(joinnode.WithJoinMaxBytes(1<<20), joinnode.WithDiscardLog())
	_ = q.Execute(noAck)
	long := strings.Repeat("a long name ", 50000) // 600 kB
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": "1", "ts": 1700000000000})
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": long, "ts": 1700000000000})
	q.Stop()
	fmt.Println(q.GetStats()["join_stage1_memory_dropped"])
	// Output: 1
}

// frozen is a clock that stands still.
type frozen struct{}

func (frozen) Now() time.Time { return time.Unix(1700000000, 0) }

func (frozen) AfterFunc(time.Duration, func()) joinnode.Timer { return never{} }

type never struct{}

func (never) Stop() bool { return true }

func ExampleWithClock() {
	q := joinnode.New(joinnode.WithClock(frozen{}))
	_ = q.Execute(hotAndShaking)
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80})
	q.Stop()
	fmt.Println(time.Unix(0, q.GetStats()["join_stage1_left_watermark"]).UTC())
	// Output: 2023-11-14 22:13:20 +0000 UTC
}
