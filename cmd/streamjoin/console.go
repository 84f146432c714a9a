package main

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// console writes whole lines to w and, on a terminal, keeps one status line
// below them. It may be used by several goroutines.
type console struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	status   string
}

// newConsole writes to a file; a character device is taken for a terminal.
func newConsole(f *os.File) *console {
	info, err := f.Stat()
	return &console{w: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// clearLine moves to the start of the line and empties it.
const clearLine = "\r\x1b[K"

// printf writes one line.
func (c *console) printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if c.terminal && c.status != "" {
		fmt.Fprint(c.w, clearLine+line+"\n"+c.status)
		return
	}
	fmt.Fprintln(c.w, line)
}

// show replaces the status line; without a terminal it writes a plain line.
func (c *console) show(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := fmt.Sprintf(format, args...)
	if !c.terminal {
		fmt.Fprintln(c.w, status)
		return
	}
	c.status = status
	fmt.Fprint(c.w, clearLine+status)
}

// hide takes the status line away.
func (c *console) hide() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status != "" {
		fmt.Fprint(c.w, clearLine)
		c.status = ""
	}
}
