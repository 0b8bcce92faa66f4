package apitype

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The queue is an extension of our service, under /fundesk/v1. The interface does not have it, and its clients do not
// need it.

// ExtensionsHeader lists the extensions of a service, separated by a comma and a space. Every answer has it.
const ExtensionsHeader = "Fundesk-Extensions"

// SettledHeader is on lists: every change up to this time is visible.
const SettledHeader = "Fundesk-Settled"

// EpochHeader is on lists. If a copy has a position of another epoch, it may have removed records or lack others, and
// must begin again.
const EpochHeader = "Fundesk-Epoch"

// LeaseForHeader is on the creation of a call: the same transaction leases the call for this user, for NewCallLease.
// Nothing is leased if a user holds the person already, or if the named user holds MaxLeases.
const LeaseForHeader = "Fundesk-Lease-For"

// The extensions of our service.
const (
	ExtensionQueue  = "queue"  // What is under /fundesk/v1/queue.
	ExtensionErase  = "erase"  // Persons are exported and erased under /fundesk/v1/persons, by the account that asks.
	ExtensionStatus = "status" // The status parameter of the call list.
	ExtensionNotes  = "notes"  // Notes for the next agent of a call.
	// ExtensionFilters has the calls of a person, the persons changed after a time, and the list of erased persons,
	// for programs with a copy.
	ExtensionFilters = "filters"
	// ExtensionCompletedBy is the filter of calls by the user of the completion.
	ExtensionCompletedBy = "completed-by"
	// ExtensionCompleters is the parameter of the call list that adds the user of the completion to each edge.
	ExtensionCompleters = "completers"
	// ExtensionDetails are the parameters of the lists of persons and calls that add consents and checks to the edges.
	ExtensionDetails = "details"
	// ExtensionAgentsByUser is the parameter userUuid of the agents of the queue.
	ExtensionAgentsByUser = "agents-by-user"
	// ExtensionPending are pending leases, the parameters of the list of leases, and replaces of deferrals.
	ExtensionPending = "pending"
	// ExtensionRevisions is the parameter of lists that adds the revision of its record to each edge.
	ExtensionRevisions = "revisions"
	// ExtensionLeaseForHeader is LeaseForHeader.
	ExtensionLeaseForHeader = "lease-for"
)

// RevisionMember is the member with the revision of a record in exports for editing.
const RevisionMember = "_revision"

// Extensions has the extensions of a service.
// GET /fundesk/v1
type Extensions struct {
	Extensions []string `json:"extensions"`
	Version    string   `json:"version"` // Of the service.
	// User is the signed-in person. Nil for the account of a program.
	User *UserName `json:"user,omitzero"`
}

// The bounds of the queue.
const (
	DefaultLease = 15 * time.Minute
	MinLease     = 30 * time.Second
	MaxLease     = time.Hour
	PendingLease = 24 * time.Hour       // How long a change may wait that ends a call.
	NewCallLease = time.Minute          // Of LeaseForHeader. The client that opens the call leases it again.
	MaxTake      = 10                   // Calls of one request.
	MaxDeferral  = 400 * 24 * time.Hour // From the time of the request.
	MaxWaiting   = 1_000                // How far a take counts what waits.
	maxNarrowing = 200                  // Values of one filter.
	MaxLeases    = 10                   // Of one user at a time, without pending ones.
	MaxAgents    = 31 * 24 * time.Hour  // How far agents are counted back.
)

// QueueFilter narrows the queue; an empty list does not. A person without a language matches
// all languages.
type QueueFilter struct {
	Types                   []CallType `json:"types,omitzero"`
	Languages               []string   `json:"languages,omitzero"` // ISO 639-1.
	OwningOrganizationUUIDs []UUID     `json:"owningOrganizationUuids,omitzero"`
}

