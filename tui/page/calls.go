package page

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/changes"
)

// Calls is the list of calls.
type Calls struct{ *List[apitype.Call] }

// NewCalls returns the list of calls. The interface has no filter for status, type and person: they look through the
// read records.
func NewCalls(e *Env) *Calls {
	type options = apitype.CallListOptions
	v := &Calls{}
	v.List = newList(e, noun[apitype.Call]{
		kind:    apitype.EntityCall,
		columns: render.CallList(),
		title:   []string{"person"},
		about:   func(c apitype.Call) Row { return Row{ID: c.UUID, external: c.ExternalMetadata.Pointer() != nil} },
		bulk:    v.bulkActions,
		views:   callViews(),
	}, source[apitype.Call, options]{
		of:      func(c *apiclient.Client) *apiclient.Collection[apitype.Call, options] { return c.Calls },
		options: options{Include: []string{apitype.IncludePerson}},
		filters: append(apitype.CallFilters(), apitype.CompletedBy()),
		paging:  func(o *options) *apitype.Paging { return &o.Paging },
		feeds: func(o options) (options, []string) {
			o.Statuses = nil // A call that left the status is a change, too.
			return o, []string{"updatedAfter"}
		},
		narrow: func(o *options, t parsedFilter, client *apiclient.Client) []string {
			if t.values["status"] == "" || client == nil || !client.Announces(apitype.ExtensionStatus) {
				return nil
			}
			var selection apitype.CallSelection
			if setFilters(t, apitype.CallSelections(), &selection) != nil {
				return nil
			}
			o.Statuses = selection.Statuses
			return []string{"status"}
		},
		local: filterFields(apitype.CallSelections()),
		selects: func(t parsedFilter) (func(apitype.Call) bool, error) {
			var selection apitype.CallSelection
			if err := setFilters(t, apitype.CallSelections(), &selection); err != nil || selection.IsEmpty() {
				return nil, err
			}
			return selection.Passes, nil
		},
		words:   ", and words; for example",
		example: "status=requested type=winback requestedAfter=7d",
	})
	return v
}

// findUsers puts users in place of the names that a filter has.
func (t parsedFilter) findUsers(e *Env) error {
	by := apitype.CompletedBy().Name
	if t.values[by] != "" && e.Day.Client != nil && !e.Day.Client.Announces(apitype.ExtensionCompletedBy) {
		return errors.New(e.Say("this service does not say who completed a call"))
	}
	for _, field := range []string{"attemptBy", by} {
		text := t.values[field]
		if _, err := apitype.ParseUUID(text); text == "" || err == nil {
			continue
		}
		users := e.Day.UsersNamed(text)
		names := slices.Sorted(maps.Values(users))
		switch len(users) {
		case 0:
			return errors.New(e.Say("there is no user %s", text))
		case 1:
			for id := range users {
				t.values[field] = id.String()
			}
		default:
			return errors.New(e.Say("%s may be %s", text, Clean(strings.Join(names, ", "))))
		}
	}
	return nil
}

// WhyNotWork returns the reason why no call can be opened on the Desk, or "".
func (v *Calls) WhyNotWork() string {
	return v.whyNotOf(apitype.EntityCall, "only a call can be worked")
}

// callsActions returns the actions of the calls alone.
func callsActions() []Action {
	return []Action{
		{
			ID:    "work",
			Scope: ScopeCalls,
			Keys:  "w",
			Help:  "work the call at the desk",
			Word:  "work",
			Run:   on((*Calls).Work),
			Why:   onWhy((*Calls).WhyNotWork),
		},
	}
}

// Work takes the call to the desk.
func (v *Calls) Work() tea.Cmd {
	ref, _ := v.Target()
	return v.Host.WorkOn(ref)
}

// isOpen reports whether the call may still be tried and ended. Spec gaps: C1, C4.
func (v *Calls) isOpen(call Row) bool {
	return call.external || v.text(call, "status") == string(apitype.CallRequested)
}

