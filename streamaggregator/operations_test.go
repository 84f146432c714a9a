package streamaggregator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// joinModel is what the chain of TestOperations must give out: a LEFT JOIN whose
// window never closes while the test runs.
type joinModel struct {
	within   string
	cmds     []modelRow
	acks     []modelRow
	expected []string
}

type modelRow struct {
	id, n   int
	matched bool
}

func (m *joinModel) sql() string {
	return "SELECT c.id, c.n, r.n AS ack FROM cmd AS c LEFT JOIN ack AS r WITHIN " + m.within + " ON c.id = r.id"
}

func (m *joinModel) cmd(id, n int) {
	row := modelRow{id: id, n: n}
	for _, a := range m.acks {
		if a.id == id {
			row.matched = true
			m.expected = append(m.expected, fmt.Sprintf(`[{"id":%d,"n":%d,"ack":%d}]`, id, n, a.n))
		}
	}
	m.cmds = append(m.cmds, row)
}

func (m *joinModel) ack(id, n int) {
	for i, c := range m.cmds {
		if c.id == id {
			m.cmds[i].matched = true
			m.expected = append(m.expected, fmt.Sprintf(`[{"id":%d,"n":%d,"ack":%d}]`, id, c.n, n))
		}
	}
	m.acks = append(m.acks, modelRow{id: id, n: n})
}

func (m *joinModel) flush(why string) {
	for _, c := range m.cmds {
		if !c.matched {
			m.expected = append(m.expected, fmt.Sprintf(`[{"id":%d,"n":%d,"ack":null}] %s`, c.id, c.n, why))
		}
	}
	m.cmds, m.acks = nil, nil
}

// TestOperations feeds, reloads and stops a real rule engine in random order: every
// accepted row is accounted for, and results come in the order of their causes.
func TestOperations(t *testing.T) {
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		// A reload takes RuleGo a tenth of a second, so a few runs must do.
		if checks++; checks > 12 {
			return
		}
		h := newHost(t, New())
		m := &joinModel{within: "1 HOUR"}
		dsl := func() string { return chainDSL("c", config(t, map[string]any{"sql": m.sql(), "streamKey": "s"})) }
		e := h.start("", dsl())
		n, reloads := 0, 0
		feed := func(stream string, apply func(id, n int)) func(*rapid.T) {
			return func(rt *rapid.T) {
				var rows []string
				for range rapid.IntRange(1, 4).Draw(rt, "rows") {
					id := rapid.IntRange(1, 5).Draw(rt, "id")
					n++
					rows = append(rows, fmt.Sprintf(`{"id":%d,"n":%d}`, id, n))
					apply(id, n)
				}
				end := send(t, e, map[string]string{"s": stream}, "["+strings.Join(rows, ",")+"]")
				require.Equal(rt, types.Success, end.relation, "%v", end.err)
			}
		}
		reload := func(rt *rapid.T) {
			if reloads++; reloads > 6 {
				return
			}
			if rapid.Bool().Draw(rt, "whole chain") {
				require.NoError(rt, e.ReloadSelf([]byte(dsl())))
			} else {
				require.NoError(rt, e.ReloadChild("a", nodeDSL(config(t, map[string]any{"sql": m.sql(), "streamKey": "s"}))))
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"cmd":  feed("cmd", m.cmd),
			"cmd2": feed("cmd", m.cmd),
			"ack":  feed("ack", m.ack),
			"refused message": func(rt *rapid.T) {
				require.Equal(rt, types.Failure, send(t, e, map[string]string{"s": "cmd"}, `[{"id":1,"n":0},7]`).relation)
			},
			"reload": reload,
			"reload with another join": func(rt *rapid.T) {
				if reloads >= 6 {
					return
				}
				m.within = map[string]string{"1 HOUR": "2 HOURS", "2 HOURS": "1 HOUR"}[m.within]
				m.flush("reload")
				reload(rt)
			},
			"failed reload": func(rt *rapid.T) {
				if reloads++; reloads > 6 {
					return
				}
				require.Error(rt, e.ReloadSelf([]byte(strings.Replace(dsl(), "test/collect", "no/such", 1))))
			},
		})
		m.flush("stop")
		node := instance(t, e, "a")
		stop(e)
		require.NoError(rt, node.Drain(t.Context()))
		var got []string
		for _, ev := range h.out.all() {
			line := ev.data
			if why := ev.meta["closedBy"]; why != "" {
				line += " " + why
			}
			got = append(got, line)
		}
		require.True(rt, slices.Equal(m.expected, got), "want %q\ngot  %q", m.expected, got)
	})
}
