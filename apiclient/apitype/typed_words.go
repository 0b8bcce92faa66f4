package apitype

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// timePlace is where a time is typed, which decides how it is read.
type timePlace struct {
	now   time.Time // In the zone of a time that names none.
	ahead bool      // A length of time is ahead, otherwise ago.
}

// The hours of a day that is named without a time, and of its parts.
const (
	hourOfDay       = 10
	hourOfAfternoon = 14
	hourOfEvening   = 19
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

// timeWords is the one table of words, by language where one language has them.
type timeWords struct {
	days     map[string]int // From today.
	weekdays map[string]time.Weekday
	months   map[string]time.Month
	parts    map[string]dayPart
	units    map[string]time.Duration
	numbers  map[string]float64
	// Words before a time, words that say nothing, and those of the next one.
	at, on, noise, next, week map[string]bool
	in, vor, ago              map[string]bool
	clock                     map[string]bool // Behind an hour.
	to, past                  map[string]bool // Between a quarter and its hour.
}

var words = sync.OnceValue(func() *timeWords {
	return &timeWords{
		days: byName(map[int]string{
			0: "today heute vandaag", 1: "tomorrow morgen", 2: "overmorgen übermorgen uebermorgen", -1: "yesterday gestern gisteren", -2: "eergisteren vorgestern",
		}),
		weekdays: byName(map[time.Weekday]string{
			time.Monday: "mon monday ma maandag mo montag", time.Tuesday: "tue tues tuesday di dinsdag dienstag", time.Wednesday: "wed wednesday wo woensdag mi mittwoch",
			time.Thursday: "thu thur thurs thursday do donderdag donnerstag", time.Friday: "fri friday vr vrijdag fr freitag",
			time.Saturday: "sat saturday za zaterdag sa samstag sonnabend", time.Sunday: "sun sunday zo zondag so sonntag",
		}),
		months: byName(map[time.Month]string{
			1: "jan january januari januar jänner", 2: "feb february februari februar", 3: "mar march mrt maart mär märz maerz", 4: "apr april", 5: "may mei mai", 6: "jun june juni",
			7: "jul july juli", 8: "aug august augustus", 9: "sep sept september", 10: "oct october okt oktober", 11: "nov november", 12: "dec december dez dezember",
		}),
		parts: byName(map[dayPart]string{
			morning: "morning ochtend ochtends morgens vormittag vormittags früh", noon: "noon midday mittag mittags", evening: "evening abend abends avond avonds",
			afternoon: "afternoon middag middags namiddag nachmittag nachmittags",
		}),
		units: byName(map[time.Duration]string{
			time.Second: "s sec second seconds seconde seconden sekunde sekunden",
			time.Minute: "m min mins minute minutes minuut minuten minuutje", 15 * time.Minute: "kwartier kwartiertje viertelstunde",
			time.Hour: "h hr hrs hour hours uur uurtje uren stunde stunden std", 24 * time.Hour: "d day days dag dagen tag tage tagen",
			7 * 24 * time.Hour: "w week weeks weken woche wochen",
		}),
		numbers: byName(map[float64]string{
			0.5: "half halve halbe halben", 1: "a an one een één ein eine einer einem einen", 1.5: "anderhalf anderhalve anderthalb", 2: "two twee zwei", 3: "three drie drei",
		}),
		at: wordSet("at um om gegen rond around tegen"), on: wordSet("on am op"), noise: wordSet("den der the de this dieser diesen diese dit deze coming kommenden kommende komende 's s"),
		next: wordSet("next nächste nächsten nächster naechste naechsten volgende"), week: wordSet("week woche"),
		in: wordSet("in over"), vor: wordSet("vor"), ago: wordSet("ago geleden"), clock: wordSet("uhr uur h o'clock"),
		to: wordSet("to vor voor"), past: wordSet("past after nach over"),
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

	date     []time.Time // The midnights that a named day may be; nil where none is named.
	weekday  int         // From Sunday; -1 where none is named.
	next     bool        // The next one of that weekday.
	nextWeek bool
	part     dayPart

	timed        bool
	hour, minute int
	exact        bool // The hour is one of 24.
	wantsTime    bool // A time must follow.
	wantsDay     bool // A day must.
}

// readWords returns each time that a text may mean; none where it is no time.
func readWords(text string, place timePlace) []TimeReading {
	tokens := tokensOf(text)
	if len(tokens) == 0 {
		return nil
	}
	if len(tokens) == 1 && slices.Contains([]string{"now", "jetzt", "nu"}, tokens[0]) {
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
	slices.SortStableFunc(distinct, func(a, b TimeReading) int { return strings.Compare(b.As, a.As) }) // A time first.
	if len(distinct) == 1 {
		distinct[0].As = ""
	}
	return distinct
}

// tokensOf takes a text apart. A number stands apart from the word behind it, and a comma between
// digits is a decimal one.
func tokensOf(text string) []string {
	text = strings.NewReplacer("p.m.", "pm", "a.m.", "am", "o’clock", "o'clock", "’s", "'s").Replace(strings.ToLower(text))
	var b strings.Builder
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	runes := []rune(text)
	for i, r := range runes {
		before, after := i > 0 && isDigit(runes[i-1]), i+1 < len(runes) && isDigit(runes[i+1])
		switch {
		case r == ',' && before && after:
			b.WriteByte('.')
		case r == ',' || r == '\t':
			b.WriteByte(' ')
		case before && (r >= 'a' && r <= 'z' || r > 127):
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
		tokens = append(tokens, compound(token)...)
	}
	return tokens
}

// compound takes a day with its part apart: vrijdagavond, morgenmiddag, vanavond.
func compound(token string) []string {
	w := words()
	switch token {
	case "tonight":
		return []string{"today", "evening"}
	case "vanmorgen":
		return []string{"today", "morning"}
	}
	for part := range w.parts {
		day, found := strings.CutSuffix(token, part)
		_, isDay := w.days[day]
		_, isWeekday := w.weekdays[day]
		switch {
		case !found || w.parts[token] != anyPart:
		case day == "van":
			return []string{"today", part}
		case isDay, isWeekday && len(day) > 3:
			return []string{day, part}
		}
	}
	return []string{token}
}

// readLength reads "in 2 hours", "90m" or "2 days ago"; nothing where the tokens are no length.
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
		if n == 0 || bare && (unit == "uur" && number > 6 || unit == "h" && len(decimals) == 2) { // 18 uur and 14.30h are times of day.
			return nil
		}
		total += number * float64(w.units[unit])
		if rest = rest[n:]; len(rest) == 0 {
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

// lengthOf reads a number with its unit, and tells how many tokens they are; 0 is none.
func lengthOf(tokens []string) (number float64, unit string, n int) {
	w := words()
	for ; n < len(tokens) && n < 3; n++ {
		if w.units[tokens[n]] != 0 && n > 0 {
			return number, tokens[n], n + 1
		}
		word, isWord := w.numbers[tokens[n]]
		switch {
		case isWord && (n == 0 || word == 0.5 || number == 0.5): // "een half uur", "half an hour"
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
func (t typedTime) read(tokens []string) (all []typedTime) {
	if len(tokens) == 0 {
		if t.wantsTime || t.wantsDay || t.next && t.weekday < 0 {
			return nil
		}
		return []typedTime{t}
	}
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
		if next.next = !w.week[tokens[1]]; next.next {
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
	if word == "day" && len(tokens) > 2 && tokens[1] == "after" && tokens[2] == "tomorrow" {
		then(t.on(t.place.now.AddDate(0, 0, 2)), 3)
	}
	if w.in[word] { // "in 2 days 14:00"
		if number, unit, n := lengthOf(tokens[1:]); n > 0 && w.units[unit]%(24*time.Hour) == 0 && number < 1000 && len(tokens) > n+1 {
			then(t.on(t.place.now.AddDate(0, 0, int(number)*int(w.units[unit]/(24*time.Hour)))), n+1)
		}
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

// readDate reads "24-12", "24.12.2026", "2026-12-24", "24 december" or "december 24th".
func (t typedTime) readDate(tokens []string, then func(typedTime, int)) {
	if t.hasDay() || t.next {
		return
	}
	w, first := words(), tokens[0]
	if len(tokens) > 1 {
		day, month, n := first, w.months[tokens[1]], 2
		if m := w.months[first]; m > 0 {
			day, month = tokens[1], m
		} else if len(tokens) > 2 && isOrdinal(tokens[1]) {
			month, n = w.months[tokens[2]], 3
		}
		if number, err := strconv.Atoi(strings.TrimSuffix(day, ".")); err == nil && month > 0 {
			if n == 2 && len(tokens) > 2 && isOrdinal(tokens[2]) {
				n = 3
			}
			if len(tokens) > n && len(tokens[n]) == 4 {
				if year, err := strconv.Atoi(tokens[n]); err == nil {
					t.setDate(year, int(month), number, n+1, then)
				}
			}
			t.setDate(0, int(month), number, n, then)
			return
		}
	}
	t.readNumericDate(first, then)
}

func isOrdinal(token string) bool {
	return slices.Contains([]string{"st", "nd", "rd", "th", "e"}, token)
}

// readNumericDate reads a date of two or three numbers. The day stands first. Where the month may
// stand first, too, both are read.
func (t typedTime) readNumericDate(token string, then func(typedTime, int)) {
	i := strings.IndexAny(token, "-/.")
	if i < 0 {
		return
	}
	separator := token[i : i+1]
	parts := strings.Split(token, separator)
	if separator == "." && len(parts) == 3 && parts[2] == "" {
		parts = parts[:2]
	}
	numbers := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || strings.Trim(part, "0123456789") != "" || len(part) > 2 && len(part) != 4 {
			return
		}
		numbers[i] = n
	}
	year := 0
	switch {
	case len(numbers) == 3 && len(parts[0]) == 4:
		t.setDate(numbers[0], numbers[1], numbers[2], 1, then)
		return
	case len(numbers) == 3 && len(parts[2]) == 4:
		year = numbers[2]
	case len(numbers) == 3:
		year = 2000 + numbers[2]
	case len(numbers) != 2 || len(parts[0]) > 2 || len(parts[1]) > 2:
		return
	}
	if separator == "." && len(numbers) == 2 && !strings.HasSuffix(token, ".") {
		t.as = "date"
	}
	t.setDate(year, numbers[1], numbers[0], 1, then)
	if separator == "/" || !t.place.ahead {
		t.setDate(year, numbers[0], numbers[1], 1, then)
	}
}

// setDate names a day of a year; where the year is 0, of the next or the last one that has it.
func (t typedTime) setDate(year, month, day, tokens int, then func(typedTime, int)) {
	today := midnight(t.place.now)
	isNear := year == 0
	if isNear {
		year = today.Year()
	}
	for range 9 { // 29 February comes again in 8 years at most.
		date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, today.Location())
		exists := int(date.Month()) == month && date.Day() == day
		switch {
		case !isNear && exists, exists && (date.Equal(today) || date.After(today) == t.place.ahead):
			then(t.on(date), tokens)
			return
		case !isNear:
			return
		case t.place.ahead:
			year++
		default:
			year--
		}
	}
}

// readClock reads "18:00", "18.30 uhr", "9", "6pm", "half 3" or "kwart over 3".
func (t typedTime) readClock(tokens []string, then func(typedTime, int)) {
	if t.timed {
		return
	}
	asked := t.wantsTime
	t.wantsTime = false
	if t.part != noon && words().parts[tokens[0]] == noon && asked { // "at noon"
		t.part = noon
		then(t, 1)
		return
	}
	t.readSpoken(tokens, then)
	hours, minutes, hasMinutes := strings.Cut(strings.Replace(tokens[0], ".", ":", 1), ":")
	hour, err := strconv.Atoi(hours)
	if err != nil || len(hours) > 2 || hour > 23 || hasMinutes && len(minutes) != 2 || strings.Trim(tokens[0], "0123456789:.") != "" {
		return
	}
	if t.minute, err = 0, nil; hasMinutes {
		t.minute, err = strconv.Atoi(minutes)
	}
	if err != nil || t.minute > 59 {
		return
	}
	isNumber := !hasMinutes && !asked && !t.hasDay() && t.part == anyPart
	if strings.Contains(tokens[0], ".") {
		t.as = "time"
	}
	t.timed, t.hour, t.exact = true, hour, len(hours) == 2 || hour == 0
	if len(tokens) == 1 || !t.readSuffix(tokens, isNumber, then) {
		if isNumber && !t.place.ahead { // A number alone is no time of the past.
			return
		}
		then(t, 1)
	}
}

// readSuffix reads what stands behind an hour; false where nothing of it does.
func (t typedTime) readSuffix(tokens []string, isNumber bool, then func(typedTime, int)) bool {
	w, suffix := words(), tokens[1]
	switch {
	case suffix == "am" || suffix == "pm":
		if t.hour < 1 || t.hour > 12 {
			return false
		}
		if t.hour %= 12; suffix == "pm" {
			t.hour += 12
		}
		t.exact = true
		then(t, 2)
	case suffix == "h" && isNumber && (!t.place.ahead || t.hour < 7): // A length of time.
	case w.clock[suffix]:
		if len(tokens) > 2 && len(tokens[2]) == 2 && t.minute == 0 { // 18 Uhr 30
			if minute, err := strconv.Atoi(tokens[2]); err == nil && minute < 60 {
				next := t
				next.minute = minute
				then(next, 3)
			}
		}
		then(t, 2)
	default:
		return false
	}
	return true
}

// readSpoken reads "half 3", which is half past 2 in Dutch and half past 3 in English, and quarters.
func (t typedTime) readSpoken(tokens []string, then func(typedTime, int)) {
	if len(tokens) < 2 {
		return
	}
	w := words()
	at := func(token string, minutes ...int) {
		hour, err := strconv.Atoi(token)
		if err != nil || hour < 1 || hour > 12 {
			return
		}
		n := 1 + slices.Index(tokens, token)
		if n < len(tokens) && w.clock[tokens[n]] {
			n++
		}
		for _, m := range minutes {
			of := (hour*60 + m + 12*60) % (12 * 60)
			next := t
			next.timed, next.hour, next.minute = true, of/60, of%60
			if next.hour == 0 {
				next.hour = 12
			}
			then(next, n)
		}
	}
	isQuarter := slices.Contains([]string{"quarter", "kwart", "viertel"}, tokens[0])
	switch {
	case tokens[0] == "halb":
		at(tokens[1], -30)
	case tokens[0] == "half" && tokens[1] == "past" && len(tokens) > 2:
		at(tokens[2], 30)
	case tokens[0] == "half":
		at(tokens[1], -30, 30)
	case isQuarter && len(tokens) > 2 && w.past[tokens[1]]:
		at(tokens[2], 15)
	case isQuarter && len(tokens) > 2 && w.to[tokens[1]]:
		at(tokens[2], -15)
	}
}

// readings are the times that were named together; none where they contradict each other.
func (t typedTime) readings() (all []TimeReading) {
	for _, hour := range t.hours() {
		for _, day := range t.daysAt(hour) {
			at := time.Date(day.Year(), day.Month(), day.Day(), hour, t.minute, 0, 0, day.Location())
			all = append(all, TimeReading{As: t.as, At: at})
		}
	}
	return all
}

// hours are the hours of the day that the time may mean. An hour from 1 to 6 that nothing tells
// apart may be one of the afternoon.
func (t typedTime) hours() []int {
	if !t.timed {
		switch {
		case t.part == noon:
			return []int{12}
		case t.part == afternoon:
			return []int{hourOfAfternoon}
		case t.part == evening:
			return []int{hourOfEvening}
		case t.place.ahead || t.part == morning:
			return []int{hourOfDay}
		default:
			return []int{0}
		}
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
	if t.hour >= 1 && t.hour <= 6 && !t.exact {
		return []int{t.hour + 12, t.hour}
	}
	return []int{t.hour}
}

// daysAt are the days that the text may mean with an hour.
func (t typedTime) daysAt(hour int) []time.Time {
	today := midnight(t.place.now)
	in := func(days int) time.Time { return today.AddDate(0, 0, days) }
	toMonday := 8 - (int(today.Weekday())+6)%7 - 1 // Of the next week.
	inNextWeek := toMonday + (t.weekday+6)%7
	ahead := (t.weekday - int(today.Weekday()) + 7) % 7
	isAhead := in(0).Add(time.Duration(hour)*time.Hour + time.Duration(t.minute)*time.Minute).After(t.place.now)
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
	case t.weekday >= 0 && !t.place.ahead && ahead == 0:
		return []time.Time{in(0), in(-7)}
	case t.weekday >= 0 && !t.place.ahead:
		return []time.Time{in(ahead - 7)}
	case t.weekday >= 0 && ahead == 0 && t.timed && isAhead:
		return []time.Time{in(0), in(7)}
	case t.weekday >= 0 && ahead == 0:
		return []time.Time{in(7)}
	case t.weekday >= 0:
		return []time.Time{in(ahead)}
	case !t.timed && t.part == anyPart:
		return nil
	case !t.timed && t.part != noon:
		return []time.Time{in(0)}
	case t.place.ahead && !isAhead:
		return []time.Time{in(1)}
	case !t.place.ahead && isAhead:
		return []time.Time{in(-1)}
	default:
		return []time.Time{in(0)}
	}
}
