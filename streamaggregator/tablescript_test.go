package streamaggregator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// These tests run the node with table scripts in the real query engine. The input
// never becomes idle, so the real clock has no part in what comes out.

const ordersScript = `
	IMPORT Orders TIMESTAMP time IDLETIMEOUT '0';
	Latest := DISTINCT Orders ON customer ORDER BY time DESC;
	Recent := SELECT customer, sum(total) AS spend FROM Orders WHERE time > now() - INTERVAL 10 SECOND GROUP BY customer;
	Minutes := SELECT customer, endOfMinute(time) AS minute, count(*) AS orders FROM Orders GROUP BY customer, minute;
	Big := SELECT customer, total FROM Orders WHERE total >= 100;
	Total := SELECT count(*) AS n FROM Orders;
	EXPORT Latest TO stream_event;
	EXPORT Recent TO stream_event;
	EXPORT Minutes TO stream_event;
	EXPORT Big TO stream_event;`

// scriptChain is a chain of a node "a" with a script, whose results go to "out" and
// whose late rows go to "late".
func scriptChain(t *testing.T, fields map[string]any) string {
	t.Helper()
	return `{"ruleChain":{"id":"c"},"metadata":{"nodes":[
		{"id":"a","type":"x/streamAggregator","configuration":{` + config(t, fields) + `}},
		{"id":"out","type":"test/collect"},{"id":"late","type":"test/collect"}],
		"connections":[{"fromId":"a","toId":"out","type":"stream_event"},{"fromId":"a","toId":"late","type":"stream_late"}]}}`
}

// eventsAt is the events at one node, in order.
func eventsAt(events []event, node string) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.node != node })
}

// ofTable is the events of one table, each as "resultType key ts payload".
func ofTable(events []event, table string) []string {
	var lines []string
	for _, e := range events {
		if e.meta["table"] == table {
			lines = append(lines, strings.TrimSpace(strings.Join([]string{e.meta["resultType"], e.meta["key"], e.meta["ts"], e.data}, " ")))
		}
	}
	return lines
}

func TestScriptMetadata(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", scriptChain(t, map[string]any{"sql": ordersScript, "lateEvents": true}))
	for _, body := range []string{
		`{"customer":1,"total":60,"time":1700000000000}`,
		`{"customer":1,"total":100,"time":1700000004000}`,
		`{"customer":2,"total":5,"time":1700000015000}`, // now() moves on: both rows of 1 are out of Recent
		`{"customer":2,"total":1,"time":1700000040000}`, // 22:14:00: the minute before leaves
		`[{"customer":1,"total":7,"time":1700000001000,"note":"kept"},{"customer":1,"total":7}]`,
	} {
		require.Equal(t, types.Success, send(t, e, map[string]string{"inherited": "no"}, body).relation)
	}
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
	got := eventsAt(h.out.all(), "out")

	require.Equal(t, []string{
		`insert {"customer":1} 1700000000000000000 [{"customer":1,"total":60,"time":1700000000000}]`,
		`update {"customer":1} 1700000004000000000 [{"customer":1,"total":100,"time":1700000004000}]`,
		`insert {"customer":2} 1700000015000000000 [{"customer":2,"total":5,"time":1700000015000}]`,
		`update {"customer":2} 1700000040000000000 [{"customer":2,"total":1,"time":1700000040000}]`,
	}, ofTable(got, "Latest"), "the older row that came last changes nothing")
	require.ElementsMatch(t, []string{
		`insert {"customer":1} 1700000000000000000 [{"customer":1,"spend":60}]`,
		`update {"customer":1} 1700000004000000000 [{"customer":1,"spend":160}]`,
		`delete {"customer":1} 1700000015000000000 [{"customer":1,"spend":160}]`,
		`insert {"customer":2} 1700000015000000000 [{"customer":2,"spend":5}]`,
		`update {"customer":2} 1700000040000000000 [{"customer":2,"spend":1}]`,
	}, ofTable(got, "Recent"), "two tables' or keys' changes of one moment have no order")
	require.Equal(t, []string{
		`insert  1700000039999000000 [{"customer":1,"minute":1700000039999,"orders":2}]`,
		`insert  1700000039999000000 [{"customer":2,"minute":1700000039999,"orders":1}]`,
		`insert  1700000099999000000 [{"customer":2,"minute":1700000099999,"orders":1}]`,
	}, ofTable(got, "Minutes"), "the last minute leaves at the end")
	require.Equal(t, []string{`insert  1700000004000000000 [{"customer":1,"total":100}]`}, ofTable(got, "Big"))
	require.Len(t, got, 4+5+3+1, "Total is not exported")

	// The metadata has these keys and no others: nothing of the message, no key of what has none.
	for i := range got { // the messages of results come in their order
		if got[i].typ == "stream_event" {
			require.Equal(t, strconv.Itoa(i+1), got[i].meta["seq"])
			delete(got[i].meta, "seq")
		}
	}
	whole := func(table, resultType string) map[string]string {
		i := slices.IndexFunc(got, func(e event) bool { return e.meta["table"] == table && e.meta["resultType"] == resultType })
		require.GreaterOrEqual(t, i, 0)
		require.Equal(t, "stream_event", got[i].typ)
		return got[i].meta
	}
	require.Equal(t, map[string]string{"queryType": "table", "resultType": "delete", "table": "Recent", "key": `{"customer":1}`, "ts": "1700000015000000000"}, whole("Recent", "delete"))
	require.Equal(t, map[string]string{"queryType": "table", "resultType": "insert", "table": "Big", "ts": "1700000004000000000"}, whole("Big", "insert"))
	require.Equal(t, map[string]string{"queryType": "table", "resultType": "insert", "table": "Minutes", "ts": "1700000039999000000", "timestamp": "1700000039999000000"}, whole("Minutes", "insert"))

	require.Equal(t, []event{
		{"late", "stream_late", `{"customer":1,"total":7,"time":1700000001000,"note":"kept"}`,
			map[string]string{"stream": "Orders", "table": "Minutes", "reason": "late", "ts": "1700000001000000000", "watermark": "1700000040000000000"}},
		{"late", "stream_late", `{"customer":1,"total":7}`,
			map[string]string{"stream": "Orders", "reason": "bad_timestamp", "ts": "0", "watermark": "1700000040000000000"}},
	}, eventsAt(h.out.all(), "late"), "a row that one table cannot use names it; one that none can has no table")
}

