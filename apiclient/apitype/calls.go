package apitype

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CallStatus is the state of a call. Requested is the first; the others are ends.
type CallStatus string

// The states of a call.
const (
	CallRequested CallStatus = "requested"
	CallCompleted CallStatus = "completed"
	CallCancelled CallStatus = "cancelled"
	CallExpired   CallStatus = "expired"
)

// CallStatuses returns all statuses of a call.
var CallStatuses = []CallStatus{CallRequested, CallCompleted, CallCancelled, CallExpired}

// CallType is the purpose of a call.
type CallType string

// The purposes of a call.
const (
	CallVerification CallType = "verification" // Verify the details of a newly recruited donor.
	CallHappy        CallType = "happy_call"   // Keep an existing donor engaged.
	CallWinback      CallType = "winback"      // Get a donor to resubscribe.
)

// CallTypes returns all types of a call.
var CallTypes = []CallType{CallVerification, CallHappy, CallWinback}

// Call is a phone call requested to a person: every call answer and each node of the
// call list.
type Call struct {
	UUID          UUID       `json:"uuid"`
	Status        CallStatus `json:"status"`
	RequestedAt   Time       `json:"requestedAt"`
	AttemptsCount int        `json:"attemptsCount"`
	// Changes with the status and with attempts. Spec gap: C6.
	LastUpdatedAt           Time     `json:"lastUpdatedAt"`
	CancelledAt             *Time    `json:"cancelledAt"`
	CompletedAt             *Time    `json:"completedAt"`
	ExpiredAt               *Time    `json:"expiredAt"`
	Notes                   *string  `json:"notes"` // The properties of the call itself. The result has its own.
	PersonUUID              UUID     `json:"personUuid"`
	RelatedCaseUUID         *UUID    `json:"relatedCaseUuid"`
	CallingOrganizationUUID *UUID    `json:"callingOrganizationUuid"`
	Type                    CallType `json:"type"`
	RecordingDuration       *Number  `json:"recordingDuration"` // Seconds.

	ExternalMetadata Embedded[CallExternalMetadata] `json:"externalMetadata,omitzero"`
	Attempts         Embedded[[]CallAttempt]        `json:"attempts,omitzero"`
	Result           Embedded[CallResult]           `json:"result,omitzero"`
	PledgeCase       Embedded[Pledge]               `json:"pledgeCase,omitzero"`
	Person           Embedded[Person]               `json:"person,omitzero"`
	Transactions     Embedded[[]Transaction]        `json:"transactions,omitzero"`
}