// Validate checks the values, and puts languages into the form that is compared.
func (f *QueueFilter) Validate() Violations {
	var v Violations
	for i, t := range f.Types {
		if !slices.Contains(CallTypes, t) {
			v.Add("/types/"+strconv.Itoa(i), "must be one of verification, happy_call, winback")
		}
	}
	for i, language := range f.Languages {
		stored, problem := checkLanguage(language)
		if problem != "" {
			v.Add("/languages/"+strconv.Itoa(i), "%s", problem)
			continue
		}
		f.Languages[i] = stored
	}
	atMost(&v, "/types", len(f.Types))
	atMost(&v, "/languages", len(f.Languages))
	atMost(&v, "/owningOrganizationUuids", len(f.OwningOrganizationUUIDs))
	return v
}

func atMost(v *Violations, pointer string, values int) {
	if values > maxNarrowing {
		v.Add(pointer, "must have %d items at most", maxNarrowing)
	}
}

// TakeRequest asks for the next calls of a user.
// POST /fundesk/v1/queue/take
type TakeRequest struct {
	RequestUUID  UUID `json:"requestUuid"`           // The same again, within 24 hours, gives the same leases.
	UserUUID     UUID `json:"userUuid,omitzero"`     // A signed-in person may omit it.
	Count        *int `json:"count,omitzero"`        // 1 to MaxTake; 1 when omitted.
	LeaseSeconds *int `json:"leaseSeconds,omitzero"` // DefaultLease when omitted.
	Ahead        bool `json:"ahead,omitzero"`        // The calls are not shown to the user yet.
	QueueFilter
}

// Validate checks the values.
func (r *TakeRequest) Validate() Violations {
	var v Violations
	requireUUID(&v, "/requestUuid", r.RequestUUID)
	requireUUID(&v, "/userUuid", r.UserUUID)
	if r.Count != nil && (*r.Count < 1 || *r.Count > MaxTake) {
		v.Add("/count", "must be a whole number from 1 to %d", MaxTake)
	}
	validateLease(&v, r.LeaseSeconds)
	return append(v, r.QueueFilter.Validate()...)
}

// Number returns how many calls the request asks for.
func (r *TakeRequest) Number() int { return *cmp.Or(r.Count, new(1)) }

// Lease returns how long the leases of the calls should be.
func (r *TakeRequest) Lease() time.Duration { return leaseOf(r.LeaseSeconds) }

// LeaseRequest asks for the lease of a call that the user chose.
// PUT /fundesk/v1/queue/calls/{callUuid}/lease
type LeaseRequest struct {
	RequestUUID  UUID `json:"requestUuid"`
	UserUUID     UUID `json:"userUuid,omitzero"`     // A signed-in person may omit it.
	LeaseSeconds *int `json:"leaseSeconds,omitzero"` // DefaultLease when omitted.
	Pending      bool `json:"pending,omitzero"`      // A change of the call waits: the lease lasts PendingLease.
}

// Validate checks the values.
func (r *LeaseRequest) Validate() Violations {
	var v Violations
	requireUUID(&v, "/requestUuid", r.RequestUUID)
	requireUUID(&v, "/userUuid", r.UserUUID)
	validateLease(&v, r.LeaseSeconds)
	return v
}

// Lease returns how long the lease of the call should be.
func (r *LeaseRequest) Lease() time.Duration { return leaseFor(r.LeaseSeconds, r.Pending) }

// ReleaseUserRequest releases the leases of a user.
// POST /fundesk/v1/queue/release
type ReleaseUserRequest struct {
	UserUUID  UUID `json:"userUuid"`
	Deferrals bool `json:"deferrals,omitzero"` // Also open the user's callbacks to every user.
	Pending   bool `json:"pending,omitzero"`   // Also free the pending leases.
}

// Validate checks the value.
func (r *ReleaseUserRequest) Validate() Violations {
	var v Violations
	requireUUID(&v, "/userUuid", r.UserUUID)
	return v
}

