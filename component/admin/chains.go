package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/component/definition"
)

// chainSummary is a chain in the list of chains.
type chainSummary struct {
	ID    string        `json:"id"`
	Name  string        `json:"name"`
	Root  bool          `json:"root"`
	Nodes []nodeSummary `json:"nodes"`
}

type nodeSummary struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Name string `json:"name"`
}

func (a *API) listChains(*http.Request, httprouter.Params) (any, error) {
	chains := []chainSummary{}
	a.pool.Range(func(key, value any) bool {
		e, ok := value.(types.RuleEngine)
		if !ok || !e.Initialized() {
			return true
		}
		def := e.RootRuleChainCtx().Definition()
		c := chainSummary{ID: fmt.Sprint(key), Name: def.RuleChain.Name, Root: def.RuleChain.Root, Nodes: []nodeSummary{}}
		for _, n := range def.Metadata.Nodes {
			c.Nodes = append(c.Nodes, nodeSummary{ID: n.Id, Type: n.Type, Name: n.Name})
		}
		chains = append(chains, c)
		return true
	})
	slices.SortFunc(chains, func(x, y chainSummary) int { return strings.Compare(x.ID, y.ID) })
	return map[string]any{"chains": chains}, nil
}

func (a *API) getChain(_ *http.Request, params httprouter.Params) (any, error) {
	e, err := a.engine(params)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(e.DSL()), nil
}

// postChain makes a chain or reloads the one of that id; what is no chain, or one
// without nodes, leaves the running chain alone. RuleGo restarts a chain's
// endpoints when it reloads the whole; to change one node's SQL, post to the node.
func (a *API) postChain(r *http.Request, params httprouter.Params) (any, error) {
	a.changes.Lock()
	defer a.changes.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	id := params.ByName("chain")
	def, err := definition.Parse(body)
	if err != nil {
		return nil, &badRequest{err}
	}
	if def.RuleChain.ID != "" && def.RuleChain.ID != id {
		return nil, &badRequest{fmt.Errorf("ruleChain.id is %q, the path says %q", def.RuleChain.ID, id)}
	}
	e, known := a.pool.Get(id)
	config := a.options.Config
	if known && e.Initialized() {
		config = e.RootRuleChainCtx().Config()
	}
	if config.ComponentsRegistry != nil {
		if err := definition.CheckTypes(def, config.ComponentsRegistry); err != nil {
			return nil, &badRequest{err}
		}
	}
	for _, node := range def.Metadata.Nodes {
		if err := checkNode(config, &def, node); err != nil {
			return nil, &badRequest{fmt.Errorf("node %q: %w", node.Id, err)}
		}
	}
	def.RuleChain.ID = id
	dsl, err := json.Marshal(def)
	if err != nil {
		return nil, err
	}
	if known {
		err = e.ReloadSelf(dsl)
	} else {
		options := []types.RuleEngineOption{types.WithAspects(a.options.Aspects...)}
		if config.ComponentsRegistry != nil {
			options = append(options, engine.WithConfig(config))
		}
		e, err = a.pool.New(id, dsl, options...)
	}
	if err != nil {
		return nil, &badRequest{err}
	}
	if err := a.changed(id, e); err != nil {
		return nil, err
	}
	answer := chainAnswer{Chain: id, Created: !known, Warnings: component.Warnings(e)}
	if known {
		answer.Nodes = handovers(e)
	}
	return answer, nil
}

// drainTimeout bounds how long the end of a chain waits for what is under way.
const drainTimeout = 30 * time.Second

// deleteChain ends a chain: first what feeds it, then its queries, so that no
// accepted row is lost, then the engine.
func (a *API) deleteChain(_ *http.Request, params httprouter.Params) (any, error) {
	a.changes.Lock()
	defer a.changes.Unlock()
	e, err := a.engine(params)
	if err != nil {
		return nil, err
	}
	// Not the request's context: a client that goes away must not leave half a chain.
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	component.CloseEndpoints(e)
	drained := component.Drain(ctx, e)
	id := params.ByName("chain")
	a.pool.Del(id)
	if a.options.OnChange != nil {
		if err := a.options.OnChange(id, nil); err != nil {
			return nil, fmt.Errorf("the chain was deleted, but not where the host keeps it: %w", err)
		}
	}
	if drained != nil {
		return nil, fmt.Errorf("the chain was deleted, but what it held is lost: %w", drained)
	}
	return map[string]any{"chain": id, "deleted": true}, nil
}

// changed reports a change to the host.
func (a *API) changed(id string, e types.RuleEngine) error {
	if a.options.OnChange == nil {
		return nil
	}
	if err := a.options.OnChange(id, e.DSL()); err != nil {
		return fmt.Errorf("the change is in effect but was not kept: %w", err)
	}
	return nil
}

func (a *API) engine(params httprouter.Params) (types.RuleEngine, error) {
	id := params.ByName("chain")
	if e, ok := a.pool.Get(id); ok && e.Initialized() {
		return e, nil
	}
	return nil, &statusError{http.StatusNotFound, fmt.Sprintf("there is no chain %q", id)}
}

var errNotOurs = errors.New("is no " + nodeType + " node")
