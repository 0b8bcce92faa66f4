package disposition

import (
	"strconv"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
)

// Complete ends the call with its result. The corrections come before the result, which is held back if one of them is
// refused.
func Complete(c Call) Disposition {
	result := &apitype.CallResultRequest{CompletedAt: c.Author.Time(), ResultCode: new(c.ResultCode)}
	if strings.TrimSpace(c.Notes) != "" {
		result.Notes = new(c.Notes)
	}
	what := c.Form.ResultWords()
	if c.Rating != nil {
		result.DonorRetentionRating = new(apitype.NumberFromInt(*c.Rating))
		what += ", " + strconv.Itoa(*c.Rating)
	}
	request := apitype.CompleteCallRequest{UserUUID: c.Agent, Result: result}
	if problems := request.Validate(); len(problems) > 0 {
		return Disposition{Invalid: problems}
	}
	change, err := apiclient.CompleteCallChange(c.Call.UUID, request)
	made := Disposition{
		Before: corrections(c),
		Change: changes.Change{
			Change: change,
			Label:  c.label(c.Form.ResultWords()),
			Says:   strings.Join(c.CorrectionWords(), ", "),
			Effect: c.Effect(c.Result(c.ResultCode)),
			Err:    err,
		},
		After:    checks(c),
		What:     what,
		TextGoes: true,
	}
	if len(made.Before)+len(made.After) > 0 {
		made.group()
	}
	return made
}

// corrections returns the updates of the record, in the order in which they are sent.
func corrections(c Call) []changes.Change {
	label := c.label(c.Say("correct"))
	updates, err := c.Updates()
	if err != nil {
		return []changes.Change{{Label: label, Err: err}}
	}
	var fixes []changes.Change
	for _, update := range updates {
		fixes = append(fixes, changes.Change{Change: update, Label: label})
	}
	return fixes
}

// checks returns the change that saves what was ticked, if there is anything to save.
func checks(c Call) []changes.Change {
	if !c.KeepsChecks || len(c.Checked) == 0 {
		return nil
	}
	ticked := apitype.CallChecks{UserUUID: c.Agent}
	for _, tick := range c.Checked[:min(len(c.Checked), apitype.MaxChecks)] {
		at, isKnown := c.CheckedAt[tick]
		if !isKnown { // Of an earlier version.
			at = c.Now()
		}
		ticked.Items = append(ticked.Items, apitype.Check{Name: card.CheckOf(tick), At: apitype.NewTime(at)})
	}
	change, err := apiclient.PutChecksChange(c.Call.UUID, ticked)
	label := c.label(c.Say("what was checked"))
	return []changes.Change{{
		Change:  change,
		Label:   label,
		Err:     err,
		IsExtra: true,
	}}
}
