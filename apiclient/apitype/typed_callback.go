package apitype

import (
	"errors"
	"strings"
	"time"
	"unicode"
)

// CallbackPlace is the place and time in which a callback is typed.
type CallbackPlace struct {
	Now    time.Time
	Zone   *time.Location       // Of the donor.
	Within func(time.Time) bool // Reports whether a time is within calling hours. Nil if they are not known.
}

// Callback is a typed callback: a time, and the reason behind it.
type Callback struct {
	TimeReading
	Reason string // Empty without one.
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
		readings[i] = c.TimeReading
	}
	return (&AmbiguousTime{a.Text, readings}).Error()
}

// ParseCallback reads a time as [ParseTimeAhead] does. The time ends at the first word that belongs to none, and the
// rest is the reason. A bare hour is the next one within calling hours. A text with several meanings is an
// [AmbiguousCallback], also if the rest may belong to another time.
func ParseCallback(text string, place CallbackPlace) (Callback, error) {
	words := strings.Fields(text)
	for n := len(words); n > 0; n-- {
		typed := strings.TrimRight(strings.Join(words[:n], " "), ",;:-–")
		if len(place.readings(typed)) > 0 {
			return place.read(words, n, typed)
		}
	}
	_, err := oneAhead(text, nil, place.Now)
	return Callback{}, err
}

func (p CallbackPlace) readings(text string) []TimeReading {
	return readAhead(text, timePlace{now: p.Now.In(p.Zone), ahead: true, within: p.Within})
}

// read reads the time in the first n words, and the reason in the others.
func (p CallbackPlace) read(words []string, n int, typed string) (Callback, error) {
	all, reason := strings.Join(words, " "), reasonOf(words[n:])
	reading, err := oneAhead(typed, p.readings(typed), p.Now)
	if ambiguous, is := errors.AsType[*AmbiguousTime](err); is {
		asked := &AmbiguousCallback{Text: all}
		for _, r := range ambiguous.Readings {
			asked.Callbacks = append(asked.Callbacks, Callback{r, reason})
		}
		return Callback{}, asked
	}
	is := Callback{reading, reason}
	if err != nil || n == len(words) {
		return is, err
	}
	other, isTime := p.shorter(words, n)
	// "18:00 so …" is not a Sunday.
	if isTime && other.At.Equal(is.At) {
		return other, nil
	}
	if isTime {
		return Callback{}, &AmbiguousCallback{all, []Callback{other, is}}
	}
	for from := n; from < len(words); from++ {
		if other, to := p.timeAt(words, from); to > 0 && !other.At.Equal(is.At) {
			return Callback{}, &AmbiguousCallback{all, []Callback{is, {other, reasonOf(words[to:])}}}
		}
	}
	return is, nil
}

func reasonOf(words []string) string { return strings.TrimLeft(strings.Join(words, " "), ",;:-– ") }

// shortDay is the length of words such as so, do and di, which are days and other words.
const shortDay = 2

// mayBeTime reports whether a word within a reason may begin a time. A short word is a day before a number: di 11u.
func mayBeTime(words []string, at int) bool {
	hasDigit := func(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }
	return len([]rune(words[at])) > shortDay || hasDigit(words[at]) || at+1 < len(words) && hasDigit(words[at+1])
}

// shorter returns the callback without the last word of its time, if that word may also begin the reason.
func (p CallbackPlace) shorter(words []string, n int) (Callback, bool) {
	if n < 2 || mayBeTime(words[:n], n-1) {
		return Callback{}, false
	}
	typed := strings.Join(words[:n-1], " ")
	reading, err := oneAhead(typed, p.readings(typed), p.Now)
	return Callback{reading, reasonOf(words[n-1:])}, err == nil
}

// longestTime is the highest number of words in which another time is looked for.
const longestTime = 4

// timeAt returns a time that begins at a word of the reason, and the place of the word behind it. Zero means none.
func (p CallbackPlace) timeAt(words []string, from int) (TimeReading, int) {
	const marks = ",;:.-–"
	if strings.Trim(words[from], marks) == "" || !mayBeTime(words, from) {
		return TimeReading{}, 0
	}
	for to := min(len(words), from+longestTime); to > from; to-- {
		if readings := p.readings(strings.Trim(strings.Join(words[from:to], " "), marks)); len(readings) > 0 {
			return readings[0], to
		}
	}
	return TimeReading{}, 0
}
