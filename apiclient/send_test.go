package apiclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The repeats and the final report, if every answer is the same.
func TestChangesThatAreNeverAnswered(t *testing.T) {
	t.Parallel()
	id := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	made := func(change Change, err error) Change {
		servicetest.Check(t, err)
		return change
	}
	record := func(members string) string { return `{"uuid":"` + id.String() + `"` + members + `}` }
	creation := made(CreatePersonChange(apitype.CreatePersonRequest{UUID: &id}))
	update := made(UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")}))
	attempt := made(AddAttemptChange(id, apitype.AddAttemptRequest{AttemptAt: &at}))
	completion := made(CompleteCallChange(id, apitype.CompleteCallRequest{
		Result: &apitype.CallResultRequest{ResultCode: new("ok")},
	}))
	marks := made(MarkProcessedChange([]apitype.ProcessedEntry{{EntityName: "call", EntityUUID: id, ProcessedAt: at}}))
	const unknown = "the change was sent, and its outcome is unknown: "
	const overtaken = "the answer was lost, and the record has another value now: it was changed elsewhere"
	generated := creation
	generated.Generated = true
	tests := []struct {
		name   string
		change Change
		// Of each answer to the change. Zero means that the connection breaks, and 502500 a 502 and then 500s.
		status int
		body   string // Of it.
		found  string // Of each reading; "": not found.
		sent   int    // How often the change is sent,
		reads  int    // and the record read.
		kind   Kind
		want   string
	}{
		{
			name:   "an update whose answers fail",
			change: update,
			status: 500,
			found:  record(`,"iban":"B"`),
			sent:   4,
			reads:  8,
			kind:   KindUnavailable,
			want:   "500 internal server error",
		},
		{
			name:   "an update whose answers are lost",
			change: update,
			status: 502,
			found:  record(`,"iban":"B"`),
			sent:   4,
			reads:  8,
			kind:   KindUnknownOutcome,
			want:   "502 " + unknown + "bad gateway",
		},
		{"an update that has landed", update, 502, "", record(`,"iban":"A"`), 1, 2, "", ""},
		{
			name:   "an update of what is not found",
			change: update,
			status: 502,
			sent:   1,
			reads:  2,
			kind:   KindUnknownOutcome,
			want:   "502 " + unknown + "bad gateway",
		},
		{"an update that is refused", update, 422, "", record(""), 1, 1, KindRejected, "422 unprocessable entity"},
		{"an update in conflict", update, 409, "", record(`,"iban":"A"`), 1, 1, KindConflict, "409 conflict"},
		{
			name:   "an update that is not served now",
			change: update,
			status: 429,
			found:  record(""),
			sent:   4,
			reads:  4,
			kind:   KindUnavailable,
			want:   "429 too many requests",
		},
		{
			name:   "a creation that may come yet",
			change: creation,
			status: 503,
			sent:   4,
			reads:  4,
			kind:   KindUnknownOutcome,
			want:   "503 " + unknown + "service unavailable",
		},
		{"a creation that fails", creation, 500, "", "", 4, 4, KindUnavailable, "500 internal server error"},
		{"a creation that has landed", creation, 500, "", record(""), 1, 1, "", ""},
		{"a chosen uuid that is taken", creation, 409, "", record(""), 1, 0, KindConflict, "409 conflict"},
		{"an own uuid that is taken by itself", generated, 409, "", record(""), 1, 1, "", ""},
		{
			name:   "an own uuid whose record was edited since",
			change: generated,
			status: 409,
			found:  record(`,"owningOrganizationUuid":"x"`),
			sent:   1,
			reads:  1,
		},
		{
			name:   "an own uuid that is taken, and not shown",
			change: generated,
			status: 409,
			sent:   1,
			reads:  1,
			kind:   KindUnknownOutcome,
			want:   "404 " + unknown + "not found",
		},
		{
			name:   "an attempt whose answer is lost",
			change: attempt,
			status: 504,
			found:  record(`,"attempts":[]`),
			sent:   1,
			reads:  1,
			kind:   KindUnknownOutcome,
			want:   "504 " + unknown + "gateway timeout",
		},
		{
			name:   "an attempt that fails",
			change: attempt,
			status: 503,
			found:  record(`,"attempts":[]`),
			sent:   4,
			reads:  4,
			kind:   KindUnavailable,
			want:   "503 service unavailable",
		},
		{
			name:   "a completion that comes twice",
			change: completion,
			status: 409,
			found:  record(`,"status":"completed","result":{"resultCode":"ok"}`),
			sent:   1,
			reads:  1,
		},
		{
			name:   "a completion of what has ended",
			change: completion,
			status: 409,
			found:  record(`,"status":"expired"`),
			sent:   1,
			reads:  1,
			kind:   KindConflict,
			want:   "409 conflict",
		},
		{
			name:   "a completion that somebody overtakes",
			change: completion,
			status: 500,
			found:  record(`,"status":"expired"`),
			sent:   1,
			reads:  1,
			kind:   KindConflict,
			want:   overtaken,
		},
		{
			name:   "a record that is another one",
			change: completion,
			status: 200,
			body:   `{"uuid":"6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10"}`,
			found:  record(`,"status":"requested"`),
			sent:   4,
			reads:  4,
			kind:   KindUnknownOutcome,
			want:   "200 " + unknown + "the answer is not what the interface promises: it is not the record that was asked for",
		},
		{
			name:   "an answer that is not JSON",
			change: completion,
			status: 200,
			body:   `{`,
			found:  record(`,"status":"requested"`),
			sent:   4,
			reads:  4,
			kind:   KindUnknownOutcome,
			want:   "200 " + unknown + "the answer is not what the interface promises: it is not complete JSON",
		},
		{
			name:   "an answer that is a list",
			change: completion,
			status: 200,
			body:   `[]`,
			found:  record(`,"status":"requested"`),
			sent:   4,
			reads:  4,
			kind:   KindUnknownOutcome,
			want:   "200 " + unknown + "the answer is not what the interface promises: it is not one record",
		},
		{
			name:   "an answer is lost, and the repeats fail",
			change: update,
			status: 502500,
			found:  record(`,"iban":"B"`),
			sent:   4,
			reads:  8,
			kind:   KindUnknownOutcome,
			want:   "500 " + unknown + "internal server error",
		},
		{
			name:   "it is not served, and the repeats fail",
			change: update,
			status: 503500,
			found:  record(`,"iban":"B"`),
			sent:   4,
			reads:  8,
			kind:   KindUnavailable,
			want:   "500 internal server error",
		},
		{
			name:   "it is too much, and the repeats fail",
			change: update,
			status: 429500,
			found:  record(`,"iban":"B"`),
			sent:   4,
			reads:  7,
			kind:   KindUnavailable,
			want:   "500 internal server error",
		},
		{
			name:   "a creation whose answer is lost, and the repeats fail",
			change: creation,
			status: 504500,
			sent:   4,
			reads:  4,
			kind:   KindUnknownOutcome,
			want:   "500 " + unknown + "internal server error",
		},
		{
			name:   "a creation that may come yet, and the repeats fail",
			change: creation,
			status: 503500,
			sent:   4,
			reads:  4,
			kind:   KindUnknownOutcome,
			want:   "500 " + unknown + "internal server error",
		},
		{
			name:   "a move that times out, and the repeats fail",
			change: completion,
			status: 408500,
			found:  record(`,"status":"requested"`),
			sent:   4,
			reads:  4,
			kind:   KindUnknownOutcome,
			want:   "500 " + unknown + "internal server error",
		},
		{"marks", marks, 204, "", "", 1, 0, "", ""},
		{"marks that are answered otherwise, twice", marks, 200, "{}", "", 2, 0, "", ""},
		{
			name:   "marks that are answered by something in between",
			change: marks,
			status: 200,
			body:   "?",
			sent:   4,
			kind:   KindUnknownOutcome,
			want:   "200 " + unknown + "the answer is not what the interface promises: it is not JSON",
		},
		{
			name:   "marks whose answer is lost",
			change: marks,
			sent:   4,
			kind:   KindUnknownOutcome,
			want:   unknown + "the connection to a.example broke: unexpected EOF",
		},
		{"marks that fail", marks, 500, "", "", 4, 0, KindUnknownOutcome, "500 " + unknown + "internal server error"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sent, reads := 0, 0
			transport := canned(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet {
					reads++
					if test.found == "" {
						return answered(404, "{}", true), nil
					}
					return answered(200, test.found, true), nil
				}
				sent++
				status := test.status % 1000
				if sent == 1 && test.status > 1000 {
					status = test.status / 1000
				}
				if status == 0 {
					return nil, io.ErrUnexpectedEOF
				}
				a := answered(status, test.body, true)
				if test.body == "?" {
					a.Header.Set("Content-Type", "text/plain")
				}
				return a, nil
			})
			c, err := New(Options{
				BaseURL:   "https://a.example",
				Transport: transport,
				Sleep:     func(context.Context, time.Duration) error { return nil },
			})
			servicetest.Check(t, err)
			_, err = c.Send(t.Context(), test.change)
			if KindOf(err) != test.kind || err != nil && err.Error() != test.want {
				t.Errorf("got %v of kind %s, want %q of kind %s", err, KindOf(err), test.want, test.kind)
			}
			if sent != test.sent || reads != test.reads {
				t.Errorf("got it sent %d times and read %d times, want %d and %d", sent, reads, test.sent, test.reads)
			}
		})
	}
}

