package apitype

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var errTypedTime = errors.New("is not a time: use RFC 3339 (2026-11-20T09:15:00Z), a date (2026-11-20), now, today, yesterday, monday 14:00, or an age (90s, 90m, 36h, 7d, 2w)")

// ParseTypedTime reads a time as people write it: any ISO 8601 form and those of mails, words in
// English, Dutch or German, and an age, which is that long ago. A day, and a time without a zone, is
// one of where now is; with a T, as in requests, it is of UTC. A text with several meanings is an
// [AmbiguousTime]. Spec gap: R5.
func ParseTypedTime(text string, now time.Time) (Time, error) {
	at, err := readPast(text, now)
	if err != nil {
		return Time{}, err
	}
	_, err = ParseTime(at.String()) // A day or an age may lie outside of the years there are.
	return at, err
}

func readPast(text string, now time.Time) (Time, error) {
	if day, err := parseISODate(strings.ToUpper(text)); err == nil {
		year, month, date := day.Date()
		return NewTime(time.Date(year, month, date, 0, 0, 0, 0, now.Location())), nil
	}
	zone := now.Location()
	if strings.ContainsAny(text, "Tt") { // People leave a blank; what writes a T is a program.
		zone = time.UTC
	}
	if t, err := parseISO(text, zone); err == nil {
		return t, nil
	}
	readings := readWords(text, timePlace{now: now})
	switch len(readings) {
	case 0:
		return Time{}, errTypedTime
	case 1:
		return NewTime(readings[0].At), nil
	default:
		return Time{}, &AmbiguousTime{text, readings}
	}
}

// ParseTimeAhead reads when a call is due, as a person types it: "in 2 hours", "18:00", "tomorrow
// 18:00", "fri 10:30", "24-12 14:00", in English, Dutch or German, or as ISO 8601. A length of time
// is that far ahead. A time without a zone is one of zone, which is the donor's. The time must be
// ahead, and by [MaxDeferral] at most. A text with several meanings is an [AmbiguousTime].
func ParseTimeAhead(text string, now time.Time, zone *time.Location) (time.Time, error) {
	readings := readAhead(text, now.In(zone))
	var possible []TimeReading
	for _, r := range readings {
		if r.At.After(now) && r.At.Sub(now) <= MaxDeferral {
			possible = append(possible, r)
		}
	}
	const layout = "2 January 2006 15:04"
	switch {
	case len(readings) == 0:
		return time.Time{}, fmt.Errorf("%q is no time: try 18:00, tomorrow 18:00, fri 10:30, 24-12 14:00, in 2 hours", text)
	case len(possible) == 1:
		return possible[0].At, nil
	case len(possible) > 1:
		return time.Time{}, &AmbiguousTime{text, possible}
	case !readings[0].At.After(now):
		return time.Time{}, fmt.Errorf("%s is past: name a time that is ahead", readings[0].At.In(zone).Format(layout))
	default:
		return time.Time{}, fmt.Errorf("%s is more than 400 days ahead", readings[0].At.In(zone).Format(layout))
	}
}

// readAhead reads a text where now is in the zone of the reader.
func readAhead(text string, now time.Time) []TimeReading {
	text = strings.TrimSpace(text)
	day, _, _ := strings.Cut(strings.Replace(strings.ToUpper(text), "T", " ", 1), " ")
	if _, err := parseISODate(day); err == nil && len(day) >= len("20060102") && len(day) < len(text) {
		if t, err := parseISO(text, now.Location()); err == nil {
			return []TimeReading{{At: t.Time}}
		}
	}
	return readWords(text, timePlace{now: now, ahead: true})
}

// AmbiguousTime is a text with more than one meaning.
type AmbiguousTime struct {
	Text     string
	Readings []TimeReading // At least two, in the zone of the reader.
}

// TimeReading is one meaning of a text.
type TimeReading struct {
	As string // "time" or "date", where that tells it from the others; otherwise "".
	At time.Time
}

// Error names each meaning.
func (a *AmbiguousTime) Error() string {
	var all []string
	for _, r := range a.Readings {
		text := r.At.Format("Mon 2 Jan 2006 15:04")
		if r.As != "" {
			text += " (a " + r.As + ")"
		}
		all = append(all, text)
	}
	return fmt.Sprintf("%q can be read as %s: write which one is meant", a.Text, strings.Join(all, " or "))
}
