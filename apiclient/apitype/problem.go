package apitype

// Problem is the body of a refusal: RFC 9457 with one entry for each wrong value.
// Spec gap: R1.
type Problem struct {
	Type     string     `json:"type"`
	Title    string     `json:"title"`
	Status   int        `json:"status"`
	Detail   string     `json:"detail,omitempty"`
	Instance string     `json:"instance,omitempty"`
	Errors   Violations `json:"errors,omitempty"`
	// Lease is the holder in the refusal of a lease.
	Lease *LeaseHolder `json:"lease,omitzero"`
}
