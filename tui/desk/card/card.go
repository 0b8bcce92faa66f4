// Package card has the facts that an agent needs about one call: the facts to verify, warnings, numbers, the script and
// the times of a callback. Both faces of the Desk show the same. It reads values and changes nothing.
package card

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/say"
)

// Card is a call as it is shown. It is made anew for each use, so that it never shows an old call.
type Card struct {
	entry.Form // What was entered for the call.
	Place
	Agent     *apitype.UUID
	AgentName func(apitype.UUID) string // Empty if it is unknown.
	Languages []string                  // Of the agent: ISO 639-1 codes.
	// MaxAttempts is the maximum of attempts of a call. Zero if unknown.
	MaxAttempts int
	ResultWords func(kind apitype.CallType, code string) string
	Required    []string // The checks that the organization requires.

	Known
	Progress
	Lease      *apitype.Lease // Of the call for this agent. Nil without one.
	HasQueue   bool           // The service has a queue, and has counted it.
	IsRevealed bool           // Secret values are shown without a mask.
	// KeepsReasons reports whether the service keeps the reason of a callback.
	KeepsReasons bool
	// HasUndoneAttempt means that the service has, or may have, an attempt of the call that was undone.
	HasUndoneAttempt bool
	Remains          string // Which parts of an undone change stay. Empty without any.

	// Replaces is the callback that a new one replaces. Nil if it is not known.
	Replaces *apitype.Replaces

	ShownAt time.Time // When the call came on the screen.
	Struck  []string  // The kinds of numbers that do not exist.
}

// Known is what the Desk has read about the call besides its record.
type Known struct {
	Holder    *apitype.LeaseHolder // The other user with a lease of the donor. Nil if there is none.
	IsFreed   bool                 // The lease of the call has ended.
	IsBlocked bool                 // A number of the donor is blocked.
	IsErased  bool                 // The donor was erased while the card was shown.
	Script    Script
	Consents  Consents // Of the donor, as far as they were read.
}

// Progress is what the agent did for the donor. A new reading does not change it, and an undo brings it back.
type Progress struct {
	Dials          []DialledNumber // In the order of time.
	Walk           Walk            // Through the script.
	CallbackReason string          // Why the donor wanted to be called back. Empty without a callback.
}

// CallName returns the person of a call, or its identifier if the person is not shown.
func CallName(texts say.Texts, call apitype.Call) string {
	if person := call.Person.Pointer(); person != nil {
		if name := render.PersonName(*person); strings.TrimSpace(name) != "" {
			return name
		}
	}
	return texts.Say("call %s", render.ShortID(call.UUID))
}

// NextNotes returns the notes that another agent left for this call, or an empty text.
func (k Card) NextNotes() string {
	if k.Lease == nil {
		return ""
	}
	return apitype.TextOf(k.Lease.Note)
}

// Tries returns the number of the next attempt, and the maximum if it is known.
func (k Card) Tries() (next, of string) {
	n := k.Call.AttemptsCount + 1
	if most := k.MaxAttempts; most >= n {
		of = " " + k.Say("of %d", most)
	}
	return k.Say("attempt %d", n), of
}

// About returns the language and the age of a person, as far as they are known.
func (k Card) About(p apitype.Person) []string {
	var about []string
	if language := apitype.TextOf(p.Language); language != "" {
		about = append(about, k.Say(render.Language(language)))
	}
	if p.DateOfBirth != nil {
		about = append(about, k.Count(yearsSince(*p.DateOfBirth, k.Now()), "year", "years"))
	}
	return about
}

// yearsSince returns the age of a person.
func yearsSince(born apitype.Date, now time.Time) int {
	years := now.Year() - born.Year
	birthday := time.Date(now.Year(), time.Month(born.Month), born.Day, 0, 0, 0, 0, now.Location())
	if now.Before(birthday) {
		years--
	}
	return years
}

// Copy is a value that an agent copies of a call.
type Copy struct{ Name, Text string }

// Copies returns the numbers, the e-mail address and the identifiers of the call on the desk.
func (k Card) Copies() []Copy {
	call := k.Call
	var all []Copy
	add := func(name, text string) {
		if text != "" {
			all = append(all, Copy{name, text})
		}
	}
	for _, n := range Numbers(call.Person.Pointer()) {
		add(n.Kind, n.Digits)
	}
	add("e-mail", apitype.TextOf(call.Person.Value().Email))
	add("call", call.UUID.String())
	add("person", call.PersonUUID.String())
	if call.RelatedCaseUUID != nil {
		add("pledge", call.RelatedCaseUUID.String())
	}
	return all
}

// Number is a phone number of a donor.
type Number struct{ Kind, Digits string }

// Numbers returns the numbers of a person, the first to dial first. The person may be nil.
func Numbers(p *apitype.Person) []Number {
	if p == nil {
		return nil
	}
	numbers := []Number{
		{"mobile", apitype.TextOf(p.MobilePhoneNumber)},
		{"home", apitype.TextOf(p.PhoneNumber)},
	}
	var all []Number
	for _, n := range numbers {
		if n.Digits != "" {
			all = append(all, n)
		}
	}
	return all
}

