package desk_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/disposition"
)

// Days that the tests of single keys do not imagine, each played against the real service,
// with a clock that is set by hand.

// send lets the hold of what was done pass, and sends it.
func (a *agent) send() outbox.Report {
	a.f.t.Helper()
	a.f.Clock.Advance(5 * time.Second)
	report, err := a.Changes.Sender.SendDue(a.f.t.Context())
	servicetest.Check(a.f.t, err)
	return report
}

// must sends a request that the service must accept.
func (f *floor) must(method, path, body string) {
	f.t.Helper()
	f.mustAs(f.token, method, path, body)
}

// mustAs sends a request of another account that the service must accept.
func (f *floor) mustAs(token, method, path, body string) {
	f.t.Helper()
	if got := f.Do(token, method, path, body); got.Status/100 != 2 {
		f.t.Fatalf("%s %s: got %d %s", method, path, got.Status, got.Body)
	}
}

// call returns a call as the service has it.
func (f *floor) call(id apitype.UUID) apitype.Call {
	f.t.Helper()
	var call apitype.Call
	f.Do(f.Token(), http.MethodGet, "/api/v1/calls/"+id.String(), "").Decode(&call)
	return call
}

// speak writes down the conversation, and the outcome of the call.
func (a *agent) speak(notes string) {
	a.Form().SetNotes(notes)
	a.Form().SetResult("reached")
}

// A laptop is closed with a call on it, and opened two days later. Another agent has finished the call. The typed text
// is not lost, nothing is sent that no agent chose, and a new choice does not replace the other agent's.
func TestLaptopAsleepForTwoDays(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	sleeper, other := f.agent(t.TempDir()), f.agent(t.TempDir())
	sleeper.perform(sleeper.Next())
	call := sleeper.Call.UUID
	sleeper.speak("half of what she said")
	servicetest.Check(t, sleeper.Outbox.SaveDraft(call, sleeper.Draft()))

	f.Clock.Advance(48 * time.Hour)
	other.perform(other.Take(call))
	if other.Call == nil || other.Call.UUID != call {
		t.Fatalf("got %+v (%q), want the call whose lease has ended", other.Call, other.told)
	}
	other.speak("all that she said")
	other.perform(other.Finish(disposition.Complete))
	if report := other.send(); report.Waiting > 0 || f.call(call).Status != apitype.CallCompleted {
		t.Fatalf("got %+v and %s, want the call completed", report, f.call(call).Status)
	}

	if report := sleeper.send(); report.Accepted > 0 {
		t.Errorf("awake: got %d changes sent, want none: nobody chose one", report.Accepted)
	}
	sleeper.perform(sleeper.Finish(disposition.Complete))
	sleeper.send()
	if notes := f.call(call).Result.Value().Notes; notes == nil || *notes != "all that she said" {
		t.Errorf("got the notes %v, want the other's", notes)
	}
	entries, _, err := sleeper.Outbox.List()
	if err != nil ||
		len(entries) != 1 ||
		entries[0].State != outbox.StateRejected ||
		!bytes.Contains(entries[0].Body, []byte("half of what she said")) {
		t.Errorf("got %+v, %v, want what was typed kept as refused", entries, err)
	}
}

// A donor asks to be forgotten while an agent has her on the line: the agent's work ends
// without an error that stops the next call, and nothing of her comes back.
func TestErasedWhileOnTheLine(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a := f.agent(t.TempDir())
	a.perform(a.Next())
	call, person := a.Call.UUID, a.Call.PersonUUID
	a.speak("her new address is Secretstreet 9")
	if _, err := f.Privacy.Erase(t.Context(), person, apitype.EraseRequest{Reason: "asked on the phone"}); err != nil {
		t.Fatal(err)
	}
	a.perform(a.Finish(disposition.Complete))
	if report := a.send(); report.Rejected != 1 || !strings.Contains(report.RejectedErr.Error(), "was erased") {
		t.Errorf("got %+v, want the result refused, and why", report)
	}
	if a.Call == nil || a.Call.UUID == call {
		t.Errorf("got %+v (%q), want the next call on the desk", a.Call, a.told)
	}
	f.Clock.Advance(time.Hour) // No lease is left.
	for range f.calls {
		if a.perform(a.Skip()); a.Call != nil && a.Call.UUID == call {
			t.Error("the call of a person who was erased is offered again")
		}
	}
	answer := f.Do(f.Token(), http.MethodGet, "/api/v1/calls/"+call.String(), "")
	if strings.Contains(string(answer.Body), "Secretstreet") {
		t.Errorf("got %s, want nothing of the person", answer.Body)
	}
	if answer := f.Do(f.Token(), http.MethodGet, "/api/v1/persons/"+
		person.String(), ""); answer.Status != http.StatusNotFound {
		t.Errorf("the person: got status %d, want 404", answer.Status)
	}
}

