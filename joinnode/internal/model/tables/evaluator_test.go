package tables

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// run feeds a script. An event is `Stream {row}`, with the row's time, or else
// the last one, as clock; `tick ms` or `stop`. It returns the messages of each
// event.
type run struct {
	*Evaluator
	t     *testing.T
	clock int64
	sent  int
}

func start(t *testing.T, sql string) *run {
	e, err := New(sql)
	require.NoError(t, err)
	return &run{Evaluator: e, t: t}
}

// on plays one event and returns what it sent, one word or JSON text a message.
func (r *run) on(format string, args ...any) string {
	r.t.Helper()
	verb, rest, _ := strings.Cut(fmt.Sprintf(format, args...), " ")
	switch verb {
	case "tick":
		_, err := fmt.Sscan(rest, &r.clock)
		require.NoError(r.t, err)
		r.Tick(r.clock)
	case "stop":
		r.Stop(r.clock)
	default:
		d := json.NewDecoder(strings.NewReader(rest))
		d.UseNumber()
		var row map[string]any
		require.NoError(r.t, d.Decode(&row))
		if ts, ok := normal(row["time"]).(int64); ok {
			r.clock = max(r.clock, ts)
		}
		require.NoError(r.t, r.Arrive(verb, row, r.clock))
	}
	var out []string
	for _, m := range r.Messages()[r.sent:] {
		out = append(out, strings.TrimSpace(m.Change+" "+text(m.Row)))
	}
	r.sent = len(r.Messages())
	return strings.Join(out, "; ")
}

// times returns the times in ms of what was sent.
func (r *run) times() (ts []int64) {
	for _, m := range r.Messages() {
		ts = append(ts, m.TS/ms)
	}
	return ts
}

func (r *run) reasons() (out []string) {
	for _, l := range r.Late() {
		out = append(out, l.Table+" "+l.Reason)
	}
	return out
}

const imports = `IMPORT P TIMESTAMP time TIMEUNIT 'ms' IDLETIMEOUT '0'; IMPORT U TIMESTAMP time TIMEUNIT 'ms' IDLETIMEOUT '0';
IMPORT Orders TIMESTAMP time TIMEUNIT 'ms' IDLETIMEOUT '0'; `

// single is for scripts with one input: now() and watermarks are its own.
const single = `IMPORT Orders TIMESTAMP time TIMEUNIT 'ms'; `

func TestDistinctOnKeepsTheNewestVersion(t *testing.T) {
	r := start(t, `IMPORT P TIMESTAMP time TIMEUNIT 'ms'; P := DISTINCT P ON id ORDER BY time DESC;`)
	require.Equal(t, `insert {"id":1,"time":1000,"v":"a"}`, r.on(`P {"id":1,"v":"a","time":1000}`))
	require.Equal(t, `update {"id":1,"time":3000,"v":"b"}`, r.on(`P {"id":1,"v":"b","time":3000}`))
	require.Empty(t, r.on(`P {"id":1,"v":"c","time":2000}`))
	require.Empty(t, r.on(`P {"id":1,"v":"b","time":3000}`))
	require.Equal(t, `update {"id":1,"time":3000,"v":"d"}`, r.on(`P {"id":1,"v":"d","time":3000}`))
}

func TestAnOlderRowEntersTheHistory(t *testing.T) {
	r := start(t, imports+`P := DISTINCT P ON id ORDER BY time DESC;
		SELECT o.n, p.v FROM Orders o TEMPORAL JOIN P p ON o.id = p.id;`)
	r.on(`P {"id":1,"v":"a","time":1000}`)
	r.on(`P {"id":1,"v":"b","time":3000}`)
	r.on(`P {"id":1,"v":"c","time":2000}`)
	require.Equal(t, `{"n":1,"v":"c"}`, r.on(`Orders {"id":1,"n":1,"time":2500}`))
	require.Equal(t, `{"n":2,"v":"b"}`, r.on(`Orders {"id":1,"n":2,"time":3000}`))
	require.Empty(t, r.on(`Orders {"id":1,"n":3,"time":1500}`))
	require.Equal(t, []string{" late"}, r.reasons())
}

