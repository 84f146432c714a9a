package streamaggregator

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// maxTableBytes bounds what is read of a table's file or HTTP response.
const maxTableBytes = 64 << 20

// read gets the rows of a table.
func (t Table) read(ctx context.Context, client *http.Client) ([]map[string]any, error) {
	var (
		data []byte
		err  error
	)
	switch t.Source {
	case SourceInline:
		return t.Rows, nil
	case SourceHTTP:
		data, err = t.fetch(ctx, client)
	default:
		data, err = readFile(t.Path)
	}
	if err != nil {
		return nil, err
	}
	if t.Format == TableCSV {
		return csvRows(data)
	}
	return jsonRows(data)
}

func (t Table) fetch(ctx context.Context, client *http.Client) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Path, nil)
	if err != nil {
		return nil, err
	}
	for name, value := range t.Headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	data, err := readAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", t.Path, resp.Status)
	}
	return data, nil
}

// readFile reads a file; a relative path is of the process's working directory, which
// an error shows by naming the whole path.
func readFile(path string) ([]byte, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f)
	return data, errors.Join(err, f.Close())
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTableBytes+1))
	if err == nil && len(data) > maxTableBytes {
		err = fmt.Errorf("more than %d bytes", maxTableBytes)
	}
	return data, err
}

// jsonRows reads an array of objects. Whole numbers become int64, so that they
// stay exact; others float64.
func jsonRows(data []byte) ([]map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var rows []map[string]any
	if err := dec.Decode(&rows); err != nil {
		return nil, fmt.Errorf("want a JSON array of objects: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want one JSON array: text after it")
	}
	for i, row := range rows {
		if row == nil {
			return nil, fmt.Errorf("want a JSON array of objects: element %d is null", i)
		}
		for name, v := range row {
			row[name] = plainNumbers(v)
		}
	}
	return rows, nil
}

func plainNumbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		if f, err := x.Float64(); err == nil {
			return f
		}
		return x.String()
	case map[string]any:
		for k, e := range x {
			x[k] = plainNumbers(e)
		}
	case []any:
		for i, e := range x {
			x[i] = plainNumbers(e)
		}
	}
	return v
}

// csvRows reads a table whose first line names the columns. CSV has no types, so a
// cell that reads as a JSON number, true or false is one, which lets it join with
// the numbers of a stream; "007" stays text, an empty cell is NULL.
func csvRows(data []byte) ([]map[string]any, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	names, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("want a first line with column names: %w", err)
	}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if names[i] == "" {
			return nil, fmt.Errorf("column %d has no name", i+1)
		}
	}
	var rows []map[string]any
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row := make(map[string]any, len(names))
		for i, cell := range cells {
			row[names[i]] = csvValue(cell)
		}
		rows = append(rows, row)
	}
}

func csvValue(cell string) any {
	if cell == "" {
		return nil
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(cell))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil || dec.InputOffset() != int64(len(cell)) {
		return cell
	}
	switch x := v.(type) {
	case json.Number:
		return plainNumbers(x)
	case bool:
		return x
	}
	return cell
}
