package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// TestSlowClients holds many connections open by sending next to nothing: each is
// closed by the server, and a client that does its work is served meanwhile.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.timeouts = timeouts{header: 300 * time.Millisecond, body: 300 * time.Millisecond, answer: time.Minute, idle: 300 * time.Millisecond, shutdown: time.Minute}
	var account struct{ Token string }
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	s := e.serve()
	const body = "POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nAuthorization: Bearer "
	beginnings := map[string]string{
		"nothing":         "",
		"half a header":   "GET /api/v1/persons HTTP/1.1\r\nHost: x\r\nX-",
		"half a body":     body + account.Token + "\r\n\r\n{",
		"one request":     "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
		"an endless line": "GET /" + strings.Repeat("a", 1000),
	}
	var slow sync.WaitGroup
	for name, beginning := range beginnings {
		for range 40 {
			connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			slow.Go(func() {
				defer func() { _ = connection.Close() }()
				if _, err := io.WriteString(connection, beginning); err != nil {
					t.Error(err)
				}
				// The server ends it: reading comes to an end, while nothing is sent any more.
				_, err := io.Copy(io.Discard, connection)
				if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
					t.Errorf("%s: got %v", name, err)
				}
			})
		}
	}
	ended := make(chan struct{})
	go func() {
		slow.Wait()
		close(ended)
	}()
	served := 0
	for running := true; running; served++ {
		if status, _ := get(t, http.DefaultClient, s.url+"/api/v1/persons", account.Token); status != http.StatusOK {
			t.Fatalf("a fast client got %d", status)
		}
		select {
		case <-ended:
			running = false
		default:
		}
	}
	t.Logf("%d requests were answered meanwhile", served)
}

// TestAbortedRequests goes away in the middle of ten thousand requests: nothing of them
// is left. It runs alone, because it counts the goroutines of the process.
func TestAbortedRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand requests")
	}
	h := servicetest.New(t)
	token, organization := h.Token(), h.Organization("A").String()
	server := httptest.NewServer(h.Handler)
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	requests := []string{
		"GET /api/v1/calls?first=500&include=person,pledge HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n",
		"POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\nAuthorization: Bearer " + token + "\r\n\r\n{\"owningOrganizationUuid\":\"" + organization,
		"POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer " + token + "\r\n\r\nff\r\n{",
		"PUT /api/v1/calls/" + organization + "/actions/cancel HTTP/1.1\r\nHost: x\r\nAuth",
	}
	before := goroutinesOf("service/httpapi.")
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 1250 {
				if err := abort(t.Context(), address, requests[(worker+i)%len(requests)]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	server.Close() // Waits until every request that it took is over.
	if used, _ := h.Store.Connections(); used != 0 {
		t.Errorf("%d connections to the database are still in use", used)
	}
	if left := goroutinesOf("service/httpapi.") - before; left > 0 {
		t.Errorf("%d goroutines still answer", left)
	}
	if got := h.Do(token, "GET", "/api/v1/persons", "").Object(); len(got["edges"].([]any)) != 0 {
		t.Errorf("got %v, want nothing saved of a request that was cut", got)
	}
}

// abort sends the beginning of a request and goes away without reading.
func abort(ctx context.Context, address, beginning string) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	_, err = io.WriteString(connection, beginning)
	_ = connection.(*net.TCPConn).SetLinger(0) // A reset, as of a program that was killed.
	return errors.Join(err, connection.Close())
}

// goroutinesOf is how many goroutines of the process are in a function.
func goroutinesOf(function string) (n int) {
	stacks := make([]byte, 64<<20)
	lines := bufio.NewScanner(strings.NewReader(string(stacks[:runtime.Stack(stacks, true)])))
	found := false
	for lines.Scan() {
		switch text := lines.Text(); {
		case text == "":
			found = false
		case !found && strings.Contains(text, function):
			found = true
			n++
		}
	}
	return n
}
