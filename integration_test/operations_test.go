package integration_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// operation is one thing done to a running chain.
type operation struct {
	kind operationKind
	rows []input // of emit: one row as an object, several as an array
}

type operationKind int

const (
	emit        operationKind = iota
	emitRefused               // a message that must go to Failure and feed nothing
	reloadSame                // same join, other output column names: state goes on
	reloadOther               // another WITHIN: what waits leaves with closedBy=reload
	reloadBad                 // SQL that does not compile: nothing happens
	reloadChain               // the whole chain, unchanged
)

// input is one row: its side, key, and how far it moves the common clock (ms).
type input struct {
	left bool
	key  int
	step int64
}

// withins are the two WITHINs that reloadOther alternates between, in ms.
var withins = [2]int64{1000, 1500}

func operations() *rapid.Generator[[]operation] {
	row := rapid.Custom(func(t *rapid.T) input {
		return input{
			left: rapid.Bool().Draw(t, "left"),
			key:  rapid.IntRange(0, 2).Draw(t, "key"),
			step: rapid.SampledFrom([]int64{0, 1, 300, 700, 1001}).Draw(t, "step"),
		}
	})
	// Rows are the most of it: reloads with nothing in between show little.
	kind := rapid.SampledFrom([]operationKind{emit, emit, emit, emit, emit, emit,
		emitRefused, reloadSame, reloadOther, reloadBad, reloadChain})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) operation {
		o := operation{kind: kind.Draw(t, "kind")}
		if o.kind == emit {
			o.rows = rapid.SliceOfN(row, 1, 3).Draw(t, "rows")
		}
		return o
	}), 1, 40)
}

// TestOperations does random things to a chain in a real rule engine and knows
// what must come out, to the last row and in which order: every pair of rows
// within WITHIN once, every left row without one once as a NULL row, whatever
// reloads come in between.
func TestOperations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := operations().Draw(rt, "operations")
		var got, want []string
		var faults []string
		// A bubble of its own per run; rapid's own panics must stay outside.
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(epoch))
			got, want, faults = operate(t, ops)
		})
		if len(faults) > 0 {
			rt.Fatalf("%s", strings.Join(faults, "\n"))
		}
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			rt.Fatalf("results differ\nwant:\n%s\ngot:\n%s", w, g)
		}
	})
}

// operate runs the operations and returns what left the chain, what the oracle
// says should have left, and what else went wrong.
func operate(t *testing.T, ops []operation) (got, want, faults []string) {
	var (
		clock  = epoch.UnixMilli()
		oracle = &joinOracle{within: withins[0]}
		names  = 0 // which output column names
		rows   int64
		pure   = true // counters go on only while the join is the same
	)
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	definition := func() (chain, node []byte) { return operationChain(oracle.within, names) }
	chain, _ := definition()
	e, seen := start(t, "operations", chain)
	// answer hands a message in and returns what the node said to it.
	answer := func(msg types.RuleMsg) outcome {
		before := len(seen.answers("join"))
		e.OnMsgAndWait(msg)
		answers := seen.answers("join")
		if len(answers) != before+1 {
			fault("%d answers to one message", len(answers)-before)
			return outcome{}
		}
		return answers[before]
	}

	for i, o := range ops {
		switch o.kind {
		case emit:
			msg := operationMessage(o.rows, &clock, oracle)
			if a := answer(msg); a.relation != types.Success {
				fault("operation %d: %s refused: %v", i, msg.GetData(), a.err)
			}
			rows += int64(len(o.rows))
		case emitRefused:
			// The second row names no stream of the query, so the first must not be fed either.
			if a := answer(message(nil, []byte(`[{"stream":"L","k":0,"id":-1},{"stream":"X","k":0}]`))); a.relation != types.Failure {
				fault("operation %d: a row of an unknown stream was accepted", i)
			}
		case reloadSame, reloadOther, reloadBad:
			within, before := oracle.within, names
			if o.kind == reloadOther {
				within = withins[0] + withins[1] - within
			}
			names = 1 - names
			_, node := operationChain(within, names)
			if o.kind == reloadBad {
				names = before
				node = []byte(strings.Replace(string(node), "WITHIN", "WITHOUT", 1))
			}
			err := e.ReloadChild("join", node)
			if (err != nil) != (o.kind == reloadBad) {
				fault("operation %d: reload: %v", i, err)
			}
			if o.kind == reloadOther {
				oracle.flush("reload")
				oracle.within, pure = within, false
			}
		case reloadChain:
			chain, _ := definition()
			if err := e.ReloadSelf(chain); err != nil {
				fault("operation %d: reload the chain: %v", i, err)
			}
		}
		synctest.Wait()
	}
	if stats := nodeOf(t, e, "join").Stats(); pure && stats["input_count"] != rows {
		fault("input_count is %d after %d rows", stats["input_count"], rows)
	}
	drainAndStop(t, e)
	synctest.Wait()
	oracle.flush("stop")

	// A message that comes too late is refused, not lost in silence.
	refused := false
	e.OnMsgAndWait(message(nil, []byte(`{"stream":"L","k":0,"id":-1,"ts":1}`)),
		types.WithOnEnd(func(_ types.RuleContext, _ types.RuleMsg, err error, _ string) { refused = err != nil }))
	synctest.Wait()
	if !refused {
		fault("a message after Stop was not refused")
	}

	for _, ev := range seen.left(t, false) {
		require.Len(t, ev.Rows, 1)
		var row map[string]any
		require.NoError(t, json.Unmarshal(ev.Rows[0], &row))
		// Both sets of output names say the same.
		left, right := row["l0"], row["r0"]
		if _, other := row["l1"]; other {
			left, right = row["l1"], row["r1"]
		}
		got = append(got, oracleLine(left, right, ev.Metadata["closedBy"]))
	}
	return got, oracle.results, faults
}