const users = imports + `U := DISTINCT U ON id ORDER BY time DESC; `

func countries(t *testing.T, sql string) (*run, string) {
	r := start(t, sql)
	var out []string
	for _, e := range []string{`U {"id":"u1","country":"DE","time":1000}`, `Orders {"id":"u1","n":1,"time":999}`, `Orders {"id":"u1","n":2,"time":1000}`,
		`Orders {"id":"u1","n":3,"time":4999}`, `Orders {"id":"u1","n":4,"time":5000}`, `U {"id":"u1","country":"US","time":5000}`} {
		if s := r.on("%s", e); s != "" {
			out = append(out, s)
		}
	}
	return r, strings.Join(out, "; ")
}

func TestTemporalJoin(t *testing.T) {
	for name, join := range map[string]string{"explicit": "TEMPORAL JOIN", "by default on the key": "JOIN"} {
		t.Run(name, func(t *testing.T) {
			r, out := countries(t, users+`SELECT o.n, u.country FROM Orders o `+join+` U u ON o.id = u.id;`)
			require.Equal(t, `{"country":"DE","n":2}; {"country":"DE","n":3}; {"country":"US","n":4}`, out)
			require.Equal(t, []int64{1000, 4999, 5000}, r.times())
		})
	}
	_, out := countries(t, users+`SELECT o.n, u.country FROM Orders o LEFT TEMPORAL JOIN U u ON o.id = u.id;`)
	require.Equal(t, `{"country":null,"n":1}; {"country":"DE","n":2}; {"country":"DE","n":3}; {"country":"US","n":4}`, out)
}

// The order in which a stream and a state stand does not matter.
func TestStateJoinStreamIsATemporalJoin(t *testing.T) {
	r, out := countries(t, users+`SELECT o.n, u.country FROM U u JOIN Orders o ON o.id = u.id;`)
	require.False(t, r.State(""))
	require.Equal(t, `{"country":"DE","n":2}; {"country":"DE","n":3}; {"country":"US","n":4}`, out)
}

// When a key lost its row is known until both inputs have passed it; a row of a
// key without versions is late below that.
func TestARowBelowAForgottenEndIsLate(t *testing.T) {
	r := start(t, imports+`T := SELECT id, count(*) AS n FROM U WHERE time > now() - INTERVAL 2 SECONDS GROUP BY id;
		X := SELECT o.n AS o, t.n FROM Orders o LEFT TEMPORAL JOIN T t ON o.id = t.id;`)
	r.on(`P {"time":20000}`)
	r.on(`U {"id":1,"time":1000}`)
	r.on(`Orders {"id":1,"n":0,"time":1000}`)
	r.on(`U {"id":2,"time":9000}`)
	// now() comes to 9000, where id 1 is long gone.
	require.Equal(t, `{"n":null,"o":1}`, r.on(`Orders {"id":1,"n":1,"time":9000}`))
	require.Empty(t, r.on(`Orders {"id":1,"n":2,"time":2000}`))
	require.Empty(t, r.on(`Orders {"id":7,"n":3,"time":8999}`))
	require.Equal(t, []string{"X late", "X late"}, r.reasons())
	require.Equal(t, `{"n":null,"o":4}`, r.on(`Orders {"id":7,"n":4,"time":9000}`))
}

