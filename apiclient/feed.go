package apiclient

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Feed reads the changes of a list since a time, in rounds of one or several processes. A Position is the start of the
// next round.
type Feed struct {
	Path  string
	Query url.Values // The filters, except the time.
	Since string     // The filter of the time, such as updatedAfter. Empty for erasures, whose newest come first.
	// Live is a feed that one process reads again and again, from the service's own now. It gives a
	// record without a time once, as any feed does before its first position. After that another feed
	// gives it each time, so that none is lost.
	Live bool
}

// Feed returns the feed of a list by its filter of the time, which o does not set.
func (c *Collection[T, O]) Feed(o O, since string) Feed {
	return Feed{Path: c.path, Query: c.query(o), Since: since}
}

// Position is the start of the next round of a feed.
type Position struct {
	After apitype.Time     `json:"after"`
	Given map[string]Stamp `json:"written"` // The records that the overlap finds again, by UUID.
	// Epoch is the service's epoch of the position. "" takes the epoch of the next answer.
	Epoch string `json:"epoch,omitzero"`
	// Account is the account that read up to the position, if its tokens name one. Another one may see other records.
	Account string `json:"account,omitzero"`
}

// ErrEpoch is in the chain of a round's error if its position is of another epoch.
var ErrEpoch = errors.New("the service was restored or reloaded, or this account may see other records now")

// ErrBehind is in the chain of a round's error if the service's time is before the position.
var ErrBehind = errors.New("the service's clock is before the position")

// Stamp is the version of a record that was given.
type Stamp struct {
	Time    apitype.Time `json:"time"`    // By which the service filters.
	Version string       `json:"version"` // Differs when anything in the record does.
}

// Round is one reading of a feed.
type Round struct {
	Feed
	from    Position
	given   map[string]Stamp
	settled apitype.Time // The service has shown all changes up to this time. Zero if it reports none.
	epoch   string       // Of the first answer; "" if the service names none.
	isMixed bool         // A later answer has another one: the service was restored in between.
	account string       // Whose token reads; "" if it names none.
	date    apitype.Time // The service's own time of the first answer.
	newest  apitype.Time // By which the service filters, of the records so far.
}

// feedOverlap is the time that a round reads back before its position. Clocks differ and may be set back, and a record
// may become visible a little after its time. Repeats are dropped.
const feedOverlap = 120 * time.Second

// maxAhead limits the lead of a service's clock over this machine's. A later time, perhaps of a proxy, would hide
// all changes until then.
const maxAhead = 24 * time.Hour

// From returns the reading of the feed that begins at a position.
func (f Feed) From(p Position) *Round { return &Round{Feed: f, from: p, given: map[string]Stamp{}} }

// Changes yields the records of a round that were not yielded before.
func Changes[T any](ctx context.Context, c *Client, r *Round, o AllOptions) iter.Seq2[Record[T], error] {
	query := maps.Clone(r.Query)
	if begin := r.begin(); !begin.IsZero() && r.Since != "" {
		query.Set(r.Since, begin.String())
	}
	o.Answered = func(header http.Header) { r.answered(header, c.options.Now()) }
	return func(yield func(Record[T], error) bool) {
		// Without a token the request fails, too.
		if name, isNamed, err := c.identity(ctx); err == nil && isNamed {
			r.account = name
		}
		for record, err := range (endpoint[T]{client: c, path: r.Path}).all(ctx, query, o) {
			if refused := r.check(); refused != nil {
				yield(record, refused)
				return
			}
			if err == nil {
				id, at := identify(&record, r.Since, o)
				if at.After(r.newest.Time) {
					r.newest = at
				}
				if r.Since == "" && !at.After(r.begin().Time) {
					return
				}
				if !r.isNew(record.version, id, at) {
					continue
				}
			}
			if !yield(record, err) {
				return
			}
		}
		if refused := r.check(); refused != nil {
			var none Record[T]
			yield(none, refused)
		}
	}
}

// begin returns the time after which a round reads: a while before its position, or the time that the user chose.
// Zero reads everything.
func (r *Round) begin() apitype.Time {
	isChosen := r.from.Given == nil
	if isChosen || r.Live || r.from.After.IsZero() {
		return r.from.After
	}
	return apitype.NewTime(r.from.After.Add(-feedOverlap))
}

