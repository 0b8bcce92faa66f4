package desk

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Span is a part of a day, in minutes after midnight.
type Span struct{ From, Until int }

// Hours are when the donors of a country are called.
type Hours struct{ Weekday, Saturday, Sunday Span }

// DefaultHours hold for a country that the configuration does not name.
var DefaultHours = Hours{Weekday: Span{9 * 60, 21 * 60}, Saturday: Span{10 * 60, 18 * 60}, Sunday: Span{10 * 60, 18 * 60}}

// ParseSpan reads a span such as "09:00-21:00"; "-" is a day without calls.
func ParseSpan(text string) (Span, error) {
	if text == "-" {
		return Span{}, nil
	}
	from, until, _ := strings.Cut(text, "-")
	start, wrongStart := time.Parse("15:04", strings.TrimSpace(from))
	end, wrongEnd := time.Parse("15:04", strings.TrimSpace(until))
	if wrongStart != nil || wrongEnd != nil || !start.Before(end) {
		return Span{}, fmt.Errorf(`%q is no span of a day: write it as "09:00-21:00", or "-" for a day without calls`, text)
	}
	return Span{minutes(start), minutes(end)}, nil
}

// ParseHours reads the spans of a country; "" is the default of that day.
func ParseHours(weekday, saturday, sunday string) (Hours, error) {
	h := DefaultHours
	var errs [3]error
	for i, day := range []struct {
		text string
		span *Span
	}{{weekday, &h.Weekday}, {saturday, &h.Saturday}, {sunday, &h.Sunday}} {
		if day.text != "" {
			*day.span, errs[i] = ParseSpan(day.text)
		}
	}
	return h, cmp.Or(errs[:]...)
}

func minutes(t time.Time) int { return t.Hour()*60 + t.Minute() }

func (s Span) String() string {
	return fmt.Sprintf("%02d:%02d to %02d:%02d", s.From/60, s.From%60, s.Until/60, s.Until%60)
}

func (h Hours) on(day time.Weekday) Span {
	switch day {
	case time.Saturday:
		return h.Saturday
	case time.Sunday:
		return h.Sunday
	default:
		return h.Weekday
	}
}

// CallingHours are the hours by country, where they are not the default.
type CallingHours map[string]Hours

// Against says why a donor in a country is not called now, "" where nothing speaks
// against it. Of a country that is not known it says nothing.
func (c CallingHours) Against(now time.Time, country string) string {
	zone, known := Zone(country)
	if !known {
		return ""
	}
	hours, configured := c[strings.ToUpper(country)]
	if !configured {
		hours = DefaultHours
	}
	local := now.In(zone)
	span := hours.on(local.Weekday())
	if at := minutes(local); at >= span.From && at < span.Until {
		return ""
	}
	when := fmt.Sprintf("it is %s on %s in %s", local.Format("15:04"), local.Weekday(), strings.ToUpper(country))
	if span == (Span{}) {
		return when + ": nobody is called on that day"
	}
	return when + ": calls are made from " + span.String()
}
