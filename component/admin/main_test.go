package admin

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The cleaner of RuleGo's process-wide default cache runs for ever.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/rulego/rulego/utils/cache.(*MemoryCache).StartGC.func1"))
}
