//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// exchange is a request for a change, and its answer.
type exchange struct {
	begun, ended int64     // Places in the order of all that happened.
	at           time.Time // By the clock of the week, when it was sent.
	real         time.Time
	token        string
	method, path string
	body         []byte
	status       int
	answer       []byte
	isLost       bool // By the restore: made after the backup.
}

func (x *exchange) isAccepted() bool { return x.status >= 200 && x.status < 300 }

// record returns the uuid in the path.
func (x *exchange) record() string { return callOnScreen.FindString(x.path) }

// read decodes the body of the request.
func (x *exchange) read(into any) { _ = json.Unmarshal(x.body, into) }

// front is the one address of the service. It writes down each change, and its service may be away.
type front struct {
	clock  *weekClock
	client http.Client

	mu        sync.Mutex
	random    *rand.Rand
	service   string // Empty while it is away.
	isFlaky   bool   // Now and then an answer to a Desk is lost.
	desks     map[string]bool
	order     int64
	exchanges []*exchange
}

// next returns the next place in the order of all that happened.
func (f *front) next() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order++
	return f.order
}

// serve names the address of the service; empty while it is away.
func (f *front) serve(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.service = url
}

func (f *front) all() []*exchange {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*exchange(nil), f.exchanges...)
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	x := &exchange{
		begun:  f.next(),
		at:     f.clock.now(),
		real:   time.Now(),
		token:  strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
		method: r.Method,
		path:   r.URL.Path,
		body:   body,
	}
	f.mu.Lock()
	service := f.service
	f.mu.Unlock()
	if service == "" {
		hangUp(w)
		return
	}
	answer, err := f.forward(r, service, body)
	if err != nil {
		hangUp(w)
		return
	}
	x.status = answer.StatusCode
	x.answer, err = io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || f.keep(x) {
		hangUp(w)
		return
	}
	maps.Copy(w.Header(), answer.Header)
	w.Header().Set("Date", f.clock.now().UTC().Format(http.TimeFormat))
	w.WriteHeader(x.status)
	_, _ = w.Write(x.answer)
}

// forward sends a request to the service. It goes on if the client goes away.
func (f *front) forward(r *http.Request, service string, body []byte) (*http.Response, error) {
	ctx := context.WithoutCancel(r.Context())
	url := service + r.URL.RequestURI()
	request, err := http.NewRequestWithContext(ctx, r.Method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = r.Header.Clone()
	request.Header.Del("Accept-Encoding")
	return f.client.Do(request)
}

// keep writes an exchange down. It reports whether its answer is lost.
func (f *front) keep(x *exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order++
	x.ended = f.order
	if x.method == http.MethodGet {
		return false
	}
	f.exchanges = append(f.exchanges, x)
	return f.isFlaky && f.desks[x.token] && f.random.IntN(12) == 0
}

// takenOf returns the leases that an exchange gave.
func (x *exchange) takenOf() []apitype.Lease {
	if !x.isAccepted() || x.path != "/fundesk/v1/queue/take" {
		return nil
	}
	var taken apitype.Taken
	_ = json.Unmarshal(x.answer, &taken)
	return taken.Leases
}
