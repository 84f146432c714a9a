package integration_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/component/admin"
)

// shopSQL is the script of chains/shop for a real clock: no input becomes idle, however
// long the test takes, so that results depend on the messages alone.
func shopSQL(t *testing.T, s scenario) string {
	t.Helper()
	sql, ok := s.def.Metadata.Nodes[0].Configuration["sql"].(string)
	require.True(t, ok)
	for _, declared := range []string{"TIMESTAMP time MAXOUTOFORDERNESS '1h'", "IMPORT Users TIMESTAMP updated", "IMPORT Products TIMESTAMP updated"} {
		require.Contains(t, sql, declared+";")
		sql = strings.Replace(sql, declared+";", declared+" IDLETIMEOUT '0';", 1)
	}
	return sql
}

// networkShop is chains/shop with an endpoint for each way in: the change streams of
// users and products come over MQTT, orders over HTTP.
func networkShop(t *testing.T, s scenario, sql, broker, listen string) []byte {
	t.Helper()
	def := s.def
	def.Metadata.Nodes = slices.Clone(def.Metadata.Nodes)
	shop := *def.Metadata.Nodes[0]
	shop.Configuration = types.Configuration{"sql": sql, "lateEvents": true,
		"streamKey": "${'topic' in metadata ? split(metadata.topic, '/')[1] : metadata.stream}"}
	def.Metadata.Nodes[0] = &shop
	endpoints := `[
		{"id":"mqtt","type":"endpoint/mqtt","configuration":{"server":"` + broker + `","qos":1,"cleanSession":true},"routers":[
			{"id":"changes","from":{"path":"shop/+"},"to":{"path":"shop","wait":true}}]},
		{"id":"http","type":"endpoint/http","configuration":{"server":"` + listen + `"},"routers":[
			{"id":"rows","params":["POST"],"from":{"path":"/streams/:stream","processors":["setJsonDataType"]},
			 "to":{"path":"shop","wait":true,"processors":["responseToBody"]}}]}]`
	require.NoError(t, json.Unmarshal([]byte(endpoints), &def.Metadata.Endpoints))
	chain, err := json.Marshal(def)
	require.NoError(t, err)
	return chain
}

// adminOf serves the admin API for the engines of a host and returns its address.
func adminOf(t *testing.T, h *tableHost) string {
	t.Helper()
	address := freeAddress(t)
	ep, err := admin.New(h.pool, admin.Options{Config: h.config}).NewEndpoint(h.config, address)
	require.NoError(t, err)
	require.NoError(t, ep.Start())
	t.Cleanup(ep.Destroy)
	return "http://" + address
}

// get returns status and body of the answer to a GET.
func get(t *testing.T, url string) (status int, answer string) {
	t.Helper()
	return do(t, http.MethodGet, url, "")
}

// TestShopOverNetwork feeds the shop over MQTT and HTTP, reads its tables over HTTP
// after each order, and edits the script while it runs.
func TestShopOverNetwork(t *testing.T) {
	s := loadScenario(t, chainsDir+"/shop")
	broker, listen := startBroker(t), freeAddress(t)
	sql := shopSQL(t, s)
	h := startTables(t, networkShop(t, s, sql, broker.address, listen))
	node := adminOf(t, h) + "/chains/shop/nodes/shop"
	table := func(path string) string {
		t.Helper()
		status, answer := get(t, node+"/tables/"+path)
		require.Equal(t, http.StatusOK, status, answer)
		return answer
	}
	answered := 0
	publish := func(topic string, body []byte) {
		t.Helper()
		broker.publish(t, topic, body)
		answered++
		require.Eventually(t, func() bool { return len(h.seen.answers("shop")) == answered }, 10*time.Second, time.Millisecond, "%s", body)
		last := h.seen.answers("shop")[answered-1]
		require.Equal(t, types.Success, last.relation, "%v", last.err)
	}
	order := func(body string) {
		t.Helper()
		status, answer := post(t, "http://"+listen+"/streams/Orders", body)
		require.Equal(t, http.StatusOK, status, answer)
		answered++
	}

	var orders []string
	for _, a := range s.Arrivals {
		switch stream := a.Metadata["streamName"]; stream {
		case "Users", "Products":
			publish("shop/"+stream, a.Body)
		case "Orders":
			orders = append(orders, string(a.Body))
		}
	}
	// Orders come after all changes here: relational tables do not mind.
	for i, spend := range []string{`"spend":60,"saved":10`, `"spend":110,"saved":10`, `"spend":119.5,"saved":10.5`} {
		order(orders[i])
		require.JSONEq(t, `{"table":"Users.total_spend","rows":[{"id":1,`+spend+`}]}`, table("Users.total_spend?id=1"), "what was accepted is in the table")
	}
	for _, o := range orders[3:] {
		order(o)
	}
	testReadTables(t, node, table)
	testReload(t, h, node, sql, table, order, func(body string) { publish("shop/Products", []byte(body)) })
	drainAndStop(t, h)
}

