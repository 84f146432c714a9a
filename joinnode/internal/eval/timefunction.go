package eval

import (
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// timeFunction is a function of the time package, which StreamSQL does not have.
type timeFunction struct {
	name        string     // as the documentation spells it
	least, most int        // arguments
	unit        value.Unit // of its result as a time; AutoUnit when it is none
	window      bool
}

// timeFunctionOf looks a function of the time package up, regardless of case. A
// function that the program registered under the name goes first.
func timeFunctionOf(name string) (timeFunction, bool) {
	f, ok := timeFunctionNamed(name)
	if !ok {
		return timeFunction{}, false
	}
	_, taken := functions.Get(strings.ToLower(name))
	return f, !taken
}

func timeFunctionNamed(name string) (timeFunction, bool) {
	for _, f := range [...]timeFunction{
		{"endOfSecond", 1, 3, value.Millisecond, true},
		{"endOfMinute", 1, 3, value.Millisecond, true},
		{"endOfHour", 1, 3, value.Millisecond, true},
		{"endOfDay", 1, 3, value.Millisecond, true},
		{"endOfWeek", 1, 3, value.Millisecond, true},
		{"endOfMonth", 1, 3, value.Millisecond, true},
		{"endOfYear", 1, 3, value.Millisecond, true},
		{"epochMilliToTimestamp", 1, 1, value.Millisecond, false},
		{"epochToTimestamp", 1, 1, value.Millisecond, false},
		{"timestampToEpochMilli", 1, 1, value.Millisecond, false},
		{"timestampToEpoch", 1, 1, value.Second, false},
		{"parseTimestamp", 1, 1, value.Millisecond, false},
		{"timestampToString", 1, 1, value.AutoUnit, false},
		{"atZone", 2, 2, value.Millisecond, false},
	} {
		if strings.EqualFold(f.name, name) {
			return f, true
		}
	}
	return timeFunction{}, false
}

// IsTimeWindow reports whether a call of name makes a time window when a query
// groups by it: endOfSecond … endOfYear, in any case.
func IsTimeWindow(name string) bool {
	f, ok := timeFunctionOf(name)
	return ok && f.window
}
