package chains

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Scenario is one folder: a rule chain, what is sent into it, and every message that
// must leave its nodes on stream_event.
type Scenario struct {
	Dir      string
	Chain    []byte // chain.json
	Arrivals []Arrival
	Expected []Event
}

// Arrival is one line of arrivals.jsonl: a message into the chain.
type Arrival struct {
	// At is when it comes, counted from the start ("1.5s"). Chains that are fed over a
	// network go by event time and have none.
	At       string            `json:"at"`
	Metadata map[string]string `json:"metadata"`
	Topic    string            `json:"topic"` // for a chain with an MQTT endpoint
	Path     string            `json:"path"`  // for a chain with an HTTP endpoint
	// Failure is a part of the error of a message that must be refused.
	Failure string          `json:"failure"`
	Body    json.RawMessage `json:"body"`
}

// Offset is At as a duration; 0 when there is none.
func (a Arrival) Offset() (time.Duration, error) {
	if a.At == "" {
		return 0, nil
	}
	return time.ParseDuration(a.At)
}

// Event is one line of expected.jsonl: a message that left on stream_event.
type Event struct {
	After    int               `json:"after,omitempty"` // how many messages had been sent
	At       string            `json:"at,omitempty"`
	Node     string            `json:"node"`
	Metadata map[string]string `json:"metadata"`
	Rows     []json.RawMessage `json:"rows"`
}

// Load reads a folder: chain.json, arrivals.jsonl and expected.jsonl. A field that
// the lines do not have is an error.
func Load(dir string) (Scenario, error) {
	s := Scenario{Dir: dir}
	var err error
	if s.Chain, err = os.ReadFile(filepath.Join(dir, "chain.json")); err != nil {
		return s, err
	}
	if s.Arrivals, err = readLines[Arrival](filepath.Join(dir, "arrivals.jsonl")); err != nil {
		return s, err
	}
	s.Expected, err = readLines[Event](filepath.Join(dir, "expected.jsonl"))
	return s, err
}

func readLines[T any](path string) ([]T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := 1; lines.Scan(); n++ {
		var v T
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}

// Line writes an event as a line of expected.jsonl. Rows stay as they are, with their
// columns in order and their numbers as they were spelled, so that equal text means
// equal events. The groups of one window come in no particular order, so they are
// sorted.
func (e Event) Line() (string, error) {
	if e.Metadata["resultType"] == "window_triggered" {
		e.Rows = slices.Clone(e.Rows)
		slices.SortFunc(e.Rows, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return out.String(), err
}
