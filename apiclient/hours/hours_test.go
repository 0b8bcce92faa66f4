package hours

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// officialHolidays are the public holidays by country and year, as month and day: nationwide ones in Germany, and those
// of England and Wales with their substitute days in the United Kingdom.
// They agree with the npm package date-holidays 3.37.0 except for the Dutch Good Friday and 5 May, which it lists as
// school holidays. Both are kept as days without calls.
var officialHolidays = map[string]map[int]string{
	"NL": {
		2026: "0101 0403 0405 0406 0427 0505 0514 0524 0525 1225 1226",
		2027: "0101 0326 0328 0329 0427 0505 0506 0516 0517 1225 1226",
		2028: "0101 0414 0416 0417 0427 0505 0525 0604 0605 1225 1226",
	},
	"BE": {
		2026: "0101 0406 0501 0514 0525 0721 0815 1101 1111 1225",
		2027: "0101 0329 0501 0506 0517 0721 0815 1101 1111 1225",
		2028: "0101 0417 0501 0525 0605 0721 0815 1101 1111 1225",
	},
	"DE": {
		2026: "0101 0403 0406 0501 0514 0525 1003 1225 1226",
		2027: "0101 0326 0329 0501 0506 0517 1003 1225 1226",
		2028: "0101 0414 0417 0501 0525 0605 1003 1225 1226",
	},
	"AT": {
		2026: "0101 0106 0406 0501 0514 0525 0604 0815 1026 1101 1208 1225 1226",
		2027: "0101 0106 0329 0501 0506 0517 0527 0815 1026 1101 1208 1225 1226",
		2028: "0101 0106 0417 0501 0525 0605 0615 0815 1026 1101 1208 1225 1226",
	},
	"FR": {
		2026: "0101 0406 0501 0508 0514 0525 0714 0815 1101 1111 1225",
		2027: "0101 0329 0501 0506 0508 0517 0714 0815 1101 1111 1225",
		2028: "0101 0417 0501 0508 0525 0605 0714 0815 1101 1111 1225",
	},
	"LU": {
		2026: "0101 0406 0501 0509 0514 0525 0623 0815 1101 1225 1226",
		2027: "0101 0329 0501 0506 0509 0517 0623 0815 1101 1225 1226",
		2028: "0101 0417 0501 0509 0525 0605 0623 0815 1101 1225 1226",
	},
	"GB": {
		2026: "0101 0403 0406 0504 0525 0831 1225 1226 1228",
		2027: "0101 0326 0329 0503 0531 0830 1225 1226 1227 1228",
		2028: "0101 0103 0414 0417 0501 0529 0828 1225 1226",
	},
}

// Promise S85: public holidays match the official lists.
func TestPublicHolidays(t *testing.T) {
	t.Parallel()
	for country, years := range officialHolidays {
		for year, want := range years {
			var got []string
			for day := time.Date(year, 1, 1, 12, 0, 0, 0, time.UTC); day.Year() == year; day = day.AddDate(0, 0, 1) {
				if newHolidays(nil).has(country, day) {
					got = append(got, day.Format("0102"))
				}
			}
			if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
				t.Errorf("%s %d: %s", country, year, diff)
			}
		}
	}
}

