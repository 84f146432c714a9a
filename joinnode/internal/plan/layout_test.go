package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// port is what one port of a join reads, in three parts: the key, what is
// buffered beside it, and what only the filter and the clock in front of it
// read.
type port struct{ keys, kept, transient []string }

func inputPort(in *Input) port {
	return ports(in.Layout.Text, in.Keys, in.Keep)
}

func ports(text []string, keys, keep int) port {
	return port{keys: text[:keys:keys], kept: text[keys:keep:keep], transient: text[keep:]}
}

func texted(s ...string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func TestLayoutOfOneStage(t *testing.T) {
	none := texted()
	for _, c := range []struct {
		name        string
		sql         string
		left, right port
	}{
		{"the key alone", "SELECT 1 AS one FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j",
			port{texted("a.k"), none, none}, port{texted("b.j"), none, none}},
		{"selected columns are kept, once", "SELECT a.x, a.x + a.y AS sum, b.v, a.k FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j",
			port{texted("a.k"), texted("a.x", "a.y"), none}, port{texted("b.j"), texted("b.v"), none}},
		{"a filter on the input keeps nothing", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j WHERE a.f > 1 AND a.x > 2 AND b.g > 1",
			port{texted("a.k"), texted("a.x"), texted("a.f")}, port{texted("b.j"), none, texted("b.g")}},
		{"a filter behind the join does", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j WHERE a.f > b.g",
			port{texted("a.k"), texted("a.x", "a.f"), none}, port{texted("b.j"), texted("b.g"), none}},
		{"a filter on the LEFT joined side does", "SELECT a.x FROM s AS a LEFT JOIN t AS b WITHIN 1 S ON a.k = b.j WHERE b.g IS NULL",
			port{texted("a.k"), texted("a.x"), none}, port{texted("b.j"), texted("b.g"), none}},
		{"the time is read, not kept", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j WITH (TIMESTAMP='m.ts')",
			port{texted("a.k"), texted("a.x"), texted("a.m.ts")}, port{texted("b.j"), none, texted("b.m.ts")}},
		{"unless it is selected", "SELECT a.ts FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j WITH (TIMESTAMP='ts')",
			port{texted("a.k"), texted("a.ts"), none}, port{texted("b.j"), none, texted("b.ts")}},
		{"keys in the order of ON", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j AND b.l = a.m",
			port{texted("a.k", "a.m"), texted("a.x"), none}, port{texted("b.j", "b.l"), none, none}},
		{"a column twice in the key", "SELECT a.k FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j AND a.k = b.l",
			port{texted("a.k", "a.k"), none, none}, port{texted("b.j", "b.l"), none, none}},
		{"whole rows", "SELECT * FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j",
			port{texted("a.k"), texted("a.*"), none}, port{texted("b.j"), texted("b.*"), none}},
		{"a path into a kept row is a column of its own", "SELECT b, b.v.w FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.j",
			port{texted("a.k"), none, none}, port{texted("b.j"), texted("b.*", "b.v.w"), none}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, c.sql)
			require.Equal(t, c.left, inputPort(&p.Inputs[0]))
			require.Equal(t, c.right, inputPort(&p.Inputs[1]))
			require.Equal(t, p.Inputs[0].Layout, p.Stages[0].LeftLayout)
			for i := range p.Inputs {
				if !p.Time.Event() {
					require.Equal(t, -1, p.Inputs[i].TimeCol)
					continue
				}
				require.Equal(t, p.Inputs[i].Alias+"."+p.Time.Text, p.Inputs[i].Layout.Text[p.Inputs[i].TimeCol])
			}
		})
	}
}

// TestLayoutOfACascade: a column is carried just as far as it is needed.
func TestLayoutOfACascade(t *testing.T) {
	p := build(t, `SELECT c.z, a.x FROM sa AS a
		LEFT JOIN sb AS b WITHIN 1 S ON a.k = b.k
		LEFT JOIN sc AS c WITHIN 2 S ON b.k2 = c.k AND a.k3 = c.k3
		JOIN sd AS d WITHIN 3 S ON d.k = c.k4
		WHERE a.f > 0 AND b.g IS NULL AND a.h < c.h AND d.i = 1`)
	none := texted()

	require.Equal(t, port{texted("a.k"), texted("a.k3", "a.x", "a.h"), texted("a.f")}, inputPort(&p.Inputs[0]))
	require.Equal(t, port{texted("b.k"), texted("b.k2", "b.g"), none}, inputPort(&p.Inputs[1]))
	require.Equal(t, port{texted("c.k", "c.k3"), texted("c.k4", "c.z", "c.h"), none}, inputPort(&p.Inputs[2]))
	require.Equal(t, port{texted("d.k"), none, texted("d.i")}, inputPort(&p.Inputs[3]))

	left := func(i int) port {
		return ports(p.Stages[i].LeftLayout.Text, p.Stages[i].LeftKeys, p.Stages[i].LeftKeep)
	}
	require.Equal(t, port{texted("b.k2", "a.k3"), texted("a.x", "a.h"), texted("b.g")}, port{
		keys: left(1).keys, kept: left(1).kept, transient: p.Stages[0].Layout.Text[p.Stages[1].LeftKeep:]}, "g is read by the filter behind stage 1 and dropped there")
	require.Equal(t, port{texted("c.k4"), texted("c.z", "a.x"), none}, left(2))
	require.Equal(t, texted("c.k4", "c.z", "a.x", "a.h", "c.h"), p.Stages[1].Layout.Text)
	require.Equal(t, texted("c.z", "a.x"), p.Stages[2].Layout.Text)

	require.Equal(t, []OutCol{{1, 2}, {1, 3}, {0, 2}, {0, 3}, {1, 4}}, p.Stages[1].Out, "c.k4, c.z, a.x, a.h, c.h")
	require.Equal(t, []OutCol{{0, 1}, {0, 2}}, p.Stages[2].Out, "c.z, a.x")
	require.Equal(t, []int{0, 1}, p.Output.Copy)
}

