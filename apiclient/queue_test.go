package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// queueOf returns a client of a service that answers each path by a function.
func queueOf(t *testing.T, answer http.HandlerFunc) *apiclient.Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	client, err := apiclient.New(apiclient.Options{
		BaseURL: server.URL, Token: func(context.Context) (string, error) { return "t", nil },
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// The client asks once whether there is a queue, and never if the service announces it.
func TestExtensionsAreAskedOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		status int
		body   string
		has    bool
	}{
		{"with a queue", 200, `{"extensions":["queue","status"],"version":"1"}`, true},
		{"without one", 404, `{"title":"no such path"}`, false},
		{"with other extensions", 200, `{"extensions":["status"]}`, false},
		{"a page for people", 200, `{}`, false},
		{"forbidden", 403, `{}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/fundesk/v1" {
					asked++
					w.WriteHeader(test.status)
					fmt.Fprint(w, test.body)
					return
				}
				fmt.Fprint(w, `{"leases":[],"waiting":0,"nextDueAt":null}`)
			})
			for range 3 {
				_, err := client.Queue.Take(t.Context(), apitype.TakeRequest{
					RequestUUID: apitype.NewUUID(),
					UserUUID:    apitype.NewUUID(),
				})
				got := err == nil
				if got != test.has ||
					!test.has &&
						(apiclient.KindOf(err) != apiclient.KindRejected ||
							!strings.Contains(err.Error(), "the service has no queue")) {
					t.Errorf("got %v, want a queue: %v", err, test.has)
				}
			}
			if asked != 1 {
				t.Errorf("asked %d times, want once", asked)
			}
		})
	}
	t.Run("said by another answer", func(t *testing.T) {
		t.Parallel()
		client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Fundesk-Extensions", "queue, status")
			if r.URL.Path == "/fundesk/v1" {
				t.Error("the service was asked what it had said")
			}
			fmt.Fprint(w, `{"waiting":7}`)
		})
		_, _ = client.Calls.List(t.Context(), apitype.CallListOptions{})
		state, err := apiclient.Decoded(client.Queue.State(t.Context(), apitype.QueueOptions{}))
		if err != nil || state.Waiting != 7 {
			t.Errorf("got %+v %v", state, err)
		}
	})
}

// A page from a proxy does not mean that the service has no queue, or an agent would call without leases for the rest
// of the day. A service that answers its own paths alone has none.
func TestExtensionsBehindALogin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		status  int  // Of the page for people.
		isAlone bool // Only the path of the extensions is answered with it.
		isOurs  bool // The service announces its queue.
		has     bool
		want    apiclient.Kind
	}{
		{"a page to log in", 200, false, true, false, apiclient.KindUnavailable},
		{"a redirect to one", 302, false, true, false, apiclient.KindUnavailable},
		{"a page of the service", 200, true, false, false, ""},
		{"a redirect of the service", 302, true, false, false, ""},
		{"a page on the way to the extensions", 200, true, true, true, ""},
	} {
		var isOpen atomic.Bool
		client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/fundesk/v1" && !isOpen.Load() || !test.isAlone && !isOpen.Load() {
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(test.status)
				fmt.Fprint(w, "<h1>Log in</h1>")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			if test.isOurs {
				w.Header().Set("Fundesk-Extensions", "queue")
			}
			fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false},"edges":[]}`)
		})
		has, err := client.Has(t.Context(), apitype.ExtensionQueue)
		if has != test.has || apiclient.KindOf(err) != test.want {
			t.Errorf("%s: got a queue %t, %v, want %t and kind %q", test.name, has, err, test.has, test.want)
		}
		isOpen.Store(true)
		if has, err := client.Has(t.Context(), apitype.ExtensionQueue); has != test.isOurs || err != nil {
			t.Errorf("%s, and afterwards: got a queue %t, %v, want %t", test.name, has, err, test.isOurs)
		}
	}
}

