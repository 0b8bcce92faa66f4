package desk

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Fix is a detail of the donor or the pledge that an agent may correct.
type Fix struct {
	Key   string // Where it stands in the body of the update, such as name/firstName.
	Label string
	Was   string // As it is recorded; "" for nothing.
	Is    string // As it was corrected; Was where it was not.
	kind  fixKind
}

// IsChanged reports whether it was corrected.
func (f Fix) IsChanged() bool { return f.Is != f.Was }

// IsYesNo reports whether its value is yes or no.
func (f Fix) IsYesNo() bool { return f.kind == fixYesNo }

// IsSecret reports whether its value is masked on the screen.
func (f Fix) IsSecret() bool { return f.Key == "iban" }

// IsPhone reports whether its value is a phone number.
func (f Fix) IsPhone() bool { return f.kind == fixPhone }

// fixKind is what a detail holds.
type fixKind int

const (
	fixText fixKind = iota
	fixPhone
	fixDate
	fixYesNo
	// Of the pledge.
	fixAmount
	fixInterval
	fixEnd
)

func (k fixKind) ofPledge() bool { return k >= fixAmount }

// optOutKey is the detail that ends all calls to a donor.
const optOutKey = "optIns/phone"

// Fixes are the details of the call on the desk, in an order that never changes.
func (d *Day) Fixes() []Fix {
	person := d.Call.Person.Pointer()
	if person == nil {
		return nil
	}
	born := ""
	if person.DateOfBirth != nil {
		born = person.DateOfBirth.String()
	}
	address := person.Address.Value()
	all := []Fix{
		{Key: "mobilePhoneNumber", Label: "mobile", Was: Value(person.MobilePhoneNumber), kind: fixPhone},
		{Key: "phoneNumber", Label: "home", Was: Value(person.PhoneNumber), kind: fixPhone},
		{Key: "email", Label: "e-mail", Was: Value(person.Email)},
		{Key: optOutKey, Label: "may be phoned", Was: YesNo(person.OptInPhone), kind: fixYesNo},
	}
	if pledge := d.Call.PledgeCase.Pointer(); pledge != nil && pledge.ExternalSource.Pointer() == nil { // Spec gap: G5.
		end := ""
		if pledge.EndsAt != nil {
			end = pledge.EndsAt.Format(time.DateOnly)
		}
		all = append(all,
			Fix{Key: "donationAmount", Label: "amount", Was: pledge.DonationAmount.Fixed(), kind: fixAmount},
			Fix{Key: "donationInterval", Label: "interval", Was: string(pledge.DonationInterval), kind: fixInterval},
			Fix{Key: "endsAt", Label: "ends", Was: end, kind: fixEnd})
	}
	all = append(all, []Fix{
		{Key: "name/firstName", Label: "first name", Was: Value(person.FirstName)},
		{Key: "name/lastNamePrefix", Label: "prefix", Was: Value(person.LastNamePrefix)},
		{Key: "name/lastName", Label: "last name", Was: Value(person.LastName)},
		{Key: "name/initials", Label: "initials", Was: Value(person.Initials)},
		{Key: "address/street", Label: "street", Was: address.Street},
		{Key: "address/houseNumber", Label: "house number", Was: address.HouseNumber},
		{Key: "address/houseNumberExtension", Label: "addition", Was: Value(address.HouseNumberExtension)},
		{Key: "address/zipCode", Label: "postcode", Was: address.ZipCode},
		{Key: "address/city", Label: "city", Was: address.City},
		{Key: "address/country", Label: "country", Was: address.Country},
		{Key: "dateOfBirth", Label: "born", Was: born, kind: fixDate},
		{Key: "iban", Label: "IBAN", Was: Value(person.IBAN)},
		{Key: "language", Label: "language", Was: Value(person.Language)},
		{Key: "optIns/email", Label: "e-mail wanted", Was: YesNo(person.OptInEmail), kind: fixYesNo},
		{Key: "optIns/mail", Label: "post wanted", Was: YesNo(person.OptInMail), kind: fixYesNo},
		{Key: "optIns/sms", Label: "sms wanted", Was: YesNo(person.OptInSMS), kind: fixYesNo},
	}...)
	for i, f := range all {
		all[i].Is = f.Was
		if is, corrected := d.Form.Corrections[f.Key]; corrected {
			all[i].Is = is
		}
	}
	return all
}

// Corrected are the details that were corrected.
func (d *Day) Corrected() []Fix {
	if d.Call == nil || len(d.Form.Corrections) == 0 {
		return nil
	}
	return slices.DeleteFunc(d.Fixes(), func(f Fix) bool { return !f.IsChanged() })
}

