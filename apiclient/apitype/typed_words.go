package apitype

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// timePlace is the place of a typed time, which decides how it is read.
type timePlace struct {
	now    time.Time            // In the zone of a time that names none.
	ahead  bool                 // A length of time is ahead, otherwise ago.
	within func(time.Time) bool // Reports whether a time is within calling hours. Nil if they are not known.
}

// The hours of a day that is named without a time, and of its parts.
const (
	hourOfDay       = 10
	hourOfAfternoon = 14
	hourOfEvening   = 19
	lastHour        = 21 // No call is meant later if the hour may be one of the morning.
)

// dayPart is a part of the day that a text names.
type dayPart int

const (
	anyPart dayPart = iota
	morning
	noon
	afternoon
	evening
)

// timeWords is the one table of words, by language if a word is of one language.
type timeWords struct {
	days     map[string]int // From today.
	weekdays map[string]time.Weekday
	months   map[string]time.Month
	parts    map[string]dayPart
	units    map[string]time.Duration
	numbers  map[string]float64
	// Words before a time, words without a meaning, and words for the next one.
	at, on, noise, next, week map[string]bool
	in, vor, ago              map[string]bool
	clock                     map[string]bool // Behind an hour.
	hours                     map[string]int  // Spelled hours.
	quarter, past, to         map[string]bool // Of an hour.
	between, and              map[string]bool // Of two hours.
}

var words = sync.OnceValue(func() *timeWords {
	return &timeWords{
		days: byName(map[int]string{
			0:  "today heute vandaag",
			1:  "tomorrow morgen",
			2:  "overmorgen übermorgen uebermorgen",
			-1: "yesterday gestern gisteren",
			-2: "eergisteren vorgestern",
		}),
		weekdays: byName(map[time.Weekday]string{
			time.Monday:    "mon monday ma maandag mo montag",
			time.Tuesday:   "tue tues tuesday di dinsdag dienstag",
			time.Wednesday: "wed wednesday wo woensdag mi mittwoch",
			time.Thursday:  "thu thur thurs thursday do donderdag donnerstag",
			time.Friday:    "fri friday vr vrijdag fr freitag",
			time.Saturday:  "sat saturday za zaterdag sa samstag sonnabend",
			time.Sunday:    "sun sunday zo zondag so sonntag",
		}),
		months: byName(map[time.Month]string{
			1:  "jan january januari januar jänner",
			2:  "feb february februari februar",
			3:  "mar march mrt maart mär märz maerz",
			4:  "apr april",
			5:  "may mei mai",
			6:  "jun june juni",
			7:  "jul july juli",
			8:  "aug august augustus",
			9:  "sep sept september",
			10: "oct october okt oktober",
			11: "nov november",
			12: "dec december dez dezember",
		}),
		parts: byName(map[dayPart]string{
			morning:   "morning ochtend ochtends morgens vormittag vormittags früh vroeg",
			noon:      "noon midday mittag mittags",
			evening:   "evening abend abends avond avonds",
			afternoon: "afternoon middag middags namiddag nachmittag nachmittags",
		}),
		units: byName(map[time.Duration]string{
			time.Second:        "s sec second seconds seconde seconden sekunde sekunden",
			time.Minute:        "m min mins minute minutes minuut minuten minuutje",
			15 * time.Minute:   "kwartier kwartiertje viertelstunde",
			time.Hour:          "h hr hrs hour hours uur uurtje uren stunde stunden std",
			24 * time.Hour:     "d day days dag dagen tag tage tagen",
			7 * 24 * time.Hour: "w week weeks weken woche wochen",
		}),
		numbers: byName(map[float64]string{
			0.5: "half halve halbe halben",
			1:   "a an one een één ein eine einer einem einen",
			1.5: "anderhalf anderhalve anderthalb",
			2:   "two twee zwei",
			3:   "three drie drei",
		}),
		at:    wordSet("at um om gegen rond around tegen after na nach from vanaf ab"),
		on:    wordSet("on am op"),
		noise: wordSet("den der the de this dieser diesen diese dit deze coming kommenden kommende komende 's s"),
		next:  wordSet("next nächste nächsten nächster naechste naechsten volgende"),
		week:  wordSet("week woche"),
		in:    wordSet("in over"),
		vor:   wordSet("vor"),
		ago:   wordSet("ago geleden"),
		clock: wordSet("uhr uur u h o'clock"),
		hours: byName(map[int]string{
			1:  "one een één eins",
			2:  "two twee zwei",
			3:  "three drie drei",
			4:  "four vier",
			5:  "five vijf fünf",
			6:  "six zes sechs",
			7:  "seven zeven sieben",
			8:  "eight acht",
			9:  "nine negen neun",
			10: "ten tien zehn",
			11: "eleven elf",
			12: "twelve twaalf zwölf",
		}),
		quarter: wordSet("quarter kwart viertel"),
		past:    wordSet("past over nach"),
		to:      wordSet("to voor vor"),
		between: wordSet("between tussen zwischen"),
		and:     wordSet("and en und"),
	}
})

