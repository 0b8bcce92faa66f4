package card

import (
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/entry"
)

// Consents are the consents of a donor.
type Consents struct {
	Person apitype.UUID // Zero if none were read.
	Newest apitype.NewestConsents
}

// contactChannels are the channels of the details of a contact.
var contactChannels = map[string]apitype.ConsentChannel{
	entry.OptOutKey: apitype.ChannelPhone,
	"optIns/email":  apitype.ChannelEmail,
	"optIns/mail":   apitype.ChannelMail,
	"optIns/sms":    apitype.ChannelSMS,
}

// ConsentText returns where and when the donor on the desk gave the newest consent of a channel, or "" if none is
// known: "web form, 12 May 2026".
func (k Card) ConsentText(channel apitype.ConsentChannel) string {
	if k.Call == nil || k.Consents.Person != k.Call.PersonUUID {
		return ""
	}
	newest := k.Consents.Newest.Of(channel)
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
