package tui

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// pledgeRow is what the list of pledges keeps of a pledge.
type pledgeRow struct {
	id                       apitype.UUID
	status, amount, interval word // Cleaned, like the others.
	campaign, recruited      word
	createdAt                moment
	released                 bool
}

func (s *shell) newPledgeRow(p apitype.Pledge) pledgeRow {
	return pledgeRow{
		id: p.UUID, status: newWord(clean(string(p.Status))), amount: newWord(s.Locale.Amount(p.DonationAmount)), interval: newWord(clean(string(p.DonationInterval))),
		campaign: newWord(clean(value(p.CampaignCode))), recruited: newWord(clean(value(p.RecruitmentType))), createdAt: newMoment(p.CreatedAt.Time),
		released: p.ReleasedAt.Pointer() != nil,
	}
}

// donation is what tells pledges of a person apart.
func (r pledgeRow) donation() string {
	return r.status.String() + " " + r.amount.String() + " " + r.interval.String()
}

// pledgesView is the list of pledges.
type pledgesView struct{ *list[pledgeRow] }

func newPledgesPage(s *shell) *pledgesView {
	l := newList(s, noun[pledgeRow]{
		page: pledgesPage, name: "pledges", kind: kindPledge, scopes: []scope{scopePledges},
		columns: []widget.Column[pledgeRow]{
			{Title: " Pledge", Width: 9, Text: func(b []byte, r pledgeRow) []byte { return desk.AppendShortID(append(b, ' '), r.id) }},
			{Title: "Status", Width: 9, Text: func(b []byte, r pledgeRow) []byte { return append(b, r.status.String()...) }},
			{Title: "Euros", Width: 9, Right: true, Text: func(b []byte, r pledgeRow) []byte { return append(b, r.amount.String()...) }},
			{Title: "Interval", Width: 11, Text: func(b []byte, r pledgeRow) []byte { return append(b, r.interval.String()...) }},
			{Title: "Age", Width: 4, Right: true, Text: func(b []byte, r pledgeRow) []byte { return appendAge(b, s.Now().Sub(r.createdAt.time())) }},
			{Title: "Released", Width: 8, Text: func(b []byte, r pledgeRow) []byte {
				return append(b, map[bool]string{true: "yes", false: "no"}[r.released]...)
			}},
			{Title: "Won", Width: 6, Text: func(b []byte, r pledgeRow) []byte { return append(b, r.recruited.String()...) }},
			{Title: "Campaign", Width: 8, Grow: true, Text: func(b []byte, r pledgeRow) []byte { return append(b, r.campaign.String()...) }},
		},
		id:    func(r pledgeRow) apitype.UUID { return r.id },
		order: func(r pledgeRow) time.Time { return r.createdAt.time() },
		row:   func(r pledgeRow) string { return desk.ShortID(r.id) + "  " + r.donation() },
		hint: []string{
			"by the service: " + strings.Join(filterNames(apitype.PledgeFilters()), " "),
			"local, over what is read: words; for example: status=lead updatedAfter=7d",
		},
		parse: s.pledgeQuery,
	})
	l.bulk = s.pledgeBulk
	return &pledgesView{l}
}

func (v *pledgesView) whyNotStatus() string { return v.whyNotOf(kindPledge, "only a pledge has that") }

// askStatus offers the status actions on the pledge.
func (v *pledgesView) askStatus() tea.Cmd {
	ref, _ := v.target()
	name := desk.ShortID(ref.id)
	if row, ok := v.chosen(); ok && row.id == ref.id {
		name = v.row(row)
	}
	v.sent = nil
	v.dialog = newChoice("Status action", "asks again before it does anything", v.pledgeActions([]apitype.UUID{ref.id}, []string{name}))
	return nil
}

// receive takes in a link to a signature, or what a list takes in.
func (v *pledgesView) receive(r result) tea.Cmd {
	if read, ok := r.value.(signatureRead); ok {
		v.onSignature(read, r.err)
		return nil
	}
	return v.list.receive(r)
}

// pledgeActions are the status actions of the profile, else of our service. Spec gap: G1.
func (s *shell) pledgeActions(ids []apitype.UUID, names []string) []option {
	var options []option
	for _, act := range s.PledgeActions {
		options = append(options, s.askEach(clean(string(act)), ids, names, func(id apitype.UUID, name string) desk.Change {
			return s.Action(id, act, string(act)+": "+name)
		}))
	}
	return options
}

func (s *shell) pledgeBulk(ids []apitype.UUID, names []string) []option {
	return append(s.pledgeActions(ids, names), s.askMark(apitype.EntityPledge, ids, names))
}

// pledgeQuery understands a filter on pledges.
func (s *shell) pledgeQuery(text string) (query[pledgeRow], error) {
	t, err := parseTerms(text, s.Now(), filterNames(apitype.PledgeFilters())...)
	if err != nil {
		return query[pledgeRow]{}, err
	}
	var o apitype.PledgeListOptions
	if err := setFilters(t, apitype.PledgeFilters(), &o); err != nil {
		return query[pledgeRow]{}, err
	}
	search := func(r pledgeRow) string {
		return strings.Join([]string{r.id.String(), r.donation(), r.campaign.String(), r.recruited.String()}, " ")
	}
	return query[pledgeRow]{
		keep: keepWords(t, search, nil), says: t.says(),
		still: func(r pledgeRow) bool { return o.Status == nil || r.status.String() == string(*o.Status) },
		changed: func(ctx context.Context, since apitype.Time) ([]pledgeRow, error) {
			read := func(o apitype.PledgeListOptions) ([]pledgeRow, error) {
				o.Status = nil // One that has left the status is a change, too.
				return readNews(s.newPledgeRow, s.Client.Pledges.All(ctx, o, apiclient.AllOptions{Limit: desk.MostChanges}))
			}
			updated, released := o, o
			updated.UpdatedAfter = later(o.UpdatedAfter, since)
			rows, err := read(updated)
			if err != nil || o.ReleasedAfter == nil {
				return rows, err
			}
			// A release is no update.
			released.ReleasedAfter = later(o.ReleasedAfter, since)
			more, err := read(released)
			return append(rows, more...), err
		},
		fetch: func(ctx context.Context, after string) (batch[pledgeRow], error) {
			o := o
			o.Paging = apitype.Paging{First: new(listPage), After: after}
			return readBatch(s.newPledgeRow)(s.Client.Pledges.List(ctx, o))
		},
	}, nil
}

