package apitype

import (
	"errors"
	"strings"
	"time"
	"unicode"
)

// CallbackPlace is where a callback is typed.
type CallbackPlace struct {
	Now    time.Time
	Zone   *time.Location       // Of the donor.
	Within func(time.Time) bool // Reports whether a time is within calling hours. Nil if they are not known.
}

// Callback is a typed callback: a time, and the reason behind it.
type Callback struct {
	At      time.Time
	Reason  string // Empty without one.
	IsMoved bool   // The time does not exist on its day, as the clocks go forward. At is after it.
}

// AmbiguousCallback is a typed callback with more than one meaning.
type AmbiguousCallback struct {
	Text      string
	Callbacks []Callback // At least two.
}

// Error names each meaning.
func (a *AmbiguousCallback) Error() string {
	readings := make([]TimeReading, len(a.Callbacks))
	for i, c := range a.Callbacks {
		readings[i] = TimeReading{At: c.At}
	}
	return (&AmbiguousTime{a.Text, readings}).Error()
}

// ParseCallback reads a time as [ParseTimeAhead] does. The time ends at the first word that belongs to none, and the
// rest is the reason, also beside an [AmbiguousTime]. A bare hour is the next one within calling hours. If the rest may belong to another time, the
// text is an [AmbiguousCallback] or an error.
func ParseCallback(text string, place CallbackPlace) (Callback, error) {
	words := strings.Fields(text)
	for n := len(words); n > 0; n-- {
		typed := strings.TrimRight(strings.Join(words[:n], " "), ",;:-–")
		reading, err := place.read(typed)
		_, isAmbiguous := errors.AsType[*AmbiguousTime](err)
		switch {
		case n == len(words) && (isAmbiguous || err == nil):
			return Callback{At: reading.At, IsMoved: reading.IsMoved}, err
		case err != nil && !isAmbiguous && !isPast(typed, place):
			continue
		}
		return place.withReason(words, n, reading, err)
	}
	_, err := place.read(text)
	return Callback{}, err
}

func (p CallbackPlace) read(text string) (TimeReading, error) {
	place := timePlace{now: p.Now.In(p.Zone), ahead: true, within: p.Within}
	return oneAhead(text, readAhead(text, place), p.Now)
}

// isPast reports whether a text is a time that cannot be taken.
func isPast(text string, p CallbackPlace) bool {
	return len(readAhead(text, timePlace{now: p.Now.In(p.Zone), ahead: true})) > 0
}

// withReason returns a time of the first n words, and the rest as its reason.
func (p CallbackPlace) withReason(words []string, n int, reading TimeReading, err error) (Callback, error) {
	reason := reasonOf(words[n:])
	if err != nil {
		return Callback{Reason: reason}, err
	}
	is := Callback{At: reading.At, Reason: reason, IsMoved: reading.IsMoved}
	switch other, isTime := p.shorter(words, n); { // "18:00 so …" is no Sunday.
	case isTime && other.At.Equal(is.At):
		return other, nil
	case isTime:
		return Callback{}, &AmbiguousCallback{strings.Join(words, " "), []Callback{other, is}}
	}
	for from := n; from < len(words); from++ {
		if other, isTime := p.timeAt(words, from); isTime && !other.Equal(is.At) {
			return Callback{}, &AmbiguousCallback{
				strings.Join(words, " "),
				[]Callback{is, {At: other, Reason: reason}},
			}
		}
	}
	return is, nil
}

func reasonOf(words []string) string { return strings.TrimLeft(strings.Join(words, " "), ",;:-– ") }

// shorter returns the callback without the last word of its time, if that word may also begin the reason.
func (p CallbackPlace) shorter(words []string, n int) (Callback, bool) {
	const shortDay = 2
	if n < 2 || len([]rune(words[n-1])) > shortDay || strings.ContainsFunc(words[n-1], unicode.IsDigit) {
		return Callback{}, false
	}
	reading, err := p.read(strings.Join(words[:n-1], " "))
	return Callback{At: reading.At, Reason: reasonOf(words[n-1:])}, err == nil
}

// timeAt returns a time within a reason: one with a digit, or a word of more than two letters.
func (p CallbackPlace) timeAt(words []string, from int) (time.Time, bool) {
	const shortDay = 2
	first := strings.Trim(words[from], ",;:.-–")
	if len([]rune(first)) <= shortDay && !strings.ContainsFunc(first, unicode.IsDigit) {
		return time.Time{}, false
	}
	for to := min(len(words), from+4); to > from; to-- {
		text := strings.Trim(strings.Join(words[from:to], " "), ",;:.-–")
		readings := readAhead(text, timePlace{now: p.Now.In(p.Zone), ahead: true, within: p.Within})
		if len(readings) > 0 {
			return readings[0].At, true
		}
	}
	return time.Time{}, false
}
