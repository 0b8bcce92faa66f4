package desk_test

import (
	"net/http"
	"slices"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/disposition"
)

// If the service stores the effect of a result, the completion alone is sent, and the message has the confirmed effect.
// Settings that changed since the key are not ignored.
func TestServiceStoresTheEffect(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		effect, since string // Of the result when the agent chose it, and when it arrived.
		optIn         bool   // Of the donor's phone, afterwards.
		says          string
	}{
		"opt-out":              {"opt-out", "opt-out", false, "no more calls: saved"},
		"no-contact":           {"no-contact", "no-contact", false, "no more contact: saved"},
		"taken from the floor": {"opt-out", "corrected", true, "not confirmed: no more calls"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFloor(t, 2)
			f.setResults("reached", test.effect)
			a, line := f.agentOn(t.TempDir())
			a.press("n")
			a.perform(a.Next())
			call, person := a.Call.UUID, a.Call.PersonUUID
			a.speak("no more of this")
			if fixes := a.Form().Corrected(); len(fixes) > 0 {
				t.Errorf("got %+v, want no correction of the Desk's own", fixes)
			}
			a.press("ctrl+s")
			a.perform(a.Finish(disposition.Complete))
			f.setResults("reached", test.since)
			line.sent = nil
			a.sendHeld()
			update := http.MethodPut + " /api/v1/persons/" + person.String() + "/actions/update"
			if f.call(call).Status != apitype.CallCompleted || slices.Contains(line.sent, update) {
				t.Errorf("got %s and %q, want the completion alone", f.call(call).Status, line.sent)
			}
			var p apitype.Person
			f.Do(f.token, http.MethodGet, "/api/v1/persons/"+person.String(), "").Decode(&p)
			if isIn := p.OptInPhone == nil || *p.OptInPhone; isIn != test.optIn {
				t.Errorf("got an opt-in %t, want %t", isIn, test.optIn)
			}
			if !a.heard(test.says) {
				t.Errorf("got %q, want %q", a.told, test.says)
			}
		})
	}
}
