package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// TableConfig says what a Table is.
type TableConfig struct {
	Keys int    // the first Keys columns of a row are its key
	Keep bool   // hold the rows, so that they can be read
	TTL  int64  // STATETTL, ns; 0 = none. Port 1 is then the script's time.
	Text string // the table as EXPLAIN shows it
}

// Table consolidates the changes of a state edge.
type Table struct {
	cfg TableConfig
	out Output
}

// NewTable returns an empty table.
func NewTable(cfg TableConfig, out Output) (*Table, error) {
	return &Table{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (t *Table) Advance(int, Progress) {}

// Process implements Operator.
func (t *Table) Process(int, Record) {}

// EndStep implements Operator.
func (t *Table) EndStep() {}

// Wake implements Operator.
func (t *Table) Wake(int, int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (t *Table) Flush(int, CloseReason) {}

// Stats implements Operator.
func (t *Table) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (t *Table) Describe() Description { return Description{Name: "Table"} }

// Read implements Reader.
func (t *Table) Read(func(row.Row) bool) {}
