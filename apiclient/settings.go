package apiclient

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

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
// any. After a lost answer, or if a repeat met its own change, it reads whether they are set.
// PUT /fundesk/v1/settings/{organizationUuid}
func (c *Client) SetSettings(ctx context.Context, s apitype.OrganizationSettings, etag string) error {
	if err := c.required(ctx, apitype.ExtensionSettings, "settings"); err != nil {
		return err
	}
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
	body, err := json.Marshal(s)
	if err != nil {
		return &Error{Kind: KindUsage, Message: "the settings cannot be written", Err: err}
	}
	send := request{
		method: http.MethodPut,
		path:   settingsPath + "/" + s.UUID.String(),
		body:   body,
		header: ifMatch(etag),
		isPage: true,
	}
	wasLost := false
	for try := 1; ; try++ {
		answer, err := c.checked(ctx, send)
		if err == nil && answer.Status != http.StatusNoContent {
			err = checkObject(answer)
		}
		failed := asError(err)
		if failed == nil {
			return nil
		}
		wasLost = wasLost || failed.Sent
		if failed.Sent || wasLost && failed.Status == http.StatusPreconditionFailed {
			read, _, err := c.Settings(ctx, "")
			all, err := Decoded(read, err)
			if err == nil &&
				slices.ContainsFunc(
					all.Organizations,
					func(is apitype.OrganizationSettings) bool { return is.UUID == s.UUID && is.Equal(s) },
				) {
				return nil // It has them.
			}
		}
		switch err := c.pause(ctx, failed, try); {
		case KindOf(err) == KindInterrupted:
			return interrupted(Answer{Err: asError(err)}, History{Sent: wasLost})
		case wasLost && err != nil:
			return unknown(failed)
		case err != nil:
			return err
		}
	}
}