// check fails after the first answer if the position does not fit the service: it is of another epoch, or the
// service's time is before it. At a service without epochs the account stands for what it may see. What was changed
// since would be missing. It also fails if the service begins another epoch during the round.
func (r *Round) check() error {
	if r.Live || r.date.IsZero() {
		return nil
	}
	isOther := r.from.Epoch != "" && r.epoch != "" && r.from.Epoch != r.epoch
	isOfAnother := r.epoch == "" && r.from.Account != "" && r.account != "" && r.from.Account != r.account
	isChosen := r.from.Given == nil
	if r.isMixed || !isChosen && (isOther || isOfAnother) {
		return missing(ErrEpoch)
	}
	if !isChosen && r.isBehind() {
		return missing(ErrBehind)
	}
	return nil
}

func missing(cause error) error {
	return &Error{Kind: KindUnavailable, Message: cause.Error() + ": changes since then may be missing", Err: cause}
}

// CheckEpoch fails with ErrEpoch if two positions of one reading are of different epochs.
func CheckEpoch(a, b Position) error {
	if a.Epoch == "" || b.Epoch == "" || a.Epoch == b.Epoch {
		return nil
	}
	return missing(ErrEpoch)
}

// News has the changes of a feed after a time, for a screen that stays up to date.
type News[T any] struct {
	Found []T
	IsCut bool         // There is more, or may be.
	Next  apitype.Time // Where to go on. Recent changes come again, because an older answer may be late.
}

// ReadNews reads the changes of a feed after a time, at most limit records. It leaves out unreadable ones and reports
// them to Options.Omitted.
func ReadNews[T any](ctx context.Context, c *Client, f Feed, after apitype.Time, limit int) (News[T], error) {
	f.Live = true
	round := f.From(Position{After: after})
	var n News[T]
	options := AllOptions{Limit: limit, More: func() { n.IsCut = true }}
	for value, err := range Readable(Changes[T](ctx, c, round, options), c.Omit) {
		if err != nil {
			return n, err
		}
		n.Found = append(n.Found, value)
	}
	n.Next = round.Next().After
	return n, nil
}

// isNew reports whether a record was not yielded before, and remembers records that may come again.
func (r *Round) isNew(version func() string, uuid apitype.UUID, at apitype.Time) bool {
	isOnlyOnce := at.IsZero() && (r.Live || r.keepAfter().IsZero())
	again := at.After(r.keepAfter().Time) || isOnlyOnce
	if !again && len(r.from.Given) == 0 {
		return true
	}
	id, now := uuid.String(), Stamp{at, version()}
	before, given := r.from.Given[id]
	if again {
		if twice, has := r.given[id]; has {
			before, given = twice, true
		}
		r.given[id] = now
	}
	return !given || before != now
}

// answered reads the header of the first answer, and looks for another epoch in a later one.
func (r *Round) answered(header http.Header, now time.Time) {
	epoch := header.Get(apitype.EpochHeader)
	if !r.date.IsZero() {
		r.isMixed = r.isMixed || r.epoch != "" && epoch != "" && epoch != r.epoch
		return
	}
	r.date = apitype.NewTime(now)
	if at, err := http.ParseTime(header.Get("Date")); err == nil && at.Before(now.Add(maxAhead)) {
		r.date = apitype.NewTime(at)
	}
	if at, err := apitype.ParseTime(header.Get(apitype.SettledHeader)); err == nil && at.Before(now.Add(maxAhead)) {
		r.settled = at
	}
	r.epoch = epoch
}

// keepAfter returns the time after which the next round finds records again.
func (r *Round) keepAfter() apitype.Time {
	after := r.after()
	if r.Live || after.IsZero() {
		return after
	}
	return apitype.NewTime(after.Add(-feedOverlap))
}

// after returns the time up to which the round has certainly seen everything: the service's settled time, or else a
// while before the newest record and the service's own time. It is zero before anything was seen.
func (r *Round) after() apitype.Time {
	if !r.settled.IsZero() {
		return r.settled
	}
	if r.newest.IsZero() || r.date.IsZero() {
		return apitype.Time{}
	}
	if r.newest.Before(r.date.Time) {
		return apitype.NewTime(r.newest.Add(-feedOverlap))
	}
	return apitype.NewTime(r.date.Add(-feedOverlap))
}

// isBehind reports whether the service's clock is before the position by more than the overlap. The times of a
// service with epochs never go back, whatever its clock does.
func (r *Round) isBehind() bool {
	return r.epoch == "" && r.date.Add(feedOverlap).Before(r.from.After.Time)
}

