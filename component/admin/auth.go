package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// authorize lets a request through that carries the token, when one is set. Without
// a token whoever can reach the address may change chains, so then a request must
// not come through a name that a web page could have given this address (DNS
// rebinding). A page of another origin is always refused: browsers send such
// requests along with what the user may reach.
func (a *API) authorize(r *http.Request) error {
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return &statusError{http.StatusForbidden, "requests from pages of another origin are refused"}
		}
	}
	if a.options.Token == "" {
		if !isAddress(r.Host) {
			return &statusError{http.StatusForbidden, "without a token only requests to localhost or an IP address are served: use one of these, or start the host with a token"}
		}
		return nil
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	ok = ok && strings.EqualFold(scheme, "Bearer")
	// Digests have one length, so the comparison tells nothing of the token's.
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.options.Token))
	switch {
	case !ok:
		return &statusError{http.StatusUnauthorized, "a token is needed: send Authorization: Bearer <token>, with the token that the host was started with"}
	case subtle.ConstantTimeCompare(got[:], want[:]) != 1:
		return &statusError{http.StatusUnauthorized, "the token is not the one that the host was started with"}
	}
	return nil
}

func isAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(strings.Trim(host, "[]")) != nil
}