func byName[K comparable](names map[K]string) map[string]K {
	table := map[string]K{}
	for key, text := range names {
		for name := range strings.FieldsSeq(text) {
			table[name] = key
		}
	}
	return table
}

func wordSet(names string) map[string]bool { return byName(map[bool]string{true: names}) }

// typedTime is a time that is being read token by token.
type typedTime struct {
	place timePlace
	as    string

	date     []time.Time // The possible midnights of a named day. Nil without one.
	weekday  int         // From Sunday. -1 without one.
	next     bool        // The next one of that weekday.
	nextWeek bool
	part     dayPart

	timed        bool
	hour, minute int
	exact        bool // The hour is one of 24.
	spoken       bool // It is one of 12, such as half past 7.
	bare         bool // It has no minutes.
	wantsTime    bool // A time must follow.
	wantsDay     bool // A day must.
}

// nowWords are the words for the present moment.
var nowWords = map[string]bool{"now": true, "jetzt": true, "nu": true}

// readWords returns each time that a text may mean, or none if it is not a time.
func readWords(text string, place timePlace) []TimeReading {
	tokens := tokensOf(text)
	if len(tokens) == 0 {
		return nil
	}
	if len(tokens) == 1 && nowWords[tokens[0]] {
		return []TimeReading{{At: place.now}}
	}
	all := readLength(tokens, place)
	for _, t := range (typedTime{place: place, weekday: -1}).read(tokens) {
		all = append(all, t.readings()...)
	}
	var distinct []TimeReading
	for _, r := range all {
		if i := slices.IndexFunc(distinct, func(d TimeReading) bool { return d.At.Equal(r.At) }); i < 0 {
			distinct = append(distinct, r)
		}
	}
	outside := func(r TimeReading) int {
		if place.within == nil || place.within(r.At) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(distinct, func(a, b TimeReading) int { // A time first.
		return cmp.Or(strings.Compare(b.As, a.As), cmp.Compare(outside(a), outside(b)))
	})
	if len(distinct) == 1 {
		distinct[0].As = ""
	}
	return distinct
}

// tokensOf splits a text. A number and the word after it are separate tokens, and a comma between digits is a decimal
// one.
func tokensOf(text string) []string {
	text = strings.NewReplacer("tonight", "today evening", "vanavond", "today evening", "vanmiddag", "today middag",
		"p.m.", "pm", "a.m.", "am", "o’clock", "o'clock", "’s", "'s").
		Replace(strings.ToLower(text))
	var b strings.Builder
	runes := []rune(text)
	isDigit := func(i int) bool { return i >= 0 && i < len(runes) && runes[i] >= '0' && runes[i] <= '9' }
	for i, r := range runes {
		before, after := isDigit(i-1), isDigit(i+1)
		isLetter := r >= 'a' && r <= 'z' || r > 127
		isMinute := isDigit(i) && isDigit(i-2) && strings.ContainsRune("uh", runes[i-1]) // 18u30
		switch {
		case r == ',' && before && after:
			b.WriteByte('.')
		case r == ',' || r == '\t':
			b.WriteByte(' ')
		case before && isLetter, isMinute:
			b.WriteString(" " + string(r))
		default:
			b.WriteRune(r)
		}
	}
	var tokens []string
	for token := range strings.FieldsSeq(b.String()) {
		if strings.Trim(token, "0123456789.") != "" {
			token = strings.TrimSuffix(token, ".") // An abbreviation.
		}
		if token == "of" && len(tokens) > 0 && isOrdinal(tokens[len(tokens)-1]) { // 24th of December
			continue
		}
		tokens = append(tokens, partsOf(token)...)
	}
	return tokens
}

// partsOf splits a day and a part of the day in one word, such as vrijdagochtend.
func partsOf(token string) []string {
	w := words()
	if w.parts[token] != anyPart {
		return []string{token}
	}
	for part := range w.parts {
		day, found := strings.CutSuffix(token, part)
		if !found {
			day, found = strings.CutSuffix(token, strings.TrimSuffix(part, "s"))
		}
		_, isWeekday := w.weekdays[day]
		_, isDay := w.days[day]
		isKnown := isWeekday || isDay
		if found && isKnown && len(day) > len("mon") {
			return []string{day, part}
		}
	}
	return []string{token}
}

// readLength reads "in 2 hours", "90m" or "2 days ago". It returns nothing if the tokens are not a duration.
func readLength(tokens []string, place timePlace) []TimeReading {
	w, sign, bare := words(), 1, true
	if !place.ahead {
		sign = -1
	}
	switch first, last := tokens[0], tokens[len(tokens)-1]; {
	case w.in[first]:
		tokens, sign, bare = tokens[1:], 1, false
	case w.vor[first]:
		tokens, sign, bare = tokens[1:], -1, false
	case w.ago[last]:
		tokens, sign, bare = tokens[:len(tokens)-1], -1, false
	}
	if len(tokens) == 0 {
		return nil
	}
	total := 0.0
	for rest := tokens; ; {
		number, unit, n := lengthOf(rest)
		_, decimals, _ := strings.Cut(tokens[0], ".")
		isTimeOfDay := unit == "uur" && number > 6 || unit == "h" && len(decimals) == 2 // 18 uur, 14.30h
		if n == 0 || bare && isTimeOfDay {
			return nil
		}
		total += number * float64(w.units[unit])
		rest = rest[n:]
		if len(rest) == 0 {
			break
		}
	}
	if total > float64(maxAge) {
		return nil
	}
	return []TimeReading{{At: place.now.Add(time.Duration(sign) * time.Duration(total))}}
}

// maxAge is longer than anything has been recorded; more would not fit a duration.
const maxAge = 200 * 365 * 24 * time.Hour

// lengthOf reads a number with its unit, and returns how many tokens they take. Zero means none.
func lengthOf(tokens []string) (number float64, unit string, n int) {
	w := words()
	for ; n < len(tokens) && n < 3; n++ {
		if w.units[tokens[n]] != 0 && n > 0 {
			return number, tokens[n], n + 1
		}
		word, isWord := w.numbers[tokens[n]]
		isHalf := word == 0.5 || number == 0.5 // "een half uur", "half an hour"
		switch {
		case isWord && (n == 0 || isHalf):
			if n == 0 || word == 0.5 {
				number = word
			}
		case n == 0:
			value, err := strconv.ParseFloat(tokens[n], 64)
			if err != nil || strings.Trim(tokens[n], "0123456789.") != "" {
				return 0, "", 0
			}
			number = value
		default:
			return 0, "", 0
		}
	}
	return 0, "", 0
}

// read returns every way to read all of the tokens.
func (t typedTime) read(tokens []string) []typedTime {
	if len(tokens) == 0 {
		isNextAlone := t.next && t.weekday < 0
		if t.wantsTime || t.wantsDay || isNextAlone {
			return nil
		}
		return []typedTime{t}
	}
	var all []typedTime
	then := func(next typedTime, n int) { all = append(all, next.read(tokens[n:])...) }
	if t.wantsTime {
		t.readClock(tokens, then)
		return all
	}
	if t.wantsDay {
		t.wantsDay = false
	} else {
		t.readClock(tokens, then)
	}
	t.readDay(tokens, then)
	t.readDate(tokens, then)
	return all
}

// hasDay reports whether a day was named.
func (t typedTime) hasDay() bool { return t.date != nil || t.weekday >= 0 || t.nextWeek }

// readDay reads a word of days.
func (t typedTime) readDay(tokens []string, then func(typedTime, int)) {
	w, word := words(), tokens[0]
	switch {
	case w.noise[word] && len(tokens) > 1:
		then(t, 1)
	case w.on[word] && !t.hasDay():
		next := t
		next.wantsDay = true
		then(next, 1)
	case w.at[word]:
		t.wantsTime = true
		then(t, 1)
		return
	}
	if part := w.parts[word]; part != anyPart && t.part == anyPart {
		next := t
		next.part = part
		then(next, 1)
	}
	if w.next[word] && !t.next && len(tokens) > 1 {
		next := t
		next.next = !w.week[tokens[1]]
		if next.next {
			then(next, 1)
		} else if next.nextWeek = true; !t.nextWeek && t.date == nil {
			then(next, 2)
		}
	}
	if day, known := w.weekdays[word]; known && t.weekday < 0 && t.date == nil {
		next := t
		next.weekday = int(day)
		then(next, 1)
	}
	if t.hasDay() || t.next {
		return
	}
	if n, known := w.days[word]; known {
		then(t.on(t.place.now.AddDate(0, 0, n)), 1)
	}
	if strings.HasPrefix(strings.Join(tokens, " ")+" ", "day after tomorrow ") {
		then(t.on(t.place.now.AddDate(0, 0, 2)), 3)
	}
}

// on names a day.
func (t typedTime) on(day time.Time) typedTime {
	t.date = []time.Time{midnight(day)}
	return t
}

func midnight(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, t.Location())
}

