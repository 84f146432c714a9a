package integration_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Every goroutine that a test starts must end, but for those that RuleGo never
// ends: its cache's, from before the tests, and one worker pool per endpoint.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("github.com/rulego/rulego/utils/pool.(*WorkerPool).Start.func1.2"))
}