// inNL reads a time in Amsterdam.
func inNL(t *testing.T, text string) time.Time {
	t.Helper()
	zone, _ := Zone("NL")
	read, err := time.ParseInLocation("2006-01-02 15:04:05", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestHours(t *testing.T) {
	t.Parallel()
	dutch := apitype.OrganizationSettings{Country: "NL"}
	changed := apitype.OrganizationSettings{
		Country: "NL",
		CallingHours: map[string]apitype.HoursOfDays{
			"NL": {Weekday: "00:00-24:00", Saturday: "-"},
			"ES": {Weekday: "12:00-13:00"},
		},
		Holidays: []string{"-NL", "NL:2026-05-05", "BE:2026-12-01"},
	}
	spanish := apitype.OrganizationSettings{Country: "ES", Holidays: []string{"ES:2026-12-08"}}
	tests := []struct {
		name     string
		settings apitype.OrganizationSettings
		country  string // Of the donor.
		at       string
		isOpen   bool
		opens    string
	}{
		{"a weekday begins at nine", dutch, "NL", "2026-11-27 08:59:59", false, "2026-11-27 09:00:00"},
		{"and is open from then on", dutch, "NL", "2026-11-27 09:00:00", true, "2026-11-27 09:00:00"},
		{"until nine", dutch, "NL", "2026-11-27 20:59:59", true, "2026-11-27 20:59:59"},
		{"then Saturday is next", dutch, "NL", "2026-11-27 21:00:00", false, "2026-11-28 10:00:00"},
		{"Saturday ends at four, Sunday has none", dutch, "NL", "2026-11-28 16:00:00", false, "2026-11-30 09:00:00"},
		{"Christmas lasts until Monday", dutch, "NL", "2026-12-25 11:00:00", false, "2026-12-28 09:00:00"},
		{"London is an hour behind", dutch, "GB", "2026-11-27 09:30:00", false, "2026-11-27 10:00:00"},
		{"a bank holiday is British alone", dutch, "GB", "2026-08-31 12:00:00", false, "2026-09-01 10:00:00"},
		{"and no Dutch one", dutch, "NL", "2026-08-31 12:00:00", true, "2026-08-31 12:00:00"},
		{
			name:     "a country without hours has the organization's",
			settings: dutch,
			country:  "PT",
			at:       "2026-11-27 09:30:00",
			opens:    "2026-11-27 10:00:00",
		},
		{"and its holidays", dutch, "PT", "2026-04-27 12:00:00", false, "2026-04-28 10:00:00"},
		{"in the zone of its capital", dutch, "US", "2026-11-27 14:59:00", false, "2026-11-27 15:00:00"},
		{
			name:     "a country that is not known is the organization's",
			settings: dutch,
			at:       "2026-11-27 08:59:59",
			opens:    "2026-11-27 09:00:00",
		},
		{"hours that were changed", changed, "NL", "2026-11-27 23:59:59", true, "2026-11-27 23:59:59"},
		{
			name:     "a day that was closed; Sunday stays as built in",
			settings: changed,
			country:  "NL",
			at:       "2026-11-28 00:00:00",
			opens:    "2026-11-30 00:00:00",
		},
		{"holidays that were taken away", changed, "NL", "2026-12-25 11:00:00", true, "2026-12-25 11:00:00"},
		{"and a day that was added", changed, "NL", "2026-05-05 11:00:00", false, "2026-05-06 00:00:00"},
		{"a day that was added elsewhere", changed, "BE", "2026-12-01 11:00:00", false, "2026-12-02 09:00:00"},
		{"a country with hours of its own", changed, "ES", "2026-11-27 13:00:00", false, "2026-11-28 10:00:00"},
		{
			name:     "an organization whose country has no built-in hours",
			settings: spanish,
			country:  "ES",
			at:       "2026-12-07 21:00:00",
			opens:    "2026-12-09 09:00:00",
		},
		{
			name:     "whose donors in the Netherlands have those of theirs",
			settings: spanish,
			country:  "NL",
			at:       "2026-12-08 12:00:00",
			isOpen:   true,
			opens:    "2026-12-08 12:00:00",
		},
	}
	for _, test := range tests {
		plan, now := NewPlan(test.settings), inNL(t, test.at)
		if got := plan.IsOpen(test.country, now); got != test.isOpen {
			t.Errorf("%s: got open %t, want %t", test.name, got, test.isOpen)
		}
		opens, ok := plan.Opens(test.country, now)
		if want := inNL(t, test.opens); !ok || !opens.Equal(want) {
			t.Errorf("%s: got %v %t, want %v", test.name, opens, ok, want)
		}
	}
	if NewPlan(apitype.OrganizationSettings{}) != nil {
		t.Error("an organization without a country has hours")
	}
	never := NewPlan(apitype.OrganizationSettings{
		Country:      "NL",
		CallingHours: map[string]apitype.HoursOfDays{"NL": {Weekday: "-", Saturday: "-"}},
	})
	if opens, ok := never.Opens("NL", inNL(t, "2026-11-27 09:00:00")); ok {
		t.Errorf("got %v for a country that is never called", opens)
	}
}

// An opening is the first minute of calling hours, also where clocks are moved.
func TestOpeningsOverTheYear(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	spans := []string{"", "02:00-04:00", "02:30-02:45", "00:00-24:00", "23:00-24:00", "00:00-03:00", "-"}
	countries := []string{"NL", "GB", "DE", "US", "LB", "AU", ""} // LB moves its clocks at midnight.
	for range 300 {
		set := apitype.HoursOfDays{
			Weekday:  spans[random.IntN(len(spans)-1)],
			Saturday: spans[random.IntN(len(spans))],
			Sunday:   spans[random.IntN(len(spans))],
		}
		country := countries[random.IntN(len(countries))]
		plan := NewPlan(apitype.OrganizationSettings{
			Country:      "NL",
			CallingHours: map[string]apitype.HoursOfDays{"NL": set, "US": set, "LB": set},
		})
		changes := []time.Time{
			inNL(t, "2026-03-28 22:00:00"),
			inNL(t, "2026-10-24 22:00:00"),
			inNL(t, "2026-03-07 12:00:00"),
			inNL(t, "2026-10-31 12:00:00"),
		}
		now := changes[random.IntN(len(changes))].Add(time.Duration(random.IntN(36*60)) * time.Minute)
		opens, ok := plan.Opens(country, now)
		if !ok {
			t.Fatalf("%+v in %q from %v: never", set, country, now)
		}
		for minute := now; minute.Before(opens); minute = minute.Add(time.Minute) {
			if plan.IsOpen(country, minute) {
				t.Fatalf("%+v in %q from %v: got %v, but it is open at %v", set, country, now, opens, minute)
			}
		}
		if !plan.IsOpen(country, opens) {
			t.Fatalf("%+v in %q from %v: got %v, when it is not open", set, country, now, opens)
		}
	}
}

func TestCountryOf(t *testing.T) {
	t.Parallel()
	tests := []struct{ address, mobile, home, want string }{
		{"be", "+31612345678", "", "BE"},
		{"", "+31612345678", "+3225551234", "NL"},
		{"", "", "+3225551234", "BE"},
		{"", "+352621123456", "", "LU"},
		{"", "+12125550100", "", "US"},
		{"", "+14165550100", "", "CA"},
		{"", "+77011234567", "", "KZ"},
		{"", "+74951234567", "", "RU"},
		{"", "+59991234567", "", "CW"},
		{"", "+88312345678", "", ""}, // Of no country.
		{"", "", "", ""},
	}
	for _, test := range tests {
		var p apitype.Person
		if test.address != "" {
			p.Address = apitype.Embed(apitype.Address{Country: test.address})
		}
		if test.mobile != "" {
			p.MobilePhoneNumber = &test.mobile
		}
		if test.home != "" {
			p.PhoneNumber = &test.home
		}
		if got := CountryOf(p); got != test.want {
			t.Errorf("%+v: got %q", test, got)
		}
	}
}

// Each country has a zone that the time zone database has, and each prefix a country.
func TestTables(t *testing.T) {
	t.Parallel()
	if len(zones()) < 240 {
		t.Errorf("got %d countries, want those of the world", len(zones()))
	}
	for country := range zones() {
		if _, ok := Zone(country); !ok || len(country) != 2 {
			t.Errorf("%s: no zone", country)
		}
	}
	for prefix, country := range prefixes() {
		if _, ok := Zone(country); !ok || strings.Trim(prefix, "0123456789") != "" || len(prefix) > maxPrefix {
			t.Errorf("%s of %s: no prefix of a country", prefix, country)
		}
	}
	if prefixes()["31"] != "NL" {
		t.Error("the prefix 31 is not Dutch")
	}
}
