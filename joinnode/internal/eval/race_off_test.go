//go:build !race

package eval

// raceEnabled tells that allocations cannot be counted.
const raceEnabled = false
