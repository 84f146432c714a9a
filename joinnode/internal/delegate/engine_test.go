package delegate_test

import (
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
