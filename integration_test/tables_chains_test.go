package integration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// The switch behind the shop's node sends each table its own way, and what its tables
// leave out goes a way of its own, with table and reason. Behind a switch RuleGo lets
// the messages of one moment overtake each other, so their order is not looked at.
func TestShopBranches(t *testing.T) {
	s := loadScenario(t, chainsDir+"/shop")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		h := startTables(t, s.Chain)
		h.play(t, s, func() {})
		tables := map[string]string{}
		for _, name := range []string{"Products", "Users.order_stats", "Users.total_spend", "ProductSales", "RecentTotal"} {
			rows, err := nodeOf(t, h, "shop").TableJSON(nil, name, joinnode.TableQuery{})
			require.NoError(t, err, name)
			tables[name] = string(rows)
		}
		stats := nodeOf(t, h, "shop").Stats()
		drainAndStop(t, h)
		synctest.Wait()

		require.ElementsMatch(t, []string{
			`UserPromotion insert [{"id":1,"first_name":"Ada","last_name":"Ng","email":"ada@shop.example","spend":110}]`,
			`UserPromotion insert [{"id":4,"first_name":"Dan","last_name":"Oz","email":"dan@shop.example","spend":100}]`,
			`UserPromotion insert [{"id":2,"first_name":"Bob","last_name":"Ray","email":"bob@shop.example","spend":105}]`,
		}, h.visits.through("promotion"))
		require.ElementsMatch(t, []string{
			`Users.spending insert [{"id":1,"week":1700438399999,"spend":149.5,"saved":10.5}]`,
			`Users.spending insert [{"id":2,"week":1700438399999,"spend":50,"saved":0}]`,
			`Users.spending insert [{"id":3,"week":1700438399999,"spend":70,"saved":0}]`,
			`Users.spending insert [{"id":4,"week":1700438399999,"spend":100,"saved":0}]`,
			`Users.spending insert [{"id":2,"week":1701043199999,"spend":45,"saved":5}]`,
			`Users.spending insert [{"id":3,"week":1701043199999,"spend":20,"saved":0}]`,
		}, h.visits.through("report"))
		others := map[string]int{}
		for _, line := range h.visits.through("changes") {
			table, _, _ := strings.Cut(line, " ")
			others[table]++
		}
		want := map[string]int{}
		for _, e := range s.Expected {
			if table := e.Metadata["table"]; table != "UserPromotion" && table != "Users.spending" {
				want[table]++
			}
		}
		require.Equal(t, want, others)
		require.Equal(t, []string{`{"order":8}`}, h.visits.through("rejected"))

		const tooLate, oddItem = `{"id":5,"customerid":1,"time":1700006900000,"items":[{"productid":2,"quantity":1,"unit_price":10,"total":10}]}`,
			`{"id":8,"customerid":2,"time":1700025200000,"items":[{"productid":2,"quantity":1,"unit_price":10,"total":10},"gift wrap"]}`
		omitted := h.visits.omitted()
		require.Len(t, omitted, 7)
		require.Equal(t, "OrderCountry: late "+tooLate, omitted[0])
		require.ElementsMatch(t, []string{ // each table that looks into items
			"Users.order_stats: bad_element " + oddItem, "Users.total_spend: bad_element " + oddItem, "Users.spending: bad_element " + oddItem,
			"RecentTotal: bad_element " + oddItem, "ProductSales: bad_element " + oddItem,
		}, omitted[1:6])
		require.Contains(t, omitted[6], "Users.spending: late ", "order 13, of a week that has left")
		require.EqualValues(t, 7, stats["dropped_count"])

		require.Equal(t, map[string]string{ // also those that are not exported
			"Products":          `[{"id":1,"name":"Poster","updated":1700000000000},{"id":2,"name":"Large mug","updated":1700032400000}]`,
			"Users.order_stats": `[{"id":1,"spend":149.5,"orders":5},{"id":2,"spend":105,"orders":5},{"id":3,"spend":90,"orders":2},{"id":4,"spend":100,"orders":1}]`,
			"Users.total_spend": `[{"id":1,"spend":149.5,"saved":10.5},{"id":2,"spend":105,"saved":5},{"id":3,"spend":90,"saved":0},{"id":4,"spend":100,"saved":0}]`,
			// What was sold as "Mug" before it was renamed stays so.
			"ProductSales": `[{"id":1,"name":"Poster","quantity":6,"revenue":285},{"id":2,"name":"Large mug","quantity":6,"revenue":60},{"id":2,"name":"Mug","quantity":10,"revenue":99.5}]`,
			"RecentTotal":  `[{"total":384.5,"quantity":19}]`,
		}, tables)
	})
}

