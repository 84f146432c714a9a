package joinnode_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// TestErrorsOfMessages: what is wrong is said once, and broken JSON is told from
// JSON that is no row.
func TestErrorsOfMessages(t *testing.T) {
	for name, sql := range map[string]string{
		"join": "SELECT a.v AS v FROM s AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k", "delegated": "SELECT v FROM s",
	} {
		for _, options := range [][]joinnode.Option{nil, {joinnode.WithSchema(reading)}} {
			e := start(t, sql, false, options...)
			for message, want := range map[string]string{
				`{"k":`:       "invalid JSON message: unexpected end, want a value at byte offset 5",
				``:            "invalid JSON message: unexpected end, want a value at byte offset 0",
				`"text"`:      "not a row: the message is a string, want an object or an array of objects at byte offset 0",
				` 7`:          "not a row: the message is a number, want an object or an array of objects at byte offset 1",
				`[{"k":1},7]`: "not a row: element 1 of the array is a number, want an object at byte offset 9",
				`[{"k":1},]`:  "invalid JSON message: unexpected ']', want a value at byte offset 9",
			} {
				err := e.EmitJSON("s", []byte(message))
				require.ErrorIs(t, err, joinnode.ErrInvalidJSON, name)
				require.EqualError(t, err, want, "%s %s", name, message)
			}
			err := e.EmitRows([]joinnode.JSONRow{{Stream: "s", Data: []byte(`null`)}})
			require.True(t, errors.Is(err, joinnode.ErrInvalidJSON))
			require.EqualError(t, err, "not a row: the message is null, want an object at byte offset 0", name)
			e.Stop()
		}
	}
}