// operationMessage builds a message and tells the oracle of its rows.
func operationMessage(rows []input, clock *int64, oracle *joinOracle) types.RuleMsg {
	bodies := make([]string, 0, len(rows))
	for _, r := range rows {
		*clock += r.step
		stream := "R"
		if r.left {
			stream = "L"
		}
		id := oracle.arrive(r.left, r.key, *clock)
		bodies = append(bodies, fmt.Sprintf(`{"stream":%q,"k":%d,"id":%d,"ts":%d}`, stream, r.key, id, *clock))
	}
	body := bodies[0]
	if len(bodies) > 1 {
		body = "[" + strings.Join(bodies, ",") + "]"
	}
	return message(nil, []byte(body))
}

// operationChain is a chain of one join: the whole, and its node alone.
func operationChain(within int64, names int) (chain, node []byte) {
	sql := fmt.Sprintf("SELECT l.id AS l%d, r.id AS r%d FROM L AS l LEFT JOIN R AS r WITHIN %d MS ON l.k = r.k WITH (TIMESTAMP='ts')",
		names, names, within)
	node = fmt.Appendf(nil, `{"id":"join","type":"x/streamAggregator","name":"join","configuration":{"sql":%q,"streamKey":"${msg.stream}"}}`, sql)
	chain = fmt.Appendf(nil, `{"ruleChain":{"id":"operations","name":"operations","root":true},"metadata":{"nodes":[%s],"connections":[]}}`, node)
	return chain, node
}

// joinOracle says what a LEFT JOIN must do when time never falls, so that no row
// is late: it looks at all pairs and has no other idea of the engine.
type joinOracle struct {
	within  int64
	rows    []oracleRow // since the last change of the join
	next    int
	results []string
}

type oracleRow struct {
	id      int
	left    bool
	key     int
	ts      int64
	matched bool
	gone    bool // its NULL row has left
}

// arrive adds a row and what it causes, and returns its id.
func (o *joinOracle) arrive(left bool, key int, ts int64) int {
	id := o.next
	o.next++
	if left {
		o.giveUp(func(r oracleRow) bool { return ts-r.ts > o.within }, "window")
	}
	row := oracleRow{id: id, left: left, key: key, ts: ts}
	for i := range o.rows {
		other := &o.rows[i]
		if other.left == left || other.key != key || ts-other.ts > o.within {
			continue
		}
		if left {
			row.matched = true
			o.results = append(o.results, oracleLine(id, other.id, ""))
		} else {
			other.matched = true
			o.results = append(o.results, oracleLine(other.id, id, ""))
		}
	}
	o.rows = append(o.rows, row)
	return id
}

// giveUp sends the NULL rows of the left rows that fit.
func (o *joinOracle) giveUp(fits func(oracleRow) bool, why string) {
	for i := range o.rows {
		r := &o.rows[i]
		if r.left && !r.matched && !r.gone && fits(*r) {
			r.gone = true
			o.results = append(o.results, oracleLine(r.id, nil, why))
		}
	}
}

// flush ends the join and its state.
func (o *joinOracle) flush(why string) {
	o.giveUp(func(oracleRow) bool { return true }, why)
	o.rows = nil
}

func oracleLine(left, right any, closedBy string) string {
	text, err := json.Marshal([]any{left, right, closedBy})
	if err != nil {
		panic(err) // numbers and text always encode
	}
	return string(text)
}
