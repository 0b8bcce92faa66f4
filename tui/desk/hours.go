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
	if at := local.Hour()*60 + local.Minute(); at >= span.From && at < span.Until {
		return ""
	}
	from, until, _ := strings.Cut(span.String(), " to ")
	when := say("it is %s on %s in %s", local.Format("15:04"), say(local.Weekday().String()), strings.ToUpper(country))
	if span == (apitype.Span{}) {
		return when + ": " + say("no calls on that day")
	}
	return when + ": " + say("calls are made from %s to %s", from, until)
}
