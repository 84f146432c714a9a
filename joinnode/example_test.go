package joinnode_test

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	err := joinnode.New().Execute("SELECT a.x FROM a JOIN b WITHIN 30 ON a.k = b.k")
	fmt.Println(err)
	var bad *joinnode.SQLError
	fmt.Println(errors.As(err, &bad), bad.Pos.Line, bad.Pos.Col > 0)
}

func ExampleCheck() {
	fmt.Println(joinnode.Check(hotAndShaking))
	// Output: <nil>
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
