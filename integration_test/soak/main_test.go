// Package soak_test runs joins of every kind for a while, in real time and with
// everything that goes wrong with inputs, and asks afterwards for every row and
// every byte.
package soak_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
