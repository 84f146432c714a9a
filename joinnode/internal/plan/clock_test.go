package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadsClock: whatever a result can depend on beside the rows.
func TestReadsClock(t *testing.T) {
	const from = " FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k"
	for sql, want := range map[string]bool{
		"SELECT a.x" + from:                            true,
		"SELECT a.x" + from + " WITH (TIMESTAMP='ts')": false,
		"SELECT upper(a.x)" + from + " WHERE a.x < b.x AND abs(a.y) > 1 WITH (TIMESTAMP='ts')": false,
		"SELECT a.x" + from + " WITH (TIMESTAMP='ts', IDLETIMEOUT='1s')":                       true,
		"SELECT a.x" + from + " WITH (TIMESTAMP='ts', MAXFUTURESKEW='1s')":                     false,
		"SELECT now() AS n" + from + " WITH (TIMESTAMP='ts')":                                  true,
		"SELECT a.x" + from + " WHERE unix_timestamp() > 5 WITH (TIMESTAMP='ts')":              true,
		"SELECT a.x" + from + " WHERE a.x > unix_timestamp() WITH (TIMESTAMP='ts')":            true,
		"SELECT a.x" + from + " WHERE a.x + b.x > unix_timestamp() WITH (TIMESTAMP='ts')":      true,
		"SELECT CASE WHEN a.x > 1 THEN now() END AS n" + from + " WITH (TIMESTAMP='ts')":       true,
	} {
		require.Equal(t, want, build(t, sql).ReadsClock, sql)
	}
}
