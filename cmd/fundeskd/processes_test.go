package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestTwoProcesses runs two programs on one PostgreSQL database: each takes the other's
// tokens, cursors and revocations, what they do to one record stays exact, and when one
// is killed the clients of the other notice nothing.
func TestTwoProcesses(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.EmptyDatabase(t)
	e := newEnvironment(t)
	// Both start on a database without a schema.
	var programs [2]child
	var starting sync.WaitGroup
	for i := range programs {
		starting.Go(func() { programs[i] = e.child("FUNDESKD_DATABASE=" + server) })
	}
	starting.Wait()
	var organization, account, other struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A --max-call-attempts 20 --database", server)
	e.must(&account, "account add a --all-organizations --database", server)
	e.must(&other, "account add b --all-organizations --database", server)
	put := func(program int, method, path, body string) (int, string) {
		return send(t, method, programs[program].url+path, account.Token, body)
	}
	const person, call = "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03"
	count := func(n int, request func(i int) int) map[int]int {
		var mu sync.Mutex
		var group sync.WaitGroup
		statuses := map[int]int{}
		for i := range n {
			group.Go(func() {
				status := request(i)
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
			})
		}
		group.Wait()
		return statuses
	}
	tests := []struct {
		name         string
		method, path string
		body         string
		requests     int
		done, kept   int // The status of successful requests, and how many may succeed.
	}{
		{
			name:   "one uuid",
			method: "POST",
			path:   "/api/v1/persons",
			body: `{"uuid":"` + person + `","owningOrganizationUuid":"` + organization.UUID +
				`","recruitingOrganizationUuid":"` + organization.UUID + `"}`,
			requests: 32,
			done:     201,
			kept:     1,
		},
		{
			name:   "one call",
			method: "POST",
			path:   "/api/v1/calls",
			body: `{"uuid":"` + call + `","personUuid":"` + person +
				`","requestedAt":"2026-11-20","type":"winback"}`,
			requests: 8,
			done:     201,
			kept:     1,
		},
		{"attempts", "PUT", "/api/v1/calls/" + call + "/actions/add-attempt", "", 32, 200, 20},
	}
	for _, test := range tests {
		got := count(test.requests, func(i int) int {
			status, _ := put(i%2, test.method, test.path, test.body)
			return status
		})
		if got[test.done] != test.kept || got[409] != test.requests-test.kept {
			t.Errorf("%s: got %v, want %d done and conflicts", test.name, got, test.kept)
		}
	}
	fields := []string{
		`{"language":"fr"}`,
		`{"academicTitle":"dr."}`,
		`{"email":"a@example.org"}`,
		`{"gender":"female"}`,
	}
	if got := count(len(fields), func(i int) int {
		status, _ := put(i%2, "PUT", "/api/v1/persons/"+person+"/actions/update", fields[i])
		return status
	}); got[200] != len(fields) {
		t.Errorf("updates: got %v", got)
	}
	for i := range programs {
		_, body := put(i, "GET", "/api/v1/persons/"+person, "")
		for _, field := range fields {
			if !strings.Contains(body, strings.Trim(field, "{}")) {
				t.Errorf("program %d: the person lacks %s: %s", i, field, body)
			}
		}
		if status, _ := send(t, "GET", programs[i].url+"/api/v1/calls", other.Token, ""); status != http.StatusOK {
			t.Errorf("program %d: got %d", i, status)
		}
	}
	e.must(&other, "account revoke", other.UUID, "--database", server)
	for i := range programs {
		status, _ := send(t, "GET", programs[i].url+"/api/v1/calls", other.Token, "")
		if status != http.StatusUnauthorized {
			t.Errorf("program %d: got %d for a revoked account, want 401", i, status)
		}
	}
	survives(t, programs, account.Token, organization.UUID)
}

// TestPeriodicWorkMovesOn runs two programs on one PostgreSQL database. It kills one, then the other with a third
// running. The living one logs the expired claims.
func TestPeriodicWorkMovesOn(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.EmptyDatabase(t)
	e := newEnvironment(t)
	programs := []child{e.child("FUNDESKD_DATABASE=" + server), e.child("FUNDESKD_DATABASE=" + server)}
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A --database", server)
	e.must(&account, "account add a --all-organizations --database", server)
	connection, err := pgx.Connect(t.Context(), server)
	servicetest.Check(t, err)
	defer func() { servicetest.Report(t, connection.Close(context.WithoutCancel(t.Context()))) }()
	claimed := 0
	expect := func(program child) {
		t.Helper()
		claimed++
		person, user := apitype.NewUUID().String(), apitype.NewUUID().String()
		for _, request := range [][2]string{
			{"/api/v1/persons", `{"uuid":"` + person + `","owningOrganizationUuid":"` + organization.UUID +
				`","recruitingOrganizationUuid":"` + organization.UUID + `"}`},
			{"/api/v1/calls", `{"personUuid":"` + person + `","requestedAt":"2026-01-20","type":"winback"}`},
			{"/fundesk/v1/queue/take", `{"requestUuid":"` + user + `","userUuid":"` + user + `"}`},
		} {
			status, answer := send(t, "POST", program.url+request[0], account.Token, request[1])
			if status >= http.StatusBadRequest {
				t.Fatalf("%s: got %d %s", request[0], status, answer)
			}
		}
		_, err := connection.Exec(t.Context(), `UPDATE donors SET expires_at = taken_at WHERE lease_uuid IS NOT NULL`)
		servicetest.Check(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for logged := 0; logged < claimed; {
			servicetest.Check(t, connection.QueryRow(ctx, `SELECT COUNT(*) FROM ended_leases`).Scan(&logged))
		}
	}
	expect(programs[0])
	servicetest.Report(t, programs[0].command.Process.Kill())
	_ = programs[0].command.Wait() // Killed.
	expect(programs[1])
	third := e.child("FUNDESKD_DATABASE=" + server)
	servicetest.Report(t, programs[1].command.Process.Kill())
	_ = programs[1].command.Wait()
	expect(third)
	servicetest.Report(t, third.command.Process.Signal(os.Interrupt))
	servicetest.Report(t, third.command.Wait())
}

// survives kills the first of two programs while both take changes.
func survives(t *testing.T, programs [2]child, token, organization string) {
	t.Helper()
	body := `{"owningOrganizationUuid":"` + organization + `","recruitingOrganizationUuid":"` + organization + `"}`
	killed := make(chan struct{})
	var afterwards atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for afterwards.Load() < 100 {
				status, answer := send(t, "POST", programs[1].url+"/api/v1/persons", token, body)
				if status != http.StatusCreated {
					t.Errorf("a client of the other program got %d %s", status, answer)
					return
				}
				select {
				case <-killed:
					afterwards.Add(1)
				default:
				}
			}
		})
	}
	for range 20 {
		if status, _ := send(t, "POST", programs[0].url+"/api/v1/persons", token, body); status != http.StatusCreated {
			t.Errorf("got %d", status)
		}
	}
	servicetest.Report(t, programs[0].command.Process.Kill())
	close(killed)
	group.Wait()
	_ = programs[0].command.Wait() // Killed.
	servicetest.Report(t, programs[1].command.Process.Signal(os.Interrupt))
	servicetest.Report(t, programs[1].command.Wait())
}

// send sends one request and reads its answer. Headers are names, each with its value after it.
func send(t testing.TB, method, url, token, body string, headers ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	for header := range slices.Chunk(headers, 2) {
		request.Header.Set(header[0], header[1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	data, err := io.ReadAll(response.Body)
	servicetest.Report(t, err)
	servicetest.Report(t, response.Body.Close())
	return response.StatusCode, string(data)
}
