package apitype

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// readDate reads "24-12", "24.12.2026", "2026-12-24", "24 december" or "december 24th".
func (t typedTime) readDate(tokens []string, then func(typedTime, int)) {
	isOfWeekday := t.weekday >= 0 && t.date == nil && t.place.ahead // "thu 25 june"
	isTaken := t.hasDay() && !isOfWeekday
	if t.next || t.nextWeek || isTaken {
		return
	}
	w, first := words(), tokens[0]
	t.readDayOfMonth(tokens, then)
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

// readDayOfMonth reads "25th" or "25." as the next day with that number.
func (t typedTime) readDayOfMonth(tokens []string, then func(typedTime, int)) {
	number, isPoint := strings.CutSuffix(tokens[0], ".")
	day, err := strconv.Atoi(number)
	n := 1
	if !isPoint {
		n = 2
	}
	isSuffixed := isPoint || len(tokens) > 1 && isOrdinal(tokens[1])
	isDay := err == nil && day > 0 && isSuffixed
	if !isDay || !t.place.ahead {
		return
	}
	today := midnight(t.place.now)
	for months := range 3 { // Two months in a row never lack a day.
		date := time.Date(today.Year(), today.Month()+time.Month(months), day, 0, 0, 0, 0, today.Location())
		if date.Day() == day && !date.Before(today) {
			t.onDate(date, n, then)
			return
		}
	}
}

// onDate names a date, unless it is not the weekday that was named.
func (t typedTime) onDate(date time.Time, tokens int, then func(typedTime, int)) {
	if t.weekday < 0 || int(date.Weekday()) == t.weekday {
		then(t.on(date), tokens)
	}
}

func isOrdinal(token string) bool {
	return slices.Contains([]string{"st", "nd", "rd", "th", "e"}, token)
}

// readNumericDate reads a date of two or three numbers. The day comes first. If the month may come first, too, it
// returns both.
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
		isNumber := err == nil && strings.Trim(part, "0123456789") == ""
		isLong := len(part) > 2 && len(part) != 4
		if !isNumber || isLong {
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
	isLikeTime := separator == "." && len(numbers) == 2 && !strings.HasSuffix(token, ".")
	_, _, isRange := hoursBetween(token)
	if isLikeTime || isRange && t.place.ahead {
		t.as = "date"
	}
	t.setDate(year, numbers[1], numbers[0], 1, then)
	if separator == "/" || !t.place.ahead {
		t.setDate(year, numbers[0], numbers[1], 1, then)
	}
}

// setDate sets a day of a year. If the year is 0, it takes the next or the last year with that day.
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
			t.onDate(date, tokens, then)
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

// readClock reads "18:00", "18.30 uhr", "9", "6pm", or "half 3".
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
	if first, _, isRange := hoursBetween(tokens[0]); isRange && t.place.ahead {
		t.as = "time"
		tokens = append([]string{first}, tokens[1:]...)
	}
	if words().between[tokens[0]] {
		t.readBetween(tokens[1:], then)
		return
	}
	isWord := words().hours[tokens[0]] > 0
	isOnClock := len(tokens) > 1 && words().clock[tokens[1]]
	if isWord && !asked && !isOnClock {
		return
	}
	if isWord {
		tokens = append([]string{strconv.Itoa(words().hours[tokens[0]])}, tokens[1:]...)
	}
	hours, minutes, hasMinutes := t.clockParts(tokens[0])
	hour, err := strconv.Atoi(hours)
	isHour := err == nil && len(hours) <= 2 && hour <= 23
	isWhole := !hasMinutes || len(minutes) == 2
	if !isHour || !isWhole || strings.Trim(tokens[0], "0123456789:.") != "" {
		return
	}
	t.minute, err = 0, nil
	if hasMinutes {
		t.minute, err = strconv.Atoi(minutes)
	}
	if err != nil || t.minute > 59 {
		return
	}
	isNumber := !hasMinutes && !asked && !t.hasDay() && t.part == anyPart
	if strings.Contains(tokens[0], ".") {
		t.as = "time"
	}
	t.timed, t.hour, t.exact, t.bare = true, hour, len(hours) == 2 || hour == 0, !hasMinutes
	if len(tokens) == 1 || !t.readSuffix(tokens, isNumber, then) {
		if isNumber && !t.place.ahead { // A number alone is not a time of the past.
			return
		}
		then(t, 1)
	}
}

// clockParts splits "18:30", "18.30", and the "1830" of a time ahead. This year and the next one are no times.
func (t typedTime) clockParts(token string) (hours, minutes string, hasMinutes bool) {
	number, err := strconv.Atoi(token)
	isYear := number == t.place.now.Year() || number == t.place.now.Year()+1
	isFourDigits := err == nil && len(token) == 4
	if isFourDigits && t.place.ahead && !isYear {
		return token[:2], token[2:], true
	}
	return strings.Cut(strings.Replace(token, ".", ":", 1), ":")
}

