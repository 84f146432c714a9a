package joinnode_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rulego/streamsql/schema"

	"github.com/streamjoin/streamjoin/joinnode"
)

const hotAndShaking = `
SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib
FROM tempStream AS s
JOIN vibrationStream AS v WITHIN 30 SECONDS ON s.deviceId = v.deviceId
WHERE s.temperature > 75 AND v.vibration > 30`

const noAck = `
SELECT c.cmdId, r.ackCode
FROM cmdStream AS c
LEFT JOIN ackStream AS r WITHIN 10 SECONDS ON c.cmdId = r.cmdId
WITH (TIMESTAMP = 'ts')`

func Example() {
	q := joinnode.New()
	if err := q.Execute(hotAndShaking); err != nil {
		fmt.Println(err)
		return
	}
	q.AddSink(func(rows []map[string]any) { fmt.Println(rows) })
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80.5})
	_ = q.EmitTo("vibrationStream", map[string]any{"deviceId": "d1", "vibration": 35.2})
	_ = q.EmitTo("vibrationStream", map[string]any{"deviceId": "d2", "vibration": 99.0})
	q.Stop()
	// Output: [map[deviceId:d1 temp:80.5 vib:35.2]]
}

func ExampleNew() {
	q := joinnode.New(
		joinnode.WithJoinMaxKeys(20000),
		joinnode.WithJoinMaxRows(500000),
		joinnode.WithBufferSizes(4096, 4096, 0),
		joinnode.WithOverflowStrategy("block", 5*time.Second),
		joinnode.WithDiscardLog(),
	)
	fmt.Println(q.Execute(hotAndShaking))
	// Output: <nil>
}

func ExampleStreamsql_Execute() {
	err := joinnode.New().Execute("SELECT a.x\nFROM a JOIN b WITHIN 30 ON a.k = b.k")
	fmt.Println(err)
	var bad *joinnode.SQLError
	fmt.Println(errors.As(err, &bad), bad.Pos.Line, bad.Pos.Col)
	// Output:
	// line 2, column 25: WITHIN 30 has no unit: expected one, found ON
	//   FROM a JOIN b WITHIN 30 ON a.k = b.k
	//                           ^
	// hint: the units are NS, US, MS, SECONDS, MINUTES, HOURS and DAYS
	// true 2 25
}

func ExampleCheck() {
	fmt.Println(joinnode.Check(hotAndShaking))
	fmt.Println(joinnode.Check("SELECT a.x FROM a RIGHT JOIN b WITHIN 1 SECOND ON a.k = b.k"))
	// Output:
	// <nil>
	// line 1, column 19: RIGHT JOIN is not supported
	//   SELECT a.x FROM a RIGHT JOIN b WITHIN 1 SECOND ON a.k = b.k
	//                     ^
	// hint: swap the two streams and use LEFT JOIN
}

func ExampleStreamsql_EmitTo() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	defer q.Stop()
	err := q.EmitTo("tempstream", map[string]any{"deviceId": "d1"})
	fmt.Println(errors.Is(err, joinnode.ErrUnknownStream))
	fmt.Println(err)
	// Output:
	// true
	// unknown input stream "tempstream", known streams: tempStream, vibrationStream
}

func ExampleStreamsql_Emit() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	q.AddSink(func(rows []map[string]any) { fmt.Println(rows) })
	_ = q.EmitTo("vibrationStream", map[string]any{"deviceId": "d1", "vibration": 35})
	q.Emit(map[string]any{"deviceId": "d1", "temperature": 80}) // the FROM stream
	q.Stop()
	// Output: [map[deviceId:d1 temp:80 vib:35]]
}

func ExampleStreamsql_EmitSync() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	defer q.Stop()
	_, err := q.EmitSync(map[string]any{"deviceId": "d1"})
	fmt.Println(errors.Is(err, joinnode.ErrStreamJoin))
	// Output: true
}

