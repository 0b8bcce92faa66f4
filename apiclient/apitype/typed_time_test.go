package apitype

import (
	"cmp"
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
	// A time without a zone is local.
	for _, test := range rowsOf(`
RFC 3339                            | 2026-01-02T03:04:05+02:00             | 2026-01-02T01:04:05Z
a local day                         | 2026-01-02                            | 2026-01-02T00:00:00
now                                 | now                                   | now
today                               | today                                 | 2026-11-20T00:00:00
yesterday                           | yesterday                             | 2026-11-19T00:00:00
seconds                             | 90s                                   | now-90s
minutes                             | 90m                                   | now-90m
hours                               | 36h                                   | now-36h
days                                | 7d                                    | now-168h
weeks                               | 2w                                    | now-336h
as PostgreSQL prints it             | 2026-11-20 09:15:00+01                | 2026-11-20T08:15:00Z
with a fraction                     | 2026-11-20 09:15:00.123456+0130       | 2026-11-20T07:45:00.123Z
as Go prints it                     | 2026-11-20 09:15:00 +0100             | 2026-11-20T08:15:00Z
basic                               | 20261120T091500Z                      | 2026-11-20T09:15:00Z
a basic day                         | 20261120                              | 2026-11-20T00:00:00
a week date                         | 2026-W47-5                            | 2026-11-20T00:00:00
as mails print it                   | Fri, 20 Nov 2026 09:15:00 +0100       | 2026-11-20T08:15:00Z
a mail with the zone's name behind  | Fri, 20 Nov 2026 09:15:00 +0100 (CET) | 2026-11-20T08:15:00Z
a mail without the day              | 6 Nov 2026 09:15:00 GMT               | 2026-11-06T09:15:00Z
as date prints it                   | Fri Nov 20 09:15:00 UTC 2026          | 2026-11-20T09:15:00Z
a zone of several meanings          | Fri Nov 20 09:15:00 CET 2026          | wrong
# A year before there are any.
the longest age                     | 1752000h                              | wrong
an age of a hundred years           | 36500d                                | now-876000h
an age before all                   | 50000d                                | wrong
an age of more than a number holds  | 4294967296s                           | wrong
as many seconds as a number holds   | 4294967295s                           | wrong
a unit alone                        | d                                     | wrong
another unit                        | 7y                                    | wrong
a day that was                      | 1899-12-31                            | wrong
a mail to the minute                | Fri, 20 Nov 2026 09:15 GMT            | 2026-11-20T09:15:00Z
a year beyond all                   | 12026-11-20T09:15:00Z                 | wrong
a negative age                      | -7d                                   | wrong
a number                            | 7                                     | wrong
nothing                             |                                       | wrong
a word                              | soon                                  | wrong
tomorrow                            | tomorrow                              | 2026-11-21T00:00:00
a weekday                           | montag                                | 2026-11-16T00:00:00
a time of day that has been         | yesterday 14:00                       | 2026-11-19T14:00:00
a time of day that is still to come | 18:00                                 | 2026-11-19T18:00:00
ago, as it is said                  | 2 uur geleden                         | now-2h
ahead, as it is said                | in 2 hours                            | now+2h
a day of the calendar               | 24-12-2025                            | 2025-12-24T00:00:00
a day that has been                 | 24 december                           | 2025-12-24T00:00:00
a date of two meanings              | 9-10-2026                             | wrong
an offset of 99 hours               | 2026-11-20T09:15:00+99:00             | wrong
an offset of a day                  | 2026-11-20T09:15:00+24:00             | wrong
an offset of 60 minutes             | 2026-11-20T09:15:00+02:60             | wrong
an offset without its colon         | 2026-11-20T09:15:00-9900              | wrong
an offset of hours alone            | 2026-11-20 09:15:00+24                | wrong
a mail's offset of a day            | Fri, 20 Nov 2026 09:15:00 +2400       | wrong
a mail's offset of 60 minutes       | Fri, 20 Nov 2026 09:15:00 +0260       | wrong
the largest offset                  | 2026-11-20T09:15:00+23:59             | 2026-11-19T09:16:00Z
`) {
		name, text, want := test[0], test[1], test[2]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTypedTime(text, now)
			if isWrong := want == "wrong"; isWrong || err != nil {
				if !isWrong || err == nil {
					t.Errorf("got %v, %v, want %s", got, err, want)
				}
				return
			}
			if wanted := wantedTime(t, want, now); !got.Time.Equal(wanted) {
				t.Errorf("got %v, want %v", got, wanted)
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
	for _, text := range []string{
		"27-11-2026 09:15", "27 nov 2026 9:15", "2026-11-27 09:15", "2026-11-27 09:15:00.000",
		"20261127 0915", "2026-11-27 08:15:00Z", "2026-11-27T09:15+01:00", "2026-11-27T09:15:00",
		"20261127T0915",
	} {
		if got, err := ParseTypedTime(text, now); err != nil || !got.Time.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want.UTC())
		}
		if got, err := ParseTimeAhead(text, now, zone); err != nil || !got.Equal(want) {
			t.Errorf("%q ahead: got %v, %v, want %v", text, got, err, want)
		}
	}
	var sent Time
	if err := sent.UnmarshalText([]byte("2026-11-27T09:15:00")); err != nil ||
		sent.String() != "2026-11-27T09:15:00.000Z" {
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

// The local days on which the clocks change begin and end at midnight, and have 23 and 25 hours. An age has its exact
// length.
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

// Each text for a callback is read correctly, refused, or shown with all its meanings, in three languages. None
// silently becomes another time. It is Wednesday, 25 November 2026, 15:30.
func TestParseTimeAhead(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, zone)
	for _, test := range rowsOf(`
# Lengths of time.
in 2 hours                   | 25 17:30
in 2 uur                     | 25 17:30
over 2 uur                   | 25 17:30
over 2 uurtjes               |
2h                           | 25 17:30
2 h                          | 25 17:30
in zwei Stunden              | 25 17:30
in einer Stunde              | 25 16:30
over een uur                 | 25 16:30
in an hour                   | 25 16:30
90m                          | 25 17:00
in 45 min                    | 25 16:15
3 days                       | 28 15:30
1.5 hours                    | 25 17:00
1,5 uur                      | 25 17:00
2,5 Stunden                  | 25 18:00
over een half uur            | 25 16:00
half an hour                 | 25 16:00
in einer halben Stunde       | 25 16:00
over anderhalf uur           | 25 17:00
over een kwartier            | 25 15:45
1 hour 30 minutes            | 25 17:00
over een week                | 12-02 15:30
in 2 Wochen                  | 12-09 15:30
in 2 days 14:00              |
over 3 dagen om 11.15        |
in 14 tagen                  | 12-09 15:30
2 hours ago                  |
vor 2 Stunden                |
2 uur geleden                |
2 years                      |
in                           |
500 days                     |
99999999999 days             |
1e3 hours                    |
-2h                          |
# Times of day.
18:00                        | 25 18:00
18.00                        | 25 18:00
9:15                         | 26 09:15
6pm                          | 25 18:00
6 pm                         | 25 18:00
6 p.m.                       | 25 18:00
12 am                        | 26 00:00
12 uur                       | 26 12:00
noon                         | 26 12:00
mittags                      | 26 12:00
at noon                      | 26 12:00
18 uur                       | 25 18:00
18 Uhr 30                    | 25 18:30
18uhr                        | 25 18:00
um 9.15                      | 26 09:15
om 10.30                     | 26 10:30
9.10 uhr                     | 26 09:10
9.10 uur                     | 26 09:10
9.10 h                       | 26 09:10
um 9.10                      | 26 09:10
om 9.10                      | 26 09:10
at 9.10                      | 26 09:10
14.30h                       | 26 14:30
17u                          | 25 17:00
om 17u                       | 25 17:00
18u30                        | 25 18:30
18h30                        | 25 18:30
vrijdag 14u                  | 27 14:00
after 18:00                  | 25 18:00
na 18 uur                    | 25 18:00
nach 18 Uhr                  | 25 18:00
zwölf Uhr                    | 26 12:00
acht uur                     | 26 08:00
eleven o'clock               | 26 11:00
quarter past 9               | 26 09:15
kwart voor 12                | 26 11:45
half past twelve             | 26 12:30
acht                         |
quarter                      |
kwart voor                   |
kwart voor 13                |
9                            | 26 09:00
05:00                        | 26 05:00
8 o'clock                    | 26 08:00
on the 24th of december      | 12-24 10:00
am Abend                     | 25 19:00
halb 10                         | 26 09:30
half past 9                  | 26 09:30
kwart over 9                 | 26 09:15
viertel vor 10               | 26 09:45
half past 16                 |
abends um 8                  | 25 20:00
8 uur 's avonds              | 25 20:00
3 uur 's middags             | 26 15:00
5 uur 's middags             | 25 17:00
um 3 nachmittags             | 26 15:00
halb 3 nachmittags           | 26 14:30
25:00                        |
18:60                        |
13pm                         |
0pm                          |
1:2:3                        |
18:0                         |
18:00 19:00                  |
24:00                        |
um                           |
um morgen                    |
evening 1                    |
morning 15:00                |
# Without a sign between hours and minutes.
1830                         | 25 18:30
om 1830                      | 25 18:30
thu 1830                     | 26 18:30
24-12 1830                   | 12-24 18:30
24 dec 2026                  | 12-24 10:00
1875                         |
# Minutes before and after an hour.
10 past 9                    | 26 09:10
tien over 9                  | 26 09:10
zehn nach 9                  | 26 09:10
20 to ten                    | 26 09:40
5 voor half tien             | 26 09:25
fünf Minuten nach halb zehn  | 26 09:35
dreiviertel zehn             | 26 09:45
10 over een week             |
40 past 9                    |
# From an hour on, and between two.
from 18:00                   | 25 18:00
donderdag vanaf 18u          | 26 18:00
Donnerstag ab 18 Uhr         | 26 18:00
18-19 Uhr                    | 25 18:00
18:00-19:00                  | 25 18:00
between 18:00 and 19:00      | 25 18:00
morgen tussen 18 en 19 uur   | 26 18:00
zwischen 18 und 19 Uhr       | 25 18:00
between 18 and               |
between 18 and friday        |
19-18                        |
# Days.
today 17:00                  | 25 17:00
this evening                 | 25 19:00
tonight                      | 25 19:00
vanavond                     | 25 19:00
heute Abend                  | 25 19:00
heute Abend 20:15            | 25 20:15
heute abend um 8             | 25 20:00
tomorrow                     | 26 10:00
morgen                       | 26 10:00
tomorrow 18:00               | 26 18:00
Tomorrow at 6pm              | 26 18:00
morgen um 18 Uhr             | 26 18:00
morgen 9 uur                 | 26 09:00
morgen 9.10                  | 26 09:10
morgen früh                  | 26 10:00
morgen vroeg                 | 26 10:00
morgen früh um 8             | 26 08:00
morgenmiddag                 | 26 14:00
morgen mittag                | 26 12:00
morgen Nachmittag            | 26 14:00
tomorrow noon                | 26 12:00
tomorrow evening             | 26 19:00
vanmiddag                    |
übermorgen                   | 27 10:00
overmorgen 14:00             | 27 14:00
day after tomorrow           | 27 10:00
the day after tomorrow 11:00 | 27 11:00
fri 10:30                    | 27 10:30
Fr. 10:30                    | 27 10:30
10:30 friday                 | 27 10:30
vrijdag om 10:30             | 27 10:30
am Freitag um 10.30          | 27 10:30
freitagabend                 | 27 19:00
vrijdagmiddag 4 uur          | 27 16:00
vrijdagochtend               | 27 10:00
Freitagmorgen um 9           | 27 09:00
morgenavond                  | 26 19:00
morgenochtend 9 uur          | 26 09:00
zaterdagmiddag               | 28 14:00
Mittwoch                     | 12-02 10:00
next wednesday               | 12-02 10:00
kommenden Freitag            | 27 10:00
next monday                  | 30 10:00
volgende week vrijdag        | 12-04 10:00
Freitag nächste Woche 11:00  | 12-04 11:00
today 9:00                   |
tomorrow friday              |
gestern                      |
soon                         |
                             |
next                         |
next month                   |
weekend                      |
now                          |
today                        |
this morning                 |
# Dates.
10 may                       | 05-10 10:00
24-12 14:00                  | 12-24 14:00
24.12. 14:00                 | 12-24 14:00
24/12/2026 14:00             | 12-24 14:00
24-12-26 14:00               | 12-24 14:00
24 december 14:00            | 12-24 14:00
24. Dezember 14:00           | 12-24 14:00
am 24. Dezember um 14 Uhr    | 12-24 14:00
december 24th 14:00          | 12-24 14:00
24th of december             | 12-24 10:00
24 december 2026 14:00       | 12-24 14:00
3 jan                        | 01-03 10:00
9.10.                        | 10-09 10:00
thu 3 december 14:00         | 12-03 14:00
do 3-12 14u                  | 12-03 14:00
Do. 3.12. 14 Uhr             | 12-03 14:00
fri 27th 10am                | 27 10:00
vr 27e 10u                   | 27 10:00
Fr 27. 10 Uhr                | 27 10:00
on the 3rd at 10             | 12-03 10:00
am 3. um 10                  | 12-03 10:00
de 24e 14u                   | 12-24 14:00
fri 3 december 14:00         |
fri 26th                     |
31st 14:00                   | 12-31 14:00
32nd 14:00                   |
9.10 14:00                   | 10-09 14:00
am 9.10                      | 10-09 10:00
24.12                        | 12-24 10:00
2026-12-24                   | 12-24 10:00
2026-12-24 14:00             | 12-24 14:00
2026-12-24T14:00             | 12-24 14:00
2026-12-24 9:15              | 12-24 09:15
2026-12-24T14:00:00Z         | 12-24 15:00
20261224T140000+0300         | 12-24 12:00
# The hour that summer time skips.
28-03-2027 02:30             | 03-28 03:30
31-02 10:00                  |
24-12-2025 14:00             |
24-12-2028                   |
29-02-2027                   |
2026-12-24T14:00+99:00       |
2026-12-24T14:00+24:00       |
2027                         |
0612345678                   |
`) {
		text, want := test[0], test[1]
		got, err := ParseTimeAhead(text, now, zone)
		read := strings.TrimPrefix(got.In(zone).Format("01-02 15:04"), "11-")
		_, isAsked := errors.AsType[*AmbiguousTime](err)
		if (err != nil) != (want == "") || isAsked || err == nil && read != want {
			t.Errorf("%q: got %s, %v, want %q", text, read, err, want)
		}
	}
	for _, test := range rowsOf(`
9.10             | time 26 Nov 09:10, date 9 Oct 10:00
2.12             | time 26 Nov 02:12, time 26 Nov 14:12, date 2 Dec 10:00
1 uur            | 26 Nov 01:00, 26 Nov 13:00, 25 Nov 16:30
1                | 26 Nov 01:00, 26 Nov 13:00
4 Uhr            | 25 Nov 16:00, 26 Nov 04:00
2:00             | 26 Nov 02:00, 26 Nov 14:00
18h              | 25 Nov 18:00, 26 Nov 09:30
half 3           | 26 Nov 02:30, 26 Nov 14:30, 26 Nov 03:30, 26 Nov 15:30
kwart voor 8     | 25 Nov 19:45, 26 Nov 07:45
viertel nach drei | 26 Nov 15:15, 26 Nov 03:15
half past 7      | 25 Nov 19:30, 26 Nov 07:30
half 7           | 25 Nov 18:30, 26 Nov 06:30, 25 Nov 19:30, 26 Nov 07:30
um halb neun     | 25 Nov 20:30, 26 Nov 08:30
half 11          | 26 Nov 10:30, 26 Nov 11:30
halb 3           | 26 Nov 02:30, 26 Nov 14:30
morgen half 3    | 26 Nov 14:30, 26 Nov 02:30, 26 Nov 15:30, 26 Nov 03:30
wed 18:00        | 25 Nov 18:00, 2 Dec 18:00
next friday      | 27 Nov 10:00, 4 Dec 10:00
nächsten Freitag | 27 Nov 10:00, 4 Dec 10:00
next week        | 30 Nov 10:00, 2 Dec 10:00
volgende week    | 30 Nov 10:00, 2 Dec 10:00
nächste Woche    | 30 Nov 10:00, 2 Dec 10:00
9/10             | 9 Oct 10:00, 10 Sep 10:00
9-10             | time 26 Nov 09:00, date 9 Oct 10:00
6-7              | time 25 Nov 18:00, time 26 Nov 06:00, date 6 Jul 10:00
morgen 6-7       | time 26 Nov 18:00, time 26 Nov 06:00
tussen 6 en 7    | 25 Nov 18:00, 26 Nov 06:00
ab 6             | 25 Nov 18:00, 26 Nov 06:00
5 voor half 8    | 25 Nov 19:25, 26 Nov 07:25
fünf nach halb 8 | 25 Nov 19:35, 26 Nov 07:35
`) {
		text, want := test[0], test[1]
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
	want := `"9.10" can be read as Thu 26 Nov 2026 09:10 (a time) or Sat 9 Oct 2027 10:00 (a date): write which one is meant`
	if err.Error() != want {
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
	word := rapid.SampledFrom([]string{
		"tomorrow", "fri", "18:00", "2", "h", "in", "24-12", "evening", "9", "am", "mär", "at",
		"2027", "t", ".", "9.10", "half", "next", "week", "uur", "/",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, w := range rapid.SliceOfN(word, 0, 4).Draw(t, "words") {
			text += w + rapid.SampledFrom([]string{" ", ""}).Draw(t, "blank")
		}
		at, err := ParseTimeAhead(text, now, zone)
		all := []TimeReading{{At: at}}
		if ambiguous, is := errors.AsType[*AmbiguousTime](err); is {
			all = ambiguous.Readings
			if len(all) < 2 {
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
	for _, seed := range []string{
		"now", "today", "yesterday", "7d", "90m", "2026-11-20", "2026-11-20T09:15:00+02:00",
		"9999999999999w", "-1h",
	} {
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

// An amount is read by the habit of its country, refused, or shown with both meanings.
func TestParseTypedAmount(t *testing.T) {
	t.Parallel()
	// The text, and its reading if the decimal sign is unknown, a comma, or a point. Empty if it is refused, ? if the
	// reader asks.
	for _, test := range rowsOf(`
12.50     | 12.50      | 12.50      | 12.50
12,5      | 12.50      | 12.50      | 12.50
20        | 20.00      | 20.00      | 20.00
 007      | 7.00       | 7.00       | 7.00
€ 30      | 30.00      | 30.00      | 30.00
€30,-     | 30.00      | 30.00      | 30.00
30,-      | 30.00      | 30.00      | 30.00
30,--     | 30.00      | 30.00      | 30.00
30 EUR    | 30.00      | 30.00      | 30.00
1.250     | ?          | 1250.00    | 1.25
1,250     | ?          | 1.25       | 1250.00
1.000     | ?          | 1000.00    | 1.00
€ 2.500   | ?          | 2500.00    | 2.50
1.250,00  | 1250.00    | 1250.00    |
1,250.00  | 1250.00    |            | 1250.00
1.250.000 | 1250000.00 | 1250000.00 | 1250000.00
1 250     | 1250.00    | 1250.00    | 1250.00
1 250,50  | 1250.50    | 1250.50    |
0.125     | 0.125      |            | 0.125
1250.000  | 1250.00    |            | 1250.00
0,50      | 0.50       | 0.50       | 0.50
-5        | -5.00      | -5.00      | -5.00
2e2       |            |            |
1e3       |            |            |
1.2.3     |            |            |
1,2,3     |            |            |
much      |            |            |
          |            |            |
€         |            |            |
12.       |            |            |
.5        |            |            |
1.25,000  |            |            |
0x10      |            |            |
`) {
		text := test[0]
		for sign, want := range map[byte]string{0: test[1], ',': test[2], '.': test[3]} {
			amount, err := ParseTypedAmount(text, sign)
			got := amount.Fixed()
			if _, asked := errors.AsType[*AmbiguousAmount](err); asked {
				got = "?"
			} else if err != nil {
				got = ""
			}
			if got != want {
				t.Errorf("%q, %q: got %q, %v, want %q", text, sign, got, err, want)
			}
		}
	}
	if amount, err := ParseTypedAmount(" 007 ", 0); err != nil || amount.Fixed() != "7.00" {
		t.Errorf("got %s, %v, want no meaning in blanks", amount.Fixed(), err)
	}
	_, err := ParseTypedAmount("1.250", 0)
	if want := `"1.250" can be read as 1250.00 or 1.25: write which one is meant`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// wantedTime reads a time of a table: now, an age as now-7h, or a local or zoned time.
func wantedTime(t *testing.T, text string, now time.Time) time.Time {
	t.Helper()
	if age, isAge := strings.CutPrefix(text, "now"); isAge {
		length, err := time.ParseDuration(cmp.Or(age, "0s"))
		if err != nil {
			t.Fatal(err)
		}
		return now.Add(length)
	}
	layout := "2006-01-02T15:04:05"
	if strings.HasSuffix(text, "Z") {
		layout = time.RFC3339
	}
	at, err := time.ParseInLocation(layout, text, time.Local)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// rowsOf returns the rows of a table, and the cells of each. Lines that begin with # are comments.
func rowsOf(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
		}
		rows = append(rows, cells)
	}
	return rows
}

// A period that is typed in an hour that comes twice has all of it: it begins with the first, and ends with the second.
func TestTypedHoursThatComeTwice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ zone, text, first, second string }{
		{"Europe/Amsterdam", "2026-10-25 02:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"Europe/London", "2026-10-25T01:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"},
		{"Europe/Amsterdam", "2026-10-25T01:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T01:30:00Z"},
		{"Europe/Amsterdam", "2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00Z", "2026-10-25T00:30:00Z"},
		{"Europe/Amsterdam", "2026-10-25 03:00", "2026-10-25T02:00:00Z", "2026-10-25T02:00:00Z"},
		{"Europe/Amsterdam", "2026-10-25 01:59", "2026-10-24T23:59:00Z", "2026-10-24T23:59:00Z"},
		{"Europe/Amsterdam", "10h", "2026-10-25T01:30:00Z", "2026-10-25T01:30:00Z"},
		{"UTC", "2026-10-25 02:30", "2026-10-25T02:30:00Z", "2026-10-25T02:30:00Z"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 10, 25, 11, 30, 0, 0, time.UTC).In(zone)
		first, err := ParseTypedTime(test.text, now)
		second, failed := ParseTypedUntil(test.text, now)
		got := []string{first.UTC().Format(time.RFC3339), second.UTC().Format(time.RFC3339)}
		if err != nil || failed != nil || got[0] != test.first || got[1] != test.second {
			t.Errorf("%s %s: got %v, %v, %v, want %s and %s",
				test.zone, test.text, got, err, failed, test.first, test.second)
		}
	}
}
