package tables

import (
	"fmt"
	"time"
)

// Scenario is a random script and what happens to it.
type Scenario struct {
	Script string
	Events []Event           // the last one is Stop
	Kinds  map[string]string // what kind of statement defines each table

	// Ordered says of which streams the rows of one event have an order that the
	// rules fix.
	Ordered map[string]bool
	// Rough marks tables whose changes are only compared by what they fold to:
	// rounding errors, or the order of an array, make changes of their own.
	Rough map[string]bool
	Sets  []string // columns that are arrays without a fixed order
}

// Event is one arrival, the passing of time when Stream is "", or the end.
type Event struct {
	Stream string
	Row    map[string]any
	Clock  int64 // ms
	Stop   bool
}

// Epoch is the instant that generated clocks and times start from, in ms.
const Epoch = int64(1_700_000_000_000)

// String shows the event as a failing property prints it.
func (e Event) String() string {
	clock := time.Duration((e.Clock - Epoch) * ms)
	switch {
	case e.Stop:
		return fmt.Sprintf("%v: stop", clock)
	case e.Stream == "":
		return fmt.Sprintf("%v: time passes", clock)
	}
	return fmt.Sprintf("%v: %s %s", clock, e.Stream, text(normal(e.Row)))
}
