package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestReadFromReplica serves by three processes that read from a standby. While it follows, it
// answers; while it lags, or is away, the primary does; and whoever changed a record through one
// process reads it through any other.
func TestReadFromReplica(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	primary := servicetest.NewServer(t, "wal_level=replica", "max_wal_senders=4")
	standby := primary.Standby(t)
	e := environment{t: t, folder: t.TempDir(), database: servicetest.Clusters("", primary)}
	var organization struct{ UUID string }
	var account struct{ Token string }
	e.must(&organization, "", "organization", "add", "--name", "A", "--abbreviation", "A")
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	var all []serving
	for range 3 {
		all = append(all, e.serve("--database-read", servicetest.Clusters("", standby)))
	}
	create := func(s serving) string {
		t.Helper()
		id := apitype.NewUUID().String()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/persons", strings.NewReader(
			fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, id, organization.UUID, organization.UUID)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+account.Token)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusCreated || !strings.HasPrefix(response.Header.Get("Fundesk-Position"), "1/") {
			t.Errorf("got %d, position %q, want 201 and where the log is", response.StatusCode, response.Header.Get("Fundesk-Position"))
		}
		return id
	}
	seen := func(id string) {
		t.Helper()
		for i, s := range all {
			if status, body := get(t, http.DefaultClient, s.url+"/api/v1/persons/"+id, account.Token); status != http.StatusOK {
				t.Errorf("process %d: got %d %s for a person that was acknowledged", i, status, body)
			}
			if _, body := get(t, http.DefaultClient, s.url+"/api/v1/persons", account.Token); !strings.Contains(body, id) {
				t.Errorf("process %d: the list is without a person that was acknowledged", i)
			}
		}
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := range 10 {
				seen(create(all[(i+n)%len(all)]))
			}
		})
	}
	group.Wait()
	standby.Await(t, `SELECT sum(seq_scan + idx_scan) > 0 FROM pg_stat_user_tables WHERE relname = 'persons'`) // It was read from.

	standby.Execute(t, `SELECT pg_wal_replay_pause()`)
	standby.Await(t, `SELECT pg_get_wal_replay_pause_state() = 'paused'`)
	late := create(all[0])
	seen(late)
	standby.Execute(t, `SELECT pg_wal_replay_resume()`)
	seen(late)
	standby.Kill(t)
	seen(create(all[1]))
}

func TestReplicaOfSQLite(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	if code, _, errs := e.run("", "serve", "--listen", "127.0.0.1:0", "--database-read", "postgres://x"); code != exitFailure || !strings.Contains(errs, "no replicas") {
		t.Errorf("got code %d, %s, want that there are no replicas", code, errs)
	}
}
