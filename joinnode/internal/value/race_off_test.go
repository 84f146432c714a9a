//go:build !race

package value

// raceEnabled tells that allocations cannot be counted.
const raceEnabled = false
