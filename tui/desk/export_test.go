package desk

import "fundesk/tui/desk/event"

// TellJoined reports drafts that were joined with those of another terminal, like Start.
func (d *Day) TellJoined(tell func(event.Result)) { d.tellDrafts(tell) }
