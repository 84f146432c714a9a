package reference

import "encoding/json"

// Unmarshal decodes a message into a map: what a Go program does first that has
// no engine. It returns the number of fields so that the work cannot be left out.
func Unmarshal(msg []byte) (int, error) {
	var m map[string]any
	err := json.Unmarshal(msg, &m)
	return len(m), err
}
