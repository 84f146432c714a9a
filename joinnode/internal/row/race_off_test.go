//go:build !race

package row_test

const raceEnabled = false
