package tui

import (
	"fmt"

	"fundesk/apiclient/apitype"
)

// Spec gap: C5, for the maximum of attempts: the profile says it, the interface does not.

// lowQuality is the share of a quality result below which the agent is warned, in
// percent.
const lowQuality = 60

// against says why a call is not offered in this session, "" when it may be. What the
// attempts say changes with the time: see queue.offers.
func (d *desk) against(call apitype.Call) string {
	if p := call.Person.Pointer(); p != nil && p.OptInPhone != nil && !*p.OptInPhone {
		return "no phone calls wanted (opted out)"
	}
	if call.Status != apitype.CallRequested {
		return "is " + string(call.Status)
	}
	return ""
}

// warnings are what an agent should know before dialling.
func (d *desk) warnings(call apitype.Call) []string {
	var found []string
	if call.Status != apitype.CallRequested {
		found = append(found, "this call is "+string(call.Status))
	}
	p := call.Person.Pointer()
	if p != nil && p.OptInPhone != nil && !*p.OptInPhone {
		found = append(found, "opted out of phone calls")
	}
	if reason := attemptsReason(d.Now(), call.AttemptsCount, lastAttempt(call), d.MaxAttempts); reason != "" {
		found = append(found, reason)
	}
	if n := d.otherOpenCalls(call); n > 0 {
		found = append(found, plural(n, "other open call", "other open calls")+" for this person")
	}
	if pledge := call.PledgeCase.Pointer(); pledge != nil && call.Type != apitype.CallWinback {
		if pledge.Status == apitype.PledgeCancelled || pledge.Status == apitype.PledgeDropped {
			found = append(found, "the pledge is "+string(pledge.Status))
		}
	}
	if p == nil {
		return append(found, "the person is not shown to this account")
	}
	return append(found, qualityWarnings(p.QualityResult.Pointer())...)
}

// otherOpenCalls counts the requested calls of the same person, as far as they are
// known: those of the queue and those of the pledge.
func (d *desk) otherOpenCalls(call apitype.Call) int {
	n := d.queue.others(call.PersonUUID, call.UUID)
	if pledge := call.PledgeCase.Pointer(); pledge != nil {
		for _, other := range pledge.Calls.Value() {
			if other.Status == apitype.CallRequested && other.UUID != call.UUID && d.queue.index(other.UUID) < 0 {
				n++
			}
		}
	}
	return n
}

func qualityWarnings(q *apitype.QualityResult) []string {
	if q == nil {
		return nil
	}
	var found []string
	if q.Percentage.Float64() < lowQuality {
		found = append(found, fmt.Sprintf("low data quality: %s %%", q.Percentage))
	}
	for _, gate := range q.GateResults {
		if gate.Percentage.Float64() < lowQuality && gate.Explanation != "" {
			found = append(found, clean(gate.Identifier+": "+gate.Explanation))
		}
	}
	return found
}
