package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/julienschmidt/httprouter"
	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

const nodeType = streamaggregator.Type

func (a *API) getNode(_ *http.Request, params httprouter.Params) (any, error) {
	_, _, node, err := a.node(params)
	return node, err
}

// postNode merges the posted fields into a node's configuration and reloads that
// node alone, so that the chain's endpoints stay up. A null takes a field out. The
// chain's definition is brought in step, which RuleGo leaves undone.
func (a *API) postNode(r *http.Request, params httprouter.Params) (any, error) {
	a.changes.Lock()
	defer a.changes.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, &badRequest{fmt.Errorf(`want an object of configuration fields, e.g. {"sql": "…"} (%w)`, orNull(err))}
	}
	e, chain, node, err := a.node(params)
	if err != nil {
		return nil, err
	}
	edited := *node
	edited.Configuration = maps.Clone(node.Configuration)
	if edited.Configuration == nil {
		edited.Configuration = types.Configuration{}
	}
	for name, v := range fields {
		if v == nil {
			delete(edited.Configuration, name)
		} else {
			edited.Configuration[name] = v
		}
	}
	config := chain.Config()
	// RuleGo flattens the errors of Init to text, so the place of an SQL error is
	// found before.
	if err := checkNode(config, chain.Definition(), &edited); err != nil {
		return nil, &badRequest{err}
	}
	dsl, err := config.Parser.EncodeRuleNode(edited)
	if err != nil {
		return nil, err
	}
	if err := e.ReloadChild(edited.Id, dsl); err != nil {
		return nil, &badRequest{err}
	}
	replaceNode(chain, &edited)
	if err := a.changed(params.ByName("chain"), e); err != nil {
		return nil, err
	}
	answer := nodeAnswer{Chain: params.ByName("chain"), Node: edited.Id}
	if n, ok := instanceOf(chain, edited.Id); ok {
		answer.stateAnswer, answer.Warnings = stateOf(n), n.Warnings()
	}
	return answer, nil
}

func (a *API) getStats(_ *http.Request, params httprouter.Params) (any, error) {
	n, err := a.instance(params)
	if err != nil {
		return nil, err
	}
	return statsAnswer{n.Stats(), n.Warnings()}, nil
}

func (a *API) getExplain(_ *http.Request, params httprouter.Params) (any, error) {
	n, err := a.instance(params)
	if err != nil {
		return nil, err
	}
	return explainAnswer{n.Explain(), n.Warnings()}, nil
}

func (a *API) instance(params httprouter.Params) (*streamaggregator.Node, error) {
	_, chain, node, err := a.node(params)
	if err != nil {
		return nil, err
	}
	if n, ok := instanceOf(chain, node.Id); ok {
		return n, nil
	}
	return nil, &statusError{http.StatusNotFound, fmt.Sprintf("node %q %v", node.Id, errNotOurs)}
}

// instanceOf returns the present instance of a node, if it is of our type.
func instanceOf(chain types.ChainCtx, id string) (*streamaggregator.Node, bool) {
	ctx, ok := chain.GetNodeById(types.RuleNodeId{Id: id, Type: types.NODE})
	if !ok {
		return nil, false
	}
	return component.Node(ctx)
}

// node finds what the path names: engine, chain and the node's definition.
func (a *API) node(params httprouter.Params) (types.RuleEngine, *engine.RuleChainCtx, *types.RuleNode, error) {
	e, err := a.engine(params)
	if err != nil {
		return nil, nil, nil, err
	}
	chain, ok := e.RootRuleChainCtx().(*engine.RuleChainCtx)
	if !ok {
		return nil, nil, nil, fmt.Errorf("the engine's chain is a %T", e.RootRuleChainCtx())
	}
	id := params.ByName("node")
	for _, node := range chain.Definition().Metadata.Nodes {
		if node.Id == id {
			return e, chain, node, nil
		}
	}
	return nil, nil, nil, &statusError{http.StatusNotFound, fmt.Sprintf("there is no node %q", id)}
}

// orNull is what is wrong with a body that decodes to no object.
func orNull(err error) error {
	if err == nil {
		return fmt.Errorf("it is null")
	}
	return err
}
