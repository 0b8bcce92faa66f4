package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

var takeover = flag.Duration("takeover", time.Minute,
	"how soon after a promotion the service must accept changes again")

// TestFailover kills the primary under writers and promotes its synchronous standby:
// nothing that was acknowledged is lost, and the same process serves again, through the proxy that it names.
func TestFailover(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	primary := servicetest.NewCluster(t)
	standby := primary.Standby(t)
	proxy, run := newFailoverRun(t, primary)
	run.enough, run.refused, run.again = make(chan struct{}), make(chan struct{}), make(chan struct{})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(run.write)
	}
	<-run.enough
	primary.Kill(t)
	<-run.refused
	replies(t, run.url+"/readyz", "", http.StatusServiceUnavailable)
	promoted := time.Now()
	run.mu.Lock()
	run.promoting = true
	run.mu.Unlock()
	servicetest.Check(t, standby.Promote(t.Context()))
	proxy.lead(standby)
	<-run.again
	took := time.Since(promoted)
	writers.Wait()
	if took > *takeover {
		t.Errorf("served again after %v, want %v at most", took, *takeover)
	}
	t.Logf("served again after %v", took)
	replies(t, run.url+"/readyz", "", http.StatusOK)
	for id := range run.acknowledged {
		replies(t, run.url+"/api/v1/persons/"+id, run.token, http.StatusOK)
	}
}

// failoverRun is what the writers of TestFailover see: confirmed changes, then refusals, then confirmed changes again.
type failoverRun struct {
	t                        *testing.T
	url, organization, token string

	mu                     sync.Mutex
	acknowledged           map[string]bool
	promoting              bool
	refusals, after        int
	enough, refused, again chan struct{}
}

// proxy leads to one server at a time, as HAProxy does.
type proxy struct {
	net.Listener
	mu     sync.Mutex
	socket string // Of the server.
	open   []net.Conn
}

func newProxy(t *testing.T, to *servicetest.Cluster) *proxy {
	t.Helper()
	return newProxyTo(t, nameOf(to))
}

func nameOf(c *servicetest.Cluster) *url.URL {
	name, _ := url.Parse(servicetest.Clusters("", c))
	return name
}

// newProxyTo is newProxy for the server of a database's name.
func newProxyTo(t *testing.T, to *url.URL) *proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	p := &proxy{Listener: listener, socket: socketOf(to)}
	go func() {
		for {
			from, err := p.Accept()
			if err != nil {
				return
			}
			p.forward(from)
		}
	}()
	return p
}

// lead leads to a server, and ends the connections to the one before.
func (p *proxy) lead(to *servicetest.Cluster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close() // A closed connection does no harm.
	}
	p.open, p.socket = nil, socketOf(nameOf(to))
}

// socketOf returns the socket of the server of a database's name.
func socketOf(name *url.URL) string { return filepath.Join(name.Query().Get("host"), ".s.PGSQL.5432") }

// forward connects a client with the server.
func (p *proxy) forward(from net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to, err := new(net.Dialer).DialContext(context.Background(), "unix", p.socket)
	if err != nil {
		_ = from.Close() // The client tries again.
		return
	}
	p.open = append(p.open, from, to)
	pass := func(a, b net.Conn) {
		_, _ = io.Copy(a, b) // Whatever ended it, both end.
		_, _ = a.Close(), b.Close()
	}
	go pass(from, to)
	go pass(to, from)
}

// newFailoverRun serves a primary through a proxy.
func newFailoverRun(t *testing.T, primary *servicetest.Cluster, flags ...string) (*proxy, *failoverRun) {
	t.Helper()
	e, p := newFileEnvironment(t), newProxy(t, primary)
	e.database = "postgres://fundesk@" + p.Addr().String() + "/postgres?sslmode=disable"
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A")
	e.must(&account, "account add a --all-organizations")
	return p, &failoverRun{
		t:            t,
		url:          e.serve(flags...).url,
		organization: organization.UUID,
		token:        account.Token,
		acknowledged: map[string]bool{},
	}
}

// write creates persons until some were kept after the refusals.
func (r *failoverRun) write() {
	for {
		id := apitype.NewUUID().String()
		status := r.create(id)
		r.mu.Lock()
		switch {
		case status == http.StatusCreated:
			r.acknowledged[id] = true
			if len(r.acknowledged) == 50 {
				close(r.enough)
			}
			if r.promoting {
				if r.after++; r.after == 1 {
					close(r.again)
				}
			}
		case status == http.StatusServiceUnavailable:
			if r.refusals++; r.refusals == 1 {
				close(r.refused)
			}
		default:
			r.t.Errorf("got %d, want 201 or 503", status)
		}
		done := r.after >= 50 || r.t.Failed()
		r.mu.Unlock()
		if done {
			return
		}
	}
}

func (r *failoverRun) create(id string) int {
	body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`,
		id, r.organization, r.organization)
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/api/v1/persons",
		strings.NewReader(body))
	if err != nil {
		r.t.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Error(err)
		return 0
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		r.t.Error(err)
	}
	servicetest.Report(r.t, response.Body.Close())
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		r.t.Error("a refusal does not say when to come back")
	}
	return response.StatusCode
}

// TestServeStandby serves a standby itself: it is ready for reads, and for no changes.
func TestServeStandby(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	primary := servicetest.NewCluster(t)
	standby := primary.Standby(t)
	// What is made is read from the standby at once.
	primary.Execute(t, `ALTER SYSTEM SET synchronous_commit = 'remote_apply'`)
	primary.Execute(t, `SELECT pg_reload_conf()`)
	primary.Await(t, `SELECT current_setting('synchronous_commit') = 'remote_apply'`)
	e := newFileEnvironment(t)
	e.database = servicetest.Clusters("", primary)
	e.organization("A")
	following := e.serve("--database", servicetest.Clusters("", standby))
	for path, want := range map[string]int{
		"/readyz":           http.StatusServiceUnavailable,
		"/readyz?for=reads": http.StatusOK,
	} {
		replies(t, following.url+path, "", want)
	}
	both := servicetest.Clusters("read-write", primary, standby)
	e.try("serve --listen 127.0.0.1:0 --database", both).Ends(exitFailure, "HAProxy")
}

// TestReplacedPrimaryWhoseCommitsWait promotes the standby of a primary with waiting commits. A process that was not
// ready for that becomes ready when the proxy leads to the new primary, even without changes.
func TestReplacedPrimaryWhoseCommitsWait(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	primary := servicetest.NewCluster(t)
	standby := primary.Standby(t)
	proxy, run := newFailoverRun(t, primary, "--database-answer-timeout", "1s")
	standby.Execute(t, `ALTER SYSTEM SET primary_conninfo = ''`)
	standby.Execute(t, `SELECT pg_reload_conf()`)
	for run.create(apitype.NewUUID().String()) != http.StatusServiceUnavailable { // Until the standby has let go.
		if t.Failed() {
			return
		}
	}
	ready := func() bool {
		status, _ := get(t, http.DefaultClient, run.url+"/readyz", "")
		return status == http.StatusOK
	}
	if ready() {
		t.Error("/readyz: got 200 while commits wait, want 503")
	}
	servicetest.Check(t, standby.Promote(t.Context()))
	proxy.lead(standby)
	for promoted := time.Now(); !ready(); {
		if time.Since(promoted) > *takeover {
			t.Fatalf("not ready %v after the promotion", *takeover)
		}
	}
}
