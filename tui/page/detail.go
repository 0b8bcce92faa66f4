package page

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

// record is one whole record of any kind.
type record struct {
	ref    Reference
	call   *apitype.Call
	person *apitype.Person
	pledge *apitype.Pledge
	// Of a person: its pledges and calls, the newest first, and whether there may be others
	// than were found.
	pledges                []apitype.Pledge
	calls                  []apitype.Call
	morePledges, moreCalls bool
}

// detail is a record on screen. Its fields are made when it is drawn, so that masking
// and times are always right.
type detail struct {
	ref    Reference
	record record
	seq    int // Of its reading: a stale one is dropped.
	ready  bool
	failed error
	cursor int // Index of the chosen field.
	view   widget.Scroll
	from   int // Index of the page that esc goes back to; noPage: the list.
	// The record to the right of its list. It is drawn with every key and seldom changes.
	beside      []string
	besideState besideState
}

// besideState has everything that the drawing of a record in the preview depends on.
type besideState struct {
	seq, width, height    int
	bare, ready, revealed bool
	failed                error
	minute                int64 // The drawn times have whole minutes.
}

// besideLines draws the record in the preview of its list.
func (d *detail) besideLines(s *Env, frame widget.Frame, height int) []string {
	state := besideState{
		d.seq,
		frame.Width,
		height,
		frame.Bare,
		d.ready,
		s.Day.IsRevealed,
		d.failed,
		s.Day.Now().Unix() / 60,
	}
	if d.beside == nil || d.besideState != state {
		d.besideState, d.beside = state, d.lines(s, frame, height, false)
	}
	return d.beside
}

func readRecord(ctx context.Context, client *apiclient.Client, ref Reference) (record, error) {
	r := record{ref: ref}
	switch ref.Kind {
	case apitype.EntityCall:
		call, err := apiclient.Decoded(client.Calls.Get(ctx, ref.ID))
		r.call = &call
		return r, err
	case apitype.EntityPledge:
		pledge, err := apiclient.Decoded(client.Pledges.Get(ctx, ref.ID))
		r.pledge = &pledge
		return r, err
	default:
		return readPerson(ctx, client, r)
	}
}

// Limits of the other records of a person. The interface has no filter of calls by person. If the service announces
// none either, the calls of the newest pledges are read, and the newest of all calls are searched for the rest.
const (
	pledgesShown     = 50
	pledgesWithCalls = 10
	callsLooked      = 100
)

func readPerson(ctx context.Context, client *apiclient.Client, r record) (record, error) {
	person, err := apiclient.Decoded(client.Persons.Get(ctx, r.ref.ID))
	r.person = &person
	if err != nil {
		return r, err
	}
	page, err := client.Pledges.List(
		ctx,
		apitype.PledgeListOptions{PersonUUID: &r.ref.ID, Paging: apitype.Paging{First: new(pledgesShown)}},
	)
	err = ifAllowed(err)
	if err != nil {
		return r, err
	}
	r.pledges, r.morePledges = apiclient.Rows(page, itself), page.HasNextPage || page.MayBeCut
	err = r.readCalls(ctx, client)
	return r, err
}

// ifAllowed returns an error but for that the account may not read something: the rest is shown.
func ifAllowed(err error) error {
	if apiclient.KindOf(err) == apiclient.KindForbidden {
		return nil
	}
	return err
}

// readCalls reads the calls to a person, from most services in one request.
func (r *record) readCalls(ctx context.Context, client *apiclient.Client) error {
	o := apitype.CallListOptions{Paging: apitype.Paging{First: new(callsLooked)}}
	if has, err := client.Has(ctx, apitype.ExtensionFilters); err != nil || has {
		o.PersonUUID = &r.ref.ID
		page, read := client.Calls.List(ctx, o)
		r.calls, r.moreCalls = apiclient.Rows(page, itself), page.HasNextPage || page.MayBeCut
		return ifAllowed(cmp.Or(err, read))
	}
	for _, p := range r.pledges[:min(len(r.pledges), pledgesWithCalls)] {
		pledge, err := apiclient.Decoded(client.Pledges.Get(ctx, p.UUID))
		if err != nil {
			return err
		}
		r.calls = append(r.calls, pledge.Calls.Value()...)
	}
	if owner := r.person.OwningOrganization.Pointer(); owner != nil {
		o.OwningOrganizationUUID = &owner.UUID
	}
	page, err := client.Calls.List(ctx, o)
	if err != nil {
		return ifAllowed(err)
	}
	r.moreCalls = page.HasNextPage || page.MayBeCut
	for _, call := range apiclient.Rows(page, itself) {
		if call.PersonUUID == r.ref.ID &&
			!slices.ContainsFunc(r.calls, func(c apitype.Call) bool { return c.UUID == call.UUID }) {
			r.calls = append(r.calls, call)
		}
	}
	slices.SortStableFunc(r.calls, func(a, b apitype.Call) int { return b.RequestedAt.Compare(a.RequestedAt.Time) })
	return nil
}

// donor returns the donor of a record, or nil if it is not known.
func (r record) donor() *apitype.Person {
	if r.call != nil {
		return r.call.Person.Pointer()
	}
	if r.pledge != nil {
		return r.pledge.Person.Pointer()
	}
	return r.person
}

// status returns the state of a record, or an empty text.
func (r record) status() string {
	if r.call != nil {
		return string(r.call.Status)
	}
	if r.pledge != nil {
		return string(r.pledge.Status)
	}
	return ""
}

