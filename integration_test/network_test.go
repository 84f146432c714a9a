package integration_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
	"github.com/stretchr/testify/require"
)

// broker is a real MQTT broker on a port of its own.
type broker struct {
	server  *mqtt.Server
	address string
}

func startBroker(t *testing.T) broker {
	t.Helper()
	server := mqtt.New(&mqtt.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, server.AddHook(new(openDoor), nil))
	tcp := listeners.NewTCP(listeners.Config{ID: "tcp", Address: "127.0.0.1:0"})
	require.NoError(t, server.AddListener(tcp))
	require.NoError(t, server.Serve())
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return broker{server: server, address: tcp.Address()}
}

// openDoor lets every client in.
type openDoor struct{ mqtt.HookBase }

func (openDoor) Provides(b byte) bool {
	return b == mqtt.OnConnectAuthenticate || b == mqtt.OnACLCheck
}

func (openDoor) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

func (openDoor) OnACLCheck(*mqtt.Client, string, bool) bool { return true }

// publish sends one message with QoS 1.
func (b broker) publish(t *testing.T, topic string, body []byte) {
	t.Helper()
	require.NoError(t, b.server.Publish(topic, body, false, 1))
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// post sends JSON and returns status and body of the answer.
func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}
