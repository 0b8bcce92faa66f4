package main

import (
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

// TestHangingServer stops PostgreSQL in the middle of its work: its connections stay
// open, and nothing is answered. Requests get 503 within a bounded time, however many
// there are, and are served again when the server goes on.
func TestHangingServer(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.NewServer(t)
	e := newFileEnvironment(t)
	e.database = servicetest.Clusters("", server)
	w := newWriting(e)
	const patience = 2 * time.Second
	s := e.serve("--database-answer-timeout", patience.String(), "--database-connect-timeout", patience.String(),
		"--database-connections", "4")
	w.url = s.url
	for status := 0; status != http.StatusCreated; { // A machine that does other work may take longer than that.
		status, _ = w.create()
	}
	server.Hang(t)
	resumed := false
	defer func() {
		if !resumed {
			server.Resume(t) // It would not end otherwise.
		}
	}()
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			begun := time.Now()
			method, path, body := http.MethodGet, "/api/v1/persons", ""
			if i%2 == 0 {
				method = http.MethodPost
				body = fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`,
					apitype.NewUUID(), w.organization, w.organization)
			}
			status, answer := send(t, method, s.url+path, w.token, body)
			if status != http.StatusServiceUnavailable || !strings.Contains(answer, "urn:fundesk:problem:unavailable") {
				t.Errorf("%s: got %d %s, want 503", method, status, answer)
			}
			// One deadline covers the turn, the connection and each question. A busy machine takes longer.
			if took := time.Since(begun); took > inShort(*takeover, patience*3/2) {
				t.Errorf("%s: answered after %v", method, took)
			}
		})
	}
	group.Wait()
	s.replies(t, "/readyz", "", http.StatusServiceUnavailable)
	s.replies(t, "/healthz", "", http.StatusOK)
	var errs lockedBuffer
	short := e.program("", io.Discard, &errs)
	short.answerTimeout = patience
	code := run(t.Context(), []string{"account", "list"}, short)
	if code != exitFailure || !strings.Contains(errs.String(), "does not answer") {
		t.Errorf("got code %d, %s from a command, want that the database does not answer", code, errs.String())
	}
	server.Resume(t)
	resumed = true
	for begun := time.Now(); ; {
		if status, answer := w.create(); status == http.StatusCreated {
			break
		} else if status != http.StatusServiceUnavailable || time.Since(begun) > *takeover {
			t.Fatalf("got %d %s after the server went on", status, answer)
		}
	}
	for _, id := range w.acknowledged {
		s.replies(t, "/api/v1/persons/"+id, w.token, http.StatusOK)
	}
}
