package desk

import (
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
)

// LaterOffer is a time at which a call may be due again.
type LaterOffer struct {
	Label string
	At    time.Time
}

// LaterOffers returns the times that are offered where none is typed, in the donor's time.
func (k *Card) LaterOffers() []LaterOffer {
	now := k.Now().In(k.DonorZone()).Truncate(time.Minute)
	year, month, day := now.Date()
	working := time.Date(year, month, day+1, 10, 0, 0, 0, now.Location())
	const mostHolidays = 30
	for range mostHolidays {
		if k.isWorkingDay(working) {
			break
		}
		working = working.AddDate(0, 0, 1)
	}
	return []LaterOffer{
		{k.Say("in 2 hours"), now.Add(2 * time.Hour)},
		{k.Say("tomorrow at this time"), now.AddDate(0, 0, 1)},
		{k.Say("next working day at 10"), working},
	}
}

// isWorkingDay reports whether a time is on a weekday that is no known public holiday of the donor on the Desk.
func (k *Card) isWorkingDay(at time.Time) bool {
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		return false
	}
	plan := hours.NewPlan(k.floor.of(k.day.Call))
	return plan == nil || !plan.DayOf(hours.CountryOf(k.day.Call.Person.Value()), at).IsHoliday
}

// ReadLater reads when the call on the desk is due again, as it is typed, in the donor's time.
func (k *Card) ReadLater(text string) (time.Time, error) {
	return apitype.ParseTimeAhead(text, k.Now(), k.DonorZone())
}

// LaterEcho returns how a time was read, in the donor's time and in ours, and the user of the callback.
func (k *Card) LaterEcho(at time.Time, forMe bool) string {
	who := k.Say("for anybody")
	if forMe {
		who = k.Say("for you")
	}
	return k.BothTimes(at) + ", " + who
}

// OutsideHours returns why no call should be made at a time, or an empty text.
func (k *Card) OutsideHours(at time.Time) string {
	why := k.againstHours(k.day.Call, at)
	if _, hours, found := strings.Cut(why, ": "); found {
		return k.Say("%s is outside calling hours: %s", k.BothTimes(at), hours)
	}
	return ""
}

// ReadingKeys returns the key of each meaning of a typed time: t for the time, d for the date, and
// otherwise its number.
func ReadingKeys(readings []apitype.TimeReading) []string {
	keys, times := make([]string, len(readings)), 0
	for _, r := range readings {
		if r.As == "time" {
			times++
		}
	}
	for i, r := range readings {
		switch {
		case r.As == "date":
			keys[i] = "d"
		case r.As == "time" && times == 1:
			keys[i] = "t"
		default:
			keys[i] = strconv.Itoa(i + 1)
		}
	}
	return keys
}

// ReadingText returns a meaning of a typed time as a person reads it.
func (k *Card) ReadingText(r apitype.TimeReading) string {
	if r.As != "" {
		return k.Say("the "+r.As) + ", " + k.BothTimes(r.At)
	}
	return k.BothTimes(r.At)
}