func ExampleStreamsql_EmitJSON() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	q.AddJSONSink(func(b []byte) { fmt.Println(string(b)) })
	_ = q.EmitJSON("tempStream", []byte(`[{"deviceId":"d1","temperature":80.50},{"deviceId":"d2","temperature":90}]`))
	_ = q.EmitJSON("vibrationStream", []byte(`{"deviceId":"d1","vibration":31}`))
	fmt.Println(errors.Is(q.EmitJSON("tempStream", []byte(`{"deviceId":`)), joinnode.ErrInvalidJSON))
	q.Stop()
	// Unordered output:
	// true
	// [{"deviceId":"d1","temp":80.50,"vib":31}]
}

func ExampleStreamsql_EmitRows() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	q.AddJSONSink(func(b []byte) { fmt.Println(string(b)) })
	_ = q.EmitRows([]joinnode.JSONRow{
		{Stream: "tempStream", Data: []byte(`{"deviceId":"d1","temperature":80}`)},
		{Stream: "vibrationStream", Data: []byte(`{"deviceId":"d1","vibration":31}`)},
	})
	q.Stop()
	// Output: [{"deviceId":"d1","temp":80,"vib":31}]
}

func ExampleStreamsql_AddResultSink() {
	q := joinnode.New()
	_ = q.Execute(noAck)
	q.AddResultSink(func(r joinnode.Result) {
		fmt.Println(r.Type, r.Unmatched, r.ClosedBy, string(r.JSON))
	})
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": 1, "ts": 1700000000000})
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": 2, "ts": 1700000010001})
	q.Stop()
	// Output:
	// left_unmatched [r] window [{"cmdId":1,"ackCode":null}]
	// left_unmatched [r] stop [{"cmdId":2,"ackCode":null}]
}

func ExampleStreamsql_AddLateSink() {
	q := joinnode.New(joinnode.WithDiscardLog())
	_ = q.Execute(noAck)
	q.AddLateSink(func(r joinnode.LateRow) { fmt.Println(r.Stream, r.Reason, string(r.JSON)) })
	_ = q.EmitJSON("ackStream", []byte(`{"cmdId":1,"ackCode":0,"ts":1700000020000}`))
	_ = q.EmitJSON("ackStream", []byte(`{"cmdId":1,"ackCode":0,"ts":1700000009999}`))
	_ = q.EmitJSON("ackStream", []byte(`{"cmdId":1,"ackCode":0}`))
	q.Stop()
	// Output:
	// ackStream late {"cmdId":1,"ackCode":0,"ts":1700000009999}
	// ackStream bad_timestamp {"cmdId":1,"ackCode":0}
}

func ExampleStreamsql_ToChannel() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	results := q.ToChannel()
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80})
	_ = q.EmitTo("vibrationStream", map[string]any{"deviceId": "d1", "vibration": 31})
	q.Stop()
	for rows := range results {
		fmt.Println(rows)
	}
	// Output: [map[deviceId:d1 temp:80 vib:31]]
}

func ExampleStreamsql_Drain() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	defer q.Stop()
	n := 0
	q.AddSink(func([]map[string]any) { n++ })
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80})
	_ = q.EmitTo("vibrationStream", map[string]any{"deviceId": "d1", "vibration": 31})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(q.Drain(ctx), n)
	// Output: <nil> 1
}

func ExampleStreamsql_Adopt() {
	old, next := joinnode.New(), joinnode.New()
	_ = old.Execute(noAck)
	_ = next.Execute(noAck + " -- edited")
	next.AddJSONSink(func(b []byte) { fmt.Println(string(b)) })
	_ = old.EmitTo("cmdStream", map[string]any{"cmdId": 1, "ts": 1700000000000})
	a, err := next.Adopt(old)
	fmt.Println(a.Taken, err)
	_ = next.EmitTo("ackStream", map[string]any{"cmdId": 1, "ackCode": 0, "ts": 1700000001000})
	next.Stop()
	// Output:
	// true <nil>
	// [{"cmdId":1,"ackCode":0}]
}

func ExampleStreamsql_GetStats() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80})
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 20})
	q.Stop()
	stats := q.GetStats()
	fmt.Println(stats["join_stage1_buffered_rows"], stats["join_stage1_filtered"], stats["join_stage1_matches_emitted"])
	// Output: 0 1 0
}