// What enters the alarm table goes one way and what leaves it another; d2 is raised
// a second time after it had left.
func TestDeviceShadowBranches(t *testing.T) {
	s := loadScenario(t, chainsDir+"/device_shadow")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		h := startTables(t, s.Chain)
		h.play(t, s, func() {})
		drainAndStop(t, h)
		synctest.Wait()
		require.Equal(t, []string{
			`AlarmRaised insert [{"deviceId":"d1","hot":3,"average":78}]`,
			`AlarmRaised insert [{"deviceId":"d2","hot":3,"average":62}]`,
			`AlarmRaised insert [{"deviceId":"d2","hot":3,"average":65}]`,
		}, h.visits.through("raise"))
		require.Equal(t, []string{
			`AlarmCleared insert [{"deviceId":"d1","hot":3,"average":81}]`,
			`AlarmCleared insert [{"deviceId":"d2","hot":3,"average":62}]`,
		}, h.visits.through("clear"))
		require.Len(t, h.visits.through("dashboard"), 8)
		require.Len(t, h.visits.through("archive"), 14)
		require.Equal(t, []leftOut{
			{map[string]string{"stream": "Telemetry", "table": "Readings", "reason": "late", "ts": "1700000042000000000", "watermark": "1700000060000000000"},
				`{"deviceId":"d1","temperature":79,"ts":1700000042000}`},
			{map[string]string{"stream": "Telemetry", "reason": "bad_timestamp", "ts": "0", "watermark": "1700000060000000000"},
				`{"deviceId":"d1","temperature":99}`},
		}, h.visits.late)
	})
}

// Whoever applies the changes of a state table in the order in which they leave, by
// the key in their metadata, has the table.
func TestChangesAddUpToTheTable(t *testing.T) {
	for name, node := range map[string]string{"shop": "shop", "device_shadow": "shadow"} {
		s := loadScenario(t, filepath.Join(chainsDir, name))
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(epoch))
			h := startTables(t, s.Chain)
			folded := map[string]map[string]string{} // table → key → row
			next, states := 0, 0
			h.play(t, s, func() {
				events := h.seen.left(t, false)
				for _, e := range events[next:] {
					apply(t, folded, e)
				}
				next = len(events)
				states = 0
				for _, info := range nodeOf(t, h, node).Tables() {
					if info.Kind != "state" || !info.Exported {
						continue
					}
					states++
					text, err := nodeOf(t, h, node).TableJSON(nil, info.Name, joinnode.TableQuery{})
					require.NoError(t, err)
					var rows []json.RawMessage
					require.NoError(t, json.Unmarshal(text, &rows))
					require.ElementsMatch(t, rows, rawMessages(folded[info.Name]), info.Name)
				}
			})
			require.Positive(t, states)
			drainAndStop(t, h)
		})
	}
}

// apply does to a copy of the tables what a change says.
func apply(t *testing.T, tables map[string]map[string]string, e event) {
	t.Helper()
	key, state := e.Metadata["key"]
	if !state {
		return
	}
	require.Len(t, e.Rows, 1)
	row, rows := string(e.Rows[0]), tables[e.Metadata["table"]]
	if rows == nil {
		rows = map[string]string{}
		tables[e.Metadata["table"]] = rows
	}
	old, known := rows[key]
	switch change := e.Metadata["resultType"]; change {
	case "insert":
		require.False(t, known, "%v: inserted twice", e.Metadata)
		rows[key] = row
	case "update":
		require.True(t, known, "%v: no row to update", e.Metadata)
		require.NotEqual(t, old, row, "%v: no change, no message", e.Metadata)
		rows[key] = row
	case "delete":
		require.Equal(t, old, row, "%v: deleted with its last row", e.Metadata)
		delete(rows, key)
	default:
		t.Fatalf("%q is no change of a state", change)
	}
}

func rawMessages(rows map[string]string) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(rows))
	for _, r := range rows {
		out = append(out, json.RawMessage(r))
	}
	return out
}

// A version that comes after a row which it would have changed revises nothing of the
// stream, and is counted. The state, which shows each order as of now, changes.
func TestShopLateVersion(t *testing.T) {
	s := loadScenario(t, chainsDir+"/shop")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		h := startTables(t, s.Chain)
		feed := func(stream, body string) {
			h.OnMsgAndWait(message(map[string]string{"streamName": stream}, []byte(body)))
			synctest.Wait()
		}
		feed("Users", `{"id":1,"country":"DE","updated":1700000000000}`)
		feed("Orders", `{"customerid":1,"time":1700000002000,"items":[]}`)
		time.Sleep(5 * time.Second) // both are idle: the order leaves with DE
		synctest.Wait()
		feed("Users", `{"id":1,"country":"US","updated":1700000001000}`)
		feed("Users", `{"id":1,"country":"FR","updated":1700000003000}`)
		require.EqualValues(t, 1, nodeOf(t, h, "shop").Stats()["table_OrderCountry_late_version"], "US, that is; FR is of after the order")
		drainAndStop(t, h)
		synctest.Wait()
		require.ElementsMatch(t, []string{
			`OrderCountry insert [{"time":1700000002000,"country":"DE"}]`,
			`OrderCountryInner insert [{"time":1700000002000,"country":"DE"}]`,
			`OrderCountryInner update [{"time":1700000002000,"country":"US"}]`,
			`OrderCountryInner update [{"time":1700000002000,"country":"FR"}]`,
		}, h.visits.through("changes"))
	})
}

// The script that a folder's README shows is the one that runs.
func TestTableChainsShowTheirScript(t *testing.T) {
	for _, name := range []string{"shop", "device_shadow"} {
		s := loadScenario(t, filepath.Join(chainsDir, name))
		text, err := os.ReadFile(filepath.Join(s.Dir, "README.md"))
		require.NoError(t, err)
		_, rest, found := strings.Cut(string(text), "```sql\n")
		require.True(t, found, name)
		shown, _, found := strings.Cut(rest, "\n```")
		require.True(t, found, name)
		require.Equal(t, s.def.Metadata.Nodes[0].Configuration["sql"], shown, name)
	}
}