// pledgeFields are all of a pledge.
func (s *shell) pledgeFields(p apitype.Pledge) []field {
	f := &fields{shell: s}
	f.pledge(&p)
	if p.SignatureSignedURL != nil {
		f.add("signature", "there is one: "+s.keys.keyOf(actSign)+" gives the link")
	}
	f.transactions(p.Transactions.Value())
	f.calls(p.Calls.Value())
	if person := p.Person.Pointer(); person != nil {
		f.person(*person)
	}
	return f.all
}

// pledge adds all of a pledge but what is embedded in it.
func (f *fields) pledge(p *apitype.Pledge) {
	if p == nil {
		return
	}
	f.head("Pledge")
	f.add("status", string(p.Status))
	f.last().to, f.last().copy = &reference{kindPledge, p.UUID}, p.UUID.String()
	f.add("donation", f.euros(p.DonationAmount)+" "+string(p.DonationInterval))
	if p.InitialDonationAmount != p.DonationAmount || p.InitialDonationInterval != p.DonationInterval {
		f.add("initially", f.euros(p.InitialDonationAmount)+" "+string(p.InitialDonationInterval))
	}
	f.time("starts", &p.StartsAt)
	f.time("ends", p.EndsAt)
	f.time("created", &p.CreatedAt)
	f.time("updated", &p.UpdatedAt)
	f.time("released", p.ReleasedAt.Pointer())
	if p.PreferredPaymentDay != nil {
		f.add("payment day", fmt.Sprint(*p.PreferredPaymentDay))
	}
	f.add("won by", value(p.RecruitmentType))
	f.text("location", p.RecruitingLocationLabel)
	f.text("campaign", p.CampaignCode)
	f.time("collection", p.CollectionDate)
	if o := p.OwningOrganization.Pointer(); o != nil {
		f.add("owned by", o.Name)
	}
	if o := p.RecruitingOrganization.Pointer(); o != nil {
		f.add("recruited by", o.Name)
	}
	if u := p.RecruiterUser.Pointer(); u != nil {
		f.add("recruiter", u.Name+" ("+u.Identifier+")")
	}
	for _, area := range p.FocusAreas.Value() {
		f.add("focus area", area.Name)
	}
	if source := p.ExternalSource.Pointer(); source != nil {
		f.add("external", source.Name+" "+source.Identifier)
	}
	if p.ExternalMetadata != nil {
		f.object("metadata", *p.ExternalMetadata)
	}
}

// signatureRead is a fresh link to a signature.
type signatureRead struct {
	id   apitype.UUID
	link string
	till time.Time
}

// askSignature reads the pledge again for a link that is valid now.
func (v *pledgesView) askSignature() tea.Cmd {
	ref, _ := v.target()
	return v.readSignature(ref.id)
}

func (v *pledgesView) readSignature(id apitype.UUID) tea.Cmd {
	v.say("asking for a link…")
	return v.load(v.page, v.seq, func(ctx context.Context) (any, error) {
		asked := v.Now()
		pledge, err := apiclient.Decoded(v.Client.Pledges.Get(ctx, id))
		if err != nil || pledge.SignatureSignedURL == nil {
			return signatureRead{}, err
		}
		// Valid for one hour (interface: Limits). Spec gap: G10.
		return signatureRead{id: id, link: *pledge.SignatureSignedURL, till: asked.Add(time.Hour)}, nil
	})
}

// onSignature offers the link.
func (v *pledgesView) onSignature(read signatureRead, err error) {
	if err != nil {
		v.fail("cannot read the pledge", err)
		return
	}
	switch {
	case read.link == "":
		v.say("this pledge has no signature")
		return
	case !isWebLink(read.link):
		v.fail("the signature's link is no https address, and not offered", nil)
		return
	}
	v.message = message{}
	dialog := newChoice("Signature", "", []option{
		{key: "y", label: "copy the link: " + clean(read.link), run: func() tea.Cmd {
			if !v.Now().Before(read.till) {
				return v.readSignature(read.id) // It is over: there is a new one.
			}
			return copyText("signature link", read.link)
		}},
	})
	dialog.hintNow = func() string {
		left := read.till.Sub(v.Now())
		if left <= 0 {
			return "no longer valid: y asks for a new one"
		}
		return fmt.Sprintf("valid for %d more minutes", int(left.Minutes()))
	}
	v.dialog = dialog
}

// isWebLink reports whether a link may be given to a browser: https, or http of this
// machine, on which a service may be tried; and no character that is not seen.
func isWebLink(link string) bool {
	parsed, err := url.Parse(link)
	if err != nil || parsed.Host == "" || parsed.User != nil || clean(link) != link || strings.ContainsAny(link, " \"'<>\\`") {
		return false
	}
	if parsed.Scheme == "http" {
		host := parsed.Hostname()
		address := net.ParseIP(host)
		return host == "localhost" || strings.HasSuffix(host, ".localhost") || (address != nil && address.IsLoopback())
	}
	return parsed.Scheme == "https"
}
