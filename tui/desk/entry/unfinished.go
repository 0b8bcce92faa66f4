package entry

import (
	"maps"
	"slices"

	"fundesk/apiclient/outbox"
)

// The lines in [outbox.Draft.Unfinished] that are for no detail of the donor.
const (
	CallbackLine = "callback" // The time and the reason of a callback.
	ResultLine   = "result"   // A typed result code.
)

// WithLine returns unfinished lines with the text of one of them. An empty text drops the line, which was entered or
// left. It does not change lines.
func WithLine(lines map[string]string, line, typed string) map[string]string {
	if typed != "" {
		return with(lines, line, typed)
	}
	lines = maps.Clone(lines)
	delete(lines, line)
	return lines
}

// KeepLine puts what is typed in a line so far into the draft: a closed terminal does not lose it. An empty text drops
// the line; see [WithLine].
func (e Form) KeepLine(line, typed string) {
	if e.Call == nil || e.Unfinished[line] == typed {
		return
	}
	e.Unfinished = WithLine(e.Unfinished, line, typed)
	e.Save()
}

// UnfinishedWords returns each unfinished line with what it is for.
func (e Form) UnfinishedWords() []string {
	var words []string
	if typed, found := e.Unfinished[CallbackLine]; found {
		words = append(words, e.Say("callback: %s", typed))
	}
	if typed, found := e.Unfinished[ResultLine]; found {
		words = append(words, e.Say("Result code")+": "+typed)
	}
	for _, f := range e.Fixes() {
		if typed, found := e.Unfinished[f.Key]; found {
			words = append(words, e.Say(f.Label)+": "+typed)
		}
	}
	return words
}

// joinLines does a three-way merge of the unfinished lines of two edits of base. What mine has changed wins.
func joinLines(base, mine, theirs outbox.Draft) map[string]string {
	joined := mine.Unfinished
	for _, line := range slices.Sorted(maps.Keys(theirs.Unfinished)) {
		typed := theirs.Unfinished[line]
		isTheirs := typed != base.Unfinished[line]
		isMine := mine.Unfinished[line] != base.Unfinished[line]
		if isTheirs && !isMine {
			joined = with(joined, line, typed)
		}
	}
	return joined
}
