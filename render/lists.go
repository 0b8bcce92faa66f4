package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// onScreen fills in what the columns of a noun say of those in its list on the screen: each names one, and has how
// much room it takes. One with a cell of its own says something in other words than a table, which is also read by
// programs, and is sorted by them.
func onScreen[T any](columns []Column[T], listed []Column[T]) []Column[T] {
	for i := range listed {
		l := &listed[i]
		title := l.Name
		if at := slices.IndexFunc(columns, func(c Column[T]) bool { return c.Name == l.Name }); at >= 0 {
			c := columns[at]
			title, l.Right = cmp.Or(c.Title, c.Name), c.Right
			if l.Cell == nil {
				l.Time, l.Number = c.Time, c.Number
				l.Cell = func(record T, v View) Text { return c.In(record, v) }
			}
		}
		l.Title = cmp.Or(l.Title, strings.ToUpper(title[:1])+title[1:])
	}
	return listed
}

// CallList are the columns of calls in a list on the screen, in their order.
func CallList() []Column[apitype.Call] {
	type call = apitype.Call
	return onScreen(CallColumns(), []Column[call]{
		{Name: "person", Width: 18, Grow: true, Cell: func(c call, _ View) Text { return Text{Text: PersonName(c.Person.Value())} }},
		{Name: "type", Width: 12, Cell: func(c call, _ View) Text { return Text{Text: Words(string(c.Type))} }},
		{Name: "status", Width: 11},
		{Name: "requestedAt", Title: "Asked", Width: 5},
		{Name: "attemptsCount", Width: 5},
		{
			Name: "result.resultCode", Width: 10, Grow: true,
			Cell: func(c call, v View) Text { return Text{Text: v.result(c.Type, text(c.Result.Value().ResultCode))} },
		},
		{Name: "uuid", Title: "UUID", Width: 8},
	})
}

// PersonList are the columns of persons in a list on the screen, in their order.
func PersonList() []Column[apitype.Person] {
	type person = apitype.Person
	return onScreen(PersonColumns(), []Column[person]{
		{Name: "name", Width: 20, Grow: true, Cell: func(p person, _ View) Text { return Text{Text: PersonName(p)} }},
		{Name: "address.city", Width: 12},
		{Name: "phone", Width: 19, Cell: func(p person, v View) Text { return Text{Text: v.Locale.Spoken(PersonPhone(p))} }},
		{Name: "createdAt", Width: 7},
		{Name: "email", Width: 12, Grow: true},
		{Name: "language", Width: 9, Cell: func(p person, _ View) Text { return Text{Text: Language(text(p.Language))} }},
		{Name: "uuid", Title: "UUID", Width: 8},
	})
}

// PledgeList are the columns of pledges in a list on the screen, in their order. A list of the
// interface does not have the donor.
func PledgeList() []Column[apitype.Pledge] {
	type pledge = apitype.Pledge
	return onScreen(PledgeColumns(), []Column[pledge]{
		{Name: "donor", Width: 18, Grow: true, Cell: func(p pledge, _ View) Text { return Text{Text: PersonName(p.Person.Value())} }},
		{
			Name: "donationAmount", Title: "Amount", Width: 12,
			Cell:   func(p pledge, v View) Text { return Text{Text: v.Locale.Grouped(p.DonationAmount)} },
			Number: func(p pledge) int64 { n, _ := p.DonationAmount.Cents(); return n },
		},
		{Name: "donationInterval", Width: 11, Cell: func(p pledge, _ View) Text { return Text{Text: Words(string(p.DonationInterval))} }},
		{Name: "status", Width: 11},
		{Name: "createdAt", Title: "Made", Width: 4},
		{Name: "releasedAt", Width: 8, Cell: func(p pledge, _ View) Text { return yesNo(new(p.ReleasedAt.Pointer() != nil)) }},
		{Name: "recruitmentType", Title: "Won", Width: 6, Cell: func(p pledge, _ View) Text { return Text{Text: Recruitment(p)} }},
		{Name: "campaignCode", Title: "Campaign", Width: 8, Grow: true},
		{Name: "uuid", Title: "UUID", Width: 8},
	})
}

// longOnCall is how long an agent is on one call before the floor marks it.
const longOnCall = 10 * time.Minute

// QueueAgentList are the columns of agents in a list on the screen, in their order. Their
// names are the profile's or the service's to tell.
func QueueAgentList(name func(apitype.QueueAgent) string) []Column[apitype.QueueAgent] {
	type agent = apitype.QueueAgent
	return onScreen(QueueAgentColumns(), []Column[agent]{
		{Name: "name", Width: 22, Cell: func(a agent, _ View) Text { return Text{Text: name(a)} }},
		{Name: "type", Width: 12},
		{Name: "takenAt", Width: 8, Cell: func(a agent, v View) Text { return Text{Text: sinceText(a.TakenAt, v.Now)} }},
		{Name: "taken", Title: "Today", Width: 5},
		{Name: "completed", Width: 7},
		{Name: "attempts", Width: 8},
		{Name: "deferred", Title: "Later", Width: 5},
		{Name: "byResult", Width: 12, Grow: true},
	})
}

// sinceText says how long an agent is on a call, marked where that is long; "" without one.
func sinceText(at *apitype.Time, now time.Time) string {
	if at == nil {
		return ""
	}
	d := now.Sub(at.Time)
	text := strconv.Itoa(int(max(d, 0)/time.Minute)) + " min"
	if d >= longOnCall {
		text += " ▲"
	}
	return text
}

// EntryList are the columns of entries in a list on the screen, in their order; what is no
// entry yet stands among them.
func EntryList() []Column[Entry] {
	return onScreen(EntryColumns(), []Column[Entry]{
		{Name: "state", Width: 9},
		{Name: "op", Title: "What", Width: 35, Cell: func(e Entry, _ View) Text { return Text{Text: e.Label} }},
		{Name: "createdAt", Title: "Made", Width: 4},
		{Name: "tries", Width: 5, Cell: func(e Entry, _ View) Text {
			if e.Tries < 0 {
				return Text{} // It was not to be sent.
			}
			return Text{Text: strconv.Itoa(e.Tries)}
		}},
		{Name: "lastError", Title: "Last answer", Width: 10, Grow: true},
	})
}
