package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rulego/rulego/api/types"
	api "github.com/rulego/rulego/api/types/endpoint"
	"github.com/rulego/rulego/builtin/aspect"
	"github.com/rulego/rulego/endpoint"
)

// newEndpointAspect makes engines start the endpoints that their chains declare. It
// takes the place of RuleGo's, whose errors say only "context deadline exceeded".
func newEndpointAspect() *aspect.EndpointAspect {
	return &aspect.EndpointAspect{EndpointPool: endpointPool{endpoint.NewPool()}}
}

// endpointPool is RuleGo's pool with errors that name the endpoint.
type endpointPool struct{ *endpoint.Pool }

// Factory implements endpoint.Pool.
func (p endpointPool) Factory() api.Factory { return endpointFactory{p.Pool.Factory()} }

type endpointFactory struct{ api.Factory }

// NewFromDef implements endpoint.Factory.
func (f endpointFactory) NewFromDef(def types.EndpointDsl, opts ...api.DynamicEndpointOption) (api.DynamicEndpoint, error) {
	made, err := f.Factory.NewFromDef(def, opts...)
	if err != nil {
		return nil, newEndpointError(def, err)
	}
	return namedEndpoint{made, def}, nil
}

type namedEndpoint struct {
	api.DynamicEndpoint
	def types.EndpointDsl
}

// Start implements endpoint.Endpoint.
func (e namedEndpoint) Start() error {
	if err := e.DynamicEndpoint.Start(); err != nil {
		return newEndpointError(e.def, err)
	}
	return nil
}

// endpointError is why an endpoint does not start.
type endpointError struct {
	id, kind, address string
	err               error
}

func newEndpointError(def types.EndpointDsl, err error) error {
	e := &endpointError{id: def.Id, kind: def.Type, err: err}
	if server, ok := def.Configuration["server"]; ok {
		e.address = fmt.Sprint(server)
	}
	return e
}

// Error names the endpoint and says what to check.
func (e *endpointError) Error() string {
	at := ""
	if e.address != "" {
		at = " at " + e.address
	}
	why := e.err.Error()
	if errors.Is(e.err, context.DeadlineExceeded) {
		why = "no connection in time"
	}
	return fmt.Sprintf("endpoint %q (%s%s) does not start: %s; check %s", e.id, e.kind, at, why, e.toCheck())
}

func (e *endpointError) Unwrap() error { return e.err }

func (e *endpointError) toCheck() string {
	switch e.kind {
	case "endpoint/mqtt":
		return "that the broker runs and can be reached there, and user name and password if it wants them"
	case "endpoint/http", "endpoint/ws", "endpoint/net":
		return "that no other program uses the address"
	}
	return "its configuration"
}
