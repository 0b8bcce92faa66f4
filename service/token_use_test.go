package service

import (
	"sync/atomic"
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

// Of tokens that share an identifier the last end is noted; of 4,096 that were used no more are noted, but for
// those that are; and what was noted since is kept before what could not be saved.
func TestTokenUsesTogether(t *testing.T) {
	t.Parallel()
	var u tokenUses
	use := func(id apitype.UUID, day, lasts int) {
		u.note(verifiedToken{id: id, used: new(atomic.Int64), expires: testNow.AddDate(0, 0, lasts)}, testNow.AddDate(0, 0, day))
	}
	shared := apitype.NewUUID()
	for _, lasts := range []int{5, 9, 7} {
		use(shared, 0, lasts)
	}
	if got, want := u.uses[shared].expires, testNow.AddDate(0, 0, 9).Add(-30*time.Second); !got.Equal(apitype.NewTime(want)) {
		t.Errorf("got the end %v, want %v", got, want)
	}
	for range 4095 {
		use(apitype.NewUUID(), 0, 1)
	}
	use(apitype.NewUUID(), 0, 1)
	use(shared, 1, 1)
	if got := u.uses[shared].on.String(); len(u.uses) != 4096 || got != "2026-11-21" {
		t.Errorf("got %d uses, and the shared one on %s, want 4096 and the next day", len(u.uses), got)
	}
	unsaved := u.take()
	use(shared, 2, 1)
	u.putBack(unsaved)
	if got := u.uses[shared].on.String(); len(u.uses) != 4096 || got != "2026-11-22" {
		t.Errorf("got %d uses, and the shared one on %s, want 4096 and the day after that", len(u.uses), got)
	}
}
