package render

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
)

// A record is read field by field: times with their distance, what a person writes as it is
// written there, and what a pledge repeats of its call once.
func TestFields(t *testing.T) {
	t.Parallel()
	const record = `{"":1,"at":{"requestedAt":"2026-09-21T09:00:00Z","createdAt":"2026-09-21T09:00:01Z","startsAt":"2027-01-19T09:00:00Z","endsAt":"2027-01-18T09:00:00Z","heldAt":"then","collectionDate":"2026-11-20T09:00:00Z"},` +
		`"person":{"phoneNumber":"+31201234567","dateOfBirth":"soon","calls":1},"pledgeCase":{"status":"lead","person":1,"calls":[2],"transactions":[3],"donationAmount":1234.5,"amounts":[10]},` +
		`"amount":7,"other":true,"none":null,"many":[[1,"x"],{}],"status":"\u0007","text":"a\nb"}`
	o := Options{Format: Table, Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	const plain = `                           1
at.requestedAt             2026-09-21 09:00:00 UTC (60d ago)
at.createdAt               2026-09-21 09:00:01 UTC (59d ago)
at.startsAt                2027-01-19 09:00:00 UTC (in 60d)
at.endsAt                  2027-01-18 09:00:00 UTC (in 59d)
at.heldAt                  then
at.collectionDate          2026-11-20 09:00:00 UTC (now)
person.phoneNumber         +31201234567
person.dateOfBirth         soon
person.calls               1
pledgeCase.status          lead
pledgeCase.donationAmount  1234.5
pledgeCase.amounts.1       10
amount                     7
other                      true
many.1.1                   1
many.1.2                   x
status                     ␇
text                       a
                           b
`
	local := strings.NewReplacer("1234.5", "1.234,50", "    7\n", "    7,00\n", "+31201234567", "020 1234567", "2026-09-21 09:00", "21-09-2026 10:00", "2027-01-19 09:00", "19-01-2027 10:00",
		"2027-01-18 09:00", "18-01-2027 10:00", "2026-11-20 09:00", "20-11-2026 10:00", " UTC ", " CET ").Replace(plain)
	there := o
	there.Locale, there.Location = LocaleFrom(env("LANG=nl_NL")), time.FixedZone("CET", 3600)
	for want, o := range map[string]Options{plain: o, local: there} {
		var out bytes.Buffer
		if err := Record[any](&out, nil, o, []byte(record), nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	var out bytes.Buffer
	if err := Record[any](&out, nil, o, []byte(`{"":1}`), nil); err != nil || out.String() != "  1\n" {
		t.Errorf("a field without a name: got %q, %v", out.String(), err)
	}
}

// What is counted without the library has as many cells as it says, and is cut as it does.
func TestWidthAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	if runewidth.EastAsianWidth {
		t.Skip("the locale has letters of two cells")
	}
	var simple strings.Builder
	for r := rune(0x80); r < 0x3000; r++ {
		if !isSimple(r) {
			continue
		}
		simple.WriteRune(r)
		for _, text := range []string{string(r), "a" + string(r), string(r) + "b…", string(r) + "\u0301", "e" + string(r) + "漢"} {
			if got, want := Width(text), runewidth.StringWidth(text); got != want {
				t.Errorf("%q: got %d cells, want %d", text, got, want)
			}
		}
	}
	for _, text := range []string{"", "a", "Anneke", "Zoë Ångström", "漢字かな", "e\u0301e\u0301", "a\u200db", simple.String()} {
		for width := 1; width < 12; width++ {
			if got, want := Cut(text, width), runewidth.Truncate(text, width, "…"); got != want {
				t.Errorf("%q to %d cells: got %q, want %q", text, width, got, want)
			}
		}
	}
}
