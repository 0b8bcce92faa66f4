package drafts

import (
	"maps"
	"slices"
	"testing"

	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// A terminal saves notes of a call whose result and rating another terminal has chosen. Both stay on disk, with the
// opt-out that goes with the result, and the form shows none of it. What is chosen here wins.
func TestResultOfAnotherTerminalStaysOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() (*Autosave, *outbox.Outbox) {
		box, err := outbox.Open(dir, outbox.Options{BaseURL: "https://a.example", Account: "agent"})
		servicetest.Check(t, err)
		return New(box), box
	}
	mine, box := open()
	theirs, _ := open()
	onDisk := func(when, code, notes string, rating *int, optOut bool) {
		t.Helper()
		draft, _, err := box.Draft(callID(1))
		servicetest.Check(t, err)
		hasRating := (draft.Rating == nil) == (rating == nil) && (rating == nil || *draft.Rating == *rating)
		isOptOut := maps.Equal(draft.Corrections, map[string]string{"optIns/phone": "false"}) &&
			slices.Equal(draft.ByResult, []string{"optIns/phone"})
		hasNothing := len(draft.Corrections)+len(draft.ByResult) == 0
		if draft.ResultCode != code || draft.Notes != notes || !hasRating || optOut && !isOptOut ||
			!optOut && !hasNothing {
			t.Errorf("%s: on disk is %+v, want %q, %q, rating %v, opt-out %t", when, draft, code, notes, rating, optOut)
		}
	}
	mine.Loaded(outbox.Draft{Call: callID(1)})
	never := outbox.Draft{
		Call: callID(1), ResultCode: "never", Rating: new(3), ByResult: []string{"optIns/phone"},
		Corrections: map[string]string{"optIns/phone": "false"}, Recorded: map[string]string{"optIns/phone": "true"},
	}
	servicetest.Check(t, theirs.Save(never))
	for _, notes := range []string{"moved", "moved to Delft", ""} {
		servicetest.Check(t, mine.Save(outbox.Draft{Call: callID(1), Notes: notes}))
		onDisk("notes "+notes, "never", notes, new(3), true)
		if _, saved, found := mine.Joined(callID(1)); found {
			t.Errorf("the form is given %+v, want nothing", saved)
		}
	}
	servicetest.Check(t, mine.Save(outbox.Draft{Call: callID(1), ResultCode: "glad"}))
	onDisk("a result chosen here", "glad", "", new(3), false)
	never.ResultCode, never.Rating, never.ByResult, never.Corrections = "", new(4), nil, nil
	servicetest.Check(t, theirs.Save(never)) // The other terminal has taken its result back.
	servicetest.Check(t, mine.Save(outbox.Draft{Call: callID(1), ResultCode: "glad", Rating: new(9)}))
	onDisk("a rating chosen here", "glad", "", new(9), false)
	servicetest.Check(t, theirs.Save(never))
	onDisk("the other terminal saves on", "glad", "", new(9), false)
}
