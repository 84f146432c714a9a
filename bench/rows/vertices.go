package rows

import (
	"fmt"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// vertices are the operators of a table script as its planner makes them, linked
// and taken through steps as the pipeline does it, without queue, parser and
// goroutines. The script has event time and no now().
type vertices struct {
	program *script.Program
	ops     []operator.Operator
	edges   []*edge  // by vertex
	inputs  [2]*edge // by the workload's port
	seen    [2]int64
	shown   []*shown
	batch   []operator.Arrival // Port: the input
	out     tableTally
}

// edge is the output of an input or a vertex.
type edge struct {
	targets  []portOf
	leaves   bool // it is an output of the script
	out      *tableTally
	inserted int64 // bytes of the rows that were inserted
}

type portOf struct {
	op   operator.Operator
	port int
}

// shown is what one operator is shown ahead, of each input the records that come to
// its ports.
type shown struct {
	op    operator.Prefetcher
	ports [2][]int // by input
	batch []operator.Arrival
}

// Emit implements operator.Output.
func (e *edge) Emit(rec operator.Record) {
	if rec.Diff > 0 {
		e.inserted += int64(len(rec.Row.Enc))
	}
	if e.leaves {
		e.out.take(&rec)
	}
	for i := range e.targets {
		e.targets[i].op.Process(e.targets[i].port, rec)
	}
}

// Advance implements operator.Output.
func (e *edge) Advance(p operator.Progress) {
	for i := range e.targets {
		e.targets[i].op.Advance(e.targets[i].port, p)
	}
}

// Drop implements operator.Output.
func (e *edge) Drop(int, operator.Record, operator.Reason, bool) { e.out.dropped++ }

// tableTally counts what leaves.
type tableTally struct {
	results int64
	dropped int64
	sum     uint64 // of the rows' digests
}

func (t *tableTally) take(rec *operator.Record) {
	if !rec.Past {
		t.results++
		t.sum += digest(rec.Row.Enc)
	}
}

// digest is something of a row that tells most rows apart and costs next to
// nothing.
func digest(enc []byte) (sum uint64) {
	for _, b := range enc[max(0, len(enc)-8):] {
		sum = sum<<8 | uint64(b)
	}
	return sum ^ uint64(len(enc))<<56
}

func program(sql string) (*script.Program, error) {
	s, err := syntax.ParseScript(sql)
	if err != nil {
		return nil, err
	}
	return script.Build(s, plan.Gates{Keys: maxKeys})
}

// newVertices builds and links the operators of a script.
func newVertices(sql string) (*vertices, error) {
	p, err := program(sql)
	if err != nil {
		return nil, err
	}
	v := &vertices{program: p}
	inputs := make([]*edge, len(p.Inputs))
	for i := range p.Inputs {
		inputs[i] = &edge{out: &v.out}
		v.inputs[portOfStream(p.Inputs[i].Stream)] = inputs[i]
	}
	v.edges = make([]*edge, len(p.Vertices))
	for i := range p.Vertices {
		v.edges[i] = &edge{out: &v.out}
		op, err := p.Vertices[i].Build(eval.NewContext(time.Now), v.edges[i])
		if err != nil {
			return nil, err
		}
		v.ops = append(v.ops, op)
		for n, port := range p.Vertices[i].Ports {
			to := portOf{op, n}
			switch port.From {
			case script.FromInput:
				inputs[port.Index].targets = append(inputs[port.Index].targets, to)
				v.show(op, portOfStream(p.Inputs[port.Index].Stream), n)
			case script.FromVertex:
				v.edges[port.Index].targets = append(v.edges[port.Index].targets, to)
				if in, only := v.source(port); port.Shown && only {
					v.show(op, portOfStream(p.Inputs[in].Stream), n)
				}
			case script.FromNow:
				return nil, fmt.Errorf("%s reads now(), which nobody drives here", p.Vertices[i].Table)
			}
		}
	}
	for i := range p.Outputs {
		v.edges[p.Outputs[i].Vertex].leaves = true
	}
	return v, nil
}

// source returns the input whose rows come to a port, if it is the only one.
func (v *vertices) source(port script.Port) (in int, only bool) {
	if port.From == script.FromInput {
		return port.Index, true
	}
	ports := v.program.Vertices[port.Index].Ports
	if len(ports) != 1 {
		return 0, false
	}
	return v.source(ports[0])
}

// show lets an operator see an input's rows ahead, if it wants to.
func (v *vertices) show(op operator.Operator, input, port int) {
	p, ok := op.(operator.Prefetcher)
	if !ok {
		return
	}
	for _, s := range v.shown {
		if s.op == p {
			s.ports[input] = append(s.ports[input], port)
			return
		}
	}
	s := &shown{op: p, batch: make([]operator.Arrival, 0, prefetchBatch)}
	s.ports[input] = append(s.ports[input], port)
	v.shown = append(v.shown, s)
}

func portOfStream(name string) int {
	if name == workload.Left {
		return 0
	}
	return 1
}

// extractors are what the engine reads the script's inputs with.
func (v *vertices) extractors() (x [2]*row.Extractor) {
	for i := range v.program.Inputs {
		in := &v.program.Inputs[i]
		x[portOfStream(in.Stream)] = row.NewExtractor(in.Paths)
	}
	return x
}

// feed takes all rows of a chunk through the operators.
func (v *vertices) feed(c *workload.Chunk) {
	for from := 0; from < len(c.Rows); from += prefetchBatch {
		to := min(from+prefetchBatch, len(c.Rows))
		v.batch = v.batch[:0]
		for i := from; i < to; i++ {
			v.batch = append(v.batch, operator.Arrival{Port: int(c.Rows[i].Port),
				Record: operator.Record{TS: c.Rows[i].Nanos(), Diff: 1, Row: c.Encoded(i)}})
		}
		for _, s := range v.shown {
			s.show(v.batch)
		}
		for i := range v.batch {
			v.arrive(v.batch[i].Port, &v.batch[i].Record)
		}
	}
}

// show shows the arrivals of inputs at the ports where they come in.
func (s *shown) show(batch []operator.Arrival) {
	if len(s.ports[1]) == 0 && len(s.ports[0]) == 1 && s.ports[0][0] == 0 {
		s.op.Prefetch(batch) // the only input comes in at the only port
		return
	}
	for i := range batch {
		for _, port := range s.ports[batch[i].Port] {
			s.batch = append(s.batch, operator.Arrival{Port: port, Record: batch[i].Record})
		}
	}
	s.op.Prefetch(s.batch)
	s.batch = s.batch[:0]
}

// arrive is one step.
func (v *vertices) arrive(port int, rec *operator.Record) {
	if rec.TS > v.seen[port] {
		v.seen[port] = rec.TS
		v.inputs[port].Advance(operator.Progress{Seen: rec.TS, Low: rec.TS})
	}
	v.inputs[port].Emit(*rec)
	for _, op := range v.ops {
		op.EndStep()
	}
}

// rows calls f with every row of a table as it is read, until it fails.
func (v *vertices) rows(table string, f func(text []byte) error) (err error) {
	for i := range v.program.Tables {
		t := &v.program.Tables[i]
		if t.Name != table || t.Reader < 0 {
			continue
		}
		reader, ok := v.ops[t.Reader].(operator.Reader)
		if !ok {
			break
		}
		ctx := eval.NewContext(time.Now)
		var text []byte
		reader.Read(func(r row.Row) bool {
			in := true
			if t.View != nil {
				r, in = t.View(ctx, row.Row{}, r)
			}
			if in {
				text = t.Shape.AppendJSON(text[:0], r)
				err = f(text)
			}
			return err == nil
		})
		return err
	}
	return fmt.Errorf("%w: nobody holds the rows of %s", harness.ErrCheck, table)
}