// A state joined with another on its whole key keeps its own key: finding a
// partner, or another one, is an update.
func TestAJoinOnTheKeyKeepsTheKey(t *testing.T) {
	r := start(t, imports+`P := DISTINCT P ON id ORDER BY time DESC; U := DISTINCT U ON id ORDER BY time DESC;
		SELECT p.id, u.v FROM P p LEFT JOIN U u ON p.u = u.id;`)
	require.Equal(t, `insert {"id":1,"v":null}`, r.on(`P {"id":1,"u":5,"time":1000}`))
	require.Equal(t, `update {"id":1,"v":"x"}`, r.on(`U {"id":5,"v":"x","time":1000}`))
	require.Empty(t, r.on(`U {"id":6,"v":"y","time":1000}`))
	require.Equal(t, `update {"id":1,"v":"y"}`, r.on(`P {"id":1,"u":6,"time":2000}`))
	require.Equal(t, `insert {"id":2,"v":"y"}`, r.on(`P {"id":2,"u":6,"time":2000}`))
}

func TestTemporalJoinOnlyOnTheKey(t *testing.T) {
	_, err := New(users + `SELECT o.n FROM Orders o TEMPORAL JOIN U u ON o.country = u.country;`)
	require.ErrorIs(t, err, errKind)
}

func TestARowBelowTheHistoryIsLate(t *testing.T) {
	r := start(t, users+`X := SELECT o.n, u.v FROM Orders o LEFT TEMPORAL JOIN U u ON o.id = u.id;`)
	r.on(`U {"id":1,"v":"a","time":1000}`)
	r.on(`U {"id":1,"v":"b","time":3000}`)
	r.on(`U {"id":2,"v":"z","time":9000}`)
	require.Equal(t, `{"n":1,"v":"b"}`, r.on(`Orders {"id":1,"n":1,"time":4000}`))
	require.Empty(t, r.on(`Orders {"id":1,"n":2,"time":2999}`), "never NULLs")
	require.Equal(t, []string{"X late"}, r.reasons())
	require.Equal(t, `{"n":3,"v":"b"}`, r.on(`Orders {"id":1,"n":3,"time":3500}`))
	require.Zero(t, r.LateVersions())
	r.on(`U {"id":1,"v":"c","time":3400}`)
	require.EqualValues(t, 1, r.LateVersions(), "one version for two rows")
}

func TestInnerJoinOfStreamAndStateIsAState(t *testing.T) {
	r, _ := countries(t, users+`SELECT o.n, u.country FROM Orders o INNER JOIN U u ON o.id = u.id;`)
	rows, ok := r.Table("")
	require.True(t, ok)
	require.Len(t, rows, 4)
	for _, row := range rows {
		require.Equal(t, "US", row["country"])
	}
	last := r.Messages()[len(r.Messages())-1]
	require.Equal(t, "update", last.Change)
	require.EqualValues(t, 5000*ms, last.TS)
}

func TestStreamOn(t *testing.T) {
	for kind, want := range map[string]string{"ADD": "110 130", "UPDATE": "120", "DELETE": "120"} {
		r := start(t, single+`T := DISTINCT Orders ON id ORDER BY time DESC;
			X := STREAM ON `+kind+` AS SELECT id, spend FROM T WHERE spend >= 100;`)
		var got []string
		var ts []int64
		for i, spend := range []int{60, 110, 120, 70, 130} {
			r.on(`Orders {"id":1,"spend":%d,"time":%d}`, spend, 1000*(i+1))
		}
		for _, m := range r.Messages() {
			got = append(got, text(m.Row["spend"]))
			ts = append(ts, m.TS/ms)
		}
		require.Equal(t, want, strings.Join(got, " "), kind)
		require.Equal(t, map[string][]int64{"ADD": {2000, 5000}, "UPDATE": {3000}, "DELETE": {4000}}[kind], ts)
	}
}

// What the query does not select changes no row of it.
func TestStreamOnUpdateGoesByTheSelectedColumns(t *testing.T) {
	r := start(t, single+`T := DISTINCT Orders ON id, k ORDER BY time DESC; X := STREAM ON UPDATE AS SELECT k FROM T;`)
	r.on(`Orders {"id":1,"k":2,"v":1,"time":1000}`)
	require.Empty(t, r.on(`Orders {"id":1,"k":2,"v":2,"time":2000}`))
}

