package commands

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
)

// TestDropFreesTheDonor drops changes whose Desk is closed. With the last change of a call its pending lease ends, and
// no other lease does. Without the service the change is dropped, and the command says that the donor is not free yet.
func TestDropFreesTheDonor(t *testing.T) {
	t.Parallel()
	c := newCallbacks(t)
	me, other := apitype.NewUUID(), apitype.NewUUID()
	isDown := false
	c.before = func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/api/v1") || isDown {
			panic(http.ErrAbortHandler) // No answer.
		}
	}
	lease := func(user apitype.UUID, call string, isPending bool) {
		t.Helper()
		body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"pending":%t}`, apitype.NewUUID(), user, isPending)
		answer := c.Do(c.token, http.MethodPut, "/fundesk/v1/queue/calls/"+call+"/lease", body)
		if answer.Status != http.StatusOK {
			t.Fatalf("got %d %s", answer.Status, answer.Body)
		}
	}
	leased := func() (calls []string) {
		var leases apitype.Leases
		c.Do(c.token, http.MethodGet, "/fundesk/v1/queue/leases", "").Decode(&leases)
		for _, l := range leases.Leases {
			calls = append(calls, l.CallUUID.String())
		}
		return calls
	}
	waiting := func(call string, user apitype.UUID) (id string) {
		t.Helper()
		_, errs, _ := c.run(t, "call complete", call, "--result-code", "reached", "--any-result", "--without-checks",
			"--user", user.String(), "--outbox", "--yes")
		id, _, code := c.run(t, "outbox list -o tsv --jq", `map(select(.uuid=="`+call+`"))[-1].id`)
		if code != 0 || strings.TrimSpace(id) == "" {
			t.Fatalf("got exit code %d and %q, want a waiting change: %s", code, id, errs)
		}
		return strings.TrimSpace(id)
	}
	lease(me, c.calls[0], true)
	lease(me, c.calls[1], false)
	lease(other, c.calls[2], true)
	first, second := waiting(c.calls[0], me), waiting(c.calls[0], me)
	plain, foreign := waiting(c.calls[1], me), waiting(c.calls[2], me)
	drop := func(id string, left ...string) string {
		t.Helper()
		_, errs, code := c.run(t, "outbox drop", id, "--yes")
		got, want := leased(), slices.Clone(left)
		slices.Sort(got)
		slices.Sort(want)
		if code != 0 || !slices.Equal(got, want) {
			t.Errorf("got exit code %d, %q and the leases %v, want %v", code, errs, got, want)
		}
		return errs
	}
	drop(first, c.calls...)
	drop(second, c.calls[1:]...)
	drop(plain, c.calls[1:]...)
	drop(foreign, c.calls[1:]...)
	lease(me, c.calls[0], true)
	last := waiting(c.calls[0], me)
	isDown = true
	errs := drop(last, c.calls[1], c.calls[2], c.calls[0])
	if !strings.Contains(errs, "the queue may keep the donor") {
		t.Errorf("got %q without the service, want what is left", errs)
	}
}
