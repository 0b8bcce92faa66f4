package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unique"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/say"
)

// How the queue reads the service; WalkPage is for all that walks it.
const (
	WalkPage      = 500 // Records asked for at a time.
	queueEnough   = 60  // Candidates that are enough for now.
	queuePrefetch = 3   // Calls read ahead of the agent.
)

// Candidate is a requested call as the list shows it: what choosing needs, and no more.
type Candidate struct {
	ID          apitype.UUID
	Type        apitype.CallType
	RequestedAt time.Time
	Attempts    int
	Due         bool // A callback that is due.
	person      apitype.UUID
	lastAttempt time.Time
	// Of the person, if the list shows it.
	Name     string
	numbers  [2]string // Phone numbers, digits only.
	language string
	optedOut bool
}

// PassedOver is a call that is not offered, and why.
type PassedOver struct {
	ID     apitype.UUID
	Name   string
	Reason string
}

// queue has the requested calls, the oldest first. The interface has no filter for a
// call's status: the queue walks the list from its oldest end and keeps what it read.
type queue struct {
	*base
	*showing
	seat   *seat
	leases *leases
	codes  *floor.Codes
	// isChanged reports whether a change of a call waits.
	isChanged func(call apitype.UUID) bool

	candidates []Candidate
	known      map[apitype.UUID]bool         // The candidates.
	prefetched map[apitype.UUID]apitype.Call // Read before they are asked for.
	fetching   map[apitype.UUID]bool
	dismissed  map[apitype.UUID]bool // Worked on or skipped by the agent in this session.
	skipped    []PassedOver

	position
	walking bool
	ended   bool
	since   apitype.Time // Changes up to this time are known, by our clock. changesFrom has more.
	// changesFrom is the position of the feed of changes. Zero before the first reading.
	changesFrom apitype.Time
	reached     map[apitype.UUID]reached // By person, as far as changes show it.
}

// reached is the last call of a person, and its time.
type reached struct {
	call apitype.UUID
	at   time.Time
}

func newQueue(b *base, at *seat, show *showing, l *leases, codes *floor.Codes) *queue {
	now := b.Now()
	return &queue{
		base: b, seat: at, showing: show, leases: l, codes: codes,
		known: map[apitype.UUID]bool{}, prefetched: map[apitype.UUID]apitype.Call{},
		fetching: map[apitype.UUID]bool{}, dismissed: map[apitype.UUID]bool{}, reached: map[apitype.UUID]reached{},
		position: position{size: WalkPage, now: now}, since: apitype.NewTime(now),
	}
}

// listed has the properties of a call that the queue uses.
type listed struct {
	Candidate
	requested  bool
	withPerson bool   // The person was shown.
	code       string // Of the result. Empty without one.
	contacted  time.Time
}

func newListed(call apitype.Call) listed {
	l := listed{
		Candidate: Candidate{
			ID:          call.UUID,
			person:      call.PersonUUID,
			Type:        unique.Make(call.Type).Value(),
			RequestedAt: call.RequestedAt.Time,
			Attempts:    call.AttemptsCount,
			lastAttempt: card.LastAttempt(call),
		},
		requested: call.Status == apitype.CallRequested,
		code:      apitype.TextOf(call.Result.Value().ResultCode),
		contacted: card.LastAttempt(call),
	}
	if at := call.CompletedAt; call.Status == apitype.CallCompleted && at != nil && at.After(l.contacted) {
		l.contacted = at.Time
	}
	if p := call.Person.Pointer(); p != nil {
		l.withPerson = true
		l.Name = render.PersonName(*p)
		l.numbers = donors.PhoneNumbers(*p)
		l.language = unique.Make(strings.ToLower(apitype.TextOf(p.Language))).Value()
		l.optedOut = p.OptInPhone != nil && !*p.OptInPhone
	}
	return l
}

// position is the position of the walk.
type position struct {
	cursor  string // Up to there everything was read.
	size    int
	bare    bool      // The account may not read persons.
	forward bool      // From the newest call on: the service does not begin at the oldest.
	now     time.Time // When the walk began.
}

// read lists calls with their persons, or without if the account may not read them. Spec gap: A3.
func (p *position) read(ctx context.Context, client *apiclient.Client) (apiclient.Page[apitype.Call], error) {
	o := apitype.CallListOptions{Paging: apitype.Paging{Before: p.cursor, Last: &p.size}}
	if p.forward {
		o.Paging = apitype.Paging{After: p.cursor, First: &p.size}
	}
	if !p.bare {
		o.Include = []string{apitype.IncludePerson}
		page, err := client.Calls.List(ctx, o)
		if apiclient.KindOf(err) != apiclient.KindForbidden {
			return page, err
		}
		p.bare, o.Include = true, nil
	}
	return client.Calls.List(ctx, o)
}

// walked is one page of the walk.
type walked struct {
	calls      []listed // The oldest first.
	from, next position
	more       bool
}

// walkPage reads the page of calls at a position, from the oldest end of the list: last
// without before gives the oldest ones. A service that refuses that, or begins at the
// newest anyway, is walked from there. Spec gaps: L1, L2.
func walkPage(ctx context.Context, client *apiclient.Client, from position) (walked, error) {
	at := from
	page, err := at.read(ctx, client)
	if page.Fewer > 0 {
		at.size = page.Fewer
	}
	if from.cursor == "" && !at.forward &&
		(apiclient.KindOf(err) == apiclient.KindRejected || err == nil && page.HasNextPage) {
		at.forward = true
		page, err = at.read(ctx, client)
	}
	if err != nil {
		return walked{}, err
	}
	calls := apiclient.Rows(page, newListed)
	slices.Reverse(calls)
	more := page.MayHavePrevious()
	if at.cursor = page.StartCursor; at.forward {
		at.cursor, more = page.EndCursor, page.HasNextPage
	}
	// A cursor that does not advance would never end the walk.
	return walked{calls: calls, from: from, next: at, more: more && at.cursor != "" && at.cursor != from.cursor}, nil
}

