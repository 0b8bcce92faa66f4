// Package entry has what the agent enters for one call: the result, the rating, notes, ticks and corrections of the
// record. It knows the call, and neither the service nor the screen.
package entry

import (
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/say"
)

// Entered has the agent's entries for a call, which a draft stores.
type Entered struct{ outbox.Draft }

// Form changes the entries for one call. It is made anew for each use, so that it never knows an old call.
type Form struct {
	say.Texts
	*Entered
	Now    func() time.Time
	Call   *apitype.Call // Nil without a call on the Desk. Then there is nothing to enter.
	Latest *apitype.Call // The newest reading of the call. Nil if Call is that.
	// Choices returns the results of the call. They keep their places while the call is on the Desk.
	Choices func() []apitype.ResultChoice
	// Effect returns the effect of a result that the service stores when the call is completed.
	Effect func(apitype.ResultChoice) apitype.ResultEffect
	// RefusedOps are the kinds of corrections that the service has forbidden this account.
	RefusedOps map[string]bool
	// Save is called after each change.
	Save func()
}

// SetNotes sets the notes, which are on disk soon.
func (e Form) SetNotes(notes string) {
	e.Notes = notes
	e.Save()
}

// SetResult sets the result code. A code that ends calls, or all contact, also corrects the opt-ins that the service
// does not change with the result. Another code undoes that.
func (e Form) SetResult(code string) {
	e.ResultCode, e.Proposed = code, false
	for _, key := range e.ByResult {
		e.leave(key)
	}
	e.ByResult = nil
	ends := e.endsOptIns(e.Result(code))
	for _, f := range e.Fixes() {
		_, isCorrected := e.Corrections[f.Key]
		if slices.Contains(ends, f.Key) && !isCorrected && f.Was != "no" {
			e.correct(f.Key, "no", f.Was)
			e.ByResult = append(e.ByResult, f.Key)
		}
	}
	e.Save()
}

// endsOptIns returns the details that a result sets to no, without those that the service sets itself.
func (e Form) endsOptIns(row apitype.ResultChoice) []string {
	if e.Effect(row) != "" || e.Call.Person.Pointer() == nil {
		return nil
	}
	if row.Has(apitype.EffectOptOut) {
		return OptInKeys[:1]
	}
	if row.Has(apitype.EffectNoContact) {
		return OptInKeys
	}
	return nil
}

// Results returns the results of the call on the Desk. Their digits stay the same while the call is on the Desk.
func (e Form) Results() []apitype.ResultChoice {
	if e.Call == nil {
		return nil
	}
	return e.Choices()
}

// Result returns the settings of a result of the call on the Desk.
func (e Form) Result(code string) apitype.ResultChoice {
	for _, row := range e.Results() {
		if row.Code == code {
			return row
		}
	}
	return apitype.ResultChoice{Code: code}
}

// ResultWords returns the chosen result in words, or an empty text.
func (e Form) ResultWords() string {
	if e.Call == nil || e.ResultCode == "" {
		return ""
	}
	return e.Say(ResultWords(e.Result(e.ResultCode)))
}

// WhyNotComplete returns why the call cannot be completed now, or an empty text.
func (e Form) WhyNotComplete() string {
	row := e.Result(e.ResultCode)
	half, _ := e.HalfAddress()
	if e.Ended() != "" {
		return e.Ended()
	}
	if e.ResultCode == "" {
		return e.Say("choose the result first")
	}
	if row.AsksNotes && strings.TrimSpace(e.Notes) == "" {
		return e.Say("write notes first: %s asks for them", e.Say(ResultWords(row)))
	}
	return half
}

// SetRating sets the rating. Nil removes it.
func (e Form) SetRating(rating *int) {
	e.Rating = rating
	e.Save()
}

// CheckCode returns the problem with a result code, or an empty text.
func CheckCode(code string) string {
	request := apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{ResultCode: &code}}
	if problems := request.Validate(); len(problems) > 0 {
		return problems[0].Message
	}
	return ""
}

// Ended returns how the call on the Desk has ended, or an empty text if it is open.
func (e Form) Ended() string {
	call := e.Call
	return say.When(
		call.Status != apitype.CallRequested && call.ExternalMetadata.Pointer() == nil,
		e.Say("the call is %s already", e.Say(string(call.Status))),
	)
}

// Tick marks a fact as checked, or takes that back. Nothing asks for ticks.
func (e Form) Tick(id string) {
	if slices.Contains(e.Checked, id) {
		e.Checked = slices.DeleteFunc(slices.Clone(e.Checked), func(other string) bool { return other == id })
	} else {
		e.Checked = append(slices.Clone(e.Checked), id)
		e.CheckedAt = joinTimes(e.CheckedAt, map[string]time.Time{id: e.Now()})
	}
	e.Save()
}

// ResultWords returns a result in words.
func ResultWords(r apitype.ResultChoice) string {
	text := r.Label
	if text == "" {
		text = render.Words(r.Code)
	}
	if r.Has(apitype.EffectOptOut) {
		text += " (opt-out)"
	}
	return text
}
