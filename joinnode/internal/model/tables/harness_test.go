package tables

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// mirror is the evaluator as a Subject; spoil may change what it sends.
type mirror struct {
	*Evaluator
	sent, dropped int
	spoil         func([]Message) []Message
}

func newMirror(t require.TestingT, sql string) *mirror {
	e, err := New(sql)
	require.NoError(t, err)
	return &mirror{Evaluator: e}
}

func (m *mirror) Emit(stream string, row map[string]any, clock int64) error {
	return m.Arrive(stream, row, clock)
}

func (m *mirror) Tick(clock int64) error {
	m.Evaluator.Tick(clock)
	return nil
}

func (m *mirror) Stop(clock int64) error {
	m.Evaluator.Stop(clock)
	return nil
}

func (m *mirror) Results() []Message {
	list := append([]Message(nil), m.Messages()[m.sent:]...)
	m.sent = len(m.Messages())
	if m.spoil != nil {
		list = m.spoil(list)
	}
	return list
}

func (m *mirror) Lates() []Late {
	list := m.Late()[m.dropped:]
	m.dropped = len(m.Late())
	return list
}

func (m *mirror) Rows(table string) (rows []map[string]any, ok bool) {
	all, ok := m.Table(table)
	for _, r := range all {
		rows = append(rows, r)
	}
	return rows, ok
}

var strict = Strictness{Messages: true, Times: true, Late: []string{"late", "bad_timestamp", "bad_element"}}

// The evaluator's own changes are minimal and fold to its tables, and it is
// equal to itself.
func TestTheEvaluatorPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Draw(t, 30)
		require.NoError(t, Compare(s, strict, newMirror(t, s.Script)))
	})
}

// counting scenario: totals that are inserted, updated and deleted.
func planted() Scenario {
	row := func(id, v, at int64) Event {
		return Event{Stream: "A", Row: map[string]any{"id": id, "v": v, "time": Epoch + at}, Clock: Epoch + at}
	}
	return Scenario{
		Script: `IMPORT A TIMESTAMP time TIMEUNIT 'ms' IDLETIMEOUT '0';
			T := SELECT id, sum(v) AS total FROM A WHERE time > now() - INTERVAL 2 SECONDS GROUP BY id;
			S := SELECT id, v FROM A;
			W := SELECT id, endOfSecond(time) AS s, count(*) AS n FROM A GROUP BY id, s;
			EXPORT T TO stream_event; EXPORT S TO stream_event; EXPORT W TO stream_event;`,
		Events:  []Event{row(1, 5, 1000), row(2, 6, 1000), row(1, 2, 1500), row(1, 0, 1600), row(3, 1, 9000), row(3, 1, 1200), {Clock: Epoch + 9000, Stop: true}},
		Ordered: map[string]bool{"S": true, "W": true},
	}
}

func TestPlantedErrorsAreFound(t *testing.T) {
	require.NoError(t, Compare(planted(), strict, newMirror(t, planted().Script)))
	drop := func(change string) func([]Message) []Message {
		return func(list []Message) (out []Message) {
			for _, m := range list {
				if m.Change != change {
					out = append(out, m)
				}
			}
			return out
		}
	}
	twice := func(change string) func([]Message) []Message {
		return func(list []Message) (out []Message) {
			for _, m := range list {
				out = append(out, m)
				if m.Change == change && m.Table == "T" {
					out = append(out, m)
				}
			}
			return out
		}
	}
	each := func(f func(*Message)) func([]Message) []Message {
		return func(list []Message) []Message {
			for i := range list {
				f(&list[i])
			}
			return list
		}
	}
	for name, c := range map[string]struct {
		spoil func([]Message) []Message
		want  string
	}{
		"missing delete":     {drop("delete"), "folded changes"},
		"missing insert":     {drop("insert"), "folded changes"},
		"missing update":     {drop("update"), "folded changes"},
		"double insert":      {twice("insert"), "which is there"},
		"superfluous update": {twice("update"), "changes nothing"},
		"double delete":      {twice("delete"), "which is not there"},
		"missing row":        {drop(""), "rows"},
		"insert for update": {each(func(m *Message) {
			if m.Change == "update" {
				m.Change = "insert"
			}
		}), "which is there"},
		"update for insert": {each(func(m *Message) {
			if m.Change == "insert" {
				m.Change = "update"
			}
		}), "which is not there"},
		"delete of another row": {each(func(m *Message) {
			if m.Change == "delete" {
				m.Row = map[string]any{"id": int64(1), "total": int64(99)}
			}
		}), "its last row is"},
		"delete of a wrong key": {each(func(m *Message) {
			if m.Change == "delete" {
				m.Key = "none"
			}
		}), "which is not there"},
		"update as delete and insert": {func(list []Message) (out []Message) {
			for _, m := range list {
				if m.Change == "update" {
					last := m
					last.Change, last.Row = "delete", map[string]any{"id": int64(1), "total": int64(5)}
					out = append(out, last)
					m.Change = "insert"
				}
				out = append(out, m)
			}
			return out
		}, "changes"},
		"another time":  {each(func(m *Message) { m.TS += ms }), "@"},
		"another table": {each(func(m *Message) { m.Table += "x" }), "not exported"},
		"another order": {func(list []Message) []Message {
			for i := range list {
				if i > 0 && list[i].Table == "W" && list[i-1].Table == "W" {
					list[i-1], list[i] = list[i], list[i-1]
				}
			}
			return list
		}, "rows"},
	} {
		m := newMirror(t, planted().Script)
		m.spoil = c.spoil
		require.ErrorContains(t, Compare(planted(), strict, m), c.want, name)
	}
}

// forgetful loses its late rows, and reads tables wrongly.
type forgetful struct{ *mirror }

func (f forgetful) Lates() []Late { return nil }

type misreading struct{ *mirror }

func (m misreading) Rows(string) ([]map[string]any, bool) { return nil, true }

func TestOtherOutputsAreCompared(t *testing.T) {
	require.ErrorContains(t, Compare(planted(), strict, forgetful{newMirror(t, planted().Script)}), "late rows")
	require.ErrorContains(t, Compare(planted(), strict, misreading{newMirror(t, planted().Script)}), "table as read")
}

// What rounding changes behind the ninth digit is no difference.
func TestDecimalsAreComparedRounded(t *testing.T) {
	c := &comparison{sets: map[string]bool{"all": true}}
	require.Equal(t, c.rowText(object{"a": 1.0 / 3, "b": int64(3), "all": []any{int64(2), int64(1)}}),
		c.rowText(object{"a": 1.0/3 + 1e-14, "b": 3 - 1e-12, "all": []any{int64(1), int64(2)}, "c": nil}))
	require.NotEqual(t, c.rowText(object{"a": 0.333}), c.rowText(object{"a": 1.0 / 3}))
	require.NotEqual(t, c.rowText(object{"a": "1"}), c.rowText(object{"a": int64(1)}))
}
