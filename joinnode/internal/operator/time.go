package operator

import "math"

// Times are ns since the epoch and their arithmetic saturates (semantics.md).
const (
	unseen   = math.MinInt64 // nothing was seen
	farthest = math.MaxInt64 // no time, asked of Wake
)

func addTime(t, d int64) int64 {
	sum := t + d
	switch {
	case d > 0 && sum < t:
		return math.MaxInt64
	case d < 0 && sum > t:
		return math.MinInt64
	}
	return sum
}

// subTime returns t − d for d ≥ 0.
func subTime(t, d int64) int64 {
	diff := t - d
	if diff > t {
		return math.MinInt64
	}
	return diff
}

// reach returns the time at distance d ≥ 0 after t; false when there is none.
func reach(t, d int64) (int64, bool) {
	sum := t + d
	return sum, sum >= t
}
