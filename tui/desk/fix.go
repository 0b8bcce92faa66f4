package desk

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

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

// optOutKey is the detail that ends all calls to a donor.
const optOutKey = "optIns/phone"

// optInKeys are the details that say how a donor may be contacted.
var optInKeys = []string{optOutKey, "optIns/email", "optIns/mail", "optIns/sms"}

// Fixes returns the details of the call on the Desk. Each has the same place and key for every call, even if it cannot
// be corrected.
func (e *Form) Fixes() []Fix {
	all, noPledge := recordedFixes(*e.day.Call), e.whyNoPledgeFix()
	for i, f := range all {
		refused := say.When(e.refusedOps[f.operation()], e.Say("you may not correct it"))
		all[i].Is, all[i].Why = f.Was, cmp.Or(say.When(f.ofPledge, noPledge), refused)
		if is, corrected := e.Corrections[f.Key]; corrected && (!f.ofPledge || noPledge == "") {
			all[i].Is = is
		}
	}
	return all
}

// fixOrder has the keys of the details: the digit of each fact, and the letters of its further details.
const fixOrder = "1234tab56defgh789opr0uw"

// recordedFixes returns the details as the record shows them, in the order of their keys.
func recordedFixes(call apitype.Call) []Fix {
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
func fixesOf[T any](fields []apitype.Field[T], record *T) (all []Fix) {
	for _, field := range fields {
		if field.Key == "" {
			continue
		}
		f := Fix{
			Press: field.Key, Key: strings.ReplaceAll(field.Path(), ".", "/"), Label: field.Label,
			shown: field.Name, kind: field.Kind, secret: field.Secret,
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

// whyNoPledgeFix returns why the pledge cannot be corrected. Spec gap: G5.
func (e *Form) whyNoPledgeFix() string {
	switch pledge := e.day.Call.PledgeCase.Pointer(); {
	case pledge == nil && e.day.Call.RelatedCaseUUID != nil:
		return e.Say("the pledge is not shown to this account")
	case pledge == nil:
		return e.Say("no pledge on this call")
	case pledge.ExternalSource.Pointer() != nil:
		return e.Say("pledge of an external source: its owner changes it")
	default:
		return ""
	}
}

// Corrected returns the details that were corrected.
func (e *Form) Corrected() []Fix {
	if e.day.Call == nil || len(e.Corrections) == 0 {
		return nil
	}
	return slices.DeleteFunc(e.Fixes(), func(f Fix) bool { return !f.IsChanged() })
}

// Correct sets another value of a detail. An empty one clears it. It returns the problem with the value, and then
// changes nothing.
func (e *Form) Correct(f Fix, is string) (wrong string) {
	if f.Why != "" {
		return e.Say("cannot be corrected: %s", f.Why)
	}
	if whole, isWhole := e.wholeAddress(f, is); isWhole {
		return e.move(whole)
	}
	is, wrong = e.checkFix(f, is)
	if wrong != "" {
		return wrong
	}
	if f.Key == streetKey {
		isSplit, wrong := e.correctStreet(is)
		if isSplit {
			return wrong
		}
	}
	e.correct(f.Key, is, f.Was)
	e.byHand(f.Key)
	e.propose()
	e.autosave()
	return ""
}

// Uncorrect takes the correction of a detail back.
func (e *Form) Uncorrect(f Fix) {
	e.leave(f.Key)
	e.byHand(f.Key)
	e.propose()
	e.autosave()
}

// WrongFix returns the problem with a value during typing, or an empty text.
func (e *Form) WrongFix(f Fix, typed string) string {
	if e.day.Ask.meanings(f, typed, nil) != nil {
		return ""
	}
	_, wrong := e.checkFix(f, typed)
	return wrong
}

// checkFix returns a typed value in its form on the wire, or its problem together with all other corrections.
func (e *Form) checkFix(f Fix, typed string) (is, wrong string) {
	if _, isWhole := e.wholeAddress(f, typed); isWhole {
		return typed, ""
	}
	if wrong := e.wrongStreet(f, typed); wrong != "" {
		return "", wrong
	}
	is, wrong = e.readFix(f, strings.TrimSpace(typed))
	if wrong != "" {
		return "", wrong
	}
	before := e.Entered
	defer func() { e.Entered = before }()
	e.correct(f.Key, is, f.Was)
	if _, _, problems := e.corrections(); len(problems) > 0 {
		return "", e.Say(problems[0].Message)
	}
	return is, ""
}

// HalfAddress returns the missing part of a corrected address, and its first detail. The service accepts a complete
// address or none.
func (e *Form) HalfAddress() (why string, first Fix) {
	if len(e.Corrections) == 0 {
		return "", Fix{}
	}
	var missing []string
	isCorrected := false
	for _, f := range e.Fixes() {
		if !strings.HasPrefix(f.Key, "address/") {
			continue
		}
		if isCorrected = isCorrected || f.IsChanged(); f.Is != "" || f.Key == "address/houseNumberExtension" {
			continue
		}
		if missing = append(missing, e.Say(f.Label)); len(missing) == 1 {
			first = f
		}
	}
	if !isCorrected || len(missing) == 0 {
		return "", Fix{}
	}
	return e.Say("the address needs its %s, too", strings.Join(missing, ", ")), first
}

// CorrectionWords returns what the donor's record will have after the corrections. A moved address is one of them.
func (e *Form) CorrectionWords() (says []string) {
	isMoved := e.hasNewStreet()
	for _, f := range e.Corrected() {
		isPart := isMoved && strings.HasPrefix(f.Key, "address/")
		switch {
		case isPart && f.Key == streetKey:
			says = append(says, e.Say("address")+" "+render.Clean(Address(e.CorrectedPerson().Address.Pointer())))
		case !isPart:
			says = append(says, e.says(f, e.day.Card.FixValue(f, f.Is, false)))
		}
	}
	return says
}

// says returns the value that the donor's record will have after a correction.
func (e *Form) says(f Fix, value string) string {
	switch {
	case f.Key == optOutKey && f.Is == "no":
		return e.Say("may not be phoned any more")
	case f.Key == optOutKey:
		return e.Say("may be phoned")
	case f.IsYesNo() && f.Is == "no":
		return e.Say("%s not wanted any more", e.Say(strings.TrimSuffix(f.Label, " wanted")))
	case f.IsYesNo():
		return e.Say(f.Label)
	case f.Is == "":
		return e.Say("no %s", e.Say(f.Label))
	default:
		return e.Say(f.Label) + " " + value
	}
}

// FixValue returns a value of a detail in words. A recorded secret is masked.
func (k *Card) FixValue(f Fix, value string, isRecorded bool) string {
	switch {
	case f.IsSecret() && isRecorded && !k.IsRevealed:
		return render.MaskIBAN(value)
	case f.IsPhone():
		return k.Locale.Spoken(render.Clean(value))
	case f.IsYesNo(), f.IsInterval():
		return k.Say(render.Words(value))
	case f.IsAmount():
		amount, err := apitype.ParseAmount(value)
		if err == nil {
			return k.Locale.Euros(amount)
		}
	case f.kind == apitype.DateField, f.kind == apitype.TimeField:
		day, err := time.Parse(time.DateOnly, value)
		if err == nil {
			return k.Date(k.Locale.Date(day, "2 January 2006"))
		}
	}
	return render.Clean(value)
}

// FixSign marks a corrected value. A face may use another sign.
const FixSign = "✎"

// FixText returns the old and the new value of a detail.
func (k *Card) FixText(f Fix) string {
	was := k.FixValue(f, f.Was, true)
	if !f.IsChanged() {
		return was
	}
	return strings.TrimSpace(was + " → " + cmp.Or(k.FixValue(f, f.Is, false), k.Say("none")) + " " + FixSign)
}

// DeniesCorrections reports whether the result contradicts the corrections, although there is a result for
// corrections.
func (e *Form) DeniesCorrections() bool {
	row := e.result(e.ResultCode)
	isKnown := slices.ContainsFunc(
		e.Results(),
		func(row apitype.ResultChoice) bool { return row.Has(apitype.EffectCorrected) },
	)
	others := slices.DeleteFunc(e.Corrected(), func(f Fix) bool { return f.Key == optOutKey })
	return len(others) > 0 && row.Effect == nil && isKnown
}

// CorrectedPerson returns the person of the call with the corrections.
func (e *Form) CorrectedPerson() *apitype.Person {
	p := e.day.Call.Person.Pointer()
	fixes := slices.DeleteFunc(e.Corrected(), func(f Fix) bool { return f.ofPledge })
	if len(fixes) == 0 {
		return p
	}
	var record map[string]any
	text, _ := json.Marshal(p) // It was read from JSON.
	_ = json.Unmarshal(text, &record)
	for _, f := range fixes {
		setPath(record, strings.Split(f.shown, "."), f.sent())
	}
	var corrected apitype.Person // Another call: the record is beside it.
	text, _ = json.Marshal(record)
	_ = json.Unmarshal(text, &corrected) // What was corrected was checked.
	return &corrected
}

// correct records a new value of a detail and its old one. The old value undoes a correction. A draft that is being
// saved keeps the earlier corrections.
func (f *Entered) correct(key, is, recorded string) {
	if is == recorded {
		f.leave(key)
		return
	}
	f.Corrections = joinMaps(f.Corrections, map[string]string{key: is})
	f.Recorded = joinMaps(f.Recorded, map[string]string{key: recorded})
}

// leave takes a correction back.
func (f *Entered) leave(key string) {
	f.Corrections, f.Recorded = maps.Clone(f.Corrections), maps.Clone(f.Recorded)
	delete(f.Corrections, key)
	delete(f.Recorded, key)
}

// byHand notes that the agent decides about a detail, whatever the result.
func (f *Entered) byHand(key string) {
	f.ByResult = slices.DeleteFunc(slices.Clone(f.ByResult), func(other string) bool { return other == key })
}

// readFix returns a typed value as it is sent.
func (e *Form) readFix(f Fix, text string) (is, wrong string) {
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
		return render.International(text, e.day.Call.Person.Value().Address.Value().Country), ""
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

// propose chooses the result for corrections if the agent has chosen none, and removes it with the last correction.
func (e *Form) propose() {
	if e.ResultCode != "" && !e.Proposed {
		return
	}
	effect := apitype.EffectCorrected
	if e.Corrections[optOutKey] == "no" {
		effect = apitype.EffectOptOut
	}
	e.ResultCode, e.Proposed = "", false
	for _, row := range e.Results() {
		if row.Has(effect) && len(e.Corrections) > 0 {
			e.ResultCode, e.Proposed = row.Code, true
			return
		}
	}
}

// Fixes asks which detail is wrong, and what is right, until the agent leaves.
func (q *Questions) Fixes() Answer {
	ask := &Question{Title: "what is wrong"}
	for _, f := range q.day.Form.Fixes() {
		c := Choice{
			Key:   f.Press,
			Label: q.Say(f.Label) + ": " + cmp.Or(q.day.Card.FixText(f), q.Say("none")),
			Why:   f.Why,
			Pick:  q.onCall(q.fix(f).again),
		}
		if f.IsYesNo() {
			is := map[bool]string{true: "yes", false: "no"}[f.Is == "no"]
			c.Pick = q.onCall(func() Answer { return q.correct(f, is) })
		}
		ask.Choices = append(ask.Choices, c)
	}
	return Answer{Next: ask}
}

// fix asks for the right value of a detail.
func (q *Questions) fix(f Fix) *Question {
	ask := &Question{Title: q.Say(f.Label), Empty: func() Answer {
		if next, found := q.day.Form.AfterStreet(f, ""); found {
			return q.fix(next).again()
		}
		return q.Fixes()
	}}
	if f.IsInterval() {
		for _, interval := range apitype.DonationIntervals {
			pick := func() Answer { return q.correct(f, string(interval)) }
			ask.Choices = append(ask.Choices, Choice{Label: q.Say(render.Words(string(interval))), Pick: pick})
		}
	} else {
		ask.Choices = []Choice{{Key: "delete", Label: "to delete it", Pick: func() Answer { return q.correct(f, "") }}}
		ask.Typed = func(text string) Answer {
			return q.FixMeaning(f, text, func(value string) Answer { return q.correct(f, value) })
		}
	}
	ask.Choices = append(ask.Choices, Choice{Key: "undo", Label: "for as recorded", Pick: func() Answer {
		q.day.Form.Uncorrect(f)
		return q.Fixes()
	}})
	return ask
}

// correct corrects a detail. A part of an address leads to its next missing part.
func (q *Questions) correct(f Fix, value string) Answer {
	if wrong := q.day.Form.Correct(f, value); wrong != "" {
		return Answer{Wrong: q.Say(f.Label) + " " + q.Say(wrong)}
	}
	if why, missing := q.day.Form.HalfAddress(); why != "" && strings.HasPrefix(f.Key, "address/") {
		ask := q.fix(missing)
		ask.Lines = []string{why}
		return ask.again()
	}
	if next, found := q.day.Form.AfterStreet(f, value); found {
		return q.fix(next).again()
	}
	return q.Fixes()
}

// FixMeaning asks which of its meanings a typed value of a detail has, and does something with it.
func (q *Questions) FixMeaning(f Fix, typed string, then func(value string) Answer) Answer {
	if ask := q.meanings(f, typed, then); ask != nil && strings.TrimSpace(typed) != "" {
		return ask.again()
	}
	return then(typed)
}

// meanings returns a question about a typed amount that is ambiguous, or far from the recorded one, and about an address
// of another country, or nil.
func (q *Questions) meanings(f Fix, typed string, then func(value string) Answer) *Question {
	if countries := q.day.Form.otherCountries(f, typed); len(countries) > 0 {
		return q.askCountry(typed, countries, then)
	}
	if !f.IsAmount() {
		return nil
	}
	ask := &Question{Title: q.Say("Correct") + ": " + q.Say(f.Label), IsKeyed: true}
	offer := func(key, label string, amount apitype.Amount) {
		pick := q.onCall(func() Answer { return then(amount.Fixed()) })
		ask.Choices = append(ask.Choices, Choice{Key: key, Label: q.Say(label, q.Locale.Amount(amount)), Pick: pick})
	}
	amount, err := apitype.ParseTypedAmount(typed, 0)
	if ambiguous, is := errors.AsType[*apitype.AmbiguousAmount](err); is {
		ask.Lines = []string{q.Say("%q has two meanings.", strings.TrimSpace(typed))}
		offer("t", "thousands: %s euros", ambiguous.Thousands)
		offer("c", "cents: %s euros", ambiguous.Cents)
		return ask
	}
	was, _ := apitype.ParseAmount(f.Was)
	before, _ := was.Cents()
	now, isCents := amount.Cents()
	if err != nil || !isCents || before == 0 || now <= 0 || now <= 5*before && before <= 5*now ||
		amount.Fixed() == f.Is {
		return nil
	}
	ask.Lines = []string{q.Say("The amount is now %s euros.", q.Locale.Amount(was))}
	offer("y", "yes, %s euros", amount)
	return ask
}
