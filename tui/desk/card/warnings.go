package card

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/say"
)

// Spec gap: C5, for the maximum of attempts, which the profile has and the interface does not.

// lowQuality is the share of a quality result below which the agent is warned, in
// percent.
const lowQuality = 60

// ReasonOptedOut is the reason not to phone a person at all.
const ReasonOptedOut = "opted out of phone calls"

// Elsewhere is what the Desk knows of other calls to the donor and to the donor's numbers.
type Elsewhere struct {
	Called   string // That the donor was called lately on another call. Empty if not.
	OfPerson int    // Other open calls of the person.
	OfNumber int    // Open calls of other persons with one of the numbers.
}

// Warnings returns what an agent should know before dialling.
func (k Card) Warnings(elsewhere Elsewhere) []string {
	call := k.Call
	var found []string
	add := func(text string) {
		if text != "" {
			found = append(found, text)
		}
	}
	add(k.LeaseText())
	add(k.Remains)
	if call.Status != apitype.CallRequested {
		add(k.Say("this call is %s", k.Say(string(call.Status))))
	}
	add(k.ForbidsText())
	p := call.Person.Pointer()
	if p != nil {
		add(k.hoursWarning())
	}
	lately := len(found)
	add(AttemptsReason(k.Texts, k.Now(), call.AttemptsCount, LastAttempt(*call), k.MaxAttempts))
	add(elsewhere.Called)
	if len(found) == lately {
		add(k.numberWarning())
	}
	if n := elsewhere.OfPerson; n > 0 {
		add(k.Count(n, "other open call for this person", "other open calls for this person"))
	}
	if n := elsewhere.OfNumber; n > 0 {
		one, many := "open call of another donor with the same number", "open calls of another donor with the same "+
			"number"
		add(k.Count(n, one, many))
	}
	if pledge := call.PledgeCase.Pointer(); pledge != nil && call.Type != apitype.CallWinback {
		if pledge.Status == apitype.PledgeCancelled || pledge.Status == apitype.PledgeDropped {
			add(k.Say("the pledge is %s", k.Say(PledgeStatus(pledge.Status))))
		}
	}
	if p == nil {
		return append(found, k.Say("the person is not shown to this account"))
	}
	add(k.languageWarning(apitype.TextOf(p.Language)))
	return append(found, k.qualityWarnings(p.QualityResult.Pointer())...)
}

// hoursWarning warns that the donor should not be called at this hour. A callback still comes at its time.
func (k Card) hoursWarning() string {
	why := k.Place.Against(k.Call, k.Now(), k.Texts)
	isCallback := k.Lease != nil && k.Lease.DueAt != nil
	if why == "" || !isCallback {
		return why
	}
	return k.Say("a callback outside calling hours") + ": " + why
}

// numberWarning warns that a number of the donor was called lately, on a call of another person.
func (k Card) numberWarning() string {
	if k.Lease == nil || k.Lease.NumberContactedAt == nil {
		return ""
	}
	ago := k.Now().Sub(k.Lease.NumberContactedAt.Time)
	if ago >= AttemptPause {
		return ""
	}
	return k.Say("this number was called %s ago on another call, less than 4 hours", k.Say(DurationText(ago)))
}

// languageWarning warns that a person speaks none of the agent's languages.
func (k Card) languageWarning(language string) string {
	language = strings.ToLower(language)
	if language == "" || len(k.Languages) == 0 || slices.Contains(k.Languages, language) {
		return ""
	}
	var yours []string
	for _, own := range k.Languages {
		yours = append(yours, k.Say(render.Language(own)))
	}
	return k.Say("speaks %s; you: %s", k.Say(render.Language(language)), strings.Join(yours, ", "))
}

// qualityWarnings returns one line for all low ratings, and the explanation of each failed gate. A gate's identifier
// means nothing to people.
func (k Card) qualityWarnings(q *apitype.QualityResult) []string {
	if q == nil {
		return nil
	}
	var found []string
	if q.Percentage.Float64() < lowQuality {
		found = append(found, k.Say("low data quality: %s %%", k.Locale.Decimal(q.Percentage.String())))
	}
	for _, gate := range q.GateResults {
		if IsLow(gate) && gate.Explanation != "" {
			found = append(found, gate.Explanation)
		}
	}
	return found
}

// IsLow reports whether the agent is warned of a gate.
func IsLow(gate apitype.GateResult) bool { return gate.Percentage.Float64() < lowQuality }

// HolderText returns the other user with a lease of the donor on the Desk, and since when, or an empty text.
func (k Card) HolderText() string {
	if k.Holder == nil {
		return ""
	}
	return k.Say(
		"%s has this donor on the screen since %s",
		k.HolderName(k.Holder),
		k.Holder.TakenAt.In(k.Now().Location()).Format("15:04"),
	)
}

// HolderName returns the name of the user that holds a donor.
func (k Card) HolderName(h *apitype.LeaseHolder) string {
	return cmp.Or(apitype.TextOf(h.Name), k.AgentName(h.UserUUID), k.Say("another agent"))
}

// ForbidsText returns why the donor on the Desk may not be called at all, or an empty text.
func (k Card) ForbidsText() string {
	optIn := cmp.Or(k.Latest, k.Call).Person.Value().OptInPhone
	if k.IsErased {
		return k.Say("the donor's data was erased")
	}
	if optIn != nil && !*optIn {
		return k.Say(ReasonOptedOut)
	}
	if k.IsBlocked {
		return k.Say("a number of this donor is blocked: its holder objected to calls")
	}
	return ""
}

// LeaseText returns why the donor on the Desk is not reserved for this agent alone: another holder, or the end of the
// lease. Otherwise it is empty. The lease of an erased donor ends with the data, and no other user may call either.
func (k Card) LeaseText() string {
	if text := k.HolderText(); text != "" || !k.IsFreed || k.IsErased {
		return text
	}
	if k.Call.Status != apitype.CallRequested { // There is nothing left to call for.
		return ""
	}
	return k.Say("this donor is no longer reserved for you: another agent may call, too")
}

// AttemptPause is the rest of a donor after an attempt.
const AttemptPause = 4 * time.Hour

// AttemptsReason returns why the attempts so far are a reason not to call now, or an empty text.
func AttemptsReason(t say.Texts, now time.Time, attempts int, last time.Time, maxAttempts int) string {
	ago := now.Sub(last)
	if maxAttempts > 0 && attempts >= maxAttempts {
		return t.Say("%s, the maximum is %d", t.Count(attempts, "attempt", "attempts"), maxAttempts)
	}
	if !last.IsZero() && ago < AttemptPause {
		return t.Say("an attempt %s ago, less than 4 hours", t.Say(DurationText(ago)))
	}
	return ""
}

// DurationText returns a time span in words.
func DurationText(d time.Duration) string {
	if d < time.Minute {
		return "less than a minute"
	}
	if d < time.Hour {
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// LastAttempt returns when a person was last called, zero when never or not known.
func LastAttempt(call apitype.Call) time.Time {
	var last time.Time
	for _, a := range call.Attempts.Value() {
		if a.AttemptAt.After(last) {
			last = a.AttemptAt.Time
		}
	}
	return last
}
