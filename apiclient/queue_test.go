package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// queueOf is a client of a service that answers each path by a function.
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

// Whether there is a queue is asked once, and of a service that says so by itself never.
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
				_, err := client.Queue.Take(t.Context(), apitype.TakeRequest{RequestUUID: apitype.NewUUID(), UserUUID: apitype.NewUUID()})
				if got := err == nil; got != test.has || !test.has && (apiclient.KindOf(err) != apiclient.KindRejected || !strings.Contains(err.Error(), "the service has no queue")) {
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

// A take whose answer was lost is sent again under the same requestUuid.
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
	if _, err := client.Queue.Take(t.Context(), apitype.TakeRequest{RequestUUID: apitype.NewUUID(), UserUUID: apitype.NewUUID()}); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 3 || bodies[0] != bodies[1] || bodies[1] != bodies[2] {
		t.Errorf("got %d requests: %q, want three alike", len(bodies), bodies)
	}
}

// TestHeldLease shows who holds a donor whose lease another user has.
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
	_, err := client.Queue.Lease(t.Context(), apitype.NewUUID(), apitype.LeaseRequest{RequestUUID: apitype.NewUUID(), UserUUID: apitype.NewUUID()})
	held, ok := errors.AsType[*apiclient.LeaseHeldError](err)
	if !ok || held.Holder.UserUUID != holder || *held.Holder.Name != "Anneke" || apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict that names Anneke", err)
	}
}
