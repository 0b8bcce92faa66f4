package apitype

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The time of a callback ends at the first word that belongs to none, and the rest is its reason. What may be another
// time is asked. It is Wednesday, 25 November 2026, 15:30.
func TestParseCallback(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	place := CallbackPlace{Now: time.Date(2026, 11, 25, 15, 30, 0, 0, zone), Zone: zone}
	for _, test := range rowsOf(`
18:00                           | 25 18:00 |
18:00 after dinner              | 25 18:00 | after dinner
18:00, after dinner             | 25 18:00 | after dinner
18:00 - na het eten             | 25 18:00 | na het eten
morgen 11 uur belt liever zelf  | 26 11:00 | belt liever zelf
übermorgen um 11 Uhr im Büro    | 27 11:00 | im Büro
in 2 hours at her daughter's    | 25 17:30 | at her daughter's
fri 10:30 he's off              | 27 10:30 | he's off
tomorrow back from holiday      | 26 10:00 | back from holiday
18:00 op het werk               | 25 18:00 | op het werk
24-12 14:00 wants a card        | 12-24 14:00 | wants a card
18:00 so that he is home        | asked    |
14:30 do not call the office    | 26 14:30 | do not call the office
16:30 do not call the office    | asked    |
18:00 or tomorrow 10:00         | asked    |
18:00 not before 17:30          | asked    |
9.10 after work                 | asked    |
thu 1830 after dinner           | 26 18:30 | after dinner
tussen 18 en 19 uur, na het eten | 25 18:00 | na het eten
do 3-12 14u opa jarig           | 12-03 14:00 | opa jarig
18:00 room 1830                 | asked    |
ask her husband                 | refused  |
25:00 after dinner              | refused  |
today 9:00 after dinner         | refused  |
`) {
		text, want, reason := test[0], test[1], test[2]
		got, err := ParseCallback(text, place)
		_, isAsked := errors.AsType[*AmbiguousCallback](err)
		read := strings.TrimPrefix(got.At.In(zone).Format("01-02 15:04"), "11-")
		switch {
		case isAsked:
			read = "asked"
		case err != nil:
			read = "refused"
		}
		if read != want || err == nil && got.Reason != reason {
			t.Errorf("%q: got %s %q, %v, want %s %q", text, read, got.Reason, err, want, reason)
		}
	}
}

// Of two times in one text, each is offered with the rest of the text as its reason.
func TestParseCallbackOfTwoTimes(t *testing.T) {
	t.Parallel()
	zone := time.UTC
	place := CallbackPlace{Now: time.Date(2026, 11, 25, 15, 30, 0, 0, zone), Zone: zone}
	_, err := ParseCallback("ma 10u of di 11u bij oma", place)
	asked, isAsked := errors.AsType[*AmbiguousCallback](err)
	if !isAsked || len(asked.Callbacks) != 2 {
		t.Fatalf("got %v, want two callbacks", err)
	}
	for i, want := range []string{"30 10:00 of di 11u bij oma", "01 11:00 bij oma"} {
		if c := asked.Callbacks[i]; c.At.Format("02 15:04 ")+c.Reason != want {
			t.Errorf("got %s %q, want %s", c.At, c.Reason, want)
		}
	}
}

// A bare hour is the next one within calling hours, and of two halves of the day the one within them comes first. A
// named day stays as it is.
func TestParseCallbackWithinHours(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	within := func(at time.Time) bool {
		return at.Weekday() != time.Saturday && at.Weekday() != time.Sunday && at.Hour() >= 9 && at.Hour() < 21
	}
	place := CallbackPlace{Now: time.Date(2026, 11, 27, 15, 30, 0, 0, zone), Zone: zone, Within: within} // Friday.
	for text, want := range map[string]string{
		"9":          "30 09:00",
		"9:15":       "28 09:15",
		"17":         "27 17:00",
		"11 uur":     "30 11:00",
		"saturday 9": "28 09:00",
		"22":         "27 22:00",
	} {
		if got, err := ParseCallback(text, place); err != nil || got.At.In(zone).Format("02 15:04") != want {
			t.Errorf("%q: got %v, %v, want %s", text, got.At, err, want)
		}
	}
	for text, want := range map[string]string{
		"half past 8":    "27 20:30",
		"7":              "27 19:00",
		"8:15":           "27 20:15",
		"Montag gegen 7": "30 19:00",
	} {
		_, err = ParseCallback(text, place)
		asked, isAsked := errors.AsType[*AmbiguousCallback](err)
		if !isAsked || asked.Callbacks[0].At.In(zone).Format("02 15:04") != want {
			t.Errorf("%q: got %v, want %s first of two", text, err, want)
		}
	}
}

// A time that the clocks skip moves forward, and the reading mentions it.
func TestParseCallbackThatTheClocksSkip(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	place := CallbackPlace{Now: time.Date(2027, 3, 27, 15, 30, 0, 0, zone), Zone: zone}
	for text, isMoved := range map[string]bool{
		"28-03-2027 02:30": true,
		"tomorrow 03:30":   false,
		"tomorrow 02:30":   true,
	} {
		got, err := ParseCallback(text, place)
		if err != nil || got.IsMoved != isMoved || got.At.In(zone).Format("02 15:04") != "28 03:30" {
			t.Errorf("%q: got %v moved %t, %v, want 28 March 03:30, moved %t", text, got.At, got.IsMoved, err, isMoved)
		}
	}
}