// ReleasedUser counts the leases of a user.
type ReleasedUser struct {
	Leases    int `json:"leases"`
	Deferrals int `json:"deferrals"`
}

// ExtendRequest asks to keep a lease so long from now.
// POST /fundesk/v1/queue/leases/{leaseUuid}/extend
type ExtendRequest struct {
	LeaseSeconds *int  `json:"leaseSeconds,omitzero"` // DefaultLease when omitted.
	Ahead        *bool `json:"ahead,omitzero"`        // False if a prefetched call is now shown to the user.
	Pending      *bool `json:"pending,omitzero"`      // Whether a change of the call waits. Nil changes nothing.
}

// Validate checks the value.
func (r *ExtendRequest) Validate() Violations {
	var v Violations
	validateLease(&v, r.LeaseSeconds)
	return v
}

// Lease returns how long the lease should be.
func (r *ExtendRequest) Lease() time.Duration {
	return leaseFor(r.LeaseSeconds, r.Pending != nil && *r.Pending)
}

func validateLease(v *Violations, seconds *int) {
	low, high := int(MinLease/time.Second), int(MaxLease/time.Second)
	if seconds != nil && (*seconds < low || *seconds > high) {
		v.Add("/leaseSeconds", "must be a whole number from %d to %d", low, high)
	}
}

func leaseOf(seconds *int) time.Duration {
	if seconds == nil {
		return DefaultLease
	}
	return time.Duration(*seconds) * time.Second
}

// leaseFor returns how long a lease lasts, pending or not.
func leaseFor(seconds *int, pending bool) time.Duration {
	if pending {
		return PendingLease
	}
	return leaseOf(seconds)
}

// Replaces is the deferral that the user saw.
type Replaces struct {
	NotBefore *Time `json:"notBefore"` // Nil if there was none.
}

// DeferRequest defers a call to a time, and reserves it for a user if it names one. Without a time, the call is in the
// queue by its time of request.
// POST /fundesk/v1/queue/leases/{leaseUuid}/release
// PUT /fundesk/v1/queue/calls/{callUuid}/later
type DeferRequest struct {
	NotBefore *Time `json:"notBefore"`
	UserUUID  *UUID `json:"userUuid"` // Means nothing without NotBefore.
	// LeaseUUID is a live lease of the call, which does not refuse the deferral and ends with it.
	LeaseUUID *UUID `json:"leaseUuid,omitzero"`
	// Replaces refuses the deferral if another one is in force. Nil replaces any.
	Replaces *Replaces `json:"replaces,omitzero"`
	// Reason is the subject of the callback, one line. It needs NotBefore, and ExtensionAttempts.
	Reason *string `json:"reason,omitzero"`
}

// Validate checks that the time is near the present. A time that passed, as while the request waited at a client,
// is due now.
func (r *DeferRequest) Validate(now time.Time) Violations {
	var v Violations
	if r.Reason != nil {
		requireLine(&v, "/reason", *r.Reason, MaxDeferralReason)
	}
	if r.NotBefore == nil {
		return v
	}
	distance := r.NotBefore.Sub(now).Abs()
	if distance > MaxDeferral {
		v.Add("/notBefore", "must lie within %d days", int(MaxDeferral/(24*time.Hour)))
	}
	return v
}

// NoteRequest adds a note for the next agent of a call, after earlier ones.
// POST /fundesk/v1/queue/calls/{callUuid}/notes
type NoteRequest struct {
	Text string `json:"text"`
}

// Validate checks the text.
func (r *NoteRequest) Validate() Violations {
	var v Violations
	requireText(&v, "/text", r.Text, MaxNotes)
	return v
}

