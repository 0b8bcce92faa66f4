package apitype

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
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
		{"a word", "soon", time.Time{}, true},
		{"tomorrow", "tomorrow", time.Date(2026, 11, 21, 0, 0, 0, 0, time.Local), false},
		{"a weekday", "montag", time.Date(2026, 11, 16, 0, 0, 0, 0, time.Local), false},
		{"a time of day that has been", "yesterday 14:00", time.Date(2026, 11, 19, 14, 0, 0, 0, time.Local), false},
		{"a time of day that is still to come", "18:00", time.Date(2026, 11, 19, 18, 0, 0, 0, time.Local), false},
		{"ago, as it is said", "2 uur geleden", now.Add(-2 * time.Hour), false},
		{"ahead, as it is said", "in 2 hours", now.Add(2 * time.Hour), false},
		{"a day of the calendar", "24-12-2025", time.Date(2025, 12, 24, 0, 0, 0, 0, time.Local), false},
		{"a day that has been", "24 december", time.Date(2025, 12, 24, 0, 0, 0, 0, time.Local), false},
		{"a date of two meanings", "9-10-2026", time.Time{}, true},
		{"an offset of 99 hours", "2026-11-20T09:15:00+99:00", time.Time{}, true},
		{"an offset of a day", "2026-11-20T09:15:00+24:00", time.Time{}, true},
		{"an offset of 60 minutes", "2026-11-20T09:15:00+02:60", time.Time{}, true},
		{"an offset without its colon", "2026-11-20T09:15:00-9900", time.Time{}, true},
		{"an offset of hours alone", "2026-11-20 09:15:00+24", time.Time{}, true},
		{"a mail's offset of a day", "Fri, 20 Nov 2026 09:15:00 +2400", time.Time{}, true},
		{"a mail's offset of 60 minutes", "Fri, 20 Nov 2026 09:15:00 +0260", time.Time{}, true},
		{"the largest offset", "2026-11-20T09:15:00+23:59", time.Date(2026, 11, 19, 9, 16, 0, 0, time.UTC), false},
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

// A time of a filter or a callback without a zone is local, in each notation.
func TestTypedTimesWithoutAZone(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, zone)
	want := time.Date(2026, 11, 27, 9, 15, 0, 0, zone)
	for _, text := range []string{"27-11-2026 09:15", "27 nov 2026 9:15", "2026-11-27 09:15", "2026-11-27 09:15:00.000", "20261127 0915", "2026-11-27 08:15:00Z", "2026-11-27T09:15+01:00", "2026-11-27T09:15:00", "20261127T0915"} {
		if got, err := ParseTypedTime(text, now); err != nil || !got.Time.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want.UTC())
		}
		if got, err := ParseTimeAhead(text, now, zone); err != nil || !got.Equal(want) {
			t.Errorf("%q ahead: got %v, %v, want %v", text, got, err, want)
		}
	}
	var sent Time
	if err := sent.UnmarshalText([]byte("2026-11-27T09:15:00")); err != nil || sent.String() != "2026-11-27T09:15:00.000Z" {
		t.Errorf("sent by a service: got %v, %v, want it of UTC", sent, err)
	}
}

