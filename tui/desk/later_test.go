package desk

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseLater(t *testing.T) {
	t.Parallel()
	zone, _ := Zone("NL")
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, zone) // A Wednesday.
	tests := []struct{ text, want string }{
		{"in 2 hours", "2026-11-25 17:30"},
		{"in 2 uur", "2026-11-25 17:30"},
		{"2h", "2026-11-25 17:30"},
		{"18 uur", "2026-11-25 18:00"},
		{"90m", "2026-11-25 17:00"},
		{"in 45 min", "2026-11-25 16:15"},
		{"3 days", "2026-11-28 15:30"},
		{"1.5 hours", "2026-11-25 17:00"},
		{"18:00", "2026-11-25 18:00"},
		{"18.00", "2026-11-25 18:00"},
		{"9:15", "2026-11-26 09:15"},
		{"6pm", "2026-11-25 18:00"},
		{"6 pm", "2026-11-25 18:00"},
		{"12 am", "2026-11-26 00:00"},
		{"today 17:00", "2026-11-25 17:00"},
		{"this evening", "2026-11-25 19:00"},
		{"vanavond", "2026-11-25 19:00"},
		{"heute Abend 20:15", "2026-11-25 20:15"},
		{"tomorrow 18:00", "2026-11-26 18:00"},
		{"Tomorrow at 6pm", "2026-11-26 18:00"},
		{"morgen um 18 Uhr", "2026-11-26 18:00"},
		{"morgen 9 uur", "2026-11-26 09:00"},
		{"tomorrow evening", "2026-11-26 19:00"},
		{"tomorrow", "2026-11-26 10:00"},
		{"fri 10:30", "2026-11-27 10:30"},
		{"10:30 friday", "2026-11-27 10:30"},
		{"vrijdag om 10:30", "2026-11-27 10:30"},
		{"Mittwoch", "2026-12-02 10:00"},
		{"24-12 14:00", "2026-12-24 14:00"},
		{"24.12. 14:00", "2026-12-24 14:00"},
		{"24/12/2026 14:00", "2026-12-24 14:00"},
		{"24-12-26 14:00", "2026-12-24 14:00"},
		{"24 december 14:00", "2026-12-24 14:00"},
		{"24. Dezember 14:00", "2026-12-24 14:00"},
		{"2026-12-24 14:00", "2026-12-24 14:00"},
		{"2026-12-24T14:00", "2026-12-24 14:00"},
		{"2026-12-24T14:00:00Z", "2026-12-24 15:00"},
		{"3 jan", "2027-01-03 10:00"},
		{"28-03-2027 02:30", "2027-03-28 03:30"}, // The hour that summer time skips.
		{"05:00", "2026-11-26 05:00"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			got, err := ParseLater(test.text, now, zone)
			if err != nil || got.In(zone).Format("2006-01-02 15:04") != test.want {
				t.Errorf("got %v %v, want %s", got.In(zone), err, test.want)
			}
		})
	}
	for _, text := range []string{
		"", "soon", "25:00", "18:60", "31-02 10:00", "tomorrow friday", "18:00 19:00", "13pm", "today 9:00", "24-12-2025 14:00",
		"2 years", "in", "500 days", "24-12-2028", "1:2:3", "18:0", "99999999999 days",
	} {
		if got, err := ParseLater(text, now, zone); err == nil {
			t.Errorf("%q: got %v, want an error", text, got.In(zone))
		}
	}
}

// Whatever is typed, what is taken for a time is ahead and within 400 days.
// Every word for a time has its length, in three languages.
func TestUnitsOfTime(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"1m0s": "m min minute minutes minuten", "1h0m0s": "h hr hour hours uur stunde stunden",
		"24h0m0s": "d day days dag dagen tag tage tagen", "168h0m0s": "w week weeks weken woche wochen",
	}
	n := 0
	for length, words := range want {
		for word := range strings.FieldsSeq(words) {
			if n++; units[word].String() != length {
				t.Errorf("%s: got %s, want %s", word, units[word], length)
			}
		}
	}
	if n != len(units) {
		t.Errorf("got %d words, want %d", len(units), n)
	}
}

func TestParseLaterIsAhead(t *testing.T) {
	t.Parallel()
	zone, _ := Zone("DE")
	now := time.Date(2026, 3, 28, 23, 30, 0, 0, zone)
	word := rapid.SampledFrom([]string{"tomorrow", "fri", "18:00", "2", "h", "in", "24-12", "evening", "9", "am", "mär", "at", "2027", "t", "."})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, w := range rapid.SliceOfN(word, 0, 4).Draw(t, "words") {
			text += w + rapid.SampledFrom([]string{" ", ""}).Draw(t, "blank")
		}
		if at, err := ParseLater(text, now, zone); err == nil && (!at.After(now) || at.Sub(now) > 9600*time.Hour) {
			t.Errorf("%q: got %v", text, at)
		}
	})
}