// readings returns the times that the tokens together may mean, or none if they contradict each other.
func (t typedTime) readings() []TimeReading {
	hours := t.hours()
	if len(hours) == 1 && t.mayBeEvening(hours[0]+12) {
		hours = []int{hours[0] + 12, hours[0]}
	}
	var all []TimeReading
	for _, hour := range hours {
		for _, day := range t.daysAt(hour) {
			at := t.at(day, hour)
			isSkipped := at.Hour() != hour || at.Minute() != t.minute
			all = append(all, TimeReading{As: t.as, At: at, IsMoved: isSkipped})
		}
	}
	return all
}

func (t typedTime) at(day time.Time, hour int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), hour, t.minute, 0, 0, day.Location())
}

// mayBeEvening reports whether "thu 7" may be an hour of the evening: 7 is outside calling hours, and 19 is within.
func (t typedTime) mayBeEvening(evening int) bool {
	isOpen := !t.exact && t.part == anyPart && t.timed && t.place.within != nil
	if !isOpen || evening > 23 {
		return false
	}
	isWithin := func(hour int) bool {
		return slices.ContainsFunc(t.daysAt(hour), func(day time.Time) bool { return t.place.within(t.at(day, hour)) })
	}
	return isWithin(evening) && !isWithin(evening-12)
}