// Lease reserves the person of a call for a user. It blocks no operation.
type Lease struct {
	LeaseUUID UUID    `json:"leaseUuid"`
	CallUUID  UUID    `json:"callUuid"`
	UserUUID  UUID    `json:"userUuid"`
	Name      *string `json:"name"`  // The user's name. Nil if the service does not know it.
	Ahead     bool    `json:"ahead"` // Taken, and not shown to the user yet.
	// Pending: a change of the call waits at a client. It is not a card, and not one of MaxLeases.
	Pending   bool    `json:"pending"`
	TakenAt   Time    `json:"takenAt"`
	ExpiresAt Time    `json:"expiresAt"`
	DueAt     *Time   `json:"dueAt"`         // When the call was due that had been deferred.
	Note      *string `json:"note,omitzero"` // Notes of earlier agents that did not reach the donor. Not in lists.
	// Why the donor wanted to be called back. Not in lists, and only for accounts that may read persons.
	Reason *string `json:"reason,omitzero"`
	// When one of the person's numbers was last called, for whichever person, within 4 hours; not in lists.
	NumberContactedAt *Time `json:"numberContactedAt,omitzero"`
	// One of the person's numbers is blocked for the organization that owns the person; not in lists.
	NumberBlocked bool           `json:"numberBlocked,omitzero"`
	Call          Embedded[Call] `json:"call,omitzero"` // In the answer to a take.
}

// LeaseHolder is the user that holds a person, as the refusal of a lease names it.
type LeaseHolder struct {
	UserUUID  UUID    `json:"userUuid"`
	Name      *string `json:"name"` // Nil if the service does not know it.
	TakenAt   Time    `json:"takenAt"`
	ExpiresAt Time    `json:"expiresAt"`
}

// Deferral is a callback: a deferred call.
// GET /fundesk/v1/queue/deferrals
type Deferral struct {
	CallUUID   UUID     `json:"callUuid"`
	PersonUUID UUID     `json:"personUuid"`
	PersonName *string  `json:"personName"` // Nil without the permission to read persons.
	Type       CallType `json:"type"`
	NotBefore  Time     `json:"notBefore"`
	Reason     *string  `json:"reason"`   // Nil without one, or without the permission to read persons.
	UserUUID   *UUID    `json:"userUuid"` // Reserved for this user. Nil if any user may take it.
	Name       *string  `json:"name"`     // The user's name. Nil if the service does not know it.
}

// Taken is the answer to a take.
type Taken struct {
	Leases    []Lease `json:"leases"`    // Empty if there is no call.
	Waiting   int     `json:"waiting"`   // In addition to them, up to MaxWaiting.
	NextDueAt *Time   `json:"nextDueAt"` // When the next deferred call is due.
}

// Leases are the leases of all users that the account may see, without calls.
// GET /fundesk/v1/queue/leases
type Leases struct {
	Leases []Lease `json:"leases"`
	// NumberBlocked reports whether a number of the requested person is blocked. Nil without a requested person, or if
	// the account does not see the person.
	NumberBlocked *bool `json:"numberBlocked,omitzero"`
}

// QueueState counts the calls of the queue.
// GET /fundesk/v1/queue
type QueueState struct {
	Waiting     int `json:"waiting"`     // Could be given now.
	Due         int `json:"due"`         // The deferred calls among them.
	Deferred    int `json:"deferred"`    // Not due yet, for any user.
	DueNextHour int `json:"dueNextHour"` // The part of Later that is due within an hour.
	Leased      int `json:"leased"`
	// Outside the calling hours of the donor, in addition to Waiting.
	Closed            int              `json:"closed"`
	OpensAt           *Time            `json:"opensAt"`           // When the first of them can be given. Nil is never.
	OldestRequestedAt *Time            `json:"oldestRequestedAt"` // Of the waiting calls.
	ByType            map[CallType]int `json:"byType"`            // Of the waiting calls.
	// Of the waiting calls. The empty language means none.
	ByLanguage map[string]int `json:"byLanguage"`
	Messages   []QueueMessage `json:"messages"` // Of the supervisors, to all desks.
}

