package page

import (
	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/card"
)

// NewPersons returns the list of persons.
func NewPersons(e *Env) *List[apitype.Person] {
	type options = apitype.PersonListOptions
	return newList(e, noun[apitype.Person]{
		kind:    apitype.EntityPerson,
		columns: render.PersonList(),
		title:   []string{"name"},
		about:   func(p apitype.Person) Row { return Row{ID: p.UUID} },
		views:   personViews(),
		also: func(p apitype.Person) string { // A number as the service has it.
			return apitype.TextOf(p.MobilePhoneNumber) + " " + apitype.TextOf(p.PhoneNumber)
		},
	}, source[apitype.Person, options]{
		of:      func(c *apiclient.Client) *apiclient.Collection[apitype.Person, options] { return c.Persons },
		filters: apitype.PersonFilters(),
		paging:  func(o *options) *apitype.Paging { return &o.Paging },
		// The interface shows new persons only.
		feeds: func(o options) (options, []string) { return o, []string{"createdAfter"} },
		search: func(o *options, words string) bool {
			o.Search = words
			return words != ""
		},
		words:   "words; for example",
		example: "createdAfter=30d jansen",
	})
}

// personDetail returns all of a person, with its pledges and calls.
func personDetail(e *Env, r record) []field {
	f := &fields{Env: e}
	f.phones(*r.person)
	if len(r.pledges) > 0 {
		title := f.Day.Count(len(r.pledges), "pledge", "pledges")
		if r.morePledges {
			title += f.Say(", there are more")
		}
		f.head(title)
	}
	for _, p := range r.pledges {
		f.add(
			"pledge",
			f.Say(
				"%s, %s %s, created %s",
				f.Styles.pledgeText(p.Status),
				f.euros(p.DonationAmount),
				f.Say(render.Words(string(p.DonationInterval))),
				f.ago(p.CreatedAt.Time),
			),
		)
		_, role := f.Styles.status(string(p.Status))
		f.last().to, f.last().copy, f.last().role = &Reference{apitype.EntityPledge, p.UUID}, p.UUID.String(), role
	}
	f.calls(r.calls)
	if r.moreCalls {
		f.add("other calls", f.Say("only the newest %d were read; Enter lists all", callsLooked))
		f.last().list = listing{CallsPage, "person=" + r.ref.ID.String()}
	}
	f.person(*r.person)
	return f.all
}

func (f *fields) person(p apitype.Person) {
	f.head("Person")
	f.add("name", render.PersonName(p))
	f.last().to, f.last().copy = &Reference{apitype.EntityPerson, p.UUID}, p.UUID.String()
	f.text("title", p.AcademicTitle)
	if p.DateOfBirth != nil {
		f.add("born", f.Day.Date(f.Day.Locale.Date(p.DateOfBirth.Midnight(), "2 January 2006")))
		f.last().copy = p.DateOfBirth.String()
	}
	f.add("gender", f.Say(render.Words(apitype.TextOf(p.Gender))))
	f.add("language", f.Say(render.Language(apitype.TextOf(p.Language))))
	f.text("e-mail", p.Email)
	f.add("address", render.AddressLine(p.Address.Pointer()))
	if p.IBAN != nil {
		f.add("IBAN", f.secret(*p.IBAN, render.MaskIBAN))
		f.last().copy = *p.IBAN
	}
	if number := p.SocialSecurityNumber.Pointer(); number != nil {
		// It is longer than a label.
		f.add("", f.Say("social security number")+" "+f.secret(*number, render.MaskDigits))
		f.last().copy = *number
	}
	f.add("opt-ins", card.OptInWords(f.Say, p))
	if m := p.Mandate.Pointer(); m != nil {
		f.time("mandate", &m.CreatedAt)
	}
	if o := p.OwningOrganization.Pointer(); o != nil {
		f.add("owned by", o.Name)
	}
	f.time("created", &p.CreatedAt)
	f.quality(p.QualityResult.Pointer())
}

// quality adds the gates with their explanations.
func (f *fields) quality(q *apitype.QualityResult) {
	if q == nil {
		return
	}
	decimal := func(n apitype.Number) string { return f.Day.Locale.Decimal(n.String()) }
	f.head(f.Say("Data quality %s %% (%s of %s)", decimal(q.Percentage), decimal(q.Score), decimal(q.MaxScore)))
	for _, gate := range q.GateResults {
		f.add(render.Words(gate.Identifier), decimal(gate.Percentage)+" % "+gate.Explanation)
		if card.IsLow(gate) {
			f.last().role = f.Styles.Warn
			f.last().text = f.Styles.WarnSign + " " + f.last().text
		}
		if len(gate.Metadata) > 2 {
			f.object("", gate.Metadata)
		}
	}
}
