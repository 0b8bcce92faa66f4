package apitype

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

var errTypedTime = errors.New(
	"is not a time: use RFC 3339 (2026-11-20T09:15:00Z), a date (2026-11-20), now, today, yesterday, monday 14:00, " +
		"or an age (90s, 90m, 36h, 7d, 2w)",
)

// ParseTypedTime reads a time of a filter as people write it: any ISO 8601 form, the forms of mails, words in English,
// Dutch or German, and an age, which is that long ago. Days and times without a zone are in now's zone. A text with
// several meanings is an [AmbiguousTime]. An hour that comes twice, because clocks are set back, is the first of the
// two.
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
	if t, err := parseISO(text, now.Location()); err == nil {
		first, _ := bothOf(t, text, now.Location())
		return first, nil
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

// bothOf returns the two times of a text without an offset in an hour that comes twice in its zone. Any other text has
// one time.
func bothOf(at Time, text string, zone *time.Location) (first, second Time) {
	elsewhere, err := parseISO(text, time.FixedZone("", 1))
	hasOffset := err == nil && elsewhere.Equal(at)
	if hasOffset {
		return at, at
	}
	first, second = at, at
	for _, back := range []time.Duration{30 * time.Minute, time.Hour} { // Lord Howe has half an hour.
		for _, other := range []time.Time{at.Add(-back), at.Add(back)} {
			isSameWall := asUTC(other.In(zone)).Equal(asUTC(at.In(zone)))
			if isSameWall && other.Before(first.Time) {
				first = NewTime(other)
			}
			if isSameWall && other.After(second.Time) {
				second = NewTime(other)
			}
		}
	}
	return first, second
}

// ParseBodyTime reads a time of a request's body, in the forms of [ParseTypedTime]. A time without a zone is in
// UTC. A day, and an age in days or weeks, is midnight UTC of the day as now's zone has it. Spec gap: R5.
func ParseBodyTime(text string, now time.Time) (Time, error) {
	tokens := tokensOf(text)
	if len(tokens) == 1 && nowWords[tokens[0]] {
		return NewTime(now), nil
	}
	wall := asUTC(now)
	if len(tokens) == 0 || len(readLength(tokens, timePlace{now: now})) == 0 {
		return ParseTypedTime(text, wall)
	}
	if inDays(tokens) {
		now = wall
	}
	at, err := ParseTypedTime(text, now)
	if err == nil && inDays(tokens) {
		at = NewTime(midnight(at.UTC()))
	}
	return at, err
}

// asUTC returns the clock of a time in its own zone as if it were one of UTC.
func asUTC(t time.Time) time.Time {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return time.Date(year, month, day, hour, minute, second, t.Nanosecond(), time.UTC)
}

// inDays reports whether an age has no unit below a day.
func inDays(tokens []string) bool {
	units := words().units
	return !slices.ContainsFunc(tokens, func(token string) bool {
		return units[token] != 0 && units[token] < 24*time.Hour
	})
}

// ParseTypedUntil reads the end of a period in the forms of [ParseTypedTime]. A day is included: it ends with
// its last millisecond. An hour that comes twice is the second of the two.
func ParseTypedUntil(text string, now time.Time) (Time, error) {
	at, err := ParseTypedTime(text, now)
	if err != nil {
		return at, err
	}
	if !isDay(text, now) {
		_, second := bothOf(at, text, now.Location())
		return second, nil
	}
	return NewTime(at.In(now.Location()).AddDate(0, 0, 1).Add(-time.Millisecond)), nil
}

// isDay reports whether a text that was read names a day without a time: a time can then be added to it.
func isDay(text string, now time.Time) bool {
	if _, err := parseISODate(strings.ToUpper(text)); err == nil {
		return true
	}
	place := timePlace{now: now}
	return len(readLength(tokensOf(text), place)) == 0 && len(readWords(text+" 12:00", place)) > 0
}

// ParseTimeAhead reads a typed time for a callback: "in 2 hours", "18:00", "tomorrow 18:00", "fri 10:30", "24-12
// 14:00", in English, Dutch or German, or as ISO 8601. A duration is that far ahead. A time without a zone is in zone,
// which is the donor's. The time must be in the future, at most by [MaxDeferral]. A text with several meanings is an
// [AmbiguousTime].
func ParseTimeAhead(text string, now time.Time, zone *time.Location) (time.Time, error) {
	reading, err := oneAhead(text, readAhead(text, timePlace{now: now.In(zone), ahead: true}), now)
	return reading.At, err
}

// oneAhead returns the only reading of a text that is ahead.
func oneAhead(text string, readings []TimeReading, now time.Time) (TimeReading, error) {
	var possible []TimeReading
	for _, r := range readings {
		if r.At.After(now) && r.At.Sub(now) <= MaxDeferral {
			possible = append(possible, r)
		}
	}
	const layout = "2 January 2006 15:04"
	if len(readings) == 0 {
		const wrong = "%q is not a time: try 18:00, tomorrow 18:00, fri 10:30, 24-12 14:00, in 2 hours"
		return TimeReading{}, fmt.Errorf(wrong, text)
	}
	if len(possible) == 1 {
		return possible[0], nil
	}
	if len(possible) > 1 {
		return TimeReading{}, &AmbiguousTime{text, possible}
	}
	if !readings[0].At.After(now) {
		return TimeReading{}, fmt.Errorf("%s is in the past: choose a later time", readings[0].At.Format(layout))
	}
	return TimeReading{}, fmt.Errorf("%s is more than 400 days ahead", readings[0].At.Format(layout))
}

// readAhead reads a text where now of the place is in the zone of the reader.
func readAhead(text string, place timePlace) []TimeReading {
	text = strings.TrimSpace(text)
	day, clock, _ := strings.Cut(strings.Replace(strings.ToUpper(text), "T", " ", 1), " ")
	date, err := parseISODate(day)
	isWhole := err == nil && len(day) >= len("20060102")
	if isWhole && clock != "" {
		if t, err := parseISO(text, place.now.Location()); err == nil {
			return []TimeReading{{At: t.In(place.now.Location())}}
		}
	}
	if isWhole && clock == "" {
		text = date.Format(time.DateOnly) // 20261224 is read as 2026-12-24 is.
	}
	return readWords(text, place)
}

// AmbiguousTime is a text with more than one meaning.
type AmbiguousTime struct {
	Text     string
	Readings []TimeReading // At least two, in the zone of the reader.
}

// TimeReading is one meaning of a text.
type TimeReading struct {
	As      string // "time" or "date" if that distinguishes it from the others, otherwise empty.
	At      time.Time
	IsMoved bool // The time does not exist on its day, as the clocks go forward. At is after it.
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
