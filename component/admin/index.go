package admin

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/julienschmidt/httprouter"
	"github.com/rulego/rulego/endpoint/rest"
)

// routeSummary is a route in the list of routes.
type routeSummary struct {
	Route string `json:"route"`
	Does  string `json:"does"`
}

var parameter = regexp.MustCompile(`:(\w+)`)

// addIndex makes an endpoint of our own answer in JSON also to what is no route.
func (a *API) addIndex(ep *rest.Rest) error {
	router := ep.Router()
	router.NotFound = a.refuse(http.StatusNotFound)
	router.MethodNotAllowed = a.refuse(http.StatusMethodNotAllowed)
	return a.add(ep, route{http.MethodGet, "/", "", a.listRoutes})
}

func (a *API) listRoutes(*http.Request, httprouter.Params) (any, error) {
	routes := []routeSummary{}
	for _, r := range a.routes() {
		routes = append(routes, routeSummary{r.method + " " + a.prefix() + parameter.ReplaceAllString(r.path, "{$1}"), r.does})
	}
	return map[string]any{"routes": routes}, nil
}

// refuse answers every request with the status; who may not ask is told just that.
func (a *API) refuse(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.serve(w, r, nil, func(r *http.Request, _ httprouter.Params) (any, error) {
			text := fmt.Sprintf("there is no route %s %s; GET %s/ lists the routes", r.Method, r.URL.Path, a.prefix())
			if status == http.StatusMethodNotAllowed {
				text = fmt.Sprintf("%s takes %s, not %s", r.URL.Path, w.Header().Get("Allow"), r.Method)
			}
			return nil, &statusError{status, text}
		})
	})
}
