package tui

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// callRow is what the list of calls keeps of a call.
type callRow struct {
	id, person   apitype.UUID
	status, kind word
	requestedAt  moment
	name         string // Cleaned.
	code         word   // Of the result, cleaned.
	attempts     int32
}

func newCallRow(c apitype.Call) callRow {
	row := callRow{
		id: c.UUID, person: c.PersonUUID, status: newWord(string(c.Status)), kind: newWord(string(c.Type)), requestedAt: newMoment(c.RequestedAt.Time),
		attempts: int32(min(c.AttemptsCount, math.MaxInt32)), code: newWord(clean(value(c.Result.Value().ResultCode))),
	}
	if p := c.Person.Pointer(); p != nil {
		row.name = clean(render.PersonName(*p))
	}
	return row
}

// callsView is the list of calls.
type callsView struct{ *list[callRow] }

func newCallsPage(s *shell) *callsView {
	n := noun[callRow]{
		page: callsPage, name: "calls", kind: kindCall, scopes: []scope{scopeCalls},
		columns: []widget.Column[callRow]{
			{Title: " Call", Width: 9, Text: func(b []byte, r callRow) []byte { return desk.AppendShortID(append(b, ' '), r.id) }},
			{Title: "Status", Width: 9, Text: func(b []byte, r callRow) []byte { return append(b, clean(r.status.String())...) }},
			{Title: "Person", Width: 14, Grow: true, Text: func(b []byte, r callRow) []byte { return append(b, r.name...) }},
			{Title: "Type", Width: 12, Text: func(b []byte, r callRow) []byte { return append(b, clean(r.kind.String())...) }},
			{Title: "Age", Width: 4, Right: true, Text: func(b []byte, r callRow) []byte { return appendAge(b, s.Now().Sub(r.requestedAt.time())) }},
			{Title: "Tries", Width: 5, Right: true, Text: func(b []byte, r callRow) []byte { return strconv.AppendInt(b, int64(r.attempts), 10) }},
			{Title: "Result", Width: 10, Grow: true, Text: func(b []byte, r callRow) []byte { return append(b, r.code.String()...) }},
		},
		id:    func(r callRow) apitype.UUID { return r.id },
		row:   func(r callRow) string { return desk.ShortID(r.id) + "  " + r.name },
		order: func(r callRow) time.Time { return r.requestedAt.time() },
		hint: []string{
			"by the service: " + strings.Join(filterNames(apitype.CallFilters()), " "),
			"local, over what is read: " + strings.Join(filterNames(apitype.CallSelections()), " ") + ", and words; for example: status=requested type=winback requestedAfter=7d",
		},
		parse: s.callQuery,
		bulk:  s.callBulk,
	}
	return &callsView{newList(s, n)}
}

func (v *callsView) whyNotWork() string { return v.whyNotOf(kindCall, "only a call can be worked") }

// work takes the call to the desk.
func (v *callsView) work() tea.Cmd {
	ref, _ := v.target()
	return v.workOn(ref)
}

