package entry

import (
	"encoding/json"
	"fmt"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// corrections returns the updates with the corrections. A body is nil if its record has none.
func (e Form) corrections() (
	person *apitype.UpdatePersonRequest,
	pledge *apitype.UpdatePledgeRequest,
	problems apitype.Violations,
) {
	ofPerson, ofPledge := map[string]any{}, map[string]any{}
	for _, f := range e.Corrected() {
		body := ofPerson
		if f.ofPledge {
			body = ofPledge
		}
		setPath(body, strings.Split(f.Key, "/"), f.sent())
	}
	if len(ofPerson) > 0 {
		person = new(apitype.UpdatePersonRequest)
		problems = append(problems, decodeFix(ofPerson, person)...)
		problems = append(problems, person.Validate(e.Now())...)
	}
	if len(ofPledge) > 0 {
		pledge = new(apitype.UpdatePledgeRequest)
		problems = append(problems, decodeFix(ofPledge, pledge)...)
		problems = append(problems, pledge.Validate()...)
		problems = append(problems, pledge.ValidateFor(e.Call.PledgeCase.Value(), false)...)
	}
	return person, pledge, problems
}

// setPath sets a value in an object, and makes the objects around it that are missing.
func setPath(object map[string]any, path []string, value any) {
	if len(path) == 1 {
		object[path[0]] = value
		return
	}
	inner, _ := object[path[0]].(map[string]any)
	if inner == nil {
		inner = map[string]any{}
		object[path[0]] = inner
	}
	setPath(inner, path[1:], value)
}

func decodeFix(body map[string]any, request any) apitype.Violations {
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, request)
	}
	var problems apitype.Violations
	if err != nil {
		problems.Add("", "%s", err)
	}
	return problems
}

// sent returns the value as JSON has it.
func (f Fix) sent() any {
	if f.Is == "" {
		return nil
	}
	if f.IsYesNo() {
		return f.Is == "yes"
	}
	if f.IsAmount() {
		return json.Number(f.Is)
	}
	return f.Is
}

// Updates returns the updates with the corrections, in the order in which they are sent, each made against the
// record that the card shows.
func (e Form) Updates() ([]apiclient.Change, error) {
	person, pledge, problems := e.corrections()
	if len(problems) > 0 {
		return nil, fmt.Errorf("correct %s: %w", problems[0].Where(), problems)
	}
	var changes []apiclient.Change
	if person != nil {
		change, err := apiclient.UpdatePersonChange(e.Call.PersonUUID, *person)
		if err != nil {
			return nil, err
		}
		change.Seen = apiclient.SeenOf(change, e.Call.Person.Value())
		changes = append(changes, change)
	}
	if pledge != nil {
		change, err := apiclient.UpdatePledgeChange(e.Call.PledgeCase.Value().UUID, *pledge)
		if err != nil {
			return nil, err
		}
		change.Seen = apiclient.SeenOf(change, e.Call.PledgeCase.Value())
		changes = append(changes, change)
	}
	return changes, nil
}
