package desk_test

import (
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// A call that is opened, not taken, is leased: the second agent is told who has the donor, and it
// comes free with the first one's next call.
func TestOpenedCallIsLeased(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	first, second := f.agent(t.TempDir()), f.agent(t.TempDir())
	call := f.calls[2]
	first.perform(first.Take(call))
	if first.HolderText() != "" {
		t.Errorf("first: got %q, want no other agent", first.HolderText())
	}
	leases, err := apiclient.Decoded(first.Client.Queue.Leases(t.Context()))
	if err != nil || !slices.ContainsFunc(leases.Leases, func(l apitype.Lease) bool { return l.CallUUID == call }) {
		t.Fatalf("got %+v %v, want a lease of the call that was opened", leases, err)
	}
	second.perform(second.Take(call))
	if warnings := second.Warnings(*second.Call); len(warnings) == 0 || !strings.Contains(warnings[0], "another agent has this donor on the screen since") {
		t.Errorf("second: got %q, want that another agent has the donor", warnings)
	}
	first.perform(first.Next())
	third := f.agent(t.TempDir())
	third.perform(third.Take(call))
	if third.HolderText() != "" {
		t.Errorf("third: got %q, want the donor free again", third.HolderText())
	}
	// What was skipped comes back, and its lease with it; the desk says so.
	third.perform(third.Skip())
	if third.perform(third.Undo()); !third.IsOn(call) || !slices.ContainsFunc(third.told, func(text string) bool { return strings.HasPrefix(text, "taken back: skipped: ") }) {
		t.Errorf("third: got %+v and %q, want the call that was skipped, and that it was taken back", third.Call, third.told)
	}
}
