package service

import "fundesk/apiclient/apitype"

// What one record may hold of what the interface leaves without a bound. Lists carry
// whole records, so that a page of 500 stays within tens of megabytes whatever was sent
// before. Spec gap: R8.
const (
	maxObject      = 64 << 10 // Bytes of external metadata.
	maxAttempts    = 1_000    // Of one creation.
	maxAllAttempts = 10_000   // Of one call.
	maxFocusAreas  = 100
)

// sizesOfCall refuses a creation that holds too much.
func sizesOfCall(r apitype.CreateCallRequest) (v apitype.Violations) {
	if m := r.ExternalMetadata; m != nil && len(m.AdditionalProperties) > maxObject {
		v.Add("/externalMetadata/additionalProperties", "must have %d bytes at most", maxObject)
	}
	if len(r.Attempts) > maxAttempts {
		v.Add("/attempts", "must have %d items at most", maxAttempts)
	}
	return v
}

// sizesOfPledge refuses a creation that holds too much.
func sizesOfPledge(r apitype.CreatePledgeRequest) (v apitype.Violations) {
	if len(r.FocusAreaUUIDs) > maxFocusAreas {
		v.Add("/focusAreaUuids", "must have %d items at most", maxFocusAreas)
	}
	if r.ExternalMetadata != nil {
		sizeOfMetadata(&v, *r.ExternalMetadata)
	}
	return v
}

func sizeOfMetadata(v *apitype.Violations, o apitype.Object) {
	if len(o) > maxObject {
		v.Add("/externalMetadata", "must have %d bytes at most", maxObject)
	}
}
