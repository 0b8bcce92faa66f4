package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
)

// Finish ends work on the call on the Desk, and takes the next one. The text of a completion goes with it; any other
// change leaves it as a draft.
func (s *seat) Finish(how disposition.Func) []event.Event {
	made := how(disposition.Call{
		Card:        s.Card(),
		Author:      s.Changes.Author,
		User:        s.Leases.Agent(),
		KeepsChecks: s.Has(apitype.ExtensionChecks),
	})
	if made.Invalid != nil {
		s.FailOf(event.OfCall(s.Call.UUID), event.ErrorText("not sent", made.Invalid))
		return s.Drain()
	}
	s.Changes.Add(made.Before...)
	if made.DeadNumber != "" {
		s.struck = append(s.struck, struckNumber{made.DeadNumber, made.Group})
		s.Changes.Add(made.Change)
	} else {
		s.finish(made)
	}
	s.Changes.Add(made.After...)
	return s.Drain()
}

// finish sends the change that ends work on the call, and takes the next one.
func (s *seat) finish(made disposition.Disposition) {
	id := s.Call.UUID
	s.Changes.Recent.Add(changes.Recent{
		Call: id,
		Name: s.Name(),
		At:   s.Now(),
		What: made.What,
		Fate: changes.FateHeld,
	})
	s.Leases.Protect(id)
	c := made.Change
	before := worked{
		call:     *s.Call,
		draft:    s.Draft(),
		progress: s.progress,
		undone:   c.Group,
	}
	c.Restore = func() { s.restore(before) }
	s.Walk.Pass(id, "")
	if made.TextGoes {
		c.Typed = &changes.Typed{Draft: before.draft, Disk: s.Changes.Drafts.From(id)}
		s.Changes.Drafts.Forget(id)
		s.entered = entry.Entered{}
	}
	s.Changes.Add(c)
	s.next()
}

// worked is a call as it was when the agent ended it, to give back.
type worked struct {
	call  apitype.Call
	draft outbox.Draft
	progress
	undone *changes.Group // The changes that have ended it. Nil if it was one alone.
}

// restore puts a call and its text back on the desk, as they were before a change.
func (s *seat) restore(before worked) {
	call := before.call
	s.Walk.Restore(call.UUID)
	s.Leases.Reopen(call.UUID)
	s.leave()
	s.Pause.OpensCall()
	draft := before.draft
	if since := s.Changes.Drafts.Newest(call.UUID, s.Changes.Drafts.Of(call.UUID)); since != nil {
		draft.Notes = outbox.JoinNotes("", draft.Notes, since.Notes)
		both := entry.Join(outbox.Draft{}, *since, draft) // Those since win.
		draft.Corrections, draft.Recorded = both.Corrections, both.Recorded
		draft.Checked, draft.CheckedAt = both.Checked, both.CheckedAt
		draft.Unfinished = both.Unfinished
	}
	s.Changes.Drafts.Forget(call.UUID)
	s.askedAt = s.Keys.Presses
	s.present(call)
	s.fill(draft)
	s.progress, s.undone = before.progress, before.undone
	s.Changes.Drafts.Loaded(outbox.Draft{Call: call.UUID})
	s.autosave()
	s.Leases.Trim()
}

// holdStep lets an undo return to the call on the Desk, which the agent leaves without a change. created is the new
// call that replaces it, or zero.
func (s *seat) holdStep(label string, created apitype.UUID) {
	restore := func() {}
	if s.Call != nil {
		id, done := s.Call.UUID, s.progress
		restore = func() {
			s.Walk.Restore(id)
			s.takeCall(id)
			s.progress = done
		}
	}
	s.Changes.HoldStep(label, created, restore)
}