// A take with a lost answer is repeated with the same requestUuid.
func TestTakeIsRepeated(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Fundesk-Extensions", "queue")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"extensions":["queue"]}`)
			return
		}
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		mu.Lock()
		bodies = append(bodies, string(body))
		n := len(bodies)
		mu.Unlock()
		if n < 3 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `{"leases":[],"waiting":0,"nextDueAt":null}`)
	})
	_, err := client.Queue.Take(t.Context(), apitype.TakeRequest{
		RequestUUID: apitype.NewUUID(),
		UserUUID:    apitype.NewUUID(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 3 || bodies[0] != bodies[1] || bodies[1] != bodies[2] {
		t.Errorf("got %d requests: %q, want three alike", len(bodies), bodies)
	}
}

// A deferral or return with a lost answer and no repeat has an unknown outcome; it is not reported as unchanged. A
// lease that was perhaps taken ends by itself.
func TestLostAnswersOfTheQueue(t *testing.T) {
	t.Parallel()
	id, at := apitype.NewUUID(), apitype.NewTime(time.Now().Add(time.Hour))
	requests := map[string]func(ctx context.Context, q *apiclient.QueueService) error{
		"later": func(ctx context.Context, q *apiclient.QueueService) error {
			return q.Later(ctx, id, apitype.DeferRequest{NotBefore: &at})
		},
		"release": func(ctx context.Context, q *apiclient.QueueService) error {
			return q.Release(ctx, id, apitype.DeferRequest{NotBefore: &at})
		},
		"release of a user": func(ctx context.Context, q *apiclient.QueueService) error {
			_, err := q.ReleaseUser(ctx, apitype.ReleaseUserRequest{UserUUID: id})
			return err
		},
		"state of a user": func(ctx context.Context, q *apiclient.QueueService) error {
			_, err := q.SetState(ctx, id, apitype.UserStateRequest{State: apitype.UserReady})
			return err
		},
		"message to all desks": func(ctx context.Context, q *apiclient.QueueService) error {
			_, err := q.SetMessage(ctx, apitype.QueueMessageRequest{OrganizationUUID: id, Text: "drill"})
			return err
		},
		"take": func(ctx context.Context, q *apiclient.QueueService) error {
			_, err := q.Take(ctx, apitype.TakeRequest{RequestUUID: id, UserUUID: id})
			return err
		},
	}
	for _, test := range []struct {
		name  string
		first int // Status of the first answer, 0 for none,
		then  int // and of the others.
		want  apiclient.Kind
	}{
		{"no answer", 0, 0, apiclient.KindUnknownOutcome},
		{"a service that fails", 503, 503, apiclient.KindUnknownOutcome},
		{"no answer, and then too many requests", 0, 429, apiclient.KindUnknownOutcome},
		{"no answer, and then a refusal", 0, 403, apiclient.KindUnknownOutcome},
		{"a refusal", 403, 403, apiclient.KindForbidden},
		{"too many requests", 429, 429, apiclient.KindUnavailable},
	} {
		for name, request := range requests {
			var sent atomic.Int32
			client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodGet {
					fmt.Fprint(w, `{"extensions":["queue","user-state","message"]}`)
					return
				}
				status := test.then
				if sent.Add(1) == 1 {
					status = test.first
				}
				if status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(status)
			})
			want := test.want
			if name == "take" && want == apiclient.KindUnknownOutcome {
				want = apiclient.KindUnavailable
				if test.then == 403 {
					want = apiclient.KindForbidden
				}
			}
			if err := request(t.Context(), client.Queue); apiclient.KindOf(err) != want {
				t.Errorf("%s, %s: got %v of kind %s, want kind %s", name, test.name, err, apiclient.KindOf(err), want)
			}
		}
	}
}

// TestHeldLease shows which user has the donor.
func TestHeldLease(t *testing.T) {
	t.Parallel()
	holder := apitype.NewUUID()
	client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/fundesk/v1" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"extensions":["queue"],"version":"1"}`)
		} else {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"status":409,"detail":"another user holds the person of the call","lease":{"userUuid":%q,"name":"Anneke","takenAt":"2026-11-20T09:15:00.000Z","expiresAt":"2026-11-20T09:30:00.000Z"}}`, holder)
		}
	})
	_, err := client.Queue.Lease(t.Context(), apitype.NewUUID(), apitype.LeaseRequest{
		RequestUUID: apitype.NewUUID(),
		UserUUID:    apitype.NewUUID(),
	})
	held, ok := errors.AsType[*apiclient.LeaseHeldError](err)
	if !ok ||
		held.Holder.UserUUID != holder ||
		*held.Holder.Name != "Anneke" ||
		apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict that names Anneke", err)
	}
}
