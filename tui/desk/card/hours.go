package card

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
	"fundesk/tui/desk/say"
)

// Place has the settings of the floor for where and when donors are called.
type Place struct {
	Floor   apitype.OrganizationSettings
	IsKnown bool         // The settings of the floor were read, or there are none.
	Hours   CallingHours // Of the profile.
}

// Against returns why the donor of a call must not be called at a time, or an empty text.
func (p Place) Against(call *apitype.Call, at time.Time, t say.Texts) string {
	if !p.IsKnown {
		return ""
	}
	plan := hours.NewPlan(p.Floor)
	if plan != nil { // The queue keeps to it.
		return outside(plan.DayOf(hours.CountryOf(call.Person.Value()), at), t.Say)
	}
	set := CallingHours{}
	maps.Copy(set, p.Floor.CallingHours)
	maps.Copy(set, p.Hours)
	return set.Against(at, call.Person.Value().Address.Value().Country, t.Say)
}

// CountryOf returns the country in which the donor of a call is called, as the service decides it. It is empty if it is
// not known.
func (p Place) CountryOf(call *apitype.Call) string {
	if p.Floor.Country == "" {
		return call.Person.Value().Address.Value().Country
	}
	return cmp.Or(hours.CountryOf(call.Person.Value()), p.Floor.Country)
}

// CallingHours are the hours by country, without the default ones.
type CallingHours map[string]apitype.HoursOfDays

// Against returns why a donor in a country must not be called now, or an empty text. Unknown countries have no limits.
func (c CallingHours) Against(now time.Time, country string, say func(text string, args ...any) string) string {
	zone, known := hours.Zone(country)
	if !known {
		return ""
	}
	local := now.In(zone)
	day := local.Weekday()
	span := hours.SpanOn(c[strings.ToUpper(country)], day)
	return outside(hours.Day{Local: local, Country: strings.ToUpper(country), Span: span}, say)
}

// outside returns why donors must not be called at a time of the day, or an empty text.
func outside(day hours.Day, say func(text string, args ...any) string) string {
	at := day.Local.Hour()*60 + day.Local.Minute()
	if at >= day.Span.From && at < day.Span.Until {
		return ""
	}
	when := say("it is %s on %s in %s", day.Local.Format("15:04"), say(day.Local.Weekday().String()), day.Country)
	if day.IsHoliday {
		return when + ": " + say("no calls on a public holiday")
	}
	if day.Span == (apitype.Span{}) {
		return when + ": " + say("no calls on that day")
	}
	from, until, _ := strings.Cut(day.Span.String(), " to ")
	return when + ": " + say("calls are made from %s to %s", from, until)
}

// DonorZone returns the time zone of the country of the donor on the Desk, or ours if it is unknown.
func (k Card) DonorZone() *time.Location {
	if zone, known := hours.Zone(k.Place.CountryOf(k.Call)); known {
		return zone
	}
	return k.Now().Location()
}

// BothTimes returns a time in the donor's zone, and in ours if that differs.
func (k Card) BothTimes(at time.Time) string {
	there, here := at.In(k.DonorZone()), at.In(k.Now().Location())
	layout := "Mon 2 Jan 15:04"
	if there.Year() != k.Now().In(there.Location()).Year() {
		layout = "Mon 2 Jan 2006 15:04"
	}
	text, ours := k.Date(there.Format(layout)), here.Format("15:04")
	if there.Format(layout) == here.Format(layout) {
		return text
	}
	if there.Day() != here.Day() {
		ours = k.Date(here.Format(layout))
	}
	return k.Say("%s there (%s here)", text, ours)
}

// Joined returns since when a donor gives a pledge: "since" and the day on which the donor joined or, for a pledge
// that begins later, "from" and its first day.
func (k Card) Joined(p apitype.Pledge) (string, time.Time) {
	now := k.Now()
	starts := dateOf(p.StartsAt, now.Location())
	if starts.After(now) {
		return "from", starts
	}
	return "since", p.CreatedAt.In(now.Location())
}

// dateOf returns the day of a time in a record: midnight UTC is that day in each zone.
func dateOf(t apitype.Time, zone *time.Location) time.Time {
	at := t.UTC()
	if !at.Equal(at.Truncate(24 * time.Hour)) {
		return at.In(zone)
	}
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}
