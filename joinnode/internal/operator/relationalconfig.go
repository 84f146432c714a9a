package operator

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// RelationalJoinConfig says what a RelationalJoin joins. The plan is its only
// writer.
type RelationalJoinConfig struct {
	// Keys: per port, the first Keys columns of an incoming row are its join key,
	// as many on both ports. Without key columns every row meets every row.
	Keys [2]int
	// Keep: per port, columns [0, Keep) are kept and compared; a change beyond them
	// is none. Key columns are kept in any case.
	Keep [2]int
	Left bool     // LEFT JOIN
	Out  []OutCol // the composite row's columns in order
	// NullsMatch lets keys with NULLs match each other, as the key of a parent row
	// and that of its nested rows do; in ON a NULL matches nothing.
	NullsMatch bool
	// Residual is the part of ON that is no equality of keys: it sees a composite
	// and says whether its rows match. nil accepts all.
	Residual func(row.Row) bool
	// TTL is STATETTL, ns: a key that no record touched for so long leaves with its
	// rows of both ports. 0 = none; otherwise port 2 is the script's now().
	TTL  int64
	Text JoinText
}

func (cfg *RelationalJoinConfig) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: relational join: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case cfg.Keys[0] < 0 || cfg.Keys[0] != cfg.Keys[1]:
		return bad("both ports need as many key columns; have %d and %d", cfg.Keys[0], cfg.Keys[1])
	case cfg.TTL < 0:
		return bad("TTL must not be negative, is %d", cfg.TTL)
	}
	for i, o := range cfg.Out {
		if o.Port > 1 || o.Col < 0 || o.Col >= max(cfg.Keep[o.Port], cfg.Keys[o.Port]) {
			return bad("column %d of Out takes column %d of port %d, which is not kept", i, o.Col, o.Port)
		}
	}
	return nil
}

// Describe implements Operator.
func (j *RelationalJoin) Describe() Description {
	cfg := &j.cfg
	d := Description{Name: "RelationalJoin INNER"}
	if cfg.Left {
		d.Name = "RelationalJoin LEFT"
	}
	line := func(format string, args ...any) { d.Lines = append(d.Lines, fmt.Sprintf(format, args...)) }
	if cfg.Text.On != "" {
		line("on %s", cfg.Text.On)
	}
	for port, columns := range cfg.Text.Kept {
		if len(columns) > 0 {
			line("keeps of %s: %s", cfg.Text.portName(port), strings.Join(columns, ", "))
		}
	}
	line("state: every row of %s and of %s", cfg.Text.portName(0), cfg.Text.portName(1))
	if cfg.TTL > 0 {
		line("state: a key untouched for %s leaves (STATETTL)", time.Duration(cfg.TTL))
	}
	return d
}