// A token ends in the afternoon. All later work waits, and is sent once with the next token.
func TestTokenEndsInTheAfternoon(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 6)
	account := f.Account()
	issue := func() string {
		token, _, err := f.Service.IssueToken(t.Context(), account.UUID, 4*time.Hour)
		servicetest.Check(t, err)
		return token
	}
	f.token = issue()
	a := f.agent(t.TempDir())
	a.perform(a.Next())
	var done []apitype.UUID
	work := func() {
		t.Helper()
		if a.Call == nil {
			t.Fatalf("got no call (%q)", a.told)
		}
		done = append(done, a.Call.UUID)
		a.speak("spoke with her, number " + a.Call.UUID.String())
		a.perform(a.Finish(disposition.Complete))
	}
	work()
	a.send()
	f.Clock.Advance(5 * time.Hour)
	for range 2 { // What the desk holds, without the service.
		if a.Call == nil {
			break
		}
		work()
	}
	if report := a.send(); report.Accepted > 0 || len(done) < 2 {
		t.Fatalf("got %+v after %d calls, want what was done to wait", report, len(done))
	}
	f.token = issue()
	a.Changes.Sender.Resume()
	a.send()
	for _, id := range done {
		call := f.call(id)
		if call.Status != apitype.CallCompleted ||
			call.Result.Value().Notes == nil ||
			!strings.HasSuffix(*call.Result.Value().Notes, id.String()) {
			t.Errorf("call %s: got %s, want it completed with its notes", id, call.Status)
		}
	}
	if entries, _, err := a.Outbox.List(); err != nil || len(entries) > 0 {
		t.Errorf("got %+v, %v, want nothing left", entries, err)
	}
}

// On the Saturday before the clocks change a donor asks for a call tomorrow at half past ten. It comes when her clock
// shows that, and not a minute before, within her calling hours.
func TestNightInWhichTheClocksChange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, country          string
		saturday, sunday, said string
	}{
		{
			name:     "to summer in Berlin",
			country:  "DE",
			saturday: "2027-03-27T15:00:00Z",
			sunday:   "2027-03-28T08:30:00Z",
			said:     "Sun 28 Mar 10:30 there (08:30 here)",
		},
		{
			name:     "to summer in Amsterdam",
			country:  "NL",
			saturday: "2027-03-27T15:00:00Z",
			sunday:   "2027-03-28T08:30:00Z",
			said:     "Sun 28 Mar 10:30 there (08:30 here)",
		},
		{
			name:     "to winter in Berlin",
			country:  "DE",
			saturday: "2027-10-30T15:00:00Z",
			sunday:   "2027-10-31T09:30:00Z",
			said:     "Sun 31 Oct 10:30 there (09:30 here)",
		},
		{
			name:     "to winter in Amsterdam",
			country:  "NL",
			saturday: "2027-10-30T15:00:00Z",
			sunday:   "2027-10-31T09:30:00Z",
			said:     "Sun 31 Oct 10:30 there (09:30 here)",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			saturday, _ := apitype.ParseTime(test.saturday)
			sunday, _ := apitype.ParseTime(test.sunday)
			f := newFloor(t, 0)
			f.Clock.Set(saturday.Time)
			call := f.callIn(test.country)
			first := f.agent(t.TempDir())
			first.perform(first.Next())
			if !first.IsOn(call) {
				t.Fatalf("got %+v (%q), want the call", first.Call, first.told)
			}
			at, err := first.Card().ReadLater("tomorrow 10:30")
			if err != nil || !at.At.Equal(sunday.Time) || first.Card().BothTimes(at.At) != test.said {
				t.Fatalf("got %v, %q, %v, want %v, %q", at, first.Card().BothTimes(at.At), err, sunday, test.said)
			}
			first.perform(first.Finish(disposition.Later(at, false)))
			first.sendHeld()

			f.Clock.Set(at.At.Add(-time.Minute))
			early := f.agent(t.TempDir())
			if early.perform(early.Next()); early.Call != nil {
				t.Errorf("a minute too soon: got %+v, want no call", early.Call)
			}
			f.Clock.Set(at.At)
			second := f.agent(t.TempDir())
			if second.perform(second.Next()); !second.IsOn(call) {
				t.Fatalf("got %+v (%q), want the call", second.Call, second.told)
			}
			if warnings := strings.Join(second.Warnings(), "; "); strings.Contains(warnings, "calls are made from") {
				t.Errorf("got %q, want it within calling hours", warnings)
			}
		})
	}
}

// callIn makes a call to a donor in a country.
func (f *floor) callIn(country string) apitype.UUID {
	f.t.Helper()
	created := func(path, body string) (made struct{ UUID apitype.UUID }) {
		answer := f.Do(f.token, http.MethodPost, path, body)
		if answer.Status != http.StatusCreated {
			f.t.Fatalf("%s: got %d %s", path, answer.Status, answer.Body)
		}
		answer.Decode(&made)
		return made
	}
	organization := f.Organization("B").String()
	person := created("/api/v1/persons", `{"owningOrganizationUuid":"`+organization+`","recruitingOrganizationUuid":"`+
		organization+
		`","address":{"street":"S","houseNumber":"1","zipCode":"1000","city":"C","country":"`+country+`"}}`)
	return created("/api/v1/calls", `{"personUuid":"`+person.UUID.String()+`","type":"verification","requestedAt":"`+
		apitype.NewTime(f.Clock.Now()).String()+`"}`).UUID
}
