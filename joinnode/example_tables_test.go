package joinnode_test

import (
	"context"
	"fmt"
	"os"

	"github.com/streamjoin/streamjoin/joinnode"
)

// shop returns a running script with two state tables and a few rows in them.
func shop() *joinnode.Streamsql {
	q := joinnode.New(joinnode.WithDiscardLog())
	err := q.Execute(`
		IMPORT Users TIMESTAMP updated;
		Users := DISTINCT Users ON id ORDER BY updated DESC;
		Spending := SELECT customer, sum(total) AS spend FROM Orders GROUP BY customer;`)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, row := range []joinnode.JSONRow{
		{Stream: "Users", Data: []byte(`{"id":1,"name":"Ada","updated":1678299814083}`)},
		{Stream: "Users", Data: []byte(`{"id":2,"name":"Bob","updated":1678299814084}`)},
		{Stream: "Orders", Data: []byte(`{"customer":1,"total":60}`)},
		{Stream: "Orders", Data: []byte(`{"customer":1,"total":50}`)},
	} {
		if err := q.EmitRows([]joinnode.JSONRow{row}); err != nil {
			fmt.Println(err)
		}
	}
	return q
}

// The changes of a state table leave with what they are and the row's key.
func ExampleStreamsql_AddResultSink_tables() {
	q := joinnode.New()
	err := q.Execute(`Spending := SELECT customer, sum(total) AS spend FROM Orders GROUP BY customer;`)
	if err != nil {
		fmt.Println(err)
		return
	}
	q.AddResultSink(func(r joinnode.Result) { fmt.Printf("%s %s %s %s\n", r.Table, r.Type, r.Key, r.JSON) })
	for _, row := range []string{`{"customer":1,"total":60}`, `{"customer":2,"total":5}`, `{"customer":1,"total":50}`} {
		if err := q.EmitJSON("Orders", []byte(row)); err != nil {
			fmt.Println(err)
		}
	}
	q.Stop()
	// Output:
	// Spending insert {"customer":1} [{"customer":1,"spend":60}]
	// Spending insert {"customer":2} [{"customer":2,"spend":5}]
	// Spending update {"customer":1} [{"customer":1,"spend":110}]
}

func ExampleStreamsql_Table() {
	q := shop()
	defer q.Stop()
	rows, err := q.Table("Spending")
	fmt.Println(rows, err)
	// Output:
	// [map[customer:1 spend:110]] <nil>
}

func ExampleStreamsql_QueryTable() {
	q := shop()
	defer q.Stop()
	rows, err := q.QueryTable("Users", joinnode.TableQuery{Key: map[string]any{"id": 2}})
	fmt.Println(rows[0]["name"], err)
	// Output:
	// Bob <nil>
}

func ExampleStreamsql_TableJSON() {
	q := shop()
	defer q.Stop()
	rows, err := q.TableJSON(nil, "Users", joinnode.TableQuery{Limit: 1})
	fmt.Println(string(rows), err)
	// Output:
	// [{"id":1,"name":"Ada","updated":1678299814083}] <nil>
}

func ExampleStreamsql_ScriptTables() {
	q := shop()
	defer q.Stop()
	for _, t := range q.ScriptTables() {
		fmt.Println(t.Name, t.Kind, t.Key, t.Bound)
	}
	// Output:
	// Users state [id] one row for each key
	// Spending state [customer] one row for each group
}

func ExampleStreamsql_IsTableScript() {
	q := shop()
	fmt.Println(q.IsTableScript(), q.IsStreamJoinQuery(), q.Streams())
	if err := q.Drain(context.Background()); err != nil {
		fmt.Println(err)
	}
	q.Stop()
	// Output:
	// true false [Users Orders]
}
