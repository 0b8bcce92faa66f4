package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// floorCalls is how many calls wait for the agents of TestFloor. The long form is -floor 20000: 400 each.
var floorCalls = flag.Int("floor", 250, "how many calls 50 agents work through")

// TestFloor lets 50 agents work through calls, two for most persons, against one process on SQLite and three on
// PostgreSQL, of which two are killed. Some agents open calls by uuid, and some clocks are hours wrong. No person is
// held by two agents at one time. Each is called once, since a donor rests for four hours, and an agent who opens
// another call of the donor reads a warning.
func TestFloor(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	t.Run("one process on SQLite", func(t *testing.T) {
		t.Parallel()
		f := newFloor(t, newFileEnvironment(t))
		f.start(1)
		f.work(0)
	})
	t.Run("three processes on PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		e := newFileEnvironment(t)
		e.database = servicetest.PostgresDatabase(t)
		f := newFloor(t, e)
		f.start(3)
		f.work(2)
	})
}

// floor is a call centre.
type floor struct {
	environment
	organization, token string
	programs            []child

	mu    sync.Mutex
	moved *sync.Cond                    // Something was completed, or an agent has ended.
	alive []string                      // URLs.
	asked int                           // How often one of them was.
	held  map[apitype.UUID]apitype.UUID // Persons, and their agents.
	given map[apitype.UUID]int          // Calls that their holders completed.
	took  []time.Duration               // Of takes.
	of    map[apitype.UUID]apitype.UUID // The person of each call.
	all   int                           // Persons.
}

func newFloor(t *testing.T, e environment) *floor {
	t.Helper()
	e.t = t
	f := &floor{
		environment: e,
		held:        map[apitype.UUID]apitype.UUID{},
		given:       map[apitype.UUID]int{},
		of:          map[apitype.UUID]apitype.UUID{},
	}
	f.moved = sync.NewCond(&f.mu)
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A")
	e.must(&account, "account add a --all-organizations")
	f.organization, f.token = organization.UUID, account.Token
	var lines strings.Builder
	var person apitype.UUID
	for i := range *floorCalls {
		if i%9 < 5 {
			person = apitype.NewUUID()
			f.all++
			fmt.Fprintf(&lines, `{"kind":"person","data":{"uuid":%q,"createdAt":"2026-01-01","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"phoneNumber":"+3120%07d"}}`+"\n", person, f.organization, f.organization, i)
		}
		call := apitype.NewUUID()
		f.of[call] = person
		fmt.Fprintf(&lines,
			`{"kind":"call","data":{"uuid":%q,"personUuid":%q,"status":"requested","type":"happy_call","requestedAt":%q}}`+"\n",
			call, person, apitype.NewTime(time.Now().Add(-time.Duration(i)*time.Minute)))
	}
	e.reading(lines.String()).done("load -")
	return f
}

// start starts programs.
func (f *floor) start(n int) {
	f.t.Helper()
	for range n {
		program := f.child()
		f.programs = append(f.programs, program)
		f.alive = append(f.alive, program.url)
	}
}

// work lets the agents work while some programs are killed.
func (f *floor) work(kills int) {
	f.t.Helper()
	begun := time.Now()
	var agents sync.WaitGroup
	for i := range 50 {
		if clock := time.Duration(i%3-1) * 5 * time.Hour; i%5 == 0 {
			agents.Go(func() { f.opener(clock) })
		} else {
			agents.Go(func() { f.agent(clock) })
		}
	}
	for i := range kills {
		f.mu.Lock()
		for len(f.given) < f.all*(i+1)/(kills+2) && !f.t.Failed() {
			f.moved.Wait()
		}
		f.alive = f.alive[1:]
		f.mu.Unlock()
		_ = f.programs[i].command.Process.Kill()
		_ = f.programs[i].command.Wait()
	}
	agents.Wait()
	for _, program := range f.programs[kills:] {
		_ = program.command.Process.Signal(os.Interrupt)
		_ = program.command.Wait()
	}
	called := map[apitype.UUID]int{}
	for call, times := range f.given {
		called[f.of[call]] += times
	}
	for _, person := range f.of {
		if called[person] != 1 {
			f.t.Errorf("person %s was called %d times", person, called[person])
		}
	}
	slices.Sort(f.took)
	f.t.Logf("%d persons in %v; takes: median %v, p99 %v", f.all, time.Since(begun).Round(time.Millisecond),
		f.took[len(f.took)/2], f.took[len(f.took)*99/100])
}

