package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/julienschmidt/httprouter"

	"github.com/streamjoin/streamjoin/joinnode"
)

// tableAnswer describes one table of a script.
type tableAnswer struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // stream or state
	Key      []string `json:"key,omitempty"`
	Bound    string   `json:"bound"`
	Exported bool     `json:"exported"`
}

type tablesAnswer struct {
	Tables []tableAnswer `json:"tables"`
}

// rowsAnswer has rows of a table as of one instant between two arrivals.
type rowsAnswer struct {
	Table string          `json:"table"`
	Rows  json.RawMessage `json:"rows"`
	// More says that the limit left rows out.
	More bool `json:"more,omitempty"`
}

// The number of rows of an answer where the request does not say, and at most.
const (
	defaultLimit = 100
	maxLimit     = 10_000
)

func (a *API) listTables(_ *http.Request, params httprouter.Params) (any, error) {
	n, err := a.instance(params)
	if err != nil {
		return nil, err
	}
	answer := tablesAnswer{Tables: []tableAnswer{}}
	for _, t := range n.Tables() {
		answer.Tables = append(answer.Tables, tableAnswer{t.Name, t.Kind, t.Key, t.Bound, t.Exported})
	}
	return answer, nil
}

// getTable answers with the rows of a state table. Each parameter but limit is a
// key column and the value that it must have.
func (a *API) getTable(r *http.Request, params httprouter.Params) (any, error) {
	n, err := a.instance(params)
	if err != nil {
		return nil, err
	}
	choice := joinnode.TableQuery{Limit: defaultLimit, Key: map[string]any{}}
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &badRequest{err}
	}
	for name, values := range parameters {
		if len(values) != 1 {
			return nil, &badRequest{fmt.Errorf("parameter %q is given %d times", name, len(values))}
		}
		if name != "limit" {
			choice.Key[name] = values[0]
			continue
		}
		limit, err := strconv.Atoi(values[0])
		if err != nil || limit < 1 || limit > maxLimit {
			return nil, &badRequest{fmt.Errorf("limit is a whole number from 1 to %d, found %q", maxLimit, values[0])}
		}
		choice.Limit = limit
	}
	name := params.ByName("table")
	limit := choice.Limit
	choice.Limit++ // to see whether there are more
	rows, err := n.TableJSON(nil, name, choice)
	switch {
	case errors.Is(err, joinnode.ErrUnknownTable):
		return nil, &statusError{http.StatusNotFound, err.Error()}
	case errors.Is(err, joinnode.ErrTableQuery):
		return nil, &badRequest{err}
	case err != nil:
		return nil, err
	}
	answer := rowsAnswer{Table: name, Rows: rows}
	var list []json.RawMessage
	if err := json.Unmarshal(rows, &list); err != nil {
		return nil, err
	}
	if len(list) > limit {
		answer.More = true
		if answer.Rows, err = marshal(list[:limit]); err != nil {
			return nil, err
		}
	}
	return answer, nil
}
