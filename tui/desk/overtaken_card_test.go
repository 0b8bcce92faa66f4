package desk_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a colleague corrects does not move on the card at which the agent works: it is offered once, and shown when the
// agent accepts it, presses R, or opens the call again.
func TestCardStaysUntilTheAgentAccepts(t *testing.T) {
	t.Parallel()
	ways := map[string]func(a *agent){
		"accepted": func(a *agent) {
			a.f.Clock.Advance(time.Second)
			a.perform(a.Transitions.Accept())
		},
		"R": func(a *agent) { a.perform(a.Refresh()) },
		"opened again": func(a *agent) {
			call := a.Call.UUID
			a.perform(a.Next())
			a.perform(a.Take(call))
		},
	}
	for name, show := range ways {
		f := newFloor(t, 2)
		a := f.agent(t.TempDir())
		path := "/api/v1/persons/" + f.call(f.calls[0]).PersonUUID.String() + "/actions/update"
		f.must(http.MethodPut, path, `{"mobilePhoneNumber":"+31611111111"}`)
		a.press("n")
		a.perform(a.Next())
		mobile := func() string { return string(*a.Call.Person.Value().MobilePhoneNumber) }
		a.press("c")
		f.must(http.MethodPut, path, `{"mobilePhoneNumber":"+31622222222"}`)
		a.pollFor(2 * time.Minute)
		isOffer := func(text string) bool { return strings.Contains(text, "was changed elsewhere: mobile") }
		first := slices.IndexFunc(a.told, isOffer)
		if mobile() != "+31611111111" || first < 0 || slices.ContainsFunc(a.told[first+1:], isOffer) {
			t.Errorf("%s: got %s and %q, want the number as it was, and one offer", name, mobile(), a.told)
		}
		a.press("R")
		if show(a); mobile() != "+31622222222" {
			t.Errorf("%s: got %s, want the colleague's number", name, mobile())
		}
	}
}
