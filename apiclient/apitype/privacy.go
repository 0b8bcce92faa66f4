package apitype

// EraseRequest asks for the erasure of a person.
// POST /fundesk/v1/persons/{uuid}/erase
type EraseRequest struct {
	Reason string `json:"reason"`          // Why; kept in the audit.
	DryRun bool   `json:"dryRun,omitzero"` // Only count.
}
