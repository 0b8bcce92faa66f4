package desk

import (
	"context"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// The card shows the newest consent of each channel beside the opt-in. Consents are read once for each donor, with the
// first reading of the call, if the service announces them.

// shownConsents are the consents of the donor on the desk.
type shownConsents struct {
	person apitype.UUID // Zero if none were read.
	newest apitype.NewestConsents
}

// readConsents reads the newest consents of a person. Nil means that they are not known: the card shows the opt-ins
// alone.
func (d *Day) readConsents(ctx context.Context, person apitype.UUID) *shownConsents {
	has, err := d.Client.Has(ctx, apitype.ExtensionConsents)
	if err != nil || !has {
		return nil
	}
	read, err := d.Client.Consents(ctx, person)
	consents, err := apiclient.Decoded(read, err)
	if err != nil {
		return nil
	}
	return &shownConsents{person: person, newest: consents.ByChannel()}
}

// contactChannels are the channels of the details of a contact.
var contactChannels = map[string]apitype.ConsentChannel{
	optOutKey:      apitype.ChannelPhone,
	"optIns/email": apitype.ChannelEmail,
	"optIns/mail":  apitype.ChannelMail,
	"optIns/sms":   apitype.ChannelSMS,
}

// ConsentText returns where and when the donor on the desk gave the newest consent of a channel, or "" if none is
// known: "web form, 12 May 2026".
func (k *Card) ConsentText(channel apitype.ConsentChannel) string {
	if k.day.Call == nil || k.consents.person != k.day.Call.PersonUUID {
		return ""
	}
	newest := k.consents.newest.Of(channel)
	if newest == nil {
		return ""
	}
	var parts []string
	switch newest.Basis {
	case apitype.BasisConsent:
	case apitype.BasisWithdrawn:
		parts = append(parts, k.Say("withdrawn"))
	case apitype.BasisCustomer:
		parts = append(parts, k.Say("relation"))
	default:
		parts = append(parts, render.Clean(string(newest.Basis)))
	}
	if source := apitype.TextOf(newest.Source); source != "" {
		parts = append(parts, render.Clean(source))
	}
	if newest.At != nil {
		day := dateOf(*newest.At, k.Now().Location())
		parts = append(parts, k.Date(k.Locale.Date(day, "2 January 2006")))
	}
	return strings.Join(parts, ", ")
}
