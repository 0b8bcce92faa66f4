package apitype

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wireTime is the form of an instant on the wire: RFC 3339, UTC, milliseconds. Spec gap: R5.
const wireTime = "2006-01-02T15:04:05.000Z"

// The years that the service takes. Spec gap: R5.
const (
	minYear = 1900
	maxYear = 9999
)

// Time is an instant to the millisecond. It reads any ISO 8601 form and writes
// RFC 3339 in UTC with milliseconds. The zero value is not a time.
type Time struct{ time.Time }

var (
	errTime   = errors.New("is not an RFC 3339 time such as 2026-11-20T09:15:00Z, nor a date such as 2026-11-20")
	errYear   = errors.New("must be in the years 1900 to 9999")
	errDate   = errors.New("is not a date such as 1980-05-17")
	errString = errors.New("must be a string")
)

// NewTime returns t cut to the millisecond, in UTC.
func NewTime(t time.Time) Time { return Time{Time: t.UTC().Truncate(time.Millisecond)} }

// TimeFromMilli returns the instant that many milliseconds after 1970.
func TimeFromMilli(ms int64) Time { return Time{Time: time.UnixMilli(ms).UTC()} }

// String returns the time in its form on the wire.
func (t Time) String() string { return t.UTC().Format(wireTime) }

// Equal reports whether both are the same instant.
func (t Time) Equal(other Time) bool { return t.Time.Equal(other.Time) }

// MarshalText writes RFC 3339 in UTC with milliseconds.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes MarshalText as a string, null for the zero value.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalText reads any ISO 8601 form.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := parseISO(string(text), time.UTC)
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

// UnmarshalJSON reads a string in any ISO 8601 form; null leaves t unchanged.
func (t *Time) UnmarshalJSON(data []byte) error {
	return unmarshalString(data, t.UnmarshalText)
}

// ParseTime reads the forms that the service takes: RFC 3339 with an offset, without
// one (UTC), or a date (midnight UTC), in the years 1900 to 9999. Spec gap: R5.
func ParseTime(text string) (Time, error) {
	if len(text) >= len("2006-01-02T") && (text[10] == 't' || text[len(text)-1] == 'z') {
		text = strings.ToUpper(text)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		// The standard parser takes a comma before the fraction, a lone digit for the hour,
		// and offsets of 24 hours and of 60 minutes; RFC 3339 does not.
		parsed, err := time.Parse(layout, text)
		isStrict := !strings.Contains(text, ",") && (len(text) == 10 || err == nil && text[13] == ':')
		if err == nil && isStrict && offsetInRange(text) {
			if year := parsed.UTC().Year(); year < minYear || year > maxYear {
				return Time{}, errYear
			}
			return NewTime(parsed), nil
		}
	}
	return Time{}, errTime
}

// offsetInRange reports whether a time that was parsed has an offset as RFC 3339 has them, or
// none.
func offsetInRange(text string) bool {
	i := strings.LastIndexAny(text, "+-")
	if i < len("2006-01-02T") {
		return true
	}
	return text[i+1:i+3] <= "23" && text[i+4:] <= "59"
}

// Date is a calendar day without a zone. The zero value is not a day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf returns the calendar day of t in its own zone.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{Year: year, Month: month, Day: day}
}

// ParseDate reads YYYY-MM-DD, or the date of a date-time, which is cut and never
// shifted by a zone. Spec gap: R6.
func ParseDate(text string) (Date, error) {
	if len(text) > len(time.DateOnly) {
		if _, err := ParseTime(text); err != nil {
			return Date{}, errDate
		}
		text = text[:len(time.DateOnly)]
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Date{}, errDate
	}
	return DateOf(t), nil
}

// IsZero reports whether d is not a day.
func (d Date) IsZero() bool { return d == Date{} }

// String returns the day as YYYY-MM-DD.
func (d Date) String() string { return d.Midnight().Format(time.DateOnly) }

// Midnight returns the start of the day in UTC.
func (d Date) Midnight() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// MarshalText writes YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [ParseDate] reads, and any other ISO 8601 form.
func (d *Date) UnmarshalText(text []byte) error {
	parsed, err := ParseDate(string(text))
	if err != nil {
		t, isoErr := parseISO(string(text), time.UTC)
		if isoErr != nil {
			return err
		}
		parsed = DateOf(t.Time)
	}
	*d = parsed
	return nil
}

// validate checks a date of birth: from 1900 to today, as the day is anywhere on
// earth. Spec gap: R5.
func (d Date) validate(v *Violations, pointer string, now time.Time) {
	if d.Year < minYear || d.Midnight().After(now.Add(14*time.Hour)) {
		v.Add(pointer, "must be a day from 1900-01-01 to today")
	}
}

// StrictDecoding makes a decoder take only the forms of times and dates that the
// service takes; without it any ISO 8601 form is read. It reads [WholeNumbers]. Spec gap: R5.
func StrictDecoding() json.Options {
	return json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, t *Time) error {
			return decodeString(dec, t, ParseTime)
		}),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, d *Date) error {
			return decodeString(dec, d, ParseDate)
		}),
		WholeNumbers(),
	))
}

// decodeString reads one string, or null, which leaves the value as it is.
func decodeString[T any](dec *jsontext.Decoder, value *T, parse func(string) (T, error)) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		return nil
	case '"':
		parsed, err := parse(token.String())
		if err != nil {
			return err
		}
		*value = parsed
		return nil
	default:
		return errString
	}
}

// unmarshalString hands the text of a JSON string to read; null is passed over.
func unmarshalString(data []byte, read func([]byte) error) error {
	if string(data) == "null" {
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, data)
	if err != nil {
		return errString
	}
	return read(text)
}

