package streamaggregator

import (
	"fmt"
	"strings"
)

// warnings finds what is allowed but hardly meant.
func (s *settings) warnings(q query) []string {
	var found []string
	// The rules of streamKey send every row to the FROM stream when it is empty.
	if streams := q.Streams(); s.StreamKey == "" && len(streams) > 1 {
		inputs := "input " + quotedList(streams[1:])
		if len(streams) > 2 {
			inputs = strings.Replace(inputs, "input", "inputs", 1)
		}
		found = append(found, fmt.Sprintf(`streamKey is empty, so every row goes to %q and none can ever reach the %s: `+
			`write "streamKey": "streamName" for a metadata key that holds the stream name, or "${msg.stream}" for a field of the row`, streams[0], inputs))
	}
	return found
}
