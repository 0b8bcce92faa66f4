package desk

import (
	"cmp"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
)

// CallingHours are the hours by country, where they are not the default.
type CallingHours map[string]apitype.HoursOfDays

// Against says why a donor in a country is not called now, "" where nothing speaks
// against it. Of a country that is not known it says nothing.
func (c CallingHours) Against(now time.Time, country string, say func(text string, args ...any) string) string {
	zone, known := hours.Zone(country)
	if !known {
		return ""
	}
	local := now.In(zone)
	day := local.Weekday()
	span, err := apitype.ParseSpan(cmp.Or(c[strings.ToUpper(country)].On(day), apitype.DefaultHours.On(day)))
	if err != nil { // It was checked where it was set.
		return ""
	}
	return outside(hours.Day{Local: local, Country: strings.ToUpper(country), Span: span}, say)
}

// outside says why donors are not called at the time of a day, "" if they are.
func outside(day hours.Day, say func(text string, args ...any) string) string {
	at := day.Local.Hour()*60 + day.Local.Minute()
	if at >= day.Span.From && at < day.Span.Until {
		return ""
	}
	when := say("it is %s on %s in %s", day.Local.Format("15:04"), say(day.Local.Weekday().String()), day.Country)
	switch {
	case day.IsHoliday:
		return when + ": " + say("no calls on a public holiday")
	case day.Span == (apitype.Span{}):
		return when + ": " + say("no calls on that day")
	}
	from, until, _ := strings.Cut(day.Span.String(), " to ")
	return when + ": " + say("calls are made from %s to %s", from, until)
}
