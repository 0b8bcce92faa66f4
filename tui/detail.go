package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/widget"
)

// record is one record read whole, by what it is.
type record struct {
	ref    reference
	call   *apitype.Call
	person *apitype.Person
	pledge *apitype.Pledge
	// Of a person: its pledges, and whether there are more than were read.
	pledges     []apitype.Pledge
	morePledges bool
}

// detail is a record on screen. Its fields are made when it is drawn, so that masking
// and times are always right.
type detail struct {
	ref    reference
	record record
	seq    int
	ready  bool
	failed error
	cursor int // Index of the chosen field.
	top    int // First line in sight.
	from   int // Index of the page that esc goes back to; noPage: the list.
	// Beside a list it is drawn with every key, and the same most of the time.
	beside      []string
	besideState besideState
}

// besideState is all that a record beside a list depends on.
type besideState struct {
	seq, width, height int
	ready, revealed    bool
	failed             error
	minute             int64 // The times that it tells are not finer.
}

// besideLines draws the record beside its list.
func (d *detail) besideLines(s *shell, width, height int) []string {
	state := besideState{d.seq, width, height, d.ready, s.revealed, d.failed, s.Now().Unix() / 60}
	if d.beside == nil || d.besideState != state {
		d.besideState, d.beside = state, d.lines(s, width, height, false)
	}
	return d.beside
}

// noPage is no page's index.
const noPage = -1

// readRecord reads a record of any kind.
func readRecord(ctx context.Context, client *apiclient.Client, ref reference) (record, error) {
	r := record{ref: ref}
	switch ref.kind {
	case kindCall:
		call, err := apiclient.Decoded(client.Calls.Get(ctx, ref.id))
		r.call = &call
		return r, err
	case kindPledge:
		pledge, err := apiclient.Decoded(client.Pledges.Get(ctx, ref.id))
		r.pledge = &pledge
		return r, err
	default:
		person, err := apiclient.Decoded(client.Persons.Get(ctx, ref.id))
		r.person = &person
		if err != nil {
			return r, err
		}
		page, err := client.Pledges.List(ctx, apitype.PledgeListOptions{PersonUUID: &ref.id, Paging: apitype.Paging{First: new(50)}})
		if apiclient.KindOf(err) == apiclient.KindForbidden {
			return r, nil // The account may read persons and no pledges.
		}
		if err != nil {
			return r, err
		}
		r.morePledges = page.HasNextPage
		r.pledges, err = apiclient.Rows(page.Records, itself)
		return r, err
	}
}

// show opens a record above the list.
func (l *list[R]) show(ref reference) tea.Cmd { return l.showFrom(ref, noPage) }

// showFrom is show for a record that another page has asked for.
func (l *list[R]) showFrom(ref reference, from int) tea.Cmd {
	d := &detail{ref: ref, from: from}
	l.stack = append(l.stack, d)
	return l.readDetail(d)
}

func (l *list[R]) readDetail(d *detail) tea.Cmd {
	l.detailSeq++
	d.seq = l.detailSeq
	return l.load(l.page, d.seq, func(ctx context.Context) (any, error) { return readRecord(ctx, l.Client, d.ref) })
}

// chosen is the field under the cursor.
func (d *detail) chosen(fields []field) (f field, ok bool) {
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

// fields are all of the record; none points to the record itself.
func (d *detail) fields(s *shell) []field {
	var all []field
	switch {
	case d.record.call != nil:
		all = s.callFields(*d.record.call)
	case d.record.pledge != nil:
		all = s.pledgeFields(*d.record.pledge)
	case d.record.person != nil:
		all = s.personDetail(d.record)
	}
	for i := range all {
		if all[i].to != nil && *all[i].to == d.ref {
			all[i].to = nil
		}
	}
	return all
}

// lines draws the record; with focus its chosen field is shown and kept in sight.
func (d *detail) lines(s *shell, width, height int, focus bool) []string {
	title := fmt.Sprintf("%s %s", d.ref.kind, d.ref.id)
	lines := []string{s.styles.head(widget.Fit(title, width))}
	switch {
	case d.failed != nil:
		for _, text := range describe(d.failed) {
			for _, part := range widget.Wrap(clean(text), width) {
				lines = append(lines, s.styles.bad(part))
			}
		}
		return widget.Block(lines, width, height)
	case !d.ready:
		return widget.Block(append(lines, s.styles.dim("reading…")), width, height)
	}
	var all []string
	first, last := 0, 0
	for i, f := range d.fields(s) {
		drawn := f.draw(s.styles, width-2)
		if i == d.cursor {
			first, last = len(all), len(all)+len(drawn)
		}
		for j, line := range drawn {
			sign := "  "
			if f.to != nil && j == 0 {
				sign = s.styles.key("> ")
			}
			if focus && i == d.cursor {
				sign = s.styles.chosen("> ")
				if f.to == nil {
					sign = s.styles.chosen("  ")
				}
			}
			all = append(all, sign+line)
		}
	}
	room := height - 1
	if focus {
		d.top = min(d.top, first)
		d.top = max(d.top, last-room)
	}
	d.top = max(min(d.top, len(all)-room), 0)
	return widget.Block(append(lines, all[d.top:]...), width, height)
}

// describe is an error with its details, for a dialog.
func describe(err error) []string {
	lines := []string{err.Error()}
	if failure, ok := errors.AsType[*apiclient.Error](err); ok {
		lines = append(lines, failure.Detail...)
		if failure.RequestID != "" {
			lines = append(lines, fmt.Sprintf("request %s", failure.RequestID))
		}
	}
	return lines
}
