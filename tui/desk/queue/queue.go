// Package queue chooses the next calls of an agent if the service has no queue of its own.
//
// The interface has no filter for a call's status. So [Walk] reads the list from the newest call on until it has fifty
// calls that may be made, or has read 2,000, and follows what changes. [Spread] gives each agent another order, so that
// few call the same donor. A call is read again right before it is shown. The package does not know the Desk: it is
// handed functions.
package queue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unique"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// How the walk reads the service; PageSize is for all that walks it.
const (
	PageSize = 500  // Records asked for at a time.
	MostRead = 2000 // Calls that one walk reads.
)

// Candidate is a requested call as the list shows it: what choosing needs, and no more.
type Candidate struct {
	ID          apitype.UUID
	Person      apitype.UUID
	Type        apitype.CallType
	RequestedAt time.Time
	Attempts    int
	Due         bool // A callback that is due.
	lastAttempt time.Time
	// Of the person, if the list shows it.
	Name     string
	Numbers  [2]string // Phone numbers, digits only.
	language string
	optedOut bool
}

// CandidateOf returns a call as a candidate.
func CandidateOf(call apitype.Call) Candidate { return newListed(call).Candidate }

// PassedOver is a call that is not offered, and why.
type PassedOver struct {
	ID     apitype.UUID
	Name   string
	Reason string
}

// Desk has the functions that the walk needs of the Desk.
type Desk struct {
	Agent     func() apitype.UUID
	Filter    func() apitype.QueueFilter   // The calls that the agent takes.
	KeepsBack func(call apitype.UUID) bool // A change of the call waits, or was refused.
	Wants     func() bool                  // The agent waits for a call, and it may come now.
	Present   func(apitype.Call)           // Puts a call on the Desk.
	NoneLeft  func(isNone bool)            // Whether the walk has ended, and no call is left.
	Serve     func()                       // Gives the waiting agent a call, from the source in use.
	See       func(kind apitype.CallType, code string)
	OnNews    func(apitype.Call) // A call has changed.
}

// Walk has the requested calls, the newest first. Make it with New. It is not safe for concurrent use.
type Walk struct {
	say.Texts
	Events      *event.Queue
	Connection  *connection.State
	Client      *apiclient.Client
	Now         func() time.Time
	MaxAttempts int // Of a call. Zero if unknown.
	Desk        Desk

	candidates []Candidate
	known      map[apitype.UUID]bool // The candidates.
	dismissed  map[apitype.UUID]bool // Worked on or skipped by the agent in this session.
	skipped    []PassedOver
	reached    map[apitype.UUID]reached // By person, as far as changes show it.

	position
	begun     bool // Begin was called.
	walks     bool // The service has no queue.
	isReading bool // The list is being read.
	isFound   bool // The walk has stopped once: the calls that it found are those that are spread.
	feed      feed

	opening   apitype.UUID // The call that is being read for the Desk. Zero if none is.
	hasFailed bool         // The latest reading of a call had no answer.
}

// reached is the last call of a person, and its time.
type reached struct {
	call apitype.UUID
	at   time.Time
}

// New returns a walk that reads nothing before Begin.
func New(w Walk) *Walk {
	now := w.Now()
	w.known = map[apitype.UUID]bool{}
	w.dismissed = map[apitype.UUID]bool{}
	w.reached = map[apitype.UUID]reached{}
	w.position = position{size: PageSize, now: now}
	w.feed.since = apitype.NewTime(now)
	return &w
}

// listed has the properties of a listed call.
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
			Person:      call.PersonUUID,
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
		l.Numbers = donors.PhoneNumbers(*p)
		l.language = unique.Make(strings.ToLower(apitype.TextOf(p.Language))).Value()
		l.optedOut = p.OptInPhone != nil && !*p.OptInPhone
	}
	return l
}

