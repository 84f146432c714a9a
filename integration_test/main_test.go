package integration_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Whatever ran before the tests is RuleGo's (its cache); all else must end.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }
