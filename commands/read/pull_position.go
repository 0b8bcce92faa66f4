package read

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// pullOverlap is how far the next pull begins before what was seen, where the service does not say up to
// when its changes are settled: clocks differ, and a record may become visible a little after its time.
const pullOverlap = 120 * time.Second

// position is what a pull leaves for the next one.
type position struct {
	Service string           `json:"service"`
	Query   string           `json:"query"` // The filters: another pull must not go on here.
	After   apitype.Time     `json:"after"`
	Written map[string]stamp `json:"written"` // What the next pull will see again, by uuid.
}

// stamp is the version of a record that was written.
type stamp struct {
	Time    apitype.Time `json:"time"` // By which the service filters.
	Version string       `json:"version"`
}

// stamped are the times of any record, and what else tells two of its versions apart where
// a service keeps times in whole seconds.
type stamped struct {
	UUID          apitype.UUID   `json:"uuid"`
	Status        jsontext.Value `json:"status"`
	AttemptsCount jsontext.Value `json:"attemptsCount"`
	CreatedAt     *apitype.Time  `json:"createdAt"`
	RequestedAt   *apitype.Time  `json:"requestedAt"`
	LastUpdatedAt *apitype.Time  `json:"lastUpdatedAt"`
	UpdatedAt     *apitype.Time  `json:"updatedAt"`
	ReleasedAt    *apitype.Time  `json:"releasedAt"`
	ErasedAt      *apitype.Time  `json:"erasedAt"`
}

// stampedOf reads what there is of them: a record of which a time cannot be read is written each
// time that it comes.
func stampedOf(raw json.RawMessage) (r stamped) {
	if jsonv2.Unmarshal(raw, &r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		r = stamped{}
		r.UUID, _ = apitype.RecordUUID(raw)
	}
	return r
}

// version tells a record that changed from the same one.
func (r stamped) version() string {
	parts := []string{string(r.Status), string(r.AttemptsCount)}
	for _, t := range []*apitype.Time{r.LastUpdatedAt, r.UpdatedAt, r.ReleasedAt} {
		if t != nil {
			parts = append(parts, t.String())
		}
	}
	return strings.Join(parts, " ")
}

// load reads the position of the last pull, if there is one.
func (p *position) load(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cli.Failure(apiclient.KindFailure, "read the position: %s", err)
	}
	var last position
	if err := json.Unmarshal(data, &last); err != nil {
		return cli.WithHint(cli.Failure(apiclient.KindFailure, "the file %s holds no position of a pull", path), "remove it to begin from the start")
	}
	if last.Service != p.Service || last.Query != p.Query {
		return cli.UsageError("the file " + path + " belongs to a pull with another service or other filters")
	}
	*p = last
	return nil
}

// keepable reports why a position cannot be kept, before anything is printed or marked.
func keepable(path string) error {
	folder := filepath.Dir(path)
	for _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder); _, err = os.Stat(folder) {
		folder = filepath.Dir(folder) // It is made with the position, and flushed.
	}
	probe, err := os.CreateTemp(folder, ".probe-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return cli.WithHint(cli.Failure(apiclient.KindFailure, "the position cannot be kept: %s", err), "name another file by --state; nothing was retrieved")
	}
	return nil
}

// maxAhead is how far a service's clock may be ahead of this machine's. A time beyond that,
// of whatever stands in between, would hide all that comes until then.
const maxAhead = 24 * time.Hour

// began is the service's own time of the first answer: its clock sets the times that
// it filters by.
func began(header http.Header, now time.Time) time.Time {
	if at, err := http.ParseTime(header.Get("Date")); err == nil && at.Before(now.Add(maxAhead)) {
		return at
	}
	return now
}

// horizon is how far a pull may be sure to have seen everything.
type horizon struct {
	settled, date apitype.Time // Of the first answer; settled is zero where the service does not say it.
	newest        apitype.Time // By which the service filters, of the records so far.
}

// answered reads the first answer's header.
func (h *horizon) answered(header http.Header, now time.Time) {
	if !h.date.IsZero() {
		return
	}
	h.date = apitype.NewTime(began(header, now))
	if at, err := apitype.ParseTime(header.Get(apitype.SettledHeader)); err == nil && at.Before(now.Add(maxAhead)) {
		h.settled = at
	}
}

// saw notes a record.
func (h *horizon) saw(at apitype.Time) {
	if at.After(h.newest.Time) {
		h.newest = at
	}
}

// after returns the position: what the service says, or else a while before the newest record and the
// service's own time. It is zero before anything was seen.
func (h *horizon) after() apitype.Time {
	switch {
	case !h.settled.IsZero():
		return h.settled
	case h.newest.IsZero() || h.date.IsZero():
		return apitype.Time{}
	case h.newest.Before(h.date.Time):
		return apitype.NewTime(h.newest.Add(-pullOverlap))
	default:
		return apitype.NewTime(h.date.Add(-pullOverlap))
	}
}

// forget keeps only what the next pull will see again. The position never moves back.
func (p *position) forget(last position) {
	if p.After.Before(last.After.Time) {
		p.After = last.After
	}
	for id, version := range last.Written {
		if _, again := p.Written[id]; !again {
			p.Written[id] = version
		}
	}
	maps.DeleteFunc(p.Written, func(_ string, v stamp) bool { return !v.Time.After(p.After.Time) })
}
