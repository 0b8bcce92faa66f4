package desk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
)

// historyEvery is how often a desk that is open keeps what it knows of the history.
const historyEvery = 5 * time.Minute

// history is what a desk remembers of the calls of a service without a queue, so that no
// start walks all of them again: times only.
type history struct {
	Account   string         `json:"account"`           // A digest: another account may see other calls.
	OpenSince apitype.Time   `json:"openSince"`         // No call requested before was open
	Gaps      []gap          `json:"gaps,omitzero"`     // and none requested in between
	KnownAt   apitype.Time   `json:"knownAt"`           // at this time, by our clock.
	PageEnds  []apitype.Time `json:"pageEnds,omitzero"` // Some pages of calls ended then: between any two lies one at least.
	OfferedAt *apitype.Time  `json:"offeredAt"`         // When the first call was requested that could be offered; nil: none could.
}

// gap is a part of the history in which no call was open: those at its ends may be.
type gap struct {
	From  apitype.Time `json:"from"`
	Until apitype.Time `json:"until"`
}

// mostGaps is how many gaps are remembered: each costs the next start a request.
const mostGaps = 12

// span is a part of the history, by the times at which calls were requested, both ends included.
type span struct {
	from  time.Time // Zero: from the beginning.
	until time.Time // Zero: without an end.
}

func (s span) isEverything() bool { return s == span{} }

// bounds returns the times to ask for. Services that keep whole seconds, or leave the ends out, have
// the calls at the ends between them.
func (s span) bounds(now time.Time) (from, until apitype.Time) {
	if s.until.IsZero() {
		s.until = now.AddDate(10, 0, 0)
	}
	return apitype.NewTime(s.from.Add(-time.Second)), apitype.NewTime(s.until.Add(time.Second))
}

// mayHold reports whether a service that keeps to the bounds shows a call of that time.
func (s span) mayHold(at time.Time) bool {
	const leeway = time.Minute
	return !at.Before(s.from.Add(-leeway)) && (s.until.IsZero() || !at.After(s.until.Add(leeway)))
}

// parts returns the parts of the history in which calls may be open, the oldest first.
func (h history) parts() []span {
	parts := []span{{from: h.OpenSince.Time}}
	for _, gap := range h.Gaps {
		parts[len(parts)-1].until = gap.From.Time
		parts = append(parts, span{from: gap.Until.Time})
	}
	return parts
}

// isSound reports whether the times are in their order.
func (h history) isSound() bool {
	last := h.OpenSince.Time
	for _, gap := range h.Gaps {
		if gap.From.Before(last) || gap.Until.Before(gap.From.Time) {
			return false
		}
		last = gap.Until.Time
	}
	return !h.OpenSince.IsZero() && !h.KnownAt.IsZero()
}

// remember begins the walk in the part where an earlier start has found the first call to offer.
// What became open in the gaps since then is among the changes.
func (q *queue) remember(h history) {
	parts := h.parts()
	first := len(parts) - 1
	if h.OfferedAt != nil {
		first = slices.IndexFunc(parts, func(p span) bool { return p.until.IsZero() || !p.until.Before(h.OfferedAt.Time) })
	}
	q.older, q.span, q.later = parts[:first], parts[first], parts[first+1:]
	q.gaps = h.Gaps
	for _, end := range h.PageEnds {
		q.pageEnds = append(q.pageEnds, end.Time)
	}
	q.since, q.changesMissed = h.KnownAt, true
}

// mostPageEnds is how many ends of pages are remembered.
const mostPageEnds = 256

// pageRead notes what a page of the walk says of the history; more says that it is a full one.
func (q *queue) pageRead(calls []listed, more bool) {
	if len(calls) == 0 {
		return
	}
	oldest, newest := calls[0].RequestedAt, calls[len(calls)-1].RequestedAt
	if newest.After(q.walkedTo) {
		q.walkedTo = newest
	}
	if !more || slices.ContainsFunc(q.pageEnds, func(end time.Time) bool { return !end.Before(oldest) && !end.After(newest) }) {
		return
	}
	if q.pageEnds = append(q.pageEnds, newest); len(q.pageEnds) > mostPageEnds {
		slices.SortFunc(q.pageEnds, time.Time.Compare)
		for i := range q.pageEnds[:len(q.pageEnds)/2] {
			q.pageEnds[i] = q.pageEnds[2*i]
		}
		q.pageEnds = q.pageEnds[:len(q.pageEnds)/2]
	}
}