// CallFields returns the fields of a call, in the order of their columns.
func CallFields() []Field[Call] {
	metadata := func(value func(CallExternalMetadata) any) func(Call) any {
		return func(c Call) any { return value(c.ExternalMetadata.Value()) }
	}
	result := func(value func(CallResult) any) func(Call) any {
		return func(c Call) any { return value(c.Result.Value()) }
	}
	person := func(value func(Person) any) func(Call) any {
		return func(c Call) any { return value(c.Person.Value()) }
	}
	return []Field[Call]{
		{
			Name:    "uuid",
			In:      Created,
			Default: true,
			Help:    "UUID (version 4) of the new call; chosen when omitted",
			Value:   func(c Call) any { return c.UUID },
		},
		{
			Name:    "status",
			Kind:    WordField,
			In:      Created,
			Default: true,
			Help:    "external calls: requested, completed, cancelled or expired",
			Values:  Texts(CallStatuses),
			Value:   func(c Call) any { return c.Status },
		},
		{
			Name:    "type",
			Kind:    WordField,
			In:      Created,
			Default: true,
			Help:    "verification, happy_call or winback",
			Example: "happy_call",
			Values:  Texts(CallTypes),
			Value:   func(c Call) any { return c.Type },
		},
		{
			Name:    "requestedAt",
			Kind:    TimeField,
			In:      Created,
			Title:   "requested",
			Default: true,
			Help:    "time of the request (default: now)",
			Example: "2026-12-01T09:00:00Z",
			Value:   func(c Call) any { return &c.RequestedAt },
		},
		{
			Name:    "attemptsCount",
			Kind:    NumberField,
			Title:   "tries",
			Default: true,
			Value:   func(c Call) any { return c.AttemptsCount },
		},
		{
			Name:  "lastUpdatedAt",
			Kind:  TimeField,
			Title: "updated",
			Value: func(c Call) any { return &c.LastUpdatedAt },
		},
		{
			Name:  "cancelledAt",
			Kind:  TimeField,
			In:    Created,
			Title: "cancelled",
			Help:  "external calls: time of the cancellation",
			Value: func(c Call) any { return c.CancelledAt },
		},
		{
			Name:  "completedAt",
			Kind:  TimeField,
			In:    Created,
			Title: "completed",
			Help:  "external calls: time of the completion",
			Value: func(c Call) any { return c.CompletedAt },
		},
		{
			Name:  "expiredAt",
			Kind:  TimeField,
			Title: "expired",
			Value: func(c Call) any { return c.ExpiredAt },
		},
		{
			Name:    "personUuid",
			In:      Created,
			Title:   "person",
			Default: true,
			Help:    "person to call",
			Example: ExampleUUID,
			Value:   func(c Call) any { return c.PersonUUID },
		},
		{Sent: "requestedByUserUuid", In: Created, Help: "user who requests the call"},
		{
			Name:  "relatedCaseUuid",
			In:    Created,
			Help:  "pledge that the call is about",
			Value: func(c Call) any { return c.RelatedCaseUUID },
		},
		{
			Name:  "callingOrganizationUuid",
			In:    Created,
			Help:  "organization that performs the call",
			Value: func(c Call) any { return c.CallingOrganizationUUID },
		},
		{Name: "recordingDuration", Kind: NumberField, Value: func(c Call) any { return c.RecordingDuration }},
		{
			Name:    "result.resultCode",
			In:      Created,
			Title:   "result",
			Default: true,
			Help:    "external calls: result code",
			Value:   result(func(r CallResult) any { return r.ResultCode }),
		},
		{
			Name:  "result.donorRetentionRating",
			Kind:  NumberField,
			In:    Created,
			Help:  "external calls: rating, 0 to 10",
			Value: result(func(r CallResult) any { return r.DonorRetentionRating }),
		},
		{
			Name:  "result.completedAt",
			Kind:  TimeField,
			In:    Created,
			Flag:  "result-completed-at",
			Help:  "external calls: time of the result",
			Value: result(func(r CallResult) any { return r.CompletedAt }),
		},
		{
			Name:  "result.notes",
			In:    Created,
			Flag:  "result-notes",
			Help:  "external calls: notes of the result",
			Value: result(func(r CallResult) any { return r.Notes }),
		},
		{
			Name:  "notes",
			In:    Created,
			Help:  "notes for the agent",
			Value: func(c Call) any { return c.Notes },
		},
		{
			Name:  "externalMetadata.applicationName",
			In:    Created,
			Help:  "external system that handles the call; makes it external",
			Value: metadata(func(m CallExternalMetadata) any { return m.ApplicationName }),
		},
		{
			Name:  "externalMetadata.referenceId",
			In:    Created,
			Help:  "identifier in the external system; makes the call external",
			Value: metadata(func(m CallExternalMetadata) any { return m.ReferenceID }),
		},
		{
			Name:  "externalMetadata.agentReferenceId",
			In:    Created,
			Help:  "agent in the external system",
			Value: metadata(func(m CallExternalMetadata) any { return m.AgentReferenceID }),
		},
		{
			Name:  "externalMetadata.statusCode",
			In:    Created,
			Help:  "status code in the external system",
			Value: metadata(func(m CallExternalMetadata) any { return m.StatusCode }),
		},
		{
			Name:  "externalMetadata.statusDescription",
			In:    Created,
			Help:  "status in the external system in words",
			Value: metadata(func(m CallExternalMetadata) any { return m.StatusDescription }),
		},
		{
			Sent:   "externalMetadata.additionalProperties",
			Recast: true,
			Kind:   ObjectField,
			In:     Created,
			NoFlag: true,
			Help:   "further properties, a JSON object",
		},
		{
			Sent: "externalSource.name",
			In:   Created,
			Flag: "external-source-name",
			Help: "external calls: name of the source",
		},
		{
			Sent: "externalSource.identifier",
			In:   Created,
			Flag: "external-source-identifier",
			Help: "external calls: identifier at the source",
		},
		{
			Sent:   "attempts",
			Recast: true,
			Kind:   ObjectField,
			In:     Created,
			NoFlag: true,
			Help:   `external calls: attempts, JSON such as [{"createdAt":"…"}]`,
		},
		{Name: "person.firstName", Value: person(func(p Person) any { return p.FirstName })},
		{Name: "person.lastNamePrefix", Value: person(func(p Person) any { return p.LastNamePrefix })},
		{Name: "person.lastName", Value: person(func(p Person) any { return p.LastName })},
		{Name: "person.phoneNumber", Kind: PhoneField, Value: person(func(p Person) any { return p.PhoneNumber })},
		{Name: "person.email", Value: person(func(p Person) any { return p.Email })},
		{
			Name:  "person.mobilePhoneNumber",
			Kind:  PhoneField,
			Value: person(func(p Person) any { return p.MobilePhoneNumber }),
		},
		{Name: "pledgeCase.status", Value: func(c Call) any { return c.PledgeCase.Value().Status }},
	}
}

