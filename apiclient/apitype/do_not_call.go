package apitype

// ExtensionDoNotCall announces that opt-outs hold for the number, and the paths that check and change them.
const ExtensionDoNotCall = "do-not-call"

// NumberRequest names a phone number.
// POST /fundesk/v1/do-not-call/check
type NumberRequest struct {
	Number string `json:"number"` // International format.
}

// Validate checks the number.
func (r *NumberRequest) Validate() Violations {
	var v Violations
	stored, problem := checkPhone(r.Number)
	if problem != "" {
		v.Add("/number", "%s", problem)
		return v
	}
	r.Number = stored
	return v
}

// NumberState reports whether a number is blocked.
type NumberState struct {
	Blocked bool  `json:"blocked"`
	Since   *Time `json:"since"` // Nil if it is not blocked.
}

// BlockRequest blocks or unblocks a phone number for an organization.
// POST /fundesk/v1/do-not-call
// POST /fundesk/v1/do-not-call/remove
type BlockRequest struct {
	Number           string `json:"number"` // International format.
	OrganizationUUID UUID   `json:"organizationUuid"`
}

// Validate checks the values.
func (r *BlockRequest) Validate() Violations {
	number := NumberRequest{Number: r.Number}
	v := number.Validate()
	r.Number = number.Number
	requireUUID(&v, "/organizationUuid", r.OrganizationUUID)
	return v
}
