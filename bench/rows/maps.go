package rows

import (
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/reference"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// mapsToMaps measures EmitTo of maps → maps in a sync sink against the building
// of those maps. A round's maps are made in portions, so that few live at a time:
// the collector would else spend its time on the input.
func mapsToMaps(r *harness.Run) error {
	window := r.Scaled(60_000, 6000)
	w, err := newStandard(window, true)
	if err != nil {
		return err
	}
	c, err := workload.NewChunk(r.Scaled(240_000, 24_000), w.keys)
	if err != nil {
		return err
	}
	q, err := start(standardSQL)
	if err != nil {
		return err
	}
	defer q.Stop()
	columns := 0
	q.AddSyncSink(func(rows []map[string]any) {
		for _, row := range rows {
			columns += len(row)
			q.results++
		}
	})
	m := mapRun{query: q, chunk: c}
	for fed := 0; fed < 2*window+window/2; fed += len(c.Rows) {
		if err := c.Fill(w.stream); err != nil {
			return err
		}
		if _, err := m.own(); err != nil {
			return err
		}
	}
	err = r.Contest(harness.Contest{
		Per:     "row",
		Prepare: func() (int, error) { return len(c.Rows), c.Fill(w.stream) },
		Own: func() (time.Duration, error) {
			spent, err := m.own()
			if err != nil {
				return 0, err
			}
			return spent, q.check(w.stream)
		},
		Other: m.other,
	})
	if err != nil {
		return err
	}
	if err := harness.Equal("columns of all results", columns, 3*int(q.results)); err != nil {
		return err
	}
	r.Note("%d rows are in the window, %.2f results a row; input maps have 9 fields, output maps 3", w.stream.Buffered(), float64(c.Matches)/float64(len(c.Rows)))
	return nil
}

type mapRun struct {
	query *query
	chunk *workload.Chunk
	maps  []map[string]any
}

// portion is how many maps live at a time.
const portion = 8000

func (m *mapRun) own() (time.Duration, error) {
	m.query.expect(m.chunk)
	var total time.Duration
	for from := 0; from < len(m.chunk.Rows); from += portion {
		to := min(from+portion, len(m.chunk.Rows))
		m.maps = m.maps[:0]
		for i := from; i < to; i++ {
			m.maps = append(m.maps, m.chunk.Map(i))
		}
		spent, err := harness.CPU("engine", func() error {
			for i, row := range m.maps {
				if err := m.query.EmitTo(m.chunk.Stream(from+i), row); err != nil {
					return err
				}
			}
			return m.query.drain()
		})
		if err != nil {
			return 0, err
		}
		total += spent
	}
	return total, nil
}

// other builds each row's input map, and an output map for each match of the
// chunk.
func (m *mapRun) other() (time.Duration, error) {
	clear(m.maps)
	fields, want := 0, 9*len(m.chunk.Rows)+3*int(m.chunk.Matches)
	spent, err := harness.CPU("reference", func() error {
		owed := m.chunk.Matches
		for i := range m.chunk.Rows {
			in := m.chunk.Map(i)
			fields += len(in)
			// Matches spread over the rows as evenly as they can.
			for due := m.chunk.Matches * int64(len(m.chunk.Rows)-i-1) / int64(len(m.chunk.Rows)); owed > due; owed-- {
				out := reference.OutputMap(m.chunk.Key(i), m.chunk.Rows[i].Value(), m.chunk.Rows[i].Value())
				fields += len(out)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return spent, harness.Equal("fields built", fields, want)
}
