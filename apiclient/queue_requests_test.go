package apiclient

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The requests of the queue, and the error of marks.
func TestQueueRequests(t *testing.T) {
	t.Parallel()
	id := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	var asked []string
	status := 204
	c, err := New(Options{
		BaseURL: "https://a.example",
		Tries:   1,
		Transport: canned(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/fundesk/v1" {
				asked = append(asked, "extensions")
				return answered(status, "[]", true), nil
			}
			var body []byte
			if r.Body != nil {
				body, _ = io.ReadAll(r.Body)
			}
			asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
			return answered(status, `{}`, true), nil
		}),
	})
	servicetest.Check(t, err)
	for _, status = range []int{503, 401} {
		err := c.Queue.Release(t.Context(), id, apitype.DeferRequest{})
		if asError(err) == nil || asError(err).Status != status {
			t.Errorf("got %v, want that it is not known whether there is a queue: %d", err, status)
		}
	}
	status = 200
	if has, err := c.Has(t.Context(), apitype.ExtensionQueue); has || err != nil {
		t.Errorf("a list: got a queue %t, %v", has, err)
	}
	c.noteExtensions(http.Header{})
	if has, _ := c.Has(t.Context(), apitype.ExtensionQueue); has {
		t.Error("an answer that says nothing: got a queue")
	}
	c.noteExtensions(http.Header{"Fundesk-Extensions": {"status, queue"}})
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	_, err = c.Queue.Extend(t.Context(), id, apitype.ExtendRequest{LeaseSeconds: new(900)})
	_, err2 := c.Queue.Agents(t.Context(), apitype.QueueAgentsOptions{Since: &at})
	_, err3 := c.Queue.Leases(t.Context(), apitype.QueueLeaseListOptions{})
	status = 204
	err = errors.Join(err, err2, err3, c.Queue.Release(t.Context(), id, apitype.DeferRequest{}),
		c.Queue.Later(t.Context(), id, apitype.DeferRequest{NotBefore: &at}))
	want := []string{
		"extensions", "extensions", "extensions",
		"POST /fundesk/v1/queue/leases/" + id.String() + `/extend {"leaseSeconds":900}`,
		"GET /fundesk/v1/queue/agents?since=2026-11-20T09%3A15%3A00.000Z ",
		"GET /fundesk/v1/queue/leases ",
		"POST /fundesk/v1/queue/leases/" + id.String() + `/release {"notBefore":null,"userUuid":null}`,
		"PUT /fundesk/v1/queue/calls/" + id.String() +
			`/later {"notBefore":"2026-11-20T09:15:00.000Z","userUuid":null}`,
	}
	if diff := cmp.Diff(want, asked); diff != "" || err != nil {
		t.Errorf("got %v, requests (-want +got):\n%s", err, diff)
	}
}
