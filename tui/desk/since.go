package desk

import (
	"time"

	"fundesk/apiclient/apitype"
)

// Joined returns since when a donor gives a pledge: "since" and the day on which the donor joined or, for a pledge
// that begins later, "from" and its first day.
func (k *Card) Joined(p apitype.Pledge) (word string, day time.Time) {
	now := k.Now()
	starts := dateOf(p.StartsAt, now.Location())
	if starts.After(now) {
		return "from", starts
	}
	return "since", p.CreatedAt.In(now.Location())
}

// dateOf returns the day of a time in a record: midnight UTC is that day in each zone.
func dateOf(t apitype.Time, zone *time.Location) time.Time {
	at := t.UTC()
	if !at.Equal(at.Truncate(24 * time.Hour)) {
		return at.In(zone)
	}
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}