// CallExternalMetadata has the names of a call in an external system.
type CallExternalMetadata struct {
	ApplicationName      *string `json:"applicationName"`
	ReferenceID          *string `json:"referenceId"`
	AgentReferenceID     *string `json:"agentReferenceId"`
	StatusCode           *string `json:"statusCode"`
	StatusDescription    *string `json:"statusDescription"`
	AdditionalProperties Object  `json:"additionalProperties"`
}

// CallAttempt records an attempt to call the person.
type CallAttempt struct {
	UserUUID  *UUID `json:"userUuid"`
	AttemptAt Time  `json:"attemptAt"`
	CreatedAt Time  `json:"createdAt"`
}

// CallResult is the result of a completed call.
type CallResult struct {
	ResultCode           *string `json:"resultCode"`
	CompletedAt          *Time   `json:"completedAt"`
	Notes                *string `json:"notes"`
	DonorRetentionRating *Number `json:"donorRetentionRating"` // 0 to 10. Spec gap: C8.
}

// The values of the include parameter of the call list.
const (
	IncludePerson              = "person"
	IncludePersonQualityResult = "personQualityResult" // Implies person. Spec gap: L10.
	IncludePledge              = "pledge"
	IncludeTransactions        = "transactions"
	// Deprecated: has no effect.
	IncludeRecruiterFullName = "recruiterFullName"
)

// CallIncludes returns all values of the include parameter of the call list.
var CallIncludes = []string{
	IncludePerson,
	IncludePersonQualityResult,
	IncludePledge,
	IncludeTransactions,
	IncludeRecruiterFullName,
}

// NoExternalReference is the literal value of both external filters that finds the
// calls without external reference.
const NoExternalReference = "null"

// CallListOptions are the parameters of the call list.
// GET /api/v1/calls (interface: Calls)
type CallListOptions struct {
	Paging
	OwningOrganizationUUID  *UUID // Owner of the person the call is for.
	ExternalStatusCode      string
	ExternalReferenceID     string // With ExternalApplicationName only.
	ExternalApplicationName string // With ExternalReferenceID only.
	RequestedFrom           *Time  // With RequestedUntil only.
	RequestedUntil          *Time  // With RequestedFrom only.
	RequestedAfter          *Time
	UpdatedAfter            *Time // Compares LastUpdatedAt.
	Include                 []string
	// Statuses needs a service that announces ExtensionStatus, because the interface does not have it. Empty chooses
	// all.
	Statuses []CallStatus
	// PersonUUID chooses the calls to one person, where ExtensionFilters is announced.
	PersonUUID *UUID
	// CompletedByUserUUID chooses the calls that a user completed, where ExtensionCompletedBy is announced.
	CompletedByUserUUID *UUID
	Revisions           bool // Edges carry them, where ExtensionRevisions is announced.
	AttemptReasons      bool // Edges carry the reasons of attempts, where ExtensionAttempts is announced.
	Completers          bool // Edges carry the users of completions, where ExtensionCompleters is announced.
	Checks              bool // Edges carry the checks, where ExtensionDetails is announced.
}

