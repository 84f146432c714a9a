package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/streamjoin/streamjoin/joinnode"
)

// checkSQL compiles a query without running it.
func (a *API) checkSQL(r *http.Request, _ httprouter.Params) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	sql, err := sqlOf(body)
	if err != nil {
		return nil, &badRequest{err}
	}
	q := joinnode.New(joinnode.WithDiscardLog())
	if err := q.Execute(sql); err != nil {
		return nil, &badRequest{err}
	}
	defer q.Stop() // at once: it had no row
	return map[string]any{"valid": true, "streams": q.Streams(), "explain": q.Explain()}, nil
}

var errWantSQL = errors.New(`want {"sql": "…"}, or the query as plain text`)

// sqlOf takes the query out of a body: a JSON object with the field sql, or the text
// itself, as no query begins with a brace.
func sqlOf(body []byte) (string, error) {
	text := bytes.TrimSpace(body)
	if len(text) == 0 {
		return "", errWantSQL
	}
	if text[0] != '{' {
		return string(text), nil
	}
	var fields struct {
		SQL *string `json:"sql"`
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", fmt.Errorf("%w: %w", errWantSQL, err)
	}
	if fields.SQL == nil {
		return "", errWantSQL
	}
	return *fields.SQL, nil
}
