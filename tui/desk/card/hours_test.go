package card_test

import (
	"testing"
	"time"

	"fundesk/tui/desk/card"
	"fundesk/tui/desk/say"
)

func TestCallingHours(t *testing.T) {
	t.Parallel()
	own := card.CallingHours{"DE": {Weekday: "10:00-20:00", Sunday: "-"}}
	sundays := card.CallingHours{"DE": {Sunday: "10:00-18:00"}, "NL": {Sunday: "10:00-18:00"}}
	tests := []struct {
		name    string
		hours   card.CallingHours
		now     string
		country string
		want    string
	}{
		{"a weekday in winter", nil, "2026-11-23T08:00:00Z", "NL", ""},
		{
			name:    "a minute too soon",
			now:     "2026-11-23T07:59:00Z",
			country: "NL",
			want:    "it is 08:59 on Monday in NL: calls are made from 09:00 to 21:00",
		},
		{"the last minute", nil, "2026-11-23T19:59:59Z", "NL", ""},
		{
			name:    "nine in the evening",
			now:     "2026-11-23T20:00:00Z",
			country: "NL",
			want:    "it is 21:00 on Monday in NL: calls are made from 09:00 to 21:00",
		},
		{"summer", nil, "2026-07-06T07:00:00Z", "nl", ""},
		{
			name:    "summer, a minute too soon",
			now:     "2026-07-06T06:59:00Z",
			country: "nl",
			want:    "it is 08:59 on Monday in NL: calls are made from 09:00 to 21:00",
		},
		{
			name:    "Saturday morning",
			now:     "2026-11-21T08:30:00Z",
			country: "DE",
			want:    "it is 09:30 on Saturday in DE: calls are made from 10:00 to 16:00",
		},
		{"Saturday noon", nil, "2026-11-21T11:00:00Z", "DE", ""},
		{
			name:    "Saturday at four",
			now:     "2026-11-21T15:00:00Z",
			country: "DE",
			want:    "it is 16:00 on Saturday in DE: calls are made from 10:00 to 16:00",
		},
		{"Sunday", nil, "2026-11-22T11:00:00Z", "DE", "it is 12:00 on Sunday in DE: no calls on that day"},
		{
			name:    "another zone, another day",
			now:     "2026-11-22T23:30:00Z",
			country: "JP",
			want:    "it is 08:30 on Monday in JP: calls are made from 09:00 to 21:00",
		},
		{
			name:    "the Sunday that loses an hour, in Berlin",
			hours:   sundays,
			now:     "2026-03-29T07:59:00Z",
			country: "DE",
			want:    "it is 09:59 on Sunday in DE: calls are made from 10:00 to 18:00",
		},
		{"an hour later", sundays, "2026-03-29T08:00:00Z", "DE", ""},
		{
			name:    "the Sunday that has it twice, in Amsterdam",
			hours:   sundays,
			now:     "2026-10-25T08:59:00Z",
			country: "NL",
			want:    "it is 09:59 on Sunday in NL: calls are made from 10:00 to 18:00",
		},
		{"an hour later, in winter", sundays, "2026-10-25T09:00:00Z", "NL", ""},
		{
			name:    "an hour of one's own",
			hours:   own,
			now:     "2026-11-23T08:30:00Z",
			country: "DE",
			want:    "it is 09:30 on Monday in DE: calls are made from 10:00 to 20:00",
		},
		{"a day without calls", own, "2026-11-22T12:00:00Z", "DE", "it is 13:00 on Sunday in DE: no calls on that day"},
		{"an unknown country", nil, "2026-11-23T03:00:00Z", "XX", ""},
		{"no country", nil, "2026-11-23T03:00:00Z", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339, test.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := test.hours.Against(now, test.country, say.Texts{}.Say); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A donor is left alone for 4 hours after an attempt.
func TestADonorRests(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 17, 15, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		4*time.Hour - time.Second: "an attempt 3 h 59 min ago, less than 4 hours",
		4 * time.Hour:             "",
	} {
		if got := card.AttemptsReason(say.Texts{}, now, 1, now.Add(-ago), 0); got != want {
			t.Errorf("%v after an attempt: got %q, want %q", ago, got, want)
		}
	}
}
