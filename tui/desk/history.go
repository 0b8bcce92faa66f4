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

// historyEvery is how often an open Desk saves its history.
const historyEvery = 5 * time.Minute

// history has the times of the calls of a service without a queue, so that a start need not walk all of them again.
type history struct {
	Account   string        `json:"account"`   // A digest: another account may see other calls.
	OpenSince apitype.Time  `json:"openSince"` // No call requested before was open
	KnownAt   apitype.Time  `json:"knownAt"`   // at this time.
	OfferedAt *apitype.Time `json:"offeredAt"` // When the first offered call was requested. Nil without one.
}

// span is a part of the history, by the times at which calls were requested, both ends included.
type span struct {
	from  time.Time // Zero means the beginning.
	until time.Time // Zero means no end.
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

// remember begins the walk at the first call that an earlier start could offer. The feed of changes has calls that
// became open since then.
func (q *queue) remember(h history) {
	q.span = span{from: h.OpenSince.Time}
	if h.OfferedAt != nil && h.OfferedAt.After(h.OpenSince.Time) {
		q.older, q.span.from = &span{h.OpenSince.Time, h.OfferedAt.Time}, h.OfferedAt.Time
	}
	q.since, q.changesMissed = h.KnownAt, true
}

// openSince returns the time of request of the oldest open call among the walked ones.
func (q *queue) openSince() time.Time {
	if len(q.candidates) > 0 && q.candidates[0].RequestedAt.Before(q.walkedTo) {
		return q.candidates[0].RequestedAt
	}
	return q.walkedTo
}

// historyEnding ends the name of the file of the history.
const historyEnding = "-history.json"

// Beside returns the file beside the state whose name has an ending, or an empty text if nothing is saved.
func (b *base) Beside(ending string) string {
	return When(b.StateFile != "", strings.TrimSuffix(b.StateFile, ".json")+ending)
}

func (q *queue) accountDigest() string {
	sum := sha256.Sum256([]byte(q.Outbox.Account()))
	return hex.EncodeToString(sum[:8])
}

// readHistory returns the history of an earlier start. If there is none, or it is unreadable, or of another account or
// a future time, all calls are walked.
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

// ReadState reads a value that WriteState has saved. Without one, value stays as it is.
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

// WriteState saves a value in a file of the state folder, which it makes if necessary.
func WriteState(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return errors.Join(durable.MakeFolders(filepath.Dir(path)), durable.WriteFile(path, content))
}
