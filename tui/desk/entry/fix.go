package entry

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/say"
)

// Fix is a detail of the donor or the pledge that an agent may correct: a field with its key.
type Fix struct {
	Press string // The key that it has on every call.
	Why   string // The reason why it cannot be corrected here. Empty if it can.
	Key   string // Its path in the body of the update, such as name/firstName.
	Label string
	Was   string // The recorded value. Empty without one.
	Is    string // The corrected value, or Was without a correction.

	shown    string // Its path in the record.
	kind     apitype.FieldKind
	secret   bool
	ofPledge bool
}

// IsChanged reports whether it was corrected.
func (f Fix) IsChanged() bool { return f.Is != f.Was }

// IsYesNo reports whether its value is yes or no.
func (f Fix) IsYesNo() bool { return f.kind == apitype.YesNoField }

// IsSecret reports whether its value is masked on the screen.
func (f Fix) IsSecret() bool { return f.secret }

// IsPhone reports whether its value is a phone number.
func (f Fix) IsPhone() bool { return f.kind == apitype.PhoneField }

// IsInterval reports whether its value is one of [apitype.DonationIntervals].
func (f Fix) IsInterval() bool { return f.Key == "donationInterval" }

// IsAmount reports whether its value is an amount in euros.
func (f Fix) IsAmount() bool { return f.kind == apitype.AmountField }

// OptOutKey is the detail that ends all calls to a donor.
const OptOutKey = "optIns/phone"

// OptInKeys are the details that say how a donor may be contacted.
var OptInKeys = []string{OptOutKey, "optIns/email", "optIns/mail", "optIns/sms"}

// IsOfPledge reports whether it is a detail of the pledge.
func (f Fix) IsOfPledge() bool { return f.ofPledge }

// operation returns what sends the correction of a detail.
func (f Fix) operation() string {
	if f.ofPledge {
		return apiclient.OpUpdatePledge
	}
	return apiclient.OpUpdatePerson
}

// fixOrder has the key of each detail that apitype gives a key: the digit of each fact, and the letters of its further
// details.
const fixOrder = "1234tab56defgh789opr0uw"

// Recorded returns the details as the record shows them, in the order of their keys.
func Recorded(call apitype.Call) []Fix {
	person := call.Person.Pointer()
	if person == nil {
		return nil
	}
	all := fixesOf(apitype.PersonFields(), person)
	for _, f := range fixesOf(apitype.PledgeFields(), call.PledgeCase.Pointer()) {
		f.ofPledge = true
		all = append(all, f)
	}
	slices.SortFunc(
		all,
		func(a, b Fix) int { return strings.Index(fixOrder, a.Press) - strings.Index(fixOrder, b.Press) },
	)
	return all
}

// fixesOf returns the fields of a record that have a key; a record that is nil shows nothing.
func fixesOf[T any](fields []apitype.Field[T], record *T) []Fix {
	var all []Fix
	for _, field := range fields {
		if field.Key == "" {
			continue
		}
		f := Fix{
			Press:  field.Key,
			Key:    strings.ReplaceAll(field.Path(), ".", "/"),
			Label:  field.Label,
			shown:  field.Name,
			kind:   field.Kind,
			secret: field.Secret,
		}
		if record != nil {
			switch v := field.Value(*record).(type) {
			case *bool:
				f.Was = render.YesNo(v)
			case *apitype.Time:
				if v != nil {
					f.Was = v.Format(time.DateOnly)
				}
			case apitype.Amount:
				f.Was = v.Fixed()
			default:
				f.Was = render.FieldText(v)
			}
		}
		all = append(all, f)
	}
	return all
}

// Text returns a value of a detail in words.
func (f Fix) Text(t say.Texts, value string) string {
	switch {
	case f.IsPhone():
		return t.Locale.Spoken(render.Clean(value))
	case f.IsYesNo(), f.IsInterval():
		return t.Say(render.Words(value))
	case f.IsAmount():
		amount, err := apitype.ParseAmount(value)
		if err == nil {
			return t.Locale.Euros(amount)
		}
	case f.kind == apitype.DateField, f.kind == apitype.TimeField:
		day, err := time.Parse(time.DateOnly, value)
		if err == nil {
			return t.Date(t.Locale.Date(day, "2 January 2006"))
		}
	}
	return render.Clean(value)
}

// readFix returns a typed value as it is sent.
func (e Form) readFix(f Fix, text string) (is, wrong string) {
	if text == "" {
		if f.IsAmount() || f.IsInterval() {
			return "", e.Say("cannot be cleared")
		}
		return "", ""
	}
	switch f.kind {
	case apitype.NameField:
		if strings.ContainsAny(text, "0123456789") && !strings.ContainsFunc(text, unicode.IsLetter) {
			return "", e.Say("is not a name: it has digits and no letter")
		}
		return text, ""
	case apitype.PhoneField:
		return render.International(text, e.Call.Person.Value().Address.Value().Country), ""
	case apitype.DateField, apitype.TimeField:
		if at, err := time.Parse(
			"2-1-2006",
			strings.NewReplacer(".", "-", "/", "-", ". ", "-", " - ", "-").Replace(text),
		); err == nil {
			return at.Format(time.DateOnly), ""
		}
		day, err := apitype.ParseDate(text)
		if err != nil {
			return "", e.Say("is not a day: write 2-12-1967 or 1967-12-02")
		}
		return day.String(), ""
	case apitype.AmountField:
		amount, err := apitype.ParseTypedAmount(text, 0)
		if err != nil {
			return "", e.Say(err.Error())
		}
		return amount.Fixed(), ""
	default:
		return text, ""
	}
}
