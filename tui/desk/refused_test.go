package desk_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/disposition"
)

// completeOvertaken completes the call on the desk with a new number, which the office changes before it is sent.
func (a *agent) completeOvertaken(number string) (call, person apitype.UUID) {
	a.press("n")
	a.perform(a.Next())
	call, person = a.Call.UUID, a.Call.PersonUUID
	a.correctMobile(number)
	a.speak("well")
	a.press("ctrl+s")
	a.perform(a.Finish(disposition.Complete))
	a.f.officeWrites(person, "+31622222222")
	a.sendHeld()
	return call, person
}

// mobile returns the number of a person at the service.
func (f *floor) mobile(person apitype.UUID) string {
	var p apitype.Person
	f.Do(f.token, http.MethodGet, "/api/v1/persons/"+person.String(), "").Decode(&p)
	if p.MobilePhoneNumber == nil {
		return ""
	}
	return *p.MobilePhoneNumber
}

// heard reports whether the agent got a message with a text.
func (a *agent) heard(text string) bool { return strings.Contains(strings.Join(a.told, "\n"), text) }

// keep answers the question about the overtaken details with a key.
func (a *agent) keep(key string) {
	for range 5 {
		whose, fix, asks := a.Overtaken()
		if !asks || whose == "" {
			return
		}
		a.perform(a.Keep(fix, key == "o"))
	}
}

// A refused correction is asked about at once. After ten minutes without an answer the result is sent alone, and a
// message names the correction that stays in the outbox.
func TestResultIsSentAloneWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 6)
	a := f.agent(t.TempDir())
	call, person := a.completeOvertaken("+31611111111")
	if !a.Transitions.IsProposed() || !a.heard("was not sent, the record has changed") {
		t.Errorf("got %q, want the agent asked at once", a.told)
	}
	a.pollFor(9 * time.Minute)
	a.sendHeld()
	if f.call(call).Status != apitype.CallRequested {
		t.Error("got the result sent before ten minutes")
	}
	a.pollFor(75 * time.Second)
	a.sendHeld()
	if f.call(call).Status != apitype.CallCompleted || f.mobile(person) != "+31622222222" {
		t.Errorf("got %s and %s, want the result alone", f.call(call).Status, f.mobile(person))
	}
	if !a.heard("the result was sent alone; not corrected: ") || !a.heard("mobile +31611111111") {
		t.Errorf("got %q, want the correction named", a.told)
	}
	entries, _, _ := a.Outbox.List()
	if len(entries) != 1 || entries[0].State != outbox.StateRejected {
		t.Errorf("got %+v, want the correction kept", entries)
	}
}

// A result that means "corrected" waits for the answer, and the donor stays protected.
func TestCorrectedResultWaitsForTheAnswer(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 6)
	f.setResults("reached", "corrected")
	a := f.agent(t.TempDir())
	call, person := a.completeOvertaken("+31611111111")
	a.pollFor(30 * time.Minute)
	a.sendHeld()
	if f.call(call).Status != apitype.CallRequested || !slices.Contains(f.pending(), call) {
		t.Fatalf("got %s and pending %v, want it waiting and protected", f.call(call).Status, f.pending())
	}
	a.press("enter")
	a.perform(a.Transitions.Accept())
	a.keep("o")
	a.sendHeld()
	if f.call(call).Status != apitype.CallCompleted || f.mobile(person) != "+31611111111" {
		t.Errorf("got %s and %s, want both", f.call(call).Status, f.mobile(person))
	}
}

// setResults sets the results of all organizations: a code, and its effect.
func (f *floor) setResults(code, effect string) {
	f.t.Helper()
	row := `{"code":"` + code + `","label":"","effect":"` + effect + `","asksNotes":false}`
	for _, o := range f.organizations() {
		f.mustAs(f.supervisor(), http.MethodPut, "/fundesk/v1/settings/"+o, `{"results":{"verification":[`+row+`]}}`)
	}
}

// supervisor returns a token of an account that may do more than agents.
func (f *floor) supervisor() string {
	return f.Token(servicetest.May("calls:read", "calls:attempt", "persons:read", "settings:write", "persons:erase"))
}

// organizations returns the uuids of all organizations.
func (f *floor) organizations() []string {
	var all struct{ Organizations []struct{ UUID string } }
	f.Do(f.supervisor(), http.MethodGet, "/fundesk/v1/settings", "").Decode(&all)
	var ids []string
	for _, o := range all.Organizations {
		ids = append(ids, o.UUID)
	}
	return ids
}

// Each of several overtaken corrections is offered in turn, also those from an earlier desk.
func TestEachOvertakenCorrectionIsOffered(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{false, true} {
		f := newFloor(t, 6)
		dir := t.TempDir()
		a := f.agent(dir)
		first, _ := a.completeOvertaken("+31611111111")
		second, _ := a.completeOvertaken("+31633333333")
		if closes {
			a.End()
			a = f.agent(dir)
		}
		for range 2 {
			if !a.Transitions.IsProposed() {
				t.Fatalf("closed %t: got nothing offered (%q)", closes, a.told)
			}
			a.press("enter")
			a.perform(a.Transitions.Accept())
			a.keep("k")
			a.sendHeld()
		}
		for _, call := range []apitype.UUID{first, second} {
			if got := f.call(call).Status; got != apitype.CallCompleted {
				t.Errorf("closed %t: got %s, want both results sent", closes, got)
			}
		}
	}
}