// Serve gives the waiting agent a call. It reads the call for that, and reads on in the list if none is left.
func (w *Walk) Serve() {
	if !w.begun {
		return
	}
	w.read()
	isBusy := !w.opening.IsZero()
	if !w.isFound || isBusy || !w.Desk.Wants() {
		return
	}
	offers := w.Offers(1)
	if len(offers) == 0 {
		w.Desk.NoneLeft(w.isEnd() && !w.isReading)
		return
	}
	w.opening = offers[0].ID
	event.Do(w.Events, "call read", func(ctx context.Context) (apitype.Call, error) {
		return apiclient.Decoded(w.Client.Calls.Get(ctx, offers[0].ID))
	}, w.onOpened)
}

// Prefetch reads on in the list if few calls are left. A call is read when it is shown.
func (w *Walk) Prefetch() { w.read() }

// onOpened shows the call that was read, or tries the next one if this one is not to be made. If the agent has begun
// something else, the call is read again later.
func (w *Walk) onOpened(call apitype.Call, err error) {
	id := w.opening
	w.opening = apitype.UUID{}
	w.hasFailed = false
	switch {
	case errors.Is(err, apiclient.ErrUnreadable): // The others can be worked on.
		w.Pass(id, "it cannot be read: "+err.Error())
	case err != nil:
		w.Connection.FailRead(w.Say("cannot read call %s", render.ShortID(id)), err)
		if apiclient.KindOf(err) != apiclient.KindNotFound {
			w.hasFailed = true
			return
		}
		w.Drop(id)
	default:
		w.Learn(call)
		if reason := LastingReason(w.Texts, call); reason != "" {
			w.Pass(id, reason)
		}
	}
	if i := w.index(id); i >= 0 && w.mayBeMade(w.candidates[i]) && w.Desk.Wants() {
		w.Desk.Present(call)
		return
	}
	w.Serve()
}

// LastingReason returns why a call is not offered in this session, or an empty text.
func LastingReason(texts say.Texts, call apitype.Call) string {
	if p := call.Person.Pointer(); p != nil && p.OptInPhone != nil && !*p.OptInPhone {
		return card.ReasonOptedOut
	}
	if call.Status != apitype.CallRequested {
		return texts.Say("is %s", texts.Say(string(call.Status)))
	}
	return ""
}

// against returns why a call should not be made now, or an empty text. Reasons by attempts change with the time.
func (w *Walk) against(c Candidate) string {
	return cmp.Or(
		say.When(c.optedOut, card.ReasonOptedOut),
		card.AttemptsReason(w.Texts, w.Now(), c.Attempts, c.lastAttempt, w.MaxAttempts),
		w.ReachedReason(c.ID, c.Person),
	)
}

// ReachedReason returns that a person was called lately on another call: an attempt or a completion by any agent.
func (w *Walk) ReachedReason(call, person apitype.UUID) string {
	r, known := w.reached[person]
	ago := w.Now().Sub(r.at)
	if !known || r.call == call || ago >= card.AttemptPause {
		return ""
	}
	return w.Say("called %s ago on another call, less than 4 hours", w.Say(card.DurationText(ago)))
}

// Learn takes one call in, as it is now.
func (w *Walk) Learn(call apitype.Call) { w.record(newListed(call)) }

func (w *Walk) record(l listed) {
	w.Desk.See(l.Type, l.code)
	c := l.Candidate
	if l.contacted.After(w.position.now.Add(-card.AttemptPause)) && l.contacted.After(w.reached[c.Person].at) {
		w.reached[c.Person] = reached{c.ID, l.contacted}
	}
	if !l.requested {
		w.Drop(c.ID)
		return
	}
	if w.known[c.ID] {
		if i := w.index(c.ID); i >= 0 {
			if !l.withPerson {
				was := w.candidates[i]
				c.Name, c.Numbers, c.language, c.optedOut = was.Name, was.Numbers, was.language, was.optedOut
			}
			w.candidates[i] = c
		}
		return
	}
	w.known[c.ID] = true
	i, _ := slices.BinarySearchFunc(
		w.candidates,
		c,
		func(a, b Candidate) int { return b.RequestedAt.Compare(a.RequestedAt) },
	)
	for i < len(w.candidates) && w.candidates[i].RequestedAt.Equal(c.RequestedAt) {
		i++
	}
	w.candidates = slices.Insert(w.candidates, i, c)
}

