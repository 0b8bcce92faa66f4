package desk_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// A number that was called for another donor a while ago is warned of, and blocks nothing.
func TestNumberOfAnotherDonor(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 2)
	a := f.agent(t.TempDir())
	for _, id := range f.calls {
		person := f.call(id).PersonUUID
		got := f.Do(f.token, "PUT", "/api/v1/persons/"+person.String()+"/actions/update",
			`{"mobilePhoneNumber":"+31612345678"}`)
		if got.Status != 200 {
			t.Fatalf("got %d %s", got.Status, got.Body)
		}
	}
	got := f.Do(f.token, "PUT", "/api/v1/calls/"+f.calls[1].String()+"/actions/add-attempt", `{}`)
	if got.Status != 200 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	f.Clock.Advance(35 * time.Minute)
	a.Keys.Press("n", false, false, f.Clock.Now())
	a.perform(a.Next())
	want := "this number was called 35 min ago on another call, less than 4 hours"
	if !a.IsOn(f.calls[0]) || !slices.Contains(a.Warnings(), want) {
		t.Errorf("got %+v with %q, want the call, and the warning", a.Call, a.Warnings())
	}
}

// An opened call is leased: a second agent reads who has the donor. It is free again with the first agent's next call.
func TestOpenedCallIsLeased(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	first, second := f.agent(t.TempDir()), f.agent(t.TempDir())
	call := f.calls[2]
	first.perform(first.Take(call))
	if first.Card().HolderText() != "" {
		t.Errorf("first: got %q, want no other agent", first.Card().HolderText())
	}
	leases, err := apiclient.Decoded(first.Client.Queue.Leases(t.Context(), apitype.QueueLeaseListOptions{}))
	if err != nil || !slices.ContainsFunc(leases.Leases, func(l apitype.Lease) bool { return l.CallUUID == call }) {
		t.Fatalf("got %+v %v, want a lease of the call that was opened", leases, err)
	}
	second.perform(second.Take(call))
	warnings := second.Warnings()
	if len(warnings) == 0 || !strings.Contains(warnings[0], "another agent has this donor on the screen since") {
		t.Errorf("second: got %q, want that another agent has the donor", warnings)
	}
	first.perform(first.Next())
	third := f.agent(t.TempDir())
	third.perform(third.Take(call))
	if third.Card().HolderText() != "" {
		t.Errorf("third: got %q, want the donor free again", third.Card().HolderText())
	}
	// A skipped call comes back with its lease, and the desk mentions it.
	third.perform(third.Skip())
	if third.perform(third.Changes.Undo()); !third.IsOn(call) ||
		!slices.ContainsFunc(third.told, func(text string) bool {
			return strings.HasPrefix(text, "undone: skipped: ")
		}) {
		t.Errorf("third: got %+v and %q, want the call that was skipped, and that it was taken back",
			third.Call, third.told)
	}
}
