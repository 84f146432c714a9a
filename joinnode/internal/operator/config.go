package operator

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// ErrConfig is behind every error about an operator's configuration.
var ErrConfig = errors.New("invalid operator configuration")

// JoinConfig says what an IntervalJoin joins. The plan is its only writer.
type JoinConfig struct {
	// Within is the greatest distance in time of two rows that match, ns. It stands
	// for Lower = −Within and Upper = Within.
	Within int64
	// Lower and Upper, where they are not both 0 or Between is set, take the place of
	// Within: two rows match when Lower ≤ right time − left time ≤ Upper, ns. Both may
	// be positive, or negative.
	Lower, Upper int64
	Between      bool // Lower and Upper count though both are 0
	Left         bool // LEFT JOIN
	// LeftRetention is how long left rows are kept after their time, ns, which is
	// also when one without a match is complete. 0 stands for the least, which is
	// Within, or Upper where that is positive.
	LeftRetention int64
	// RightRetention is how long right rows are kept after their time, ns: Within,
	// or W_1 + … + W_i for stage i ≥ 2 in event time, since a NULL row of an
	// earlier stage comes that much later (semantics.md §4). With Lower and Upper
	// the least is −Lower where that is positive, and 0 stands for it.
	RightRetention int64
	// Clocked says processing time: the clock drives both ports, and whichever
	// port it is told to moves both.
	Clocked bool
	Keys    [2]int // per port: the first Keys columns of an incoming row are its join key
	// Keep: per port, columns [0, Keep) are buffered; columns beyond only served
	// the filters before this operator. Key columns are kept in any case.
	Keep [2]int
	Out  []OutCol // the composite row's columns in order
	// MaxKeys, MaxRows and MaxBytes are the gates, each per side; 0 = none.
	MaxKeys, MaxRows int
	MaxBytes         int64    // of state, as Stats.Bytes counts it
	RightSource      int      // the source of the query that enters at port 1: its bit of Record.Nulls
	Text             JoinText // for Describe
}

// OutCol is a column of the composite row: a kept column of a port.
type OutCol struct {
	Port uint8
	Col  int
}

// JoinText is what EXPLAIN shows of a join and only the plan knows. All of it
// may be empty.
type JoinText struct {
	On    string    // canonical SQL
	Ports [2]string // the alias of each port, or those of a composite
	Kept  [2][]string
}

func (cfg *JoinConfig) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: interval join: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case cfg.symmetric() && cfg.Within <= 0:
		return bad("Within must be positive, is %d", cfg.Within)
	case cfg.Lower > cfg.Upper:
		return bad("Lower must not be above Upper, are %d and %d", cfg.Lower, cfg.Upper)
	case cfg.Lower == math.MinInt64:
		return bad("Lower must be above %d", int64(math.MinInt64))
	case cfg.LeftRetention != 0 && cfg.LeftRetention < cfg.least(0):
		return bad("LeftRetention must be at least %d, is %d", cfg.least(0), cfg.LeftRetention)
	case cfg.symmetric() && cfg.RightRetention < cfg.Within:
		return bad("RightRetention must be at least Within (%d), is %d", cfg.Within, cfg.RightRetention)
	case cfg.RightRetention != 0 && cfg.RightRetention < cfg.least(1):
		return bad("RightRetention must be at least %d, is %d", cfg.least(1), cfg.RightRetention)
	case cfg.Keys[0] < 1 || cfg.Keys[0] != cfg.Keys[1]:
		return bad("both ports need as many key columns, at least one; have %d and %d", cfg.Keys[0], cfg.Keys[1])
	case cfg.MaxKeys < 0 || cfg.MaxRows < 0:
		return bad("MaxKeys and MaxRows must not be negative, are %d and %d", cfg.MaxKeys, cfg.MaxRows)
	case cfg.MaxBytes < 0:
		return bad("MaxBytes must not be negative, is %d", cfg.MaxBytes)
	case cfg.RightSource < 1 || cfg.RightSource > 63:
		return bad("RightSource must be 1 to 63, is %d", cfg.RightSource)
	}
	for i, o := range cfg.Out {
		if o.Port > 1 || o.Col < 0 || o.Col >= cfg.Keep[o.Port] {
			return bad("column %d of Out takes column %d of port %d, which is not kept", i, o.Col, o.Port)
		}
	}
	return nil
}