// hours returns the hours of the day that the time may mean. An hour from 1 to 6 may be in the afternoon if nothing
// shows which.
func (t typedTime) hours() []int {
	if !t.timed {
		if t.part == noon {
			return []int{12}
		}
		if t.part == afternoon {
			return []int{hourOfAfternoon}
		}
		if t.part == evening {
			return []int{hourOfEvening}
		}
		if t.place.ahead || t.part == morning {
			return []int{hourOfDay}
		}
		return []int{0}
	}
	within := func(least, most int) []int { // 8 in the evening is 20.
		for _, hour := range []int{t.hour, t.hour + 12} {
			if hour >= least && hour <= most {
				return []int{hour}
			}
		}
		return nil
	}
	switch t.part {
	case morning:
		return within(0, 12)
	case noon:
		return within(11, 15)
	case afternoon:
		return within(12, 18)
	case evening:
		return within(17, 23)
	}
	mayBeLater := t.hour <= 6 || t.spoken && t.hour < lastHour-12
	if t.hour >= 1 && mayBeLater && !t.exact {
		return []int{t.hour + 12, t.hour}
	}
	return []int{t.hour}
}

// weekdaysFrom returns the days that a weekday may mean, which is some days ahead of today. isAhead reports whether its
// time today is still to come.
func (t typedTime) weekdaysFrom(today time.Time, ahead int, isAhead bool) []time.Time {
	in := func(days int) time.Time { return today.AddDate(0, 0, days) }
	isToday := ahead == 0
	if !t.place.ahead {
		if isToday {
			return []time.Time{in(0), in(-7)}
		}
		return []time.Time{in(ahead - 7)}
	}
	if !isToday {
		return []time.Time{in(ahead)}
	}
	if t.timed && isAhead {
		return []time.Time{in(0), in(7)}
	}
	return []time.Time{in(7)}
}

