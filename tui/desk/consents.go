package desk

import (
	"context"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
)

// Consents are read once for each donor, with the
// first reading of the call, if the service announces them.

// readConsents reads the newest consents of a person. Nil means that they are not known: the card shows the opt-ins
// alone.
func (d *Day) readConsents(ctx context.Context, person apitype.UUID) *card.Consents {
	has, err := d.Client.Has(ctx, apitype.ExtensionConsents)
	if err != nil || !has {
		return nil
	}
	read, err := d.Client.Consents(ctx, person)
	consents, err := apiclient.Decoded(read, err)
	if err != nil {
		return nil
	}
	return &card.Consents{Person: person, Newest: consents.ByChannel()}
}
