package page

import (
	"cmp"
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

// CallRow is what the list of calls keeps of a call.
type CallRow struct {
	ID           apitype.UUID
	status, kind interned // The kind and the result as people say them, all cleaned.
	requestedAt  timestamp
	name         string
	result       interned
	attempts     int32
	external     bool // Its state is another system's: anything may be done.
	leftOut      bool // By what the filter looks at here.
}

// UUID implements Row.
func (r CallRow) UUID() apitype.UUID { return r.ID }

// Title implements Row.
func (r CallRow) Title() string { return desk.ShortID(r.ID) + "  " + r.name }

// isOpen reports whether the call may still be tried and ended. Spec gaps: C1, C4.
func (r CallRow) isOpen() bool {
	return r.external || r.status.String() == string(apitype.CallRequested)
}

// NewCallRow is what the list keeps of a call, with the words of a profile for its result.
func NewCallRow(c apitype.Call, codes *desk.Codes) CallRow {
	row := CallRow{
		external: c.ExternalMetadata.Pointer() != nil,
		ID:       c.UUID, status: intern(Clean(string(c.Status))), kind: intern(Clean(render.Words(string(c.Type)))), requestedAt: newTimestamp(c.RequestedAt.Time),
		attempts: int32(min(c.AttemptsCount, math.MaxInt32)), result: intern(Clean(codes.Words(c.Type, desk.Value(c.Result.Value().ResultCode)))),
	}
	if p := c.Person.Pointer(); p != nil {
		row.name = Clean(render.PersonName(*p))
	}
	return row
}

func (r CallRow) search() string {
	return r.ID.String() + " " + r.name + " " + r.result.String() + " " + r.kind.String() + " " + r.status.String()
}

// Calls is the list of calls.
type Calls struct{ *List[CallRow] }

// NewCalls is the list of calls.
func NewCalls(s *Env) *Calls {
	n := records[CallRow]{
		page: CallsPage, name: "calls", kind: KindCall, scopes: []Scope{ScopeCalls},
		columns: []widget.Column[CallRow]{
			{Title: " Call", Width: 9, Text: func(b []byte, r CallRow) []byte { return desk.AppendShortID(append(b, ' '), r.ID) }},
			{Title: "Status", Width: 9, Text: func(b []byte, r CallRow) []byte { return append(b, r.status.String()...) }},
			{Title: "Person", Width: 14, Grow: true, Text: func(b []byte, r CallRow) []byte { return append(b, r.name...) }},
			{Title: "Type", Width: 12, Text: func(b []byte, r CallRow) []byte { return append(b, r.kind.String()...) }},
			{
				Title: "Asked", Width: 5, Right: true, Compare: func(a, b CallRow) int { return cmp.Compare(b.requestedAt, a.requestedAt) },
				Text: func(b []byte, r CallRow) []byte { return render.AppendAge(b, s.Now().Sub(r.requestedAt.time())) },
			},
			{
				Title: "Tries", Width: 5, Right: true, Compare: func(a, b CallRow) int { return cmp.Compare(a.attempts, b.attempts) },
				Text: func(b []byte, r CallRow) []byte { return strconv.AppendInt(b, int64(r.attempts), 10) },
			},
			{Title: "Result", Width: 10, Grow: true, Text: func(b []byte, r CallRow) []byte { return append(b, r.result.String()...) }},
		},
		search: CallRow.search,
		order:  func(r CallRow) time.Time { return r.requestedAt.time() },
		Hint: []string{
			"by the service: " + strings.Join(filterNames(apitype.CallFilters()), " "),
			"local, over what is read: " + strings.Join(filterNames(apitype.CallSelections()), " ") + ", and words; for example: status=requested type=winback requestedAfter=7d",
		},
		fields: append(filterFields(apitype.CallFilters()), filterFields(apitype.CallSelections())...),
		parse:  s.callQuery,
		bulk:   s.callBulk,
	}
	return &Calls{newList(s, n)}
}

// WhyNotWork says why there is no call to work.
func (v *Calls) WhyNotWork() string { return v.whyNotOf(KindCall, "only a call can be worked") }

// Work takes the call to the desk.
func (v *Calls) Work() tea.Cmd {
	ref, _ := v.Target()
	return v.WorkOn(ref)
}

// callQuery understands a filter on calls. The interface has no filter for status, type
// and person: they look through what was read.
func (e *Env) callQuery(text string) (query[CallRow], error) {
	local := filterNames(apitype.CallSelections())
	t, o, err := readFilter(text, e.Now(), apitype.CallFilters(), local...)
	o.Include = []string{apitype.IncludePerson}
	var selection apitype.CallSelection
	if err == nil {
		err = setFilters(t, apitype.CallSelections(), &selection)
	}
	if err == nil {
		err = o.Validate().Err()
	}
	if err != nil {
		return query[CallRow]{}, err
	}
	var more func(CallRow) bool
	if !selection.IsEmpty() {
		more = func(r CallRow) bool { return !r.leftOut }
	}
	newRow := func(c apitype.Call) CallRow {
		row := NewCallRow(c, e.Codes)
		row.leftOut = !selection.Passes(c)
		return row
	}
	return query[CallRow]{
		keep: keepTerms(t, CallRow.search, more), says: t.says(local...),
		changed: func(ctx context.Context, since apitype.Time) ([]CallRow, error) {
			o := o
			o.UpdatedAfter = later(o.UpdatedAfter, since)
			return readUpdates(e.Client, newRow, e.Client.Calls.All(ctx, o, apiclient.AllOptions{Limit: desk.MostChanges}))
		},
		fetch: func(ctx context.Context, after string) (batch[CallRow], error) {
			o := o
			o.Paging = apitype.Paging{First: new(ListPage), After: after}
			return readBatch(newRow)(e.Client.Calls.List(ctx, o))
		},
	}, nil
}

// callBulk are the actions on several calls.
func (e *Env) callBulk(rows []CallRow, sent func()) []Option {
	t := targetsOf(rows, sent, CallRow.isOpen)
	return []Option{
		e.askEach("Record an attempt", t, func(id apitype.UUID, name string) desk.Change { return e.Attempt(id, "attempt: "+name) }),
		e.askEach("Cancel the calls", t, func(id apitype.UUID, name string) desk.Change { return e.Cancel(id, "cancel: "+name) }),
		e.askEach("Expire the calls", t, func(id apitype.UUID, name string) desk.Change { return e.Expire(id, "expire: "+name) }),
		e.askMark(apitype.EntityCall, targetsOf(rows, sent, nil)),
	}
}

// callFields are all of a call.
func (e *Env) callFields(c apitype.Call) []field {
	f := &fields{Env: e}
	f.head("Call")
	f.add("status", string(c.Status))
	f.add("type", render.Words(string(c.Type)))
	f.time("requested", &c.RequestedAt)
	f.time("updated", &c.LastUpdatedAt)
	f.time("completed", c.CompletedAt)
	f.time("cancelled", c.CancelledAt)
	f.time("expired", c.ExpiredAt)
	f.text("notes", c.Notes)
	f.add("person", desk.CallName(c))
	f.last().to = &Reference{KindPerson, c.PersonUUID}
	if c.RelatedCaseUUID != nil {
		f.add("pledge", c.RelatedCaseUUID.String())
		f.last().to = &Reference{KindPledge, *c.RelatedCaseUUID}
	}
	if c.CallingOrganizationUUID != nil {
		f.add("called by", c.CallingOrganizationUUID.String())
	}
	if c.RecordingDuration != nil {
		f.add("recording", c.RecordingDuration.String()+" s")
	}
	f.head(render.Plural(c.AttemptsCount, "attempt", "attempts"))
	for _, a := range c.Attempts.Value() {
		text := e.when(a.AttemptAt)
		if a.UserUUID != nil {
			text += " by " + a.UserUUID.String()
		}
		f.add("attempt", text)
	}
	if r := c.Result.Pointer(); r != nil {
		f.head("Result")
		f.all = append(f.all, e.resultFields(c.Type, *r)...)
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
		text := fmt.Sprintf("%s, %s, requested %s", render.Words(string(c.Type)), c.Status, f.ago(c.RequestedAt.Time))
		if result := f.Codes.Words(c.Type, desk.Value(c.Result.Value().ResultCode)); result != "" {
			text += ", " + result
		}
		f.add("call", text)
		f.last().to, f.last().copy = &Reference{KindCall, c.UUID}, c.UUID.String()
	}
}
