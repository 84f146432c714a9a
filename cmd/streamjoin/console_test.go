package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConsoleKeepsStatusBelowLines(t *testing.T) {
	var out bytes.Buffer
	c := &console{w: &out, terminal: true}
	c.printf("first")
	c.show("1 row")
	c.printf("second")
	c.show("2 rows")
	c.hide()
	c.printf("end")
	require.Equal(t, "first\n"+
		"\r\x1b[K1 row"+
		"\r\x1b[Ksecond\n1 row"+
		"\r\x1b[K2 rows"+
		"\r\x1b[K"+
		"end\n", out.String())
}

func TestConsoleWritesPlainLinesToAFile(t *testing.T) {
	var out bytes.Buffer
	c := &console{w: &out}
	c.show("1 row")
	c.printf("second")
	c.show("2 rows")
	c.hide()
	require.Equal(t, "1 row\nsecond\n2 rows\n", out.String())
}
