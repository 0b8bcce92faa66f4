package desk

import (
	"context"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
)

// readConsents reads the newest consents of a person, if the service announces them. Nil means that they are not known:
// the card shows the opt-ins alone.
func readConsents(ctx context.Context, client *apiclient.Client, person apitype.UUID) *card.Consents {
	has, err := client.Has(ctx, apitype.ExtensionConsents)
	if err != nil || !has {
		return nil
	}
	read, err := client.Consents(ctx, person)
	consents, err := apiclient.Decoded(read, err)
	if err != nil {
		return nil
	}
	return &card.Consents{Person: person, Newest: consents.ByChannel()}
}
