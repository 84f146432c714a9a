package streamaggregator

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, leftByRuleGo()...)
}

// leftByRuleGo are goroutines of RuleGo that outlive its engines: the cleaner of
// its process-wide default cache.
func leftByRuleGo() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreTopFunction("github.com/rulego/rulego/utils/cache.(*MemoryCache).StartGC.func1"),
	}
}
