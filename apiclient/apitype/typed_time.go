package apitype

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

var errTypedTime = errors.New("is not a time: use RFC 3339 (2026-11-20T09:15:00Z), a date (2026-11-20), now, today, yesterday, or an age (90s, 90m, 36h, 7d, 2w)")

// ParseTypedTime reads a time as people write it: any ISO 8601 form and those of mails, a
// day where now is, now, today, yesterday, or an age, which is that long ago. Spec gap: R5.
func ParseTypedTime(text string, now time.Time) (Time, error) {
	at, err := readTypedTime(text, now)
	if err != nil {
		return Time{}, err
	}
	_, err = ParseTime(at.String()) // A day or an age may lie outside of the years there are.
	return at, err
}

func readTypedTime(text string, now time.Time) (Time, error) {
	localDay := func(t time.Time) Time {
		year, month, day := t.Date()
		return NewTime(time.Date(year, month, day, 0, 0, 0, 0, now.Location()))
	}
	switch text {
	case "now":
		return NewTime(now), nil
	case "today":
		return localDay(now), nil
	case "yesterday":
		return localDay(now.AddDate(0, 0, -1)), nil
	}
	if day, err := parseISODate(strings.ToUpper(text)); err == nil {
		return localDay(day), nil
	}
	if age, ok := parseAge(text); ok {
		return NewTime(now.Add(-age)), nil
	}
	if t, err := parseISO(text); err == nil {
		return t, nil
	}
	return Time{}, errTypedTime
}

// maxAge is longer than anything has been recorded; more would not fit a duration.
const maxAge = 200 * 365 * 24 * time.Hour

// parseAge reads a number with a unit: s, m, h, d, w.
func parseAge(text string) (time.Duration, bool) {
	number, unit := text, time.Duration(0)
	if text != "" {
		number = text[:len(text)-1]
		switch text[len(text)-1] {
		case 's':
			unit = time.Second
		case 'm':
			unit = time.Minute
		case 'h':
			unit = time.Hour
		case 'd':
			unit = 24 * time.Hour
		case 'w':
			unit = 7 * 24 * time.Hour
		}
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if unit == 0 || err != nil || n > uint64(maxAge/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
