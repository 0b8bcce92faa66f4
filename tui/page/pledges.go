package page

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/changes"
)

// Pledges is the list of pledges.
type Pledges struct {
	*List[apitype.Pledge]
	links int // How often a link to a signature was asked for.
}

// NewPledges returns the list of pledges.
func NewPledges(e *Env) *Pledges {
	type options = apitype.PledgeListOptions
	v := &Pledges{}
	v.List = newList(e, noun[apitype.Pledge]{
		kind:    apitype.EntityPledge,
		columns: render.PledgeList(),
		title:   []string{"status", "donationAmount", "donationInterval"},
		about:   func(p apitype.Pledge) Row { return Row{ID: p.UUID, external: p.ExternalSource.Pointer() != nil} },
		bulk:    v.actions,
		views:   pledgeViews(),
	}, source[apitype.Pledge, options]{
		of:      func(c *apiclient.Client) *apiclient.Collection[apitype.Pledge, options] { return c.Pledges },
		filters: apitype.PledgeFilters(),
		paging:  func(o *options) *apitype.Paging { return &o.Paging },
		feeds: func(o options) (options, []string) {
			o.Status = nil // A pledge that left the status is a change, too.
			if o.ReleasedAfter == nil {
				return o, []string{"updatedAfter"}
			}
			return o, []string{"updatedAfter", "releasedAfter"} // A release is not an update.
		},
		remains: func(o options, r Row) bool { return o.Status == nil || v.text(r, "status") == string(*o.Status) },
		search: func(o *options, _ string) bool { // It includes donors.
			o.Include = append(o.Include, apitype.IncludePerson)
			return false
		},
		words:   "words; for example",
		example: "status=lead jansen",
	})
	return v
}

// pledgesActions returns the actions of the pledges alone.
func pledgesActions() []Action {
	return []Action{
		{
			ID:     "status-action",
			Scope:  ScopePledges,
			Keys:   "t",
			Help:   "status action on the pledge…",
			Word:   "status",
			Run:    on((*Pledges).AskStatus),
			Why:    onWhy((*Pledges).WhyNotStatus),
			Traits: AsksDigit,
		},
		{
			ID:    ActSign,
			Scope: ScopePledges,
			Keys:  "S",
			Help:  "link to the signature",
			Word:  "signature",
			Run:   on((*Pledges).AskSignature),
			Why:   onWhy((*Pledges).WhyNotStatus),
		},
	}
}

// WhyNotStatus returns the reason why no pledge can be acted on, or "".
func (v *Pledges) WhyNotStatus() string {
	if d := v.Front(); d != nil && d.ref.Kind == apitype.EntityPledge && d.record.pledge == nil {
		return "the pledge is not read yet"
	}
	return v.whyNotOf(apitype.EntityPledge, "only a pledge has that")
}

// AskStatus offers the status actions on the pledge.
func (v *Pledges) AskStatus() tea.Cmd {
	row, _ := v.Chosen()
	if d := v.Front(); d != nil {
		row = v.row(*d.record.pledge)
	}
	v.Dialog = NewChoice("Status action", "asks again before it does anything", v.actions([]Row{row}, nil))
	return nil
}

// actions returns the status actions of the profile, else of our service. Spec gap: G1.
func (v *Pledges) actions(rows []Row, sent func()) []Option {
	shown := make(map[apitype.UUID]apitype.PledgeStatus, len(rows))
	for _, row := range rows {
		shown[row.ID] = apitype.PledgeStatus(v.text(row, "status"))
	}
	var options []Option
	for _, act := range v.PledgeActions {
		t := v.targets(rows, sent, func(r Row) bool { return v.allows(r, act) })
		options = append(options, v.askEach(Clean(string(act)), t, func(id apitype.UUID, name string) changes.Change {
			return v.Day.Changes.Action(id, act, shown[id], string(act)+": "+name)
		}))
	}
	return options
}