// A time of a body means the same on every computer.
func TestParseBodyTime(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 0, 30, 0, 0, zone) // In UTC it is still the 24th.
	tests := []struct{ text, want string }{
		{"2026-12-01", "2026-12-01T00:00:00.000Z"},
		{"20261201", "2026-12-01T00:00:00.000Z"},
		{"24-12-2026", "2026-12-24T00:00:00.000Z"},
		{"1 december 2026", "2026-12-01T00:00:00.000Z"},
		{"today", "2026-11-25T00:00:00.000Z"},
		{"yesterday", "2026-11-24T00:00:00.000Z"},
		{"heute", "2026-11-25T00:00:00.000Z"},
		{"7d", "2026-11-18T00:00:00.000Z"},
		{"2w", "2026-11-11T00:00:00.000Z"},
		{"2026-12-01T10:00", "2026-12-01T10:00:00.000Z"},
		{"2026-12-01 10:00", "2026-12-01T10:00:00.000Z"},
		{"2026-12-01T10:00:00+01:00", "2026-12-01T09:00:00.000Z"},
		{"2026-12-01T10:00:00Z", "2026-12-01T10:00:00.000Z"},
		{"yesterday 14:00", "2026-11-24T14:00:00.000Z"},
		{"now", "2026-11-24T23:30:00.000Z"},
		{"90m", "2026-11-24T22:00:00.000Z"},
		{"36h", "2026-11-23T11:30:00.000Z"},
	}
	for _, test := range tests {
		got, err := ParseBodyTime(test.text, now)
		if err != nil || got.String() != test.want {
			t.Errorf("%q: got %v, %v, want %s", test.text, got, err, test.want)
		}
	}
}

// The end of a period includes a day that is named, and no more than a time that is named.
func TestParseTypedUntil(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, zone)
	tests := []struct{ text, want string }{
		{"2026-11-24", "2026-11-24T22:59:59.999Z"},
		{"24-11-2026", "2026-11-24T22:59:59.999Z"},
		{"today", "2026-11-25T22:59:59.999Z"},
		{"yesterday", "2026-11-24T22:59:59.999Z"},
		{"2026-10-25", "2026-10-25T22:59:59.999Z"}, // 25 hours long.
		{"2026-11-24 00:00", "2026-11-23T23:00:00.000Z"},
		{"2026-11-24T00:00", "2026-11-23T23:00:00.000Z"},
		{"7d", "2026-11-18T14:30:00.000Z"},
		{"now", "2026-11-25T14:30:00.000Z"},
	}
	for _, test := range tests {
		got, err := ParseTypedUntil(test.text, now)
		if err != nil || got.String() != test.want {
			t.Errorf("%q: got %v, %v, want %s", test.text, got, err, test.want)
		}
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
			{"18:00", "2026-03-29T16:30:00Z", "2026-03-29T16:00:00Z"},
			{"18:00", "2026-10-25T16:30:00Z", "2026-10-24T16:00:00Z"},
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
		evening := time.Date(2026, 10, 25, 17, 30, 0, 0, zone)
		if got, err := ParseTimeAhead("18:00", evening, zone); err != nil || got.Sub(evening) != 30*time.Minute {
			t.Errorf("%s, 18:00 at %s: got %v, %v, want it in half an hour", name, evening, got, err)
		}
	}
}

