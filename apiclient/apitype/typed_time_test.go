package apitype

import (
	"testing"
	"time"
)

func TestParseTypedTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 30, 0, time.Local)
	tests := []struct {
		name, text string
		want       time.Time
		wrong      bool
	}{
		{"RFC 3339", "2026-01-02T03:04:05+02:00", time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC), false},
		{"a local day", "2026-01-02", time.Date(2026, 1, 2, 0, 0, 0, 0, time.Local), false},
		{"now", "now", now, false},
		{"today", "today", time.Date(2026, 11, 20, 0, 0, 0, 0, time.Local), false},
		{"yesterday", "yesterday", time.Date(2026, 11, 19, 0, 0, 0, 0, time.Local), false},
		{"seconds", "90s", now.Add(-90 * time.Second), false},
		{"minutes", "90m", now.Add(-90 * time.Minute), false},
		{"hours", "36h", now.Add(-36 * time.Hour), false},
		{"days", "7d", now.Add(-7 * 24 * time.Hour), false},
		{"weeks", "2w", now.Add(-14 * 24 * time.Hour), false},
		{"as PostgreSQL prints it", "2026-11-20 09:15:00+01", time.Date(2026, 11, 20, 8, 15, 0, 0, time.UTC), false},
		{"with a fraction", "2026-11-20 09:15:00.123456+0130", time.Date(2026, 11, 20, 7, 45, 0, 123e6, time.UTC), false},
		{"as Go prints it", "2026-11-20 09:15:00 +0100", time.Date(2026, 11, 20, 8, 15, 0, 0, time.UTC), false},
		{"basic", "20261120T091500Z", time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC), false},
		{"a basic day", "20261120", time.Date(2026, 11, 20, 0, 0, 0, 0, time.Local), false},
		{"a week date", "2026-W47-5", time.Date(2026, 11, 20, 0, 0, 0, 0, time.Local), false},
		{"as mails print it", "Fri, 20 Nov 2026 09:15:00 +0100", time.Date(2026, 11, 20, 8, 15, 0, 0, time.UTC), false},
		{"a mail with the zone's name behind", "Fri, 20 Nov 2026 09:15:00 +0100 (CET)", time.Date(2026, 11, 20, 8, 15, 0, 0, time.UTC), false},
		{"a mail without the day", "6 Nov 2026 09:15:00 GMT", time.Date(2026, 11, 6, 9, 15, 0, 0, time.UTC), false},
		{"as date prints it", "Fri Nov 20 09:15:00 UTC 2026", time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC), false},
		{"a zone of several meanings", "Fri Nov 20 09:15:00 CET 2026", time.Time{}, true},
		{"the longest age", "1752000h", now.Add(-1752000 * time.Hour), true}, // A year before there are any.
		{"an age of a hundred years", "36500d", now.Add(-36500 * 24 * time.Hour), false},
		{"an age before all", "50000d", time.Time{}, true},
		{"an age of more than a number holds", "4294967296s", time.Time{}, true},
		{"as many seconds as a number holds", "4294967295s", time.Time{}, true},
		{"a unit alone", "d", time.Time{}, true},
		{"another unit", "7y", time.Time{}, true},
		{"a day that was", "1899-12-31", time.Time{}, true},
		{"a mail to the minute", "Fri, 20 Nov 2026 09:15 GMT", time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC), false},
		{"a year beyond all", "12026-11-20T09:15:00Z", time.Time{}, true},
		{"a negative age", "-7d", time.Time{}, true},
		{"a number", "7", time.Time{}, true},
		{"nothing", "", time.Time{}, true},
		{"a word", "tomorrow", time.Time{}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTypedTime(test.text, now)
			if (err != nil) != test.wrong || err == nil && !got.Time.Equal(test.want) {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

// The local days that the clocks are changed on begin and end at midnight, and have 23 and 25
// hours; an age is as long as it says.
func TestTypedTimeWhereTheClocksChange(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "Europe/Amsterdam"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		tests := []struct{ text, now, want string }{
			{"today", "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z"}, // To summer time, at one o'clock UTC.
			{"yesterday", "2026-03-30T12:00:00Z", "2026-03-28T23:00:00Z"},
			{"today", "2026-03-30T12:00:00Z", "2026-03-29T22:00:00Z"},
			{"today", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z"}, // And back.
			{"yesterday", "2026-10-26T12:00:00Z", "2026-10-24T22:00:00Z"},
			{"today", "2026-10-26T12:00:00Z", "2026-10-25T23:00:00Z"},
			{"yesterday", "2026-10-25T23:30:00Z", "2026-10-24T22:00:00Z"}, // Just after midnight.
			{"1d", "2026-10-25T12:00:00Z", "2026-10-24T12:00:00Z"},
			{"24h", "2026-03-29T12:00:00Z", "2026-03-28T12:00:00Z"},
		}
		for _, test := range tests {
			now, err := time.Parse(time.RFC3339, test.now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseTypedTime(test.text, now.In(zone))
			if want, _ := ParseTime(test.want); err != nil || !got.Equal(want) {
				t.Errorf("%s, %s at %s: got %v, %v, want %v", name, test.text, test.now, got, err, want)
			}
		}
	}
}

func FuzzTypedTime(f *testing.F) {
	for _, seed := range []string{"now", "today", "yesterday", "7d", "90m", "2026-11-20", "2026-11-20T09:15:00+02:00", "9999999999999w", "-1h"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseTypedTime(text, now)
		if err != nil {
			return
		}
		if age, ok := parseAge(text); ok && (age < 0 || at.Time.After(now)) {
			t.Errorf("%q: got an age of %s, want one in the past", text, age)
		}
		if again, err := ParseTime(at.String()); err != nil || !again.Equal(at) {
			t.Errorf("%q: got %s, which reads as %v, %v", text, at, again, err)
		}
	})
}
