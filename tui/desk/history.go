package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	Account   string       `json:"account"`   // A digest: another account may see other calls.
	OpenSince apitype.Time `json:"openSince"` // No call requested before was open
	KnownAt   apitype.Time `json:"knownAt"`   // at this time, by our clock.
}

// historyFile is where the history is kept, "" for nowhere.
func (d *Day) historyFile() string {
	if d.StateFile == "" {
		return ""
	}
	return strings.TrimSuffix(d.StateFile, ".json") + "-history.json"
}

func (d *Day) accountDigest() string {
	sum := sha256.Sum256([]byte(d.Outbox.Account()))
	return hex.EncodeToString(sum[:8])
}

// readHistory is what an earlier start has kept. Without it, or where it cannot be read or
// holds for another account or for a time that is still to come, all calls are walked.
func (d *Day) readHistory() (h history, found bool) {
	path := d.historyFile()
	if path == "" {
		return h, false
	}
	content, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(content, &h) != nil {
		return h, false
	}
	return h, h.Account == d.accountDigest() && !h.OpenSince.IsZero() && !h.KnownAt.IsZero() && !h.KnownAt.After(d.Now())
}

// keepHistory makes what keeps the history as it is known now; nil when it is not known: no
// page was walked, or the walk has not come to the oldest calls.
func (d *Day) keepHistory() func() error {
	q, path := d.queue, d.historyFile()
	if path == "" || d.leases.usable || q.walkedTo.IsZero() || !q.isInOrder() || q.changesMissed {
		return nil
	}
	h := history{Account: d.accountDigest(), OpenSince: apitype.NewTime(q.walkedTo), KnownAt: q.since}
	if len(q.candidates) > 0 && q.candidates[0].RequestedAt.Before(q.walkedTo) {
		h.OpenSince = apitype.NewTime(q.candidates[0].RequestedAt)
	}
	q.keptAt = d.Now()
	return func() error {
		return WriteState(path, h)
	}
}

// keepHistoryIfDue keeps the history of a desk that is open, every few minutes. One that cannot
// be kept costs the next start a walk.
func (d *Day) keepHistoryIfDue() {
	if d.Now().Sub(d.queue.keptAt) < historyEvery {
		return
	}
	if keep := d.keepHistory(); keep != nil {
		d.do(0, func(context.Context) (any, error) { return historyKept{}, keep() })
	}
}

// WriteState keeps a value in a file of the state folder, which is made where it is missing.
func WriteState(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return errors.Join(durable.MakeFolders(filepath.Dir(path)), durable.WriteFile(path, content))
}
