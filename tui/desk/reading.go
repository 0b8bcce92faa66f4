package desk

import (
	"cmp"
	"context"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/transition"
)

// reread reads the call on the Desk or for it, its draft and its lease. asked is the number of keys that had come when
// the agent asked for the call.
func (s *seat) reread(id apitype.UUID, asked int) {
	v := s.visit
	asks := &reading{id: id, asked: asked}
	v.reading = asks
	call := apitype.Call{UUID: id}
	if s.IsOn(id) {
		call = *s.Call
	}
	opening := s.Leases.Opening(call, v.unleased == id, v.locked() == id)
	if opening.Locks {
		v.lockedBy = asks
	}
	consented := s.known.Consents.Person
	event.Do(s.Queue, "call read", func(ctx context.Context) (callRead, error) {
		draft, found, err := s.Outbox.Draft(id)
		read := callRead{reading: asks, torn: err}
		if found {
			read.draft = &draft
		}
		read.opened = opening.Ask(ctx)
		read.call, err = apiclient.Decoded(s.Client.Calls.Get(ctx, id))
		if err != nil {
			return read, err
		}
		if read.opened.Lease != nil {
			read.opened.Lease.Call = read.call
		}
		if read.call.PersonUUID != consented {
			read.consents = readConsents(ctx, s.Client, read.call.PersonUUID)
		}
		return read, nil
	}, s.onReread)
}

// onReread takes in a reading of the call on the desk, unless it is a stale one.
func (s *seat) onReread(read callRead, err error) {
	isLeft := s.locked() != read.id
	read.isAnswered = true
	opened := read.opened
	if opened.Takes() {
		if !opened.IsUnanswered() && s.unleased == read.id {
			s.unleased = apitype.UUID{}
		}
		s.Pause.MeetsLease()
	}
	s.Leases.Keep(opened, s.isCurrent(read.reading), isLeft)
	if s.isCurrent(read.reading) {
		read.renews = s.IsStale()
		if err == nil && !opened.IsUnanswered() { // A reading that failed refreshes nothing.
			s.refresh()
		}
		s.Leases.See(opened)
	}
	switch isElsewhere := opened.IsElsewhere && read.reading == s.lockedBy; {
	case isElsewhere && s.Call == nil:
		s.visit = new(visit) // No other reading of it counts.
		text := s.Say("call %s is already open in another terminal", render.ShortID(read.id))
		s.Notify(event.Notice{Level: event.Urgent, Text: text})
	case isElsewhere:
		s.Walk.Pass(read.id, "open in another terminal")
		s.Transitions.ReplaceStale(s.Say("%s is already open in another terminal", s.Name()), read.asked)
	case s.isCurrent(read.reading):
		s.onRead(read, err)
	}
}

// onRead shows the present call. If it was ended elsewhere, it shows that and offers the next one.
func (s *seat) onRead(read callRead, err error) {
	if err != nil && s.IsOpening() {
		s.become(stateEmpty)
	}
	if read.torn != nil {
		s.FailOf(
			event.OfCall(read.id),
			event.ErrorText(s.Say("cannot read what was typed for call %s", render.ShortID(read.id)), read.torn),
		)
	}
	if apiclient.KindOf(err) == apiclient.KindNotFound {
		s.Walk.Drop(read.id)
		text := s.Say("call %s is no longer there", render.ShortID(read.id))
		if s.Call == nil {
			s.Fail(text, nil)
		} else {
			s.Transitions.ReplaceStale(text, read.asked)
		}
		return
	}
	if !s.IsRead(s.Say("cannot read call %s", render.ShortID(read.id)), err) {
		return
	}
	s.Walk.Learn(read.call)
	if s.Call == nil {
		s.Transitions.Apply(transition.Transition{Asked: s.askedAt, Run: func() { s.show(read) }})
		return
	}
	s.show(read)
}

// show shows the call that was read, unless the Desk has another call by now.
func (s *seat) show(read callRead) {
	if !s.isCurrent(read.reading) {
		return
	}
	before, was := s.Call, cmp.Or(s.latest, s.Call)
	s.visit.show(read, s.keepsDetails(before, read))
	if s.known.IsErased {
		s.Over(event.OfCall(read.id)) // No message names the donor, whom no other agent calls either.
	}
	s.noteCallback()
	s.pickScript()
	if before == nil {
		s.Keys.Show(s.Now())
	}
	if before == nil || s.Draft().IsEmpty() {
		s.openForm(read.id, read.draft)
	}
	s.compare(before, was, read.asked)
	s.source().Prefetch()
}

// keepsDetails reports whether the card stays as it is, and changes from elsewhere are only offered. A requested
// reading, a first reading and an erasure show at once.
func (s *seat) keepsDetails(before *apitype.Call, read callRead) bool {
	if before == nil || read.renews || s.Transitions.IsAsked(read.asked) {
		return false
	}
	wasShown := before.Person.Pointer() != nil && !before.PledgeCase.IsZero()
	return wasShown && read.call.Person.Pointer() != nil
}

// compare reports changes of the call on the Desk by others since it was listed. was is the record's earlier reading.
func (s *seat) compare(before, was *apitype.Call, asked int) {
	if before == nil || s.Changes.IsPending(s.Call.UUID) {
		return
	}
	switch now := s.Call; {
	case before.Status == apitype.CallRequested && now.Status != apitype.CallRequested:
		text := s.Say("%s: %s elsewhere", s.Name(), s.Say(string(now.Status)))
		s.Over(event.OfCall(now.UUID)) // No other agent calls for it either.
		if s.HasDraft() {
			s.FailOf(event.OfCall(now.UUID), text+"; "+s.Say("what you typed stays here"))
			return
		}
		s.Walk.Pass(now.UUID, "")
		s.Changes.Recent.Add(
			changes.Recent{
				Call: now.UUID,
				Name: s.Name(),
				At:   s.Now(),
				What: s.Say("ended by another agent"),
				Fate: changes.FateEnded,
			},
		)
		s.Leases.Release(now.UUID)
		s.Transitions.ReplaceStale(text, asked)
	case now.AttemptsCount > before.AttemptsCount:
		s.SayOf(now.UUID, "another agent has called %s since the call was listed", s.Name())
	default:
		s.tellChanged(s.Form().ChangedDetails(*was, *cmp.Or(s.latest, s.Call)))
	}
}

// tellChanged shows which details were changed elsewhere. It offers details that are not on the card.
func (s *seat) tellChanged(labels []string) {
	if len(labels) == 0 {
		return
	}
	text := s.Say("the record of %s was changed elsewhere: %s", s.Name(), strings.Join(labels, ", "))
	if s.latest == nil {
		s.SayOf(s.Call.UUID, "%s", text)
		return
	}
	s.Transitions.Propose(transition.Transition{
		Text: text,
		Does: "shows it",
		Of:   s.Call.UUID,
		Run:  s.showLatest,
	})
}
