package desk

import (
	"io"
	"slices"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/say"
)

// Each record of an action on several shows its outcome, also if it was not saved or was undone.
func TestBatchTellsOfEachRecord(t *testing.T) {
	t.Parallel()
	d := at(morning)
	d.Changes.SubmitEach("cancel 4 calls", []string{"a", "b", "c", "d"}, make([]Change, 4))
	d.Changes.Written()
	b := d.Changes.Batch
	for i, id := range []string{"1", "2", "3"} {
		b.isQueued(queued{change: Change{batch: b, index: i}, entry: outbox.Entry{ID: id}})
	}
	b.isQueued(queued{change: Change{batch: b, index: 3}, err: io.ErrShortWrite})
	b.hear(outbox.Event{Entry: outbox.Entry{ID: "1"}, Outcome: outbox.OutcomeAccepted})
	b.hear(outbox.Event{Entry: outbox.Entry{ID: "2"}, Outcome: outbox.OutcomeWaiting, Err: &apiclient.Error{Kind: apiclient.KindUnavailable, Message: "down"}})
	b.isTakenBack("3")
	var got []string
	for _, r := range b.Records {
		got = append(got, r.State)
	}
	if want := []string{"done", "waits: down", "undone", "not saved: short write"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := b.Summary(say.Texts{}.Say), "cancel 4 calls: 1 of 4 done, 2 not"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