// CallFilters returns the filters of the call list.
func CallFilters() []Filter[CallListOptions] {
	return []Filter[CallListOptions]{
		{
			"owningOrganizationUuid",
			"owning-organization",
			"only calls to persons of this organization",
			func(o *CallListOptions) field { return uuidField(&o.OwningOrganizationUUID) },
		},
		{
			"externalStatusCode",
			"",
			"only calls with this status code in the external system",
			func(o *CallListOptions) field { return textField(&o.ExternalStatusCode) },
		},
		{
			"externalReferenceId",
			"",
			"only this call of the external system; with --external-application-name",
			func(o *CallListOptions) field { return textField(&o.ExternalReferenceID) },
		},
		{
			"externalApplicationName",
			"",
			"name of the external system; with --external-reference-id",
			func(o *CallListOptions) field { return textField(&o.ExternalApplicationName) },
		},
		{
			"requestedFrom",
			"",
			"only calls requested at or after this time; with --requested-until",
			func(o *CallListOptions) field { return timeField(&o.RequestedFrom) },
		},
		{
			"requestedUntil",
			"",
			"only calls requested at or before this time, or the end of this day",
			func(o *CallListOptions) field { return untilField(&o.RequestedUntil) },
		},
		{
			"requestedAfter",
			"",
			"only calls requested after this time",
			func(o *CallListOptions) field { return timeField(&o.RequestedAfter) },
		},
		{
			"updatedAfter",
			"",
			"only calls updated after this time",
			func(o *CallListOptions) field { return timeField(&o.UpdatedAfter) },
		},
		{"include", "", "embed person, personQualityResult, pledge, transactions", func(o *CallListOptions) field {
			return listField(&o.Include, CallIncludes[:4], false)
		}},
	}
}

// CompletedBy returns the filter of the call list by the user of the completion, for services that announce
// ExtensionCompletedBy.
func CompletedBy() Filter[CallListOptions] {
	return Filter[CallListOptions]{
		Name: "completedBy",
		Help: "only calls that this user completed",
		field: func(o *CallListOptions) field {
			return uuidField(&o.CompletedByUserUUID)
		},
	}
}

// CallSelection chooses among calls that were retrieved: the interface has no filter for
// these.
type CallSelection struct {
	Statuses    []CallStatus
	Types       []CallType
	PersonUUID  *UUID
	ResultCode  string
	Attempts    []string // How many; manyAttempts for that and more.
	AttemptBy   *UUID    // The user of an attempt.
	CompletedOn *Time    // Any time of the local day.
}

// manyAttempts is the largest number of attempts with a group of its own.
const manyAttempts = 10

// AttemptsGroup returns the group of a number of attempts in CallSelection: "0", "1", "10+".
func AttemptsGroup(n int) string {
	if n >= manyAttempts {
		return strconv.Itoa(manyAttempts) + "+"
	}
	return strconv.Itoa(n)
}

// AttemptsGroups returns all groups, the fewest attempts first.
func AttemptsGroups() []string {
	var all []string
	for n := range manyAttempts + 1 {
		all = append(all, AttemptsGroup(n))
	}
	return all
}

// hasAttempts reports whether a number of attempts is one of some groups, of which "3+" is three and more.
func hasAttempts(groups []string, n int) bool {
	return slices.ContainsFunc(groups, func(group string) bool {
		least, isOpen := strings.CutSuffix(group, "+")
		number, err := strconv.Atoi(least)
		return err == nil && (n == number || isOpen && n > number)
	})
}

// CallSelections returns the filters that look at retrieved records.
func CallSelections() []Filter[CallSelection] {
	return []Filter[CallSelection]{
		{
			"status",
			"",
			"filtered on your computer: requested, completed, cancelled, expired",
			func(o *CallSelection) field {
				return listField(&o.Statuses, CallStatuses, true)
			},
		},
		{"type", "", "filtered on your computer: verification, happy_call, winback", func(o *CallSelection) field {
			return listField(&o.Types, CallTypes, true)
		}},
		{
			"person",
			"",
			"filtered on your computer: calls to this person",
			func(o *CallSelection) field { return uuidField(&o.PersonUUID) },
		},
		{
			"resultCode",
			"",
			"filtered on your computer: calls with this result",
			func(o *CallSelection) field { return textField(&o.ResultCode) },
		},
		{
			"attempts",
			"",
			"filtered on your computer: calls with this number of attempts, 0 to 9, or 3+ for three and more",
			func(o *CallSelection) field {
				all := AttemptsGroups()
				for n := 1; n < manyAttempts; n++ {
					all = append(all, strconv.Itoa(n)+"+") // Open above.
				}
				return listField(&o.Attempts, all, true)
			},
		},
		{
			"attemptBy",
			"",
			"filtered on your computer: calls with an attempt by this user",
			func(o *CallSelection) field { return uuidField(&o.AttemptBy) },
		},
		{
			"completedOn",
			"",
			"filtered on your computer: calls completed on this day, in your time zone",
			func(o *CallSelection) field { return timeField(&o.CompletedOn) },
		},
	}
}