// kindTitles are the titles of records, in English.
var kindTitles = map[apitype.EntityName]string{
	apitype.EntityCall:   "Call",
	apitype.EntityPerson: "Person",
	apitype.EntityPledge: "Pledge",
}

// nameOnBand draws the name of a donor, with the language and the age, on the ground of the band. It returns nothing
// without a donor.
func nameOnBand(e *Env, p *apitype.Person, width int) []string {
	if p == nil {
		return nil
	}
	name, about := "  "+Clean(render.PersonName(*p)), Clean(strings.Join(e.Day.Card().About(*p), " · "))
	if render.Width(name)+render.Width(about)+1 <= width {
		return []string{e.Styles.onBand(widget.Fit(name, width-render.Width(about)-1)+about, width)}
	}
	var lines []string
	for _, part := range append(widget.Wrap(name, width), "  "+about) {
		lines = append(lines, e.Styles.onBand(part, width))
	}
	return lines
}

// show opens a record above the list.
func (l *List[T]) show(ref Reference) tea.Cmd { return l.ShowFrom(ref, NoPage) }

// ShowFrom shows a record that another page asked for.
func (l *List[T]) ShowFrom(ref Reference, from int) tea.Cmd {
	d := &detail{ref: ref, from: from}
	l.stack = append(l.stack, d)
	return l.readDetail(d)
}

func (l *List[T]) readDetail(d *detail) tea.Cmd {
	d.seq++
	return loadAs(
		l.Env,
		"record read",
		&d.seq,
		func(ctx context.Context) (record, error) { return readRecord(ctx, l.Day.Client, d.ref) },
		func(r record, err error) tea.Cmd {
			l.onRecord(d, r, err)
			return nil
		},
	)
}

func (d *detail) chosen(fields []field) (field, bool) {
	if d.cursor >= len(fields) {
		return field{}, false
	}
	return fields[d.cursor], true
}

// move moves the cursor over fields, not over headings.
func (d *detail) move(by int, fields []field) {
	if len(fields) == 0 {
		return
	}
	d.cursor = min(max(d.cursor+by, 0), len(fields)-1)
	step := 1
	if by < 0 {
		step = -1
	}
	for d.cursor+step >= 0 && d.cursor+step < len(fields) && fields[d.cursor].head {
		d.cursor += step
	}
}

// fields returns all of the record; none points to the record itself.
func (d *detail) fields(s *Env) []field {
	var all []field
	switch {
	case d.record.call != nil:
		all = callFields(s, *d.record.call)
	case d.record.pledge != nil:
		all = pledgeFields(s, *d.record.pledge)
	case d.record.person != nil:
		all = personDetail(s, d.record)
	}
	if len(all) > 0 {
		all = append(all, field{label: string(d.ref.Kind), text: d.ref.ID.String(), raw: true})
	}
	column := labelWidth // No label is cut.
	for _, f := range all {
		if !f.head && !f.raw {
			column = max(column, min(render.Width(s.Say(f.label))+1, mostLabel))
		}
	}
	for i := range all {
		all[i].cells = cmp.Or(all[i].cells, column)
		if all[i].to != nil && *all[i].to == d.ref {
			all[i].to = nil
		}
	}
	return all
}

// lines draws the record; with focus its chosen field is shown and kept in sight.
func (d *detail) lines(s *Env, frame widget.Frame, height int, focus bool) []string {
	status := d.record.status()
	words := s.Styles.statusText(status)
	if d.ref.Kind == apitype.EntityPledge {
		words = s.Styles.pledgeText(apitype.PledgeStatus(status))
	}
	lines := []string{frame.Top(s.Styles.bold(s.Say(kindTitles[d.ref.Kind])), s.Styles.pill(status, words))}
	if d.failed != nil {
		for _, text := range described(s.Say, d.failed) {
			for _, part := range widget.Wrap(Clean(text), frame.Inner()) {
				lines = append(lines, frame.Line(s.Styles.Bad(part)))
			}
		}
		return frame.Close(lines, height)
	}
	if !d.ready {
		sign := "…"
		if focus {
			sign = s.Spinner.Sign()
		}
		return frame.Close(append(lines, frame.Line(s.Styles.Dim(s.Say("reading")+sign))), height)
	}
	name := nameOnBand(s, d.record.donor(), frame.Inner())
	lines = append(lines, frame.Lines(name...)...)
	var all []string
	first, last := 0, 0
	for i, f := range d.fields(s) {
		if f.raw && !focus {
			continue
		}
		f.band = f.band && len(name) > 0
		isChosen := focus && i == d.cursor
		drawn := f.lines(s.Styles, frame.Inner(), isChosen)
		if i == d.cursor {
			first, last = len(all), len(all)+len(drawn)
		}
		all = append(all, drawn...)
	}
	room := height - len(lines)
	if !frame.Bare {
		room--
	}
	d.view.Set(all, room)
	if focus {
		d.view.Keep(first, last)
	}
	if below := d.view.Below(); below > 0 {
		frame.Foot = s.Styles.Dim(s.Day.Count(below, "more line", "more lines"))
	}
	return frame.Close(append(lines, frame.Lines(d.view.Lines()...)...), height)
}

// described returns an error with its details, for a dialog.
func described(say func(string, ...any) string, err error) []string {
	lines := []string{say(err.Error())}
	if failure, ok := errors.AsType[*apiclient.Error](err); ok {
		for _, detail := range failure.Detail {
			lines = append(lines, say(detail))
		}
		if failure.RequestID != "" {
			lines = append(lines, say("request %s", failure.RequestID))
		}
	}
	return lines
}
