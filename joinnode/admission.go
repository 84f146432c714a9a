package joinnode

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// admissions is the way into a pipeline for rows: what a query on our own
// operators reads of each stream, and how.
type admissions struct {
	inputs []streamInput
	into   *pipeline.Pipeline
	pool   sync.Pool // of *admission
}

// streamInput is how the rows of one stream are read.
type streamInput struct {
	name      string
	extractor *row.Extractor
	timeCol   int // −1: arrival time
	unit      value.Unit
}

func newAdmissions(inputs []streamInput, into *pipeline.Pipeline) *admissions {
	q := &admissions{inputs: inputs, into: into}
	q.pool.New = func() any { return &admission{scratch: make([]row.Scratch, len(inputs))} }
	return q
}

func (q *admissions) streams() []string {
	names := make([]string, len(q.inputs))
	for i := range q.inputs {
		names[i] = q.inputs[i].name
	}
	return names
}

// admission is the scratch space of one call: the rows of a message, encoded
// one after another.
type admission struct {
	rows    []pipeline.Row
	ends    []int
	enc     []byte
	scratch []row.Scratch // by input: it remembers the order of a message's members
	raw     []byte
}

func (a *admission) reset() {
	clear(a.rows)
	a.rows, a.ends, a.enc, a.raw = a.rows[:0], a.ends[:0], a.enc[:0], a.raw[:0]
}

// add notes a row whose columns were appended to the encoding.
func (a *admission) add(q *admissions, input int, r row.Row, from int, raw []byte) {
	a.enc = r.Enc
	pr := pipeline.Row{Input: input, Raw: raw}
	pr.Row.Side = r.Side
	if in := &q.inputs[input]; in.timeCol >= 0 {
		pr.TS, pr.BadTime = in.timeOf(row.Row{Enc: r.Enc[from:], Side: r.Side})
	}
	a.rows, a.ends = append(a.rows, pr), append(a.ends, len(a.enc))
}

// timeOf returns the event time of a row, or that it has none.
func (in *streamInput) timeOf(r row.Row) (ts int64, bad bool) {
	if text, ok := r.Number(in.timeCol); ok { // as most are: no Value of it is made
		ts, ok = value.NumberTime(text, in.unit)
		return ts, !ok
	}
	ts, ok := value.Timestamp(r.Col(in.timeCol), in.unit)
	return ts, !ok
}

// put admits the rows. The encoding may have moved while it grew, so the rows
// get their part of it only now.
func (a *admission) put(p *pipeline.Pipeline) error {
	from := 0
	for i, to := range a.ends {
		a.rows[i].Row.Enc = a.enc[from:to]
		from = to
	}
	switch err := p.Put(a.rows); {
	case errors.Is(err, pipeline.ErrClosed):
		return ErrStopped
	case errors.Is(err, pipeline.ErrOverflow):
		return ErrOverflow
	default:
		return err
	}
}

// input finds the input of a stream; "" is FROM. There are few, and their names
// mostly differ in length: looking at each is faster than a map.
func (q *admissions) input(stream string) (int, error) {
	if stream == "" {
		return 0, nil
	}
	for i := range q.inputs {
		if q.inputs[i].name == stream {
			return i, nil
		}
	}
	return 0, unknownStream(stream, q.streams())
}

func unknownStream(stream string, known []string) error {
	return fmt.Errorf("%w %q, known streams: %s", ErrUnknownStream, stream, strings.Join(known, ", "))
}

func (q *admissions) emitMap(stream string, data map[string]any) error {
	input, err := q.input(stream)
	if err != nil {
		return err
	}
	a := q.pool.Get().(*admission)
	defer q.pool.Put(a)
	a.reset()
	r, err := q.inputs[input].extractor.Map(row.Row{Enc: a.enc}, data)
	if err != nil {
		return err
	}
	if q.into.WantsLate() {
		a.raw = value.AppendJSON(a.raw, value.FromGo(data))
	}
	a.add(q, input, r, 0, a.raw)
	return a.put(q.into)
}

func (q *admissions) emitJSON(stream string, obj []byte) error {
	a := q.pool.Get().(*admission)
	defer q.pool.Put(a)
	a.reset()
	if err := q.admit(a, stream, obj, q.into.WantsLate()); err != nil {
		return err
	}
	return a.put(q.into)
}

func (q *admissions) emitRows(rows []JSONRow) error {
	a := q.pool.Get().(*admission)
	defer q.pool.Put(a)
	a.reset()
	late := q.into.WantsLate()
	for i := range rows {
		if err := q.admit(a, rows[i].Stream, rows[i].Data, late); err != nil {
			return rowError(i, len(rows), err)
		}
	}
	return a.put(q.into)
}

// admit validates and encodes one JSON object.
func (q *admissions) admit(a *admission, stream string, obj []byte, late bool) error {
	input, err := q.input(stream)
	if err != nil {
		return err
	}
	from := len(a.enc)
	r, err := q.inputs[input].extractor.JSON(row.Row{Enc: a.enc}, obj, &a.scratch[input])
	if err != nil {
		return err
	}
	var raw []byte
	if late {
		raw = obj
	}
	a.add(q, input, r, from, raw)
	return nil
}