// IsEmpty reports whether every call passes.
func (s CallSelection) IsEmpty() bool { return reflect.ValueOf(s).IsZero() }

// Passes reports whether a call is chosen.
func (s CallSelection) Passes(c Call) bool {
	code := c.Result.Value().ResultCode
	isOfAgent := func(a CallAttempt) bool { return a.UserUUID != nil && *a.UserUUID == *s.AttemptBy }
	isSameDay := func(a, b Time) bool {
		return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
	}
	return (len(s.Statuses) == 0 || slices.Contains(s.Statuses, c.Status)) &&
		(len(s.Types) == 0 || slices.Contains(s.Types, c.Type)) &&
		(s.PersonUUID == nil || c.PersonUUID == *s.PersonUUID) &&
		(s.ResultCode == "" || code != nil && *code == s.ResultCode) &&
		(len(s.Attempts) == 0 || hasAttempts(s.Attempts, c.AttemptsCount)) &&
		(s.AttemptBy == nil || slices.ContainsFunc(c.Attempts.Value(), isOfAgent)) &&
		(s.CompletedOn == nil || c.CompletedAt != nil && isSameDay(*c.CompletedAt, *s.CompletedOn))
}

// callParameters returns all parameters of the call list. personUuid, completedByUserUuid, status and those of
// edges are extensions.
func callParameters() []Filter[CallListOptions] {
	return slices.Concat(CallFilters(), []Filter[CallListOptions]{
		{Name: "personUuid", field: func(o *CallListOptions) field { return uuidField(&o.PersonUUID) }},
		{Name: "completedByUserUuid", field: CompletedBy().field},
		{Name: "status", field: func(o *CallListOptions) field {
			f := listField(&o.Statuses, CallStatuses, false)
			f.texts = func() []string { return Texts(o.Statuses) } // Repeated, as each service of ours has read it.
			return f
		}},
		revisionsFilter(func(o *CallListOptions) *bool { return &o.Revisions }),
		switchFilter("completers", func(o *CallListOptions) *bool { return &o.Completers }),
		switchFilter("attemptReasons", func(o *CallListOptions) *bool { return &o.AttemptReasons }),
		switchFilter("checks", func(o *CallListOptions) *bool { return &o.Checks }),
	}, within(func(o *CallListOptions) *Paging { return &o.Paging }, pageFilters()))
}

// Query returns the options as query parameters.
func (o CallListOptions) Query() url.Values { return queryOf(callParameters(), o) }

// ParseCallListOptions reads query parameters.
func ParseCallListOptions(values url.Values) (CallListOptions, Violations) {
	return parseQuery(callParameters(), values, func(o *CallListOptions) Violations { return o.Validate() })
}

// Validate checks which parameters go together.
func (o CallListOptions) Validate() Violations {
	var v Violations
	for _, name := range o.Include {
		if !slices.Contains(CallIncludes, name) {
			v.addParameter("include", "must be one of %s", strings.Join(CallIncludes, ", "))
		}
	}
	for _, status := range o.Statuses {
		if !slices.Contains(CallStatuses, status) {
			v.addParameter("status", "must be one of requested, completed, cancelled, expired")
		}
	}
	if (o.RequestedFrom == nil) != (o.RequestedUntil == nil) { // Spec gap: L6
		v.addParameter("requestedFrom", "must be used with requestedUntil")
	}
	switch name, reference := o.ExternalApplicationName, o.ExternalReferenceID; { // Spec gap: L12
	case (name == "") != (reference == ""):
		v.addParameter("externalApplicationName", "must be used with externalReferenceId")
	case (name == NoExternalReference) != (reference == NoExternalReference):
		v.addParameter("externalApplicationName", "must be null together with externalReferenceId")
	}
	return v
}
