package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable/privileged"
	"fundesk/service/servicetest"
)

// writing creates persons over HTTP and remembers which of them were acknowledged.
type writing struct {
	t                        testing.TB
	url, organization, token string
	acknowledged             []string
	refused                  []string
}

// newWriting makes an organization and an account in the database of an environment.
func newWriting(e environment) *writing {
	e.t.Helper()
	w := &writing{t: e.t}
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A")
	e.must(&account, "account add a --all-organizations")
	w.organization, w.token = organization.UUID, account.Token
	return w
}

// create makes one person, and is the status and the answer.
func (w *writing) create() (int, string) {
	w.t.Helper()
	id := apitype.NewUUID().String()
	body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"lastName":%q}}`, id, w.organization, w.organization, id)
	status, answer := send(w.t, http.MethodPost, w.url+"/api/v1/persons", w.token, body)
	if status == http.StatusCreated {
		w.acknowledged = append(w.acknowledged, id)
	} else {
		w.refused = append(w.refused, id)
	}
	return status, answer
}

// refusal is an answer of a service with a failing disk: a problem with its reason, and the time to come back.
func (w *writing) refusal(status int, answer, want string) {
	w.t.Helper()
	if status != http.StatusServiceUnavailable ||
		!strings.Contains(answer, want) ||
		!strings.Contains(answer, "urn:fundesk:problem:unavailable") {
		w.t.Errorf("got %d %s, want 503 that says %q", status, answer, want)
	}
}

// verify reads back: what was acknowledged is there, what was refused is not.
func (w *writing) verify() {
	w.t.Helper()
	for status, persons := range map[int][]string{http.StatusOK: w.acknowledged, http.StatusNotFound: w.refused} {
		for _, id := range persons {
			replies(w.t, w.url+"/api/v1/persons/"+id, w.token, status)
		}
	}
}

// ended stops a child, which must end cleanly, and checks its database.
func (e environment) ended(c child) {
	e.t.Helper()
	servicetest.Report(e.t, c.command.Process.Signal(os.Interrupt))
	servicetest.Report(e.t, c.command.Wait())
	e.try("check").Ends(exitDone)
}

// TestFullDisk fills a small file system under the program: changes that do not fit are
// refused and not kept, reading goes on, and with space there is writing again.
// Promise S14: a full database is 503.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	privileged.Mount(t, e.folder, "16m")
	w := newWriting(e)
	running := e.child()
	w.url = running.url
	ballast := filepath.Join(e.folder, "ballast")
	for range 3 {
		if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("got %v, want a full disk", err)
		}
		status, answer := http.StatusCreated, ""
		for status == http.StatusCreated && len(w.acknowledged) < 20_000 {
			status, answer = w.create()
		}
		w.refusal(status, answer, "the database has no space left")
		w.verify()
		servicetest.Check(t, os.Remove(ballast))
		if status, answer := w.create(); status != http.StatusCreated {
			t.Fatalf("got %d %s with space again, want 201", status, answer)
		}
	}
	w.verify()
	e.ended(running)
	if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want a full disk", err)
	}
	e.try("account list").Ends(exitFailure, "its disk is full")
	copied := filepath.Join(e.folder, "copy.db")
	other := newFileEnvironment(t)
	other.done("migrate")
	other.try("backup", copied).Ends(exitFailure, "write "+copied+": its disk has no space left")
}

// TestFailingDisk lets writes and flushes fail under the program. Nothing is
// acknowledged that is not kept, also when it is killed and started again.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	tests := []struct{ fault, want string }{
		{faultFull, "the database has no space left"},
		{faultWrite, "the database cannot be read or written"},
		{faultTorn, "the database cannot be read or written"},
		{faultSync, "the database cannot be read or written"},
	}
	for _, test := range tests {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			e := newFileEnvironment(t)
			w := newWriting(e)
			control := filepath.Join(t.TempDir(), "fault")
			fail := func(fault string) {
				write(t, control, fault)
			}
			running := e.child(failDisk + "=" + control)
			w.url = running.url
			ready := func(want int) {
				t.Helper()
				replies(t, w.url+"/readyz", "", want)
			}
			for round := range 5 {
				ready(http.StatusOK)
				for range 20 {
					if status, answer := w.create(); status != http.StatusCreated {
						t.Fatalf("got %d %s, want 201", status, answer)
					}
				}
				fail(test.fault)
				if round%2 == 0 { // Whether a change was tried or not.
					ready(http.StatusServiceUnavailable)
				}
				for range 5 {
					status, answer := w.create()
					w.refusal(status, answer, test.want)
				}
				ready(http.StatusServiceUnavailable)
				fail("")
			}
			w.verify()
			fail(test.fault)
			status, answer := w.create()
			w.refusal(status, answer, test.want)
			servicetest.Report(t, running.command.Process.Kill())
			_ = running.command.Wait() // Killed.
			// A change that failed at its flush may be whole after a restart: its outcome
			// was not claimed.
			w.refused = w.refused[:len(w.refused)-1]
			running = e.child()
			w.url = running.url
			w.verify()
			e.ended(running)
		})
	}
}
