package entry

import (
	"maps"
	"slices"

	"fundesk/apiclient/outbox"
)

// CallbackLine is the line with the time and the reason of a callback, in [outbox.Draft.Unfinished].
const CallbackLine = "callback"

// KeepLine puts what is typed in a line so far into the draft: a closed terminal does not lose it. An empty text drops
// the line, which was entered or left.
func (e Form) KeepLine(line, typed string) {
	if e.Call == nil || e.Unfinished[line] == typed {
		return
	}
	if typed == "" {
		e.Unfinished = maps.Clone(e.Unfinished)
		delete(e.Unfinished, line)
	} else {
		e.Unfinished = with(e.Unfinished, line, typed)
	}
	e.Save()
}

// UnfinishedWords returns each unfinished line with what it is for.
func (e Form) UnfinishedWords() []string {
	var words []string
	if typed, found := e.Unfinished[CallbackLine]; found {
		words = append(words, e.Say("callback: %s", typed))
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
