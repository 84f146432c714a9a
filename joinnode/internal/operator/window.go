package operator

// Window keeps the aggregates of groups of rows, a time window among their keys,
// and sends each group once, when its window is over: a stream.
type Window struct {
	cfg WindowConfig
	out Output
}

// NewWindow returns a window without groups.
func NewWindow(cfg WindowConfig, out Output) (*Window, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Window{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (w *Window) Advance(port int, p Progress) {}

// Process implements Operator.
func (w *Window) Process(port int, rec Record) {}

// EndStep implements Operator.
func (w *Window) EndStep() {}

// Wake implements Operator.
func (w *Window) Wake(port int, need int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (w *Window) Flush(port int, why CloseReason) {}

// Stats implements Operator.
func (w *Window) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (w *Window) Describe() Description { return Description{Name: "Window"} }
