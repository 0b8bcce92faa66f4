package desk

import (
	_ "embed" // The time zones.
	"strings"
	"sync"
	"time"
)

// Zone returns the time zone of a country, by its two letters; of one with several zones that
// of its largest city. ok is false for a country that is not known.
func Zone(country string) (zone *time.Location, ok bool) {
	name := zones()[strings.ToUpper(country)]
	if name == "" {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

var zones = sync.OnceValue(func() map[string]string {
	words := strings.Fields(zoneTable)
	table := make(map[string]string, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		table[words[i]] = words[i+1]
	}
	return table
})

// zoneTable has a country and its zone on each line, after the zone.tab of the time zone database.
//
//go:embed zones.txt
var zoneTable string

// DonorZone returns the time zone of the country of the donor on the desk, ours where that is not
// known.
func (k *Card) DonorZone() *time.Location {
	if zone, known := Zone(k.day.Call.Person.Value().Address.Value().Country); known {
		return zone
	}
	return k.Now().Location()
}

// BothTimes returns a time as it is for the donor, and for us where that differs.
func (k *Card) BothTimes(at time.Time) string {
	there, here := at.In(k.DonorZone()), at.In(k.Now().Location())
	layout := "Mon 2 Jan 15:04"
	if there.Year() != k.Now().In(there.Location()).Year() {
		layout = "Mon 2 Jan 2006 15:04"
	}
	text, ours := SayDate(k.Say, there.Format(layout)), here.Format("15:04")
	switch {
	case there.Format(layout) == here.Format(layout):
		return text
	case there.Day() != here.Day():
		ours = SayDate(k.Say, here.Format(layout))
	}
	return k.Say("%s there (%s here)", text, ours)
}