// An element that is no object is handed out once for each table that looks into the
// array, and the rest of the row is used.
func TestScriptBadElements(t *testing.T) {
	const script = `
		Orders.sums := SELECT sum(total) AS price FROM @.items;
		Spending := SELECT o.customer, sum(i.total) AS spend FROM Orders o JOIN o.items i GROUP BY o.customer;
		Prices := SELECT o.customer, s.price FROM Orders o JOIN o.sums s;
		EXPORT Spending TO stream_event;
		EXPORT Prices TO stream_event;`
	for _, lateEvents := range []bool{true, false} {
		t.Run(fmt.Sprint(lateEvents), func(t *testing.T) {
			h := newHost(t, New())
			e := h.start("e", scriptChain(t, map[string]any{"sql": script, "lateEvents": lateEvents}))
			const row = `{"customer":1,"items":[{"total":2},7,null,{"total":3}]}`
			send(t, e, nil, row)
			send(t, e, nil, `{"customer":2,"items":"none"}`)
			send(t, e, nil, `{"customer":3,"items":[]}`)
			send(t, e, nil, `{"customer":4}`)
			node := instance(t, e, "a")
			require.NoError(t, node.Drain(t.Context()))
			out := eventsAt(h.out.all(), "out")
			require.Equal(t, []string{`[{"customer":1,"spend":5}]`}, eventData(slices.DeleteFunc(slices.Clone(out), func(e event) bool { return e.meta["table"] != "Spending" })))
			require.Equal(t, []string{`[{"customer":1,"price":5}]`}, eventData(slices.DeleteFunc(slices.Clone(out), func(e event) bool { return e.meta["table"] != "Prices" })))
			require.EqualValues(t, 6, node.Stats()["dropped_count"])

			late := eventsAt(h.out.all(), "late")
			if !lateEvents {
				require.Empty(t, late)
				return
			}
			var lines []string
			for _, l := range late {
				require.Equal(t, "Orders", l.meta["stream"])
				lines = append(lines, l.meta["table"]+" "+l.meta["reason"]+" "+l.data)
			}
			odd := " bad_element " + row
			require.ElementsMatch(t, []string{"Spending" + odd, "Spending" + odd, "Prices" + odd, "Prices" + odd,
				`Spending bad_element {"customer":2,"items":"none"}`, `Prices bad_element {"customer":2,"items":"none"}`}, lines)
		})
	}
}