// An update must find the revision that it was compared with, or settled by.
func TestUpdateNamesItsRevision(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	var revisions []string
	c, err := New(Options{
		BaseURL: "https://a.example",
		Sleep:   func(context.Context, time.Duration) error { return nil },
		Transport: canned(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				a := answered(200, `{"uuid":"`+id.String()+`","iban":"B"}`, true)
				a.Header.Set("ETag", `"7"`)
				return a, nil
			}
			revisions = append(revisions, r.Header.Get("If-Match"))
			if len(revisions) < 3 {
				return answered(500, "{}", true), nil
			}
			return answered(200, `{"uuid":"`+id.String()+`"}`, true), nil
		}),
	})
	servicetest.Check(t, err)
	change, err := UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")})
	if err == nil {
		_, err = c.Send(t.Context(), change)
	}
	if got := strings.Join(revisions, ","); err != nil || got != `"7","7","7"` {
		t.Errorf("got revisions %s, %v, want that of the record each time", got, err)
	}
}

// An update does not overwrite a change from elsewhere, even if no revision prevents it: the service has none, a proxy
// made it weak, or the service ignores it.
func TestUpdatesAreComparedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	for _, test := range []struct {
		name     string
		status   int    // Of the first answer to the update. Zero if it waited before it was sent.
		revision string // Of the record when it was shown.
		etag     string // Of the readings, with the value for %s. Empty if there is none.
		sent     int    // How often the update is sent.
	}{
		{"too many requests", 429, "", "", 1},
		{"a service that is not there", 503, "", "", 1},
		{"a service that is not there, with weak revisions", 503, "", `W/"%s"`, 1},
		{"an answer of something in between", 502, "", "", 1},
		{"a service that is not there, and does not heed revisions", 503, "", `"%s"`, 1},
		{"shown long ago, with a weak revision", 0, `W/"B"`, `W/"%s"`, 0},
		{"shown long ago, by a service that does not heed revisions", 0, `"B"`, `"%s"`, 0},
	} {
		change, err := UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")})
		servicetest.Check(t, err)
		change.Seen, change.Revision = SeenOf(change, map[string]any{"iban": "B"}), test.revision
		sent, now := 0, "B"
		if test.status == 0 {
			now = "C"
		}
		c, err := New(Options{
			BaseURL: "https://a.example",
			Sleep:   func(context.Context, time.Duration) error { now = "C"; return nil },
			Transport: canned(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPut {
					if sent++; sent == 1 && test.status != 0 {
						return answered(test.status, "", true), nil
					}
					now = "A"
				}
				a := answered(200, `{"uuid":"`+id.String()+`","iban":"`+now+`"}`, true)
				a.Header.Set("ETag", strings.Replace(test.etag, "%s", now, 1))
				return a, nil
			}),
		})
		servicetest.Check(t, err)
		_, err = c.Send(t.Context(), change)
		if _, isOvertaken := errors.AsType[*Overtaken](err); !isOvertaken || now != "C" || sent != test.sent {
			t.Errorf("%s: got %v, the value %s after %d requests, want that C was set elsewhere, after %d",
				test.name, err, now, sent, test.sent)
		}
	}
}