// longestGaps returns the longest parts of what is known that have no open call and hold a page of
// calls at least.
func (q *queue) longestGaps() (gaps []gap) {
	add := func(from, until time.Time) {
		pages := 0
		for _, end := range q.pageEnds {
			if !end.Before(from) && !end.After(until) {
				pages++
			}
		}
		if pages > 1 {
			gaps = append(gaps, gap{apitype.NewTime(from), apitype.NewTime(until)})
		}
	}
	known := []span{{q.openSince(), q.walkedTo}}
	for _, gap := range q.gaps {
		if gap.Until.After(q.walkedTo) {
			from := slices.MaxFunc([]time.Time{gap.From.Time, q.walkedTo}, time.Time.Compare)
			known = append(known, span{from, gap.Until.Time})
		}
	}
	for _, part := range known {
		for _, c := range q.candidates {
			if c.RequestedAt.After(part.from) && c.RequestedAt.Before(part.until) {
				add(part.from, c.RequestedAt)
				part.from = c.RequestedAt
			}
		}
		add(part.from, part.until)
	}
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(b.Until.Sub(b.From.Time), a.Until.Sub(a.From.Time)) })
	gaps = gaps[:min(len(gaps), mostGaps)]
	slices.SortFunc(gaps, func(a, b gap) int { return a.From.Compare(b.From.Time) })
	return gaps
}

// openSince returns when the oldest open call was requested, of those that were walked.
func (q *queue) openSince() time.Time {
	if len(q.candidates) > 0 && q.candidates[0].RequestedAt.Before(q.walkedTo) {
		return q.candidates[0].RequestedAt
	}
	return q.walkedTo
}

// historyFile returns where the history is kept, "" for nowhere.
func (q *queue) historyFile() string {
	if q.StateFile == "" {
		return ""
	}
	return strings.TrimSuffix(q.StateFile, ".json") + "-history.json"
}

func (q *queue) accountDigest() string {
	sum := sha256.Sum256([]byte(q.Outbox.Account()))
	return hex.EncodeToString(sum[:8])
}

// readHistory returns what an earlier start has kept. Without it, or where it cannot be read or
// holds for another account or for a time that is still to come, all calls are walked.
func (q *queue) readHistory() (h history, found bool) {
	path := q.historyFile()
	if path == "" {
		return h, false
	}
	if ReadState(path, &h) != nil {
		return h, false
	}
	return h, h.Account == q.accountDigest() && h.isSound() && !h.KnownAt.After(q.Now())
}

// keepHistory makes what keeps the history as it is known now; nil when it is not known: no
// page was walked, or the walk has not come to the oldest calls.
func (q *queue) keepHistory() func() error {
	path := q.historyFile()
	if path == "" || q.day.leases.usable || q.walkedTo.IsZero() || !q.isInOrder() || len(q.older) > 0 || q.changesMissed {
		return nil
	}
	h := history{Account: q.accountDigest(), OpenSince: apitype.NewTime(q.openSince()), Gaps: q.longestGaps(), KnownAt: q.since}
	for _, end := range q.pageEnds {
		h.PageEnds = append(h.PageEnds, apitype.NewTime(end))
	}
	if offers := q.allowed(q.Now(), q.MaxAttempts, 1, q.isLeftOut); len(offers) > 0 {
		h.OfferedAt = new(apitype.NewTime(offers[0].RequestedAt))
	}
	q.keptAt = q.Now()
	return func() error {
		return WriteState(path, h)
	}
}

// keepHistoryIfDue keeps the history of a desk that is open, every few minutes. One that cannot
// be kept costs the next start a walk.
func (q *queue) keepHistoryIfDue() {
	if q.Now().Sub(q.keptAt) < historyEvery {
		return
	}
	if keep := q.keepHistory(); keep != nil {
		do(&q.events, func(context.Context) (any, error) { return nil, keep() }, func(any, error) {})
	}
}

// ReadState reads what WriteState has kept; where that is nothing, value stays as it is.
func ReadState(path string, value any) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(content, value)
	}
	return err
}

// WriteState keeps a value in a file of the state folder, which is made where it is missing.
func WriteState(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return errors.Join(durable.MakeFolders(filepath.Dir(path)), durable.WriteFile(path, content))
}