// callQuery understands a filter on calls. The interface has no filter for status, type
// and person: they look through what was read.
func (s *shell) callQuery(text string) (query[callRow], error) {
	local := filterNames(apitype.CallSelections())
	t, err := parseTerms(text, s.Now(), append(filterNames(apitype.CallFilters()), local...)...)
	if err != nil {
		return query[callRow]{}, err
	}
	o, selection := apitype.CallListOptions{Include: []string{apitype.IncludePerson}}, apitype.CallSelection{}
	if err := setFilters(t, apitype.CallFilters(), &o); err != nil {
		return query[callRow]{}, err
	}
	if err := setFilters(t, apitype.CallSelections(), &selection); err != nil {
		return query[callRow]{}, err
	}
	if err := o.Validate().Err(); err != nil {
		return query[callRow]{}, err
	}
	var more func(callRow) bool
	if !selection.IsEmpty() {
		more = func(r callRow) bool {
			return selection.Passes(apitype.CallStatus(r.status.String()), apitype.CallType(r.kind.String()), r.person)
		}
	}
	search := func(r callRow) string {
		return r.id.String() + " " + r.name + " " + r.code.String() + " " + r.kind.String() + " " + r.status.String()
	}
	return query[callRow]{
		keep: keepWords(t, search, more), says: t.says(local...),
		changed: func(ctx context.Context, since apitype.Time) ([]callRow, error) {
			o := o
			o.UpdatedAfter = later(o.UpdatedAfter, since)
			return readNews(newCallRow, s.Client.Calls.All(ctx, o, apiclient.AllOptions{Limit: desk.MostChanges}))
		},
		fetch: func(ctx context.Context, after string) (batch[callRow], error) {
			o := o
			o.Paging = apitype.Paging{First: new(listPage), After: after}
			return readBatch(newCallRow)(s.Client.Calls.List(ctx, o))
		},
	}, nil
}

// callBulk are the actions on several calls.
func (s *shell) callBulk(ids []apitype.UUID, names []string) []option {
	return []option{
		s.askEach("Record an attempt", ids, names, func(id apitype.UUID, name string) desk.Change { return s.Attempt(id, "attempt: "+name) }),
		s.askEach("Cancel the calls", ids, names, func(id apitype.UUID, name string) desk.Change { return s.Cancel(id, "cancel: "+name) }),
		s.askEach("Expire the calls", ids, names, func(id apitype.UUID, name string) desk.Change { return s.Expire(id, "expire: "+name) }),
		s.askMark(apitype.EntityCall, ids, names),
	}
}

// callFields are all of a call.
func (s *shell) callFields(c apitype.Call) []field {
	f := &fields{shell: s}
	f.head("Call")
	f.add("status", string(c.Status))
	f.add("type", string(c.Type))
	f.time("requested", &c.RequestedAt)
	f.time("updated", &c.LastUpdatedAt)
	f.time("completed", c.CompletedAt)
	f.time("cancelled", c.CancelledAt)
	f.time("expired", c.ExpiredAt)
	f.text("notes", c.Notes)
	f.add("person", desk.CallName(c))
	f.last().to = &reference{kindPerson, c.PersonUUID}
	if c.RelatedCaseUUID != nil {
		f.add("pledge", c.RelatedCaseUUID.String())
		f.last().to = &reference{kindPledge, *c.RelatedCaseUUID}
	}
	if c.CallingOrganizationUUID != nil {
		f.add("calling org.", c.CallingOrganizationUUID.String())
	}
	if c.RecordingDuration != nil {
		f.add("recording", c.RecordingDuration.String()+" s")
	}
	f.head(render.Plural(c.AttemptsCount, "attempt", "attempts"))
	for _, a := range c.Attempts.Value() {
		text := s.when(a.AttemptAt)
		if a.UserUUID != nil {
			text += " by " + a.UserUUID.String()
		}
		f.add("attempt", text)
	}
	if r := c.Result.Pointer(); r != nil {
		f.head("Result")
		f.all = append(f.all, s.resultFields(*r)...)
	}
	f.external(c.ExternalMetadata.Pointer())
	f.pledge(c.PledgeCase.Pointer())
	f.transactions(c.Transactions.Value())
	if p := c.Person.Pointer(); p != nil {
		f.person(*p)
	}
	return f.all
}

// external are the fields of an external system.
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
	f.head(render.Plural(len(calls), "call", "calls"))
	for _, c := range calls {
		text := fmt.Sprintf("%s, %s, requested %s", c.Type, c.Status, f.ago(c.RequestedAt.Time))
		if code := value(c.Result.Value().ResultCode); code != "" {
			text += ", " + code
		}
		f.add("call", text)
		f.last().to, f.last().copy = &reference{kindCall, c.UUID}, c.UUID.String()
	}
}