// daysAt returns the days that the text may mean with an hour.
func (t typedTime) daysAt(hour int) []time.Time {
	today := midnight(t.place.now)
	in := func(days int) time.Time { return today.AddDate(0, 0, days) }
	toMonday := 8 - (int(today.Weekday())+6)%7 - 1 // Of the next week.
	inNextWeek := toMonday + (t.weekday+6)%7
	ahead := (t.weekday - int(today.Weekday()) + 7) % 7
	isAhead := time.Date(today.Year(), today.Month(), today.Day(), hour, t.minute, 0, 0, today.Location()).
		After(t.place.now)
	switch {
	case t.date != nil:
		return t.date
	case t.nextWeek && t.weekday >= 0:
		return []time.Time{in(inNextWeek)}
	case t.nextWeek:
		return []time.Time{in(toMonday), in(7)}
	case t.next && ahead == 0:
		return []time.Time{in(7)}
	case t.next:
		return []time.Time{in(ahead), in(inNextWeek)}
	case t.weekday >= 0:
		return t.weekdaysFrom(today, ahead, isAhead)
	case !t.timed && t.part == anyPart:
		return nil
	case !t.timed && t.part != noon:
		return []time.Time{in(0)}
	case t.place.ahead && (t.bare || !isAhead):
		return []time.Time{t.nextDay(hour, isAhead)}
	case !t.place.ahead && isAhead:
		return []time.Time{in(-1)}
	default:
		return []time.Time{in(0)}
	}
}

// nextDay returns the first day with a time of day ahead, within calling hours if any day of the next two weeks is.
func (t typedTime) nextDay(hour int, isAhead bool) time.Time {
	first := 0
	if !isAhead {
		first = 1
	}
	today := midnight(t.place.now)
	const fortnight = 14
	for days := first; t.bare && t.place.within != nil && days < fortnight; days++ {
		day := today.AddDate(0, 0, days)
		if t.place.within(time.Date(day.Year(), day.Month(), day.Day(), hour, t.minute, 0, 0, day.Location())) {
			return day
		}
	}
	return today.AddDate(0, 0, first)
}
