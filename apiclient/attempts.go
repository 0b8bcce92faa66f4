package apiclient

import (
	"context"
	"net/url"
	"strings"

	"fundesk/apiclient/apitype"
)

// DescribeAttemptChange returns the change that stores why an attempt did not reach the donor. The attempt is the one
// of the time, and must be stored before.
// PUT /fundesk/v1/calls/{uuid}/attempts/{attemptAt}
func DescribeAttemptChange(call apitype.UUID, at apitype.Time, r apitype.AttemptReasonRequest) (Change, error) {
	ch, err := newChange(OpDescribeAttempt, call, r)
	ch.Path = strings.Replace(ch.Path, "{attemptAt}", url.PathEscape(at.String()), 1)
	return ch, err
}

// Attempts reads the attempts of a call with their reasons. If the service keeps none, the error is of kind rejected.
// GET /fundesk/v1/calls/{uuid}/attempts
func (c *Client) Attempts(ctx context.Context, call apitype.UUID) (Record[apitype.DescribedAttempts], error) {
	path := "/calls/" + call.String() + "/attempts"
	return readExtension[apitype.DescribedAttempts](ctx, c, apitype.ExtensionAttempts, path)
}
