// Package hours computes when donors of an organization may be called, from the donor's country, the organization's
// hours and public holidays. The service decides by it, and clients show it. It knows nothing of calls.
//
//	plan := hours.NewPlan(settings)
//	country := hours.CountryOf(person)
//	if plan != nil && !plan.IsOpen(country, now) { … }
package hours

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// BuiltIn holds for each country without hours in the settings.
var BuiltIn = apitype.HoursOfDays{Weekday: "09:00-21:00", Saturday: "10:00-16:00", Sunday: "-"}

// Plan is the calling hours of an organization. It is safe for concurrent use.
type Plan struct {
	country  string // Of the organization.
	hours    map[string]apitype.HoursOfDays
	holidays holidays

	mu     sync.Mutex
	minute time.Time       // Of the answers in open.
	open   map[string]bool // By country.
}

// NewPlan returns the calling hours that settings state, or nil if they have no country: then calls are given at
// any hour.
func NewPlan(s apitype.OrganizationSettings) *Plan {
	if s.Country == "" {
		return nil
	}
	return &Plan{
		country:  s.Country,
		hours:    s.CallingHours,
		holidays: newHolidays(s.Holidays),
	}
}

// calendar is the zone of a donor, and the country with the donor's hours and holidays.
type calendar struct {
	zone  *time.Location
	rules string
}

// calendarOf returns the calendar of a country, "" for a donor in an unknown country. A country without hours of its
// own has those of the organization in its own zone.
func (p *Plan) calendarOf(country string) calendar {
	zone, isKnown := Zone(country)
	if !isKnown {
		country = p.country
		zone, isKnown = Zone(country)
		if !isKnown {
			zone = time.UTC
		}
	}
	_, isSet := p.hours[country]
	if !isSet && !hasHolidays(country) {
		return calendar{zone, p.country}
	}
	return calendar{zone, country}
}

// IsOpen reports whether a donor of a country may be called at a time.
func (p *Plan) IsOpen(country string, at time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	minute := at.Truncate(time.Minute) // Hours and zones change at full minutes.
	if !minute.Equal(p.minute) || p.open == nil {
		p.minute, p.open = minute, map[string]bool{}
	}
	isOpen, isKnown := p.open[country]
	if !isKnown {
		isOpen = p.isOpen(p.calendarOf(country), minute)
		p.open[country] = isOpen
	}
	return isOpen
}

func (p *Plan) isOpen(c calendar, at time.Time) bool {
	local := at.In(c.zone)
	span := p.spanOn(c, local)
	minute := local.Hour()*60 + local.Minute()
	return minute >= span.From && minute < span.Until
}

// spanOn returns the hours of a local day.
func (p *Plan) spanOn(c calendar, local time.Time) apitype.Span {
	if p.holidays.has(c.rules, local) {
		return apitype.Span{}
	}
	return SpanOn(p.hours[c.rules], local.Weekday())
}

// SpanOn returns the hours of a kind of day, or the built-in ones if none are set.
func SpanOn(set apitype.HoursOfDays, day time.Weekday) apitype.Span {
	span, err := apitype.ParseSpan(cmp.Or(set.On(day), BuiltIn.On(day)))
	if err != nil { // Checked when it was set.
		return apitype.Span{}
	}
	return span
}

// Day is the calling hours of a day at the home of a donor.
type Day struct {
	Local     time.Time
	Country   string // The country of the zone.
	Span      apitype.Span
	IsHoliday bool
}

// DayOf returns the hours of the day on which a time is for donors of a country.
func (p *Plan) DayOf(country string, at time.Time) Day {
	c := p.calendarOf(country)
	if _, isKnown := Zone(country); !isKnown {
		country = p.country
	}
	local := at.In(c.zone)
	return Day{
		Local:     local,
		Country:   strings.ToUpper(country),
		Span:      p.spanOn(c, local),
		IsHoliday: p.holidays.has(c.rules, local),
	}
}

// farAhead is the number of days that the search for an opening covers.
const farAhead = 400

// Opens returns when donors of a country may be called next, at a time or later. It reports false if that is not
// within a year.
func (p *Plan) Opens(country string, at time.Time) (time.Time, bool) {
	c := p.calendarOf(country)
	first := at.Truncate(time.Minute)
	if p.isOpen(c, first) {
		return at, true
	}
	year, month, day := at.In(c.zone).Date()
	for ahead := range farAhead {
		noon := time.Date(year, month, day+ahead, 12, 0, 0, 0, c.zone)
		span := p.spanOn(c, noon)
		if span == (apitype.Span{}) {
			continue
		}
		opens := p.firstOf(c, noon, span)
		if opens.After(first) {
			return opens, true
		}
	}
	return time.Time{}, false
}

// firstOf returns the first minute of a day's hours. Where clocks are moved, the hour that is asked for may come
// twice, or not at all.
func (p *Plan) firstOf(c calendar, noon time.Time, span apitype.Span) time.Time {
	year, month, day := noon.Date()
	at := time.Date(year, month, day, span.From/60, span.From%60, 0, 0, c.zone)
	isIn := func(t time.Time) bool { return t.In(c.zone).Day() == day && p.isOpen(c, t) }
	const mostMoved = 3 * 60
	for range mostMoved {
		if isIn(at) {
			break
		}
		at = at.Add(time.Minute)
	}
	for range mostMoved {
		if !isIn(at.Add(-time.Minute)) {
			break
		}
		at = at.Add(-time.Minute)
	}
	return at
}
