package hours

import (
	_ "embed" // The time zones.
	"strings"
	"sync"
	"time"
)

// Zone returns the time zone of a country, by its two letters. A country with several zones has that of its capital. ok
// is false for an unknown country.
func Zone(country string) (zone *time.Location, ok bool) {
	name := zones()[strings.ToUpper(country)]
	if name == "" {
		return nil, false
	}
	if loaded, isKnown := locations.Load(name); isKnown {
		return loaded.(*time.Location), true
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	locations.Store(name, zone)
	return zone, true
}

// locations keeps zones that were loaded, by name.
var locations sync.Map

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