// QueueAgents are the users with work.
// GET /fundesk/v1/queue/agents
type QueueAgents struct {
	Agents []QueueAgent `json:"agents"`
}

// QueueAgent counts the present and past work of a user. It has no data of donors.
type QueueAgent struct {
	UserUUID UUID    `json:"userUuid"`
	Name     *string `json:"name"` // Nil if the service does not know it.
	// With Type and TakenAt: of the lease that was shown last; nil without one.
	CallUUID   *UUID          `json:"callUuid"`
	Type       *CallType      `json:"type"`
	TakenAt    *Time          `json:"takenAt"`
	LastSeenAt Time           `json:"lastSeenAt"`
	Taken      int            `json:"taken"`
	Attempts   int            `json:"attempts"`
	Completed  int            `json:"completed"`
	Cancelled  int            `json:"cancelled"` // By the lease that it ended, as expired.
	Expired    int            `json:"expired"`
	Released   int            `json:"released"`
	Deferred   int            `json:"deferred"` // Callbacks that are now reserved for the user.
	State      UserStateName  `json:"state"`
	Reason     *PauseReason   `json:"reason"`   // Of the pause. Nil unless paused.
	Since      *Time          `json:"since"`    // Of the state. Nil if the user never set it.
	ByResult   map[string]int `json:"byResult"` // Of the completed, by result code.
}

// QueueOptions are the parameters of the state of the queue.
// GET /fundesk/v1/queue
type QueueOptions struct {
	QueueFilter
	UserUUID *UUID // The user of the calls. Nil means every user.
}

// QueueCallListOptions are the parameters of the list of calls that wait.
// GET /fundesk/v1/queue/calls
type QueueCallListOptions struct {
	QueueOptions
	First *int // 0 to MaxPageSize; DefaultPageSize when nil.
	After string
}

// QueueDeferralListOptions are the parameters of the list of callbacks.
// GET /fundesk/v1/queue/deferrals
type QueueDeferralListOptions struct {
	UserUUID *UUID // Only callbacks that are reserved for this user.
	First    *int  // 0 to MaxPageSize; DefaultPageSize when nil.
	After    string
}

// QueueLeaseListOptions are the parameters of the list of leases. With both it has the leases of the user and the
// lease of the person. Without any it has all.
// GET /fundesk/v1/queue/leases
type QueueLeaseListOptions struct {
	UserUUID   *UUID // The live leases of this user.
	PersonUUID *UUID // The live lease of this person, whichever user holds it.
}

// QueueAgentsOptions are the parameters of the list of agents.
// GET /fundesk/v1/queue/agents
type QueueAgentsOptions struct {
	Since    *Time // 24 hours ago when nil. Work counts from its hour on.
	UserUUID *UUID // Nil means all users. Only where ExtensionAgentsByUser is announced.
}

// Query returns the options as query parameters.
func (o QueueOptions) Query() url.Values { return queryOf(QueueFilters(), o) }

// QueueFilters narrow the queue.
func QueueFilters() []Filter[QueueOptions] {
	return []Filter[QueueOptions]{
		{
			"types",
			"type",
			"only calls of this type (repeatable): verification, happy_call, winback",
			func(o *QueueOptions) field {
				return listField(&o.Types, CallTypes, true)
			},
		},
		{"languages", "language", "only persons with this language, or none (repeatable)", func(o *QueueOptions) field {
			return listField(&o.Languages, nil, false)
		}},
		{
			"owningOrganizationUuids",
			"owning-organization",
			"only persons of this organization (repeatable)",
			func(o *QueueOptions) field {
				return uuidsField(&o.OwningOrganizationUUIDs)
			},
		},
		{
			"userUuid",
			"user",
			"calls that this user could take (default: any user)",
			func(o *QueueOptions) field { return uuidField(&o.UserUUID) },
		},
	}
}

