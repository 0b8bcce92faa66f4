package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// awaiting is a service on a PostgreSQL server. Its commits wait for a standby that is away.
type awaiting struct {
	*writing
	e      environment
	t      *testing.T
	server *servicetest.Cluster
	url    string
}

const (
	commitPatience = time.Second

	// traceOfPuts names the changes that put sends. On PostgreSQL their connections show it.
	traceOfPuts = "0af7651916cd43dd8448eb211c80319c"
)

func newAwaiting(t *testing.T, more ...string) awaiting {
	t.Helper()
	servicetest.NeedPostgres(t)
	server := servicetest.NewServer(t, "wal_level=replica", "max_wal_senders=4")
	// Commits begin to wait only after the setup, and no test sees when the server notices the missing standby. If a
	// new connection waits, all do.
	server.Execute(t, `ALTER SYSTEM SET synchronous_commit = local`)
	server.Execute(t, `ALTER SYSTEM SET synchronous_standby_names = 'away'`)
	server.Execute(t, `SELECT pg_reload_conf()`)
	e := newFileEnvironment(t)
	e.database = servicetest.Clusters("", server)
	server.Await(t, `SELECT current_setting('synchronous_commit') = 'local'`)
	w := newWriting(e)
	s := e.serve(append([]string{"--database-answer-timeout", commitPatience.String()}, more...)...)
	t.Cleanup(func() { // The program's last changes would wait, too.
		for _, text := range []string{`ALTER SYSTEM RESET synchronous_standby_names`, `SELECT pg_reload_conf()`} {
			_ = server.Try(context.Background(), text) // It may have ended.
		}
	})
	server.Execute(t, `ALTER SYSTEM RESET synchronous_commit`)
	server.Execute(t, `SELECT pg_reload_conf()`)
	server.Await(t, `SELECT current_setting('synchronous_commit') = 'on'`)
	return awaiting{writing: w, e: e, t: t, server: server, url: s.url}
}

// put creates a person and returns the status. TestCommitThatIsNotConfirmed of sqlstore checks the time, by a clock
// that no other work delays.
func (a awaiting) put(id string) int {
	a.t.Helper()
	status, _ := send(a.t, http.MethodPost, a.url+"/api/v1/persons", a.token,
		fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`,
			id, a.organization, a.organization),
		"Traceparent", "00-"+traceOfPuts+"-b7ad6b7169203331-01")
	return status
}

func (a awaiting) read(id string) int {
	a.t.Helper()
	status, _ := get(a.t, http.DefaultClient, a.url+"/api/v1/persons/"+id, a.token)
	return status
}

// isReady wants these statuses of /readyz, for changes and for reads.
func (a awaiting) isReady(changes, reads int) {
	a.t.Helper()
	for query, want := range map[string]int{"": changes, "?for=reads": reads} {
		replies(a.t, a.url+"/readyz"+query, "", want)
	}
}

// TestCommitWaitsForItsStandby shows that a change is neither confirmed nor visible while its commit waits for a
// standby. The commit is not cancelled, or a failover would lose a visible change. The service is not ready for
// changes. Once the standby is back, the change is visible.
// Promise S40: while a commit waits for its standby, the service is not ready for changes.
func TestCommitWaitsForItsStandby(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	a := newAwaiting(t)
	ids := []string{apitype.NewUUID().String(), apitype.NewUUID().String()}
	for _, id := range ids {
		servicetest.Same(t, "while the standby is away", http.StatusServiceUnavailable, a.put(id))
		servicetest.Same(t, "for a person that no standby has", http.StatusNotFound, a.read(id))
		a.isReady(http.StatusServiceUnavailable, http.StatusOK)
	}
	a.server.Execute(t, `ALTER SYSTEM RESET synchronous_standby_names`)
	a.server.Execute(t, `SELECT pg_reload_conf()`)
	for _, id := range ids {
		for begun := time.Now(); a.read(id) != http.StatusOK; {
			if time.Since(begun) > *takeover {
				t.Fatal("a change that was under way is not there")
			}
		}
	}
	for begun := time.Now(); ; {
		if status, _ := get(t, http.DefaultClient, a.url+"/readyz", ""); status == http.StatusOK {
			break
		} else if time.Since(begun) > *takeover {
			t.Fatalf("/readyz: got %d after the standby came back, want 200", status)
		}
	}
	servicetest.Same(t, "afterwards", http.StatusCreated, a.put(apitype.NewUUID().String()))
	if log := a.server.Stop(); strings.Contains(log, "canceling") {
		t.Errorf("a commit was cancelled: %s", log)
	}
}

// TestCancelledCommit shows that a commit which an operator cancels is not confirmed: perhaps no standby has it.
func TestCancelledCommit(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	a := newAwaiting(t, "--database-answer-timeout", "20s")
	answered := make(chan int, 1)
	go func() {
		answered <- a.put(apitype.NewUUID().String())
	}()
	for begun := time.Now(); ; {
		a.server.Execute(t, `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
		select {
		case status := <-answered:
			servicetest.Same(t, "status", http.StatusServiceUnavailable, status)
			return
		default:
			if time.Since(begun) > *takeover {
				t.Fatal("not answered")
			}
		}
	}
}

// TestManyOpenCommits shows that commits which wait for a standby do not take the connections
// that reads need, and are bounded.
func TestManyOpenCommits(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	a := newAwaiting(t, "--database-connections", "2")
	kept := apitype.NewUUID().String()
	for range 8 {
		servicetest.Same(t, "put", http.StatusServiceUnavailable, a.put(apitype.NewUUID().String()))
		servicetest.Same(t, "for a read", http.StatusNotFound, a.read(kept))
	}
	servicetest.Same(t, "put", http.StatusServiceUnavailable, a.put(kept))
	// The service has two open commits per connection. A change of its own may begin beside the last one.
	const waiting = `(SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
	a.server.Await(t, `SELECT 4 <= `+waiting+`)`)
	own := waiting + ` AND application_name LIKE '%` + traceOfPuts + `%')`
	a.server.Execute(t, `DO $$ BEGIN ASSERT `+own+` <= 4, 'too many commits are open'; END $$`)
	a.server.Execute(t, `ALTER SYSTEM RESET synchronous_standby_names`)
	a.server.Execute(t, `SELECT pg_reload_conf()`)
	for begun := time.Now(); ; {
		if status := a.put(apitype.NewUUID().String()); status == http.StatusCreated {
			break
		} else if time.Since(begun) > *takeover {
			t.Fatalf("got %d after the standby came back", status)
		}
	}
}
