//go:build !race

package joinnode_test

// raceEnabled tells that allocations cannot be counted.
const raceEnabled = false
