package service

import (
	"fundesk/apiclient/apitype"
)

// LeaseEnd is the reason for the end of a lease.
type LeaseEnd string

// The ends of a lease.
const (
	EndedByAttempt  LeaseEnd = "attempt"
	EndedByComplete LeaseEnd = "complete"
	EndedByCancel   LeaseEnd = "cancel"
	EndedByExpiry   LeaseEnd = "expire"   // Of the call.
	EndedByReturn   LeaseEnd = "returned" // Released without a time.
	EndedByDeferral LeaseEnd = "deferred" // Released with one.
	EndedByErasure  LeaseEnd = "erased"   // Of the person.
	EndedByTime     LeaseEnd = "time"     // Nothing came of it.
	EndedByMove     LeaseEnd = "moved"    // Its user went on to another call of the person, or was not shown it.
)

// LeaseRow is a stored lease: the claim of a donor, or an ended one.
type LeaseRow struct {
	apitype.Lease
	Account     apitype.UUID
	Request     apitype.UUID
	Ordinal     int           // Its position among the leases of the request.
	ShownAt     *apitype.Time // Nil if the lease was prefetched, and its call is not shown yet.
	Person      apitype.UUID
	Owner       apitype.UUID
	Type        apitype.CallType
	Language    string
	KeptFor     *apitype.UUID // The user of the deferral that the call had. Reason and DueAt are of it, too.
	IsReplacing bool          // Of a new one: the row of its donor has a claim that expired.
	EndedAt     *apitype.Time
	EndedBy     LeaseEnd // Empty for a claim.
}

// Sent returns the lease as answers show it.
func (l LeaseRow) Sent() apitype.Lease {
	l.Ahead = l.ShownAt == nil && !l.Pending
	return l.Lease
}

// Live reports whether the lease holds.
func (l LeaseRow) Live(now apitype.Time) bool { return l.EndedAt == nil && l.ExpiresAt.After(now.Time) }

// UsesDeferral reports whether the lease has used the deferral of its call up: it was due.
func (l LeaseRow) UsesDeferral() bool { return l.DueAt != nil && !l.DueAt.After(l.TakenAt.Time) }

// takenAt returns the start of a lease, or nil for no lease.
func (l *LeaseRow) takenAt() *apitype.Time {
	if l == nil {
		return nil
	}
	return &l.TakenAt
}

// Work returns the work that the end of the lease counts for its user. A return or deferral of a call that the user
// never saw counts nothing.
func (l *LeaseRow) Work(now apitype.Time) Work {
	w := Work{User: l.UserUUID, Owner: l.Owner, SeenAt: now}
	switch l.EndedBy {
	case EndedByCancel:
		w.Cancelled = 1
	case EndedByExpiry:
		w.Expired = 1
	case EndedByReturn, EndedByDeferral:
		if l.ShownAt != nil {
			w.Released = 1
		}
	default:
	}
	return w
}

// Work counts an activity of a user, in one change or in all hours since a time.
type Work struct {
	User      apitype.UUID
	Owner     apitype.UUID // Of the calls. Zero in a sum.
	Code      string       // Of the results of the completions. Empty if they have none.
	Taken     int
	Attempts  int
	Completed int
	Cancelled int
	Expired   int
	Released  int
	SeenAt    apitype.Time
}

// UserStateRow is whether a user takes calls.
type UserStateRow struct {
	User         apitype.UUID
	Account      apitype.UUID // It set the state.
	State        apitype.UserStateName
	Reason       *apitype.PauseReason
	Since        apitype.Time
	Organization *apitype.UUID // Of the user. Nil for none, or if the service does not know the user.
	IsKnown      bool          // The service knows the user.
}

// At returns the state at a time: a pause ends by itself.
func (s UserStateRow) At(now apitype.Time) UserStateRow {
	end := s.Since.Add(apitype.MaxPause)
	if s.State == apitype.UserPaused && !end.After(now.Time) {
		s.State, s.Reason, s.Since = apitype.UserReady, nil, apitype.NewTime(end)
	}
	return s
}

// IsVisible reports whether an account may see the state of a user without any work. The state of a user that the
// service does not know is visible to the account that set it.
func (s UserStateRow) IsVisible(c Caller) bool {
	if c.Scope.All || !s.IsKnown {
		return c.Scope.All || s.Account == c.UUID
	}
	return s.Organization == nil || c.Scope.Contains(*s.Organization)
}

// MessageRow is the line of an organization to all desks.
type MessageRow struct {
	apitype.QueueMessage
	EndsAt apitype.Time
}

// WorkQuery chooses operations of a user.
type WorkQuery struct {
	Scope Scope // Of the calls.
	User  apitype.UUID
	Since apitype.Time
	Limit int // Of the newest ones.
}

// WorkRow is an operation of a user.
type WorkRow struct {
	At        apitype.Time
	Operation string // One of apitype.WorkOperations.
	Call      apitype.UUID
}

// QueueQuery chooses calls that wait.
type QueueQuery struct {
	Scope     Scope
	Types     []apitype.CallType
	Languages []string
	User      *apitype.UUID // Nil means every user.
	Now       apitype.Time
	Rules     *FloorRules  // The limits of the organizations.
	KeptUntil apitype.Time // A call kept for another user is anybody's when it was due before.
	Returned  apitype.Time // A call that the user released is offered last, the latest release at the end.
	Due       bool         // For NextInQueue: there may be calls that are due.
	GaveBack  bool         // The user may have given a call back a moment ago.
	After     *Position    // For QueuePositions.
	Limit     int
}

// QueueCount is the number of calls of a kind.
type QueueCount struct {
	Kind     QueueKind
	Waiting  int // Not deferred; whatever the hour.
	Due      int // Deferred, and the time has come.
	Deferred int // To a time that has not come.
	Soon     int // The part of Later that is due within an hour.

	OldestWaiting *apitype.Time
	OldestDue     *apitype.Time
}

// QueueRequest has the leases of an earlier take with the same request, and the state of the queue for a new one.
type QueueRequest struct {
	Rules            string // The rules of the queue, for [Service.FloorRules].
	BlockKey         string // The value of BlockKeySetting.
	Leases           []LeaseRow
	HasNewlyEligible bool // Some calls are eligible by now, but not marked so yet.
	Due              bool // Calls are due that were deferred.
	// NextDueAt is the time of the next deferred call.
	NextDueAt *apitype.Time
	// GaveBack: the user gave a call back a moment ago.
	GaveBack bool
	Held     int // Live leases of the user.
	// HasErasures: the erasures of some persons have begun.
	HasErasures bool
	// Pause is the pause of the user. Nil if the user takes calls.
	Pause *apitype.PauseReason
	// Name is the name of the user. Nil if the service does not know the user.
	Name *string
}

// LeaseQuery chooses live leases. With a user and a person it chooses the leases of the user and the lease of the
// person.
type LeaseQuery struct {
	Scope  Scope
	User   *apitype.UUID
	Person *apitype.UUID
	Now    apitype.Time
}

// DeferralQuery chooses callbacks.
type DeferralQuery struct {
	Scope Scope
	User  *apitype.UUID // Only calls that are reserved for this user.
	After *Position
	Limit int
}

// DeferralRow is a callback with the document of its person.
type DeferralRow struct {
	apitype.Deferral
	PersonDoc []byte
}

// Contact is the last contact of a person.
type Contact struct {
	Person apitype.UUID
	At     apitype.Time
}
