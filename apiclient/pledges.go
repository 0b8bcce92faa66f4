package apiclient

import (
	"net/url"
	"strings"

	"fundesk/apiclient/apitype"
)

const pledgesPath = "/api/v1/pledges"

// CreatePledgeChange returns the change that creates a pledge.
func CreatePledgeChange(r apitype.CreatePledgeRequest) (Change, error) {
	return newCreation(OpCreatePledge, &r.UUID, &r)
}

// UpdatePledgeChange returns the change that updates a pledge.
func UpdatePledgeChange(id apitype.UUID, r apitype.UpdatePledgeRequest) (Change, error) {
	return newChange(OpUpdatePledge, id, r)
}

// PledgeActionChange returns a status action, which has no body. From is the status that was shown, or "" to
// take the status of the first reading.
func PledgeActionChange(id apitype.UUID, action apitype.PledgeAction, from apitype.PledgeStatus) Change {
	ch, _ := newChange(OpPledgeAction, id, nil) // Only a body can fail.
	ch.From = from
	ch.Path = strings.Replace(ch.Path, "{action}", url.PathEscape(string(action)), 1)
	return ch
}
