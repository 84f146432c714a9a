package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait for the program.
const patience = 60 * time.Second

// build compiles the program once for the test and returns its path.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "streamjoin")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return binary
}

// TestBinary runs the program itself, as a person would.
func TestBinary(t *testing.T) {
	binary := build(t)
	t.Run("demo for a time", func(t *testing.T) { testDemoForATime(t, binary) })
	t.Run("demo until Ctrl-C", func(t *testing.T) { testDemoUntilInterrupt(t, binary) })
	t.Run("demo repeats itself", func(t *testing.T) { testDemoFollowsItsSeed(t, binary) })
	t.Run("check", func(t *testing.T) { testCheck(t, binary) })
	t.Run("check a table script", func(t *testing.T) { testCheckScript(t, binary) })
	t.Run("play", func(t *testing.T) { testPlay(t, binary) })
	t.Run("wrong usage", func(t *testing.T) { testWrongUsage(t, binary) })
	t.Run("run", func(t *testing.T) { testRun(t, binary) })
	t.Run("admin API stays here", func(t *testing.T) { testAdminNeedsToken(t, binary) })
	t.Run("run a folder", func(t *testing.T) { testRunFolder(t, binary) })
	t.Run("run a table script", func(t *testing.T) { testRunScript(t, binary) })
	t.Run("run without the broker", func(t *testing.T) { testBrokerIsMissing(t, binary) })
	t.Run("run bad chains", func(t *testing.T) { testRunBadChains(t, binary) })
}

// run runs the program to its end.
func run(t *testing.T, binary string, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// process is a running program whose output is read line by line.
type process struct {
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr *bytes.Buffer
	seen   strings.Builder
}

func startProcess(t *testing.T, binary string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	p := &process{cmd: cmd, lines: bufio.NewScanner(out), stderr: new(bytes.Buffer)}
	cmd.Stderr = p.stderr
	require.NoError(t, cmd.Start())
	return p
}

// waitFor reads until a line contains what is looked for.
func (p *process) waitFor(t *testing.T, what string) string {
	t.Helper()
	for p.lines.Scan() {
		p.seen.WriteString(p.lines.Text() + "\n")
		if strings.Contains(p.lines.Text(), what) {
			return p.lines.Text()
		}
	}
	t.Fatalf("no line with %q in:\n%s\n%s", what, p.seen.String(), p.stderr)
	return ""
}

// interrupt sends SIGINT and returns the rest of the output and the exit code.
func (p *process) interrupt(t *testing.T) (rest string, exit int) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	var out strings.Builder
	for p.lines.Scan() {
		out.WriteString(p.lines.Text() + "\n")
	}
	err := p.cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		require.NoError(t, err)
	}
	return out.String(), p.cmd.ProcessState.ExitCode()
}

var sentLine = regexp.MustCompile(`(?m)^sent +(\d+) = (\d+) accepted by the join$`)

func testDemoForATime(t *testing.T, binary string) {
	stdout, stderr, exit := run(t, binary, "demo", "--for", "2s", "--rate", "400")
	require.Zero(t, exit, stderr)
	require.Empty(t, stderr)
	require.Contains(t, stdout, "\njoined ")
	require.Contains(t, stdout, "\naggregated ")
	require.Contains(t, stdout, "rows/s", "a counter line every second")
	require.Contains(t, stdout, "\nno row lost\n")
	require.NotContains(t, stdout, "\x1b", "no terminal, no escape sequences")
	sums := sentLine.FindStringSubmatch(stdout)
	require.NotNil(t, sums, stdout)
	require.Equal(t, sums[1], sums[2])
	sent, err := strconv.Atoi(sums[1])
	require.NoError(t, err)
	require.LessOrEqual(t, sent, 800, "400 readings a second for 2 s")
	require.Greater(t, sent, 400)
}

func testDemoUntilInterrupt(t *testing.T, binary string) {
	p := startProcess(t, binary, "demo", "--rate", "400")
	p.waitFor(t, "joined ")
	rest, exit := p.interrupt(t)
	require.Zero(t, exit, p.stderr)
	require.Contains(t, rest, "\nno row lost\n")
}