// A service with revisions compares an update itself: it is sent without another reading, and overwrites nothing.
func TestUpdatesUnderRevisions(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	for _, test := range []struct {
		name        string
		revision    string // Of the record when it was shown. The record has "2".
		now         string // The value of the field in the record. It was B when it was shown.
		reads, sent int
		isOvertaken bool
	}{
		{"unchanged", `"2"`, "B", 0, 1, false},
		{"another field changed", `"1"`, "B", 2, 2, false},
		{"the field changed", `"1"`, "C", 1, 1, true},
		{"a revision that a proxy made weak", `W/"1"`, "C", 1, 0, true},
	} {
		var requests []string
		sleep := func(context.Context, time.Duration) error { return nil }
		c, err := New(Options{
			BaseURL: "https://a.example",
			Sleep:   sleep,
			Transport: canned(func(r *http.Request) (*http.Response, error) {
				requests = append(requests, r.Method)
				if r.Method == http.MethodPut && r.Header.Get("If-Match") != `"2"` {
					return answered(http.StatusPreconditionFailed, "{}", true), nil
				}
				a := answered(200, `{"uuid":"`+id.String()+`","iban":"`+test.now+`"}`, true)
				a.Header.Set("ETag", `"2"`)
				return a, nil
			}),
		})
		servicetest.Check(t, err)
		c.noteExtensions(http.Header{"Fundesk-Extensions": {"queue, revisions"}})
		change, err := UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")})
		servicetest.Check(t, err)
		change.Seen, change.Revision = SeenOf(change, map[string]any{"iban": "B"}), test.revision
		_, err = c.Send(t.Context(), change)
		sent := strings.Count(strings.Join(requests, " "), http.MethodPut)
		_, isOvertaken := errors.AsType[*Overtaken](err)
		if isOvertaken != test.isOvertaken || err != nil && !isOvertaken {
			t.Errorf("%s: got %v, want overtaken: %t", test.name, err, test.isOvertaken)
		}
		if sent != test.sent || len(requests)-sent != test.reads {
			t.Errorf("%s: got the requests %v, want %d readings and %d updates",
				test.name, requests, test.reads, test.sent)
		}
	}
}

