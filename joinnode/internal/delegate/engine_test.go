package delegate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rulego/streamsql"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type row = map[string]any

func compile(sql string) (*delegate.Plan, error) {
	stmt, err := syntax.Parse(sql)
	if err != nil {
		return nil, err
	}
	return delegate.Compile(stmt, sql)
}

type result struct {
	rows []row
	end  int64
}

// run feeds rows and returns the results that had arrived when Stop returned.
func run(t testing.TB, sql string, rows []row, config ...delegate.Config) ([]result, *delegate.Engine) {
	t.Helper()
	p, err := compile(sql)
	require.NoError(t, err)
	cfg := delegate.Config{}
	if len(config) > 0 {
		cfg = config[0]
	}
	e, err := delegate.Open(p, cfg)
	require.NoError(t, err)
	var out []result
	e.AddSink(func(rows []row, end int64) { out = append(out, result{rows, end}) })
	for _, r := range rows {
		require.NoError(t, e.Emit(r))
	}
	e.Stop()
	return out, e
}

// one flattens results of one row each.
func flat(t testing.TB, results []result) []row {
	t.Helper()
	var out []row
	for _, r := range results {
		for _, x := range r.rows {
			delete(x, "window_id")
			out = append(out, x)
		}
	}
	return out
}

// theirs runs the same on streamsql alone, waiting for at most wait.
func theirs(t testing.TB, sql string, rows []row, wait time.Duration, want int) []row {
	t.Helper()
	s := streamsql.New(streamsql.WithDiscardLog())
	require.NoError(t, s.Execute(sql))
	defer s.Stop()
	ch := make(chan []row, 10_000)
	s.AddSyncSink(func(r []row) { ch <- r })
	for _, r := range rows {
		s.Emit(r)
	}
	var out []row
	deadline := time.After(wait)
	for len(out) < want {
		select {
		case r := <-ch:
			for _, x := range r {
				delete(x, "window_id")
				out = append(out, x)
			}
		case <-deadline:
			return out
		}
	}
	return out
}

func TestExperiments(t *testing.T) {
	base := func() row {
		return row{"a": 7.0, "b": 2.0, "i": 9, "s": "it's", "t": "abc", "n": nil, "ok": true, "o": row{"x": 3.0, "arr": []any{1.0, 2.0}}, "order": 5.0, "my col": 1.0, "arr": []any{10.0, 20.0}, "count": 4.0}
	}
	for _, e := range []string{
		"a + b AS r", "(a + b) * 2 AS r", "a - (b - 1) AS r", "a / (b * 2) AS r", "-a AS r", "a * -1 AS r", "-1 AS r", "1 AS r", "1.5 AS r", "1e3 AS r", "a + 1e3 AS r", "'x' AS r", "\"x\" AS r", "'it''s' AS r", "true AS r", "NULL AS r",
		"a % b AS r", "mod(a, b) AS r", "i AS r", "t || 'x' AS r", "concat(t, 'x', a) AS r", "upper(t)", "abs(a - 10) AS r", "abs(a-10)+1 AS r", "coalesce(n, 5) + 1 AS r", "CASE WHEN a > 5 THEN 'hi' ELSE 'lo' END AS r", "CASE t WHEN 'abc' THEN 1 ELSE 0 END AS r", "CASE WHEN t LIKE 'a%' THEN 1 ELSE 0 END AS r", "CASE WHEN n IS NULL THEN 1 ELSE 0 END AS r", "CASE WHEN missing > 1 OR a > 5 THEN b * 2 ELSE 0 END AS r", "CASE WHEN missing > 1 AND a > 5 THEN 1 ELSE 0 END AS r", "CASE WHEN missing != 1 THEN 1 ELSE 0 END AS r", "CASE WHEN NOT (missing > 1) THEN 1 ELSE 0 END AS r", "CASE WHEN a > 100 THEN 1 END AS r", "CASE WHEN ok THEN 1 ELSE 0 END AS r", "CASE WHEN NOT ok THEN 1 ELSE 0 END AS r",
		"CASE WHEN (a > 5 OR b > 5) AND i > 1 THEN 1 ELSE 0 END AS r", "CASE WHEN (missing > 5 OR a > 5) AND i > 1 THEN 1 ELSE 0 END AS r",
		"o.x AS r", "o.x", "f.o.x", "f.a AS r", "f.a", "o.x + 1 AS r", "o.arr[0] AS r", "arr[1] + 1 AS r", "`order` AS r", "`my col` AS r", "`my col`", "`my col` + 1 AS r", "missing + 1 AS r", "upper(s) AS r", "t AS `r x`", "t r", "abs(missing) AS r", "nosuch(a) AS r", "2*(a+b) AS r", "sqrt(power(a,2)+power(b,2)) AS r", "a, a", "*, a AS r", "*, a + 1 AS r", "*, t AS r", "*", "if(a > 5, 1, 0) AS r", "cast(a, 'int') AS r", "CASE WHEN a IN (1,7) THEN 1 ELSE 0 END AS r", "CASE WHEN a NOT IN (1,8) THEN 1 ELSE 0 END AS r", "CASE WHEN a BETWEEN 1 AND 9 THEN 1 ELSE 0 END AS r", "CASE WHEN a NOT BETWEEN 1 AND 9 THEN 1 ELSE 0 END AS r", "CASE WHEN NOT (a > 5) THEN 1 ELSE 0 END AS r", "t LIKE 'a%' AS r", "n IS NULL AS r", "a > 1 AS r", "lag(a) OVER (PARTITION BY t) AS r", "a - lag(a) AS r", "CASE WHEN a > 5 THEN true ELSE false END AS r", "count AS r", "unnest(arr) AS r", "CASE WHEN t LIKE '%b%' AND a > 1 THEN 1 ELSE 0 END AS r", "'a LIKE ''b''' AS r", "concat(\"it's\", t) AS r", "a AS `order`",
	} {
		sql := "SELECT " + e + " FROM f"
		p, err := compile(sql)
		if err != nil {
			fmt.Printf("%-50s ERR %.200s\n", e, err.(*syntax.Error).Msg)
			continue
		}
		eng, err := delegate.Open(p, delegate.Config{})
		require.NoError(t, err)
		eng.AddSink(func(rows []row, _ int64) {
			for _, r := range rows {
				delete(r, "o")
			}
			fmt.Printf("%-50s %v     %s\n", e, rows, p.SQL)
		})
		require.NoError(t, eng.Emit(base()))
		require.NoError(t, eng.Drain(context.Background()))
		eng.Stop()
	}
}
