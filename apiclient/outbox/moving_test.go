package outbox

import (
	"testing"

	"fundesk/apiclient/apitype"
)

// An entry that goes from folder to folder is in every list.
func TestListMissesNothingThatMoves(t *testing.T) {
	t.Parallel()
	const moves = 300 // Enough for a list without its second look to miss some.
	dir := t.TempDir()
	box, other := open(t, dir, "https://a.example"), open(t, dir, "https://a.example")
	e := add(t, box, attempt(t, apitype.NewUUID()))
	moved := make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < moves && err == nil; n++ {
			var claims []*claim
			if claims, err = (&turns{box: other, eager: true}).take(1); err == nil {
				err = other.settle(claims[0], dirQueued, Event{})
			}
		}
		moved <- err
	}()
	for lists, missed := 0, 0; ; lists++ {
		if entries := list(t, box); len(entries) != 1 || entries[0].ID != e.ID {
			missed++
		}
		select {
		case err := <-moved:
			if err != nil || missed > 0 {
				t.Errorf("lists without the entry: got %d of %d (%v), want none", missed, lists, err)
			}
			return
		default:
		}
	}
}
