package desk

import (
	"cmp"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Spec gap: C5, for the maximum of attempts, which the profile has and the interface does not.

// lowQuality is the share of a quality result below which the agent is warned, in
// percent.
const lowQuality = 60

// reasonOptedOut is the reason not to phone a person at all.
const reasonOptedOut = "opted out of phone calls"

// against returns why a call is not offered in this session, or an empty text. Reasons by attempts change with the
// time: see Day.Offers.
func (d *Day) against(call apitype.Call) string {
	if p := call.Person.Pointer(); p != nil && p.OptInPhone != nil && !*p.OptInPhone {
		return reasonOptedOut
	}
	if call.Status != apitype.CallRequested {
		return d.Say("is %s", d.Say(string(call.Status)))
	}
	return ""
}

// Warnings returns what an agent should know before dialling.
func (k *Card) Warnings(call apitype.Call) []string {
	var found []string
	add := func(text string) {
		if text != "" {
			found = append(found, text)
		}
	}
	if k.day.IsOn(call.UUID) {
		add(k.LeaseText())
		add(k.day.undone.remains(k.base))
	}
	if call.Status != apitype.CallRequested {
		add(k.Say("this call is %s", k.Say(string(call.Status))))
	}
	p := call.Person.Pointer()
	switch {
	case k.day.IsOn(call.UUID):
		add(k.ForbidsText())
	case p != nil && p.OptInPhone != nil && !*p.OptInPhone:
		add(k.Say(reasonOptedOut))
	}
	if p != nil {
		add(k.hoursWarning(&call))
	}
	lately := len(found)
	add(k.attemptsReason(call.AttemptsCount, lastAttempt(call), k.maxAttempts(&call)))
	add(k.day.queue.reachedReason(call.UUID, call.PersonUUID))
	if l := k.day.leases.leaseOf(
		call.UUID,
	); len(found) == lately && l != nil && l.NumberContactedAt != nil &&
		k.Now().Sub(l.NumberContactedAt.Time) < attemptPause {
		add(
			k.Say(
				"this number was called %s ago on another call, less than 4 hours",
				k.Say(durationText(k.Now().Sub(l.NumberContactedAt.Time))),
			),
		)
	}
	ofPerson, ofNumber := k.otherOpenCalls(call)
	if ofPerson > 0 {
		add(k.Count(ofPerson, "other open call for this person", "other open calls for this person"))
	}
	if ofNumber > 0 {
		add(
			k.Count(
				ofNumber,
				"open call of another donor with the same number",
				"open calls of another donor with the same number",
			),
		)
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

// hoursWarning warns that the donor of a call should not be called at this hour. A callback still comes at its time.
func (k *Card) hoursWarning(call *apitype.Call) string {
	why := k.againstHours(call, k.Now())
	l := k.day.leases.leaseOf(call.UUID)
	isCallback := l != nil && l.DueAt != nil
	if why == "" || !isCallback {
		return why
	}
	return k.Say("a callback outside calling hours") + ": " + why
}

// otherOpenCalls counts the known requested calls of the same person and of the same number, in the queue and of the
// pledge.
func (k *Card) otherOpenCalls(call apitype.Call) (ofPerson, ofNumber int) {
	ofPerson, ofNumber = k.day.queue.others(call)
	if pledge := call.PledgeCase.Pointer(); pledge != nil {
		for _, other := range pledge.Calls.Value() {
			if other.Status == apitype.CallRequested && other.UUID != call.UUID && k.day.queue.index(other.UUID) < 0 {
				ofPerson++
			}
		}
	}
	return ofPerson, ofNumber
}

// languageWarning warns that a person speaks none of the agent's languages.
func (k *Card) languageWarning(language string) string {
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

// localeLanguages returns the languages of the environment, by LANGUAGE or the locale. A locale such as C has none.
func localeLanguages(getenv func(string) string) []string {
	for _, name := range []string{"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"} {
		var found []string
		for tag := range strings.SplitSeq(getenv(name), ":") {
			if len(tag) == 2 || (len(tag) > 2 && strings.ContainsAny(tag[2:3], "_-.@")) {
				if code := strings.ToLower(tag[:2]); !slices.Contains(found, code) {
					found = append(found, code)
				}
			}
		}
		if getenv(name) != "" {
			return found
		}
	}
	return nil
}

// qualityWarnings returns one line for all low ratings, and the explanation of each failed gate. A gate's identifier
// means nothing to people.
func (k *Card) qualityWarnings(q *apitype.QualityResult) []string {
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
func (k *Card) HolderText() string {
	if k.day.holder == nil {
		return ""
	}
	return k.Say(
		"%s has this donor on the screen since %s",
		k.holderName(k.day.holder),
		k.day.holder.TakenAt.In(k.Now().Location()).Format("15:04"),
	)
}

// holderName returns the name of the user who holds a donor.
func (k *Card) holderName(h *apitype.LeaseHolder) string {
	return cmp.Or(apitype.TextOf(h.Name), k.AgentName(h.UserUUID), k.Say("another agent"))
}

// onHolder notes which other user holds the person on the desk, as the service lists the leases.
func (k *Card) onHolder(all []apitype.Lease, agent apitype.UUID) {
	k.day.holder = nil
	for _, l := range all {
		if l.UserUUID != agent {
			k.day.holder = &apitype.LeaseHolder{
				UserUUID:  l.UserUUID,
				Name:      l.Name,
				TakenAt:   l.TakenAt,
				ExpiresAt: l.ExpiresAt,
			}
		}
	}
}

// ForbidsText returns why the donor on the Desk may not be called at all, or an empty text.
func (k *Card) ForbidsText() string {
	optIn := cmp.Or(k.day.latest, k.day.Call).Person.Value().OptInPhone
	switch {
	case k.day.isErased:
		return k.Say("the donor's data was erased")
	case optIn != nil && !*optIn:
		return k.Say(reasonOptedOut)
	case k.day.isBlocked:
		return k.Say("a number of this donor is blocked: its holder objected to calls")
	default:
		return ""
	}
}

// LeaseText returns why the donor on the Desk is not reserved for this agent alone: another holder, or the end of the
// lease. Otherwise it is empty. The lease of an erased donor ends with the data, and no other user may call either.
func (k *Card) LeaseText() string {
	if text := k.HolderText(); text != "" || !k.day.isFreed || k.day.isErased {
		return text
	}
	return k.Say("this donor is no longer reserved for you: another agent may call, too")
}