var instant = regexp.MustCompile(`"ts":\d+`)

// Two runs with one seed join the same values; only the instants differ.
func testDemoFollowsItsSeed(t *testing.T, binary string) {
	joined := func(seed string) []string {
		stdout, _, exit := run(t, binary, "demo", "--for", "1s", "--rate", "1000", "--seed", seed)
		require.Zero(t, exit)
		var rows []string
		for _, line := range strings.Split(stdout, "\n") {
			if strings.HasPrefix(line, "joined ") && strings.Contains(line, "{") {
				rows = append(rows, instant.ReplaceAllString(line, ""))
			}
		}
		require.Greater(t, len(rows), 10)
		return rows[:10]
	}
	first := joined("5")
	require.Equal(t, first, joined("5"))
	require.NotEqual(t, first, joined("6"))
}

const goodSQL = `SELECT s.a, v.b FROM s JOIN v WITHIN 30 SECONDS ON s.k = v.k`

func testCheck(t *testing.T, binary string) {
	stdout, stderr, exit := run(t, binary, "check", goodSQL)
	require.Zero(t, exit, stderr)
	require.True(t, strings.HasPrefix(stdout, "OK\n"), stdout)
	require.Contains(t, stdout, "30s", "EXPLAIN tells the bound of the state")

	stdout, stderr, exit = run(t, binary, "check", goodSQL+" WITH (IDLETIMEOUT = '30s')")
	require.Zero(t, exit, stderr)
	require.Equal(t, 1, strings.Count(stdout+stderr, "no effect without TIMESTAMP"), "a warning once")

	stdout, stderr, exit = run(t, binary, "check", "SELECT s.a FROM s\nJOIN v WITHIN 0 SECONDS ON s.k = v.k")
	require.Equal(t, 1, exit)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "positive")
	require.Contains(t, stderr, "line 2")
	require.Regexp(t, `(?m)^ *\|? *\^`, stderr, "a caret under the fault")
}

// A table script's check tells each table's kind, key and bound; its errors have a
// caret as others have.
func testCheckScript(t *testing.T, binary string) {
	const script = "IMPORT Users TIMESTAMP updated;\nUsers := DISTINCT Users ON id ORDER BY updated DESC;\n"
	stdout, stderr, exit := run(t, binary, "check", script)
	require.Zero(t, exit, stderr)
	require.True(t, strings.HasPrefix(stdout, "OK\n"), stdout)
	require.Contains(t, stdout, "\nstate Users, key (id), exported\n  bound: one row for each key\n")

	_, stderr, exit = run(t, binary, "check", script+"X := SELECT u.id FROM User u;")
	require.Equal(t, 1, exit)
	require.Contains(t, stderr, "line 3")
	require.Regexp(t, `(?m)^ *\|? *\^`, stderr, "a caret under the fault")
}

func testWrongUsage(t *testing.T, binary string) {
	for _, c := range []struct {
		name, says string
		args       []string
	}{
		{"no command", "expected one of", nil},
		{"unknown command", "unexpected argument", []string{"dance"}},
		{"rate is no number", "--rate", []string{"demo", "--rate", "fast"}},
		{"no rate", "--rate must be between", []string{"demo", "--rate", "0"}},
		{"too high a rate", "--rate must be between", []string{"demo", "--rate", "100001"}},
		{"negative time", "--for must not be negative", []string{"demo", "--for=-1s"}},
		{"time without unit", "--for", []string{"demo", "--for", "10"}},
		{"play backwards", "--speed must be above 0", []string{"play", "--speed=-1", "."}},
		{"check without SQL", "<sql>", []string{"check"}},
		{"run without chains", "<chain>", []string{"run"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, exit := run(t, binary, c.args...)
			require.Equal(t, 2, exit)
			require.Contains(t, stderr, c.says)
			require.Equal(t, 1, strings.Count(stderr, "\n"), "one useful line: %s", stderr)
		})
	}
}