// symmetric tells whether Within says what matches.
func (cfg *JoinConfig) symmetric() bool {
	return cfg.Lower == 0 && cfg.Upper == 0 && !cfg.Between
}

// bounds returns the least and the greatest time of a partner of a row at port,
// counted from that row's time.
func (cfg *JoinConfig) bounds(port int) (lower, upper int64) {
	switch {
	case cfg.symmetric():
		return -cfg.Within, cfg.Within
	case port == 0:
		return cfg.Lower, cfg.Upper
	default:
		return -cfg.Upper, -cfg.Lower
	}
}

// least is the shortest retention at port with which rows meet their partners
// when both streams are in order and of one pace.
func (cfg *JoinConfig) least(port int) int64 {
	_, upper := cfg.bounds(port)
	return max(upper, 0)
}

// Retention returns how long the rows of port are kept after their time, ns. A
// row that comes later than that is too late for the join: it is the within of
// the Lateness in front of the port.
func (cfg *JoinConfig) Retention(port int) int64 {
	retention := [...]int64{cfg.LeftRetention, cfg.RightRetention}[port]
	if retention == 0 {
		return cfg.least(port)
	}
	return retention
}

// keyGate returns MaxKeys where that gate can bind, otherwise 0: a key has a
// row, so it cannot when the maxRows gate is as narrow.
func (cfg *JoinConfig) keyGate() int {
	if cfg.MaxRows > 0 && cfg.MaxRows <= cfg.MaxKeys {
		return 0
	}
	return cfg.MaxKeys
}

// Describe implements Operator.
func (j *IntervalJoin) Describe() Description {
	cfg := &j.cfg
	d := Description{Name: "IntervalJoin INNER"}
	if cfg.Left {
		d.Name = "IntervalJoin LEFT"
	}
	line := func(format string, args ...any) { d.Lines = append(d.Lines, fmt.Sprintf(format, args...)) }
	if cfg.Text.On != "" {
		line("on %s", cfg.Text.On)
	}
	left, right := time.Duration(cfg.Retention(0)), time.Duration(cfg.Retention(1))
	timed := "event time"
	if cfg.Clocked {
		timed = "processing time"
	}
	if cfg.symmetric() {
		line("within %s, %s", time.Duration(cfg.Within), timed)
	} else {
		line("time of %s − time of %s from %s to %s, %s", cfg.Text.portName(1), cfg.Text.portName(0),
			time.Duration(cfg.Lower), time.Duration(cfg.Upper), timed)
	}
	for port, columns := range cfg.Text.Kept {
		if len(columns) > 0 {
			line("keeps of %s: %s", cfg.Text.portName(port), strings.Join(columns, ", "))
		}
	}
	line("state: ≤ rate × %s rows of %s, ≤ rate × %s rows of %s", left, cfg.Text.portName(0), right, cfg.Text.portName(1))
	if cfg.MaxRows > 0 {
		line("state: ≤ %d rows a side, newer ones are dropped (maxRows)", cfg.MaxRows)
	}
	if cfg.MaxBytes > 0 {
		line("state: ≤ %d bytes a side, newer rows are dropped (maxBytes)", cfg.MaxBytes)
	}
	if cfg.MaxKeys > 0 {
		line("state: ≤ %d keys a side, the least recently used one leaves (maxKeys)", cfg.MaxKeys)
	}
	return d
}

// portName returns what EXPLAIN calls a port.
func (text *JoinText) portName(port int) string {
	if name := text.Ports[port]; name != "" {
		return name
	}
	return [...]string{"the left side", "the right side"}[port]
}
