package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// DedupConfig says which row of each key a Dedup keeps.
type DedupConfig struct {
	Keys  int // the first Keys columns of a row are its key
	Order []OrderKey
	// History: Order[0] is the event time, descending, and rows that do not win
	// go into the table's history.
	History bool
	TTL     int64  // STATETTL, ns; 0 = none. Port 1 is then the script's time.
	Text    string // DISTINCT ON … as EXPLAIN shows it
}

// OrderKey is one column of ORDER BY.
type OrderKey struct {
	Col  int
	Desc bool
}

// Dedup is DISTINCT ON.
type Dedup struct {
	cfg DedupConfig
	out Output
}

// NewDedup returns an empty Dedup.
func NewDedup(cfg DedupConfig, out Output) (*Dedup, error) {
	return &Dedup{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (d *Dedup) Advance(int, Progress) {}

// Process implements Operator.
func (d *Dedup) Process(int, Record) {}

// EndStep implements Operator.
func (d *Dedup) EndStep() {}

// Wake implements Operator.
func (d *Dedup) Wake(int, int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (d *Dedup) Flush(int, CloseReason) {}

// Stats implements Operator.
func (d *Dedup) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (d *Dedup) Describe() Description { return Description{Name: "Dedup"} }

// Read implements Reader.
func (d *Dedup) Read(func(row.Row) bool) {}
