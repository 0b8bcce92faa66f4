package page

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
)

func callRows(e *Env) *rowMaker[apitype.Call] {
	about := func(c apitype.Call) Row { return Row{ID: c.UUID, external: c.ExternalMetadata.Pointer() != nil} }
	return newRowMaker(e, render.CallList(), about, "requestedAt", "person")
}

// CallRows makes rows of calls as the list keeps them.
func CallRows(e *Env) func(apitype.Call) Row { return callRows(e).row }

// isOpen reports whether the call may still be tried and ended. Spec gaps: C1, C4.
func isOpen(call Row) bool {
	return call.external || call.text("status") == string(apitype.CallRequested)
}

// Calls is the list of calls.
type Calls struct{ *List }

// NewCalls returns the list of calls.
func NewCalls(s *Env) *Calls {
	m := callRows(s)
	service, local := filterFields(apitype.CallFilters()), filterFields(apitype.CallSelections())
	n := records{
		name: "calls", kind: KindCall, scopes: []Scope{ScopeCalls},
		columns: m.columns(), search: Row.search,
		Hint: []string{
			s.Say("by the service") + ": " + strings.Join(fieldNames(service), " "),
			s.Say("local, over what is read") + ": " + strings.Join(fieldNames(local), " ") + s.Say(", and words; for example") + ": status=requested type=winback requestedAfter=7d",
		},
		fields: append(service, local...),
		parse:  func(text string) (query, error) { return callQuery(s, text) },
		bulk:   func(rows []Row, sent func()) []Option { return callBulk(s, rows, sent) },
	}
	return &Calls{newList(s, n)}
}

// WhyNotWork says why there is no call to work.
func (v *Calls) WhyNotWork() string { return v.whyNotOf(KindCall, "only a call can be worked") }

// Work takes the call to the desk.
func (v *Calls) Work() tea.Cmd {
	ref, _ := v.Target()
	return v.Host.WorkOn(ref)
}

// callQuery understands a filter on calls. The interface has no filter for status, type
// and person: they look through what was read.
func callQuery(e *Env, text string) (query, error) {
	local := fieldNames(filterFields(apitype.CallSelections()))
	t, o, err := readFilter(e.Say, text, e.Day.Now(), apitype.CallFilters(), local...)
	o.Include = []string{apitype.IncludePerson}
	var selection apitype.CallSelection
	if err == nil {
		err = setFilters(t, apitype.CallSelections(), &selection)
	}
	if err == nil {
		err = o.Validate().Err()
	}
	if err != nil {
		return query{}, err
	}
	m := callRows(e)
	var more func(Row) bool
	if !selection.IsEmpty() {
		about := m.about
		m.about = func(c apitype.Call) Row {
			row := about(c)
			row.leftOut = !selection.Passes(c)
			return row
		}
		more = func(r Row) bool { return !r.leftOut }
	}
	return query{
		keep: keepTerms(t, Row.search, more), says: t.says(e.Say, local...),
		changed: func(ctx context.Context, since apitype.Time) ([]Row, error) {
			o := o
			o.UpdatedAfter = later(o.UpdatedAfter, since)
			return m.changed(e.Day.Client.Calls.All(ctx, o, mostChanged))
		},
		fetch: m.fetch(func(ctx context.Context, p apitype.Paging) (apiclient.Page[apitype.Call], error) {
			o := o
			o.Paging = p
			return e.Day.Client.Calls.List(ctx, o)
		}),
	}, nil
}

func callBulk(e *Env, rows []Row, sent func()) []Option {
	t := targetsOf(rows, sent, isOpen)
	return []Option{
		e.askEach("Record an attempt", t, func(id apitype.UUID, name string) desk.Change { return e.Day.Changes.Attempt(id, "attempt: "+name) }),
		e.askEach("Cancel the calls", t, func(id apitype.UUID, name string) desk.Change { return e.Day.Changes.Cancel(id, "cancel: "+name) }),
		e.askEach("Expire the calls", t, func(id apitype.UUID, name string) desk.Change { return e.Day.Changes.Expire(id, "expire: "+name) }),
		e.askMark(apitype.EntityCall, targetsOf(rows, sent, nil)),
	}
}

func callFields(e *Env, c apitype.Call) []field {
	f := &fields{Env: e}
	f.head(f.Say(Clean(render.Words(string(c.Type)))) + " · " + f.Say("requested") + " " + f.ago(c.RequestedAt.Time) + " · " + f.Day.Count(c.AttemptsCount, "attempt", "attempts"))
	f.last().role = f.Styles.kind(c.Type)
	person := c.Person.Pointer()
	if person != nil {
		f.phones(*person)
	}
	f.gives(c.PledgeCase.Pointer())
	f.text("notes", c.Notes)
	if r := c.Result.Pointer(); r != nil {
		f.all = append(f.all, e.resultFields(c.Type, *r)...)
	}
	for _, a := range c.Attempts.Value() {
		text := e.when(a.AttemptAt)
		if a.UserUUID != nil {
			text = strings.TrimSuffix(text+", "+knownAgent(e, *a.UserUUID), ", ")
		}
		f.add("attempt", text)
	}
	f.head("Call")
	f.time("requested", &c.RequestedAt)
	f.time("updated", &c.LastUpdatedAt)
	f.time("completed", c.CompletedAt)
	f.time("cancelled", c.CancelledAt)
	f.time("expired", c.ExpiredAt)
	if c.RecordingDuration != nil {
		f.add("recording", c.RecordingDuration.String()+" s")
	}
	f.external(c.ExternalMetadata.Pointer())
	f.pledge(c.PledgeCase.Pointer())
	f.transactions(c.Transactions.Value())
	if person != nil {
		f.person(*person)
	} else {
		f.identifier("person", Reference{KindPerson, c.PersonUUID})
	}
	if c.RelatedCaseUUID != nil && c.PledgeCase.Pointer() == nil {
		f.identifier("pledge", Reference{KindPledge, *c.RelatedCaseUUID})
	}
	if c.CallingOrganizationUUID != nil {
		f.all = append(f.all, field{label: "called for", text: c.CallingOrganizationUUID.String(), raw: true})
	}
	return f.all
}

func (f *fields) external(m *apitype.CallExternalMetadata) {
	if m == nil {
		return
	}
	f.head("External system")
	f.text("application", m.ApplicationName)
	f.text("reference", m.ReferenceID)
	f.text("agent", m.AgentReferenceID)
	f.text("status code", m.StatusCode)
	f.text("description", m.StatusDescription)
	f.object("properties", m.AdditionalProperties)
}

// calls are the calls of a pledge, each to be opened.
func (f *fields) calls(calls []apitype.Call) {
	if len(calls) == 0 {
		return
	}
	f.head(f.Day.Count(len(calls), "call", "calls"))
	for _, c := range calls {
		sign, role := f.Styles.status(string(c.Status))
		text := sign + " " + f.Say(render.Words(string(c.Type)))
		if c.Status != apitype.CallRequested {
			text += ", " + f.Say(string(c.Status))
		}
		text += ", " + f.Say("requested") + " " + f.ago(c.RequestedAt.Time)
		if result := f.Day.Codes.Words(c.Type, desk.Value(c.Result.Value().ResultCode)); result != "" {
			text += ", " + f.Say(result)
		}
		f.add("call", text)
		f.last().to, f.last().copy, f.last().role = &Reference{KindCall, c.UUID}, c.UUID.String(), role
	}
}