func TestStreamOnOfTotals(t *testing.T) {
	r := start(t, single+`Totals := SELECT id, sum(v) AS spend FROM Orders GROUP BY id;
		X := STREAM ON ADD AS SELECT id, spend FROM Totals WHERE spend >= 100;`)
	out := ""
	for i, v := range []int{60, 50, 10, -50, 60} {
		out += r.on(`Orders {"id":1,"v":%d,"time":%d}`, v, i)
	}
	require.Equal(t, `{"id":1,"spend":110}{"id":1,"spend":130}`, out)
}

func TestEndOf(t *testing.T) {
	for _, c := range []struct {
		call string
		want int64
	}{
		{"endOfWeek(1678299814083)", 1678665599999},
		{"endOfWeek(1678665600000)", 1679270399999},
		{"endOfMonth(1678299814083)", 1680307199999},
		{"endOfDay(1678299814083)", 1678319999999},
		{"endOfSecond(1678299814083)", 1678299814999},
		{"endOfMinute(1678299814083)", 1678299839999},
		{"endOfHour(1678299814083)", 1678301999999},
		{"endOfYear(1678299814083)", 1704067199999},
		{"endOfSecond(1678299814083, 5)", 1678299814999},
		{"endOfSecond(1678299814083, 5, 100)", 1678299815099},
		{"endOfMinute(1678299814083, 10, 30)", 1678300229999},
	} {
		r := start(t, single+"SELECT "+c.call+" AS e FROM Orders;")
		require.Equal(t, fmt.Sprintf(`{"e":%d}`, c.want), r.on(`Orders {"time":1}`), c.call)
	}
	r := start(t, single+"SELECT endOfDay(1678299814083) AS e FROM Orders WITH (TIMEZONE='Asia/Shanghai');")
	require.Equal(t, `{"e":1678377599999}`, r.on(`Orders {"time":1}`))
}

func TestTimeWindow(t *testing.T) {
	r := start(t, single+`X := SELECT k, endOfSecond(time) AS s, sum(v) AS total FROM Orders GROUP BY k, s;`)
	require.Empty(t, r.on(`Orders {"k":"a","v":1,"time":1000}`))
	require.Empty(t, r.on(`Orders {"k":"b","v":2,"time":1999}`))
	require.Empty(t, r.on(`Orders {"k":"a","v":4,"time":1500}`))
	require.Equal(t, `{"k":"a","s":1999,"total":5}; {"k":"b","s":1999,"total":2}`, r.on(`Orders {"k":"a","v":8,"time":2000}`))
	require.Empty(t, r.on(`Orders {"k":"a","v":16,"time":1999}`))
	require.Equal(t, []string{"X late"}, r.reasons())
	require.Equal(t, `{"k":"a","s":2999,"total":8}`, r.on("stop"))
	require.Equal(t, []int64{1999, 1999, 2999}, r.times())
}

func TestRecency(t *testing.T) {
	r := start(t, single+`SELECT sum(v) AS total FROM Orders WHERE time > now() - INTERVAL 10 SECONDS;`)
	require.Equal(t, `insert {"total":5}`, r.on(`Orders {"v":5,"time":1000}`))
	require.Equal(t, `update {"total":12}`, r.on(`Orders {"v":7,"time":4000}`))
	// With the input idle now() is the clock.
	require.Empty(t, r.on("tick 10999"))
	require.Equal(t, `update {"total":7}`, r.on("tick 11000"))
	require.Equal(t, `delete {"total":7}`, r.on("tick 20000"))
	require.Equal(t, []int64{1000, 4000, 11000, 14000}, r.times())
	require.Empty(t, r.on("stop"))
}

