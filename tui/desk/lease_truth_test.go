package desk_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
)

// Within 15 seconds, and at once after R, the card shows that the donor was freed, or which agent has the donor.
func TestLeaseIsTrueWithin15Seconds(t *testing.T) {
	t.Parallel()
	learns := map[string]func(a *agent){
		"a poll": func(a *agent) { a.pollFor(15 * time.Second) },
		"R":      func(a *agent) { a.perform(a.Refresh()) },
		"waking": func(a *agent) {
			a.perform(a.Wake())
			a.f.Clock.Advance(time.Minute)
			a.perform(a.Wake())
		},
	}
	for name, learn := range learns {
		for _, isTaken := range []bool{false, true} {
			f := newFloor(t, 3)
			a, b := f.agent(t.TempDir()), f.agent(t.TempDir())
			a.press("n")
			a.perform(a.Next())
			call := a.Call.UUID
			a.pollFor(15 * time.Second) // Another turn of what a poll asks for.
			if text := a.Card().LeaseText(); text != "" || a.Card().Whose() != "reserved" {
				t.Errorf("%s: got %q and %q, want the donor the agent's own", name, text, a.Card().Whose())
			}
			f.freeAll()
			want := "no longer reserved for you"
			if isTaken {
				b.press("n")
				b.perform(b.Take(call))
				want = "has this donor on the screen since"
			}
			learn(a)
			isWarned := slices.ContainsFunc(a.Warnings(), func(text string) bool {
				return strings.Contains(text, want)
			})
			if !isWarned || a.Card().Whose() == "reserved" {
				t.Errorf("%s, taken %t: got %q and %q, want %q", name, isTaken, a.Warnings(), a.Card().Whose(), want)
			}
			b.press("s")
			b.perform(b.Skip())
			a.pollFor(15 * time.Second)
			if isTaken && a.Card().HolderText() != "" {
				t.Errorf("%s: got %q after the colleague has left", name, a.Card().HolderText())
			}
		}
	}
}

// A call that was taken ahead and freed since is not given to the agent without being taken again.
func TestFreedCallAheadIsTakenAgain(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a, b := f.agent(t.TempDir()), f.agent(t.TempDir())
	a.press("n")
	a.perform(a.Next())
	ahead := a.Offers(1)[0].ID
	f.freeAll()
	b.press("n")
	b.perform(b.Take(ahead))
	a.pollFor(15 * time.Second)
	a.press("s")
	a.perform(a.Skip())
	if a.IsOn(ahead) {
		t.Error("got the call that a colleague has")
	}
}

// The keys d, c and i keep the lease from then on.
func TestWorkingKeysExtendTheLease(t *testing.T) {
	t.Parallel()
	keys := map[string]func(a *agent) []event.Event{
		"d":      func(a *agent) []event.Event { return a.Ask.DialNumber(card.Number{Digits: "+31612345678"}).Events },
		"c":      func(a *agent) []event.Event { return a.act("result") },
		"c or i": func(a *agent) []event.Event { return a.KeepLease() },
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		f := newFloor(t, 1)
		a := f.agent(t.TempDir())
		a.press("n")
		a.perform(a.Next())
		f.Clock.Advance(5 * time.Minute)
		a.perform(keys[key](a))
		var all apitype.Leases
		f.Do(f.token, http.MethodGet, "/fundesk/v1/queue/leases", "").Decode(&all)
		want := f.Clock.Now().Add(15 * time.Minute)
		if len(all.Leases) != 1 || !all.Leases[0].ExpiresAt.Equal(apitype.NewTime(want)) {
			t.Errorf("%s: got %+v, want a lease until %v", key, all.Leases, want)
		}
	}
}

// act runs an action of the desk.
func (a *agent) act(id string) []event.Event {
	action, _ := ask.ActionOf(id)
	return action.Run(a.Ask).Events
}

// What forbids a call and comes while the card is shown is there with the next reading, and d and c ask once. A result
// forgets nothing that was typed.
func TestWhatForbidsACallAsks(t *testing.T) {
	t.Parallel()
	number := `{"number":"+31612345678","organizationUuid":"%s"}`
	cases := map[string]struct {
		forbid func(f *floor, call apitype.Call)
		want   string
	}{
		"an opt-out": {func(f *floor, call apitype.Call) {
			f.must(http.MethodPut, "/api/v1/persons/"+call.PersonUUID.String()+"/actions/update",
				`{"optIns":{"phone":false}}`)
		}, "opted out of phone calls"},
		"a blocked number": {func(f *floor, _ apitype.Call) {
			f.mustAs(f.supervisor(), http.MethodPost, "/fundesk/v1/do-not-call",
				fmt.Sprintf(number, f.organizations()[0]))
		}, "a number of this donor is blocked: its holder objected to calls"},
		"an erasure": {func(f *floor, call apitype.Call) {
			f.mustAs(f.supervisor(), http.MethodPost, "/fundesk/v1/persons/"+call.PersonUUID.String()+"/erase",
				`{"reason":"on request"}`)
		}, "the donor's data was erased"},
	}
	for name, c := range cases {
		f := newFloor(t, 1)
		a := f.agent(t.TempDir())
		person := f.call(f.calls[0]).PersonUUID
		f.must(http.MethodPut, "/api/v1/persons/"+person.String()+"/actions/update",
			`{"mobilePhoneNumber":"+31612345678"}`)
		a.press("n")
		a.perform(a.Next())
		if a.Card().ForbidsText() != "" {
			t.Errorf("%s: got %q before", name, a.Card().ForbidsText())
		}
		a.Form().SetNotes("typed")
		c.forbid(f, *a.Call)
		a.pollFor(30 * time.Second)
		dial := func() ask.Answer { return a.Ask.DialNumber(card.Number{Digits: "+31612345678"}) }
		first := dial()
		if first.Next == nil || a.Card().ForbidsText() != c.want || !slices.Contains(a.Warnings(), c.want) {
			t.Errorf("%s: got %+v, %q and %q, want a question before a call",
				name, first, a.Card().ForbidsText(), a.told)
			continue
		}
		a.perform(first.Next.Choices[0].Pick().Events)
		result, _ := ask.ActionOf("result")
		if again := dial(); again.Next != nil || result.Run(a.Ask).Next.Title == first.Next.Title {
			t.Errorf("%s: got %+v, want it asked once", name, again)
		}
		if a.Form().Notes != "typed" {
			t.Errorf("%s: got the notes %q", name, a.Form().Notes)
		}
	}
}
