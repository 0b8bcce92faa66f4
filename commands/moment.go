package commands

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

var errMoment = errors.New("is not a time: use RFC 3339 (2026-11-20T09:15:00Z), a date (2026-11-20), now, today, yesterday, or an age (90m, 36h, 7d, 2w)")

// parseMoment reads a time as people write it: RFC 3339, a local day, now, today,
// yesterday, or an age, which is that long ago. Spec gap: R5.
func parseMoment(text string, now time.Time) (apitype.Time, error) {
	at, err := readMoment(text, now)
	if err != nil {
		return at, err
	}
	_, err = apitype.ParseTime(at.String()) // A day or an age may lie outside of the years there are.
	return at, err
}

func readMoment(text string, now time.Time) (apitype.Time, error) {
	midnight := func(t time.Time) apitype.Time {
		year, month, day := t.Date()
		return apitype.NewTime(time.Date(year, month, day, 0, 0, 0, 0, t.Location()))
	}
	local := now.In(time.Local)
	switch text {
	case "now":
		return apitype.NewTime(now), nil
	case "today":
		return midnight(local), nil
	case "yesterday":
		return midnight(local.AddDate(0, 0, -1)), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return apitype.NewTime(day), nil
	}
	if age, ok := parseAge(text); ok {
		return apitype.NewTime(now.Add(-age)), nil
	}
	if t, err := apitype.ParseTime(text); err == nil {
		return t, nil
	}
	return apitype.Time{}, errMoment
}

// maxAge is longer than anything has been recorded; more would not fit a duration.
const maxAge = 200 * 365 * 24 * time.Hour

// parseAge reads a number with a unit: s, m, h, d, w.
func parseAge(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if len(text) < 2 {
		return 0, false
	}
	unit, ok := units[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if !ok || err != nil || n < 0 || strings.HasPrefix(text, "+") || n > int(maxAge/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// momentValue is a flag that holds a time.
type momentValue struct {
	now   func() time.Time
	value **apitype.Time
}

func (m momentValue) String() string {
	if m.value == nil || *m.value == nil {
		return ""
	}
	return (*m.value).String()
}

// Set reads the flag.
func (m momentValue) Set(text string) error {
	t, err := parseMoment(text, m.now())
	if err != nil {
		return err
	}
	*m.value = &t
	return nil
}

// Type is the word in the help.
func (m momentValue) Type() string { return "time" }

// uuidValue is a flag that holds an identifier.
type uuidValue struct{ value **apitype.UUID }

func (u uuidValue) String() string {
	if u.value == nil || *u.value == nil {
		return ""
	}
	return (*u.value).String()
}

// Set reads the flag.
func (u uuidValue) Set(text string) error {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return err
	}
	*u.value = &id
	return nil
}

// Type is the word in the help.
func (u uuidValue) Type() string { return "uuid" }

// uuidsValue is a repeatable flag that holds identifiers.
type uuidsValue struct{ values *[]apitype.UUID }

func (u uuidsValue) String() string {
	var texts []string
	if u.values != nil {
		for _, id := range *u.values {
			texts = append(texts, id.String())
		}
	}
	return strings.Join(texts, ",")
}

// Set reads one or several identifiers.
func (u uuidsValue) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		id, err := apitype.ParseUUID(part)
		if err != nil {
			return err
		}
		*u.values = append(*u.values, id)
	}
	return nil
}

// Type is the word in the help.
func (u uuidsValue) Type() string { return "uuid" }

// parseID reads an identifier from the arguments.
func parseID(text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, usageError(quote(text) + " " + err.Error())
	}
	return id, nil
}
