package entry

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/say"
)

// DraftText returns the content of a draft in words.
func DraftText(t say.Texts, draft outbox.Draft) string {
	var parts []string
	add := func(n int, one, several string) {
		if n > 0 {
			parts = append(parts, t.Count(n, one, several))
		}
	}
	if draft.ResultCode != "" {
		parts = append(parts, t.Say(render.Words(draft.ResultCode)))
	}
	if draft.Rating != nil {
		parts = append(parts, t.Say("rating %d", *draft.Rating))
	}
	add(utf8.RuneCountInString(draft.Notes), "character", "characters")
	add(len(draft.Corrections), "correction", "corrections")
	add(len(draft.Checked), "detail checked", "details checked")
	add(len(draft.Unfinished), "unfinished line", "unfinished lines")
	return strings.Join(parts, ", ")
}

// Join does a three-way merge of two edits of base: of the notes, the corrections and the unfinished lines. What mine
// has changed wins. The result is that of mine, so corrections that come from the result of theirs are left out.
func Join(base, mine, theirs outbox.Draft) outbox.Draft {
	mine.Notes = outbox.JoinNotes(base.Notes, mine.Notes, theirs.Notes)
	mine.Unfinished = joinLines(base, mine, theirs)
	for key, is := range theirs.Corrections {
		was, isInBase := base.Corrections[key]
		mineIs, isInMine := mine.Corrections[key]
		isTheirs := (!isInBase || is != was) && !slices.Contains(theirs.ByResult, key)
		isMine := isInMine && (!isInBase || mineIs != was)
		if isTheirs && !isMine {
			mine.Corrections = with(mine.Corrections, key, is)
			mine.Recorded = with(mine.Recorded, key, theirs.Recorded[key])
		}
	}
	for _, fact := range theirs.Checked {
		if !slices.Contains(base.Checked, fact) && !slices.Contains(mine.Checked, fact) {
			mine.Checked = append(slices.Clone(mine.Checked), fact)
		}
	}
	mine.CheckedAt = joinTimes(theirs.CheckedAt, mine.CheckedAt)
	return mine
}

// KeepResult returns mine with the result and the rating of theirs, unless mine has changed its own since base. What
// goes with a result comes with it. It is for the disk: the form shows only what was chosen there.
func KeepResult(base, mine, theirs outbox.Draft) outbox.Draft {
	isTheirs := theirs.ResultCode != "" && theirs.ResultCode != base.ResultCode
	if isTheirs && mine.ResultCode == base.ResultCode {
		mine.Corrections = maps.Clone(mine.Corrections)
		for _, key := range mine.ByResult {
			delete(mine.Corrections, key)
		}
		mine.ResultCode, mine.Proposed, mine.ByResult = theirs.ResultCode, theirs.Proposed, nil
		for _, key := range theirs.ByResult {
			if _, isMine := mine.Corrections[key]; !isMine {
				mine.ByResult = append(mine.ByResult, key)
				mine.Corrections = with(mine.Corrections, key, theirs.Corrections[key])
				mine.Recorded = with(mine.Recorded, key, theirs.Recorded[key])
			}
		}
	}
	if theirs.Rating != nil && !isSame(theirs.Rating, base.Rating) && isSame(mine.Rating, base.Rating) {
		mine.Rating = theirs.Rating
	}
	return mine
}

// isSame reports whether two ratings are the same. Nil is none.
func isSame(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// with returns a map with one more entry. It does not change m.
func with(m map[string]string, key, is string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, m)
	all[key] = is
	return all
}

// joinTimes returns the times of both. The times of b win.
func joinTimes(a, b map[string]time.Time) map[string]time.Time {
	if len(a) == 0 {
		return b
	}
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}
