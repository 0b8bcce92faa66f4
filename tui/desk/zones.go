package desk

import (
	"time"

	"fundesk/apiclient/hours"
)

// DonorZone returns the time zone of the country of the donor on the Desk, or ours if it is unknown.
func (k *Card) DonorZone() *time.Location {
	if zone, known := hours.Zone(k.donorCountry(k.day.Call)); known {
		return zone
	}
	return k.Now().Location()
}

// BothTimes returns a time in the donor's zone, and in ours if that differs.
func (k *Card) BothTimes(at time.Time) string {
	there, here := at.In(k.DonorZone()), at.In(k.Now().Location())
	layout := "Mon 2 Jan 15:04"
	if there.Year() != k.Now().In(there.Location()).Year() {
		layout = "Mon 2 Jan 2006 15:04"
	}
	text, ours := k.Date(there.Format(layout)), here.Format("15:04")
	switch {
	case there.Format(layout) == here.Format(layout):
		return text
	case there.Day() != here.Day():
		ours = k.Date(here.Format(layout))
	}
	return k.Say("%s there (%s here)", text, ours)
}