func (f *floor) completed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.given)
}

// agent works until nothing is left: it completes a call when it holds the next one already, so
// that it has two persons at a time, as a desk has.
func (f *floor) agent(clock time.Duration) {
	defer f.moved.Broadcast()
	user := apitype.NewUUID()
	var current *apitype.UUID
	for limit := time.Now().Add(floorLimit); !f.t.Failed(); {
		if time.Now().After(limit) {
			f.t.Errorf("after %v, %d of %d calls were given", floorLimit, f.completed(), f.all)
		}
		next := f.take(user)
		if next != nil {
			f.hold(user, f.of[*next])
		}
		if current != nil {
			f.complete(user, *current, clock)
		} else if next == nil && f.completed() == f.all {
			return
		}
		current = next // Without one, others hold the last ones.
	}
}

// opener opens calls at random until all are called. It leaves out persons of another agent, and those called lately.
func (f *floor) opener(clock time.Duration) {
	defer f.moved.Broadcast()
	user := apitype.NewUUID()
	for limit := time.Now().Add(floorLimit); f.completed() < f.all && !f.t.Failed() && time.Now().Before(limit); {
		for call := range f.of { // In an order that is another one each time.
			body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q}`, apitype.NewUUID(), user)
			answer := f.until("PUT", "/fundesk/v1/queue/calls/"+call.String()+"/lease", body, http.StatusOK,
				http.StatusConflict)
			var lease apitype.Lease
			if json.Unmarshal([]byte(answer), &lease) != nil || lease.CallUUID != call {
				break
			}
			f.hold(user, f.of[call])
			if lease.NumberContactedAt == nil {
				f.complete(user, call, clock)
				break
			}
			f.mu.Lock()
			delete(f.held, f.of[call])
			f.mu.Unlock()
			f.until("POST", "/fundesk/v1/queue/leases/"+lease.LeaseUUID.String()+"/release", `{}`, http.StatusNoContent)
			break
		}
	}
}

// floorLimit is how long the agents may take. A hang is a failure, slowness is not.
const floorLimit = 20 * time.Minute

// hold notes that a user holds a person. A second holder is a failure.
func (f *floor) hold(user, person apitype.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, twice := f.held[person]; twice {
		f.t.Errorf("%s is held by %s and by %s", person, other, user)
	}
	f.held[person] = user
}

// complete ends a call. Another agent may have its person as soon as the service knows.
func (f *floor) complete(user, call apitype.UUID, clock time.Duration) {
	f.mu.Lock()
	delete(f.held, f.of[call])
	f.mu.Unlock()
	f.until(
		"PUT",
		"/api/v1/calls/"+call.String()+"/actions/complete",
		fmt.Sprintf(`{"userUuid":%q,"result":{"resultCode":"ok","completedAt":%q}}`,
			user, apitype.NewTime(time.Now().Add(clock))),
		http.StatusOK,
	)
	f.mu.Lock()
	f.given[call]++
	f.mu.Unlock()
	f.moved.Broadcast()
}

// take takes one call, or returns nil if none is left. It repeats a request without an answer.
func (f *floor) take(user apitype.UUID) *apitype.UUID {
	begun := time.Now()
	answer := f.until("POST", "/fundesk/v1/queue/take",
		fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":3600}`, apitype.NewUUID(), user), http.StatusOK)
	took := time.Since(begun)
	var taken apitype.Taken
	if err := json.Unmarshal([]byte(answer), &taken); err != nil {
		f.t.Errorf("take: %v", err)
		return nil
	}
	f.mu.Lock()
	f.took = append(f.took, took)
	f.mu.Unlock()
	if len(taken.Leases) == 0 {
		return nil
	}
	return &taken.Leases[0].CallUUID
}

// until sends a request to any program until one answers as it should.
func (f *floor) until(method, path, body string, want ...int) string {
	for deadline := time.Now().Add(floorLimit); ; {
		f.mu.Lock()
		url := f.alive[f.asked%len(f.alive)]
		f.asked++
		f.mu.Unlock()
		status, answer, err := f.try(method, url+path, body)
		if err == nil && slices.Contains(want, status) {
			return answer
		}
		if err == nil && status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			f.t.Errorf("%s %s: got %d %s", method, path, status, answer)
			return answer
		}
	}
}

// try sends a request; an error is a program that was killed.
func (f *floor) try(method, url, body string) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(f.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+f.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), errors.Join(err, response.Body.Close())
}
