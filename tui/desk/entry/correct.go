package entry

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/say"
)

// Fixes returns the details of the call on the Desk. Each has the same place and key for every call, even if it cannot
// be corrected.
func (e Form) Fixes() []Fix {
	all, noPledge := Recorded(*e.Call), e.whyNoPledgeFix()
	for i, f := range all {
		refused := say.When(e.RefusedOps[f.operation()], e.Say("you may not correct it"))
		all[i].Is, all[i].Why = f.Was, cmp.Or(say.When(f.ofPledge, noPledge), refused)
		if is, corrected := e.Corrections[f.Key]; corrected && (!f.ofPledge || noPledge == "") {
			all[i].Is = is
		}
	}
	return all
}

// whyNoPledgeFix returns why the pledge cannot be corrected. Spec gap: G5.
func (e Form) whyNoPledgeFix() string {
	pledge := e.Call.PledgeCase.Pointer()
	if pledge == nil && e.Call.RelatedCaseUUID != nil {
		return e.Say("the pledge is not shown to this account")
	}
	if pledge == nil {
		return e.Say("no pledge on this call")
	}
	if pledge.ExternalSource.Pointer() != nil {
		return e.Say("pledge of an external source: its owner changes it")
	}
	return ""
}

// Corrected returns the details that were corrected.
func (e Form) Corrected() []Fix {
	if e.Call == nil || len(e.Corrections) == 0 {
		return nil
	}
	return slices.DeleteFunc(e.Fixes(), func(f Fix) bool { return !f.IsChanged() })
}

// Correct sets another value of a detail, which ends its unfinished line. An empty value clears the detail. It returns
// the problem with the value, and then changes nothing.
func (e Form) Correct(f Fix, is string) string {
	wrong := e.enter(f, is)
	if wrong == "" {
		e.KeepLine(f.Key, "")
	}
	return wrong
}

func (e Form) enter(f Fix, is string) string {
	if f.Why != "" {
		return e.Say("cannot be corrected: %s", f.Why)
	}
	if whole, isWhole := e.wholeAddress(f, is); isWhole {
		return e.move(whole)
	}
	is, wrong := e.checkFix(f, is)
	if wrong != "" {
		return wrong
	}
	if f.Key == StreetKey {
		isSplit, wrong := e.correctStreet(is)
		if isSplit {
			return wrong
		}
	}
	e.correct(f.Key, is, f.Was)
	e.byHand(f.Key)
	e.propose()
	e.Save()
	return ""
}

// Uncorrect takes the correction of a detail back.
func (e Form) Uncorrect(f Fix) {
	e.leave(f.Key)
	e.byHand(f.Key)
	e.propose()
	e.Save()
	e.KeepLine(f.Key, "")
}

// WrongFix returns the problem with a value during typing, or an empty text.
func (e Form) WrongFix(f Fix, typed string) string {
	if e.Doubt(f, typed) != nil {
		return ""
	}
	_, wrong := e.checkFix(f, typed)
	return wrong
}

// checkFix returns a typed value in its form on the wire, or its problem together with all other corrections.
func (e Form) checkFix(f Fix, typed string) (is, wrong string) {
	if _, isWhole := e.wholeAddress(f, typed); isWhole {
		return typed, ""
	}
	if wrong := e.wrongStreet(f, typed); wrong != "" {
		return "", wrong
	}
	if wrong := e.wrongPart(f, strings.TrimSpace(typed)); wrong != "" {
		return "", wrong
	}
	is, wrong = e.readFix(f, strings.TrimSpace(typed))
	if wrong != "" {
		return "", wrong
	}
	before := *e.Entered
	defer func() { *e.Entered = before }()
	e.correct(f.Key, is, f.Was)
	if _, _, problems := e.corrections(); len(problems) > 0 {
		return "", e.Say(problems[0].Message)
	}
	return is, ""
}

// HalfAddress returns the missing part of a corrected address, and its first detail. The service accepts a complete
// address or none.
func (e Form) HalfAddress() (string, Fix) {
	if len(e.Corrections) == 0 {
		return "", Fix{}
	}
	var missing []string
	isCorrected := false
	var first Fix
	for _, f := range e.Fixes() {
		if !strings.HasPrefix(f.Key, "address/") {
			continue
		}
		isCorrected = isCorrected || f.IsChanged()
		if f.Is != "" || f.Key == "address/houseNumberExtension" {
			continue
		}
		missing = append(missing, e.Say(f.Label))
		if len(missing) == 1 {
			first = f
		}
	}
	if !isCorrected || len(missing) == 0 {
		return "", Fix{}
	}
	return e.Say("the address needs its %s, too", strings.Join(missing, ", ")), first
}

