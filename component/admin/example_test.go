package admin_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/component/admin"
)

// The routes are served on a port of this machine only.
func Example() {
	pool := engine.NewPool() // engine.DefaultPool in a program
	config := engine.NewConfig(types.WithLogger(types.NewStdLogger(io.Discard)))
	ep, err := admin.New(pool, admin.Options{Prefix: "/api/v1"}).NewEndpoint(config, ":16334")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := ep.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer ep.Destroy()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post("http://127.0.0.1:16334/api/v1/sql/check", "application/json",
		strings.NewReader(`{"sql":"SELECT a.x FROM s AS a JOIN t AS b WITHIN 5 PARSECS ON a.k = b.k"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, strings.Contains(string(body), `"line":1`), err)
	// Output: 400 true <nil>
}