// Begun returns the position of a round that has begun and may not end: its start, with the epoch of the service, or
// with the account where the service has no epochs. ok is false if the position already has it, if neither is known, or
// if the user chose the time.
func (r *Round) Begun() (p Position, ok bool) {
	isNew := r.from.Epoch == "" && r.epoch != "" || r.epoch == "" && r.from.Account == "" && r.account != ""
	if !isNew || r.from.Given == nil && !r.from.After.IsZero() {
		return p, false
	}
	p = Position{
		After:   r.from.After,
		Given:   maps.Clone(r.from.Given),
		Epoch:   r.epoch,
		Account: r.account,
	}
	if p.Given == nil {
		p.Given = map[string]Stamp{}
	}
	return p, true
}

// Next returns the position after a round that was read to its end. It never moves back, except for a live feed that
// began after the service's own time.
func (r *Round) Next() Position {
	next := Position{
		After:   r.after(),
		Given:   maps.Clone(r.from.Given),
		Epoch:   r.epoch,
		Account: cmp.Or(r.account, r.from.Account),
	}
	if next.Given == nil {
		next.Given = map[string]Stamp{}
	}
	maps.Copy(next.Given, r.given)
	if next.After.Before(r.from.After.Time) {
		next.After = r.from.After
	}
	if r.Live && r.date.Before(next.After.Time) {
		next.After = r.date
	}
	keepAfter := next.After
	if !r.Live {
		keepAfter = apitype.NewTime(next.After.Add(-feedOverlap))
	}
	maps.DeleteFunc(next.Given, func(_ string, s Stamp) bool {
		return !s.Time.After(keepAfter.Time) && !(r.Live && s.Time.IsZero())
	})
	return next
}

// times are those of any record.
type times struct {
	UUID          apitype.UUID  `json:"uuid"`
	CreatedAt     *apitype.Time `json:"createdAt"`
	RequestedAt   *apitype.Time `json:"requestedAt"`
	LastUpdatedAt *apitype.Time `json:"lastUpdatedAt"`
	UpdatedAt     *apitype.Time `json:"updatedAt"`
	ReleasedAt    *apitype.Time `json:"releasedAt"`
	ErasedAt      *apitype.Time `json:"erasedAt"`
}

// identify returns the uuid of a record, and its time by a filter.
func identify[T any](record *Record[T], since string, o AllOptions) (apitype.UUID, apitype.Time) {
	if o.Identify != nil {
		if id, at, ok := o.Identify(record.Raw); ok {
			return id, at
		}
	}
	times := timesOf(record, o.Decodes)
	return times.UUID, times.by(since)
}

// timesOf reads what there is of them; of a record of which a time cannot be read, only the uuid. If decodes is set,
// it takes them from the decoded record, which it keeps.
func timesOf[T any](record *Record[T], decodes bool) times {
	if decodes {
		value, err := record.Decode()
		if t, isKnown := timesIn(&value); err == nil && isKnown {
			record.decoded = &value
			return t
		}
	}
	raw := record.Raw
	var t times
	if jsonv2.Unmarshal(raw, &t, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		t = times{}
		t.UUID, _ = apitype.RecordUUID(raw)
	}
	return t
}

// timesIn returns the times of a pointer to a decoded record. isKnown is false if it is none with a feed.
func timesIn(record any) (t times, isKnown bool) {
	switch r := record.(type) {
	case *apitype.Person:
		t = times{UUID: r.UUID, CreatedAt: &r.CreatedAt}
	case *apitype.Call:
		t = times{UUID: r.UUID, RequestedAt: &r.RequestedAt, LastUpdatedAt: &r.LastUpdatedAt}
	case *apitype.Pledge:
		t = times{
			UUID:       r.UUID,
			CreatedAt:  &r.CreatedAt,
			UpdatedAt:  &r.UpdatedAt,
			ReleasedAt: r.ReleasedAt.Pointer(),
		}
	case *apitype.ErasedPerson:
		t = times{UUID: r.UUID, ErasedAt: &r.ErasedAt}
	default:
		return t, false
	}
	return t, true
}

// by returns the time that a filter uses, or zero.
func (t times) by(filter string) apitype.Time {
	at := t.CreatedAt
	switch {
	case filter == "":
		at = t.ErasedAt
	case filter == "requestedAfter":
		at = t.RequestedAt
	case filter == "releasedAfter":
		at = t.ReleasedAt
	case filter == "updatedAfter":
		at = cmp.Or(t.LastUpdatedAt, t.UpdatedAt)
	}
	return *cmp.Or(at, new(apitype.Time))
}
