package admin

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/streamjoin/streamjoin/joinnode"
)

// checkSQL compiles a query without running it.
func (a *API) checkSQL(r *http.Request, _ httprouter.Params) (any, error) {
	var body struct {
		SQL *string `json:"sql"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, &badRequest{fmt.Errorf(`want {"sql": "…"}: %w`, err)}
	}
	if body.SQL == nil {
		return nil, &badRequest{fmt.Errorf(`want {"sql": "…"}`)}
	}
	q := joinnode.New(joinnode.WithDiscardLog())
	if err := q.Execute(*body.SQL); err != nil {
		return nil, &badRequest{err}
	}
	defer q.Stop() // at once: it had no row
	return map[string]any{"valid": true, "streams": q.Streams(), "explain": q.Explain()}, nil
}
