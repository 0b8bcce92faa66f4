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

// CallColumns are the columns of calls.
func CallColumns() []Column[apitype.Call] { return fieldColumns(apitype.CallFields()) }

// CallList are the columns of calls in a list on the screen, in their order.
func CallList() []Listed[apitype.Call] {
	type call = apitype.Call
	return onScreen(CallColumns(),
		Listed[call]{Name: "person", Width: 18, Grow: true, Say: func(c call, _ View) string { return PersonName(c.Person.Value()) }},
		Listed[call]{Name: "type", Width: 12, Say: func(c call, _ View) string { return Words(string(c.Type)) }},
		Listed[call]{Name: "status", Width: 11},
		Listed[call]{Name: "requestedAt", Heading: "Asked", Width: 5},
		Listed[call]{Name: "attemptsCount", Width: 5},
		Listed[call]{
			Name: "result.resultCode", Width: 10, Grow: true,
			Say: func(c call, v View) string { return v.result(c.Type, text(c.Result.Value().ResultCode)) },
		},
		Listed[call]{Name: "uuid", Heading: "UUID", Width: 8},
	)
}
