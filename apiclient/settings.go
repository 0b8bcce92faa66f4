package apiclient

import (
	"context"
	"net/http"

	"fundesk/apiclient/apitype"
)

// settingsPath is the path of the floor's settings.
const settingsPath = extensionsPath + "/settings"

// Settings reads the settings of the floor. If they still have the revision etag, isSame is true and the settings are
// empty. Without settings in the service, the error is of kind rejected.
// GET /fundesk/v1/settings
func (c *Client) Settings(ctx context.Context, etag string) (r Record[apitype.Settings], isSame bool, err error) {
	if err := c.required(ctx, apitype.ExtensionSettings, "settings"); err != nil {
		return r, false, err
	}
	read := request{path: settingsPath, isPage: true}
	if etag != "" {
		read.header = http.Header{"If-None-Match": {etag}}
	}
	answer, err := c.read(ctx, read)
	if refused := asError(err); etag != "" && refused != nil && refused.Status == http.StatusNotModified {
		return r, true, nil
	}
	if err != nil {
		return r, false, err
	}
	return record[apitype.Settings](c, answer), false, checkObject(answer)
}

// SetSettings replaces the settings of one organization if they still have the revision etag. An empty etag replaces
// any.
// PUT /fundesk/v1/settings/{organizationUuid}
func (c *Client) SetSettings(ctx context.Context, s apitype.OrganizationSettings, etag string) error {
	if s.HasRules() {
		const what = "rules of who may be called, such as require_opt_in, years_after_end, country and holidays"
		if err := c.required(ctx, apitype.ExtensionRules, what); err != nil {
			return err
		}
	}
	if len(s.RequiredChecks) > 0 {
		if err := c.required(ctx, apitype.ExtensionChecks, "checks, which required_checks needs"); err != nil {
			return err
		}
	}
	if len(s.NotReached) > 0 {
		const needed = "reasons of attempts, which not_reached needs"
		if err := c.required(ctx, apitype.ExtensionAttempts, needed); err != nil {
			return err
		}
	}
	ch, err := newChange(OpSetSettings, s.UUID, s)
	if err != nil {
		return err
	}
	ch.Revision = etag
	_, err = c.Send(ctx, ch)
	return err
}