func TestScriptRefusesUnknownStreams(t *testing.T) {
	const script = `
		IMPORT Users TIMESTAMP updated;
		Users := DISTINCT Users ON id ORDER BY updated DESC;
		Spending := SELECT o.customer, sum(o.total) AS spend FROM Orders o JOIN Users u ON o.customer = u.id GROUP BY o.customer;`
	h := newHost(t, New())
	byMeta := h.start("m", scriptChain(t, map[string]any{"sql": script, "streamKey": "streamName"}))
	byRow := h.start("r", strings.Replace(scriptChain(t, map[string]any{"sql": script, "streamKey": "${msg.stream}"}), `"id":"c"`, `"id":"d"`, 1))
	for _, c := range []struct {
		name string
		e    types.RuleEngine
		meta map[string]string
		body string
		says []string
	}{
		{"unknown", byMeta, onStream("Order"), `{"customer":1,"total":5}`, []string{`unknown input stream "Order"`, "Orders", "Users"}},
		{"a table that is no input", byMeta, onStream("Spending"), `{"customer":1}`, []string{`unknown input stream "Spending"`, "Orders", "Users"}},
		{"no name", byMeta, nil, `{"customer":1,"total":5}`, []string{"streamName", `"Orders"`, `"Users"`}},
		{"the second row's", byRow, nil, `[{"stream":"Orders","customer":1,"total":5},{"stream":"Refunds"}]`, []string{`unknown input stream "Refunds"`, "Orders", "Users"}},
		{"no row", byMeta, onStream("Orders"), `[{"customer":1,"total":5},7]`, []string{"element 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := send(t, c.e, c.meta, c.body)
			require.Equal(t, types.Failure, end.relation)
			require.Equal(t, c.body, end.data, "the message is untouched")
			for _, says := range c.says {
				require.ErrorContains(t, end.err, says)
			}
		})
	}
	for _, e := range []types.RuleEngine{byMeta, byRow} {
		require.Zero(t, instance(t, e, "a").Stats()["input_count"], "a refused message feeds nothing")
	}
}

func TestScriptErrorsNameTheirPlace(t *testing.T) {
	for script, says := range map[string]string{
		"Spending := SELECT customer, sum(total) AS spend FROM Orders GROUP BY customer;\nX := SELECT y FROM Spendings s JOIN Spending t ON s.a = t.spendd;": "line 2",
		"A := SELECT b.x FROM B b;\nB := SELECT a.x FROM A a;\nEXPORT C TO stream_event;":                                                                    "line",
		"Users := DISTINCT Users ON id ORDER BY updated DESC;\nU := SELECT u.id FROM Orders o TEMPORAL JOIN Users u ON o.name = u.name;":                     "id",
	} {
		err := Check(types.Configuration{"sql": script, "streamKey": "s"})
		require.ErrorIs(t, err, ErrConfiguration, script)
		var sqlError *joinnode.SQLError
		require.ErrorAs(t, err, &sqlError, script)
		require.ErrorContains(t, err, `field "sql"`)
		require.ErrorContains(t, err, says)
	}
	err := Check(types.Configuration{"sql": ordersScript, "tables": []any{map[string]any{"name": "Latest", "source": "inline", "rows": []any{}}}})
	require.ErrorContains(t, err, `field "tables[0].name" = "Latest"`, "tables of a script are not those of the configuration")
}