// After an interrupted change the user reads whether it may have reached the service.
func TestInterruptedChanges(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	change := Change{
		Op:     OpAddAttempt,
		UUID:   id,
		Method: http.MethodPut,
		Path:   "/api/v1/calls/x",
		Body:   []byte(`{"attemptAt":"2026-11-20T09:15:00Z"}`),
	}
	for _, test := range []struct {
		name   string
		during string // What is interrupted.
		want   string
		sent   bool
	}{
		{"before", "before", "interrupted", false},
		{"while it is sent", http.MethodPut, "interrupted; the change may have reached the service", true},
		{"while it is looked for", http.MethodGet, "interrupted; the change may have reached the service", true},
		{"between two tries", "sleep", "interrupted", true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if test.during == "before" {
			cancel()
		}
		c, err := New(Options{
			BaseURL: "https://a.example",
			Sleep:   func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() },
			Transport: canned(func(r *http.Request) (*http.Response, error) {
				if r.Method == test.during {
					cancel()
					return nil, io.EOF
				}
				if r.Method == http.MethodGet {
					return answered(200, `{"uuid":"`+id.String()+`","attempts":[]}`, true), nil
				}
				return answered(503, "", true), nil
			}),
		})
		servicetest.Check(t, err)
		_, err = c.Send(ctx, change)
		known := asError(err)
		if known == nil || known.Kind != KindInterrupted || known.Message != test.want || known.Sent != test.sent {
			t.Errorf("%s: got %+v, want %q, sent %t", test.name, known, test.want, test.sent)
		}
		cancel()
	}
}

