package desk

import (
	"cmp"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
)

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
	span, err := apitype.ParseSpan(cmp.Or(c[strings.ToUpper(country)].On(day), apitype.DefaultHours.On(day)))
	if err != nil { // It was checked when it was set.
		return ""
	}
	return outside(hours.Day{Local: local, Country: strings.ToUpper(country), Span: span}, say)
}

// outside returns why donors must not be called at a time of the day, or an empty text.
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
