package rows

import (
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/reference"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// prefetchBatch is how many records an operator is shown ahead, if it wants to
// see them (operator.Prefetcher).
const prefetchBatch = 16

// bareOperator is the join operator without plan, queue and goroutines. It is
// configured as an engine would: the maxKeys gate is on, as it always is there.
type bareOperator struct {
	join     *operator.IntervalJoin
	prefetch operator.Prefetcher // nil: it takes one record at a time
	batch    []operator.Arrival
	out      tally
	seen     [2]int64
	seq      uint64
	step     func() // called behind each record; nil: nothing
}

// tally is an Output that counts.
type tally struct {
	results, nulls, dropped int64
	bytes                   int64
}

func (t *tally) Emit(rec operator.Record) {
	t.results++
	if rec.Nulls != 0 {
		t.nulls++
	}
	t.bytes += int64(len(rec.Row.Enc))
}
func (t *tally) Advance(operator.Progress) {}
func (t *tally) Drop(int, operator.Record, operator.Reason, bool) {
	t.dropped++
}

const within = int64(workload.Within)

func newBareOperator(left bool, window int64) (*bareOperator, error) {
	b := &bareOperator{}
	// Rows are key, reading, other value; results key, reading, reading.
	join, err := operator.NewIntervalJoin(operator.JoinConfig{
		Within: window, RightRetention: window, Left: left, RightSource: 1,
		Keys: [2]int{1, 1}, Keep: [2]int{2, 2}, MaxKeys: maxKeys,
		Out: []operator.OutCol{{Port: 0, Col: 0}, {Port: 0, Col: 1}, {Port: 1, Col: 1}},
	}, &b.out)
	if err != nil {
		return nil, err
	}
	b.join = join
	b.prefetch, _ = any(join).(operator.Prefetcher)
	return b, nil
}

// feed gives all rows of a chunk to the operator, as the pipeline does.
func (b *bareOperator) feed(c *workload.Chunk) {
	for from := 0; from < len(c.Rows); from += prefetchBatch {
		to := min(from+prefetchBatch, len(c.Rows))
		b.batch = b.batch[:0]
		for i := from; i < to; i++ {
			r := &c.Rows[i]
			b.seq++
			b.batch = append(b.batch, operator.Arrival{Port: int(r.Port),
				Record: operator.Record{TS: r.Nanos(), Seq: b.seq, Diff: 1, Row: c.Encoded(i)}})
		}
		if b.prefetch != nil {
			b.prefetch.Prefetch(b.batch)
		}
		for i := range b.batch {
			b.arrive(b.batch[i].Port, b.batch[i].Record)
			if b.step != nil {
				b.step()
			}
		}
	}
}

// arrive is one step.
func (b *bareOperator) arrive(port int, rec operator.Record) {
	if rec.TS > b.seen[port] {
		b.seen[port] = rec.TS
		b.join.Advance(port, operator.Progress{Seen: rec.TS, Low: rec.TS - within})
	}
	b.join.Process(port, rec)
	b.join.EndStep()
}

// bareLoop is the reference with its prepared rows.
type bareLoop struct {
	join *reference.Join
	rows []reference.Row
	keys *workload.Keys
	pairTally
}

type pairTally struct {
	results int64
	sum     float64
}

// Take implements reference.Sink.
func (t *pairTally) Take(p *reference.Pair) {
	t.results++
	t.sum += p.Left + p.Right + float64(len(p.Key))
}

func newBareLoop(rows int, keys *workload.Keys) (*bareLoop, error) {
	l := &bareLoop{keys: keys}
	l.join = reference.NewJoin(within, &l.pairTally)
	var err error
	l.rows, err = workload.OffHeap[reference.Row](rows) // the keys lie outside the heap, too
	return l, err
}

func (l *bareLoop) prepare(c *workload.Chunk) {
	for i := range c.Rows {
		r := &c.Rows[i]
		l.rows[i] = reference.Row{TS: r.Nanos(), Key: c.Key(i), Reading: r.Value(), Other: float64(r.Other) / 100, Port: r.Port}
	}
}

func (l *bareLoop) feed() {
	for i := range l.rows {
		l.join.Process(&l.rows[i])
	}
}

// duel is the operator and the bare loop on the same rows.
type duel struct {
	standard
	chunk *workload.Chunk
	own   *bareOperator
	other *bareLoop
	want  int64
}

func newDuel(w standard, rows, fill int) (*duel, error) {
	d := &duel{standard: w}
	var err error
	if d.chunk, err = workload.NewEncoded(rows, w.keys); err != nil {
		return nil, err
	}
	if d.own, err = newBareOperator(false, within); err != nil {
		return nil, err
	}
	if d.other, err = newBareLoop(rows, w.keys); err != nil {
		return nil, err
	}
	for fed := 0; fed < fill; fed += rows {
		if _, err := d.prepare(); err != nil {
			return nil, err
		}
		d.own.feed(d.chunk)
		d.other.feed()
	}
	return d, d.check()
}

func (d *duel) prepare() (int, error) {
	if err := d.chunk.Fill(d.stream); err != nil {
		return 0, err
	}
	d.other.prepare(d.chunk)
	d.want += d.chunk.Matches
	return len(d.chunk.Rows), nil
}

// check compares both with the workload.
func (d *duel) check() error {
	if err := d.checkOwn(); err != nil {
		return err
	}
	return d.checkOther()
}

func (d *duel) checkOwn() error {
	if err := harness.Equal("results of the operator", d.own.out.results, d.want); err != nil {
		return err
	}
	if err := harness.Equal("rows dropped by the operator", d.own.out.dropped, 0); err != nil {
		return err
	}
	return checkBuffered(d.own.join.Stats().Rows, d.stream)
}

func (d *duel) checkOther() error {
	if err := harness.Equal("results of the bare loop", d.other.results, d.want); err != nil {
		return err
	}
	return checkBuffered(int64(d.other.join.Buffered()), d.stream)
}

// contest runs the rounds; units are rows, or matches where perMatch.
func (d *duel) contest(r *harness.Run, per string, perMatch bool) error {
	return r.Contest(harness.Contest{
		Per: per,
		Prepare: func() (int, error) {
			n, err := d.prepare()
			if perMatch {
				n = int(d.chunk.Matches)
			}
			return n, err
		},
		Own: func() (time.Duration, error) {
			spent, _ := harness.CPU("engine", func() error { d.own.feed(d.chunk); return nil })
			return spent, d.checkOwn()
		},
		Other: func() (time.Duration, error) {
			spent, _ := harness.CPU("reference", func() error { d.other.feed(); return nil })
			return spent, d.checkOther()
		},
	})
}

// operatorAlone measures the operator on prepared rows against the bare loop.
func operatorAlone(full, quick int) func(*harness.Run) error {
	return func(r *harness.Run) error {
		window := r.Scaled(full, quick)
		w, err := newStandard(window, false)
		if err != nil {
			return err
		}
		d, err := newDuel(w, r.Scaled(480_000, 24_000), 2*window+window/2)
		if err != nil {
			return err
		}
		if err := harness.AtLeast("rows in the window", float64(w.stream.Buffered()), 2*float64(window)); err != nil {
			return err
		}
		from, seq := d.want, d.own.seq
		if err := d.contest(r, "row", false); err != nil {
			return err
		}
		st := d.own.join.Stats()
		r.Note("%d rows are in the window, %.2f results a row, both sides of the comparison agree; %.1f B of state a row, %.1f rows visited a row",
			w.stream.Buffered(), float64(d.want-from)/float64(d.own.seq-seq), float64(st.Bytes)/float64(st.Rows), float64(st.Visited)/float64(d.own.seq))
		return nil
	}
}