// ParseQueueOptions reads query parameters.
func ParseQueueOptions(values url.Values) (QueueOptions, Violations) {
	return parseQuery(QueueFilters(), values, (*QueueOptions).check)
}

// check checks the filters as parameters.
func (o *QueueOptions) check() Violations {
	var v Violations
	for _, violation := range o.QueueFilter.Validate() {
		name, _, _ := strings.Cut(strings.TrimPrefix(violation.Pointer, "/"), "/")
		v.addParameter(name, "%s", violation.Message)
	}
	return v
}

func queueCallParameters() []Filter[QueueCallListOptions] {
	return append(
		within(func(o *QueueCallListOptions) *QueueOptions { return &o.QueueOptions }, QueueFilters()),
		Filter[QueueCallListOptions]{
			Name:  "first",
			field: func(o *QueueCallListOptions) field { return sizeField(&o.First) },
		},
		Filter[QueueCallListOptions]{
			Name:  "after",
			field: func(o *QueueCallListOptions) field { return textField(&o.After) },
		},
	)
}

// Query returns the options as query parameters.
func (o QueueCallListOptions) Query() url.Values { return queryOf(queueCallParameters(), o) }

// IsBackward returns false: the queue has one order.
func (o QueueCallListOptions) IsBackward() bool { return false }

// ParseQueueCallListOptions reads query parameters.
func ParseQueueCallListOptions(values url.Values) (QueueCallListOptions, Violations) {
	return parseQuery(queueCallParameters(), values, func(o *QueueCallListOptions) Violations { return o.check() })
}

func deferralParameters() []Filter[QueueDeferralListOptions] {
	return []Filter[QueueDeferralListOptions]{
		{Name: "userUuid", field: func(o *QueueDeferralListOptions) field { return uuidField(&o.UserUUID) }},
		{Name: "first", field: func(o *QueueDeferralListOptions) field { return sizeField(&o.First) }},
		{Name: "after", field: func(o *QueueDeferralListOptions) field { return textField(&o.After) }},
	}
}

// Query returns the options as query parameters.
func (o QueueDeferralListOptions) Query() url.Values { return queryOf(deferralParameters(), o) }

// IsBackward returns false: callbacks have one order, the earliest first.
func (o QueueDeferralListOptions) IsBackward() bool { return false }

// ParseQueueDeferralListOptions reads query parameters.
func ParseQueueDeferralListOptions(values url.Values) (QueueDeferralListOptions, Violations) {
	return parseQuery(deferralParameters(), values, nil)
}

func leaseParameters() []Filter[QueueLeaseListOptions] {
	return []Filter[QueueLeaseListOptions]{
		{Name: "userUuid", field: func(o *QueueLeaseListOptions) field { return uuidField(&o.UserUUID) }},
		{Name: "personUuid", field: func(o *QueueLeaseListOptions) field { return uuidField(&o.PersonUUID) }},
	}
}

// Query returns the options as query parameters.
func (o QueueLeaseListOptions) Query() url.Values { return queryOf(leaseParameters(), o) }

// ParseQueueLeaseListOptions reads query parameters.
func ParseQueueLeaseListOptions(values url.Values) (QueueLeaseListOptions, Violations) {
	return parseQuery(leaseParameters(), values, nil)
}

func agentsParameters() []Filter[QueueAgentsOptions] {
	return []Filter[QueueAgentsOptions]{
		{Name: "since", field: func(o *QueueAgentsOptions) field { return timeField(&o.Since) }},
		{Name: "userUuid", field: func(o *QueueAgentsOptions) field { return uuidField(&o.UserUUID) }},
	}
}

// Query returns the options as query parameters.
func (o QueueAgentsOptions) Query() url.Values { return queryOf(agentsParameters(), o) }

// ParseQueueAgentsOptions reads query parameters.
func ParseQueueAgentsOptions(values url.Values) (QueueAgentsOptions, Violations) {
	return parseQuery(agentsParameters(), values, nil)
}
