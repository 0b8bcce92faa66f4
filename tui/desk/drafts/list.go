package drafts

import (
	"slices"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// List has the drafts of the outbox as they were read last, with newer ones of this terminal. Make it with NewList. It
// is not safe for concurrent use, except its Autosave.
type List struct {
	*Autosave
	All    []outbox.Draft // Those of calls, the latest first.
	IsRead bool           // They were read at least once, or cannot be.
	// Lines has the unfinished lines that belong to no call, by what they are for.
	Lines map[string]string

	isOld bool // A reading that is under way began before the latest change of the list.
}

// NewList makes the list of the drafts in a spool.
func NewList(box *outbox.Outbox) *List { return &List{Autosave: New(box)} }

// Of returns the draft of a call in the list, or nil.
func (l *List) Of(call apitype.UUID) *outbox.Draft {
	i := slices.IndexFunc(l.All, func(d outbox.Draft) bool { return d.Call == call })
	if i < 0 {
		return nil
	}
	return &l.All[i]
}

// Newest returns the draft of a call: the one that is not on disk yet, or else the one that was read. Nil without any.
func (l *List) Newest(call apitype.UUID, read *outbox.Draft) *outbox.Draft {
	if unwritten, found := l.Unwritten(call); found {
		return &unwritten
	}
	return read
}

// Forget removes the draft of a call from the list. The disk keeps it.
func (l *List) Forget(call apitype.UUID) {
	l.All = slices.DeleteFunc(l.All, func(d outbox.Draft) bool { return d.Call == call })
}

// Set puts a draft first, in place of an earlier one of its call.
func (l *List) Set(draft outbox.Draft) {
	l.Forget(draft.Call)
	l.All = append([]outbox.Draft{draft}, l.All...)
}

// Outdate drops the reading that is under way: the list is newer.
func (l *List) Outdate() { l.isOld = true }

// TakeIn takes a reading of the disk in, unless the list is newer. The first one brings the lines of no call, and
// isBack is set if an earlier Desk has left some. From then on they are what is typed here.
func (l *List) TakeIn(read []outbox.Draft) (isBack bool) {
	ofCalls := make([]outbox.Draft, 0, len(read))
	for _, draft := range read {
		if !draft.Call.IsZero() {
			ofCalls = append(ofCalls, draft)
		} else if !l.IsRead && l.Lines == nil {
			l.Lines, isBack = draft.Unfinished, true
			l.Loaded(draft)
		}
	}
	if !l.isOld {
		l.All = ofCalls
	}
	l.Read()
	return isBack
}

// Read notes that a reading has ended.
func (l *List) Read() { l.IsRead, l.isOld = true, false }

// Erase returns work that erases the draft of a call as the agent has seen it. It removes the draft from the list.
func (l *List) Erase(call apitype.UUID) func() error {
	seen := outbox.Draft{Call: call}
	if known := l.Of(call); known != nil {
		seen = *known
	}
	l.Forget(call)
	return func() error { return l.Delete(seen, l.From(call)) }
}

// EraseChoices erases the draft of a call that has ended, unless it holds words: its choices can never be sent. It may
// be called in the background.
func (l *List) EraseChoices(call apitype.UUID) error {
	draft, found := l.Unwritten(call)
	var err error
	if !found {
		draft, found, err = l.box.Draft(call)
	}
	if err != nil || !found || draft.HasWords() {
		return err
	}
	return l.Delete(draft, l.From(call))
}
