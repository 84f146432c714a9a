package workload

import "math/rand/v2"

// UpdatesConfig says what Updates are like.
type UpdatesConfig struct {
	Keys int
	// First is the port of the first rows, which visit every key once.
	First uint8
	// Every n-th row is of the port Right, the others of Left; 0: none is.
	Every int
	// Skip is how many rows' time has passed before the first one.
	Skip int64
	// Late of 1000 rows are behind the others, by as much time as Lag rows take at
	// most.
	Late, Lag int
}

// Updates make rows for tables without end: first one for each key, in random
// order, then for keys drawn evenly. Times rise, but for rows that are late.
type Updates struct {
	cfg   UpdatesConfig
	rnd   *rand.Rand
	order []int32 // of the first rows
	n     int64
}

// updateStep is the time from row to row, in µs. Times of rows that are late lie
// between those of others.
const updateStep = 2

// NewUpdates returns updates; two of the same configuration are equal.
func NewUpdates(cfg UpdatesConfig) (*Updates, error) {
	u := &Updates{cfg: cfg, rnd: rand.New(rand.NewPCG(20240502, 43))}
	var err error
	if u.order, err = OffHeap[int32](cfg.Keys); err != nil {
		return nil, err
	}
	for i := range u.order {
		k := u.rnd.IntN(i + 1)
		u.order[i], u.order[k] = u.order[k], int32(i)
	}
	return u, nil
}

func (u *Updates) next() Row {
	r := Row{TS: Base.UnixMicro() + (u.cfg.Skip+u.n)*updateStep, Reading: int32(u.rnd.IntN(10000)), Other: int32(u.rnd.IntN(10000))}
	if u.n < int64(len(u.order)) {
		r.Key, r.Port = u.order[u.n], u.cfg.First
		u.n++
		return r
	}
	r.Key = int32(u.rnd.IntN(u.cfg.Keys))
	if u.cfg.Every > 0 && u.n%int64(u.cfg.Every) == int64(u.cfg.Every)-1 {
		r.Port = 1
	}
	if u.rnd.IntN(1000) < u.cfg.Late {
		r.TS -= updateStep*int64(u.rnd.IntN(u.cfg.Lag)) + 1
	}
	u.n++
	return r
}
