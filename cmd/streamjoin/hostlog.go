package main

import (
	"fmt"
	"time"

	"github.com/rulego/rulego/api/types"
)

// hostLog is a logger that writes lines with the time and, unless it is a plain
// message, the level.
type hostLog struct {
	out *console
	now func() time.Time
}

var _ types.Logger = hostLog{}

func newHostLog(out *console) hostLog { return hostLog{out: out, now: time.Now} }

func (l hostLog) write(level, format string, args []any) {
	l.out.printf("%s %s%s", l.now().Format("2006-01-02T15:04:05.000Z07:00"), level, fmt.Sprintf(format, args...))
}

// Printf implements types.Logger.
func (l hostLog) Printf(format string, args ...any) { l.write("", format, args) }

// Debugf implements types.Logger: it writes nothing.
func (l hostLog) Debugf(string, ...any) {}

// Infof implements types.Logger.
func (l hostLog) Infof(format string, args ...any) { l.write("", format, args) }

// Warnf implements types.Logger.
func (l hostLog) Warnf(format string, args ...any) { l.write("warning: ", format, args) }

// Errorf implements types.Logger.
func (l hostLog) Errorf(format string, args ...any) { l.write("error: ", format, args) }
