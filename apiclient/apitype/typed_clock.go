package apitype

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

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
	isWord := words().hours[tokens[0]] > 0
	if isWord && !asked && (len(tokens) == 1 || !words().clock[tokens[1]]) {
		return
	}
	if isWord {
		tokens = append([]string{strconv.Itoa(words().hours[tokens[0]])}, tokens[1:]...)
	}
	hours, minutes, hasMinutes := strings.Cut(strings.Replace(tokens[0], ".", ":", 1), ":")
	hour, err := strconv.Atoi(hours)
	if err != nil || len(hours) > 2 || hour > 23 || hasMinutes && len(minutes) != 2 ||
		strings.Trim(tokens[0], "0123456789:.") != "" {
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
	t.timed, t.hour, t.exact, t.bare = true, hour, len(hours) == 2 || hour == 0, !hasMinutes
	if len(tokens) == 1 || !t.readSuffix(tokens, isNumber, then) {
		if isNumber && !t.place.ahead { // A number alone is not a time of the past.
			return
		}
		then(t, 1)
	}
}

// readSuffix reads the word after an hour. It returns false for any other word.
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

// readSpoken reads "quarter to 8", and "half 3", which is half past 2 in Dutch and half past 3 in English.
func (t typedTime) readSpoken(tokens []string, then func(typedTime, int)) {
	w := words()
	at := func(place int, minutes ...int) {
		if len(tokens) > place {
			t.readSpokenHour(tokens, place, minutes, then)
		}
	}
	second := ""
	if len(tokens) > 1 {
		second = tokens[1]
	}
	switch first := tokens[0]; {
	case w.quarter[first] && w.past[second]:
		at(2, 15)
	case w.quarter[first] && w.to[second]:
		at(2, -15)
	case first == "halb":
		at(1, -30)
	case first == "half" && second == "past":
		at(2, 30)
	case first == "half":
		at(1, -30, 30)
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
