package desk_test

import (
	"net/http"
	"strings"
	"testing"

	"fundesk/tui/desk/disposition"
)

// d dials the mobile number first and the home number next. The message has the time of the other one. An undone call
// keeps the dialled numbers.
func TestDialsTheSecondNumber(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 2)
	a := f.agent(t.TempDir())
	path := "/api/v1/persons/" + f.call(f.calls[0]).PersonUUID.String() + "/actions/update"
	f.must(http.MethodPut, path, `{"mobilePhoneNumber":"+31611111111","phoneNumber":"+31201234567"}`)
	a.perform(a.Next())
	next := func() string {
		n, _ := a.Card().NextNumber()
		return n.Kind
	}
	for i, want := range []string{"mobile", "home", "mobile"} {
		if got := next(); got != want {
			t.Errorf("key %d: got the %s number, want %s", i+1, got, want)
		}
		a.perform(a.Ask.Dial().Events)
	}
	if !strings.Contains(strings.Join(a.told, "\n"), "home number by hand: the clock is running. (mobile called ") {
		t.Errorf("got %q, want the time of the first number", a.told)
	}
	a.perform(a.Finish(disposition.NotReached("")))
	a.perform(a.Changes.Undo())
	if got := next(); got != "home" || !a.IsOn(f.calls[0]) {
		t.Errorf("after an undo: got the %s number, want home", got)
	}
	if at := a.Card().Rang("mobile"); !at.Equal(a.Card().Dialled()) {
		t.Errorf("got the mobile number dialled at %s, want %s", at, a.Card().Dialled())
	}
}
