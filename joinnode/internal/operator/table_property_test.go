package operator_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestTableIsTheDifferenceOfTwoStates moves a table from one state to the next by
// detours, in any order of insertions and retractions, and compares what comes
// out with the difference. The three kinds of StreamOn together see the same.
func TestTableIsTheDifferenceOfTwoStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(0, 2).Draw(t, "keys")
		logs := [5]*operatortest.Log{}
		ops := [5]operator.Operator{}
		for i, construct := range []func(operator.Output) (operator.Operator, error){
			func(out operator.Output) (operator.Operator, error) {
				return operator.NewTable(operator.TableConfig{Keys: keys, Keep: true}, out)
			},
			func(out operator.Output) (operator.Operator, error) {
				return operator.NewTable(operator.TableConfig{Keys: keys}, out)
			},
			func(out operator.Output) (operator.Operator, error) {
				return operator.NewStreamOn(operator.StreamOnConfig{On: operator.Inserted, Keys: keys}, out)
			},
			func(out operator.Output) (operator.Operator, error) {
				return operator.NewStreamOn(operator.StreamOnConfig{On: operator.Updated, Keys: keys}, out)
			},
			func(out operator.Output) (operator.Operator, error) {
				return operator.NewStreamOn(operator.StreamOnConfig{On: operator.Deleted, Keys: keys}, out)
			},
		} {
			logs[i] = operatortest.NewLog()
			var err error
			ops[i], err = construct(logs[i])
			require.NoError(t, err)
		}
		state := map[string]row.Row{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			before := maps.Clone(state)
			records := detours(t, keys, state)
			for _, op := range ops {
				for i, rec := range records {
					rec.Seq = uint64(i)
					rec.Row = copied(rec.Row)
					op.Process(0, rec)
					clear(rec.Row.Enc) // the row was only lent
					clear(rec.Row.Side)
				}
				op.EndStep()
			}
			want := [5][]string{}
			say := func(on operator.Change, text string) {
				want[int(on)+1] = append(want[int(on)+1], "emit @5 "+text)
				if on == operator.Deleted {
					text += " retracted"
				}
				want[0] = append(want[0], "emit @5 "+text+" "+on.String())
			}
			var rows []string
			for key, r := range state {
				rows = append(rows, operatortest.Row(r))
				if was, ok := before[key]; !ok {
					say(operator.Inserted, operatortest.Row(r))
				} else if !shownAlike(was, r) {
					say(operator.Updated, operatortest.Row(r))
				}
			}
			for key, was := range before {
				if _, ok := state[key]; !ok {
					say(operator.Deleted, operatortest.Row(was))
				}
			}
			want[1] = want[0]
			for i, log := range logs {
				require.ElementsMatch(t, want[i], log.Take(), "operator %d", i)
			}
			var read []string
			ops[0].(operator.Reader).Read(func(r row.Row) bool { read = append(read, operatortest.Row(r)); return true })
			require.ElementsMatch(t, rows, read)
		}
	})
}

// shownAlike tells whether two rows are the same to whoever reads the table: their
// numbers may be spelled differently.
func shownAlike(a, b row.Row) bool {
	if byteForByte(a) == byteForByte(b) {
		return true
	}
	alike := a.Len() == b.Len()
	for i := range a.Len() {
		x, y := a.Col(i), b.Col(i)
		if x.Kind == value.Any && y.Kind == value.Any {
			alike = alike && reflect.DeepEqual(x.Ref, y.Ref)
			continue
		}
		one, other := byteForByte(row.Append(row.Row{}, x)), byteForByte(row.Append(row.Row{}, y))
		_, xNumber := x.Float64()
		_, yNumber := y.Float64()
		alike = alike && (one == other || xNumber && yNumber && string(value.AppendKey(nil, x)) == string(value.AppendKey(nil, y)))
	}
	return alike
}

