// Package lease keeps the calls that the agent has leased from the queue of the service: the call on the Desk, at most
// one prefetched call, and the calls with an unsent change.
//
// [Leases] takes and extends leases, gives them back, and notices when one has ended by the service's clock. It keeps a
// note of each lease on disk, so that the next start goes on with the leases of a Desk that crashed, and so that the
// agent's other terminals leave the call alone. The package does not know the Desk: it is handed functions.
package lease

import (
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/callbacks"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/pause"
	"fundesk/tui/desk/pending"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/say"
)

// Desk has the functions that the leases need of the Desk.
type Desk struct {
	Call      func() *apitype.Call         // The call on the Desk. Nil without one.
	Holder    func() *apitype.LeaseHolder  // The other user with a lease of its donor. Nil if there is none.
	Filter    func() apitype.QueueFilter   // The calls that the agent takes.
	IsChanged func(call apitype.UUID) bool // A change of the call waits, or was refused.
	IsWaiting func() bool                  // The agent waits for a call.
	MayShow   func() bool                  // That call may come on the Desk now.
	Present   func(apitype.Call)           // Puts a call on the Desk.
	NoneLeft  func()                       // The queue has brought nothing.
	Serve     func()                       // Gives the waiting agent a call, from the source in use.

	OnDiscovered func(err error)                                    // The service was asked whether it has a queue.
	OnFreed      func()                                             // The lease of the call on the Desk has ended.
	OnPerson     func(holder *apitype.LeaseHolder, isBlocked *bool) // Of the call on the Desk. Nil is unknown.
	OnConflict   func()                                             // The service has another state of the agent.
}

// Leases has the leases of one Desk. Make it with New. It is not safe for concurrent use.
type Leases struct {
	say.Texts
	Events     *event.Queue
	Connection *connection.State
	Client     *apiclient.Client
	Outbox     *outbox.Outbox
	Now        func() time.Time
	User       *apitype.UUID // The agent. Nil takes a random user of this terminal.
	AgentName  func(apitype.UUID) string
	Keys       *debounce.Keys
	Pause      *pause.Pause
	Callbacks  *callbacks.List
	Messages   *floor.Messages
	Codes      *floor.Codes
	Desk       Desk

	IsDiscovered bool                // Whether the service has a queue is known.
	HasQueue     bool                // It has.
	State        *apitype.QueueState // As last counted. Nil before.

	isUnnamed bool // No agent is known: the user is another one at each start.

	held    []Lease
	pending *pending.Leases
	locks   *localLocks
	// ended has the calls of this session whose pending lease ended with an accepted change. Another change is a late
	// repeat.
	ended     map[apitype.UUID]bool
	startedAt time.Time
	isTaking  bool
	// request is the take whose answer has not come. A repeat has the same uuid, so that no lease is lost with the
	// answer.
	request apitype.UUID
	isNone  bool // The last take brought nothing.
	// unreturned is the skipped call whose lease had ended. If a take brings it, it is given back, once.
	unreturned apitype.UUID
	// nextDueAt is the time of the next callback in the last take. Nil if there is none.
	nextDueAt *apitype.Time
	takes     int               // How many were answered.
	waiting   int               // The last answer.
	isListOld bool              // The last count was lower than the list.
	upcoming  []queue.Candidate // In the order in which they would be taken.
}

// Lease is the lease of a call.
type Lease struct {
	apitype.Lease
	Call       apitype.Call
	note       *outbox.HeldLease // For the agent's other terminals. Nil if it cannot be saved.
	extendedAt time.Time         // When it was taken, or extended last.
}

// New returns the leases of a Desk that has none yet.
func New(s Leases) *Leases {
	s.startedAt = s.Now()
	s.pending = &pending.Leases{Client: s.Client, Now: s.Now}
	s.locks = &localLocks{box: s.Outbox}
	if s.User == nil {
		s.User = new(apitype.NewUUID())
		s.isUnnamed = true
	}
	return &s
}

// noted returns the user of a lease for its note, or zero if the next start will not know that user.
func (s *Leases) noted(user apitype.UUID) apitype.UUID {
	if s.isUnnamed {
		return apitype.UUID{}
	}
	return user
}

// Of returns the lease of a call, or nil.
func (s *Leases) Of(call apitype.UUID) *apitype.Lease {
	if l := s.of(call); l != nil {
		return &l.Lease
	}
	return nil
}

func (s *Leases) of(call apitype.UUID) *Lease {
	i := slices.IndexFunc(s.held, func(l Lease) bool { return l.CallUUID == call })
	if i < 0 {
		return nil
	}
	return &s.held[i]
}

// ids returns the leases that are held.
func (s *Leases) ids() []apitype.UUID {
	var ids []apitype.UUID
	for _, l := range s.held {
		ids = append(ids, l.LeaseUUID)
	}
	return ids
}

// IsEmpty reports whether no lease is held.
func (s *Leases) IsEmpty() bool { return len(s.held) == 0 }

// HasAhead reports whether the call after the one on the Desk was taken.
func (s *Leases) HasAhead() bool { return s.ahead() != nil }

// ahead returns the call that comes after the one on the Desk, or nil if none was taken.
func (s *Leases) ahead() *Lease {
	for i := range s.held {
		if l := &s.held[i]; !s.isOn(l.CallUUID) && !s.KeepsBack(l.CallUUID) {
			return l
		}
	}
	return nil
}

// isOn reports whether a call is on the Desk.
func (s *Leases) isOn(call apitype.UUID) bool {
	shown := s.Desk.Call()
	return shown != nil && shown.UUID == call
}

// Agent returns the user who takes calls.
func (s *Leases) Agent() apitype.UUID { return *s.User }

// KeepsBack reports whether a call is not offered: a change of it is saved or waits, or was refused.
func (s *Leases) KeepsBack(call apitype.UUID) bool {
	return s.pending.IsWanted(call) || s.Desk.IsChanged(call)
}

// holderName returns the name of the user who holds a donor.
func (s *Leases) holderName(held *apitype.LeaseHolder) string {
	return card.Card{Form: entry.Form{Texts: s.Texts}, AgentName: s.AgentName}.HolderName(held)
}