// allows reports whether the state of the pledge allows an action, as far as our service has
// it: another action, and a pledge of another system, is the service's to judge. Spec gap: G1.
func (v *Pledges) allows(pledge Row, act apitype.PledgeAction) bool {
	status, released := apitype.PledgeStatus(v.text(pledge, "status")), v.text(pledge, "releasedAt") == "yes"
	if pledge.external {
		return true
	}
	if act == apitype.ActionActivate {
		return status == apitype.PledgeLead && released
	}
	if act == apitype.ActionDrop {
		return status == apitype.PledgeLead && !released
	}
	if act == apitype.ActionCancel {
		return status == apitype.PledgeActive || status == apitype.PledgeLead && released
	}
	if act == apitype.ActionFulfill {
		return status == apitype.PledgeActive
	}
	return true
}

func pledgeFields(e *Env, p apitype.Pledge) []field {
	f := &fields{Env: e}
	person := p.Person.Pointer()
	if person != nil {
		f.phones(*person)
	}
	f.gives(&p)
	if i := slices.IndexFunc(f.all, func(of field) bool { return of.to != nil }); i >= 0 {
		f.all[i].band = true
	}
	f.pledge(&p)
	if p.SignatureSignedURL != nil {
		f.add("signature", e.Say("there is one: %s gives the link", e.Host.KeyOf(ActSign)))
	}
	f.transactions(p.Transactions.Value())
	f.calls(p.Calls.Value())
	if person != nil {
		f.person(*person)
	}
	return f.all
}

// gives adds the donation of a pledge and its charity, as on the card of the Desk.
func (f *fields) gives(p *apitype.Pledge) {
	for i, line := range givesOf(f.Env, p, recordText) {
		if i == 0 {
			line.to, line.copy = &Reference{apitype.EntityPledge, p.UUID}, p.UUID.String()
		}
		if line.text != "" {
			f.all = append(f.all, line)
		}
	}
}

// recordText is the number of cells of a text in one line of most records.
const recordText = 30

// pledge adds the rest of a pledge, except embedded records.
func (f *fields) pledge(p *apitype.Pledge) {
	if p == nil {
		return
	}
	f.head("Pledge")
	f.time("starts", &p.StartsAt)
	f.time("ends", p.EndsAt)
	f.time("created", &p.CreatedAt)
	f.time("updated", &p.UpdatedAt)
	f.time("released", p.ReleasedAt.Pointer())
	if p.PreferredPaymentDay != nil {
		f.add("payment day", fmt.Sprint(*p.PreferredPaymentDay))
	}
	f.add("won via", f.Say(render.Recruitment(*p)))
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

// AskSignature reads the pledge again and copies the link to its signature, which is valid for one hour from then
// (interface: Limits). Spec gap: G10.
func (v *Pledges) AskSignature() tea.Cmd {
	ref, _ := v.Target()
	v.Messages.Say("asking for a link…")
	v.links++ // An answer that comes after that of a later pledge is dropped.
	read := func(ctx context.Context) (*string, error) {
		pledge, err := apiclient.Decoded(v.Day.Client.Pledges.Get(ctx, ref.ID))
		return pledge.SignatureSignedURL, err
	}
	return loadAs(v.Env, "link to a signature read", &v.links, read, v.copySignature)
}

func (v *Pledges) copySignature(link *string, err error) tea.Cmd {
	switch {
	case err != nil:
		v.Messages.Fail("cannot read the pledge", err)
	case link == nil:
		v.Messages.Say("this pledge has no signature")
	case !isWebLink(*link):
		v.Messages.Fail("the link of the signature is not an https address, so it was not copied", nil)
	default:
		return copyText(v.Say("signature link, valid for an hour"), *link)
	}
	return nil
}

// isWebLink reports whether a link may be given to a browser: https, or http of this
// machine, on which a service may be tried; and no character that is not seen.
func isWebLink(link string) bool {
	isSeen := Clean(link) == link && !strings.ContainsAny(link, " \"'<>\\`")
	parsed, err := url.Parse(link)
	if err != nil || !isSeen {
		return false
	}
	if parsed.Host == "" || parsed.User != nil {
		return false
	}
	if parsed.Scheme == "http" {
		host := parsed.Hostname()
		address := net.ParseIP(host)
		// The demo's links lie below localhost; they carry no token.
		return host == "localhost" || strings.HasSuffix(host, ".localhost") || (address != nil && address.IsLoopback())
	}
	return parsed.Scheme == "https"
}
