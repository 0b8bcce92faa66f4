package desk

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How far ahead a call can be put off.
const longestDeferral = 400 * 24 * time.Hour

// The hour of a day that is named without a time, and of an evening.
const (
	hourOfDay     = 10
	hourOfEvening = 19
)

// ParseLater reads when a donor wants to be rung, as a person types it: "in 2 hours",
// "18:00", "tomorrow 18:00", "fri 10:30", "this evening", "24-12 14:00", "24 december",
// in English, Dutch or German, or as RFC 3339. A time without a zone is one of zone, which
// is the donor's; a time of day that is over today is tomorrow's.
func ParseLater(text string, now time.Time, zone *time.Location) (time.Time, error) {
	at, ok := parseLater(text, now.In(zone), zone)
	switch {
	case !ok:
		return time.Time{}, fmt.Errorf("%q is no time: try 18:00, tomorrow 18:00, fri 10:30, 24-12 14:00, in 2 hours", text)
	case !at.After(now):
		return time.Time{}, fmt.Errorf("%s is past: name a time that is ahead", at.In(zone).Format("2 January 2006 15:04"))
	case at.Sub(now) > longestDeferral:
		return time.Time{}, fmt.Errorf("%s is more than 400 days ahead", at.In(zone).Format("2 January 2006 15:04"))
	}
	return at, nil
}

// later is a time that is being read word by word.
type later struct {
	now          time.Time
	day          time.Time // Midnight; zero where none is named.
	hour, minute int
	timed        bool // A time of day is named.
	evening      bool
}

func parseLater(text string, now time.Time, zone *time.Location) (time.Time, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if at, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return at, true
	}
	tokens := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == 't' && isDated(text) })
	if after, ok := duration(tokens); ok {
		return now.Add(after), true
	}
	l := later{now: now}
	for len(tokens) > 0 {
		n := l.take(tokens)
		if n == 0 {
			return time.Time{}, false
		}
		tokens = tokens[n:]
	}
	return l.time(zone)
}

// isDated reports whether a text begins with a date as databases write it, whose time may
// follow a T.
func isDated(text string) bool { return len(text) > 10 && text[4] == '-' && text[10] == 't' }

// time is what the tokens name together.
func (l later) time(zone *time.Location) (time.Time, bool) {
	if l.day.IsZero() && !l.timed {
		return time.Time{}, false
	}
	day, hour, minute := l.day, l.hour, l.minute
	switch {
	case l.timed:
	case l.evening:
		hour = hourOfEvening
	default:
		hour = hourOfDay
	}
	if !day.IsZero() {
		return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone), true
	}
	at := time.Date(l.now.Year(), l.now.Month(), l.now.Day(), hour, minute, 0, 0, zone)
	if !at.After(l.now) {
		at = time.Date(l.now.Year(), l.now.Month(), l.now.Day()+1, hour, minute, 0, 0, zone)
	}
	return at, true
}

// take reads what the first tokens name and tells how many they were; 0 is none of them.
func (l *later) take(tokens []string) int {
	word := tokens[0]
	switch word {
	case "at", "um", "om", "on", "am", "op", "uhr", "uur", "next", "this":
		return 1
	case "today", "heute", "vandaag":
		return l.setDay(l.now, 1)
	case "evening", "abend", "avond", "vanavond":
		l.evening = true
		if l.day.IsZero() {
			l.day = l.now
		}
		return 1
	case "tomorrow", "morgen":
		return l.setDay(l.now.AddDate(0, 0, 1), 1)
	case "overmorgen", "übermorgen":
		return l.setDay(l.now.AddDate(0, 0, 2), 1)
	}
	if day, ok := weekdays()[word]; ok {
		ahead := (int(day) - int(l.now.Weekday()) + 7) % 7
		if ahead == 0 {
			ahead = 7
		}
		return l.setDay(l.now.AddDate(0, 0, ahead), 1)
	}
	if n := l.takeDate(tokens); n > 0 {
		return n
	}
	return l.takeTime(tokens)
}

func (l *later) setDay(day time.Time, tokens int) int {
	if !l.day.IsZero() {
		return 0
	}
	l.day = day
	return tokens
}

func (l *later) setTime(hour, minute int) bool {
	if l.timed || hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return false
	}
	l.hour, l.minute, l.timed = hour, minute, true
	return true
}

