package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// statusError is an error with an HTTP status of its own.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// badRequest is an error in what the client sent.
type badRequest struct{ err error }

func (e *badRequest) Error() string { return e.err.Error() }
func (e *badRequest) Unwrap() error { return e.err }

// errorBody is how an error is answered.
type errorBody struct {
	Error  string `json:"error"`
	Field  string `json:"field,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Caret  string `json:"caret,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

func writeError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var (
		withStatus *statusError
		bad        *badRequest
		tooLarge   *http.MaxBytesError
	)
	switch {
	case errors.As(err, &withStatus):
		status = withStatus.status
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.As(err, &bad):
		status = http.StatusBadRequest
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	body := errorBody{Error: err.Error()}
	var field *streamaggregator.FieldError
	if errors.As(err, &field) {
		body.Field = field.Field
	}
	var sql *joinnode.SQLError
	if errors.As(err, &sql) {
		body.Line, body.Column, body.Hint = sql.Pos.Line, sql.Pos.Col, sql.Hint
		lines := strings.Split(sql.Error(), "\n")
		body.Error = lines[0]
		if len(lines) >= 3 && sql.Line() != "" {
			body.Caret = lines[1] + "\n" + lines[2]
		}
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone; there is no one left to tell.
	_, _ = w.Write(append(data, '\n'))
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
