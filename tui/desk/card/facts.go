package card

import (
	"cmp"
	"slices"
	"strings"

	"fundesk/render"
	"fundesk/tui/desk/entry"
)

// Fact is something of the donor or the pledge that a call verifies: one detail, or several that are read
// aloud together. Its key is the key of its first detail, on every call.
type Fact struct {
	Press   string
	Label   string
	Parts   []Part
	Why     string // The reason why it cannot be corrected here. Empty if it can.
	Checked bool   // The agent has ticked it.
	ID      string // The key of its first detail, or the name of its check.
	none    string // The text for a missing value.
}

// Part is the old and the new value of a part of a fact, and the text before it.
type Part struct{ Before, Was, Is string }

// IsChanged reports whether a part of the fact was corrected.
func (f Fact) IsChanged() bool {
	return slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Was != p.Is })
}

// IsSecret reports whether the fact is masked on the screen.
func (f Fact) IsSecret() bool { return f.ID == "iban" }

// String returns the old and the new value of the fact.
func (f Fact) String() string {
	text := f.Draw(func(was, is string) string { return strings.TrimSpace(was + " → " + is) })
	if f.IsChanged() {
		text += " " + FixSign
	}
	return text
}

// Draw returns the parts in a row. turned draws a part that was corrected.
func (f Fact) Draw(turned func(was, is string) string) string {
	var b strings.Builder
	for _, p := range f.Parts {
		if p.Was == "" && p.Is == "" {
			continue
		}
		if b.Len() > 0 || strings.TrimSpace(p.Before) != "" {
			b.WriteString(p.Before)
		}
		if p.Was == p.Is {
			b.WriteString(p.Was)
		} else {
			b.WriteString(turned(p.Was, cmp.Or(p.Is, f.none)))
		}
	}
	return b.String()
}

// The details that are read aloud together, by the first of them, each with the text before it. A pledge that
// ends, for example, is "€ 10.00 monthly · ends 2027-01-01".
var factParts = []struct {
	label  string
	before []string
	keys   []string
}{
	{"mobile", []string{""}, []string{"mobilePhoneNumber"}},
	{"home", []string{""}, []string{"phoneNumber"}},
	{"e-mail", []string{""}, []string{"email"}},
	{"address", []string{"", " ", ", ", " ", ", "}, []string{
		"address/street", "address/houseNumber", "address/zipCode", "address/city", "address/country",
	}},
	{"born", []string{""}, []string{"dateOfBirth"}},
	{"IBAN", []string{""}, []string{"iban"}},
	{
		"contact",
		[]string{"phone ", "  e-mail ", "  post ", "  sms "},
		entry.OptInKeys,
	},
	{"amount", []string{"", " ", " · ends "}, []string{"donationAmount", "donationInterval", "endsAt"}},
}

// Facts returns the facts to verify in the call on the Desk, each in the same place for every call. sign draws yes, no
// and unknown for the face.
func (k Card) Facts(sign func(said string) string) []Fact {
	if k.Call == nil {
		return nil
	}
	fixes := map[string]entry.Fix{}
	for _, f := range k.Fixes() {
		fixes[f.Key] = f
	}
	if len(fixes) == 0 {
		return nil
	}
	facts := make([]Fact, len(factParts))
	for i, of := range factParts {
		first := fixes[of.keys[0]]
		fact := Fact{
			Press:   first.Press,
			Label:   k.Say(of.label),
			Why:     first.Why,
			ID:      first.Key,
			none:    k.Say("none"),
			Checked: slices.Contains(k.Checked, first.Key),
		}
		for j, key := range of.keys {
			f := fixes[key]
			if key == "address/houseNumber" { // It is read with its addition, as 61a.
				addition := fixes["address/houseNumberExtension"]
				f.Was, f.Is = render.HouseNumber(f.Was, addition.Was), render.HouseNumber(f.Is, addition.Is)
			}
			fact.Parts = append(
				fact.Parts,
				Part{k.sayWords(of.before[j]), k.factValue(f, f.Was, sign), k.factValue(f, f.Is, sign)},
			)
			if p := &fact.Parts[len(fact.Parts)-1]; f.IsChanged() && p.Was == p.Is {
				p.Is += " " // A masked value may look as the new one does.
			}
			if channel, isChannel := contactChannels[key]; isChannel {
				proof := k.ConsentText(channel)
				fact.Parts = append(fact.Parts, Part{" · ", proof, proof})
			}
		}
		if number := k.Call.Person.Value().SocialSecurityNumber.Pointer(); number != nil &&
			first.Key == "dateOfBirth" {
			masked := string(*number)
			if !k.IsRevealed {
				masked = render.MaskDigits(masked)
			}
			if day := &fact.Parts[0]; day.Was == "" && day.Is == "" {
				day.Was, day.Is = fact.none, fact.none
			}
			fact.Parts = append(fact.Parts, Part{" · " + k.Say("social security number") + " ", masked, masked})
		}
		if first.Key == entry.StreetKey {
			fact.Parts = movedAddress(fact.Parts)
		}
		facts[i] = fact
	}
	return append(facts, k.requiredFacts()...)
}

// sayWords returns a text in the agent's language, with the signs around it.
func (k Card) sayWords(text string) string {
	word := strings.Trim(text, " ·€,")
	if word == "" {
		return text
	}
	return strings.Replace(text, word, k.Say(word), 1)
}

// factValue returns a detail as it is read aloud.
func (k Card) factValue(f entry.Fix, value string, sign func(string) string) string {
	if f.IsYesNo() {
		return sign(value)
	}
	if value == "" {
		return ""
	}
	return strings.TrimSpace(k.FixValue(f, value, value == f.Was))
}

// CheckedText returns how many facts were ticked or corrected, or an empty text if none was ticked.
func (k Card) CheckedText() string {
	if len(k.Checked) == 0 {
		return ""
	}
	n, facts := 0, k.Facts(func(said string) string { return said })
	for _, f := range facts {
		if f.Checked || f.IsChanged() {
			n++
		}
	}
	return k.Say("%d of %d checked", n, len(facts))
}

// movedAddress returns an address that has another street, in one part, so that it reads as one.
func movedAddress(parts []Part) []Part {
	if len(parts) == 0 || parts[0].Was == parts[0].Is {
		return parts
	}
	line := func(of func(Part) string) string {
		var b strings.Builder
		for _, p := range parts {
			if value := of(p); value != "" {
				b.WriteString(p.Before + value)
			}
		}
		return strings.TrimLeft(b.String(), " ,")
	}
	return []Part{{"", line(func(p Part) string { return p.Was }), line(func(p Part) string { return p.Is })}}
}

// FixValue returns a value of a detail in words. A recorded secret is masked.
func (k Card) FixValue(f entry.Fix, value string, isRecorded bool) string {
	if f.IsSecret() && isRecorded && !k.IsRevealed {
		return render.MaskIBAN(value)
	}
	return f.Text(k.Texts, value)
}

// FixSign marks a corrected value. A face may use another sign.
const FixSign = "✎"

// FixText returns the old and the new value of a detail.
func (k Card) FixText(f entry.Fix) string {
	was := k.FixValue(f, f.Was, true)
	if !f.IsChanged() {
		return was
	}
	return strings.TrimSpace(was + " → " + cmp.Or(k.FixValue(f, f.Is, false), k.Say("none")) + " " + FixSign)
}