func ExampleStreamsql_Streams() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	fmt.Println(q.Streams(), q.IsStreamJoinQuery())
	// Output: [tempStream vibrationStream] true
}

func ExampleStreamsql_IsStreamJoinQuery() {
	q := joinnode.New()
	_ = q.Execute("SELECT deviceId FROM tempStream")
	fmt.Println(q.IsStreamJoinQuery())
	// Output: false
}

func ExampleStreamsql_Explain() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	fmt.Print(q.Explain())
	// Output:
	// Project s.deviceId AS deviceId, s.temperature AS temp, v.vibration AS vib
	// └ IntervalJoin stage 1 INNER on s.deviceId = v.deviceId within 30s
	//     left  keeps key (s.deviceId), s.temperature for 30s
	//     right keeps key (v.deviceId), v.vibration for 30s
	//     state ≤ left rate × 30s + right rate × 30s rows; gates a side: 10000 keys, rows unbounded
	//   └ Filter s.temperature > 75 (moved to the input)
	//     └ Stream tempStream AS s reads s.deviceId, s.temperature
	//   └ Filter v.vibration > 30 (moved to the input)
	//     └ Stream vibrationStream AS v reads v.deviceId, v.vibration
	// time: arrival (processing time)
}

func ExampleStreamsql_AddSink() {
	q := joinnode.New()
	q.AddSink(func(rows []map[string]any) { fmt.Println(rows) }) // before Execute or after
	_ = q.Execute("SELECT deviceId FROM tempStream WHERE temperature > 75")
	q.Emit(map[string]any{"deviceId": "d1", "temperature": 80})
	q.Stop()
	// Output: [map[deviceId:d1]]
}

func ExampleStreamsql_AddSyncSink() {
	q := joinnode.New()
	_ = q.Execute("SELECT deviceId FROM tempStream")
	q.AddSyncSink(func(rows []map[string]any) { fmt.Println(rows) })
	q.Emit(map[string]any{"deviceId": "d1"})
	q.Stop()
	// Output: [map[deviceId:d1]]
}

func ExampleStreamsql_AddJSONSink() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	q.AddJSONSink(func(b []byte) { fmt.Println(string(b)) })
	_ = q.EmitJSON("tempStream", []byte(`{"deviceId":"d1","temperature":80.50}`))
	_ = q.EmitJSON("vibrationStream", []byte(`{"deviceId":"d1","vibration":9007199254740993}`))
	q.Stop()
	// Output: [{"deviceId":"d1","temp":80.50,"vib":9007199254740993}]
}

func ExampleStreamsql_PrintTable() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	q.PrintTable()
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80.5})
	_ = q.EmitTo("vibrationStream", map[string]any{"deviceId": "d1", "vibration": 35})
	q.Stop()
	// Output:
	// +----------+------+------+
	// | deviceId | temp | vib  |
	// +----------+------+------+
	// | d1       | 80.5 | 35   |
	// +----------+------+------+
	// (1 rows)
}

func ExampleStreamsql_Stop() {
	q := joinnode.New()
	_ = q.Execute(noAck)
	q.AddJSONSink(func(b []byte) { fmt.Println(string(b)) })
	_ = q.EmitTo("cmdStream", map[string]any{"cmdId": 1, "ts": 1700000000000})
	q.Stop() // what waits is given up, and delivered
	fmt.Println(errors.Is(q.EmitTo("cmdStream", nil), joinnode.ErrStopped))
	// Output:
	// [{"cmdId":1,"ackCode":null}]
	// true
}

func ExampleStreamsql_Done() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	q.AddSink(func(rows []map[string]any) {
		fmt.Println(rows)
		q.Stop() // one result is enough; called from a sink it returns at once
	})
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80})
	_ = q.EmitTo("vibrationStream", map[string]any{"deviceId": "d1", "vibration": 35})
	<-q.Done()
	// Output: [map[deviceId:d1 temp:80 vib:35]]
}

func ExampleStreamsql_GetDetailedStats() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	detailed := q.GetDetailedStats()
	fmt.Println(detailed["drop_rate"], detailed["basic_stats"].(map[string]int64)["input_count"])
	q.Stop()
	// Output: 0 0
}