// What is typed for a callback is read right, refused, or has all of its meanings told, in three
// languages; nothing silently becomes another time. It is Wednesday, 25 November 2026, 15:30.
func TestParseTimeAhead(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, zone)
	for text, want := range map[string]string{
		// Lengths of time.
		"in 2 hours": "25 17:30", "in 2 uur": "25 17:30", "over 2 uur": "25 17:30", "over 2 uurtjes": "", "2h": "25 17:30", "2 h": "25 17:30",
		"in zwei Stunden": "25 17:30", "in einer Stunde": "25 16:30", "over een uur": "25 16:30", "in an hour": "25 16:30", "90m": "25 17:00",
		"in 45 min": "25 16:15", "3 days": "28 15:30", "1.5 hours": "25 17:00", "1,5 uur": "25 17:00", "2,5 Stunden": "25 18:00",
		"over een half uur": "25 16:00", "half an hour": "25 16:00", "in einer halben Stunde": "25 16:00", "over anderhalf uur": "25 17:00",
		"over een kwartier": "25 15:45", "1 hour 30 minutes": "25 17:00", "over een week": "12-02 15:30", "in 2 Wochen": "12-09 15:30",
		"in 2 days 14:00": "", "over 3 dagen om 11.15": "", "in 14 tagen": "12-09 15:30",
		"2 hours ago": "", "vor 2 Stunden": "", "2 uur geleden": "", "2 years": "", "in": "", "500 days": "", "99999999999 days": "", "1e3 hours": "", "-2h": "",
		// Times of day.
		"18:00": "25 18:00", "18.00": "25 18:00", "9:15": "26 09:15", "6pm": "25 18:00", "6 pm": "25 18:00", "6 p.m.": "25 18:00", "12 am": "26 00:00",
		"12 uur": "26 12:00", "noon": "26 12:00", "mittags": "26 12:00", "at noon": "26 12:00", "18 uur": "25 18:00", "18 Uhr 30": "25 18:30", "18uhr": "25 18:00",
		"um 9.15": "26 09:15", "om 10.30": "26 10:30", "9.10 uhr": "26 09:10", "9.10 uur": "26 09:10", "9.10 h": "26 09:10", "um 9.10": "26 09:10",
		"om 9.10": "26 09:10", "at 9.10": "26 09:10", "14.30h": "26 14:30", "9": "26 09:00", "05:00": "26 05:00", "8 o'clock": "26 08:00",
		"on the 24th of december": "12-24 10:00", "am Abend": "25 19:00", "halb 10": "26 09:30", "half past 9": "26 09:30", "kwart over 9": "", "viertel vor 10": "", "half past 16": "",
		"abends um 8": "25 20:00", "8 uur 's avonds": "25 20:00", "3 uur 's middags": "26 15:00", "5 uur 's middags": "25 17:00", "um 3 nachmittags": "26 15:00", "halb 3 nachmittags": "26 14:30",
		"25:00": "", "18:60": "", "13pm": "", "0pm": "", "1:2:3": "", "18:0": "", "18:00 19:00": "", "24:00": "", "um": "", "um morgen": "", "evening 1": "", "morning 15:00": "",
		// Days.
		"today 17:00": "25 17:00", "this evening": "25 19:00", "tonight": "25 19:00", "vanavond": "25 19:00", "heute Abend": "25 19:00", "heute Abend 20:15": "25 20:15", "heute abend um 8": "25 20:00",
		"tomorrow": "26 10:00", "morgen": "26 10:00", "tomorrow 18:00": "26 18:00", "Tomorrow at 6pm": "26 18:00", "morgen um 18 Uhr": "26 18:00", "morgen 9 uur": "26 09:00", "morgen 9.10": "26 09:10",
		"morgen früh": "26 10:00", "morgen früh um 8": "26 08:00", "morgenmiddag": "", "morgen mittag": "26 12:00", "morgen Nachmittag": "26 14:00", "tomorrow noon": "26 12:00", "tomorrow evening": "26 19:00", "vanmiddag": "",
		"übermorgen": "27 10:00", "overmorgen 14:00": "27 14:00", "day after tomorrow": "27 10:00", "the day after tomorrow 11:00": "27 11:00",
		"fri 10:30": "27 10:30", "Fr. 10:30": "27 10:30", "10:30 friday": "27 10:30", "vrijdag om 10:30": "27 10:30", "am Freitag um 10.30": "27 10:30", "freitagabend": "", "vrijdagmiddag 4 uur": "",
		"Mittwoch": "12-02 10:00", "next wednesday": "12-02 10:00", "kommenden Freitag": "27 10:00", "next monday": "30 10:00", "volgende week vrijdag": "12-04 10:00", "Freitag nächste Woche 11:00": "12-04 11:00",
		"today 9:00": "", "tomorrow friday": "", "gestern": "", "soon": "", "": "", "next": "", "next month": "", "weekend": "", "now": "", "today": "", "this morning": "",
		// Dates.
		"10 may": "05-10 10:00", "24-12 14:00": "12-24 14:00", "24.12. 14:00": "12-24 14:00", "24/12/2026 14:00": "12-24 14:00", "24-12-26 14:00": "12-24 14:00", "24 december 14:00": "12-24 14:00",
		"24. Dezember 14:00": "12-24 14:00", "am 24. Dezember um 14 Uhr": "12-24 14:00", "december 24th 14:00": "12-24 14:00", "24th of december": "12-24 10:00", "24 december 2026 14:00": "12-24 14:00",
		"3 jan": "01-03 10:00", "9.10.": "10-09 10:00", "9.10 14:00": "10-09 14:00", "am 9.10": "10-09 10:00", "9-10": "10-09 10:00", "24.12": "12-24 10:00",
		"2026-12-24": "12-24 10:00", "2026-12-24 14:00": "12-24 14:00", "2026-12-24T14:00": "12-24 14:00", "2026-12-24 9:15": "12-24 09:15", "2026-12-24T14:00:00Z": "12-24 15:00", "20261224T140000+0300": "12-24 12:00",
		"28-03-2027 02:30": "03-28 03:30", // The hour that summer time skips.
		"31-02 10:00":      "", "24-12-2025 14:00": "", "24-12-2028": "", "29-02-2027": "", "2026-12-24T14:00+99:00": "", "2026-12-24T14:00+24:00": "", "2027": "", "1830": "", "0612345678": "",
	} {
		got, err := ParseTimeAhead(text, now, zone)
		read := strings.TrimPrefix(got.In(zone).Format("01-02 15:04"), "11-")
		if _, isAsked := errors.AsType[*AmbiguousTime](err); (err != nil) != (want == "") || isAsked || err == nil && read != want {
			t.Errorf("%q: got %s, %v, want %q", text, read, err, want)
		}
	}
	for text, want := range map[string]string{
		"9.10":             "time 26 Nov 09:10, date 9 Oct 10:00",
		"2.12":             "time 26 Nov 02:12, time 26 Nov 14:12, date 2 Dec 10:00",
		"1 uur":            "26 Nov 01:00, 26 Nov 13:00, 25 Nov 16:30",
		"1":                "26 Nov 01:00, 26 Nov 13:00",
		"4 Uhr":            "25 Nov 16:00, 26 Nov 04:00",
		"2:00":             "26 Nov 02:00, 26 Nov 14:00",
		"18h":              "25 Nov 18:00, 26 Nov 09:30",
		"half 3":           "26 Nov 02:30, 26 Nov 14:30, 26 Nov 03:30, 26 Nov 15:30",
		"half 11":          "26 Nov 10:30, 26 Nov 11:30",
		"halb 3":           "26 Nov 02:30, 26 Nov 14:30",
		"morgen half 3":    "26 Nov 14:30, 26 Nov 02:30, 26 Nov 15:30, 26 Nov 03:30",
		"wed 18:00":        "25 Nov 18:00, 2 Dec 18:00",
		"next friday":      "27 Nov 10:00, 4 Dec 10:00",
		"nächsten Freitag": "27 Nov 10:00, 4 Dec 10:00",
		"next week":        "30 Nov 10:00, 2 Dec 10:00",
		"volgende week":    "30 Nov 10:00, 2 Dec 10:00",
		"nächste Woche":    "30 Nov 10:00, 2 Dec 10:00",
		"9/10":             "9 Oct 10:00, 10 Sep 10:00",
	} {
		at, err := ParseTimeAhead(text, now, zone)
		var got []string
		if ambiguous, is := errors.AsType[*AmbiguousTime](err); is {
			for _, r := range ambiguous.Readings {
				got = append(got, strings.TrimSpace(r.As+" "+r.At.In(zone).Format("2 Jan 15:04")))
			}
		}
		all := strings.Split(want, ", ")
		slices.Sort(got)
		slices.Sort(all)
		if strings.Join(got, ", ") != strings.Join(all, ", ") {
			t.Errorf("%q: got %v %v %q, want %q", text, at, err, got, all)
		}
	}
	_, err = ParseTimeAhead("9.10", now, zone)
	if want := `"9.10" can be read as Thu 26 Nov 2026 09:10 (a time) or Sat 9 Oct 2027 10:00 (a date): write which one is meant`; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Whatever is typed, what is taken for a time is ahead and within 400 days, and so is each meaning.
