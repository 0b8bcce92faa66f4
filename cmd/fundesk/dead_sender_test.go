//go:build unix

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// takenUp is how soon the work of a dead sender is taken up.
const takenUp = 10 * time.Second

// stuck swallows the first change, and serves everything after it.
type stuck struct {
	inner   http.Handler
	changes atomic.Int32
	came    chan struct{} // Closed when the first change has come.
}

func (s *stuck) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && s.changes.Add(1) == 1 {
		_, _ = io.Copy(io.Discard, r.Body) // Only then the server sees its sender die.
		close(s.came)
		<-r.Context().Done()
		return
	}
	s.inner.ServeHTTP(w, r)
}

// A change whose sender was killed while it was on its way is looked up and sent by
// whoever else has the state folder open.
func TestCrowdTakesUpTheWorkOfTheDead(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t)
	s.Clock.Set(time.Now())
	network := &stuck{inner: s.Handler, came: make(chan struct{})}
	server := httptest.NewServer(network)
	t.Cleanup(server.Close)
	id := loadOneCall(s)
	h := newHome(t)
	h.env = append(h.env, "FUNDESK_BASE_URL="+server.URL, "FUNDESK_TOKEN="+s.Token())

	sender := h.program(t, "call", "complete", id.String(), "--result-code", "reached", "--notes", "precious", "--outbox")
	servicetest.Check(t, sender.Start())
	select {
	case <-network.came:
	case <-time.After(commandPatience):
		t.Fatal("the change does not come")
	}
	desk := h.program(t, "tui")
	tty, err := pty.StartWithSize(desk, &pty.Winsize{Rows: 30, Cols: 100})
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = tty.Close() })
	go func() { _, _ = io.Copy(io.Discard, tty) }()

	servicetest.Check(t, sender.Process.Kill())
	_ = sender.Wait()
	died := time.Now()

	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		var call apitype.Call
		s.Do(s.Token(), http.MethodGet, "/api/v1/calls/"+id.String(), "").Decode(&call)
		if notes := call.Result.Value().Notes; call.Status == apitype.CallCompleted && notes != nil && *notes == "precious" {
			break
		}
		if time.Since(died) > commandPatience {
			t.Fatalf("nobody takes it up:\n%s", h.must(t, "fundesk outbox list"))
		}
	}
	// A machine that runs all tests at once keeps no promise of seconds.
	if took := time.Since(died); took > takenUp && *crowdLong {
		t.Errorf("taken up after %s, want %s at most", took, takenUp)
	}
	if n := network.changes.Load(); n != 2 {
		t.Errorf("changes on the way: got %d, want the lost one and one more", n)
	}
	for strings.TrimSpace(h.must(t, "fundesk outbox list -o ndjson")) != "" {
		if time.Since(died) > 2*commandPatience {
			t.Fatalf("outbox: got %s, want nothing", h.must(t, "fundesk outbox list"))
		}
	}
}

// program is one of fundesk on this machine.
func (h home) program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, filepath.Join(programs, "fundesk"), args...)
	command.Env, command.Dir = h.env, h.dir
	return command
}

// loadOneCall makes a requested call of an hour ago.
func loadOneCall(s *servicetest.Harness) apitype.UUID {
	owner, at := s.Organization("Sea Rescue"), apitype.NewTime(s.Clock.Now().Add(-time.Hour))
	person, call := apitype.NewUUID(), apitype.NewUUID()
	s.Load(
		service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
			Person:                 apitype.Person{UUID: person, PersonUUID: person, CreatedAt: at, LastName: new("Menge")},
			OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner,
		}},
		service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
			UUID: call, Status: apitype.CallRequested, RequestedAt: at, LastUpdatedAt: at, PersonUUID: person, Type: apitype.CallVerification,
		}}},
	)
	return call
}
