package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	Account   string        `json:"account"`   // A digest: another account may see other calls.
	OpenSince apitype.Time  `json:"openSince"` // No call requested before was open
	KnownAt   apitype.Time  `json:"knownAt"`   // at this time.
	OfferedAt *apitype.Time `json:"offeredAt"` // When the first call was requested that could be offered; nil: none could.
}

// span is a part of the history, by the times at which calls were requested, both ends included.
type span struct {
	from  time.Time // Zero: from the beginning.
	until time.Time // Zero: without an end.
}

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

// remember begins the walk where an earlier start has found the first call to offer. What became
// open before since then is among the changes.
func (q *queue) remember(h history) {
	q.span = span{from: h.OpenSince.Time}
	if h.OfferedAt != nil && h.OfferedAt.After(h.OpenSince.Time) {
		q.older, q.span.from = &span{h.OpenSince.Time, h.OfferedAt.Time}, h.OfferedAt.Time
	}
	q.since, q.changesMissed = h.KnownAt, true
}

// openSince returns when the oldest open call was requested, of those that were walked.
func (q *queue) openSince() time.Time {
	if len(q.candidates) > 0 && q.candidates[0].RequestedAt.Before(q.walkedTo) {
		return q.candidates[0].RequestedAt
	}
	return q.walkedTo
}

// historyEnding ends the name of the file of the history.
const historyEnding = "-history.json"

// Beside returns the file beside the state whose name has an ending; "" where nothing is kept.
func (b *base) Beside(ending string) string {
	return When(b.StateFile != "", strings.TrimSuffix(b.StateFile, ".json")+ending)
}

func (q *queue) accountDigest() string {
	sum := sha256.Sum256([]byte(q.Outbox.Account()))
	return hex.EncodeToString(sum[:8])
}

// readHistory returns what an earlier start has kept. Without it, or where it cannot be read or
// holds for another account or for a time that is still to come, all calls are walked.
func (q *queue) readHistory() (h history, found bool) {
	path := q.Beside(historyEnding)
	if path == "" || ReadState(path, &h) != nil {
		return h, false
	}
	return h, h.Account == q.accountDigest() && !h.OpenSince.IsZero() && !h.KnownAt.IsZero() && !h.KnownAt.After(q.Now())
}

// keepHistory makes what keeps the history as it is known now; nil when it is not known: no
// page was walked, or the walk has not come to the oldest calls.
func (q *queue) keepHistory() func() error {
	path := q.Beside(historyEnding)
	if path == "" || q.day.leases.usable || q.walkedTo.IsZero() || !q.isInOrder() || q.older != nil || q.changesMissed {
		return nil
	}
	h := history{Account: q.accountDigest(), OpenSince: apitype.NewTime(q.openSince()), KnownAt: q.changesFrom}
	if h.KnownAt.IsZero() {
		h.KnownAt = q.since
	}
	if offers := q.allowed(1); len(offers) > 0 {
		h.OfferedAt = new(apitype.NewTime(offers[0].RequestedAt))
	}
	q.keptAt = q.Now()
	return func() error { return WriteState(path, h) }
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
