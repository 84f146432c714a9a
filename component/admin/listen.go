package admin

import (
	"errors"
	"fmt"
	"net"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/endpoint/rest"
)

// ErrTokenRequired means that an address others can reach was asked for without a
// token: a chain may hold scripts, so this would be an open door.
var ErrTokenRequired = errors.New("an address that is not loopback needs a token")

// NewEndpoint makes a rest endpoint with the API's routes; its Start listens, its
// Destroy ends it. An address without host (":6334") binds to loopback; to be
// reached from elsewhere name the host ("0.0.0.0:6334") and set a token.
func (a *API) NewEndpoint(config types.Config, address string) (*rest.Rest, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if !isLoopback(host) && a.options.Token == "" {
		return nil, fmt.Errorf("address %q: %w", address, ErrTokenRequired)
	}
	ep, ok := (&rest.Rest{}).New().(*rest.Rest)
	if !ok {
		return nil, errors.New("RuleGo's rest endpoint makes another type")
	}
	if err := ep.Init(config, types.Configuration{"server": net.JoinHostPort(host, port)}); err != nil {
		return nil, err
	}
	return ep, errors.Join(a.AddTo(ep), a.addIndex(ep))
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