// detours changes the rows of some keys of state, some of them more than once,
// and returns the records of all of it in any order.
func detours(t *rapid.T, keys int, state map[string]row.Row) (records []operator.Record) {
	for range rapid.IntRange(0, 30).Draw(t, "changes") {
		var cols []any
		for range keys {
			cols = append(cols, rapid.OneOf(rapid.Custom(drawKey), rapid.Custom(func(t *rapid.T) any {
				return fmt.Sprint("one of many ", rapid.IntRange(0, 30).Draw(t, "which"))
			})).Draw(t, "key column"))
		}
		r := encode(append(cols, drawValue(t), drawValue(t)))
		var key []byte
		for i := range keys {
			key = value.AppendKey(key, r.Col(i))
		}
		if old, ok := state[string(key)]; ok {
			records = append(records, operator.Record{TS: 5, Diff: -1, Row: old})
			delete(state, string(key))
		}
		if rapid.IntRange(0, 3).Draw(t, "leaves") > 0 {
			records = append(records, operator.Record{TS: 5, Diff: 1, Row: r})
			state[string(key)] = r
		}
	}
	if len(records) == 0 {
		return nil
	}
	return rapid.Permutation(records).Draw(t, "order")
}

// byteForByte writes a row so that all that differs differs, inside Go values too.
func byteForByte(r row.Row) string {
	var values func(x any) string
	values = func(x any) (text string) {
		switch x := x.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				text += name + ":" + values(x[name]) + " "
			}
		case []any:
			for _, e := range x {
				text += values(e) + " "
			}
		default:
			return fmt.Sprintf("%T(%v)", x, x)
		}
		return fmt.Sprintf("%T{%s}", x, text)
	}
	return fmt.Sprintf("%q %s", r.Enc, values(r.Side))
}

func copied(r row.Row) row.Row {
	return row.Row{Enc: slices.Clone(r.Enc), Side: slices.Clone(r.Side)}
}

// TestTableOfNetChanges: where changes are net already, gathering them or not is
// the same, record for record.
func TestTableOfNetChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(0, 2).Draw(t, "keys")
		var logs [2]*operatortest.Log
		var tables [2]*operator.Table
		for i := range tables {
			logs[i] = operatortest.NewLog()
			var err error
			tables[i], err = operator.NewTable(operator.TableConfig{Keys: keys, Net: i == 1}, logs[i])
			require.NoError(t, err)
		}
		draw := func(key []any) row.Row {
			return encode(append(slices.Clone(key), drawValue(t), rapid.SampledFrom([]any{1, 1.0, "x"}).Draw(t, "value")))
		}
		seen := map[string]bool{}
		for step := range int64(rapid.IntRange(1, 10).Draw(t, "steps")) {
			var records []operator.Record
			clear(seen)
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				key := make([]any, keys)
				var norm []byte
				for i := range key {
					key[i] = drawKey(t)
					norm = value.AppendKey(norm, encode([]any{key[i]}).Col(0))
				}
				if seen[string(norm)] {
					continue
				}
				seen[string(norm)] = true
				shown := rapid.IntRange(1, 3).Draw(t, "old 1, new 2")
				if shown&1 != 0 {
					records = append(records, operator.Record{TS: step, Diff: -1, Row: draw(key)})
				}
				if shown&2 != 0 {
					for i, k := range key {
						if n, ok := k.(int); ok && rapid.Bool().Draw(t, "another spelling") {
							key[i] = float64(n)
						}
					}
					records = append(records, operator.Record{TS: step + 1, Diff: 1, Row: draw(key), Nulls: 2, Why: operator.ClosedByIdle})
				}
			}
			for _, table := range tables {
				for i, rec := range records {
					rec.Seq = uint64(i)
					rec.Row = copied(rec.Row)
					table.Process(0, rec)
					clear(rec.Row.Enc) // the row was only lent
					clear(rec.Row.Side)
				}
				table.Process(0, operator.Record{TS: step, Diff: 1, Past: true, Row: draw(make([]any, keys))})
				table.Advance(0, operator.Progress{Seen: step, Low: step})
				table.EndStep()
			}
			require.Equal(t, logs[0].Take(), logs[1].Take())
		}
	})
}
