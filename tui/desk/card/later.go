package card

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
)

// LaterOffer is a time at which a call may be due again.
type LaterOffer struct {
	Label string
	At    time.Time
}

// LaterOffers returns the times that an empty line offers, in the donor's time.
func (k Card) LaterOffers() []LaterOffer {
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

// isWorkingDay reports whether a time is on a weekday that is not a known public holiday of the donor on the Desk.
func (k Card) isWorkingDay(at time.Time) bool {
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		return false
	}
	plan := hours.NewPlan(k.Floor)
	return plan == nil || !plan.DayOf(hours.CountryOf(k.Call.Person.Value()), at).IsHoliday
}

// ReadLater reads when and why the call on the desk is due again, as it is typed, in the donor's time.
func (k Card) ReadLater(text string) (apitype.Callback, error) {
	within := func(at time.Time) bool { return k.Place.Against(k.Call, at, k.Texts) == "" }
	place := apitype.CallbackPlace{Now: k.Now(), Zone: k.DonorZone(), Within: within}
	return apitype.ParseCallback(text, place)
}

// LaterEcho returns how a callback was read, in the donor's time and in ours, with its user and its reason.
func (k Card) LaterEcho(c apitype.Callback, forMe bool) string {
	echo := k.BothTimes(c.At)
	if c.IsMoved {
		echo += " (" + k.Say("the clocks go forward") + ")"
	}
	echo += ", " + k.WhoseCallback(forMe)
	if c.Reason != "" {
		echo += " · " + c.Reason
	}
	return echo
}

// WhoseCallback returns the user of a callback.
func (k Card) WhoseCallback(forMe bool) string {
	if forMe {
		return k.Say("for you")
	}
	return k.Say("for any agent")
}

// WrongReason returns why a reason cannot be kept, or an empty text.
func (k Card) WrongReason(reason string) string {
	if reason == "" {
		return ""
	}
	if !k.KeepsReasons {
		return "this service keeps no reason: type the time alone, and the rest into the notes"
	}
	if utf8.RuneCountInString(reason) > apitype.MaxDeferralReason {
		return "the reason has more than 200 characters: shorten it"
	}
	return ""
}

// At returns a callback without a reason.
func At(at time.Time) apitype.Callback {
	return apitype.Callback{TimeReading: apitype.TimeReading{At: at}}
}

// OutsideHours returns why no call should be made at a time, or an empty text.
func (k Card) OutsideHours(at time.Time) string {
	why := k.Place.Against(k.Call, at, k.Texts)
	if _, hours, found := strings.Cut(why, ": "); found {
		return k.Say("%s is outside calling hours: %s", k.BothTimes(at), hours)
	}
	return ""
}

// ReadingKeys returns the key of each meaning of a typed time: t for the time, d for the date, and
// otherwise its number.
func ReadingKeys(readings []apitype.Callback) []string {
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

// ReadingText returns a meaning of a typed callback as a person reads it.
func (k Card) ReadingText(c apitype.Callback) string {
	text := k.BothTimes(c.At)
	if c.As != "" {
		text = k.Say("the "+c.As) + ", " + text
	}
	if c.Reason != "" {
		text += " · " + c.Reason
	}
	return text
}
