package apitype

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CreateCallRequest is the body of a call creation. ExternalMetadata makes the call
// external.
// POST /api/v1/calls (interface: Calls)
type CreateCallRequest struct {
	UUID                    *UUID       `json:"uuid,omitzero"`   // Generated when omitted.
	Status                  *CallStatus `json:"status,omitzero"` // External calls only.
	RequestedAt             Time        `json:"requestedAt"`
	RequestedByUserUUID     *UUID       `json:"requestedByUserUuid,omitzero"`
	CancelledAt             *Time       `json:"cancelledAt,omitzero"` // External calls only.
	CompletedAt             *Time       `json:"completedAt,omitzero"` // External calls only.
	Notes                   *string     `json:"notes,omitzero"`
	PersonUUID              UUID        `json:"personUuid"`
	RelatedCaseUUID         *UUID       `json:"relatedCaseUuid,omitzero"`
	CallingOrganizationUUID *UUID       `json:"callingOrganizationUuid,omitzero"`
	Type                    *CallType   `json:"type,omitzero"` // Service-managed calls only, required there.

	ExternalMetadata *CallExternalMetadataRequest `json:"externalMetadata,omitzero"`
	ExternalSource   *ExternalSource              `json:"externalSource,omitzero"` // External calls only.
	Attempts         []CallAttemptRequest         `json:"attempts,omitzero"`       // External calls only.
	Result           *CallResultRequest           `json:"result,omitzero"`         // External calls only.
}

// CallExternalMetadataRequest is the external metadata of a creation.
type CallExternalMetadataRequest struct {
	ApplicationName      *string       `json:"applicationName,omitzero"`
	ReferenceID          *string       `json:"referenceId,omitzero"`
	AgentReferenceID     *string       `json:"agentReferenceId,omitzero"`
	StatusCode           *string       `json:"statusCode,omitzero"`
	StatusDescription    *string       `json:"statusDescription,omitzero"`
	AdditionalProperties EncodedObject `json:"additionalProperties,omitzero"`
}

// CallAttemptRequest is one attempt of an external call's creation.
type CallAttemptRequest struct {
	CreatedAt Time  `json:"createdAt"`
	UserUUID  *UUID `json:"userUuid,omitzero"`
}

// CallResultRequest is the result of a call as it is sent.
type CallResultRequest struct {
	CompletedAt          *Time   `json:"completedAt,omitzero"` // The processing time when omitted.
	Notes                *string `json:"notes,omitzero"`
	DonorRetentionRating *Number `json:"donorRetentionRating,omitzero"` // 0 to 10.
	ResultCode           *string `json:"resultCode,omitzero"`
}

// IsExternal reports whether the call will be managed in an external system.
func (r *CreateCallRequest) IsExternal() bool { return r.ExternalMetadata != nil }

// Validate checks the shape of the request and which fields its mode forbids.
// Spec gap: C9.
func (r *CreateCallRequest) Validate() Violations {
	var v Violations
	newUUID(&v, "/uuid", r.UUID)
	requireTime(&v, "/requestedAt", r.RequestedAt)
	optionalText(&v, "/notes", r.Notes, MaxNotes)
	requireUUID(&v, "/personUuid", r.PersonUUID)
	optionalEnum(&v, "/type", r.Type, CallTypes)
	optionalEnum(&v, "/status", r.Status, CallStatuses)
	if r.Result != nil {
		r.Result.validate(&v)
	}
	if r.IsExternal() {
		r.validateExternal(&v)
	} else {
		r.validateManaged(&v)
	}
	return v
}

// validateManaged refuses what a service-managed creation must not carry.
func (r *CreateCallRequest) validateManaged(v *Violations) {
	if r.Type == nil {
		v.Add("/type", "is required for a service-managed call")
	}
	refuse(
		v,
		"is not allowed for a service-managed call; external calls carry externalMetadata",
		givenField{
			"status",
			r.Status != nil,
		},
		givenField{"cancelledAt", r.CancelledAt != nil},
		givenField{"completedAt", r.CompletedAt != nil},
		givenField{
			"externalSource",
			r.ExternalSource != nil,
		},
		givenField{"attempts", r.Attempts != nil},
		givenField{"result", r.Result != nil},
	)
}

