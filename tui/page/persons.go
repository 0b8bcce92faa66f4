package page

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// PersonRow is what the list of persons keeps of a person.
type PersonRow struct {
	ID                 apitype.UUID
	name, phone, email string   // Cleaned.
	dialled            string   // The phone number as it is dialled here.
	city, language     interned // Cleaned.
	createdAt          timestamp
}

func (e *Env) newPersonRow(p apitype.Person) PersonRow {
	row := PersonRow{
		ID: p.UUID, name: Clean(render.PersonName(p)), email: Clean(desk.Value(p.Email)),
		language: intern(Clean(render.Language(desk.Value(p.Language)))), createdAt: newTimestamp(p.CreatedAt.Time), phone: Clean(desk.Value(p.MobilePhoneNumber)),
	}
	if row.phone == "" {
		row.phone = Clean(desk.Value(p.PhoneNumber))
	}
	row.dialled = e.Locale.Phone(row.phone)
	if a := p.Address.Pointer(); a != nil {
		row.city = intern(Clean(a.City))
	}
	return row
}

// UUID implements Row.
func (r PersonRow) UUID() apitype.UUID { return r.ID }

// Title implements Row.
func (r PersonRow) Title() string { return desk.ShortID(r.ID) + "  " + r.name }

func (r PersonRow) search() string {
	return r.ID.String() + " " + r.name + " " + r.city.String() + " " + r.phone + " " + r.dialled + " " + r.email
}

// NewPersons is the list of persons.
func NewPersons(s *Env) *List[PersonRow] {
	return newList(s, records[PersonRow]{
		page: PersonsPage, name: "persons", kind: KindPerson,
		columns: []widget.Column[PersonRow]{
			{Title: " Person", Width: 9, Text: func(b []byte, r PersonRow) []byte { return desk.AppendShortID(append(b, ' '), r.ID) }},
			{Title: "Name", Width: 18, Grow: true, Text: func(b []byte, r PersonRow) []byte { return append(b, r.name...) }},
			{Title: "City", Width: 12, Text: func(b []byte, r PersonRow) []byte { return append(b, r.city.String()...) }},
			{Title: "Phone", Width: 14, Text: func(b []byte, r PersonRow) []byte { return append(b, r.dialled...) }},
			{
				Title: "Created", Width: 7, Right: true, Compare: func(a, b PersonRow) int { return cmp.Compare(b.createdAt, a.createdAt) },
				Text: func(b []byte, r PersonRow) []byte { return render.AppendAge(b, s.Now().Sub(r.createdAt.time())) },
			},
			{Title: "Language", Width: 9, Text: func(b []byte, r PersonRow) []byte { return append(b, r.language.String()...) }},
			{Title: "E-mail", Width: 16, Grow: true, Text: func(b []byte, r PersonRow) []byte { return append(b, r.email...) }},
		},
		order:  func(r PersonRow) time.Time { return r.createdAt.time() },
		search: PersonRow.search,
		Hint: []string{
			"by the service: " + strings.Join(filterNames(apitype.PersonFilters()), " "),
			"local, over what is read: words; for example: createdAfter=30d jansen",
		},
		fields: filterFields(apitype.PersonFilters()),
		parse:  s.personQuery,
		bulk: func(rows []PersonRow, sent func()) []Option {
			return []Option{s.askMark(apitype.EntityPerson, targetsOf(rows, sent, nil))}
		},
	})
}

// personQuery understands a filter on persons.
func (e *Env) personQuery(text string) (query[PersonRow], error) {
	t, o, err := readFilter(text, e.Now(), apitype.PersonFilters())
	if err != nil {
		return query[PersonRow]{}, err
	}
	return query[PersonRow]{
		keep: keepTerms(t, PersonRow.search, nil), says: t.says(),
		// The interface tells new persons only, not changed ones.
		changed: func(ctx context.Context, since apitype.Time) ([]PersonRow, error) {
			o := o
			o.CreatedAfter = later(o.CreatedAfter, since)
			return readUpdates(e.Client, e.newPersonRow, e.Client.Persons.All(ctx, o, apiclient.AllOptions{Limit: desk.MostChanges}))
		},
		fetch: func(ctx context.Context, after string) (batch[PersonRow], error) {
			o := o
			o.Paging = apitype.Paging{First: new(ListPage), After: after}
			return readBatch(e.newPersonRow)(e.Client.Persons.List(ctx, o))
		},
	}, nil
}

// personDetail are all of a person, with its pledges and calls.
func (e *Env) personDetail(r record) []field {
	f := &fields{Env: e}
	f.person(*r.person)
	if len(r.pledges) > 0 {
		title := render.Plural(len(r.pledges), "pledge", "pledges")
		if r.morePledges {
			title += ", there are more"
		}
		f.head(title)
	}
	for _, p := range r.pledges {
		f.add("pledge", fmt.Sprintf("%s, %s %s, created %s", render.Words(string(p.Status)), f.euros(p.DonationAmount), render.Words(string(p.DonationInterval)), f.ago(p.CreatedAt.Time)))
		f.last().to, f.last().copy = &Reference{KindPledge, p.UUID}, p.UUID.String()
	}
	f.calls(r.calls)
	if r.moreCalls {
		f.add("other calls", fmt.Sprintf("only the newest %d were looked through for those without a pledge; Enter looks through all", callsLooked))
		f.last().list = listing{CallsPage, "person=" + r.ref.ID.String()}
	}
	return f.all
}

// person adds all of a person.
func (f *fields) person(p apitype.Person) {
	f.head("Person")
	f.add("name", render.PersonName(p))
	f.last().to, f.last().copy = &Reference{KindPerson, p.UUID}, p.UUID.String()
	f.text("title", p.AcademicTitle)
	if p.DateOfBirth != nil {
		f.add("born", f.Locale.Date(p.DateOfBirth.Midnight(), time.DateOnly))
		f.last().copy = p.DateOfBirth.String()
	}
	f.add("gender", render.Words(desk.Value(p.Gender)))
	f.add("language", render.Language(desk.Value(p.Language)))
	f.phone("mobile", p.MobilePhoneNumber)
	f.phone("phone", p.PhoneNumber)
	f.text("e-mail", p.Email)
	f.add("address", desk.Address(p.Address.Pointer()))
	if p.IBAN != nil {
		f.add("IBAN", f.iban(*p.IBAN))
		f.last().copy = *p.IBAN
	}
	if number := p.SocialSecurityNumber.Pointer(); number != nil {
		f.add("", "social security number "+f.digits(*number)) // It is longer than a label.
		f.last().copy = *number
	}
	f.add("opt-ins", desk.OptInWords(p))
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
	f.head(fmt.Sprintf("Data quality %s %% (%s of %s)", q.Percentage, q.Score, q.MaxScore))
	for _, gate := range q.GateResults {
		f.add(render.Words(gate.Identifier), fmt.Sprintf("%s %% %s", gate.Percentage, gate.Explanation))
		if desk.IsLow(gate) {
			f.last().role = f.Styles.Warn
			f.last().text = f.Styles.WarnSign + " " + f.last().text
		}
		if len(gate.Metadata) > 2 {
			f.object("", gate.Metadata)
		}
	}
}
