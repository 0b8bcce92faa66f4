package outbox

import (
	"testing"

	"fundesk/apiclient/apitype"
)

// An entry that goes from folder to folder is in every list.
func TestListMissesNothingThatMoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	box, other := open(t, dir, "https://a.example"), open(t, dir, "https://a.example")
	e := add(t, box, attempt(t, apitype.NewUUID()))
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			turns, err := other.choose(1, true, nil)
			for _, c := range turns.claims {
				err = other.settle(c, dirQueued)
			}
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	missed := 0
	for range 400 {
		if entries := list(t, box); len(entries) != 1 || entries[0].ID != e.ID {
			missed++
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if missed > 0 {
		t.Errorf("lists without the entry: got %d, want none", missed)
	}
}
