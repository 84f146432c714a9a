package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHostLogHasTheTime(t *testing.T) {
	var out bytes.Buffer
	l := hostLog{out: &console{w: &out}, now: func() time.Time { return time.UnixMilli(1_700_000_000_120).UTC() }}
	l.Infof("100%% of %d", 5)
	l.Printf("plain")
	l.Warnf("careful")
	l.Errorf("bad")
	l.Debugf("nothing")
	require.Equal(t, ""+
		"2023-11-14T22:13:20.120Z 100% of 5\n"+
		"2023-11-14T22:13:20.120Z plain\n"+
		"2023-11-14T22:13:20.120Z warning: careful\n"+
		"2023-11-14T22:13:20.120Z error: bad\n", out.String())
}