func TestRecencyByWatermark(t *testing.T) {
	r := start(t, `IMPORT Orders TIMESTAMP time TIMEUNIT 'ms' IDLETIMEOUT '0'; SELECT sum(v) AS total FROM Orders WHERE time > now() - INTERVAL 10 SECONDS;`)
	r.on(`Orders {"v":5,"time":1000}`)
	r.on(`Orders {"v":7,"time":4000}`)
	require.Empty(t, r.on("tick 99999"), "not the wall clock")
	require.Equal(t, `update {"total":7}`, r.on(`Orders {"time":11000}`))
	require.Equal(t, `update {"total":0}`, r.on(`Orders {"time":14000}`), "rows without v are rows")
}

func TestNowIsTheLeastWatermark(t *testing.T) {
	r := start(t, `IMPORT A TIMESTAMP time TIMEUNIT 'ms' MAXOUTOFORDERNESS '1s'; IMPORT B TIMESTAMP time TIMEUNIT 'ms'; SELECT * FROM A;`)
	is := func(want int64) {
		t.Helper()
		now, ok := r.Now()
		require.True(t, ok)
		require.Equal(t, want, now/ms)
	}
	r.on(`A {"time":10000}`)
	_, ok := r.Now()
	require.False(t, ok, "B was never seen")
	r.on(`B {"time":8000}`)
	is(8000)
	r.on(`B {"time":9500}`)
	is(9000)
	r.on(`B {"time":5000}`)
	is(9000)
	r.on("tick 14999")
	is(9000)
	r.on(`B {"time":9600}`) // now A alone is silent for 5 s
	r.on("tick 15000")
	is(9600)
	r.on("tick 19999")
	is(19999)
	r.on(`A {"time":12000}`)
	is(19999)
}

func TestIntervalJoin(t *testing.T) {
	const sql = `IMPORT P TIMESTAMP time TIMEUNIT 'ms'; IMPORT Orders TIMESTAMP time TIMEUNIT 'ms';
		SELECT o.n, p.v FROM Orders o JOIN P p ON o.id = p.id AND o.time BETWEEN p.time - INTERVAL 1 SECOND AND p.time + INTERVAL 2 SECONDS;`
	r := start(t, sql)
	r.on(`P {"id":1,"v":"p","time":10000}`)
	require.Empty(t, r.on(`Orders {"id":1,"n":1,"time":8999}`))
	require.Equal(t, `{"n":2,"v":"p"}`, r.on(`Orders {"id":1,"n":2,"time":9000}`))
	require.Equal(t, `{"n":3,"v":"p"}`, r.on(`Orders {"id":1,"n":3,"time":12000}`))
	require.Empty(t, r.on(`Orders {"id":1,"n":4,"time":12001}`))
	require.Empty(t, r.on(`Orders {"id":2,"n":5,"time":10000}`))
	require.Equal(t, []int64{10000, 12000}, r.times())

	within := start(t, strings.Replace(sql, "AND o.time BETWEEN p.time - INTERVAL 1 SECOND AND p.time + INTERVAL 2 SECONDS", "WITHIN 2 SECONDS", 1))
	within.on(`P {"id":1,"v":"p","time":10000}`)
	require.Equal(t, `{"n":1,"v":"p"}`, within.on(`Orders {"id":1,"n":1,"time":8000}`))

	_, err := New(strings.Replace(sql, "BETWEEN p.time - INTERVAL 1 SECOND AND p.time + INTERVAL 2 SECONDS", "> p.time", 1))
	require.Error(t, err, "a missing bound")
	_, err = New(strings.Replace(sql, "AND o.time BETWEEN p.time - INTERVAL 1 SECOND AND p.time + INTERVAL 2 SECONDS", "", 1))
	require.ErrorIs(t, err, errKind)
}

func TestLeftIntervalJoin(t *testing.T) {
	r := start(t, imports+`SELECT o.n, p.v FROM Orders o LEFT JOIN P p WITHIN 2 SECONDS ON o.id = p.id;`)
	r.on(`Orders {"id":1,"n":1,"time":1000}`)
	r.on(`Orders {"id":1,"n":2,"time":3000}`)
	require.Equal(t, `{"n":1,"v":null}`, r.on(`Orders {"id":1,"n":3,"time":3001}`))
	require.Empty(t, r.on(`Orders {"id":1,"n":4,"time":1000}`))
	require.Equal(t, []string{" late"}, r.reasons())
	require.Equal(t, `{"n":2,"v":null}; {"n":3,"v":null}`, r.on("stop"))
}