func (v *Calls) bulkActions(rows []Row, sent func()) []Option {
	t, author := v.targets(rows, sent, v.isOpen), v.Day.Changes.Author
	t.confirmed = v.askIfHeld
	return []Option{
		v.askEach(
			"Record an attempt",
			t,
			func(id apitype.UUID, name string) changes.Change { return author.Attempt(id, "attempt: "+name) },
		),
		v.askEach(
			"Cancel the calls",
			t,
			func(id apitype.UUID, name string) changes.Change { return author.Cancel(id, "cancel: "+name) },
		),
		v.askEach(
			"Expire the calls",
			t,
			func(id apitype.UUID, name string) changes.Change { return author.Expire(id, "expire: "+name) },
		),
	}
}

// holdersPatience limits the time for the leases of colleagues. Without them the changes go on.
const holdersPatience = 3 * time.Second

// askIfHeld goes on with changes that end calls. If a colleague has one of the calls, it asks once before.
func (v *Calls) askIfHeld(t targets, then func() tea.Cmd) tea.Cmd {
	if v.Day.Client == nil || !v.Day.Client.Announces(apitype.ExtensionQueue) {
		return then()
	}
	asked, agent := v.Day.Keys.Presses, v.Day.Leases.Agent()
	read := func(ctx context.Context) (held map[apitype.UUID]apitype.Lease, err error) {
		ctx, cancel := context.WithTimeout(ctx, holdersPatience)
		defer cancel()
		answer, err := apiclient.Decoded(v.Day.Client.Queue.Leases(ctx, apitype.QueueLeaseListOptions{}))
		held = map[apitype.UUID]apitype.Lease{}
		for _, lease := range answer.Leases {
			if lease.UserUUID != agent {
				held[lease.CallUUID] = lease
			}
		}
		return held, err
	}
	return Load(v.Env, "leases of colleagues read", read, func(held map[apitype.UUID]apitype.Lease, _ error) tea.Cmd {
		lines := v.heldLines(t, held)
		if len(lines) == 0 {
			return then()
		}
		if v.Dialog != nil || !v.Day.Transitions.IsAsked(asked) {
			v.Messages.Refuse("what you asked for came while you were typing: ask again")
			return nil
		}
		v.Dialog = &Confirm{
			Title: v.Say("Another agent has this donor"),
			Lines: append(lines, v.Say("Go on anyway?")),
			Yes:   then,
			late:  openedLate(v.Day.Now),
		}
		return nil
	})
}

// heldLines names the calls that colleagues have, and the colleagues.
func (v *Calls) heldLines(t targets, held map[apitype.UUID]apitype.Lease) []string {
	card := v.Day.Card()
	var lines []string
	for i, id := range t.ids {
		lease, isHeld := held[id]
		if !isHeld {
			continue
		}
		card.Holder = &apitype.LeaseHolder{UserUUID: lease.UserUUID, Name: lease.Name, TakenAt: lease.TakenAt}
		lines = append(lines, t.names[i]+": "+card.HolderText())
	}
	return v.firstOf(lines)
}

func callFields(e *Env, c apitype.Call) []field {
	f := &fields{Env: e}
	person := c.Person.Pointer()
	if person != nil {
		f.phones(*person)
	}
	title := f.Say(Clean(render.Words(string(c.Type))))
	if !c.RequestedAt.IsZero() {
		title += " · " + f.Say("requested") + " " + f.Day.Ago(c.RequestedAt.Time)
	}
	if c.AttemptsCount > 0 {
		title += " · " + f.Day.Count(c.AttemptsCount, "attempt", "attempts")
	}
	f.head(title)
	f.last().role, f.last().band = f.Styles.kind(c.Type), true
	f.gives(c.PledgeCase.Pointer())
	f.text("notes", c.Notes)
	f.result(&c)
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
		f.identifier("person", Reference{apitype.EntityPerson, c.PersonUUID})
	}
	if c.RelatedCaseUUID != nil && c.PledgeCase.Pointer() == nil {
		f.identifier("pledge", Reference{apitype.EntityPledge, *c.RelatedCaseUUID})
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

// calls adds the calls of a pledge. Each can be opened.
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
		if result := f.Day.Codes.Words(c.Type, apitype.TextOf(c.Result.Value().ResultCode)); result != "" {
			text += ", " + f.Say(result)
		}
		f.add("call", text)
		f.last().to, f.last().copy, f.last().role = &Reference{apitype.EntityCall, c.UUID}, c.UUID.String(), role
	}
}
