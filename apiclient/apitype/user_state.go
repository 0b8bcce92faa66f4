package apitype

import "time"

// ExtensionUserState announces that users can pause.
const ExtensionUserState = "user-state"

// MaxPause limits the length of a pause.
const MaxPause = 12 * time.Hour

// UserStateName is whether a user takes calls.
type UserStateName string

// The states of a user.
const (
	UserReady  UserStateName = "ready"
	UserPaused UserStateName = "paused"
)

// UserStateNames returns all states.
var UserStateNames = []UserStateName{UserReady, UserPaused}

// PauseReason is why a user pauses.
type PauseReason string

// The reasons of pauses.
const (
	PauseBreak     PauseReason = "break"
	PauseLunch     PauseReason = "lunch"
	PauseCoaching  PauseReason = "coaching"
	PauseTechnical PauseReason = "technical"
)

// PauseReasons returns all reasons, in the order of their digits in the Desk.
var PauseReasons = []PauseReason{PauseBreak, PauseLunch, PauseCoaching, PauseTechnical}

// UserStateRequest sets the state of a user. A pause gives the user's leases back, except pending ones.
// PUT /fundesk/v1/queue/users/{uuid}/state
type UserStateRequest struct {
	State  UserStateName `json:"state"`
	Reason *PauseReason  `json:"reason,omitzero"` // Required of a pause, and of nothing else.
}

// Validate checks the values.
func (r *UserStateRequest) Validate() Violations {
	var v Violations
	requireEnum(&v, "/state", r.State, UserStateNames)
	optionalEnum(&v, "/reason", r.Reason, PauseReasons)
	if r.State == UserPaused && r.Reason == nil {
		v.Add("/reason", "is required of a pause")
	}
	if r.State == UserReady && r.Reason != nil {
		v.Add("/reason", "belongs to a pause; leave it out")
	}
	return v
}

// UserState is the state of a user.
// PUT /fundesk/v1/queue/users/{uuid}/state
type UserState struct {
	UserUUID UUID          `json:"userUuid"`
	State    UserStateName `json:"state"`
	Reason   *PauseReason  `json:"reason"` // Nil unless paused.
	Since    Time          `json:"since"`
	Released int           `json:"released"` // The leases that this request gave back.
}