// PledgeWords returns the state of a pledge.
func PledgeWords(status apitype.PledgeStatus) string {
	if status == apitype.PledgeLead {
		return "not collected yet"
	}
	return PledgeStatus(status)
}

// PledgeStatus returns the status of a pledge as a text to say.
func PledgeStatus(status apitype.PledgeStatus) string {
	if status == apitype.PledgeCancelled {
		return string(status) + say.OfPledge
	}
	return render.Words(string(status))
}

// hasEnded reports whether nothing is collected for a pledge any more.
func hasEnded(status apitype.PledgeStatus) bool {
	return slices.Contains(
		[]apitype.PledgeStatus{apitype.PledgeDropped, apitype.PledgeCancelled, apitype.PledgeFulfilled},
		status,
	)
}

// GivesWord returns the word before what the donor of a pledge gives, or gave.
func GivesWord(status apitype.PledgeStatus) string {
	if status == apitype.PledgeDropped {
		return "promised"
	}
	if hasEnded(status) {
		return "donated"
	}
	return "donates"
}

// GivesTo returns the organization and purpose of a pledge, and how the donor was recruited.
func (k Card) GivesTo(p apitype.Pledge) string {
	var parts []string
	if organization := p.OwningOrganization.Pointer(); organization != nil {
		parts = append(parts, organization.Name)
	}
	var areas []string
	for _, area := range p.FocusAreas.Value() {
		areas = append(areas, area.Name)
	}
	if len(areas) > 0 {
		parts = append(parts, strings.Join(areas, ", "))
	}
	switch how := render.Recruitment(p); how {
	case "":
	case "door":
		parts = append(parts, k.Say("recruited at the door"))
	case "street":
		parts = append(parts, k.Say("recruited in the street"))
	default:
		parts = append(parts, k.Say("recruited by %s", how))
	}
	return strings.Join(parts, " · ")
}

// OptIn is the opt-in of a channel. In is nil if it is unknown.
type OptIn struct {
	Name string
	In   *bool
}

// OptIns returns all ways of a person.
func OptIns(p apitype.Person) []OptIn {
	return []OptIn{{"phone", p.OptInPhone}, {"e-mail", p.OptInEmail}, {"post", p.OptInMail}, {"sms", p.OptInSMS}}
}

// OptInWords returns which ways a person may be reached, each with its word.
func OptInWords(say func(string, ...any) string, p apitype.Person) string {
	var parts []string
	for _, o := range OptIns(p) {
		parts = append(parts, say(o.Name)+" "+say(cmp.Or(render.YesNo(o.In), "unknown")))
	}
	return strings.Join(parts, ", ")
}

// contact is an earlier attempt or call.
type contact struct {
	at   time.Time
	text string
}

// Contacts returns the earlier contacts, newest first: the attempts of the call on the Desk, and the other calls of
// its pledge. Notes have lines of their own.
func (k Card) Contacts() []string {
	var all []contact
	for _, a := range k.Call.Attempts.Value() {
		who := ""
		if user := a.UserUUID; user != nil && k.Agent != nil && *user == *k.Agent {
			who = k.Say("you")
		} else if user != nil {
			who = k.AgentName(*user)
		}
		all = append(all, contact{a.AttemptAt.Time, k.Say("not reached") + say.When(who != "", " ("+who+")")})
	}
	if pledge := k.Call.PledgeCase.Pointer(); pledge != nil {
		for _, c := range pledge.Calls.Value() {
			if c.UUID != k.Call.UUID {
				all = append(all, k.contactOf(c))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b contact) int { return b.at.Compare(a.at) })
	texts := make([]string, len(all))
	for i, c := range all {
		layout := "2 January"
		if k.Now().Sub(c.at) > 300*24*time.Hour {
			layout = "2 January 2006"
		}
		texts[i] = k.Date(k.Locale.Date(c.at.Local(), layout)) + ", " + c.text
	}
	return texts
}

// contactOf returns another call of the pledge: its time and its result.
func (k Card) contactOf(c apitype.Call) contact {
	kind := k.Say(render.Words(string(c.Type)))
	at := c.RequestedAt.Time
	for _, ended := range []*apitype.Time{c.CompletedAt, c.CancelledAt, c.ExpiredAt} {
		if ended != nil {
			at = ended.Time
		}
	}
	if c.Status != apitype.CallCompleted {
		words := render.Words(string(c.Status))
		if c.Status == apitype.CallRequested {
			words = "still open"
		}
		return contact{at, kind + ": " + k.Say(words)}
	}
	result := c.Result.Value()
	text := kind + ": " + k.Say(cmp.Or(k.ResultWords(c.Type, apitype.TextOf(result.ResultCode)), "completed"))
	if result.DonorRetentionRating != nil {
		text += ", " + result.DonorRetentionRating.String()
	}
	if notes := strings.TrimSpace(apitype.TextOf(result.Notes)); notes != "" {
		text += "\n\"" + notes + "\""
	}
	return contact{at, text}
}