// Correct takes another value of a detail, "" to clear it. It says what is wrong with it;
// then nothing is taken.
func (d *Day) Correct(f Fix, is string) (wrong string) {
	is, wrong = d.readFix(f, strings.TrimSpace(is))
	if wrong != "" {
		return wrong
	}
	before := d.Form.Corrections
	if d.Form.correct(f.Key, is); is == f.Was {
		d.Form.leave(f.Key)
	}
	d.Form.optedOut = d.Form.optedOut && f.Key != optOutKey
	if _, _, problems := d.corrections(); len(problems) > 0 {
		d.Form.Corrections = before
		return problems[0].Message
	}
	d.propose()
	d.autosave()
	return ""
}

// correct notes another value of a detail. A draft that is being saved has the corrections as they
// were.
func (f *Form) correct(key, is string) {
	if f.Corrections = maps.Clone(f.Corrections); f.Corrections == nil {
		f.Corrections = map[string]string{}
	}
	f.Corrections[key] = is
}

// leave takes a correction back.
func (f *Form) leave(key string) {
	f.Corrections = maps.Clone(f.Corrections)
	delete(f.Corrections, key)
}

// readFix is a typed value as it is sent.
func (d *Day) readFix(f Fix, text string) (is, wrong string) {
	if text == "" {
		if f.kind == fixAmount || f.kind == fixInterval {
			return "", "cannot be cleared"
		}
		return "", ""
	}
	switch f.kind {
	case fixPhone:
		return render.International(text, d.Call.Person.Value().Address.Value().Country), ""
	case fixDate, fixEnd:
		if at, err := time.Parse("2-1-2006", strings.NewReplacer(".", "-", "/", "-", " ", "").Replace(text)); err == nil {
			return at.Format(time.DateOnly), ""
		}
		day, err := apitype.ParseDate(text)
		if err != nil {
			return "", "is no day: write 2-12-1967 or 1967-12-02"
		}
		return day.String(), ""
	case fixAmount:
		amount, err := apitype.ParseAmount(strings.ReplaceAll(text, ",", "."))
		if err != nil {
			return "", "is no amount of Euros: write 12.50"
		}
		return amount.Fixed(), ""
	default:
		return text, ""
	}
}

// propose chooses the result that the corrections speak for, where the agent has chosen none,
// and takes it back with the last of them.
func (d *Day) propose() {
	if d.Form.Code != "" && !d.Form.proposed {
		return
	}
	effect := EffectCorrected
	if d.Form.Corrections[optOutKey] == "no" {
		effect = EffectOptOut
	}
	d.Form.Code, d.Form.proposed = "", false
	for _, row := range d.Results() {
		if row.Effect == effect && len(d.Form.Corrections) > 0 {
			d.Form.Code, d.Form.proposed = row.Code, true
			return
		}
	}
}

// corrections are the updates that make what was corrected so; a body is nil where nothing of
// its record was.
func (d *Day) corrections() (person *apitype.UpdatePersonRequest, pledge *apitype.UpdatePledgeRequest, problems apitype.Violations) {
	ofPerson, ofPledge := map[string]any{}, map[string]any{}
	for _, f := range d.Corrected() {
		body := ofPerson
		if f.kind.ofPledge() {
			body = ofPledge
		}
		if object, member, nested := strings.Cut(f.Key, "/"); nested {
			inner, _ := body[object].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
				body[object] = inner
			}
			inner[member] = f.sent()
		} else {
			body[f.Key] = f.sent()
		}
	}
	if len(ofPerson) > 0 {
		person = new(apitype.UpdatePersonRequest)
		problems = append(problems, decodeFix(ofPerson, person)...)
		problems = append(problems, person.Validate(d.Now())...)
	}
	if len(ofPledge) > 0 {
		pledge = new(apitype.UpdatePledgeRequest)
		problems = append(problems, decodeFix(ofPledge, pledge)...)
		problems = append(problems, pledge.Validate()...)
		problems = append(problems, pledge.ValidateFor(d.Call.PledgeCase.Value(), false)...)
	}
	return person, pledge, problems
}

func decodeFix(body map[string]any, request any) (problems apitype.Violations) {
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, request)
	}
	if err != nil {
		problems.Add("", "%s", err)
	}
	return problems
}

// sent is the value as JSON has it.
func (f Fix) sent() any {
	switch {
	case f.Is == "":
		return nil
	case f.kind == fixYesNo:
		return f.Is == "yes"
	case f.kind == fixAmount:
		return json.Number(f.Is)
	default:
		return f.Is
	}
}

// fixChanges are the updates of the call on the desk, in the order in which they are sent.
func (d *Day) fixChanges() (changes []Change) {
	person, pledge, problems := d.corrections()
	add := func(change apiclient.Change, err error) {
		changes = append(changes, Change{Change: change, Label: "correct: " + d.Name(), err: err})
	}
	if len(problems) > 0 {
		add(apiclient.Change{}, fmt.Errorf("correct %s: %w", problems[0].Where(), problems))
		return changes
	}
	if person != nil {
		add(apiclient.UpdatePersonChange(d.Call.PersonUUID, *person))
	}
	if pledge != nil {
		add(apiclient.UpdatePledgeChange(d.Call.PledgeCase.Value().UUID, *pledge))
	}
	return changes
}
