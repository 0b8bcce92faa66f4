package tui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// terms is a filter taken apart: name=value pairs in the interface's terms, and words
// that are looked for in what is shown.
type terms struct {
	values map[string]string
	words  []string
	now    time.Time
}

// parseTerms reads a filter and refuses names that are not known.
func parseTerms(text string, now time.Time, known ...string) (terms, error) {
	t := terms{values: map[string]string{}, now: now}
	for word := range strings.FieldsSeq(text) {
		name, value, isPair := strings.Cut(word, "=")
		if !isPair {
			t.words = append(t.words, strings.ToLower(word))
			continue
		}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		switch {
		case i < 0:
			return t, fmt.Errorf("there is no filter %s; known are %s", name, strings.Join(known, ", "))
		case value == "":
			return t, fmt.Errorf("%s needs a value", name)
		}
		t.values[known[i]] = value
	}
	return t, nil
}

// keepWords is the local part that looks for words; nil when there are none.
func keepWords[R any](t terms, search func(R) string, more func(R) bool) func(R) bool {
	if len(t.words) == 0 && more == nil {
		return nil
	}
	return func(row R) bool {
		if more != nil && !more(row) {
			return false
		}
		if len(t.words) == 0 {
			return true
		}
		text := strings.ToLower(search(row))
		for _, word := range t.words {
			if !strings.Contains(text, word) {
				return false
			}
		}
		return true
	}
}

func (t terms) uuid(name string) (*apitype.UUID, error) {
	text, given := t.values[name]
	if !given {
		return nil, nil
	}
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return &id, nil
}

var errFilterTime = errors.New("needs a date, an RFC 3339 time, or an age such as 36h or 7d")

// time reads a time: RFC 3339, a local day, now, today, yesterday, or an age.
func (t terms) time(name string) (*apitype.Time, error) {
	text, given := t.values[name]
	if !given {
		return nil, nil
	}
	at, err := parseWhen(text, t.now)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return new(apitype.NewTime(at)), nil
}

func parseWhen(text string, now time.Time) (time.Time, error) {
	local := now.Local()
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.Local)
	switch text {
	case "now":
		return now, nil
	case "today":
		return today, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return at, nil
	}
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if len(text) < 2 {
		return time.Time{}, errFilterTime
	}
	unit, known := units[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if !known || err != nil || n < 0 || n > 100000 {
		return time.Time{}, errFilterTime
	}
	return now.Add(-time.Duration(n) * unit), nil
}

// says tells which parts of a filter the service does, and which are done here.
func (t terms) says(local ...string) string {
	var there, here []string
	for name := range t.values {
		if slices.Contains(local, name) {
			here = append(here, name)
		} else {
			there = append(there, name)
		}
	}
	if len(t.words) > 0 {
		here = append(here, "words")
	}
	slices.Sort(there)
	slices.Sort(here)
	var parts []string
	if len(there) > 0 {
		parts = append(parts, "service: "+strings.Join(there, ", "))
	}
	if len(here) > 0 {
		parts = append(parts, "local: "+strings.Join(here, ", "))
	}
	return strings.Join(parts, "; ")
}