func TestNestedTables(t *testing.T) {
	r := start(t, `IMPORT Orders TIMESTAMP time TIMEUNIT 'ms';
		Users := SELECT DISTINCT customerid AS id FROM Orders;
		Users.total_spend := SELECT sum(i.total) AS spend, sum(i.discount?0) AS saved
			FROM @ JOIN Orders o ON o.customerid = @.id JOIN o.items i;
		Users.label := coalesce(id, 'nobody');
		Spend := SELECT u.id, u.label, s.spend, s.saved FROM Users u JOIN u.total_spend s;`)
	require.Equal(t, `insert {"id":1,"label":1,"saved":1,"spend":5}`,
		r.on(`Orders {"customerid":1,"items":[{"total":2,"discount":1},{"total":3}],"time":1000}`))
	require.Empty(t, r.on(`Orders {"customerid":2,"items":[],"time":1000}`))
	require.Equal(t, `insert {"id":2,"label":2,"saved":0,"spend":7}`,
		r.on(`Orders {"customerid":2,"items":[3,{"total":7},"x",null],"time":1000}`))
	require.Equal(t, []string{"Users.total_spend bad_element", "Users.total_spend bad_element", "Users.total_spend bad_element"}, r.reasons())
	require.Equal(t, `update {"id":1,"label":1,"saved":1,"spend":6}`, r.on(`Orders {"customerid":1,"items":[{"total":1}],"time":900}`))
	rows, ok := r.Table("Users.total_spend")
	require.True(t, ok)
	require.Len(t, rows, 2)
}

// An order that comes before its user's row is in the user's total.
func TestJoinsWithTheParentRowAreRelational(t *testing.T) {
	r := start(t, users+`U.spend := SELECT sum(o.v) AS v FROM @ JOIN Orders o ON o.id = @.id;`)
	require.Empty(t, r.on(`Orders {"id":1,"v":5,"time":1000}`))
	require.Equal(t, `insert {"id":1,"v":5}`, r.on(`U {"id":1,"time":2000}`))
	require.Equal(t, `update {"id":1,"v":7}`, r.on(`Orders {"id":1,"v":2,"time":500}`))
}

// The spending table of the page: per user and week, from totals per order.
func TestNestedTimeWindow(t *testing.T) {
	r := start(t, users+`Orders.totals := SELECT sum(price) AS price, sum(saving?0) AS saving FROM @.items;
		U.purchases := JOIN Orders o ON o.customerid = @.id ORDER BY o.time DESC;
		U.spending := SELECT endOfWeek(p.time) AS week, sum(t.price) AS spend, sum(t.saving) AS saved
			FROM @.purchases p JOIN p.totals t GROUP BY week ORDER BY week DESC;`)
	require.Empty(t, r.on(`Orders {"customerid":1,"items":[{"price":5},{"price":2,"saving":1}],"time":1678299814083}`))
	require.Empty(t, r.on(`U {"id":1,"time":1678299814083}`))
	require.Empty(t, r.on(`U {"id":2,"time":1678665600000}`))
	require.Equal(t, `{"id":1,"saved":1,"spend":7,"week":1678665599999}`, r.on(`Orders {"customerid":2,"items":[{"price":1}],"time":1678665600000}`))
	require.Equal(t, `{"id":2,"saved":0,"spend":1,"week":1679270399999}`, r.on("stop"))
}