func TestTimesAheadAreAhead(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 28, 23, 30, 0, 0, zone)
	word := rapid.SampledFrom([]string{"tomorrow", "fri", "18:00", "2", "h", "in", "24-12", "evening", "9", "am", "mär", "at", "2027", "t", ".", "9.10", "half", "next", "week", "uur", "/"})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, w := range rapid.SliceOfN(word, 0, 4).Draw(t, "words") {
			text += w + rapid.SampledFrom([]string{" ", ""}).Draw(t, "blank")
		}
		at, err := ParseTimeAhead(text, now, zone)
		all := []TimeReading{{At: at}}
		if ambiguous, is := errors.AsType[*AmbiguousTime](err); is {
			if all = ambiguous.Readings; len(all) < 2 {
				t.Errorf("%q: got %v, want two meanings", text, all)
			}
		} else if err != nil {
			return
		}
		for _, r := range all {
			if !r.At.After(now) || r.At.Sub(now) > 9600*time.Hour {
				t.Errorf("%q: got %v", text, r.At)
			}
		}
	})
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
		if again, err := ParseTime(at.String()); err != nil || !again.Equal(at) {
			t.Errorf("%q: got %s, which reads as %v, %v", text, at, again, err)
		}
	})
}

// An amount is read as it is written in a country, refused, or has both of its meanings told.
func TestParseTypedAmount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text                   string
		unknown, comma, points string // As it is read; "" where it is refused, "?" where it is asked back.
	}{
		{"12.50", "12.50", "12.50", "12.50"},
		{"12,5", "12.50", "12.50", "12.50"},
		{"20", "20.00", "20.00", "20.00"},
		{" 007 ", "7.00", "7.00", "7.00"},
		{"€ 30", "30.00", "30.00", "30.00"},
		{"€30,-", "30.00", "30.00", "30.00"},
		{"30,-", "30.00", "30.00", "30.00"},
		{"30,--", "30.00", "30.00", "30.00"},
		{"30 EUR", "30.00", "30.00", "30.00"},
		{"1.250", "?", "1250.00", "1.25"},
		{"1,250", "?", "1.25", "1250.00"},
		{"1.000", "?", "1000.00", "1.00"},
		{"€ 2.500", "?", "2500.00", "2.50"},
		{"1.250,00", "1250.00", "1250.00", ""},
		{"1,250.00", "1250.00", "", "1250.00"},
		{"1.250.000", "1250000.00", "1250000.00", "1250000.00"},
		{"1 250", "1250.00", "1250.00", "1250.00"},
		{"1 250,50", "1250.50", "1250.50", ""},
		{"0.125", "0.125", "", "0.125"},
		{"1250.000", "1250.00", "", "1250.00"},
		{"0,50", "0.50", "0.50", "0.50"},
		{"-5", "-5.00", "-5.00", "-5.00"},
		{"2e2", "", "", ""},
		{"1e3", "", "", ""},
		{"1.2.3", "", "", ""},
		{"1,2,3", "", "", ""},
		{"much", "", "", ""},
		{"", "", "", ""},
		{"€", "", "", ""},
		{"12.", "", "", ""},
		{".5", "", "", ""},
		{"1.25,000", "", "", ""},
		{"0x10", "", "", ""},
	} {
		for sign, want := range map[byte]string{0: test.unknown, ',': test.comma, '.': test.points} {
			amount, err := ParseTypedAmount(test.text, sign)
			got := amount.Fixed()
			if _, asked := errors.AsType[*AmbiguousAmount](err); asked {
				got = "?"
			} else if err != nil {
				got = ""
			}
			if got != want {
				t.Errorf("%q, %q: got %q, %v, want %q", test.text, sign, got, err, want)
			}
		}
	}
	_, err := ParseTypedAmount("1.250", 0)
	if want := `"1.250" can be read as 1250.00 or 1.25: write which one is meant`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
