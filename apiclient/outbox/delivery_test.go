package outbox

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// An update to a service that refuses each revision is refused in the end, as if it had been sent directly.
func TestUpdatesWhoseRevisionsAreAlwaysRefused(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var reads, sent atomic.Int32
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			if sent.Add(1) == 20 {
				cancel()
			}
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", fmt.Sprintf("%q", strconv.Itoa(int(reads.Add(1)))))
		fmt.Fprintf(w, `{"uuid":%q,"iban":"B"}`, id)
	})
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   "https://a.example",
		Transport: inProcess{service},
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	change, err := apiclient.UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")})
	servicetest.Check(t, err)
	if _, err := client.Send(ctx, change); apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("sent directly: got %v, want a conflict", err)
	}
	sent.Store(0)
	box := open(t, t.TempDir(), client.BaseURL())
	add(t, box, Entry{Change: change})
	report, err := box.Sender(client, SenderOptions{}).SendDue(ctx)
	if err != nil ||
		report.Rejected != 1 ||
		apiclient.KindOf(report.RejectedErr) != apiclient.KindConflict ||
		sent.Load() > mostTries {
		t.Errorf("in the outbox: got %+v, %v after %d requests, want one conflict after %d",
			report, err, sent.Load(), mostTries)
	}
}

// A creation with a lost answer is not taken for a conflict while a slow service does not show the new record. It was
// made once, and is reported as made when it appears.
func TestACreationThatIsShownLate(t *testing.T) {
	t.Parallel()
	person := apitype.CreatePersonRequest{UUID: new(apitype.NewUUID()), Email: new("new@example.org")}
	var made, reads atomic.Int32
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost && made.Add(1) == 1:
			w.WriteHeader(http.StatusBadGateway)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusConflict)
		case reads.Add(1) < 4:
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprintf(w, `{"uuid":%q,"email":"new@example.org"}`, person.UUID)
		}
	})
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   "https://a.example",
		Transport: inProcess{service},
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	change, err := apiclient.CreatePersonChange(person)
	servicetest.Check(t, err)
	if _, err := client.Send(t.Context(), change); apiclient.KindOf(err) != apiclient.KindUnknownOutcome {
		t.Errorf("sent directly: got %v, want an unknown outcome", err)
	}
	made.Store(0)
	reads.Store(0)
	box := open(t, t.TempDir(), client.BaseURL())
	add(t, box, Entry{Change: change})
	if report := settleAll(t, box, client); report.Rejected != 0 || len(list(t, box)) != 0 {
		t.Errorf("in the outbox: got %+v, want that it was accepted", report)
	}
}

// What was interrupted between two changes says so: not all is sent.
func TestInterruptBetweenTwoChanges(t *testing.T) {
	t.Parallel()
	server := newService(t)
	box := open(t, t.TempDir(), server.URL)
	for range 2 {
		add(t, box, attempt(t, apitype.NewUUID()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sender := box.Sender(server.client(t), SenderOptions{InFlight: 1, Notify: func(Event) { cancel() }})
	report, err := sender.SendDue(ctx)
	servicetest.Check(t, err)
	if report.Accepted != 1 || report.Waiting != 1 || apiclient.KindOf(report.Err) != apiclient.KindInterrupted {
		t.Errorf("got %+v, want one sent, one waiting, and an interrupt", report)
	}
}
