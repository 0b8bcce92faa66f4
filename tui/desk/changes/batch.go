package changes

import (
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/event"
)

// Batch is an action on several records, with the state of each.
type Batch struct {
	Label   string
	Records []BatchRecord
}

// BatchRecord is one record of a batch.
type BatchRecord struct {
	Name  string
	State string // In words.
	Done  bool
	Bad   bool
	entry string // Its id in the outbox. Empty before it is there.
}

// stateUndone is the state of a record whose change was undone.
const stateUndone = "undone"

// saved notes that the change of a record is in the outbox, or why it is not.
func (b *Batch) saved(index int, entry string, err error) {
	if b == nil {
		return
	}
	r := &b.Records[index]
	r.entry = entry
	if err != nil {
		r.State, r.Bad = event.ErrorText("not saved", err), true
	}
}

// undone notes that a record's change was undone.
func (b *Batch) undone(entry string) {
	if r := b.find(entry); r != nil {
		r.State = stateUndone
	}
}

func (b *Batch) find(entry string) *BatchRecord {
	if b == nil || entry == "" {
		return nil
	}
	for i := range b.Records {
		if b.Records[i].entry == entry {
			return &b.Records[i]
		}
	}
	return nil
}

// hear stores the progress of an entry. It reports whether the entry belongs to this batch.
func (b *Batch) hear(e outbox.Event) bool {
	r := b.find(e.Entry.ID)
	if r == nil {
		return false
	}
	r.Done = e.Outcome == outbox.OutcomeAccepted
	r.Bad = !r.Done
	switch e.Outcome {
	case outbox.OutcomeAccepted:
		r.State = "done"
	case outbox.OutcomeRejected:
		r.State = event.ErrorText("refused", e.Err)
	case outbox.OutcomeDropped:
		r.State = stateUndone
	default:
		r.State = event.ErrorText("waits", e.Err)
	}
	return true
}

// Answered returns how many records have a final state: done, refused, deferred or undone.
func (b *Batch) Answered() int {
	var n int
	for _, r := range b.Records {
		if r.Done || r.Bad || r.State == stateUndone {
			n++
		}
	}
	return n
}

// Summary returns how far the batch has come, in one line.
func (b *Batch) Summary(say func(string, ...any) string) string {
	done, bad := 0, 0
	for _, r := range b.Records {
		if r.Bad {
			bad++
		} else if r.Done {
			done++
		}
	}
	text := say("%s: %d of %d done", say(b.Label), done, len(b.Records))
	if bad > 0 {
		text += say(", %d not", bad)
	}
	return text
}