func ExampleStreamsql_Metrics() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80})
	q.Stop()
	fmt.Println(q.Metrics().Counter("input_count").Value())
	// Output: 1
}

func ExampleStreamsql_SchemaDropped() {
	q := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithSchema(schema.Schema{Name: "reading", Fields: []schema.FieldDef{
		{Name: "temperature", Type: schema.TypeFloat, Required: true},
	}}))
	_ = q.Execute("SELECT temperature FROM tempStream")
	q.Emit(map[string]any{"deviceId": "d1"})
	q.Stop()
	fmt.Println(q.SchemaDropped())
	// Output: 1
}

func ExampleStreamsql_IsAggregationQuery() {
	q := joinnode.New()
	_ = q.Execute("SELECT COUNT(*) AS n FROM tempStream GROUP BY TumblingWindow('10s')")
	fmt.Println(q.IsAggregationQuery())
	// Output: true
}

func ExampleStreamsql_IsCEPQuery() {
	q := joinnode.New()
	_ = q.Execute("SELECT deviceId FROM tempStream")
	fmt.Println(q.IsCEPQuery())
	// Output: false
}

func ExampleStreamsql_TriggerWindow() {
	q := joinnode.New()
	_ = q.Execute("SELECT COUNT(*) AS n FROM tempStream GROUP BY TumblingWindow('1h')")
	results := q.ToChannel()
	q.Emit(map[string]any{"temperature": 80})
	q.TriggerWindow()
	fmt.Println((<-results)[0]["n"])
	q.Stop()
	// Output: 1
}

const placed = "SELECT t.deviceId AS id, d.room AS room FROM tempStream AS t JOIN devices AS d ON t.deviceId = d.deviceId"

func ExampleStreamsql_RegisterTable() {
	q := joinnode.New()
	_ = q.Execute(placed)
	q.AddSink(func(rows []map[string]any) { fmt.Println(rows) })
	fmt.Println(q.Tables(), q.EmitTo("tempStream", map[string]any{"deviceId": "d1"}))
	_, _ = q.RegisterTable("devices", []map[string]any{{"deviceId": "d1", "room": "hall"}}, "deviceId")
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1"})
	q.Stop()
	// Output:
	// [devices] join table "devices" is not registered
	// hint: call RegisterTable("devices", …), or write JOIN devices WITHIN (10 SECONDS) … to join a stream
	// [map[id:d1 room:hall]]
}

func ExampleStreamsql_Tables() {
	q := joinnode.New()
	_ = q.Execute(placed)
	fmt.Println(q.Tables())
	// Output: [devices]
}

// rooms is a table that loads itself.
type rooms struct{}

func (rooms) Name() string { return "devices" }
func (rooms) Init() error  { return nil }
func (rooms) Close() error { return nil }

func (rooms) Lookup(key any) (map[string]any, bool) {
	return map[string]any{"deviceId": key, "room": "hall"}, true
}

func ExampleStreamsql_RegisterTableSource() {
	q := joinnode.New()
	_ = q.Execute(placed)
	q.AddSink(func(rows []map[string]any) { fmt.Println(rows) })
	fmt.Println(q.RegisterTableSource(rooms{}))
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1"})
	q.Stop()
	// Output:
	// <nil>
	// [map[id:d1 room:hall]]
}

func ExampleStreamsql_UpsertTable() {
	q := joinnode.New()
	_ = q.Execute(placed)
	q.AddSink(func(rows []map[string]any) { fmt.Println(rows) })
	_, _ = q.RegisterTable("devices", nil, "deviceId")
	_ = q.UpsertTable("devices", map[string]any{"deviceId": "d1", "room": "yard"})
	_ = q.EmitTo("tempStream", map[string]any{"deviceId": "d1"})
	q.Stop()
	// Output: [map[id:d1 room:yard]]
}

func ExampleStreamsql_Stream() {
	q := joinnode.New()
	_ = q.Execute(hotAndShaking)
	fmt.Println(q.Stream() == nil) // a stream JOIN does not run on streamsql
	// Output: true
}