func (w *Walk) index(id apitype.UUID) int {
	return slices.IndexFunc(w.candidates, func(c Candidate) bool { return c.ID == id })
}

// Drop forgets a call that is no longer requested.
func (w *Walk) Drop(id apitype.UUID) {
	if !w.known[id] { // Most calls of a list ended long ago: nothing is kept of them.
		return
	}
	delete(w.known, id)
	if i := w.index(id); i >= 0 {
		w.candidates = slices.Delete(w.candidates, i, i+1)
	}
}

// Known returns the requested calls that are known; all reports whether there are no others.
func (w *Walk) Known() (known []Candidate, all bool) { return w.candidates, w.isLast }

// HasNext reports whether Serve has a call that can be read.
func (w *Walk) HasNext() bool { return w.isFound && !w.hasFailed && len(w.Offers(1)) > 0 }

// Others returns how many other requested calls are known of a person, in the queue and of the pledge, and how many of
// other persons with one of the numbers.
func (w *Walk) Others(call apitype.Call) (ofPerson, ofNumber int) {
	var numbers [2]string
	if p := call.Person.Pointer(); p != nil {
		numbers = donors.PhoneNumbers(*p)
	}
	for _, c := range w.candidates {
		switch {
		case c.ID == call.UUID:
		case c.Person == call.PersonUUID:
			ofPerson++
		case sameNumber(c.Numbers, numbers):
			ofNumber++
		}
	}
	if pledge := call.PledgeCase.Pointer(); pledge != nil {
		for _, other := range pledge.Calls.Value() {
			isOther := other.Status == apitype.CallRequested && other.UUID != call.UUID
			if isOther && w.index(other.UUID) < 0 {
				ofPerson++
			}
		}
	}
	return ofPerson, ofNumber
}

func sameNumber(a, b [2]string) bool {
	return slices.ContainsFunc(a[:], func(number string) bool { return number != "" && slices.Contains(b[:], number) })
}

// isLeftOut reports whether a call is kept back, or is not one that the agent takes.
func (w *Walk) isLeftOut(c Candidate) bool {
	f := w.Desk.Filter()
	isOtherType := len(f.Types) > 0 && !slices.Contains(f.Types, c.Type)
	isOtherLanguage := len(f.Languages) > 0 && c.language != "" && !slices.Contains(f.Languages, c.language)
	return isOtherType || isOtherLanguage || w.Desk.KeepsBack(c.ID)
}

// mayBeMade reports whether a call may be made now.
func (w *Walk) mayBeMade(c Candidate) bool {
	return !w.dismissed[c.ID] && w.against(c) == "" && !w.isLeftOut(c)
}

// Offers returns the calls that come next, up to limit, in the order of this agent. See Spread.
func (w *Walk) Offers(limit int) []Candidate {
	var found []Candidate
	for _, c := range w.candidates {
		if len(found) == spreadOver {
			break
		}
		if w.mayBeMade(c) {
			found = append(found, c)
		}
	}
	found = Spread(w.Desk.Agent().String(), found, func(c Candidate) apitype.UUID { return c.ID })
	return found[:min(len(found), limit)]
}

// PassedOver returns why the known calls are passed over now, for the agent to see.
func (w *Walk) PassedOver() []PassedOver {
	all := slices.Clone(w.skipped)
	for _, c := range w.candidates {
		if reason := w.against(c); reason != "" && !w.dismissed[c.ID] {
			all = append(all, PassedOver{ID: c.ID, Name: c.Name, Reason: reason})
		}
	}
	return all
}

// Pass notes that a call is not offered again in this session, and why. Without a reason it is not listed.
func (w *Walk) Pass(id apitype.UUID, reason string) {
	w.dismissed[id] = true
	if reason == "" {
		return
	}
	over := PassedOver{ID: id, Reason: reason}
	if i := w.index(id); i >= 0 {
		over.Name = w.candidates[i].Name
	}
	w.skipped = append(w.skipped, over)
}

// Restore lets a call be offered again that Pass has excluded.
func (w *Walk) Restore(id apitype.UUID) { w.dismissed[id] = false }