func TestRecentTotalOfItems(t *testing.T) {
	r := start(t, `IMPORT Orders TIMESTAMP time TIMEUNIT 'ms' IDLETIMEOUT '0'; RecentTotal := SELECT sum(i.total) AS total, sum(i.quantity) AS quantity
		FROM Orders o JOIN o.items i WHERE o.time > now() - INTERVAL 7 DAY;`)
	require.Equal(t, `insert {"quantity":2,"total":9}`, r.on(`Orders {"items":[{"total":4,"quantity":1},{"total":5,"quantity":1}],"time":1000}`))
	require.Equal(t, `update {"quantity":0,"total":0}`, r.on(`Orders {"items":[{}],"time":%d}`, 7*24*3600*1000+1000))
}

func TestAggregates(t *testing.T) {
	r := start(t, single+`SELECT count(*) AS n, count(v) AS c, count(DISTINCT v) AS d, sum(v) AS s, avg(v) AS a, min(v) AS lo, max(v) AS hi,
		stddev(v) AS sd, var(v) AS va, collect(v) AS all, first_value(v) AS f, last_value(v) AS l FROM Orders;`)
	require.Equal(t, `insert {"a":null,"all":null,"c":0,"d":0,"f":null,"hi":null,"l":null,"lo":null,"n":1,"s":0,"sd":null,"va":null}`, r.on(`Orders {"time":5}`))
	r.on(`Orders {"v":2,"time":9}`)
	r.on(`Orders {"v":2.0,"time":7}`)
	r.on(`Orders {"v":4,"time":6}`)
	require.Equal(t, `update {"a":3.5,"all":[2,2,4,6],"c":4,"d":3,"f":4,"hi":6,"l":2,"lo":2,"n":5,"s":14,"sd":1.6583123951777,"va":2.75}`,
		r.on(`Orders {"v":6,"time":8}`))
}

func TestLateVersionOfAWindow(t *testing.T) {
	r := start(t, users+`X := SELECT endOfSecond(o.time) AS s, sum(u.c) AS n FROM Orders o INNER JOIN U u ON o.id = u.id GROUP BY s;`)
	r.on(`Orders {"id":1,"time":1500}`)
	r.on(`U {"id":1,"c":1,"time":1000}`)
	r.on(`U {"id":1,"c":2,"time":3000}`)
	require.Equal(t, `{"n":2,"s":1999}`, r.on(`Orders {"id":1,"time":3000}`))
	r.on(`U {"id":1,"c":2,"d":1,"time":3500}`)
	require.Zero(t, r.LateVersions(), "it does not read d")
	r.on(`U {"id":1,"c":3,"time":4000}`)
	require.EqualValues(t, 1, r.LateVersions())
	require.Equal(t, []string{"X late"}, r.reasons())
}

func TestBadTimes(t *testing.T) {
	r := start(t, `IMPORT Orders TIMESTAMP time TIMEUNIT 'ms' MAXFUTURESKEW '1s'; SELECT * FROM Orders;`)
	require.Empty(t, r.on(`Orders {"n":1}`))
	require.Empty(t, r.on(`Orders {"time":"soon"}`))
	r.clock = 0
	require.NoError(t, r.Arrive("Orders", map[string]any{"time": int64(1001)}, 0))
	require.NoError(t, r.Arrive("Orders", map[string]any{"time": int64(1000)}, 0))
	require.Equal(t, []string{"Orders bad_timestamp", "Orders bad_timestamp", "Orders future_timestamp"}, r.reasons())
	require.Len(t, r.Messages(), 1)
}

// Without TIMESTAMP a row's time is its arrival, and the clock is the watermark.
func TestArrivalTime(t *testing.T) {
	r := start(t, `X := SELECT count(*) AS n, endOfSecond(at) AS s FROM Orders GROUP BY s;`)
	require.Empty(t, r.on(`Orders {"at":1500000000000}`))
	require.Empty(t, r.on("tick 1500000000999"))
	require.Equal(t, `{"n":1,"s":1500000000999}`, r.on("tick 1500000001000"))
	now, ok := r.Now()
	require.True(t, ok)
	require.EqualValues(t, 1500000001000*ms, now)
}
