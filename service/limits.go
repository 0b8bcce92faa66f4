package service

import "fundesk/apiclient/apitype"

// sizesOfCall refuses a creation that holds too much.
func sizesOfCall(r apitype.CreateCallRequest) (v apitype.Violations) {
	if m := r.ExternalMetadata; m != nil && len(m.AdditionalProperties) > apitype.MaxObject {
		v.Add("/externalMetadata/additionalProperties", "must have %d bytes at most", apitype.MaxObject)
	}
	if len(r.Attempts) > apitype.MaxCallAttempts {
		v.Add("/attempts", "must have %d items at most", apitype.MaxCallAttempts)
	}
	return v
}

// sizesOfPledge refuses a creation that holds too much.
func sizesOfPledge(r apitype.CreatePledgeRequest) (v apitype.Violations) {
	if len(r.FocusAreaUUIDs) > apitype.MaxFocusAreas {
		v.Add("/focusAreaUuids", "must have %d items at most", apitype.MaxFocusAreas)
	}
	if r.ExternalMetadata != nil {
		sizeOfMetadata(&v, *r.ExternalMetadata)
	}
	return v
}

func sizeOfMetadata(v *apitype.Violations, o apitype.Object) {
	if len(o) > apitype.MaxObject {
		v.Add("/externalMetadata", "must have %d bytes at most", apitype.MaxObject)
	}
}