// validateExternal checks what only an external creation carries.
func (r *CreateCallRequest) validateExternal(v *Violations) {
	if r.Type != nil {
		v.Add("/type", "is not allowed for an external call, which becomes a verification")
	}
	status := CallRequested
	if r.Status != nil {
		status = *r.Status
	}
	refuse(
		v,
		"does not fit the status",
		givenField{"completedAt", r.CompletedAt != nil && status != CallCompleted},
		givenField{
			"cancelledAt",
			r.CancelledAt != nil && status != CallCancelled,
		},
		givenField{"result", r.Result != nil && status != CallCompleted},
	)
	if r.ExternalSource != nil {
		r.ExternalSource.validate(v, "/externalSource")
	}
	m := r.ExternalMetadata
	optionalText(v, "/externalMetadata/applicationName", m.ApplicationName, maxText)
	optionalText(v, "/externalMetadata/referenceId", m.ReferenceID, maxText)
	optionalText(v, "/externalMetadata/agentReferenceId", m.AgentReferenceID, maxText)
	optionalText(v, "/externalMetadata/statusCode", m.StatusCode, maxText)
	optionalText(v, "/externalMetadata/statusDescription", m.StatusDescription, maxText)
	for i, attempt := range r.Attempts {
		requireTime(v, pointerAt("/attempts", i, "createdAt"), attempt.CreatedAt)
	}
}

// validate checks a result under /result. Spec gap: C8.
func (r *CallResultRequest) validate(v *Violations) {
	optionalText(v, "/result/notes", r.Notes, MaxNotes)
	if n := r.DonorRetentionRating; n != nil {
		n.validate(v, "/result/donorRetentionRating")
	}
	if code := r.ResultCode; code != nil && !isResultCode(*code) {
		v.Add("/result/resultCode", wrongResultCode)
	}
}

// maxRating is the longest text of a rating. Every number of a program is shorter: the digits are kept as they were
// sent, in each answer with the call.
const maxRating = 32

// validate checks a rating at pointer. Spec gap: C8.
func (n Number) validate(v *Violations, pointer string) {
	isOutside := n.Compare(NumberFromInt(0)) < 0 || n.Compare(NumberFromInt(10)) > 0
	if isOutside {
		v.Add(pointer, "must be a number from 0 to 10")
	} else if len(n.String()) > maxRating {
		v.Add(pointer, "must be written with %d characters at most", maxRating)
	}
}

const wrongResultCode = "must be 1 to 100 printable characters"

func isResultCode(code string) bool {
	return code != "" && utf8.ValidString(code) && utf8.RuneCountInString(code) <= 100 &&
		!strings.ContainsFunc(code, func(r rune) bool { return !unicode.IsPrint(r) })
}

// AddAttemptRequest is the body of a call attempt.
// PUT /api/v1/calls/{uuid}/actions/add-attempt (interface: Calls)
type AddAttemptRequest struct {
	UserUUID  *UUID `json:"userUuid,omitzero"`
	AttemptAt *Time `json:"attemptAt,omitzero"` // The processing time when omitted.
}

// Validate returns no violation: the types decide the whole shape.
func (r *AddAttemptRequest) Validate() Violations { return nil }

// CompleteCallRequest is the body of a call's completion.
// PUT /api/v1/calls/{uuid}/actions/complete (interface: Calls)
type CompleteCallRequest struct {
	UserUUID *UUID              `json:"userUuid,omitzero"`
	Result   *CallResultRequest `json:"result,omitzero"`
}

// Validate checks the result.
func (r *CompleteCallRequest) Validate() Violations {
	var v Violations
	if r.Result != nil {
		r.Result.validate(&v)
	}
	return v
}

// CancelCallRequest is the body of a call's cancellation.
// PUT /api/v1/calls/{uuid}/actions/cancel (interface: Calls)
type CancelCallRequest struct {
	CancelledAt *Time `json:"cancelledAt,omitzero"` // The processing time when omitted.
}

// Validate returns no violation: the types decide the whole shape.
func (r *CancelCallRequest) Validate() Violations { return nil }

// ExpireCallRequest is the body of a call's expiry.
// PUT /api/v1/calls/{uuid}/actions/expire (interface: Calls)
type ExpireCallRequest struct {
	ExpiredAt *Time `json:"expiredAt,omitzero"` // The processing time when omitted.
}

// Validate returns no violation: the types decide the whole shape.
func (r *ExpireCallRequest) Validate() Violations { return nil }