// parseISO reads the ISO 8601 forms that services in the field send: extended and
// basic, calendar, ordinal and week dates, a time to the hour, minute or second with a
// fraction after a point or a comma, and an offset with or without a colon.
//
// A time without an offset is one of zone.
func parseISO(text string, zone *time.Location) (Time, error) {
	if t, err := ParseTime(text); err == nil && zone == time.UTC {
		return t, nil
	}
	if t, err := parseMailTime(text); err == nil {
		return t, nil
	}
	datePart, timePart, hasTime := strings.Cut(strings.ToUpper(strings.TrimSpace(text)), "T")
	if !hasTime {
		datePart, timePart, hasTime = strings.Cut(datePart, " ")
	}
	timePart = strings.ReplaceAll(timePart, " ", "") // Between the time and its offset.
	day, err := parseISODate(datePart)
	if err != nil || !hasTime {
		return NewTime(day), err
	}
	clock, offset, err := cutOffset(timePart)
	if err != nil {
		return Time{}, err
	}
	since, err := parseISOClock(clock)
	if err != nil {
		return Time{}, err
	}
	if len(clock) == len(timePart) {
		seconds, rest := int(since/time.Second), int(since%time.Second)
		return NewTime(time.Date(day.Year(), day.Month(), day.Day(), 0, 0, seconds, rest, zone)), nil
	}
	return NewTime(day.Add(since - offset)), nil
}

// parseMailTime reads the times of mails, of date and of servers. It reads a zone's name if the name has one meaning.
func parseMailTime(text string) (Time, error) {
	text, _, _ = strings.Cut(text, " (") // The name of the zone, behind its offset.
	for _, layout := range []string{
		"Mon, _2 Jan 2006 15:04:05 ",
		"_2 Jan 2006 15:04:05 ",
		"Mon, _2 Jan 2006 15:04 ",
		"Mon Jan _2 15:04:05 ",
	} {
		year := ""
		if !strings.Contains(layout, "2006") {
			year = " 2006"
		}
		for _, zone := range []string{"-0700", "UTC", "GMT"} {
			if t, err := time.Parse(layout+zone+year, text); err == nil && mailOffsetInRange(text) {
				return NewTime(t), nil
			}
		}
	}
	return Time{}, errTime
}

// mailOffsetInRange reports whether the offset of a time that was parsed is less than a day. The
// standard parser takes one of 24 hours, and 60 minutes.
func mailOffsetInRange(text string) bool {
	i := strings.LastIndexAny(text, "+-")
	return i < 0 || text[i+1:i+3] <= "23" && text[i+3:i+5] <= "59"
}

// parseISODate reads a date as midnight UTC.
func parseISODate(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02", "20060102", "2006-002", "2006002", "2006-01", "2006"} {
		if t, err := time.Parse(layout, text); err == nil && len(text) == len(layout) {
			return t, nil
		}
	}
	return parseISOWeek(text)
}

// parseISOWeek reads a week, or a day of a week, such as 2026-W48 and 2026-W48-1.
func parseISOWeek(text string) (time.Time, error) {
	year, week, ok := strings.Cut(strings.ReplaceAll(text, "-", ""), "W")
	hasDigits := len(year) == 4 && (len(week) == 2 || len(week) == 3)
	if !ok || !hasDigits {
		return time.Time{}, errTime
	}
	n, err := strconv.Atoi(year + (week + "1")[:3])
	if err != nil {
		return time.Time{}, errTime
	}
	y, w, d := n/1000, n/10%100, n%10
	isWeek, isDay := w >= 1 && w <= 53, d >= 1 && d <= 7
	if !isWeek || !isDay {
		return time.Time{}, errTime
	}
	fourth := time.Date(y, time.January, 4, 0, 0, 0, 0, time.UTC)
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
	return monday.AddDate(0, 0, (w-1)*7+d-1), nil
}

// cutOffset takes the zone off a time of day.
func cutOffset(text string) (clock string, offset time.Duration, err error) {
	i := strings.IndexAny(text, "Z+-")
	if i < 0 || text[i:] == "Z" {
		return strings.TrimSuffix(text, "Z"), 0, nil
	}
	digits := strings.ReplaceAll(text[i+1:], ":", "")
	n, err := strconv.Atoi(digits)
	isWhole := len(digits) == 2 || len(digits) == 4
	if err != nil || !isWhole || text[i] == 'Z' {
		return "", 0, errTime
	}
	if len(digits) == 2 {
		n *= 100
	}
	if n/100 > 23 || n%100 > 59 {
		return "", 0, errTime
	}
	offset = time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute
	if text[i] == '-' {
		offset = -offset
	}
	return text[:i], offset, nil
}

// parseISOClock reads a time of day as the time since midnight.
func parseISOClock(text string) (time.Duration, error) {
	whole, fraction, _ := strings.Cut(strings.ReplaceAll(text, ",", "."), ".")
	digits := strings.ReplaceAll(whole, ":", "")
	unit, isWhole := map[int]time.Duration{2: time.Hour, 4: time.Minute, 6: time.Second}[len(digits)]
	n, err := strconv.Atoi((digits + "0000")[:min(6, len(digits)+4)])
	if err != nil || !isWhole {
		return 0, errTime
	}
	h, m, s := n/10000, n/100%100, n%100
	if h > 24 || m > 59 || s > 60 {
		return 0, errTime
	}
	since := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
	if since > 24*time.Hour {
		return 0, errTime
	}
	if fraction == "" {
		return since, nil
	}
	part, err := strconv.ParseFloat("0."+fraction, 64)
	if err != nil {
		return 0, errTime
	}
	return since + time.Duration(part*float64(unit)+0.5), nil
}
