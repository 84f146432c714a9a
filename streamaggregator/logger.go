package streamaggregator

import (
	"strings"
	"sync"
	"time"

	"github.com/rulego/rulego/api/types"
	sqllog "github.com/rulego/streamsql/logger"
)

// logger writes into the rule engine's log, each line with the chain and the node:
// "x/streamAggregator acks/join: …". It is also the logger of the node's query.
type logger struct {
	to     types.Logger
	prefix string
}

var _ sqllog.Logger = logger{}

func newLogger(config types.Config, chainID, nodeID string) logger {
	name := nodeID
	if chainID != "" {
		name = chainID + "/" + nodeID
	}
	// The prefix becomes part of a format.
	return logger{to: config.Logger, prefix: strings.ReplaceAll(Type+" "+name+": ", "%", "%%")}
}

// Debug implements logger.Logger of streamsql, as do the others.
func (l logger) Debug(format string, args ...any) {
	if l.to != nil {
		l.to.Debugf(l.prefix+format, args...)
	}
}

func (l logger) Info(format string, args ...any) {
	if l.to != nil {
		l.to.Infof(l.prefix+format, args...)
	}
}

func (l logger) Warn(format string, args ...any) {
	if l.to != nil {
		l.to.Warnf(l.prefix+format, args...)
	}
}

func (l logger) Error(format string, args ...any) {
	if l.to != nil {
		l.to.Errorf(l.prefix+format, args...)
	}
}

// SetLevel does nothing: the level is the rule engine's.
func (l logger) SetLevel(sqllog.Level) {}

// throttle lets one event through per interval.
type throttle struct {
	mu    sync.Mutex
	every time.Duration
	last  time.Time
}

func (t *throttle) allow(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.last.IsZero() && now.Sub(t.last) < t.every {
		return false
	}
	t.last = now
	return true
}
