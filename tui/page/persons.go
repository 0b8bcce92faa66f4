package page

import (
	"context"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
)

// personRows makes the rows of persons. Words are looked for in a number as the service has
// it, too.
func personRows(e *Env) *rowMaker[apitype.Person] {
	m := newRowMaker(e, render.PersonList(), func(p apitype.Person) Row { return Row{ID: p.UUID} }, "createdAt", "name")
	m.also = func(p apitype.Person) string {
		return desk.Value(p.MobilePhoneNumber) + " " + desk.Value(p.PhoneNumber)
	}
	return m
}

// NewPersons returns the list of persons.
func NewPersons(s *Env) *List {
	fields := filterFields(apitype.PersonFilters())
	return newList(s, records{
		name: "persons", kind: KindPerson,
		columns: personRows(s).columns(), search: Row.search,
		Hint: []string{
			s.Say("by the service") + ": " + strings.Join(fieldNames(fields), " "),
			s.Say("local, over what is read") + ": " + s.Say("words; for example") + ": createdAfter=30d jansen",
		},
		fields: fields,
		parse:  func(text string) (query, error) { return personQuery(s, text) },
		bulk: func(rows []Row, sent func()) []Option {
			return []Option{s.askMark(apitype.EntityPerson, targetsOf(rows, sent, nil))}
		},
	})
}

func personQuery(e *Env, text string) (query, error) {
	t, o, err := readFilter(e.Say, text, e.Day.Now(), apitype.PersonFilters())
	if err != nil {
		return query{}, err
	}
	m := personRows(e)
	return query{
		keep: keepTerms(t, Row.search, nil), says: t.says(e.Say),
		// The interface tells new persons only, not changed ones.
		changed: func(ctx context.Context, since apitype.Time) ([]Row, error) {
			o := o
			o.CreatedAfter = later(o.CreatedAfter, since)
			return m.changed(e.Day.Client.Persons.All(ctx, o, mostChanged))
		},
		fetch: m.fetch(func(ctx context.Context, p apitype.Paging) (apiclient.Page[apitype.Person], error) {
			o := o
			o.Paging = p
			return e.Day.Client.Persons.List(ctx, o)
		}),
	}, nil
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
		f.add("pledge", f.Say("%s, %s %s, created %s", f.Styles.statusText(string(p.Status)), f.euros(p.DonationAmount), f.Say(render.Words(string(p.DonationInterval))), f.ago(p.CreatedAt.Time)))
		_, role := f.Styles.status(string(p.Status))
		f.last().to, f.last().copy, f.last().role = &Reference{KindPledge, p.UUID}, p.UUID.String(), role
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
	f.last().to, f.last().copy = &Reference{KindPerson, p.UUID}, p.UUID.String()
	f.text("title", p.AcademicTitle)
	if p.DateOfBirth != nil {
		f.add("born", f.Day.Locale.Date(p.DateOfBirth.Midnight(), "2 January 2006"))
		f.last().copy = p.DateOfBirth.String()
	}
	f.add("gender", f.Say(render.Words(desk.Value(p.Gender))))
	f.add("language", f.Say(render.Language(desk.Value(p.Language))))
	f.text("e-mail", p.Email)
	f.add("address", desk.Address(p.Address.Pointer()))
	if p.IBAN != nil {
		f.add("IBAN", f.iban(*p.IBAN))
		f.last().copy = *p.IBAN
	}
	if number := p.SocialSecurityNumber.Pointer(); number != nil {
		f.add("", f.Say("social security number")+" "+f.digits(*number)) // It is longer than a label.
		f.last().copy = *number
	}
	f.add("opt-ins", desk.OptInWords(f.Say, p))
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
		if desk.IsLow(gate) {
			f.last().role = f.Styles.Warn
			f.last().text = f.Styles.WarnSign + " " + f.last().text
		}
		if len(gate.Metadata) > 2 {
			f.object("", gate.Metadata)
		}
	}
}