// add takes a page of the walk in.
func (q *queue) add(w walked) {
	cursor := q.cursor
	if w.from.cursor == cursor { // Otherwise the walk began again.
		if q.ended = !w.more; w.more {
			cursor = w.next.cursor
		}
	}
	q.position = w.next
	q.cursor = cursor
	for _, call := range w.calls {
		q.record(call)
	}
}

// rewalk begins the walk again. Known calls stay, and missed ones are added.
func (q *queue) rewalk() { q.cursor, q.ended = "", false }

// isInOrder reports whether the oldest waiting call is known.
func (q *queue) isInOrder() bool { return !q.forward || q.ended }

// learn takes one call in, as it is now.
func (q *queue) learn(call apitype.Call) { q.record(newListed(call)) }

// against returns why a call should not be made now, or an empty text.
func (q *queue) against(c Candidate) string {
	return cmp.Or(
		say.When(c.optedOut, card.ReasonOptedOut),
		card.AttemptsReason(q.Texts, q.Now(), c.Attempts, c.lastAttempt, q.MaxAttempts),
		q.reachedReason(c.ID, c.person),
	)
}

// reachedReason returns that a person was called lately on another call: an attempt or a completion by any agent.
func (q *queue) reachedReason(call, person apitype.UUID) string {
	r, known := q.reached[person]
	ago := q.Now().Sub(r.at)
	if !known || r.call == call || ago >= card.AttemptPause {
		return ""
	}
	return q.Say("called %s ago on another call, less than 4 hours", q.Say(card.DurationText(ago)))
}

func (q *queue) record(l listed) {
	q.codes.See(l.Type, l.code)
	c := l.Candidate
	if l.contacted.After(q.position.now.Add(-card.AttemptPause)) && l.contacted.After(q.reached[c.person].at) {
		q.reached[c.person] = reached{c.ID, l.contacted}
	}
	if !l.requested {
		q.drop(c.ID)
		return
	}
	if q.known[c.ID] {
		if i := q.index(c.ID); i >= 0 {
			if !l.withPerson {
				was := q.candidates[i]
				c.Name, c.numbers, c.language, c.optedOut = was.Name, was.numbers, was.language, was.optedOut
			}
			q.candidates[i] = c
		}
		return
	}
	q.known[c.ID] = true
	i, _ := slices.BinarySearchFunc(
		q.candidates,
		c,
		func(a, b Candidate) int { return a.RequestedAt.Compare(b.RequestedAt) },
	)
	for i < len(q.candidates) && q.candidates[i].RequestedAt.Equal(c.RequestedAt) {
		i++
	}
	q.candidates = slices.Insert(q.candidates, i, c)
}

func (q *queue) index(id apitype.UUID) int {
	return slices.IndexFunc(q.candidates, func(c Candidate) bool { return c.ID == id })
}

// drop forgets a call that is no longer requested.
func (q *queue) drop(id apitype.UUID) {
	delete(q.prefetched, id)
	if !q.known[id] { // Most calls of a list ended long ago: nothing is kept of them.
		return
	}
	delete(q.known, id)
	if i := q.index(id); i >= 0 {
		q.candidates = slices.Delete(q.candidates, i, i+1)
	}
}

// others returns how many other requested calls are known of a person, and how many of
// other persons with one of the numbers.
func (q *queue) others(call apitype.Call) (ofPerson, ofNumber int) {
	var numbers [2]string
	if p := call.Person.Pointer(); p != nil {
		numbers = donors.PhoneNumbers(*p)
	}
	for _, c := range q.candidates {
		switch {
		case c.ID == call.UUID:
		case c.person == call.PersonUUID:
			ofPerson++
		case sameNumber(c.numbers, numbers):
			ofNumber++
		}
	}
	return ofPerson, ofNumber
}

func sameNumber(a, b [2]string) bool {
	return slices.ContainsFunc(a[:], func(number string) bool { return number != "" && slices.Contains(b[:], number) })
}

// allowed returns the candidates that the list does not exclude, in order, up to limit.
func (q *queue) allowed(limit int) []Candidate {
	var found []Candidate
	for _, c := range q.candidates {
		if q.dismissed[c.ID] || q.against(c) != "" || q.isLeftOut(c) {
			continue
		}
		if found = append(found, c); len(found) == limit {
			break
		}
	}
	return found
}

// offers spreads what is allowed over the agents of a service without a queue: see Spread.
func (q *queue) offers(limit int) []Candidate {
	found := q.allowed(max(limit, spreadOver))
	found = Spread(q.leases.agent().String(), found, func(c Candidate) apitype.UUID { return c.ID })
	return found[:min(len(found), limit)]
}

// reasons returns why the known calls are passed over now, for the agent to see.
func (q *queue) reasons() []PassedOver {
	all := slices.Clone(q.skipped)
	for _, c := range q.candidates {
		if reason := q.against(c); reason != "" && !q.dismissed[c.ID] {
			all = append(all, PassedOver{ID: c.ID, Name: c.Name, Reason: reason})
		}
	}
	return all
}

// pass notes that a call is not offered again in this session, and why.
func (q *queue) pass(id apitype.UUID, reason string) {
	q.dismissed[id] = true
	delete(q.prefetched, id)
	if reason == "" {
		return
	}
	over := PassedOver{ID: id, Reason: reason}
	if i := q.index(id); i >= 0 {
		over.Name = q.candidates[i].Name
	}
	q.skipped = append(q.skipped, over)
}
