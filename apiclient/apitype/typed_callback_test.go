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
		"9": "30 09:00", "9:15": "28 09:15", "17": "27 17:00", "11 uur": "30 11:00", "saturday 9": "28 09:00", "22": "27 22:00",
	} {
		if got, err := ParseCallback(text, place); err != nil || got.At.In(zone).Format("02 15:04") != want {
			t.Errorf("%q: got %v, %v, want %s", text, got.At, err, want)
		}
	}
	_, err = ParseCallback("half past 8", place)
	ambiguous, isAsked := errors.AsType[*AmbiguousCallback](err)
	if !isAsked || ambiguous.Callbacks[0].At.In(zone).Hour() != 20 {
		t.Errorf("half past 8: got %v, want 20:30 first", err)
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
	for text, isMoved := range map[string]bool{"28-03-2027 02:30": true, "tomorrow 03:30": false, "tomorrow 02:30": true} {
		got, err := ParseCallback(text, place)
		if err != nil || got.IsMoved != isMoved || got.At.In(zone).Format("02 15:04") != "28 03:30" {
			t.Errorf("%q: got %v moved %t, %v, want 28 March 03:30, moved %t", text, got.At, got.IsMoved, err, isMoved)
		}
	}
}
