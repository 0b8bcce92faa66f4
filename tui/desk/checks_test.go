package desk_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
)

// tick ticks the fact with a label, or takes the tick back.
func (a *agent) tick(label string) {
	a.f.t.Helper()
	facts := a.Card().Facts(func(said string) string { return said })
	i := slices.IndexFunc(facts, func(f card.Fact) bool { return f.Label == label })
	if i < 0 {
		a.f.t.Fatalf("there is no fact %q", label)
	}
	a.f.Clock.Advance(1e9)
	a.Form().Tick(facts[i].ID)
}

// checksOf returns the checks of a call as the service keeps them, in order.
func (f *floor) checksOf(call apitype.UUID) string {
	f.t.Helper()
	var checks apitype.CallChecks
	f.Do(f.token, http.MethodGet, "/fundesk/v1/calls/"+call.String()+"/checks", "").Decode(&checks)
	var names []string
	for _, item := range checks.Items {
		names = append(names, item.Name)
	}
	return strings.Join(names, " ")
}

// requireChecks sets the required checks of verifications.
func (f *floor) requireChecks(names ...string) {
	f.t.Helper()
	organization := f.call(f.calls[0]).Person.Value().OwningOrganization.Value().UUID
	token := f.Token(servicetest.May("calls:read", "settings:write"))
	body := `{"results":{"verification":[{"code":"reached"}]},"requiredChecks":{"verification":["` +
		strings.Join(names, `","`) + `"]}}`
	got := f.Do(token, http.MethodPut, "/fundesk/v1/settings/"+organization.String(), body)
	if got.Status != http.StatusOK {
		f.t.Fatalf("got %d %s", got.Status, got.Body)
	}
}

// The ticks go out with the result, behind it and as one group: undo takes both back. A result without a required
// check is asked about once, and sent anyway.
func TestTicksAreSentWithTheResult(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	f.requireChecks("objection", "iban")
	a, line := f.agentOn(t.TempDir())
	begin := func() apitype.UUID {
		if a.Call == nil {
			a.press("n")
			a.perform(a.Next())
		}
		a.Form().SetResult("reached")
		return a.Call.UUID
	}
	answer := func() ask.Answer {
		a.press("ctrl+s")
		return a.Ask.Complete()
	}

	call := begin()
	a.tick("mobile")
	a.tick("objection")
	a.tick("IBAN")
	a.tick("mobile") // Taken back.
	a.tick("home")
	asked := answer()
	if asked.Next != nil {
		t.Fatalf("got the question %q, want none: all that is required was ticked", asked.Next.Lines)
	}
	a.perform(asked.Events)
	if held := a.Changes.HeldText("u"); strings.Contains(held, "held)") || strings.Contains(held, "checked") {
		t.Errorf("got %q, want the result alone", held)
	}
	a.perform(a.Changes.Undo())
	if !a.IsOn(call) || a.Card().CheckedText() == "" {
		t.Errorf("after undo: got %v on the desk with %q, want the call and its ticks", a.Call, a.Card().CheckedText())
	}
	line.sent = nil
	a.perform(answer().Events)
	a.sendHeld()
	put := http.MethodPut + " /fundesk/v1/calls/" + call.String() + "/checks"
	complete := http.MethodPut + " /api/v1/calls/" + call.String() + "/actions/complete"
	if first, last := slices.Index(line.sent, complete), slices.Index(line.sent, put); first < 0 || last < first {
		t.Errorf("got %q, want the result and then the ticks", line.sent)
	}
	if got := f.checksOf(call); got != "objection iban home" {
		t.Errorf("got the checks %q", got)
	}

	call = begin()
	a.tick("objection")
	asked = answer()
	if asked.Next == nil || !strings.Contains(fmt.Sprint(asked.Next.Lines), "Required and not ticked: IBAN.") {
		t.Fatalf("got %+v, want a question about the IBAN", asked)
	}
	a.perform(asked.Next.Choices[0].Pick().Events)
	a.sendHeld()
	if f.call(call).Status != apitype.CallCompleted || f.checksOf(call) != "objection" {
		t.Errorf("got %s with the checks %q", f.call(call).Status, f.checksOf(call))
	}
}

// A service that does not announce checks gets none, and nothing is asked.
func TestTicksStayWithoutTheExtension(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	line := &faultyLine{}
	f.line = func(r http.RoundTripper) http.RoundTripper {
		line.RoundTripper = withoutExtension{r, apitype.ExtensionChecks}
		return line
	}
	a := f.agent(t.TempDir())
	if a.Call == nil {
		a.press("n")
		a.perform(a.Next())
	}
	call := a.Call.UUID
	a.Form().SetResult("reached")
	a.tick("mobile")
	a.press("ctrl+s")
	a.perform(a.Ask.Complete().Events)
	a.sendHeld()
	isSent := slices.ContainsFunc(line.sent, func(sent string) bool { return strings.HasSuffix(sent, "/checks") })
	if f.call(call).Status != apitype.CallCompleted || isSent {
		t.Errorf("got %s and %q, want the result alone", f.call(call).Status, line.sent)
	}
}
