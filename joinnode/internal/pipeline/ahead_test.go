package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
)

// prefetching is an operator that notes what it is shown before it comes.
type prefetching struct {
	*operator.Filter
	shown, seen []int64 // times; of rows shown at port 1 negative
}

func (p *prefetching) Prefetch(batch []operator.Arrival) {
	for _, a := range batch {
		if a.Port == 1 {
			a.Record.TS *= -1
		}
		p.shown = append(p.shown, a.Record.TS)
	}
}

func (p *prefetching) Process(_ int, rec operator.Record) { p.seen = append(p.seen, rec.TS) }

// TestShowing: an operator is shown the rows of the inputs that feed it directly,
// and of those that do so through others where the planner says that their key
// stays, before they come, and also if a filter keeps them from it.
func TestShowing(t *testing.T) {
	for _, said := range []bool{false, true} {
		s := &sketch{}
		a, b := s.input("a", eventTime), s.input("b", eventTime)
		even := s.filter("even", "even", func(r row.Row) bool { v, _ := r.Col(colV).Int64(); return v%2 == 0 }, b)
		even.Shown = said
		var op *prefetching
		s.output("out", script.Stream, s.pass("out", "prefetching", func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
			op = &prefetching{Filter: operator.NewFilter(func(row.Row) bool { return true }, "", false, out)}
			return op, nil
		}, a))
		v := &s.program.Vertices[len(s.program.Vertices)-1]
		v.Ports, v.Shapes = append(v.Ports, even), append(v.Shapes, shapeOf(columns...))
		r := s.run(t)
		var batch batch
		for i := range 20 {
			in := r.at([]string{"a", "b"}[i%2], "key", i/2, int64(i))
			from := len(batch.slab)
			batch.slab = append(batch.slab, in.Row.Enc...)
			batch.arrivals = append(batch.arrivals, arrival{input: in.Input, ts: int64(i + 1), now: int64(i + 1), enc: span{from, len(batch.slab)}})
		}
		r.run(&batch)
		var shown, seen []int64
		for i := range int64(20) {
			switch ts := i + 1; {
			case i%2 == 0:
				shown, seen = append(shown, ts), append(seen, ts)
			case said:
				shown = append(shown, -ts)
			}
			if i%4 == 1 {
				seen = append(seen, i+1)
			}
		}
		require.Equal(t, shown, op.shown)
		require.Equal(t, seen, op.seen)
	}
}
