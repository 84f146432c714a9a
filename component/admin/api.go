// Package admin adds routes to a RuleGo rest endpoint with which rule chains and
// the SQL in them are read and changed while they run.
//
//	GET    /chains                        the chains: ids, names, nodes
//	GET    /chains/{chain}                a chain's definition
//	POST   /chains/{chain}                a whole chain: a new one, or a reload
//	DELETE /chains/{chain}                drains a chain, stops it and forgets it
//	GET    /chains/{chain}/nodes/{node}   a node's definition
//	POST   /chains/{chain}/nodes/{node}   fields of a node's configuration, e.g. {"sql": "…"}
//	GET    /chains/{chain}/nodes/{node}/stats
//	GET    /chains/{chain}/nodes/{node}/explain
//	GET    /chains/{chain}/nodes/{node}/tables          the tables of a script: kind, key, bound
//	GET    /chains/{chain}/nodes/{node}/tables/{table}  a state table's rows of now: ?limit=100&id=u1 (any key column)
//	POST   /sql/check                     {"sql": "…"} or plain SQL: what is wrong with it, or its plan
//
// An endpoint made by NewEndpoint also answers GET / with this list.
//
// Errors are JSON: {"error": …}, for a configuration field with "field", for SQL
// with "line", "column", "caret" (the line and a mark under the place) and "hint".
// A change that is refused leaves the running query and its state alone.
package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/julienschmidt/httprouter"
	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/api/types/endpoint"
	"github.com/rulego/rulego/endpoint/impl"
	"github.com/rulego/rulego/endpoint/rest"
)

// maxBody bounds a request's body.
const maxBody = 8 << 20

// Options configure an API.
type Options struct {
	// Prefix stands before all paths, e.g. "/api/v1". Default: none.
	Prefix string
	// Token, when set, must come with each request: Authorization: Bearer <token>.
	Token string
	// Config is the configuration of rule engines made for new chains.
	Config types.Config
	// Aspects are added to rule engines made for new chains.
	Aspects []types.Aspect
	// OnChange is told a chain's definition after each change, for hosts that keep
	// it; nil after the chain was deleted. RuleGo's own OnUpdated callback gets the old definition when a node is
	// reloaded. An error is answered with status 500: the change is in effect, but
	// it was not kept.
	OnChange func(chainID string, definition []byte) error
}

// API serves the engines of one pool. It is safe for concurrent use; changes run one
// after the other.
type API struct {
	pool    types.RuleEnginePool
	options Options
	changes sync.Mutex
}

// New returns an API for the engines of pool.
func New(pool types.RuleEnginePool, options Options) *API {
	return &API{pool: pool, options: options}
}

// handler answers a request with a value to be sent as JSON, or an error.
type handler func(r *http.Request, params httprouter.Params) (any, error)

// route is one of the API's routes; path has httprouter's parameters (:chain).
type route struct {
	method, path, does string
	handle             handler
}

func (a *API) routes() []route {
	return []route{
		{http.MethodGet, "/chains", "the chains: ids, names, nodes", a.listChains},
		{http.MethodGet, "/chains/:chain", "a chain's definition", a.getChain},
		{http.MethodPost, "/chains/:chain", "a whole chain: a new one, or a reload", a.postChain},
		{http.MethodDelete, "/chains/:chain", "drain a chain, stop it and forget it", a.deleteChain},
		{http.MethodGet, "/chains/:chain/nodes/:node", "a node's definition", a.getNode},
		{http.MethodPost, "/chains/:chain/nodes/:node", "fields of a node's configuration to change", a.postNode},
		{http.MethodGet, "/chains/:chain/nodes/:node/stats", "a node's counters", a.getStats},
		{http.MethodGet, "/chains/:chain/nodes/:node/explain", "how a node's query runs", a.getExplain},
		{http.MethodGet, "/chains/:chain/nodes/:node/tables", "the tables of a node's script: kind, key, bound", a.listTables},
		{http.MethodGet, "/chains/:chain/nodes/:node/tables/:table", "a state table's rows as of now: ?limit=100&id=u1 (any key column)", a.getTable},
		{http.MethodPost, "/sql/check", "what is wrong with a query, or how it would run", a.checkSQL},
	}
}

// AddTo adds the routes to an endpoint, which must not have them yet. See
// NewEndpoint for one that is bound to this machine only.
func (a *API) AddTo(ep endpoint.Endpoint) error {
	var errs []error
	for _, r := range a.routes() {
		errs = append(errs, a.add(ep, r))
	}
	return errors.Join(errs...)
}

func (a *API) add(ep endpoint.Endpoint, r route) error {
	path := a.prefix() + r.path
	router := impl.NewRouter().From(path).Process(a.process(r.handle)).End()
	if _, err := ep.AddRouter(router, r.method); err != nil {
		return fmt.Errorf("add route %s %s: %w", r.method, path, err)
	}
	return nil
}

func (a *API) prefix() string { return strings.TrimSuffix(a.options.Prefix, "/") }

// process makes a handler a step of a RuleGo router, which ends with it.
func (a *API) process(handle handler) endpoint.Process {
	return func(_ endpoint.Router, exchange *endpoint.Exchange) bool {
		in, ok := exchange.In.(*rest.RequestMessage)
		if !ok {
			exchange.Out.SetError(fmt.Errorf("admin needs a rest endpoint, this is a %T", exchange.In))
			return false
		}
		a.serve(in.Response(), in.Request(), in.Params, handle)
		return false
	}
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, params httprouter.Params, handle handler) {
	defer func() {
		if fault := recover(); fault != nil {
			writeError(w, fmt.Errorf("panic: %v", fault))
		}
	}()
	if err := a.authorize(r); err != nil {
		writeError(w, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	answer, err := handle(r, params)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}
