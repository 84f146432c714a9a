package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Case is one line of testdata/join_event_time.jsonl: a query, what arrives,
// and the results of every arrival and of Stop.
type Case struct {
	Name     string       `json:"name"`
	SQL      string       `json:"sql"`
	Arrivals []CaseRow    `json:"arrivals"`
	Steps    [][][]string `json:"steps"` // per arrival, per result: ids, "" for null
	Stop     [][]string   `json:"stop"`
	Cols     []string     `json:"cols"`
	Counts   struct {
		Late    int64 `json:"late"`    // late_dropped of all stages
		Matches int64 `json:"matches"` // matches_emitted of stage 1
		Nulls   int64 `json:"nulls"`   // left_timeout_emitted of stage 1
	} `json:"counts"`
}

// CaseRow is one arrival of a Case.
type CaseRow struct {
	Stream string
	JSON   []byte         // the row as the file spells it
	Row    map[string]any // the same, numbers as json.Number
}

// UnmarshalJSON reads [stream, row].
func (r *CaseRow) UnmarshalJSON(data []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if err := json.Unmarshal(pair[0], &r.Stream); err != nil {
		return err
	}
	r.JSON = bytes.Clone(pair[1])
	row, err := DecodeRow(r.JSON)
	r.Row = row
	return err
}

// DecodeRow reads one JSON object with its numbers as json.Number, which is
// how the model takes rows that reach the engine as bytes.
func DecodeRow(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var row map[string]any
	err := d.Decode(&row)
	return row, err
}

// ReadCases reads the cases of a .jsonl file.
func ReadCases(path string) ([]Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []Case
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c Case
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s, case %d: %w", path, len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases, lines.Err()
}
