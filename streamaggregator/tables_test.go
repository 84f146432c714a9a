package streamaggregator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
)

// tablesOf runs a chain with the given tables over a fake query and returns how
// many rows the query has of each.
func tablesOf(t *testing.T, sql, config string) (func() map[string]int, func() outcome, *host) {
	t.Helper()
	fake := &fakeEngine{}
	h := newHost(t, newPrototype(fake))
	e := h.start("e", chainDSL("c", `"sql":"`+sql+`","tables":`+config))
	return func() map[string]int {
			q := fake.made[0]
			q.mu.Lock()
			defer q.mu.Unlock()
			m := map[string]int{}
			for k, v := range q.tables {
				m[k] = v
			}
			return m
		}, func() outcome {
			return send(t, e, nil, `{"n":1}`)
		}, h
}

func TestTablesAreReadWithTheFirstMessage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f.csv"), []byte("id,name\n1,a\n2,b\n"), 0o600))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `[{"id":1},{"id":2},{"id":3}]`)
	}))
	defer srv.Close()
	have, message, _ := tablesOf(t, "s @i @f @h", `[{"name":"i","source":"inline","rows":[{"id":1}]},
		{"name":"f","source":"file","path":"`+dir+`/f.csv","format":"csv"},
		{"name":"h","source":"http","path":"`+srv.URL+`","headers":{"X-Key":"k"}}]`)
	require.Empty(t, have())
	require.Equal(t, types.Success, message().relation)
	require.Equal(t, map[string]int{"i": 1, "f": 2, "h": 3}, have())
}

func TestTableThatCannotBeReadFailsMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	have, message, _ := tablesOf(t, "s @t", `[{"name":"t","source":"file","path":"`+path+`"}]`)
	for range 2 {
		end := message()
		require.Equal(t, types.Failure, end.relation)
		require.ErrorIs(t, end.err, ErrTable)
		require.ErrorContains(t, end.err, path)
	}
	require.NoError(t, os.WriteFile(path, []byte(`[{"id":1}]`), 0o600))
	require.Eventually(t, func() bool { return message().relation == types.Success }, 5*time.Second, 50*time.Millisecond)
	require.Equal(t, map[string]int{"t": 1}, have())
}

// A file that is not there is named with its whole path, in the log once.
func TestMissingTableFile(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	_, message, h := tablesOf(t, "s @devices", `[{"name":"devices","source":"file","path":"none/devices.csv"}]`)
	h.log.lines = nil
	for range 3 {
		require.ErrorContains(t, message().err, `table not loaded: "devices": open `+filepath.Join(here, "none/devices.csv"))
	}
	require.Len(t, h.log.lines, 1)
	require.Contains(t, h.log.lines[0], `table "devices" cannot be read: open `+filepath.Join(here, "none/devices.csv"))
}

func TestFailedRefreshKeepsTheSnapshot(t *testing.T) {
	var calls atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch calls.Add(1) {
		case 1:
			fmt.Fprint(w, `[{"id":1}]`)
		case 2:
			w.WriteHeader(http.StatusBadGateway)
		case 3:
			fmt.Fprint(w, `[{"id":1},`)
		default:
			fmt.Fprint(w, `[{"id":1},{"id":2}]`)
		}
	}))
	defer srv.Close()
	have, message, h := tablesOf(t, "s @t", `[{"name":"t","source":"http","path":"`+srv.URL+`","refresh":"20ms"}]`)
	require.Equal(t, types.Success, message().relation)
	require.Equal(t, map[string]int{"t": 1}, have())
	require.Eventually(t, func() bool { return calls.Load() >= 3 && h.log.contains("keeps the rows of its last refresh") }, 5*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return have()["t"] == 2 }, 5*time.Second, time.Millisecond)
	// TestMain finds the refresher if Destroy does not end it.
}

func TestTablesAndSQLMustAgree(t *testing.T) {
	h := fakeHost(t)
	for config, says := range map[string]string{
		`"sql":"s","tables":[{"name":"m","source":"inline","rows":[]}]`: `field "tables[0].name" = "m": is no table that the SQL joins`,
		`"sql":"s @m"`: `join table "m" is not registered`,
	} {
		var c types.Configuration
		require.NoError(t, json.Unmarshal([]byte("{"+config+"}"), &c))
		err := newPrototype(&fakeEngine{}).New().Init(h.config, c)
		require.ErrorIs(t, err, ErrConfiguration)
		require.ErrorContains(t, err, says)
	}
}

func TestTableRows(t *testing.T) {
	rows, err := csvRows([]byte("\xef\xbb\xbfid, name ,code,on,none\n1,Ada,007,true,\n2.5,\"x,y\",-3,no,z\n"))
	require.NoError(t, err)
	require.Equal(t, []map[string]any{
		{"id": int64(1), "name": "Ada", "code": "007", "on": true, "none": nil},
		{"id": 2.5, "name": "x,y", "code": int64(-3), "on": "no", "none": "z"},
	}, rows)
	_, err = csvRows(nil)
	require.Error(t, err)
	_, err = csvRows([]byte("a,b\n1\n"))
	require.Error(t, err)
	_, err = csvRows([]byte("a,\n1,2\n"))
	require.ErrorContains(t, err, "column 2 has no name")

	rows, err = jsonRows([]byte(`[{"id":9007199254740993,"x":{"y":[1,1.5]}}]`))
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"id": int64(9007199254740993), "x": map[string]any{"y": []any{int64(1), 1.5}}}}, rows)
	for _, bad := range []string{`{}`, `[1]`, `[null]`, `[{}] x`, `[`} {
		_, err := jsonRows([]byte(bad))
		require.Error(t, err, bad)
	}
}