func testReadTables(t *testing.T, node string, table func(string) string) {
	t.Helper()
	require.JSONEq(t, `{"table":"Users.total_spend","rows":[{"id":1,"spend":149.5,"saved":10.5},{"id":2,"spend":105,"saved":5}],"more":true}`, table("Users.total_spend?limit=2"))
	require.JSONEq(t, `{"table":"Users.total_spend","rows":[{"id":4,"spend":100,"saved":0}]}`, table("Users.total_spend?id=4&limit=2"))
	require.JSONEq(t, `{"table":"Users.total_spend","rows":[]}`, table("Users.total_spend?id=9"))
	require.JSONEq(t, `{"table":"Users","rows":[{"id":1,"first_name":"Ada","last_name":"Ng","email":"ada@home.example","country":"US","updated":1700610200000}]}`, table("Users?id=1"))
	require.JSONEq(t, `{"table":"RecentTotal","rows":[{"total":444.5,"quantity":22}]}`, table("RecentTotal"))
	// The watermark of Products is 9h, so later orders still wait for its next row.
	require.JSONEq(t, `{"table":"ProductSales","rows":[{"id":1,"name":"Poster","quantity":5,"revenue":240},{"id":2,"name":"Mug","quantity":10,"revenue":99.5}]}`, table("ProductSales"))

	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"OrderCountry":              {http.StatusNotFound, "OrderCountry is a stream"},
		"Users.total_spent":         {http.StatusNotFound, `did you mean \"Users.total_spend\"`},
		"Users?country=US":          {http.StatusBadRequest, `\"country\" is not of the key of Users`},
		"Users?limit=0":             {http.StatusBadRequest, "limit is a whole number"},
		"Users.total_spend?id=1&id": {http.StatusBadRequest, `parameter \"id\" is given 2 times`},
	} {
		status, answer := get(t, node+"/tables/"+path)
		require.Equal(t, want.status, status, answer)
		require.Contains(t, answer, want.says)
	}

	status, answer := get(t, node+"/tables")
	require.Equal(t, http.StatusOK, status)
	var list struct {
		Tables []struct {
			Name, Kind string
			Key        []string
			Exported   bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &list))
	kinds := map[string]string{}
	for _, x := range list.Tables {
		kinds[x.Name] = strings.Join(append([]string{x.Kind}, x.Key...), " ")
	}
	require.Equal(t, map[string]string{"Products": "state id", "Users": "state id", "Orders.totals": "stream", "Users.order_stats": "state id",
		"Users.total_spend": "state id", "UserPromotion": "stream", "Users.spending": "stream", "RecentTotal": "state", "OrderCountry": "stream",
		"OrderCountryInner": "state _seq id", "ProductSales": "state id name"}, kinds)
}

// testReload edits the script of a running node: state goes on where only operators
// without state differ, is let go where others do, and a script with a fault changes
// nothing.
func testReload(t *testing.T, h *tableHost, node, sql string, table func(string) string, order, product func(string)) {
	t.Helper()
	edit := func(old, new string) (status int, answer string) {
		t.Helper()
		require.Contains(t, sql, old)
		body, err := json.Marshal(map[string]string{"sql": strings.Replace(sql, old, new, 1)})
		require.NoError(t, err)
		return do(t, http.MethodPost, node, string(body))
	}
	const spent = `{"table":"Users.total_spend","rows":[{"id":1,"spend":149.5,"saved":10.5},{"id":2,"spend":105,"saved":5},{"id":3,"spend":90,"saved":0},{"id":4,"spend":100,"saved":0}]}`

	status, answer := edit("sum(i.total) AS spend", "summe(i.total) AS spend")
	require.Equal(t, http.StatusBadRequest, status, answer)
	require.Contains(t, answer, `"line":`)
	require.JSONEq(t, spent, table("Users.total_spend"), "the old script runs on")

	status, answer = edit("EXPORT RecentTotal TO stream_event;", "EXPORT ProductSales TO stream_event;")
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, answer, `"state":"kept"`)
	require.JSONEq(t, spent, table("Users.total_spend"))
	// The state goes on as if nothing had been: orders that waited for Products leave
	// as its watermark comes up, and what was in the table before changes by update.
	product(`{"id":3,"name":"Pin","updated":1700610200000}`)
	require.JSONEq(t, `{"table":"ProductSales","rows":[{"id":1,"name":"Poster","quantity":5,"revenue":240},{"id":2,"name":"Large mug","quantity":4,"revenue":40},{"id":2,"name":"Mug","quantity":10,"revenue":99.5}]}`, table("ProductSales"))
	order(`{"id":14,"customerid":1,"time":1700610300000,"items":[{"productid":3,"quantity":1,"total":0.5}]}`)
	require.JSONEq(t, `{"table":"Users.total_spend","rows":[{"id":1,"spend":150,"saved":10.5}]}`, table("Users.total_spend?id=1"))
	sales := func() (lines []string) {
		for _, line := range h.visits.through("changes") {
			if strings.HasPrefix(line, "ProductSales ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	require.Eventually(t, func() bool { return len(sales()) == 3 }, 10*time.Second, time.Millisecond)
	require.ElementsMatch(t, []string{
		`ProductSales insert [{"id":2,"name":"Large mug","quantity":4,"revenue":40}]`,
		`ProductSales update [{"id":2,"name":"Large mug","quantity":6,"revenue":60}]`,
		`ProductSales update [{"id":1,"name":"Poster","quantity":6,"revenue":285}]`,
	}, sales())

	status, answer = edit("sum(i.total) AS spend", "max(i.total) AS spend")
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, answer, `"state":"let go","because":"table Users.total_spend is computed in another way`)
	require.JSONEq(t, `{"table":"Users.total_spend","rows":[]}`, table("Users.total_spend"))
	require.JSONEq(t, `{"table":"Users","rows":[]}`, table("Users"), "all state of a node goes together")
}
