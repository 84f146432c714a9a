package operator

import (
	"fmt"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// TemporalJoinConfig says what a TemporalJoin joins. The planner is its only
// writer.
type TemporalJoinConfig struct {
	Keys [2]int // per port: the first Keys columns of an incoming row are its join key
	// Keep: per port, columns [0, Keep) are kept; columns beyond only served the
	// operators before this one. Key columns are kept in any case.
	Keep [2]int
	Left bool     // rows without a version leave with NULLs
	Out  []OutCol // the composite row's columns in order
	// Residual, which may be nil, is the rest of ON: it sees the composite of a
	// row and its version and says whether they match.
	Residual func(row.Row) bool
	Text     JoinText // for Describe
}

func (cfg *TemporalJoinConfig) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: temporal join: "+format, append([]any{ErrConfig}, args...)...)
	}
	if cfg.Keys[0] < 1 || cfg.Keys[0] != cfg.Keys[1] {
		return bad("both ports need as many key columns, at least one; have %d and %d", cfg.Keys[0], cfg.Keys[1])
	}
	for i, o := range cfg.Out {
		if o.Port > 1 || o.Col < 0 || o.Col >= max(cfg.Keep[o.Port], cfg.Keys[o.Port]) {
			return bad("column %d of Out takes column %d of port %d, which is not kept", i, o.Col, o.Port)
		}
	}
	return nil
}

// Describe implements Operator.
func (j *TemporalJoin) Describe() Description {
	cfg := &j.cfg
	d := Description{Name: "TemporalJoin INNER"}
	if cfg.Left {
		d.Name = "TemporalJoin LEFT"
	}
	line := func(format string, args ...any) { d.Lines = append(d.Lines, fmt.Sprintf(format, args...)) }
	if cfg.Text.On != "" {
		line("on %s", cfg.Text.On)
	}
	stream, table := cfg.Text.portName(0), cfg.Text.portName(1)
	line("version of %s as of the time of %s", table, stream)
	for port, columns := range cfg.Text.Kept {
		if len(columns) > 0 {
			line("keeps of %s: %s", cfg.Text.portName(port), strings.Join(columns, ", "))
		}
	}
	line("state: rows of %s until both watermarks have reached them", stream)
	line("state: the current version of each key of %s, older ones until both watermarks have passed them", table)
	return d
}
