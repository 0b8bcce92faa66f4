package service

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// TestTokenUsesOfADay notes a token at each request: once a day something is to be saved, and what
// could not be saved is not lost.
func TestTokenUsesOfADay(t *testing.T) {
	t.Parallel()
	k, id := testKeys(t, 1), apitype.NewUUID()
	text, ends, err := k.all[0].sign(id, apitype.NewUUID(), testNow.Time, 90*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var u tokenUses
	at := func(hours int) {
		t.Helper()
		now := testNow.Add(time.Duration(hours) * time.Hour)
		token, ok := k.subject(text, now)
		if !ok {
			t.Fatalf("after %d hours the token is refused", hours)
		}
		u.note(token, now)
	}
	wants := func(when, on string) map[apitype.UUID]tokenUse {
		t.Helper()
		uses := u.take()
		if got := uses[id]; on == "" && len(uses) > 0 || on != "" && (len(uses) != 1 || got.on.String() != on || got.expires != ends) {
			t.Errorf("%s: got %v, want the use on %q", when, uses, on)
		}
		return uses
	}
	at(0) // 2026-11-20, 9:15 in UTC.
	at(1)
	wants("on the first day", "2026-11-20")
	at(14)
	wants("later on that day", "")
	at(15)
	at(16)
	unsaved := wants("on the next one", "2026-11-21")
	u.putBack(unsaved)
	at(17)
	u.putBack(wants("when it was not saved", "2026-11-21"))
	at(40)
	wants("on the day after that", "2026-11-22")
}
