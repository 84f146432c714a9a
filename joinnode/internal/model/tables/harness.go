package tables

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Subject is what runs a script: the engine, or another evaluator.
type Subject interface {
	Emit(stream string, row map[string]any, clock int64) error // clock in ms
	Tick(clock int64) error
	Stop(clock int64) error
	// Results returns the messages since the last call, in order.
	Results() []Message
}

// LateSubject is a Subject with a late output.
type LateSubject interface {
	// Lates returns the rows since the last call.
	Lates() []Late
}

// TableSubject is a Subject whose tables can be read.
type TableSubject interface {
	// Rows returns the rows that a table has now; false when it cannot be read.
	Rows(table string) ([]map[string]any, bool)
}

// Strictness says what Compare compares beyond rows and tables.
type Strictness struct {
	// Messages: every event's changes of a state, not only what they fold to.
	// After Stop only that, since the engine may flush in several steps.
	Messages bool
	Times    bool     // of the rows of streams
	Late     []string // the reasons whose late rows are counted
}

// Compare plays a scenario to the evaluator and to what start makes, and returns
// the first difference as an error that shows the events up to it.
func Compare(s Scenario, how Strictness, subject Subject) error {
	e, err := New(s.Script)
	if err != nil {
		return err
	}
	c := &comparison{s: s, how: how, e: e, subject: subject, folds: map[string]*fold{}, sets: map[string]bool{}}
	for _, name := range e.Exported() {
		c.folds[name] = newFold()
	}
	for _, name := range s.Sets {
		c.sets[name] = true
	}
	for i, ev := range s.Events {
		if err := c.event(ev); err != nil {
			var trace strings.Builder
			for _, ev := range s.Events[:i+1] {
				fmt.Fprintf(&trace, "  %s\n", ev)
			}
			return fmt.Errorf("%s\n%safter event %d: %w", s.Script, trace.String(), i, err)
		}
	}
	return nil
}

type comparison struct {
	s             Scenario
	how           Strictness
	e             *Evaluator
	subject       Subject
	folds         map[string]*fold
	sets          map[string]bool // columns whose arrays have no order
	sent, dropped int
}

