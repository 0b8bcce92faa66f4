package desk

import "fundesk/tui/desk/event"

// TellJoined reports drafts that were joined with those of another terminal, like Start.
func (d *Day) TellJoined(tell func(event.Result)) { d.tellDrafts(tell) }

// CrashAfterKey does what a key that ends the call does before the change is on disk, and lets the terminal die.
func (d *Day) CrashAfterKey() []event.Event {
	call := d.Call.UUID
	d.leases.protect(call)
	if p := d.leases.pending.Of(call); p.Note != nil {
		_ = p.Note.Leave() // The system unlocks the files of a program that died.
	}
	return d.Drain()
}
