package desk_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/disposition"
)

// The token of another account stops the desk. It sends no change, asks for no donor, and explains this until the token
// belongs to the account again. Then everything is sent.
func TestTokenOfAnotherAccountStopsTheDesk(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 6)
	account := f.Account()
	own := f.TokenOf(account)
	f.token = own
	a, line := f.agentOn(t.TempDir())
	a.press("n")
	a.perform(a.Next())
	first := a.Call.UUID
	f.token = f.Token()
	isRefused := true
	line.status = func(r *http.Request) int { // The service takes the token no more: another one is asked for.
		if isRefused && strings.Contains(r.Header.Get("Authorization"), own) {
			return http.StatusUnauthorized
		}
		return 0
	}
	line.sent = nil
	a.perform(a.Poll())
	for range 3 {
		if a.Call == nil {
			break
		}
		a.press("a")
		a.perform(a.Finish(disposition.NotReached("")))
		a.sendHeld()
		a.perform(a.Poll())
	}
	sent := slices.DeleteFunc(slices.Clone(line.sent), func(r string) bool {
		return strings.HasPrefix(r, http.MethodGet)
	})
	entries, _, _ := a.Outbox.List()
	if len(sent) > 0 || len(entries) == 0 || a.Call != nil || f.call(first).AttemptsCount != 0 {
		t.Errorf("got %q sent, %d waiting and %+v on the desk, want the desk stopped", sent, len(entries), a.Call)
	}
	if !a.Stranger || a.Offline != "another account" {
		t.Errorf("got %q, stranger %t, want it said", a.Offline, a.Stranger)
	}
	a.perform(a.Refresh())
	if !a.Stranger {
		t.Error("got it said no more after R")
	}
	isRefused, f.token = false, own
	f.Clock.Advance(2 * time.Minute)
	a.press("R")
	a.perform(a.Refresh())
	a.sendHeld()
	if a.Stranger || a.Offline != "" || f.call(first).AttemptsCount != 1 {
		t.Errorf("got stranger %t, %q and %d attempts, want all sent once logged in as before",
			a.Stranger, a.Offline, f.call(first).AttemptsCount)
	}
	if a.Call == nil || slices.Contains([]apitype.UUID{first}, a.Call.UUID) {
		t.Errorf("got %+v on the desk, want the next call", a.Call)
	}
}
