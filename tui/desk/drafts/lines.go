package drafts

import (
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/say"
)

// The lines that belong to no call, in the order in which they are named.
const (
	SearchLine  = "search"  // For a donor.
	MessageLine = "message" // To all desks.
	AheadLine   = "ahead"   // Typed for the call that is being read.
)

// KeepLine puts what is typed in a line of no call on disk, as [entry.Form.KeepLine] does for one of a call.
func (l *List) KeepLine(line, typed string) {
	if l.Lines[line] == typed {
		return
	}
	l.Lines = entry.WithLine(l.Lines, line, typed)
	l.Put(outbox.Draft{Unfinished: l.Lines})
}

// UnfinishedWords returns each line of no call that the agent goes on with, and what it is for.
func (l *List) UnfinishedWords(t say.Texts) []string {
	var words []string
	if typed, found := l.Lines[SearchLine]; found {
		words = append(words, t.Say("find a donor")+": "+typed)
	}
	if typed, found := l.Lines[MessageLine]; found {
		words = append(words, t.Say("message to all desks")+": "+typed)
	}
	return words
}
