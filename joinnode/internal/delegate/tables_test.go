package delegate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

func TestTables(t *testing.T) {
	// streamsql takes the left side of ON for the stream's, whatever it says.
	const sql = "SELECT s.id, m.place, m.n + a AS n FROM s JOIN meta AS m ON m.id = s.id WHERE m.place != 'x' OR a > 5"
	e := open(t, sql, delegate.Config{})
	defer e.Stop()
	require.Equal(t, []string{"meta"}, e.Unregistered())
	err := e.Emit(row{"id": 1, "a": 1})
	require.ErrorIs(t, err, delegate.ErrNotRegistered)
	require.ErrorContains(t, err, `join table "meta" is not registered`)
	require.ErrorContains(t, err, "WITHIN")

	_, err = e.RegisterTable("other", nil)
	require.Error(t, err)
	_, err = e.RegisterTable("meta", nil, "place")
	require.ErrorContains(t, err, "[id]")
	table := []row{{"id": 1, "place": "a", "n": 10}}
	_, err = e.RegisterTable("meta", table)
	require.NoError(t, err)
	table[0]["place"] = "changed by its owner"
	require.Empty(t, e.Unregistered())
	require.NoError(t, e.UpsertTable("meta", row{"id": 2, "place": "x", "n": 20}))

	out, err := e.EmitSync(row{"id": json.Number("1"), "a": 1})
	require.NoError(t, err)
	require.Equal(t, row{"id": int64(1), "place": "a", "n": 11.0}, out)
	out, err = e.EmitSync(row{"id": 2, "a": 1})
	require.NoError(t, err)
	require.Nil(t, out, "WHERE")
	out, err = e.EmitSync(row{"id": 3, "a": 9})
	require.NoError(t, err)
	require.Nil(t, out, "no match")
}

func TestTableInWindow(t *testing.T) {
	e := open(t, "SELECT m.place, sum(s.a) AS x FROM s LEFT JOIN meta m ON s.id = m.id GROUP BY m.place, CountingWindow(2)", delegate.Config{})
	_, err := e.RegisterTable("meta", []row{{"id": 1, "place": "p"}, {"id": 2, "place": "p"}, {"id": 3, "place": "q"}})
	require.NoError(t, err)
	var got []result
	e.AddSink(func(rows []row, end int64) { got = append(got, result{rows, end}) })
	for i, id := range []int{1, 3, 2, 3} {
		require.NoError(t, e.Emit(row{"id": id, "a": float64(i)}))
	}
	e.Stop()
	require.Equal(t, []row{{"place": "p", "x": 2.0}, {"place": "q", "x": 4.0}}, flat(got), "rows are counted per nested key")
}

// Conditions over joined columns, in every clause, with and without a match.
func TestTableColumnsEverywhere(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []row
	}{
		{"SELECT id, CASE WHEN m.n > 5 OR a > 5 THEN m.place ELSE 'none' END AS v, m.n IS NULL AS lone FROM s LEFT JOIN meta m ON s.id = m.id",
			[]row{{"id": 1, "v": "p", "lone": false}, {"id": 9, "v": "none", "lone": true}}},
		{"SELECT m.place, sum(m.n * 2) AS x FROM s JOIN meta m ON s.id = m.id GROUP BY m.place, TumblingWindow('1h') HAVING m.place = 'p' ORDER BY m.place",
			[]row{{"place": "p", "x": 20.0}}},
		{"SELECT count(*) AS n FROM s JOIN meta m ON s.id = m.id GROUP BY m.place, TumblingWindow('1h')",
			[]row{{"place": "p", "n": 1.0}}},
		{"SELECT sum(CASE WHEN m.n IS NULL THEN 1 ELSE 0 END) AS lone FROM s LEFT JOIN meta m ON s.id = m.id GROUP BY TumblingWindow('1h')",
			[]row{{"lone": 1.0}}},
		{"SELECT m.place AS p FROM s LEFT JOIN meta AS m ON m.id = id WHERE NOT (m.n > 5) OR m.n IS NULL",
			[]row{{"p": nil}}},
	} {
		t.Run(c.sql, func(t *testing.T) {
			e := open(t, c.sql, delegate.Config{})
			_, err := e.RegisterTable("meta", []row{{"id": 1, "place": "p", "n": 10}})
			require.NoError(t, err)
			var got []result
			e.AddSink(func(rows []row, end int64) { got = append(got, result{rows, end}) })
			for _, id := range []int{1, 9} {
				require.NoError(t, e.Emit(row{"id": id, "a": 1.0}))
			}
			e.Stop()
			require.Equal(t, c.want, flat(got))
		})
	}
}

func TestNestedGroupingField(t *testing.T) {
	sql := "SELECT o.x, sum(a) AS s FROM s GROUP BY o.x, CountingWindow(1) HAVING o.x > 1 ORDER BY o.x"
	rows := []row{{"a": 1.0, "o": row{"x": 1}}, {"a": 2.0, "o": row{"x": 2}}}
	out, _ := run(t, sql, rows)
	require.Equal(t, []row{{"o.x": 2, "s": 2.0}}, flat(out))
	require.Contains(t, theirs(t, sql, rows, time.Second, 1), row{"o.x": 1, "s": 1.0}, "streamsql drops a HAVING that ORDER BY follows")
	sql = "SELECT o.x, sum(a) AS s FROM s GROUP BY o.x, CountingWindow(1) HAVING o.x > 1"
	out, _ = run(t, sql, rows)
	require.Equal(t, []row{{"o.x": 2, "s": 2.0}}, flat(out))
	require.Empty(t, theirs(t, sql, rows, 30*time.Millisecond, 1), "and looks for x inside o in the result")
}
