package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// ListPersons returns a page of the persons in the caller's scope.
// GET /api/v1/persons (interface: Persons)
func (s *Service) ListPersons(ctx context.Context, c Caller, o apitype.PersonListOptions) (Answer, error) {
	if err := c.Require(PersonsRead); err != nil {
		return Answer{}, err
	}
	scope, ok := c.Scope.Narrow(o.OwningOrganizationUUIDs)
	filter := PersonFilter{
		Scope:        scope,
		CreatedAfter: o.CreatedAfter,
		UpdatedAfter: o.UpdatedAfter,
		IBAN:         o.IBAN,
		Search:       ParseSearch(o.Search),
		WithRev:      o.Revisions,
	}
	if !c.May(PledgesRead) { // The payments of a pledge are not for the account, nor whose they are.
		filter.Search = filter.Search.withoutPayers()
	}
	isEmpty := !ok || o.Search != "" && len(filter.Search) == 0 // Spec gap: L8
	l := listing[PersonRow]{
		what:    "list persons",
		kind:    personCursor,
		paging:  o.Paging,
		isEmpty: isEmpty,
		rows:    func(r Reader, part Range) ([]PersonRow, error) { return r.Persons(filter, part) },
		several: len(filter.Search) > 0 || filter.IBAN != "",
		size:    PersonRow.Size,
		node:    func(dst []byte, row PersonRow) []byte { return append(dst, row.Doc...) },
		note:    AuditPersonList,
		filters: o.Query,
		shown:   func(persons []apitype.UUID, row PersonRow) []apitype.UUID { return append(persons, row.UUID) },
	}
	if o.Revisions {
		l.rev = func(row PersonRow) int64 { return row.Rev }
	}
	if o.Consents {
		l = withConsents(l)
	}
	return answerList(ctx, s, c, l)
}

// ListErasures returns a page of the erased persons, the last one first, so that programs erase them from their
// copies, too.
// GET /fundesk/v1/erasures
func (s *Service) ListErasures(ctx context.Context, c Caller, o apitype.ErasureListOptions) (Answer, error) {
	if err := c.Require(PersonsRead); err != nil {
		return Answer{}, err
	}
	return answerList(ctx, s, c, listing[ErasedPerson]{
		what:   "list erasures",
		kind:   erasureCursor,
		paging: o.Paging,
		rows:   func(r Reader, part Range) ([]ErasedPerson, error) { return r.Erasures(c.Scope, part) },
		size:   ErasedPerson.Size,
		node: func(dst []byte, row ErasedPerson) []byte {
			return append(
				append(
					append(append(append(dst, `{"uuid":"`...), row.UUID.String()...), `","erasedAt":"`...),
					row.ErasedAt.String()...),
				`"}`...)
		},
	})
}

func (p ErasedPerson) position() Position { return Position{At: p.ErasedAt, UUID: p.UUID} }

// Size returns the length of the person in a page, in bytes.
func (p ErasedPerson) Size() int { return 100 }

func (p PersonRow) position() Position { return Position{At: p.CreatedAt, UUID: p.UUID} }