// TestOutTakesEachColumnFromItsPlace checks every stage of a wider set of plans
// against the names: what Out says must be the column that Layout says.
func TestOutTakesEachColumnFromItsPlace(t *testing.T) {
	for _, sql := range []string{
		"SELECT * FROM sa AS a LEFT JOIN sb AS b WITHIN 1 S ON a.k = b.k JOIN sc AS c WITHIN 1 S ON a.j = c.j",
		"SELECT c.x, b.x AS bx, a.x AS ax, a.k FROM sa AS a JOIN sb AS b WITHIN 1 S ON a.k = b.k AND a.k = b.j LEFT JOIN sc AS c WITHIN 1 S ON b.j = c.j WHERE a.y < c.y WITH (TIMESTAMP='x')",
		"SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 1 S ON b.k = a.k JOIN sc AS c WITHIN 1 S ON c.k = b.k JOIN sd AS d WITHIN 1 S ON d.k = a.k WHERE d.q = a.q OR c.q = b.q",
	} {
		p := build(t, sql)
		for i := range p.Stages {
			st := &p.Stages[i]
			require.Len(t, st.Out, st.Layout.Len())
			for k, o := range st.Out {
				from := []Layout{st.LeftLayout, p.Inputs[i+1].Layout}[o.Port]
				keep := []int{st.LeftKeep, p.Inputs[i+1].Keep}[o.Port]
				require.Equal(t, st.Layout.Text[k], from.Text[o.Col], sql)
				require.Less(t, o.Col, keep, "only buffered columns can leave")
			}
			if i > 0 {
				require.Equal(t, st.LeftLayout.Text, p.Stages[i-1].Layout.Text[:st.LeftLayout.Len()], "a port reads the front of what the stage before hands on")
			}
		}
	}
}

// TestRetention: W for the left side; the sum of all so far for the right one
// in event time (semantics.md §4).
func TestRetention(t *testing.T) {
	const sql = "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 5 NS ON a.k = b.k JOIN sc AS c WITHIN 3 NS ON a.k = c.k"
	for with, want := range map[string][2]int64{"": {5, 3}, " WITH (TIMESTAMP='ts')": {5, 8}} {
		p := build(t, sql+with)
		require.Equal(t, want, [2]int64{p.Stages[0].RightRetention, p.Stages[1].RightRetention})
		require.Equal(t, []int64{5, 5, 3}, []int64{p.Inputs[0].Within, p.Inputs[1].Within, p.Inputs[2].Within})
		require.Equal(t, [][2]int{{0, 0}, {0, 1}, {1, 1}}, [][2]int{
			{p.Inputs[0].Stage, p.Inputs[0].Port}, {p.Inputs[1].Stage, p.Inputs[1].Port}, {p.Inputs[2].Stage, p.Inputs[2].Port}})
	}
	huge := build(t, "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 100000 DAYS ON a.k = b.k JOIN sc AS c WITHIN 100000 DAYS ON a.k = c.k WITH (TIMESTAMP='ts')")
	require.Greater(t, huge.Stages[1].RightRetention, huge.Stages[0].RightRetention, "saturates")
}

// TestKeptShape names the columns of evicted rows.
func TestKeptShape(t *testing.T) {
	p := build(t, `SELECT a.x, b.o.y, b FROM sa AS a JOIN sb AS b WITHIN 1 S ON a.k = b.k AND a.k = b.j JOIN sc AS c WITHIN 1 S ON b.j = c.j`)
	empty := func(stage, port int) string {
		return string(p.KeptShape(stage, port).AppendJSON(nil, emptyRow(p.side(stage, port).kept.Len())))
	}
	require.Equal(t, `{"k":null,"x":null}`, empty(0, 0))
	require.Equal(t, `{"k":null,"j":null,"o.y":null}`, empty(0, 1), "the whole row is NULL here")
	require.Equal(t, `{"b.j":null,"a.x":null,"b.o.y":null,"b.*":null}`, empty(1, 0))
	require.Equal(t, `{"j":null}`, empty(1, 1))
}
