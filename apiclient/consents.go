package apiclient

import (
	"context"

	"fundesk/apiclient/apitype"
)

// AddConsentChange returns the change that adds a consent.
// POST /fundesk/v1/persons/{uuid}/consents
func AddConsentChange(person apitype.UUID, c apitype.Consent) (Change, error) {
	return newChange(OpAddConsent, person, c)
}

// Consents reads the consents of a person, newest first. If the service has none, the error is of kind rejected.
// GET /fundesk/v1/persons/{uuid}/consents
func (c *Client) Consents(ctx context.Context, person apitype.UUID) (Record[apitype.Consents], error) {
	return readExtension[apitype.Consents](ctx, c, apitype.ExtensionConsents, "/persons/"+person.String()+"/consents")
}

// PutChecksChange returns the change that stores the checks of a call.
// PUT /fundesk/v1/calls/{uuid}/checks
func PutChecksChange(call apitype.UUID, checks apitype.CallChecks) (Change, error) {
	return newChange(OpPutChecks, call, checks)
}

// Checks reads what was checked in a call. If the service keeps no checks, the error is of kind rejected.
// GET /fundesk/v1/calls/{uuid}/checks
func (c *Client) Checks(ctx context.Context, call apitype.UUID) (Record[apitype.CallChecks], error) {
	return readExtension[apitype.CallChecks](ctx, c, apitype.ExtensionChecks, "/calls/"+call.String()+"/checks")
}

// readExtension reads a record of an extension below its path, if the service announces the extension.
func readExtension[T any](ctx context.Context, c *Client, extension, path string) (Record[T], error) {
	var r Record[T]
	if err := c.required(ctx, extension, extension); err != nil {
		return r, err
	}
	answer, err := c.read(ctx, request{path: extensionsPath + path})
	if err != nil {
		return r, err
	}
	return record[T](c, answer), checkObject(answer)
}
