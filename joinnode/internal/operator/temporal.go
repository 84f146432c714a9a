package operator

// TemporalJoin joins each row of a stream, port 0, with the version that its
// key had in a table, port 1, at the row's time.
type TemporalJoin struct {
	cfg TemporalJoinConfig
	out Output
}

// NewTemporalJoin returns an empty join that writes to out. Its errors are
// ErrConfig.
func NewTemporalJoin(cfg TemporalJoinConfig, out Output) (*TemporalJoin, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	for port := range cfg.Keep {
		cfg.Keep[port] = max(cfg.Keep[port], cfg.Keys[port])
	}
	return &TemporalJoin{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (j *TemporalJoin) Advance(int, Progress) {}

// Process implements Operator.
func (j *TemporalJoin) Process(int, Record) {}

// EndStep implements Operator.
func (j *TemporalJoin) EndStep() {}

// Wake implements Operator.
func (j *TemporalJoin) Wake(int, int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (j *TemporalJoin) Flush(int, CloseReason) {}

// Stats implements Operator.
func (j *TemporalJoin) Stats() Stats { return Stats{} }
