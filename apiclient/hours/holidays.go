package hours

import (
	"strings"
	"sync"
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/aa"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/nl"
)

// builtInHolidays returns the public holidays of each country that has hours of its own. TestPublicHolidays holds
// them against the official lists.
var builtInHolidays = sync.OnceValue(func() map[string][]*cal.Holiday {
	fixed := func(month time.Month, day int) *cal.Holiday {
		return &cal.Holiday{Month: month, Day: day, Func: cal.CalcDayOfMonth}
	}
	return map[string][]*cal.Holiday{
		"AT": at.Holidays,
		"BE": be.Holidays,
		"DE": de.Holidays,
		"FR": fr.Holidays,
		"GB": gb.Holidays,
		// The library has no Luxembourg, and leaves out the two Sundays that the Dutch list has.
		"LU": {
			aa.NewYear, aa.EasterMonday, aa.WorkersDay, fixed(time.May, 9), aa.AscensionDay, aa.PentecostMonday,
			fixed(time.June, 23), aa.AssumptionOfMary, aa.AllSaintsDay, aa.ChristmasDay, aa.ChristmasDay2,
		},
		"NL": append([]*cal.Holiday{aa.Easter, aa.Pentecost}, nl.Holidays...),
	}
})

// hasHolidays reports whether the public holidays of a country are built in.
func hasHolidays(country string) bool { return len(builtInHolidays()[country]) > 0 }

// monthDay is a day of a year.
type monthDay struct {
	year  int
	month time.Month
	day   int
}

func dayOf(t time.Time) monthDay {
	year, month, day := t.Date()
	return monthDay{year, month, day}
}

// countryYear names the holidays of one year.
type countryYear struct {
	country string
	year    int
}

// calculated keeps holidays, which do not change, once they were calculated.
var calculated sync.Map // Of countryYear to map[monthDay]bool.

// holidaysIn returns the built-in holidays of a country in a year.
func holidaysIn(country string, year int) map[monthDay]bool {
	key := countryYear{country, year}
	if days, isKnown := calculated.Load(key); isKnown {
		return days.(map[monthDay]bool)
	}
	days := map[monthDay]bool{}
	for _, holiday := range builtInHolidays()[country] {
		for _, of := range []int{year, year + 1} { // The holiday of a New Year may be observed in the year before.
			actual, observed := holiday.Calc(of)
			days[dayOf(actual)] = true
			days[dayOf(observed)] = true
		}
	}
	calculated.Store(key, days)
	return days
}

// holidays are the changes that an organization made to the public holidays.
type holidays struct {
	without map[string]bool // Countries whose built-in holidays do not count.
	added   map[string]map[monthDay]bool
}

// newHolidays reads lines such as "-NL" and "NL:2026-05-05".
func newHolidays(lines []string) holidays {
	h := holidays{map[string]bool{}, map[string]map[monthDay]bool{}}
	for _, line := range lines {
		if country, isWithout := strings.CutPrefix(line, "-"); isWithout {
			h.without[country] = true
			continue
		}
		country, text, _ := strings.Cut(line, ":")
		day, err := time.Parse(time.DateOnly, text)
		if err != nil { // Checked when it was set.
			continue
		}
		if h.added[country] == nil {
			h.added[country] = map[monthDay]bool{}
		}
		h.added[country][dayOf(day)] = true
	}
	return h
}

// has reports whether a local day is a holiday of a country.
func (h holidays) has(country string, local time.Time) bool {
	day := dayOf(local)
	if h.added[country][day] {
		return true
	}
	return !h.without[country] && holidaysIn(country, day.year)[day]
}