// hoursBetween splits "18-19" or "18:00-19:00", which may also be a date.
func hoursBetween(token string) (first, last string, ok bool) {
	first, last, ok = strings.Cut(token, "-")
	from, err := strconv.Atoi(strings.Replace(first, ":", "", 1))
	to, errTo := strconv.Atoi(strings.Replace(last, ":", "", 1))
	isClock := strings.Contains(first, ":")
	most := 23
	if isClock {
		most = 2359
	}
	ok = ok && err == nil && errTo == nil && isClock == strings.Contains(last, ":") && from < to && to <= most
	return first, last, ok
}

// readBetween reads "6 and 7" behind "between" as the first of the two.
func (t typedTime) readBetween(tokens []string, then func(typedTime, int)) {
	and := slices.IndexFunc(tokens, func(token string) bool { return words().and[token] })
	isWhole := and >= 1 && and+1 < len(tokens)
	if !isWhole || !t.place.ahead {
		return
	}
	t.wantsTime = true
	var starts []typedTime
	t.readClock(tokens[:and], func(start typedTime, n int) {
		if n == and {
			starts = append(starts, start)
		}
	})
	t.readClock(tokens[and+1:], func(_ typedTime, n int) {
		for _, start := range starts {
			then(start, 1+and+1+n)
		}
	})
}

// readSuffix reads the word after an hour. It returns false for any other word.
func (t typedTime) readSuffix(tokens []string, isNumber bool, then func(typedTime, int)) bool {
	w, suffix := words(), tokens[1]
	mayBeLength := isNumber && (!t.place.ahead || t.hour < 7)
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
	case suffix == "h" && mayBeLength:
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

// readSpoken reads "quarter to 8", and "half 3", which is half past 2 in Dutch and half past 3 in English.
func (t typedTime) readSpoken(tokens []string, then func(typedTime, int)) {
	w := words()
	at := func(place int, minutes ...int) {
		if len(tokens) > place {
			t.readSpokenHour(tokens, place, minutes, then)
		}
	}
	t.readMinutes(tokens, then)
	second := ""
	if len(tokens) > 1 {
		second = tokens[1]
	}
	switch first := tokens[0]; {
	case w.quarter[first] && w.past[second]:
		at(2, 15)
	case w.quarter[first] && w.to[second]:
		at(2, -15)
	case first == "dreiviertel":
		at(1, -15)
	case first == "halb":
		at(1, -30)
	case first == "half" && second == "past":
		at(2, 30)
	case first == "half":
		at(1, -30, 30)
	}
}

// readMinutes reads "10 past 7", "vijf voor half 8" and "fünf nach halb acht".
func (t typedTime) readMinutes(tokens []string, then func(typedTime, int)) {
	w := words()
	minutes, err := strconv.Atoi(tokens[0])
	if err != nil {
		minutes = w.hours[tokens[0]]
	}
	if slices.Contains([]string{"twenty", "twintig", "zwanzig"}, tokens[0]) {
		minutes = 20
	}
	n := 1
	if len(tokens) > n && w.units[tokens[n]] == time.Minute {
		n++
	}
	isFew := minutes >= 1 && minutes <= 29
	if !isFew || len(tokens) < n+2 {
		return
	}
	if !w.past[tokens[n]] && !w.to[tokens[n]] {
		return
	}
	if w.to[tokens[n]] {
		minutes = -minutes
	}
	n++
	if isHalf := tokens[n] == "half" || tokens[n] == "halb"; isHalf {
		minutes -= 30
		n++
	}
	if len(tokens) > n {
		t.readSpokenHour(tokens, n, []int{minutes}, then)
	}
}

// readSpokenHour reads the hour at a place of the tokens, and sets the minutes around it.
func (t typedTime) readSpokenHour(tokens []string, place int, minutes []int, then func(typedTime, int)) {
	w := words()
	hour := w.hours[tokens[place]]
	if hour == 0 {
		hour, _ = strconv.Atoi(tokens[place])
	}
	if hour < 1 || hour > 12 {
		return
	}
	n := place + 1
	if n < len(tokens) && w.clock[tokens[n]] {
		n++
	}
	for _, m := range minutes {
		of := (hour*60 + m + 12*60) % (12 * 60)
		next := t
		next.timed, next.spoken, next.hour, next.minute = true, true, of/60, of%60
		if next.hour == 0 {
			next.hour = 12
		}
		then(next, n)
	}
}
