package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

var takeover = flag.Duration("takeover", time.Minute, "how soon after a promotion the service must accept changes again")

// TestFailover kills the primary under writers and promotes its synchronous standby:
// nothing that was acknowledged is lost, and the same process serves again.
func TestFailover(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	primary := servicetest.NewCluster(t)
	standby := primary.Standby(t)
	_, run := newFailoverRun(t, primary, standby)
	run.enough, run.refused, run.again = make(chan struct{}), make(chan struct{}), make(chan struct{})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(run.write)
	}
	<-run.enough
	primary.Kill(t)
	<-run.refused
	if status, _ := get(t, http.DefaultClient, run.url+"/readyz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("got %d from /readyz without a database, want 503", status)
	}
	promoted := time.Now()
	run.mu.Lock()
	run.promoting = true
	run.mu.Unlock()
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-run.again
	took := time.Since(promoted)
	writers.Wait()
	if took > *takeover {
		t.Errorf("served again after %v, want %v at most", took, *takeover)
	}
	t.Logf("served again after %v", took)
	if status, _ := get(t, http.DefaultClient, run.url+"/readyz", ""); status != http.StatusOK {
		t.Errorf("got %d from /readyz after the promotion, want 200", status)
	}
	for id := range run.acknowledged {
		if status, _ := get(t, http.DefaultClient, run.url+"/api/v1/persons/"+id, run.token); status != http.StatusOK {
			t.Errorf("an acknowledged person is lost: got %d", status)
		}
	}
}

// failoverRun is what the writers of TestFailover see: changes that are kept, then
// refusals, then changes that are kept again.
type failoverRun struct {
	t                        *testing.T
	url, organization, token string

	mu                     sync.Mutex
	acknowledged           map[string]bool
	promoting              bool
	refusals, after        int
	enough, refused, again chan struct{}
}

// newFailoverRun serves a primary and its standby, whichever takes changes.
func newFailoverRun(t *testing.T, primary, standby *servicetest.Cluster, flags ...string) (environment, *failoverRun) {
	t.Helper()
	e := newFileEnvironment(t)
	e.database = servicetest.Clusters("read-write", primary, standby)
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "", "organization", "add", "--name", "A", "--abbreviation", "A")
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	return e, &failoverRun{t: t, url: e.serve(flags...).url, organization: organization.UUID, token: account.Token, acknowledged: map[string]bool{}}
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
	body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, id, r.organization, r.organization)
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/api/v1/persons", strings.NewReader(body))
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
	if err := response.Body.Close(); err != nil {
		r.t.Error(err)
	}
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		r.t.Error("a refusal does not say when to come back")
	}
	return response.StatusCode
}

// TestReplacedPrimary promotes a standby while its primary goes on and does not know: a process that
// names both leaves the old one by itself, and keeps nothing there that it tells as done.
func TestReplacedPrimary(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	primary := servicetest.NewCluster(t)
	standby := primary.Standby(t)
	primary.Execute(t, `ALTER SYSTEM SET synchronous_commit = 'remote_apply'`) // What is made is read from the standby at once.
	primary.Execute(t, `SELECT pg_reload_conf()`)
	primary.Await(t, `SELECT current_setting('synchronous_commit') = 'remote_apply'`)
	e, run := newFailoverRun(t, primary, standby)
	following := e.serve("--database", servicetest.Clusters("", standby))
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/readyz?for=reads": http.StatusOK} {
		if status, _ := get(t, http.DefaultClient, following.url+path, ""); status != want {
			t.Errorf("on the standby: got %d from %s, want %d; %s", status, path, want, following.log)
		}
	}
	primary.Execute(t, `ALTER SYSTEM SET synchronous_standby_names = ''`) // It would wait for its standby.
	primary.Execute(t, `SELECT pg_reload_conf()`)
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	promoted := time.Now()
	create := func() (id string, status, found int) {
		id = apitype.NewUUID().String()
		status = run.create(id)
		found, _ = get(t, http.DefaultClient, following.url+"/api/v1/persons/"+id, run.token)
		return id, status, found
	}
	for found := 0; found != http.StatusOK; _, _, found = create() {
		if time.Since(promoted) > time.Minute {
			t.Fatal("a minute later, the old primary is still served")
		}
	}
	t.Logf("the new primary was served after %v", time.Since(promoted))
	for range 50 {
		if id, status, found := create(); status != http.StatusCreated || found != http.StatusOK {
			t.Errorf("%s: got %d, and %d from the new primary, want it created there", id, status, found)
		}
	}
	if status, _ := get(t, http.DefaultClient, run.url+"/readyz", ""); status != http.StatusOK {
		t.Errorf("got %d from /readyz, want 200", status)
	}
}

// TestReplacedPrimaryWhoseCommitsWait promotes the standby of a primary whose commits wait: a process
// that was not ready for that is ready when it has found the new one, though nobody changes anything.
func TestReplacedPrimaryWhoseCommitsWait(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	primary := servicetest.NewCluster(t)
	standby := primary.Standby(t)
	_, run := newFailoverRun(t, primary, standby, "--database-answer-timeout", "1s")
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
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	for promoted := time.Now(); !ready(); {
		if time.Since(promoted) > *takeover {
			t.Fatalf("not ready %v after the promotion", *takeover)
		}
	}
}