// A reload goes on with the state where the operators that keep it are the same: the
// next change of a key is an update. Otherwise the tables begin anew.
func TestScriptReload(t *testing.T) {
	script := func(spend string) string {
		return `IMPORT Orders TIMESTAMP time IDLETIMEOUT '0';
			Spending := SELECT customer, ` + spend + ` AS spend FROM Orders GROUP BY customer;
			Minutes := SELECT endOfMinute(time) AS minute, count(*) AS orders FROM Orders GROUP BY minute;
			EXPORT Spending TO stream_event; EXPORT Minutes TO stream_event;`
	}
	fields := map[string]any{"lateEvents": true}
	reload := func(t *testing.T, e types.RuleEngine, sql string) Handover {
		t.Helper()
		fields["sql"] = sql
		require.NoError(t, e.ReloadChild("a", nodeDSL(config(t, fields))))
		h, ok := instance(t, e, "a").Handover()
		require.True(t, ok)
		return h
	}
	h := newHost(t, New())
	fields["sql"] = script("sum(total)")
	e := h.start("e", scriptChain(t, fields))
	send(t, e, nil, `{"customer":1,"total":60,"time":1700000000000}`)

	require.Equal(t, Handover{Kept: true}, reload(t, e, script("sum(total) * 2")))
	send(t, e, nil, `{"customer":1,"total":40,"time":1700000001000}`)

	because := reload(t, e, script("max(total)"))
	require.False(t, because.Kept)
	require.Contains(t, because.Because, "table Spending is computed in another way")
	require.NoError(t, instance(t, e, "a").query.Drain(t.Context()))
	rows, err := instance(t, e, "a").TableJSON(nil, "Spending", joinnode.TableQuery{})
	require.NoError(t, err)
	require.Equal(t, `[]`, string(rows))
	send(t, e, nil, `{"customer":1,"total":5,"time":1700000002000}`)

	fields["sql"] = script("maximum(total)")
	require.Error(t, e.ReloadChild("a", nodeDSL(config(t, fields))))
	send(t, e, nil, `{"customer":1,"total":6,"time":1700000003000}`)
	rows, err = instance(t, e, "a").TableJSON(nil, "Spending", joinnode.TableQuery{Key: map[string]any{"customer": "1"}})
	require.NoError(t, err)
	require.Equal(t, `[{"customer":1,"spend":6}]`, string(rows), "the last good script runs on")

	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
	got := h.out.all()
	require.Equal(t, []string{
		`insert {"customer":1} 1700000000000000000 [{"customer":1,"spend":60}]`,
		`update {"customer":1} 1700000001000000000 [{"customer":1,"spend":200}]`,
		`insert {"customer":1} 1700000002000000000 [{"customer":1,"spend":5}]`,
		`update {"customer":1} 1700000003000000000 [{"customer":1,"spend":6}]`,
	}, ofTable(got, "Spending"))
	require.Equal(t, []string{
		`insert  1700000039999000000 [{"minute":1700000039999,"orders":2}]`, // let go
		`insert  1700000039999000000 [{"minute":1700000039999,"orders":2}]`, // the end
	}, ofTable(got, "Minutes"), "no order is lost, and none counts twice")
}

func TestScriptTables(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", scriptChain(t, map[string]any{"sql": ordersScript}))
	node := instance(t, e, "a")
	require.Equal(t, []joinnode.TableInfo{
		{Name: "Latest", Kind: "state", Key: []string{"customer"}, Bound: "one row for each key", Exported: true},
		{Name: "Total", Kind: "state", Key: []string{}, Bound: "one row"},
	}, slices.DeleteFunc(node.Tables(), func(i joinnode.TableInfo) bool { return i.Name != "Latest" && i.Name != "Total" }))
	rows, err := node.TableJSON([]byte("x"), "Total", joinnode.TableQuery{})
	require.NoError(t, err)
	require.Equal(t, "x[]", string(rows), "no row before the first order")
	send(t, e, nil, `[{"customer":1,"total":60,"time":1700000000000},{"customer":2,"total":60.50,"time":1700000000000}]`)
	rows, err = node.TableJSON(nil, "Total", joinnode.TableQuery{})
	require.NoError(t, err)
	require.Equal(t, `[{"n":2}]`, string(rows), "also where it is not exported")
	rows, err = node.TableJSON(nil, "Latest", joinnode.TableQuery{Key: map[string]any{"customer": "2"}})
	require.NoError(t, err)
	require.Equal(t, `[{"customer":2,"total":60.50,"time":1700000000000}]`, string(rows), "numbers as they came")
	for name, want := range map[string]error{"Big": joinnode.ErrUnknownTable, "Biggest": joinnode.ErrUnknownTable} {
		_, err = node.TableJSON(nil, name, joinnode.TableQuery{})
		require.ErrorIs(t, err, want, name)
	}
	_, err = node.TableJSON(nil, "Latest", joinnode.TableQuery{Key: map[string]any{"total": 60}})
	require.ErrorIs(t, err, joinnode.ErrTableQuery)
	_, err = new(Node).TableJSON(nil, "Latest", joinnode.TableQuery{})
	require.ErrorIs(t, err, joinnode.ErrNotExecuted)
	require.Nil(t, new(Node).Tables())

	join := instance(t, h.start("j", strings.Replace(chainDSL("j", config(t, map[string]any{"sql": joinSQL, "streamKey": "s"})), `"c"`, `"j"`, 1)), "a")
	require.Nil(t, join.Tables())
	_, err = join.TableJSON(nil, "Latest", joinnode.TableQuery{})
	require.ErrorIs(t, err, joinnode.ErrUnknownTable)
}
