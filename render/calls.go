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

// statusColumn is the state of a record.
func statusColumn[T any](value func(T) string) Column[T] {
	return Column[T]{
		Name: "status", Default: true, Value: value,
		Cell: func(record T, _ View) Text { return Text{Text: value(record), Role: statusRole(value(record))} },
	}
}

// CallColumns are the columns of calls.
func CallColumns() []Column[apitype.Call] {
	type call = apitype.Call
	type metadata = apitype.CallExternalMetadata
	external := func(name string, value func(metadata) *string) Column[call] {
		return column("externalMetadata."+name, func(c call) string { return text(value(c.ExternalMetadata.Value())) })
	}
	person := func(name string, value func(apitype.Person) *string) Column[call] {
		return column("person."+name, func(c call) string { return text(value(c.Person.Value())) })
	}
	phone := func(name string, value func(apitype.Person) *string) Column[call] {
		return phoneColumn("person."+name, func(c call) *string { return value(c.Person.Value()) })
	}
	return []Column[call]{
		{Name: "uuid", Value: func(c call) string { return uuidText(c.UUID) }, Default: true},
		statusColumn(func(c call) string { return string(c.Status) }),
		{Name: "type", Value: func(c call) string { return string(c.Type) }, Default: true},
		shown(timeColumn("requestedAt", "", func(c call) *apitype.Time { return &c.RequestedAt }), "requested"),
		titled(numberColumn("attemptsCount", func(c call) int { return c.AttemptsCount }), "tries"),
		timeColumn("lastUpdatedAt", "updated", func(c call) *apitype.Time { return &c.LastUpdatedAt }),
		timeColumn("cancelledAt", "cancelled", func(c call) *apitype.Time { return c.CancelledAt }),
		timeColumn("completedAt", "completed", func(c call) *apitype.Time { return c.CompletedAt }),
		timeColumn("expiredAt", "expired", func(c call) *apitype.Time { return c.ExpiredAt }),
		{Name: "personUuid", Title: "person", Value: func(c call) string { return uuidText(c.PersonUUID) }, Default: true, Flexible: true},
		column("relatedCaseUuid", func(c call) string { return text(c.RelatedCaseUUID) }),
		column("callingOrganizationUuid", func(c call) string { return text(c.CallingOrganizationUUID) }),
		column("recordingDuration", func(c call) string { return text(c.RecordingDuration) }),
		shown(column("result.resultCode", func(c call) string { return text(c.Result.Value().ResultCode) }), "result"),
		column("result.donorRetentionRating", func(c call) string { return text(c.Result.Value().DonorRetentionRating) }),
		timeColumn("result.completedAt", "", func(c call) *apitype.Time { return c.Result.Value().CompletedAt }),
		column("result.notes", func(c call) string { return text(c.Result.Value().Notes) }),
		column("notes", func(c call) string { return text(c.Notes) }),
		external("applicationName", func(m metadata) *string { return m.ApplicationName }),
		external("referenceId", func(m metadata) *string { return m.ReferenceID }),
		external("agentReferenceId", func(m metadata) *string { return m.AgentReferenceID }),
		external("statusCode", func(m metadata) *string { return m.StatusCode }),
		external("statusDescription", func(m metadata) *string { return m.StatusDescription }),
		person("firstName", func(p apitype.Person) *string { return p.FirstName }),
		person("lastNamePrefix", func(p apitype.Person) *string { return p.LastNamePrefix }),
		person("lastName", func(p apitype.Person) *string { return p.LastName }),
		phone("phoneNumber", func(p apitype.Person) *string { return p.PhoneNumber }),
		person("email", func(p apitype.Person) *string { return p.Email }),
		phone("mobilePhoneNumber", func(p apitype.Person) *string { return p.MobilePhoneNumber }),
		column("pledgeCase.status", func(c call) string { return string(c.PledgeCase.Value().Status) }),
	}
}

// CallList are the columns of calls in a list on the screen, in their order.
func CallList() []Listed[apitype.Call] {
	type call = apitype.Call
	return onScreen(CallColumns(),
		Listed[call]{Name: "uuid", Heading: "Call", Width: 9},
		Listed[call]{Name: "status", Width: 9},
		Listed[call]{Name: "person", Width: 14, Grow: true, Say: func(c call, _ View) string { return PersonName(c.Person.Value()) }},
		Listed[call]{Name: "type", Width: 12, Say: func(c call, _ View) string { return Words(string(c.Type)) }},
		Listed[call]{Name: "requestedAt", Heading: "Asked", Width: 5},
		Listed[call]{Name: "attemptsCount", Width: 5},
		Listed[call]{
			Name: "result.resultCode", Width: 10, Grow: true,
			Say: func(c call, v View) string { return v.result(c.Type, text(c.Result.Value().ResultCode)) },
		},
	)
}
