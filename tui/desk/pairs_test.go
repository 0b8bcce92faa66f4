package desk_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/donors"
)

// openers are all ways to put the open call of a donor on a desk.
var openers = map[string]func(a *agent, call apitype.Call){
	"the queue": func(a *agent, _ apitype.Call) { a.perform(a.Next()) },
	"a search": func(a *agent, _ apitype.Call) {
		a.perform(a.Search.SearchFor("0612345678"))
		a.perform(a.OpenDonor(a.FindDonors(1)[0]))
		if a.Caller != nil { // Without a pledge, a call that waits no more is not found.
			a.perform(a.NewCall(*a.Caller, apitype.CallWinback))
			a.sendHeld()
		}
	},
	lastCalls: func(a *agent, _ apitype.Call) { a.perform(a.Take(a.Changes.Recent[0].Call)) },
	"a draft": func(a *agent, call apitype.Call) {
		a.perform(a.Take(call.UUID))
		a.Form().SetNotes("calls back")
		a.perform(a.Skip())
		a.perform(a.Resume())
	},
	"the list of calls": func(a *agent, call apitype.Call) { a.perform(a.Take(call.UUID)) },
	"a new call": func(a *agent, call apitype.Call) {
		a.perform(a.NewCall(donors.Caller{Donor: donors.Donor{ID: call.PersonUUID}}, apitype.CallWinback))
		a.sendHeld()
	},
}

const lastCalls = "the last calls"

// workedOn returns an agent with work on a call, if that is among the last ones.
func (f *floor) workedOn(opener string, call apitype.UUID) *agent {
	a := f.agent(f.t.TempDir())
	if opener == lastCalls {
		a.perform(a.Take(call))
		f.Clock.Advance(time.Second)
		a.perform(a.Finish(disposition.NotReached("")))
		a.sendHeld()
	}
	return a
}

// In whatever way two agents come to one donor, the second one reads who has the donor.
func TestTwoDesksOnOneDonor(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	engines := map[string]func(t *testing.T) *servicetest.Harness{
		"SQLite": func(t *testing.T) *servicetest.Harness { return servicetest.New(t) },
		"PostgreSQL": func(t *testing.T) *servicetest.Harness {
			servicetest.NeedPostgres(t)
			return servicetest.NewOn(t, servicetest.PostgresDatabase(t))
		},
	}
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &floor{Harness: engine(t), t: t}
			f.token = f.Token()
			met := 0
			for first, open := range openers {
				for second, openToo := range openers {
					f.loadCalls(1)
					call := f.call(f.calls[0])
					person := "/api/v1/persons/" + call.PersonUUID.String()
					f.Do(f.token, http.MethodPut, person+"/actions/update",
						`{"mobilePhoneNumber":"+31612345678","name":{"firstName":"Ann"}}`)
					a, b := f.workedOn(first, call.UUID), f.workedOn(second, call.UUID)
					if first == "the queue" {
						f.Clock.Advance(4 * time.Hour)
						a.Keys.Press("n", false, false, f.Clock.Now())
						b.Keys.Press("n", false, false, f.Clock.Now())
					}
					if open(a, call); a.Call == nil || a.Call.PersonUUID != call.PersonUUID {
						t.Fatalf("%s: got %+v on the desk (%q), want the donor", first, a.Call, a.told)
					}
					f.Clock.Advance(time.Minute)
					openToo(b, call)
					meets := b.Call != nil && b.Call.PersonUUID == a.Call.PersonUUID
					isWarned := meets && slices.ContainsFunc(b.Warnings(), func(text string) bool {
						return strings.Contains(text, "has this donor on the screen since")
					})
					if meets != isWarned || meets == (second == "the queue") {
						t.Errorf("%s, then %s: got the donor on both desks %t, the second warned %t; it said %q",
							first, second, meets, isWarned, b.told)
					}
					if meets {
						met++
					}
					a.End()
					b.End()
					f.Do(f.token, http.MethodPut, person+"/actions/update", `{"mobilePhoneNumber":null}`)
					for _, id := range f.open(call.PersonUUID) {
						f.Do(f.token, http.MethodPut, fmt.Sprintf("/api/v1/calls/%v/actions/cancel", id), `{}`)
					}
				}
			}
			if met != 30 {
				t.Errorf("got %d pairs that met, want all but those in which the second asks the queue", met)
			}
		})
	}
}

// open returns the open calls of a person.
func (f *floor) open(person apitype.UUID) []any {
	edges, _ := f.Do(f.token, http.MethodGet, "/api/v1/calls?status=requested&first=500", "").Object()["edges"].([]any)
	var ids []any
	for _, edge := range edges {
		if node := edge.(map[string]any)["node"].(map[string]any); node["personUuid"] == person.String() {
			ids = append(ids, node["uuid"])
		}
	}
	return ids
}