// takeDate reads "24-12", "24.12.2026", "2026-12-24" or "24 december".
func (l *later) takeDate(tokens []string) int {
	if len(tokens) > 1 {
		if month := months()[tokens[1]]; month > 0 {
			day, err := strconv.Atoi(strings.TrimRight(tokens[0], "."))
			if err != nil {
				return 0
			}
			return l.setDate(0, month, day, 2)
		}
	}
	parts := strings.FieldsFunc(tokens[0], func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	numbers := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return 0
		}
		numbers[i] = n
	}
	switch {
	case len(numbers) == 3 && numbers[0] > 31:
		return l.setDate(numbers[0], time.Month(numbers[1]), numbers[2], 1)
	case len(numbers) == 3 && numbers[2] < 100:
		return l.setDate(2000+numbers[2], time.Month(numbers[1]), numbers[0], 1)
	case len(numbers) == 3:
		return l.setDate(numbers[2], time.Month(numbers[1]), numbers[0], 1)
	case len(numbers) == 2:
		return l.setDate(0, time.Month(numbers[1]), numbers[0], 1)
	default:
		return 0
	}
}

// setDate sets a day of a year, of the next one that is ahead where the year is 0.
func (l *later) setDate(year int, month time.Month, day, tokens int) int {
	next := year == 0
	if next {
		year = l.now.Year()
	}
	date := time.Date(year, month, day, 0, 0, 0, 0, l.now.Location())
	if date.Month() != month || date.Day() != day {
		return 0 // No day of the calendar.
	}
	if today := time.Date(l.now.Year(), l.now.Month(), l.now.Day(), 0, 0, 0, 0, l.now.Location()); next && date.Before(today) {
		date = time.Date(year+1, month, day, 0, 0, 0, 0, l.now.Location())
	}
	return l.setDay(date, tokens)
}

// takeTime reads "18:00", "18.30", "9", "6pm" or "6 pm".
func (l *later) takeTime(tokens []string) int {
	word, used := tokens[0], 1
	if len(tokens) > 1 && (tokens[1] == "am" || tokens[1] == "pm") {
		word, used = word+tokens[1], 2
	}
	half := ""
	for _, suffix := range []string{"am", "pm", "uhr", "uur"} {
		if rest, found := strings.CutSuffix(word, suffix); found {
			word, half = rest, suffix
			break
		}
	}
	hours, minutes, _ := strings.Cut(strings.ReplaceAll(word, ".", ":"), ":")
	hour, err := strconv.Atoi(hours)
	if err != nil || len(hours) > 2 {
		return 0
	}
	minute := 0
	if minutes != "" {
		if minute, err = strconv.Atoi(minutes); err != nil || len(minutes) != 2 {
			return 0
		}
	}
	if half == "am" || half == "pm" {
		if hour < 1 || hour > 12 {
			return 0
		}
		if hour %= 12; half == "pm" {
			hour += 12
		}
	}
	if !l.setTime(hour, minute) {
		return 0
	}
	return used
}

// duration reads "in 2 hours", "2 h" or "90m".
func duration(tokens []string) (time.Duration, bool) {
	ahead := len(tokens) > 0 && tokens[0] == "in"
	if ahead {
		tokens = tokens[1:]
	}
	text := strings.Join(tokens, "")
	unit := strings.TrimLeft(text, "0123456789.")
	if unit == "uur" && !ahead { // "18 uur" is a time of day.
		return 0, false
	}
	number, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
	if err != nil || units[unit] == 0 || number > 10_000 {
		return 0, false
	}
	return time.Duration(number * float64(units[unit])), true
}

var units = map[string]time.Duration{
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute, "minuten": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour, "hours": time.Hour, "uur": time.Hour, "stunde": time.Hour, "stunden": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour, "dag": 24 * time.Hour, "dagen": 24 * time.Hour, "tag": 24 * time.Hour, "tage": 24 * time.Hour, "tagen": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour, "weken": 7 * 24 * time.Hour, "woche": 7 * 24 * time.Hour, "wochen": 7 * 24 * time.Hour,
}

var weekdays = byName(func() map[time.Weekday]string {
	return map[time.Weekday]string{
		time.Monday: "mon monday ma maandag mo montag", time.Tuesday: "tue tuesday di dinsdag dienstag", time.Wednesday: "wed wednesday wo woensdag mi mittwoch",
		time.Thursday: "thu thursday do donderdag donnerstag", time.Friday: "fri friday vr vrijdag fr freitag",
		time.Saturday: "sat saturday za zaterdag sa samstag", time.Sunday: "sun sunday zo zondag so sonntag",
	}
})

var months = byName(func() map[time.Month]string {
	return map[time.Month]string{
		1: "jan january januari januar", 2: "feb february februari februar", 3: "mar march mrt maart mär märz", 4: "apr april", 5: "may mei mai", 6: "jun june juni",
		7: "jul july juli", 8: "aug august augustus", 9: "sep september", 10: "oct october okt oktober", 11: "nov november", 12: "dec december dez dezember",
	}
})

// byName makes a table at its first use.
func byName[K comparable](names func() map[K]string) func() map[string]K {
	return sync.OnceValue(func() map[string]K {
		table := map[string]K{}
		for key, text := range names() {
			for name := range strings.FieldsSeq(text) {
				table[name] = key
			}
		}
		return table
	})
}
