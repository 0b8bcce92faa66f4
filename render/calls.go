package render

import "fundesk/apiclient/apitype"

// statusRole colours the states of calls and pledges, and the outcomes of changes.
func statusRole(status string) Role {
	switch status {
	case "requested", "lead":
		return Waiting
	case "completed", "active", "ok", "fulfilled":
		return Good
	case "cancelled", "dropped", "failed":
		return Bad
	case "expired":
		return Faint
	default:
		return Plain
	}
}

// CallColumns returns the columns of calls.
func CallColumns() []Column[apitype.Call] { return fieldColumns(apitype.CallFields()) }

// CallList returns the columns of calls in a list on the screen, in their order.
func CallList() []Column[apitype.Call] {
	type call = apitype.Call
	return onScreen(CallColumns(), []Column[call]{
		{
			Name:  "person",
			Width: 18,
			Grow:  true,
			Cell:  func(c call, _ View) Text { return Text{Text: PersonName(c.Person.Value())} },
		},
		{Name: "type", Width: 12, Cell: func(c call, _ View) Text { return Text{Text: Words(string(c.Type))} }},
		{Name: "status", Width: 11},
		{Name: "requestedAt", Title: "Since", Width: 5},
		{Name: "attemptsCount", Width: 5},
		{
			Name:  "result.resultCode",
			Width: 10,
			Grow:  true,
			Cell:  func(c call, v View) Text { return Text{Text: v.result(c.Type, text(c.Result.Value().ResultCode))} },
		},
		{Name: "uuid", Title: "UUID", Width: 8},
	})
}
