package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/lease"
)

// state is the state of a visit. Only [visit.become] changes it.
//
//	from          event                                   to
//	empty         the agent wants the next call           waiting
//	empty         the agent opens a certain call          opening
//	empty         an ended call comes back by an undo     listed
//	waiting       the source has no call                  noneLeft, and back once it may have one
//	waiting       the source brings a call                listed
//	opening       the call was read, or cannot be read    read, or empty
//	listed        the call was read                       read
//	listed, read  the computer slept                      listedStale, readStale
//	…Stale        the call and its lease were read        read
//	…Stale        the call alone was read                 readStale
type state int

// The states of a visit.
const (
	stateEmpty       state = iota // No call, and none is asked for.
	stateWaiting                  // The agent waits for the next call.
	stateNoneLeft                 // The same, and there is none.
	stateOpening                  // A certain call is being read for the agent.
	stateListed                   // The call is on the card as the list has it, and is being read.
	stateRead                     // The call is on the card as it was read.
	stateListedStale              // The same as listed, before the computer slept.
	stateReadStale                // The same as read, before the computer slept.
)

// visit is the work on one call, from the moment when the agent asks for it until it leaves the Desk. What a reading
// brings belongs to the visit that asked, and is dropped if another one has begun. An empty visit waits for a call.
type visit struct {
	Call *apitype.Call // Nil without one.

	state    state
	latest   *apitype.Call // The newest reading. Nil if Call is the newest.
	reading  *reading      // The latest one: earlier ones are dropped. Nil before there is one.
	lockedBy *reading      // The one that keeps the call from the agent's other terminals. Nil if none does.
	// unleased is the call if the agent opened it without a lease so far. Zero if it has one, or the service refused
	// it.
	unleased apitype.UUID
	known    card.Known

	entered entry.Entered
	undone  *changes.Group // The undone change of the call. Nil without one.
	progress

	// results are the results of the call, which keep their digits while it is on the Desk. Nil before they were asked
	// for.
	results []apitype.ResultChoice
}

// progress is the progress on the card, with what an undo brings back besides.
type progress struct {
	card.Progress
	struck   []struckNumber
	callback *apitype.Replaces // Of the call when it came on the Desk. Nil if it is not known.
}

// struckNumber is a number of the donor that does not exist, by an attempt.
type struckNumber struct {
	kind  string         // Of [card.Number].
	group *changes.Group // With the attempt. An undo restores the number.
}

// reading is a request for the call of a visit.
type reading struct {
	id         apitype.UUID
	asked      int  // After how many keys the agent asked for it; transition.Unasked if not at all.
	isAnswered bool // The answer has come.
}

// callRead is the answer to a reading of the call on the Desk, or for it.
type callRead struct {
	*reading
	call     apitype.Call
	draft    *outbox.Draft // Its entries on disk. Nil without any.
	torn     error         // Why its draft could not be read.
	opened   lease.Opened  // The answer about its lease.
	renews   bool          // The card was old.
	consents *card.Consents
}

// become changes the state.
func (v *visit) become(to state) { v.state = to }

// IsOn reports whether a call is on the Desk.
func (v *visit) IsOn(id apitype.UUID) bool { return v.Call != nil && v.Call.UUID == id }

// IsWaiting reports whether the agent waits for the next call.
func (v *visit) IsWaiting() bool { return v.state == stateWaiting || v.state == stateNoneLeft }

// IsNoneLeft reports whether the agent waits for the next call and there is none.
func (v *visit) IsNoneLeft() bool { return v.state == stateNoneLeft }

// IsOpening reports whether a certain call is being read for the agent.
func (v *visit) IsOpening() bool { return v.state == stateOpening }

// IsCallRead reports whether the call was read since it came on the Desk.
func (v *visit) IsCallRead() bool { return v.state == stateRead || v.state == stateReadStale }

// IsStale reports whether the call on the Desk may be old, and is being read.
func (v *visit) IsStale() bool { return v.state == stateListedStale || v.state == stateReadStale }

// setNoneLeft notes whether the source has a call for the waiting agent.
func (v *visit) setNoneLeft(isNone bool) {
	if v.state == stateWaiting && isNone {
		v.become(stateNoneLeft)
	} else if v.state == stateNoneLeft && !isNone {
		v.become(stateWaiting)
	}
}

// sleep notes that the computer slept, so that the call on the Desk may be old.
func (v *visit) sleep() {
	if v.IsCallRead() {
		v.become(stateReadStale)
	} else {
		v.become(stateListedStale)
	}
}

// refresh notes that the call and its lease were read after a sleep.
func (v *visit) refresh() {
	switch v.state {
	case stateListedStale:
		v.become(stateListed)
	case stateReadStale:
		v.become(stateRead)
	}
}

// show puts the call as it was read on the card. keepsDetails leaves the donor and the pledge as they are shown.
// Without an answer about its lease, a stale card stays stale.
func (v *visit) show(read callRead, keepsDetails bool) {
	before, shown, opened := v.Call, read.call, read.opened
	v.latest = nil
	if keepsDetails {
		shown.Person, shown.PledgeCase = before.Person, before.PledgeCase
		v.latest = &read.call
	}
	v.Call = &shown
	if v.IsStale() {
		v.become(stateReadStale)
	} else {
		v.become(stateRead)
	}
	if read.consents != nil {
		v.known.Consents = *read.consents
	}
	if opened.Holder != nil || opened.Lease != nil {
		v.known.Holder, v.known.IsFreed = opened.Holder, false
	}
	if opened.Lease != nil {
		v.known.IsBlocked = opened.Lease.NumberBlocked
	}
	hadPerson := before != nil && (v.known.IsErased || !before.Person.IsZero())
	v.known.IsErased = hadPerson && read.call.Person.Pointer() == nil
}

// isCurrent reports whether a reading is the latest of this visit.
func (v *visit) isCurrent(r *reading) bool { return v.reading == r }

// isReading reports whether the latest reading has no answer yet.
func (v *visit) isReading() bool { return v.reading != nil && !v.reading.isAnswered }

// locked returns the call that is kept from the agent's other terminals without a lease of the service, or zero.
func (v *visit) locked() apitype.UUID {
	if v.lockedBy == nil {
		return apitype.UUID{}
	}
	return v.lockedBy.id
}

// struckKinds returns the kinds of the donor's numbers that do not exist.
func (v *visit) struckKinds() []string {
	var kinds []string
	for _, s := range v.struck {
		if !s.group.IsBack() {
			kinds = append(kinds, s.kind)
		}
	}
	return kinds
}

// BeginScript shows the first step if the script was not on the screen before.
func (v *visit) BeginScript() { v.Walk.Begun = true }

// PreviousStep goes back to the previous step of the script. There must be one.
func (v *visit) PreviousStep() { v.Walk.GoBack() }