// If no connection is made after a lost answer, the outcome of the change stays unknown.
func TestLostAndThenUnreachable(t *testing.T) {
	t.Parallel()
	c, err := New(Options{BaseURL: "https://a.example", Tries: 2})
	servicetest.Check(t, err)
	c.options.Sleep = func(context.Context, time.Duration) error { return nil }
	change := Change{Op: OpCancelCall, UUID: apitype.NewUUID(), Method: http.MethodPut, Path: "/x"}
	for _, test := range []struct {
		first int // Status of the first answer. Zero if there is none.
		want  Kind
	}{{502, KindUnknownOutcome}, {500, KindUnavailable}, {0, KindUnavailable}} {
		tries := 0
		c.options.Transport = canned(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return answered(200, `{"uuid":"`+change.UUID.String()+`","status":"requested"}`, true), nil
			}
			if tries++; tries == 1 && test.first != 0 {
				return answered(test.first, "", true), nil
			}
			return nil, &net.OpError{Op: "dial", Err: errors.New("no way")}
		})
		_, err = c.Send(t.Context(), change)
		if KindOf(err) != test.want || tries != 2 {
			t.Errorf("%d and no connection: got %v after %d tries, want %s after 2", test.first, err, tries, test.want)
		}
	}
}

// The client reports a long wait that a service asks for. A service that is still asked in the end is unavailable.
func TestPause(t *testing.T) {
	t.Parallel()
	var slept []time.Duration
	c, err := New(Options{
		BaseURL: "https://a.example", Now: func() time.Time { return time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC) },
		Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil },
	})
	servicetest.Check(t, err)
	for _, test := range []struct {
		e    Error
		try  int
		want string
		kind Kind
	}{
		{Error{Kind: KindRejected, Message: "no"}, 1, "no", KindRejected},
		{Error{Kind: KindUnavailable, Retryable: true, Message: "down"}, 4, "down", KindUnavailable},
		{Error{Kind: KindRejected, Status: 429, Retryable: true, Message: "m"}, 4, "429 m", KindRejected},
		{
			e:    Error{Kind: KindUnavailable, Retryable: true, RetryAfter: 61 * time.Second, Message: "down"},
			try:  1,
			want: "down; the service asks to wait until 2026-11-20T09:16:01Z",
			kind: KindUnavailable,
		},
		{Error{Kind: KindUnavailable, Retryable: true, RetryAfter: time.Minute, Message: "down"}, 1, "<nil>", ""},
		{Error{Kind: KindUnavailable, Retryable: true, Message: "down"}, 3, "<nil>", ""},
	} {
		if err := c.pause(t.Context(), &test.e, test.try); fmt.Sprint(err) != test.want || KindOf(err) != test.kind {
			t.Errorf("%+v: got %v of kind %s, want %q of kind %s", test.e, err, KindOf(err), test.want, test.kind)
		}
	}
	if len(slept) != 2 ||
		slept[0] != time.Minute ||
		slept[1] < 500*time.Millisecond ||
		slept[1] >= 1500*time.Millisecond {
		t.Errorf("got sleeps %v, want a minute and about a second", slept)
	}
}

// The last answer with a time shows how far the service's clock is behind.
func TestBehind(t *testing.T) {
	t.Parallel()
	c := new(Client)
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	for _, test := range []struct {
		date string
		want time.Duration
	}{
		{"Fri, 20 Nov 2026 09:14:30 GMT", 30 * time.Second},
		{"", 30 * time.Second},
		{"then", 30 * time.Second},
		{"Fri, 20 Nov 2026 09:15:30 GMT", 0},
	} {
		if c.noteClock(http.Header{"Date": {test.date}}, now); c.Behind() != test.want {
			t.Errorf("%q: got %v behind, want %v", test.date, c.Behind(), test.want)
		}
	}
}

func (*endless) Close() error { return nil }
