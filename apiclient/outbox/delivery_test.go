package outbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// oddStub keeps one call, and answers the first change of it oddly.
type oddStub struct {
	mu      sync.Mutex
	id      string
	applies bool // The first change takes effect whatever is answered.
	odd     func(w http.ResponseWriter, r *http.Request)
	changes int
	body    string // Of the last change that took effect.
	effects int
}

func (s *oddStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	first := false
	if r.Method == http.MethodPut {
		s.changes++
		if first = s.changes == 1; !first || s.applies {
			s.effects++
			s.body = string(body)
		}
	}
	status, attempts := "requested", ""
	if s.effects > 0 && strings.HasSuffix(s.body, `"completedAt":"2026-11-20T09:15:00.123Z"}}`) {
		status, attempts = "completed", `,"result":{"resultCode":"ok","completedAt":"2026-11-20T09:15:00.123Z"}`
	} else if s.effects > 0 {
		attempts = s.body
	}
	s.mu.Unlock()
	if first {
		s.odd(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if status == "completed" {
		fmt.Fprintf(w, `{"uuid":%q,"status":"completed"%s}`, s.id, attempts)
		return
	}
	fmt.Fprintf(w, `{"uuid":%q,"status":"requested","attempts":[%s]}`, s.id, attempts)
}

// Whatever comes of the first request, a change ends alike whether it is sent directly or through
// the outbox, and never takes effect twice.
func TestDirectAndQueuedEndAlike(t *testing.T) {
	t.Parallel()
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	cut := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { hijack(w, text) }
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	odd := map[string]func(http.ResponseWriter, *http.Request){
		"cut":   cut(head + "Content-Length: 500\r\n\r\n{"),
		"reset": cut(""),
		"silence": func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		},
		"a foreign record": cut(head + "Content-Length: 47\r\n\r\n" + `{"uuid":"11111111-1111-4111-8111-111111111111"}`),
		"twice":            cut(head + "Content-Length: 2\r\n\r\n{}" + head + "Content-Length: 2\r\n\r\n{}"),
		"206":              cut("HTTP/1.1 206 Partial Content\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
	}
	for _, code := range []int{302, 400, 401, 403, 404, 408, 409, 412, 422, 425, 429, 500, 502, 503, 504} {
		odd[fmt.Sprint(code)] = status(code)
	}
	for name, answer := range odd {
		for _, verb := range []string{"add-attempt", "complete"} {
			for _, applies := range []bool{true, false} {
				if applies && (name == "425" || name == "429") {
					continue // That is said of nothing that took effect.
				}
				t.Run(fmt.Sprintf("%s/%s/%t", name, verb, applies), func(t *testing.T) {
					t.Parallel()
					direct, directEffects := playOdd(t, verb, applies, answer, false)
					queued, queuedEffects := playOdd(t, verb, applies, answer, true)
					if direct != queued || directEffects != queuedEffects || directEffects > 1 {
						t.Errorf("sent directly: %s with %d effects, through the outbox: %s with %d", direct, directEffects, queued, queuedEffects)
					}
					if direct == "accepted" && directEffects != 1 {
						t.Errorf("got it told as accepted with %d effects", directEffects)
					}
				})
			}
		}
	}
}

// playOdd makes a change and says how it ends, and how often it took effect.
func playOdd(t *testing.T, verb string, applies bool, answer func(http.ResponseWriter, *http.Request), queued bool) (ends string, effects int) {
	t.Helper()
	id := apitype.NewUUID()
	stub := &oddStub{id: id.String(), applies: applies, odd: answer}
	server := httptest.NewServer(stub)
	t.Cleanup(server.CloseClientConnections)
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Timeout: time.Second, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	change := apiclient.Change{Op: apiclient.OpAddAttempt, UUID: id, Method: http.MethodPut, Path: "/api/v1/calls/" + id.String() + "/actions/" + verb, Body: []byte(`{"attemptAt":"2026-11-20T09:15:00.123Z"}`)}
	if verb == "complete" {
		change.Op, change.Body = apiclient.OpCompleteCall, []byte(`{"result":{"resultCode":"ok","completedAt":"2026-11-20T09:15:00.123Z"}}`)
	}
	end := func() int {
		stub.mu.Lock()
		defer stub.mu.Unlock()
		return stub.effects
	}
	if !queued {
		switch _, err := client.Send(t.Context(), change); apiclient.KindOf(err) {
		case "":
			return "accepted", end()
		case apiclient.KindUnknownOutcome, apiclient.KindUnavailable, apiclient.KindUnauthenticated:
			return "open", end()
		default:
			return "refused", end()
		}
	}
	box := open(t, t.TempDir(), server.URL)
	entry := add(t, box, Entry{Change: change})
	last := Event{Outcome: OutcomeWaiting}
	sender := box.Sender(client, SenderOptions{Notify: func(e Event) {
		if e.Entry.ID == entry.ID {
			last = e
		}
	}})
	for range 3 {
		isFinal := last.Outcome == OutcomeAccepted || last.Outcome == OutcomeRejected
		failure, _ := errors.AsType[*apiclient.Error](last.Err)
		if isFinal || failure != nil && !failure.Retryable && failure.Kind != apiclient.KindConflict && !failure.Sent {
			break // A direct change is not tried again either.
		}
		if _, err := sender.SendDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	switch last.Outcome {
	case OutcomeAccepted:
		return "accepted", end()
	case OutcomeRejected:
		return "refused", end()
	default:
		return "open", end()
	}
}

// An update is not sent on and on to a service that refuses each revision, such as one whose revisions change with
// each reading: it is refused in the end, as when it is sent directly.
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
		BaseURL: "https://a.example", Transport: inProcess{service}, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
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
	if err != nil || report.Rejected != 1 || apiclient.KindOf(report.RejectedErr) != apiclient.KindConflict || sent.Load() > mostTries {
		t.Errorf("in the outbox: got %+v, %v after %d requests, want one conflict after %d", report, err, sent.Load(), mostTries)
	}
}

// A creation whose answer was lost is not taken for a conflict with another record while a service that is slow to
// show what is new says that there is none: it was made once, and is told as made when it is shown.
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
		BaseURL: "https://a.example", Transport: inProcess{service}, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
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