// chainWith is a chain of one node.
func chainWith(id, sql string) string {
	return fmt.Sprintf(`{"ruleChain":{"id":%q,"name":"test"},"metadata":{"nodes":[
		{"id":"join","type":"x/streamAggregator","name":"join","configuration":{"sql":%q,"streamKey":"streamName"}}],"connections":[]}}`, id, sql)
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func testRunBadChains(t *testing.T, binary string) {
	good := writeFile(t, "good.json", chainWith("one", goodSQL))
	for _, c := range []struct {
		name, says string
		files      []string
	}{
		{"no such file", "no such file", []string{filepath.Join(t.TempDir(), "none.json")}},
		{"not JSON", "broken.json", []string{writeFile(t, "broken.json", `{"ruleChain":`)}},
		{"no nodes", "it has no nodes", []string{writeFile(t, "empty.json", `{}`)}},
		{"misspelt field", `did you mean "ruleChain"?`, []string{writeFile(t, "misspelt.json", strings.Replace(chainWith("one", goodSQL), "ruleChain", "rulechain", 1))}},
		{"unknown type", `did you mean "x/streamAggregator"?`, []string{writeFile(t, "type.json", strings.Replace(chainWith("one", goodSQL), "Aggregator", "Agregator", 1))}},
		{"bad SQL", "^", []string{writeFile(t, "sql.json", chainWith("one", "SELECT s.a FROM s JOIN v WITHIN 0 SECONDS ON s.k = v.k"))}},
		{"a list of messages", "streamjoin play ../../chains/card-face", []string{"../../chains/card-face/arrivals.jsonl"}},
		{"folder without a chain", "chain.json", []string{t.TempDir()}},
		{"two chains of one id", `"one" is running already`, []string{good, writeFile(t, "twin.json", chainWith("one", goodSQL))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, exit := run(t, binary, append([]string{"run", "--listen", ""}, c.files...)...)
			require.Equal(t, 1, exit, stderr)
			require.Contains(t, stderr, c.says)
			require.NotContains(t, stdout, "is running", "before everything has started")
		})
	}
}

// testRun runs the REST chain on a port of its own, posts to it, and ends it while
// commands still come in. None is ever acknowledged, so each that was accepted must
// leave once, whether its time was over by then or not.
func testRun(t *testing.T, binary string) {
	rows, api := freeAddress(t), freeAddress(t)
	text, err := os.ReadFile("../../chains/rest/chain.json")
	require.NoError(t, err)
	chain := strings.Replace(string(text), "127.0.0.1:9090", rows, 1)
	require.NotEqual(t, string(text), chain)

	p := startProcess(t, binary, "run", "--listen", api, "--token", "secret", writeFile(t, "rest.json", chain))
	p.waitFor(t, "ready")
	status, answer := request(t, http.MethodPost, "http://"+rows+"/streams/replies", "", `{}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer, "unknown input stream")

	status, _ = request(t, http.MethodGet, "http://"+api+"/chains", "", "")
	require.Equal(t, http.StatusUnauthorized, status)
	status, answer = request(t, http.MethodGet, "http://"+api+"/chains", "secret", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer, "rest-command-ack")

	accepted := make(chan int)
	go func() {
		n := 0
		defer func() { accepted <- n }()
		for ; ; n++ {
			row := fmt.Sprintf(`{"cmdId":"c%d","deviceId":"d","ts":%d}`, n, 1_700_000_000_000+20*n)
			res, err := http.Post("http://"+rows+"/streams/commands", "application/json", strings.NewReader(row)) //nolint:noctx // ends with the server
			if err != nil {
				return
			}
			if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
				return
			}
		}
	}()
	first := p.waitFor(t, "no ACK") // 10 s of event time are over for the first
	rest, exit := p.interrupt(t)
	require.Zero(t, exit, p.stderr)
	left := map[string]int{}
	for _, row := range noACK.FindAllStringSubmatch(first+"\n"+rest, -1) {
		left[row[1]]++
	}
	n := <-accepted
	require.Greater(t, n, 500)
	require.Contains(t, rest, `chain "rest-command-ack" drained and stopped`)
	require.Contains(t, rest, fmt.Sprintf("node join: %d messages accepted, 1 refused; %d rows in; %d results sent on", n, n, n))
	for i := range n {
		require.Equal(t, 1, left[fmt.Sprintf("c%d", i)], "command %d of %d accepted", i, n)
	}
}

var noACK = regexp.MustCompile(`no ACK .*"cmdId":"(c\d+)"`)

// Without a token the admin API is for this machine only.
func testAdminNeedsToken(t *testing.T, binary string) {
	good := writeFile(t, "good.json", chainWith("one", goodSQL))
	_, stderr, exit := run(t, binary, "run", "--listen", "0.0.0.0:6334", good)
	require.Equal(t, 1, exit)
	require.Contains(t, stderr, "--token or in STREAMJOIN_TOKEN")
}

// A chain whose broker is not there says which endpoint waits for what, and Ctrl-C
// ends the wait.
func testBrokerIsMissing(t *testing.T, binary string) {
	text, err := os.ReadFile("../../chains/mqtt/chain.json")
	require.NoError(t, err)
	address := freeAddress(t)
	file := writeFile(t, "mqtt.json", strings.Replace(string(text), "127.0.0.1:1883", address, 1))

	began := time.Now()
	p := startProcess(t, binary, "run", "--listen", "", file)
	p.waitFor(t, "starting the chain in")
	rest, exit := p.interrupt(t)
	require.Zero(t, exit, p.stderr)
	require.Contains(t, rest, "interrupted while the chain in "+file+" was starting")
	require.Less(t, time.Since(began), 4*time.Second)

	_, stderr, exit := run(t, binary, "run", "--listen", "", file)
	require.Equal(t, 1, exit)
	require.Contains(t, stderr, `endpoint "broker" (endpoint/mqtt at `+address+`) does not start: no connection in time; check that the broker runs`)
}

// A folder stands for its chain.json; connections through which nothing comes are
// warned of, with the time as on all lines.
func testRunFolder(t *testing.T, binary string) {
	dir := t.TempDir()
	chain := strings.Replace(chainWith("one", goodSQL), `"connections":[]`, `"connections":[{"fromId":"join","toId":"alert","type":"stream_event"}]`, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chain.json"), []byte(chain), 0o600))
	p := startProcess(t, binary, "run", "--listen", "", dir)
	line := p.waitFor(t, "warning: ")
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\S* warning: `, line)
	require.Contains(t, line, `there is no node "alert"`)
	p.waitFor(t, `chain "one" is running`)
	p.waitFor(t, "ready")
	_, exit := p.interrupt(t)
	require.Zero(t, exit, p.stderr)
}

// The tables of a script are read over the admin API while the chain runs.
func testRunScript(t *testing.T, binary string) {
	api := freeAddress(t)
	p := startProcess(t, binary, "run", "--listen", api, "../../chains/shop")
	p.waitFor(t, "ready")
	node := "http://" + api + "/chains/shop/nodes/shop"
	status, answer := request(t, http.MethodGet, node+"/tables", "", "")
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, answer, `{"name":"Users.total_spend","kind":"state","key":["id"],`)
	status, answer = request(t, http.MethodGet, node+"/tables/Users.total_spend?id=1&limit=5", "", "")
	require.Equal(t, http.StatusOK, status, answer)
	require.JSONEq(t, `{"table":"Users.total_spend","rows":[]}`, answer)
	status, answer = request(t, http.MethodGet, node+"/tables/Users.spending", "", "")
	require.Equal(t, http.StatusNotFound, status, answer)
	require.Contains(t, answer, "is a stream")
	_, exit := p.interrupt(t)
	require.Zero(t, exit, p.stderr)
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// request sends a request, with a bearer token if there is one.
func request(t *testing.T, method, url, token, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(text)
}