// GetPerson returns one person.
// GET /api/v1/persons/{uuid} (interface: Persons)
func (s *Service) GetPerson(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(PersonsRead); err != nil {
		return Answer{}, err
	}
	var answer Answer
	err := s.Read(ctx, ReadRecord, "read the person", func(r Reader) error {
		row, err := VisiblePerson(r, c, id)
		answer = personAnswer(row)
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	return answer, s.NoteRead(ctx, c.Audited(AuditPersonGet, id, s.Now()).Of(id))
}

// VisiblePerson returns a person in the caller's scope. Spec gap: A3.
func VisiblePerson(r Reader, c Caller, id apitype.UUID) (PersonRow, error) {
	row, err := r.Person(id, c.Scope)
	return row, OrNotFound(err, "person")
}

// personToRefer returns a person in the caller's scope for a new record about that person.
func personToRefer(tx Tx, c Caller, id apitype.UUID) (PersonRow, error) {
	row, err := tx.PersonToRefer(id, c.Scope)
	return row, OrNotFound(err, "person")
}

func personAnswer(row PersonRow) Answer { return Answer{JSON: AppendPerson(nil, row), Rev: row.Rev} }

// AppendPerson writes a person with everything that is known of it. Spec gap: L14.
func AppendPerson(dst []byte, row PersonRow) []byte {
	if len(row.Doc) == 0 {
		return dst
	}
	return AppendWith(dst, row.Doc, "qualityResult", row.Quality)
}

// CreatePerson saves a new person.
// POST /api/v1/persons (interface: Persons)
func (s *Service) CreatePerson(
	ctx context.Context,
	c Caller,
	request apitype.CreatePersonRequest,
) (Answer, error) {
	if err := cmp.Or(c.Require(PersonsCreate), NotValid(request.Validate(s.clock()))); err != nil {
		return Answer{}, err
	}
	id := chosenUUID(request.UUID)
	var row PersonRow
	err := s.Write(ctx, WriteIsolated, "create the person", func(tx Tx) error {
		owner, _, err := organizations(tx, c, request.OwningOrganizationUUID, request.RecruitingOrganizationUUID)
		if err != nil {
			return err
		}
		now, err := s.ChangeTime(tx)
		if err != nil {
			return err
		}
		row, err = newPerson(id, request, owner, now)
		if err != nil {
			return err
		}
		line := personAudited(c.Audited(AuditPersonCreate, id, now), PersonRow{}, row)
		if err := tx.InsertPerson(row, &line); err != nil {
			return orTaken(err, "person")
		}
		return nil
	})
	if err != nil {
		return Answer{}, err
	}
	return personAnswer(row), nil
}

// organizations returns the two organizations of a creation. It refuses an unknown one like one outside the caller's
// scope, which is not looked up: the time of an answer must not tell them apart. Spec gap: R2.
func organizations(r Reader, c Caller, owning, recruiting apitype.UUID) (owner, recruiter Organization, err error) {
	var v apitype.Violations
	look := func(pointer string, id apitype.UUID) (o Organization, err error) {
		err = ErrNoRow
		if c.Scope.Contains(id) {
			o, err = r.Organization(id)
		}
		if errors.Is(err, ErrNoRow) {
			v.Add(pointer, "names no organization of the account")
			return Organization{}, nil
		}
		return o, err
	}
	owner, err = look("/owningOrganizationUuid", owning)
	if err != nil {
		return owner, recruiter, err
	}
	if recruiting == owning && len(v) == 0 {
		return owner, owner, nil
	}
	recruiter, err = look("/recruitingOrganizationUuid", recruiting)
	if err != nil {
		return owner, recruiter, err
	}
	return owner, recruiter, NotValid(v)
}

// newPerson returns the person of a creation. Spec gaps: P1, P4.
func newPerson(
	id apitype.UUID,
	r apitype.CreatePersonRequest,
	owner Organization,
	now apitype.Time,
) (PersonRow, error) {
	person := apitype.Person{
		UUID:                 id,
		PersonUUID:           id,
		AcademicTitle:        r.AcademicTitle,
		DateOfBirth:          r.DateOfBirth,
		SocialSecurityNumber: apitype.EmbedPointer(r.SocialSecurityNumber),
		IBAN:                 r.IBAN,
		PhoneNumber:          r.PhoneNumber,
		MobilePhoneNumber:    r.MobilePhoneNumber,
		Email:                r.Email,
		Gender:               r.Gender,
		Language:             r.Language,
		CreatedAt:            now,
		Address:              apitype.EmbedPointer(r.Address),
		Mandate:              apitype.EmbedPointer[apitype.Mandate](nil),
		OwningOrganization:   apitype.Embed(owner.OrganizationReference),
	}
	if n := r.Name; n != nil {
		person.Initials, person.FirstName = n.Initials, n.FirstName
		person.LastNamePrefix, person.LastName = n.LastNamePrefix, n.LastName
	}
	if o := r.OptIns; o != nil {
		person.OptInEmail, person.OptInMail, person.OptInPhone, person.OptInSMS = o.Email, o.Mail, o.Phone, o.SMS
	}
	row := PersonRow{Recruiting: r.RecruitingOrganizationUUID, UpdatedAt: now, Rev: 1}
	if m := r.Mandate; m != nil {
		row.MandateID = m.ID
		created := now
		if m.CreatedAt != nil {
			created = *m.CreatedAt
		}
		person.Mandate = apitype.Embed(apitype.Mandate{CreatedAt: created})
	}
	return row, row.write(person)
}

// person returns the record of the row.
func (p *PersonRow) person() (apitype.Person, error) {
	var person apitype.Person
	err := decode("person", p.Doc, &person)
	return person, err
}

// write puts a person into its row: the document, the columns that lists filter by, and the terms.
func (p *PersonRow) write(person apitype.Person) error {
	p.UUID, p.CreatedAt, p.IBAN = person.UUID, person.CreatedAt, person.IBAN
	p.Owner = person.OwningOrganization.Value().UUID
	p.Terms = TermsOf(person)
	var err error
	p.Doc, err = encode("person", person)
	return err
}

// UpdatePerson changes the named fields of a person.
// PUT /api/v1/persons/{uuid}/actions/update (interface: Persons)
func (s *Service) UpdatePerson(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	request apitype.UpdatePersonRequest,
) (Answer, error) {
	if err := cmp.Or(c.Require(PersonsUpdate), NotValid(request.Validate(s.clock()))); err != nil {
		return Answer{}, err
	}
	var row PersonRow
	changed := false
	err := s.Write(ctx, WriteIsolated, "update the person", func(tx Tx) error {
		now, err := s.ChangeTime(tx)
		if err != nil {
			return err
		}
		row, err = VisiblePerson(tx, c, id)
		if err != nil {
			return err
		}
		person, err := row.person()
		if err != nil {
			return err
		}
		before, personBefore := row, person
		if err := NotValid(patchPerson(&person, &row.MandateID, request, now)); err != nil {
			return err
		}
		if err := m.check(row.Rev); err != nil {
			return err
		}
		if err := row.write(person); err != nil {
			return err
		}
		row.UpdatedAt = now
		line := personAudited(c.Audited(AuditPersonUpdate, id, now), before, row)
		changed = !slices.Equal(row.Doc, before.Doc) || !equal(row.MandateID, before.MandateID)
		if changed {
			if err := errors.Join(
				tx.UpdatePerson(row),
				personChanged(tx, id, person, s.TimeOf(tx)),
				tx.Audit(line),
			); err != nil {
				return err
			}
			row.Rev++
		}
		return optInChanged(tx, line, row, person, personBefore, request, s.TimeOf(tx))
	})
	if err != nil {
		return Answer{}, err
	}
	if !c.May(PersonsRead) {
		return sentBack(id, row.Rev, "", request)
	}
	if !changed { // It was a read.
		err = s.NoteRead(ctx, c.Audited(AuditPersonGet, id, s.Now()).Of(id))
	}
	return personAnswer(row), err
}

func personAudited(line AuditLine, before, after PersonRow) AuditLine {
	line.Fields = changed(before.Doc, after.Doc)
	if !equal(before.MandateID, after.MandateID) {
		line.Fields = strings.TrimPrefix(line.Fields+",mandate.id", ",")
	}
	return line.Of(after.UUID)
}

// patchPerson merges an update into a person, and returns the violations of the result. Spec gap: P3.
func patchPerson(
	p *apitype.Person,
	mandateID **string,
	r apitype.UpdatePersonRequest,
	now apitype.Time,
) apitype.Violations {
	r.AcademicTitle.Apply(&p.AcademicTitle)
	r.DateOfBirth.Apply(&p.DateOfBirth)
	number := p.SocialSecurityNumber.Pointer()
	r.SocialSecurityNumber.Apply(&number)
	p.SocialSecurityNumber = apitype.EmbedPointer(number)
	r.Gender.Apply(&p.Gender)
	r.PhoneNumber.Apply(&p.PhoneNumber)
	r.MobilePhoneNumber.Apply(&p.MobilePhoneNumber)
	r.Email.Apply(&p.Email)
	r.Language.Apply(&p.Language)
	r.IBAN.Apply(&p.IBAN)
	if n, ok := r.Name.Value(); ok {
		n.Initials.Apply(&p.Initials)
		n.FirstName.Apply(&p.FirstName)
		n.LastNamePrefix.Apply(&p.LastNamePrefix)
		n.LastName.Apply(&p.LastName)
	} else if r.Name.IsClear() {
		p.Initials, p.FirstName, p.LastNamePrefix, p.LastName = nil, nil, nil, nil
	}
	if o, ok := r.OptIns.Value(); ok {
		o.Email.Apply(&p.OptInEmail)
		o.Mail.Apply(&p.OptInMail)
		o.Phone.Apply(&p.OptInPhone)
		o.SMS.Apply(&p.OptInSMS)
	} else if r.OptIns.IsClear() {
		p.OptInEmail, p.OptInMail, p.OptInPhone, p.OptInSMS = nil, nil, nil, nil
	}
	patchMandate(p, mandateID, r.Mandate, now)
	return patchAddress(p, r.Address)
}

// patchMandate merges a mandate. A new one without a date gets the present day.
func patchMandate(p *apitype.Person, id **string, patch apitype.Patch[apitype.MandatePatch], now apitype.Time) {
	m, ok := patch.Value()
	if patch.IsClear() {
		p.Mandate, *id = apitype.EmbedPointer[apitype.Mandate](nil), nil
	} else if ok {
		m.ID.Apply(id)
		created, dated := m.CreatedAt.Value()
		_, identified := m.ID.Value()
		if !dated && p.Mandate.Pointer() == nil && identified {
			created, dated = now, true
		}
		if dated {
			p.Mandate = apitype.Embed(apitype.Mandate{CreatedAt: created})
		}
	}
}

// patchAddress merges an address. The result must be complete. Spec gap: P3.
func patchAddress(p *apitype.Person, patch apitype.Patch[apitype.AddressPatch]) apitype.Violations {
	a, ok := patch.Value()
	var v apitype.Violations
	if patch.IsClear() {
		p.Address = apitype.EmbedPointer[apitype.Address](nil)
	} else if ok && a != (apitype.AddressPatch{}) {
		address := p.Address.Value()
		for _, part := range []struct {
			patch apitype.Patch[string]
			field *string
		}{
			{a.Street, &address.Street},
			{a.HouseNumber, &address.HouseNumber},
			{a.ZipCode, &address.ZipCode},
			{a.City, &address.City},
			{a.Country, &address.Country},
		} {
			if text, ok := part.patch.Value(); ok {
				*part.field = text
			}
		}
		a.HouseNumberExtension.Apply(&address.HouseNumberExtension)
		address.Validate(&v, "/address")
		p.Address = apitype.Embed(address)
	}
	return v
}

// equal reports whether two values that may be nil are the same.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