// CorrectionWords returns what the donor's record will have after the corrections. A moved address is one of them.
func (e Form) CorrectionWords() []string {
	isMoved := e.hasNewStreet()
	var says []string
	for _, f := range e.Corrected() {
		isPart := isMoved && strings.HasPrefix(f.Key, "address/")
		if isPart && f.Key == StreetKey {
			says = append(
				says,
				e.Say("address")+" "+render.Clean(render.AddressLine(e.CorrectedPerson().Address.Pointer())),
			)
		} else if !isPart {
			says = append(says, e.says(f, f.Text(e.Texts, f.Is)))
		}
	}
	return says
}

// says returns the value that the donor's record will have after a correction.
func (e Form) says(f Fix, value string) string {
	if f.Key == OptOutKey && f.Is == "no" {
		return e.Say("may not be phoned any more")
	}
	if f.Key == OptOutKey {
		return e.Say("may be phoned")
	}
	if f.IsYesNo() && f.Is == "no" {
		return e.Say("%s not wanted any more", e.Say(strings.TrimSuffix(f.Label, " wanted")))
	}
	if f.IsYesNo() {
		return e.Say(f.Label)
	}
	if f.Is == "" {
		return e.Say("no %s", e.Say(f.Label))
	}
	return e.Say(f.Label) + " " + value
}

// RefusedCorrections returns the corrections that the account may not make, as an earlier refusal has shown. Another
// one would delay a result that is sent with them.
func (e Form) RefusedCorrections() []Fix {
	return slices.DeleteFunc(e.Corrected(), func(f Fix) bool { return !e.RefusedOps[f.operation()] })
}

// LeaveRefused takes the corrections back that the account may not make.
func (e Form) LeaveRefused() {
	for _, f := range e.RefusedCorrections() {
		e.leave(f.Key)
	}
}

// DeniesCorrections reports whether the result contradicts the corrections, although there is a result for
// corrections.
func (e Form) DeniesCorrections() bool {
	row := e.Result(e.ResultCode)
	isKnown := slices.ContainsFunc(
		e.Results(),
		func(row apitype.ResultChoice) bool { return row.Has(apitype.EffectCorrected) },
	)
	others := slices.DeleteFunc(e.Corrected(), func(f Fix) bool { return f.Key == OptOutKey })
	return len(others) > 0 && row.Effect == nil && isKnown
}

// CorrectedPerson returns the person of the call with the corrections.
func (e Form) CorrectedPerson() *apitype.Person {
	p := e.Call.Person.Pointer()
	fixes := slices.DeleteFunc(e.Corrected(), func(f Fix) bool { return f.ofPledge })
	if len(fixes) == 0 {
		return p
	}
	var record map[string]any
	text, _ := json.Marshal(p) // It was read from JSON.
	_ = json.Unmarshal(text, &record)
	for _, f := range fixes {
		setPath(record, strings.Split(f.shown, "."), f.sent())
	}
	var corrected apitype.Person // Another call: the record is beside it.
	text, _ = json.Marshal(record)
	_ = json.Unmarshal(text, &corrected) // What was corrected was checked.
	return &corrected
}

// correct records a new value of a detail and its old one. The old value undoes a correction. A draft that is being
// saved keeps the earlier corrections.
func (f *Entered) correct(key, is, recorded string) {
	if is == recorded {
		f.leave(key)
		return
	}
	f.Corrections = with(f.Corrections, key, is)
	f.Recorded = with(f.Recorded, key, recorded)
}

// leave takes a correction back.
func (f *Entered) leave(key string) {
	f.Corrections, f.Recorded = maps.Clone(f.Corrections), maps.Clone(f.Recorded)
	delete(f.Corrections, key)
	delete(f.Recorded, key)
}

// byHand notes that the agent decides about a detail, whatever the result.
func (f *Entered) byHand(key string) {
	f.ByResult = slices.DeleteFunc(slices.Clone(f.ByResult), func(other string) bool { return other == key })
}

// propose chooses the result for corrections if the agent has chosen none, and removes it with the last correction.
func (e Form) propose() {
	if e.ResultCode != "" && !e.Proposed {
		return
	}
	effect := apitype.EffectCorrected
	if e.Corrections[OptOutKey] == "no" {
		effect = apitype.EffectOptOut
	}
	e.ResultCode, e.Proposed = "", false
	for _, row := range e.Results() {
		if row.Has(effect) && len(e.Corrections) > 0 {
			e.ResultCode, e.Proposed = row.Code, true
			return
		}
	}
}