func (c *comparison) event(ev Event) error {
	var err error
	switch {
	case ev.Stop:
		c.e.Stop(ev.Clock)
		err = c.subject.Stop(ev.Clock)
	case ev.Stream == "":
		c.e.Tick(ev.Clock)
		err = c.subject.Tick(ev.Clock)
	default:
		if err = c.e.Arrive(ev.Stream, ev.Row, ev.Clock); err == nil {
			err = c.subject.Emit(ev.Stream, ev.Row, ev.Clock)
		}
	}
	if err != nil {
		return err
	}
	want := byTable(c.e.sent[c.sent:])
	c.sent = len(c.e.sent)
	got := byTable(c.subject.Results())
	for name := range got {
		if c.folds[name] == nil {
			return fmt.Errorf("a message of %s, which is not exported: %v", name, got[name])
		}
	}
	for _, name := range c.e.Exported() {
		check := c.rows
		if c.e.State(name) {
			check = c.state
		}
		if err := check(name, want[name], got[name], ev.Stop); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return c.late()
}

func byTable(list []Message) map[string][]Message {
	out := map[string][]Message{}
	for _, m := range list {
		out[m.Table] = append(out[m.Table], m)
	}
	return out
}

// rows compares what a stream sent; the order within an event counts where the
// rules fix one.
func (c *comparison) rows(name string, want, got []Message, stop bool) error {
	w, g := c.texts(want, c.how.Times), c.texts(got, c.how.Times)
	if stop || !c.s.Ordered[name] {
		slices.Sort(w)
		slices.Sort(g)
	}
	return equal("rows", w, g)
}

// state folds what a state sent into a table and compares that.
func (c *comparison) state(name string, want, got []Message, stop bool) error {
	f := c.folds[name]
	compared := got[:0:0]
	for _, m := range got {
		last := f.rows[m.Key]
		if err := f.apply(m, c.rowText); err != nil {
			return err
		}
		// That a member is null now, or no longer, is a change of the row as it leaves,
		// not of the values that the evaluator knows.
		if m.Change != "update" || last.exact != f.rows[m.Key].exact {
			compared = append(compared, m)
		}
	}
	got = compared
	var table []string
	for _, r := range c.e.tables[name].node.rows {
		table = append(table, c.rowText(r.parts[0].row))
	}
	slices.Sort(table)
	if err := equal("folded changes", table, f.texts()); err != nil {
		return err
	}
	if s, ok := c.subject.(TableSubject); ok {
		if rows, ok := s.Rows(name); ok {
			var read []string
			for _, r := range rows {
				read = append(read, c.rowText(r))
			}
			slices.Sort(read)
			if err := equal("table as read", table, read); err != nil {
				return err
			}
		}
	}
	if !c.how.Messages || stop || c.s.Rough[name] {
		return nil
	}
	// The time of a change is left out: where several records cause it, it is that
	// of any of them.
	w, g := c.texts(want, false), c.texts(got, false)
	slices.Sort(w)
	slices.Sort(g)
	return equal("changes", w, g)
}

func (c *comparison) late() error {
	var want []string
	for _, l := range c.e.late[c.dropped:] {
		want = append(want, l.Reason)
	}
	c.dropped = len(c.e.late)
	s, ok := c.subject.(LateSubject)
	if !ok {
		return nil
	}
	var got []string
	for _, l := range s.Lates() {
		got = append(got, l.Reason)
	}
	other := func(reason string) bool { return !slices.Contains(c.how.Late, reason) }
	want, got = slices.DeleteFunc(want, other), slices.DeleteFunc(got, other)
	slices.Sort(want)
	slices.Sort(got)
	return equal("late rows", want, got)
}

func equal(what string, want, got []string) error {
	if slices.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("%s\n  want %s\n  got  %s", what, strings.Join(want, "; "), strings.Join(got, "; "))
}

func (c *comparison) texts(list []Message, times bool) []string {
	out := []string{}
	for _, m := range list {
		s := strings.TrimSpace(m.Change + " " + c.rowText(m.Row))
		if times {
			s += " @" + strconv.FormatInt(m.TS/ms, 10)
		}
		out = append(out, s)
	}
	return out
}

// rowText spells a row, decimals to nine digits: a standard deviation is only
// equal to that.
func (c *comparison) rowText(r map[string]any) string {
	out := make(object, len(r))
	for name, v := range r {
		v = rounded(normal(v))
		if list, ok := v.([]any); ok && c.sets[name] {
			list = slices.Clone(list)
			slices.SortFunc(list, func(x, y any) int { return strings.Compare(text(x), text(y)) })
			v = list
		}
		out[name] = v
	}
	return rowText(out)
}

func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		if math.Abs(v) < 1e-9 {
			return int64(0)
		}
		f, err := strconv.ParseFloat(strconv.FormatFloat(v*(1+1e-12), 'g', 9, 64), 64)
		if err != nil {
			return v
		}
		return f
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = rounded(x)
		}
		return out
	}
	return v
}

// fold is the table that changes make.
type fold struct{ rows map[string]folded }

// folded is a row as it was sent and as it is compared.
type folded struct {
	exact, spelled string
	nulls          string // a member that is null is another row to whoever gets it than none
}

func newFold() *fold { return &fold{map[string]folded{}} }

// apply takes one change, which must be a minimal one: an insert of a key that
// was not there, an update that differs, a delete of the last row.
func (f *fold) apply(m Message, spell func(map[string]any) string) error {
	last, present := f.rows[m.Key]
	row := folded{exact: rowText(normal(m.Row).(object)), spelled: spell(m.Row)}
	for _, v := range m.Row {
		if v == nil {
			row.nulls += "∅"
		}
	}
	switch m.Change {
	case "insert":
		if present {
			return fmt.Errorf("insert of key %s, which is there: %s", m.Key, last.exact)
		}
		f.rows[m.Key] = row
	case "update":
		if !present {
			return fmt.Errorf("update of key %s, which is not there: %s", m.Key, row.exact)
		}
		if last.exact == row.exact && len(last.nulls) == len(row.nulls) {
			return fmt.Errorf("update of key %s changes nothing: %s", m.Key, row.exact)
		}
		f.rows[m.Key] = row
	case "delete":
		if !present {
			return fmt.Errorf("delete of key %s, which is not there: %s", m.Key, row.exact)
		}
		if last.exact != row.exact {
			return fmt.Errorf("delete of key %s with %s, but its last row is %s", m.Key, row.exact, last.exact)
		}
		delete(f.rows, m.Key)
	default:
		return fmt.Errorf("change %q of key %s", m.Change, m.Key)
	}
	return nil
}

func (f *fold) texts() []string {
	var out []string
	for _, row := range f.rows {
		out = append(out, row.spelled)
	}
	slices.Sort(out)
	return out
}
