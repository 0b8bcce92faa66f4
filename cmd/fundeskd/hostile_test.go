package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// beHostile makes the test program a malicious account against a service, until its standard input ends and it was
// refused something. Other work on the machine may delay the refusal. Then it prints how often it got each answer.
const beHostile = "FUNDESKD_TEST_HOSTILE"

// What the hostile account has at work.
const (
	hostileBodies   = 50
	hostileReaders  = 50
	hostileAttempts = 3
)

// hostileAccount is an account that means harm.
type hostileAccount struct {
	client     *http.Client
	url, token string
	calls      []string // Of a heavy pledge.

	mu      sync.Mutex
	told    map[string]int
	refused context.CancelFunc // Called whenever it is.
}

// hostilePatience is the longest that the account waits for a refusal.
const hostilePatience = time.Minute

func hostile() {
	h := &hostileAccount{
		client: clientOf(hostileBodies),
		url:    os.Getenv(beHostile),
		token:  os.Getenv("TOKEN"),
		calls:  strings.Split(os.Getenv("CALLS"), ","),
		told:   map[string]int{},
	}
	ctx, stop := context.WithCancel(context.Background())
	unrefused, refused := context.WithTimeout(context.Background(), hostilePatience)
	h.refused = refused
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		<-unrefused.Done()
		stop()
	}()
	idle, err := strconv.Atoi(os.Getenv("IDLE"))
	if err != nil {
		panic(err)
	}
	for range idle {
		if connection, err := h.dial(ctx); err == nil {
			defer func() { _ = connection.Close() }()
		}
	}
	var clients sync.WaitGroup
	empty := `{"entries":[{}` + strings.Repeat(",{}", (1<<20-20)/3) + `]}`
	long := `{"academicTitle":"` + strings.Repeat("x", 1<<20-100) + `"}`
	for i := range hostileBodies {
		clients.Go(func() {
			for ctx.Err() == nil {
				if i%2 == 0 {
					h.ask(ctx, "POST", "/api/v1/entity-access/actions/mark-processed", empty)
				} else {
					h.ask(ctx, "POST", "/api/v1/persons", long)
				}
			}
		})
	}
	for range hostileReaders {
		clients.Go(func() { h.readNothing(ctx) })
	}
	for i := range hostileAttempts {
		clients.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				h.ask(ctx, "PUT", "/api/v1/calls/"+h.calls[n%len(h.calls)]+"/actions/add-attempt", "{}")
			}
		})
	}
	clients.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(h.told); err != nil {
		panic(err)
	}
}

// ask sends a request and notes the answer.
func (h *hostileAccount) ask(ctx context.Context, method, path, body string) {
	status, header, _, err := request(ctx, h.client, method, h.url+path, h.token, body)
	told := strconv.Itoa(status)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil && status == 0:
		told = "cut off"
	case header.Get("Retry-After") != "":
		told += " with Retry-After"
		h.refused()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told[told]++
}

func (h *hostileAccount) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(h.url, "http://"))
}

// readNothing asks for the largest page, reads nothing for some seconds, and asks again.
func (h *hostileAccount) readNothing(ctx context.Context) {
	again := time.NewTicker(5 * time.Second)
	defer again.Stop()
	for ctx.Err() == nil {
		connection, err := h.dial(ctx)
		if err == nil {
			_, _ = fmt.Fprintf(connection, "GET /api/v1/calls?first=500&include=person,pledge,transactions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", h.token)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
		}
		if err == nil {
			_ = connection.Close()
		}
	}
}

// request asks for something once.
func request(
	ctx context.Context,
	client *http.Client,
	method, url, token, body string,
) (status int, header http.Header, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, response.Header, answer, err
}

// clientOf keeps some connections.
func clientOf(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}}
}
