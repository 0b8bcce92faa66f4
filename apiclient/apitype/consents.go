package apitype

import "time"

// ExtensionConsents announces that consents are kept with their proof.
const ExtensionConsents = "consents"

// MaxConsents limits the consents of a person.
const MaxConsents = 500

// The longest texts of a consent, in code points.
const (
	maxConsentSource  = 200
	maxConsentWording = 2000
)

// MaxConsentAhead limits how far the time of a consent is ahead of the service's clock.
const MaxConsentAhead = 5 * time.Minute

// ConsentChannel is a way in which a donor is contacted.
type ConsentChannel string

// The channels of consents, which are the same as for opt-ins.
const (
	ChannelPhone ConsentChannel = "phone"
	ChannelEmail ConsentChannel = "email"
	ChannelMail  ConsentChannel = "mail"
	ChannelSMS   ConsentChannel = "sms"
)

// ConsentChannels returns all channels.
var ConsentChannels = []ConsentChannel{ChannelPhone, ChannelEmail, ChannelMail, ChannelSMS}

// ConsentBasis is why a donor may be contacted, or may not.
type ConsentBasis string

// The bases of consents.
const (
	BasisConsent   ConsentBasis = "consent"   // The donor agreed. Sets the opt-in to true.
	BasisCustomer  ConsentBasis = "customer"  // The donor has a relation with the organization. Changes no opt-in.
	BasisWithdrawn ConsentBasis = "withdrawn" // The donor objected. Sets the opt-in to false.
)

// ConsentBases returns all bases.
var ConsentBases = []ConsentBasis{BasisConsent, BasisCustomer, BasisWithdrawn}

// Consent is why a donor may be contacted by a channel, or may not, with its proof.
// POST /fundesk/v1/persons/{uuid}/consents
type Consent struct {
	Channel  ConsentChannel `json:"channel"`
	Basis    ConsentBasis   `json:"basis"`
	Source   *string        `json:"source"`   // The place of the consent, such as "web form". Nil if unknown.
	Wording  *string        `json:"wording"`  // What the donor agreed to, in the words shown. Nil if it is not known.
	At       Time           `json:"at"`       // When it was given.
	UserUUID *UUID          `json:"userUuid"` // The user who recorded it. Nil if unknown.
}

// Consents are the consents of a person, newest first.
// GET /fundesk/v1/persons/{uuid}/consents
type Consents struct {
	Consents []Consent `json:"consents"`
}

// Validate checks a consent that is added now.
func (c *Consent) Validate(now time.Time) Violations {
	var v Violations
	requireEnum(&v, "/channel", c.Channel, ConsentChannels)
	requireEnum(&v, "/basis", c.Basis, ConsentBases)
	if c.Basis == BasisConsent && c.Source == nil {
		v.Add("/source", "is required of a consent: where it was given")
	}
	optionalText(&v, "/source", c.Source, maxConsentSource)
	optionalText(&v, "/wording", c.Wording, maxConsentWording)
	requireTime(&v, "/at", c.At)
	if c.At.After(now.Add(MaxConsentAhead)) {
		v.Add("/at", "must not be more than 5 minutes ahead")
	}
	return v
}

// Equal reports whether two consents have the same values.
func (c *Consent) Equal(o Consent) bool {
	return c.Channel == o.Channel && c.Basis == o.Basis && c.At.Equal(o.At) &&
		equalPointers(c.Source, o.Source) &&
		equalPointers(c.Wording, o.Wording) &&
		equalPointers(c.UserUUID, o.UserUUID)
}

// Newest returns the newest consent of a channel, or nil if there is none.
func (c Consents) Newest(channel ConsentChannel) *Consent {
	for i := range c.Consents {
		if c.Consents[i].Channel == channel {
			return &c.Consents[i]
		}
	}
	return nil
}

// Later returns the newest consent of the channel of another one if it is later, or nil. The other one changes no
// opt-in then.
func (c Consents) Later(than Consent) *Consent {
	newest := c.Newest(than.Channel)
	if newest == nil || !newest.At.After(than.At.Time) {
		return nil
	}
	return newest
}

// Overruling returns the later consent because of which another one does not set its opt-in, or nil.
func (c Consents) Overruling(consent Consent) *Consent {
	later, wanted := c.Later(consent), consent.OptIn()
	if later == nil || wanted == nil || equalPointers(later.OptIn(), wanted) {
		return nil
	}
	return later
}

// OptIn returns the opt-in that a consent sets, or nil if it changes none.
func (c *Consent) OptIn() *bool {
	switch c.Basis {
	case BasisConsent:
		return new(true)
	case BasisWithdrawn:
		return new(false)
	default:
		return nil
	}
}

// equalPointers reports whether two values that may be nil are the same.
func equalPointers[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// NewestConsents are the newest consents of a person by channel, in exports and imports of ours only.
type NewestConsents struct {
	Phone *NewestConsent `json:"phone,omitzero"`
	Email *NewestConsent `json:"email,omitzero"`
	Mail  *NewestConsent `json:"mail,omitzero"`
	SMS   *NewestConsent `json:"sms,omitzero"`
}

// NewestConsent is the newest consent of a channel.
type NewestConsent struct {
	Source  *string      `json:"source"`
	Wording *string      `json:"wording"`
	At      *Time        `json:"at"`
	Basis   ConsentBasis `json:"basis"`
}

// Of returns the consent of a channel, or nil if there is none.
func (n *NewestConsents) Of(channel ConsentChannel) *NewestConsent {
	if n == nil {
		return nil
	}
	switch channel {
	case ChannelPhone:
		return n.Phone
	case ChannelEmail:
		return n.Email
	case ChannelMail:
		return n.Mail
	case ChannelSMS:
		return n.SMS
	default:
		return nil
	}
}

// ByChannel returns the newest consent of each channel.
func (c Consents) ByChannel() NewestConsents {
	of := func(channel ConsentChannel) *NewestConsent {
		newest := c.Newest(channel)
		if newest == nil {
			return nil
		}
		return &NewestConsent{
			Source:  newest.Source,
			Wording: newest.Wording,
			At:      &newest.At,
			Basis:   newest.Basis,
		}
	}
	return NewestConsents{
		Phone: of(ChannelPhone),
		Email: of(ChannelEmail),
		Mail:  of(ChannelMail),
		SMS:   of(ChannelSMS),
	}
}

// ConsentsMember is the member, and begins the columns, with the newest consents of a person in a file.
const ConsentsMember = "consents"

// ConsentFields returns the fields of the newest consents of a person in a file: consents.phone.source and so on.
func ConsentFields() []Field[Person] {
	var fields []Field[Person]
	for _, channel := range ConsentChannels {
		field := func(name, help string, kind FieldKind, value func(NewestConsent) any) {
			fields = append(fields, Field[Person]{
				Name: ConsentsMember + "." + string(channel) + "." + name,
				Kind: kind,
				In:   Created,
				Help: help,
				Value: func(p Person) any {
					if newest := p.Consents.Of(channel); newest != nil {
						return value(*newest)
					}
					return nil
				},
			})
		}
		field("source", "where it was given", TextField, func(n NewestConsent) any { return n.Source })
		field("wording", "what the donor agreed to", TextField, func(n NewestConsent) any { return n.Wording })
		field("at", "when it was given", TimeField, func(n NewestConsent) any { return n.At })
		field("basis", "consent, customer or withdrawn", WordField, func(n NewestConsent) any { return n.Basis })
	}
	return fields
}
