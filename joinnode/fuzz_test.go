package joinnode_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model"
)

// rowsOf returns how many rows a message has, or false when it is neither an
// object nor an array of objects.
func rowsOf(data []byte) (int, bool) {
	if !json.Valid(data) {
		return 0, false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) == nil && object != nil {
		return 1, true
	}
	var array []json.RawMessage
	if json.Unmarshal(data, &array) != nil || array == nil {
		return 0, false
	}
	for _, element := range array {
		object = nil
		if json.Unmarshal(element, &object) != nil || object == nil {
			return 0, false
		}
	}
	return len(array), true
}

// FuzzEmitJSON sends arbitrary bytes. They are an error that changes nothing,
// or every row of them is accounted for: late or buffered, as nothing expires.
func FuzzEmitJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `[{}]`, `null`, `7`, `"x"`, `[1]`, `[{},null]`, `{"ts":1700000000000,"k":"x"}`,
		`{"ts":1700000000001,"k":1e400}`, `{"ts":1e400,"k":NaN}`, `{"ts":-1,"k":[]}`, `{"ts":1700000000000,"k":{"a":[1,{}]}}`,
		`[{"ts":1700000000000},{"ts":"2023-11-14T22:13:20Z"}]`, `{"k":"\ud800","ts":1700000000000}`, `{"k":1,"k":2,"ts":1}`,
		`{"ts":1700000000000} x`, `{"ts":1700000000000,}`, `{"ts":17000000000000000000}`, `{"a\u0000b":1}`, "{\"k\":\"\xff\",\"ts\":1700000000000}",
		strings.Repeat(`[`, 2000) + strings.Repeat(`]`, 2000), `{"k":` + strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2001),
		" \t\r\n{\"k\":1}\n", "\ufeff{}", `{"ts":1700000000000.5}`, `{"meta":{"ts":1}}`, `{"ts":01}`, `{"ts":+1}`, `{"ts":.5}`,
	} {
		f.Add([]byte(seed))
	}
	const sql = `SELECT a.*, b.k AS bk FROM sa AS a LEFT JOIN sb AS b WITHIN 100000 DAYS ON a.k = b.k AND a.n.x = b.n.x
		WHERE a.v IS NULL OR a.v > 1 OR NOT a.v > 1 OR a.v LIKE '%' OR TRUE WITH (TIMESTAMP='ts', MAXFUTURESKEW='0')`
	f.Fuzz(func(t *testing.T, data []byte) {
		e := start(t, sql, false, joinnode.WithClock(newTestClock(model.Epoch)))
		defer e.Stop()
		require.NoError(t, e.EmitJSON("sa", []byte(`{"k":"first","ts":1700000000000}`)))
		e.drain(t)
		before := e.GetStats()
		err := e.EmitJSON("sa", data)
		e.drain(t)
		after := e.GetStats()
		rows, ok := rowsOf(data)
		if !ok {
			require.ErrorIs(t, err, joinnode.ErrInvalidJSON)
		}
		if err != nil {
			require.ErrorIs(t, err, joinnode.ErrInvalidJSON)
			require.Equal(t, before, after, "an error changes nothing")
			if ok {
				require.Greater(t, strings.Count(string(data), "{")+strings.Count(string(data), "["), 500, "valid JSON was refused: %v", err)
			}
			return
		}
		delta := func(name string) int64 { return after["join_stage1_"+name] - before["join_stage1_"+name] }
		require.EqualValues(t, rows, delta("late_dropped")+delta("buffered_rows")+delta("filtered"))
		require.GreaterOrEqual(t, delta("left_watermark"), int64(0))
		if rows == int(delta("bad_timestamp")) {
			require.Zero(t, delta("left_watermark"), "bad rows move no watermark")
		}
		e.Stop()
		for _, r := range e.take() {
			require.False(t, strings.HasPrefix(r, "no JSON"), r)
		}
	})
}

// FuzzCheck reads arbitrary text as SQL: an error, never a panic, and what is
// accepted can be explained.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"", "SELECT", absence, cascade, hourly,
		"SELECT * FROM a JOIN b WITHIN '30s' ON a.k = b.k -- comment\nWHERE a.x > 1.5e3 WITH (TIMESTAMP='ts', IDLETIMEOUT='1s')",
		"SELECT a.x FROM sa a INNER JOIN sb b ON a.k = b.k AND b.j = a.j WITHIN (100 MS) WHERE a.v IN (1, 'x', NULL) AND b.w NOT BETWEEN 1 AND 2",
		"SELECT `group`.`select` AS \x60x y\x60 FROM s AS `group` LEFT OUTER JOIN t WITHIN 1 DAY ON `group`.k = t.k",
		"SELECT CASE WHEN a.x <> 'it''s' THEN upper(a.x) ELSE -a.y % 2 || 'z' END AS r FROM sa a JOIN sb b WITHIN 5 SECONDS ON a.k=b.k",
		"SELECT a.p[0].q /* c */ FROM sa a JOIN sb b WITHIN 1 NS ON a.k=b.k ORDER BY a.x DESC;",
		"SELECT a.x FROM sa a RIGHT JOIN sb b WITHIN 1 SECOND ON a.k=b.k", "SELECT count(*) FROM s GROUP BY TumblingWindow('1s')",
		"SELECT a.x FROM sa a JOIN sb b WITHIN 99999999999999999999 HOURS ON a.k=b.k", "SELECT é.ü FROM ströme AS é JOIN b WITHIN 1 H ON é.k = b.k",
		"SELECT ((((((((((a.x)))))))))) FROM sa a JOIN sb b WITHIN 1 SECOND ON a.k=b.k", "SELECT 'unclosed FROM", "SELECT `", "/*", "--",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		err := joinnode.Check(sql)
		if err != nil {
			var syntax *joinnode.SQLError
			if errors.As(err, &syntax) {
				require.NotEmpty(t, syntax.Msg)
				require.GreaterOrEqual(t, syntax.Pos.Line, 0)
			}
			require.NotEmpty(t, err.Error())
			return
		}
		e := joinnode.New(joinnode.WithDiscardLog())
		require.NoError(t, e.Execute(sql), "Check and Execute differ")
		if e.IsStreamJoinQuery() {
			require.NotEmpty(t, e.Explain())
		}
		e.Stop()
	})
}
