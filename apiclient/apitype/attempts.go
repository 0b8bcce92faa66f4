package apitype

import (
	"fmt"
	"net/url"
	"time"
)

// ExtensionAttempts announces that the reason of an attempt is kept. It covers also the reason of a callback, and the
// work of an agent.
const ExtensionAttempts = "attempts"

// MaxDeferralReason is the longest reason of a callback, in characters.
const MaxDeferralReason = 200

// MaxWork is the age of the oldest work of an agent that is listed.
const MaxWork = 48 * time.Hour

// NotReached is why an attempt did not reach the donor.
type NotReached string

// The reasons of attempts.
const (
	NotReachedNoAnswer     NotReached = "no-answer"
	NotReachedBusy         NotReached = "busy"
	NotReachedVoicemail    NotReached = "voicemail"
	NotReachedNoSuchNumber NotReached = "no-such-number"
)

// NotReachedReasons returns all reasons, in the order of their digits in the Desk.
var NotReachedReasons = []NotReached{
	NotReachedNoAnswer,
	NotReachedBusy,
	NotReachedVoicemail,
	NotReachedNoSuchNumber,
}

// PhoneKind is one of the two numbers of a person.
type PhoneKind string

// The numbers of a person.
const (
	PhoneMobile PhoneKind = "mobile"
	PhoneHome   PhoneKind = "home"
)

// PhoneKinds returns both.
var PhoneKinds = []PhoneKind{PhoneMobile, PhoneHome}

// AttemptReasonRequest describes an attempt of a call. It replaces an earlier description.
// PUT /fundesk/v1/calls/{uuid}/attempts/{attemptAt}
type AttemptReasonRequest struct {
	Reason *NotReached `json:"reason"` // Nil if unknown.
	Number *PhoneKind  `json:"number"` // The number that was dialled last. Nil if unknown.
}

// Validate checks the values.
func (r *AttemptReasonRequest) Validate() Violations {
	var v Violations
	optionalEnum(&v, "/reason", r.Reason, NotReachedReasons)
	optionalEnum(&v, "/number", r.Number, PhoneKinds)
	return v
}

// DescribedAttempt is an attempt of a call with its reason.
type DescribedAttempt struct {
	AttemptAt Time        `json:"attemptAt"`
	UserUUID  *UUID       `json:"userUuid"`
	Reason    *NotReached `json:"reason"`
	Number    *PhoneKind  `json:"number"`
}

// DescribedAttempts are the attempts of a call, the earliest first.
// GET /fundesk/v1/calls/{uuid}/attempts
type DescribedAttempts struct {
	Attempts []DescribedAttempt `json:"attempts"`
}

// AgentWork is the work of a user, the newest first.
// GET /fundesk/v1/queue/agents/{userUuid}/work
type AgentWork struct {
	Work []AgentWorkItem `json:"work"`
	// HasMore is true if there were too many operations to list. The oldest ones are missing.
	HasMore bool `json:"hasMore,omitzero"`
}

// AgentWorkItem is one operation of a user. It has no data of the donor.
type AgentWorkItem struct {
	Time       Time        `json:"time"`
	Operation  string      `json:"operation"` // One of WorkOperations.
	CallUUID   UUID        `json:"callUuid"`
	Type       CallType    `json:"type"`
	Reason     *NotReached `json:"reason"`     // Of an attempt.
	ResultCode *string     `json:"resultCode"` // Of a completion.
}

// The operations of the work of a user. A call that was given back was shown to the user before.
const (
	WorkAttempt  = "attempt"
	WorkComplete = "complete"
	WorkCancel   = "cancel"
	WorkExpire   = "expire"
	WorkDefer    = "later"
	WorkRelease  = "release"
)

// WorkOperations returns all operations.
var WorkOperations = []string{WorkAttempt, WorkComplete, WorkCancel, WorkExpire, WorkDefer, WorkRelease}

// AgentWorkOptions are the parameters of the work of a user.
// GET /fundesk/v1/queue/agents/{userUuid}/work
type AgentWorkOptions struct {
	Since *Time // 24 hours ago when nil, MaxWork ago at most.
}

func agentWorkParameters() []Filter[AgentWorkOptions] {
	return []Filter[AgentWorkOptions]{
		{Name: "since", field: func(o *AgentWorkOptions) field { return timeField(&o.Since) }},
	}
}

// Query returns the options as query parameters.
func (o AgentWorkOptions) Query() url.Values { return queryOf(agentWorkParameters(), o) }

// ParseAgentWorkOptions reads query parameters.
func ParseAgentWorkOptions(values url.Values) (AgentWorkOptions, Violations) {
	return parseQuery(agentWorkParameters(), values, nil)
}

// The bounds of the rest after an attempt.
const (
	minRest = time.Minute
	maxRest = MaxDeferral
)

// ParseRest reads the rest after an attempt, such as 30m or 48h.
func ParseRest(text string) (time.Duration, error) {
	rest, err := time.ParseDuration(text)
	if err != nil || rest < minRest || rest > maxRest {
		return 0, fmt.Errorf("must be a time from 1m to %dh, such as 30m or 48h", int(maxRest.Hours()))
	}
	return rest, nil
}
