package service

import (
	"errors"
	"slices"

	"fundesk/apiclient/apitype"
)

// person saves a person, as a creation would have made it.
func (l *loader) person(p LoadedPerson) error {
	owner, err := l.organizationOf("/owningOrganizationUuid", p.OwningOrganizationUUID)
	if err != nil {
		return err
	}
	if _, err := l.organizationOf("/recruitingOrganizationUuid", p.RecruitingOrganizationUUID); err != nil {
		return err
	}
	request, v := p.creation(l.now)
	if err := errors.Join(required(p.UUID), NotValid(v)); err != nil {
		return err
	}
	row, err := newPerson(p.UUID, request, owner, p.CreatedAt)
	if quality := p.QualityResult.Pointer(); quality != nil && err == nil {
		row.Quality, err = encode("quality result", quality)
	}
	if err != nil {
		return err
	}
	l.rows.Persons = append(l.rows.Persons, row)
	l.persons[row.UUID] = row
	return nil
}

// creation returns the request that creates the person, and the problems that no request could have.
func (p LoadedPerson) creation(now apitype.Time) (apitype.CreatePersonRequest, apitype.Violations) {
	var v apitype.Violations
	if p.CreatedAt.IsZero() {
		v.Add("/createdAt", "is required")
	}
	if !p.PersonUUID.IsZero() && p.PersonUUID != p.UUID {
		v.Add("/personUuid", "must equal uuid")
	}
	if o := p.OwningOrganization.Pointer(); o != nil && o.UUID != p.OwningOrganizationUUID {
		v.Add("/owningOrganization/uuid", "must equal owningOrganizationUuid")
	}
	r := apitype.CreatePersonRequest{
		OwningOrganizationUUID:     p.OwningOrganizationUUID,
		RecruitingOrganizationUUID: p.RecruitingOrganizationUUID,
		AcademicTitle:              p.AcademicTitle,
		DateOfBirth:                p.DateOfBirth,
		SocialSecurityNumber:       p.SocialSecurityNumber.Pointer(),
		Gender:                     p.Gender,
		PhoneNumber:                p.PhoneNumber,
		MobilePhoneNumber:          p.MobilePhoneNumber,
		Email:                      p.Email,
		Language:                   p.Language,
		IBAN:                       p.IBAN,
		Address:                    p.Address.Pointer(),
		Name: &apitype.Name{
			Initials:       p.Initials,
			FirstName:      p.FirstName,
			LastNamePrefix: p.LastNamePrefix,
			LastName:       p.LastName,
		},
		OptIns: &apitype.OptIns{
			Email: p.OptInEmail,
			Mail:  p.OptInMail,
			Phone: p.OptInPhone,
			SMS:   p.OptInSMS,
		},
	}
	if m := p.Mandate; m != nil {
		if m.CreatedAt.IsZero() {
			v.Add("/mandate/createdAt", "is required")
		}
		r.Mandate = &apitype.MandateRequest{ID: m.ID, CreatedAt: &m.CreatedAt}
	}
	return r, append(v, r.Validate(now.Time)...)
}

func (l *loader) pledge(p LoadedPledge) error {
	owner, err := l.organizationOf("/owningOrganizationUuid", p.OwningOrganizationUUID)
	if err != nil {
		return err
	}
	recruiter, err := l.organizationOf("/recruitingOrganizationUuid", p.RecruitingOrganizationUUID)
	if err != nil {
		return err
	}
	if err := errors.Join(required(p.UUID), p.check()); err != nil {
		return err
	}
	row := PledgeRow{
		Person:       p.person(),
		External:     p.ExternalSource.Pointer() != nil,
		ReleasedAt:   p.ReleasedAt.Pointer(),
		HasSignature: len(p.Signature) > 0,
		Private:      []byte(`{}`),
		Rev:          1,
	}
	if _, ok := l.persons[row.Person]; !ok {
		return refused("/person/uuid", "names no person")
	}
	if row.ReleasedAt == nil && !row.External && p.Status == apitype.PledgeLead {
		row.ReleasedAt = new(apitype.NewTime(p.CreatedAt.Add(owner.CoolingOff))) // Spec gap: G2
	}
	pledge := p.Pledge
	pledge.ReleasedAt, pledge.SignatureSignedURL = apitype.Embedded[apitype.Time]{}, nil
	pledge.RecruiterUser, pledge.Person = apitype.Embedded[apitype.RecruiterUser]{}, apitype.Embedded[apitype.Person]{}
	pledge.Transactions, pledge.Calls = apitype.Embedded[[]apitype.Transaction]{}, apitype.Embedded[[]apitype.Call]{}
	pledge.OwningOrganization = apitype.Embed(owner.OrganizationReference)
	pledge.RecruitingOrganization = apitype.Embed(recruiter.OrganizationReference)
	pledge.ExternalSource = apitype.EmbedPointer(p.ExternalSource.Pointer())
	areas, err := l.areasOf(p)
	if err != nil {
		return err
	}
	pledge.FocusAreas = apitype.Embed(areas)
	if err := row.write(pledge); err != nil {
		return err
	}
	l.rows.Pledges = append(l.rows.Pledges, row)
	l.donors[row.UUID] = row.Person
	if row.HasSignature {
		l.rows.Signatures = append(l.rows.Signatures, SignatureRow{Pledge: row.UUID, Content: p.Signature})
	}
	return nil
}

// areasOf returns the focus areas of a pledge, which names them by uuid or embeds them.
func (l *loader) areasOf(p LoadedPledge) ([]apitype.FocusArea, error) {
	ids := p.FocusAreaUUIDs
	if len(ids) == 0 {
		for _, area := range p.FocusAreas.Value() {
			ids = append(ids, area.UUID)
		}
	}
	areas := make([]apitype.FocusArea, 0, len(ids))
	for _, id := range ids {
		area, err := known(l.focusAreas, id, l.tx.FocusArea)
		if errors.Is(err, ErrNoRow) || (err == nil && area.Organization != p.OwningOrganizationUUID) {
			return nil, refused("/focusAreaUuids", "names no focus area of the owning organization")
		}
		if err != nil {
			return nil, err
		}
		areas = append(areas, area.FocusArea)
	}
	return areas, nil
}

// person returns the pledge's person, which it names by uuid or embeds.
func (p *LoadedPledge) person() apitype.UUID {
	if p.PersonUUID != nil {
		return *p.PersonUUID
	}
	return p.Person.Value().UUID
}

// check refuses a pledge that the interface could not have answered.
func (p *LoadedPledge) check() error {
	var v apitype.Violations
	if !slices.Contains(apitype.PledgeStatuses, p.Status) {
		v.Add("/status", "must be one of %s", joined(apitype.PledgeStatuses))
	}
	for _, field := range []struct {
		pointer string
		missing bool
	}{
		{"/startsAt", p.StartsAt.IsZero()},
		{"/createdAt", p.CreatedAt.IsZero()},
		{"/recruiterUserUuid", p.RecruiterUserUUID.IsZero()},
		{"/initialDonationInterval", p.InitialDonationInterval == ""},
		{"/person/uuid", p.person().IsZero()},
	} {
		if field.missing {
			v.Add(field.pointer, "is required")
		}
	}
	if p.UpdatedAt.IsZero() {
		p.UpdatedAt = p.CreatedAt
	}
	if p.DonationInterval == "" {
		p.DonationInterval = p.InitialDonationInterval
	}
	if day := p.PreferredPaymentDay; day != nil && (*day < 1 || *day > 28) {
		v.Add("/preferredPaymentDay", "must be a whole number from 1 to 28")
	}
	return NotValid(v)
}

func (c LoadedCall) names(n naming) {
	n.persons[c.PersonUUID] = true
	if c.RelatedCaseUUID != nil {
		n.pledges[*c.RelatedCaseUUID] = true
	}
}

func (l *loader) call(c LoadedCall) error {
	if err := errors.Join(required(c.UUID), c.check()); err != nil {
		return err
	}
	of, ok := l.persons[c.PersonUUID]
	if !ok {
		return refused("/personUuid", "names no person")
	}
	if c.RelatedCaseUUID != nil {
		if person, ok := l.donors[*c.RelatedCaseUUID]; !ok || person != c.PersonUUID {
			return refused("/relatedCaseUuid", "names no pledge of this person")
		}
	}
	if c.CallingOrganizationUUID != nil {
		if _, err := l.organizationOf("/callingOrganizationUuid", *c.CallingOrganizationUUID); err != nil {
			return err
		}
	}
	call := c.Call
	call.Attempts = apitype.Embed(slices.Concat([]apitype.CallAttempt{}, c.Attempts.Value()))
	call.AttemptsCount = max(call.AttemptsCount, len(call.Attempts.Value()))
	call.Result = apitype.EmbedPointer(c.Result.Pointer())
	call.ExternalMetadata = apitype.EmbedPointer(c.ExternalMetadata.Pointer())
	call.PledgeCase, call.Person = apitype.Embedded[apitype.Pledge]{}, apitype.Embedded[apitype.Person]{}
	call.Transactions = apitype.Embedded[[]apitype.Transaction]{}
	row := CallRow{
		Owner:       of.Owner,
		External:    c.ExternalMetadata.Pointer() != nil,
		CompletedBy: c.CompletedBy,
		Rev:         1,
	}
	var err error
	private := callPrivate{CompletedBy: c.CompletedBy, ExternalSource: c.ExternalSource}
	row.Private, err = encode("call", private)
	if err != nil {
		return err
	}
	if err := row.write(call); err != nil {
		return err
	}
	l.rows.Calls = append(l.rows.Calls, row)
	return l.enqueue(c, row, call, of)
}

// refreshLoaded recomputes when calls become eligible, for the persons of loaded calls with a contact or a lease.
func refreshLoaded(tx Tx, rows Rows, now apitype.Time) error {
	persons := append(mapped(rows.Queue, func(row QueueRow) apitype.UUID { return row.Person }),
		mapped(rows.Contacts, func(c Contact) apitype.UUID { return c.Person })...)
	if len(persons) > 0 {
		busy, err := tx.BusyPersons(persons)
		for _, id := range busy {
			err = errors.Join(err, RefreshEligibility(tx, id, now, nil))
		}
		if err != nil {
			return err
		}
	}
	return refreshLapsed(tx, rows, now)
}

// refreshLapsed stores when the last pledge ended, for the persons of loaded calls and pledges.
func refreshLapsed(tx Tx, rows Rows, now apitype.Time) error {
	persons := append(mapped(rows.Queue, func(row QueueRow) apitype.UUID { return row.Person }),
		mapped(rows.Pledges, func(row PledgeRow) apitype.UUID { return row.Person })...)
	if len(persons) == 0 {
		return nil
	}
	lapsed, err := tx.LapsedPersons(persons)
	if err != nil {
		return err
	}
	for _, id := range lapsed {
		person, err := tx.Person(id, Scope{All: true})
		if err != nil {
			return err
		}
		if err := pledgesChanged(tx, id, person.Owner, now); err != nil {
			return err
		}
	}
	return nil
}

// movedAtOnce is the number of pledges that are read at one time.
const movedAtOnce = 500

// movePledges dates the pledges of loaded transactions, so that payments arrive in copies. A load of other records
// needs none of it: it changes the epoch, and all is read again.
func (l *loader) movePledges() error {
	if l.saved[LoadPerson]+l.saved[LoadCall]+l.saved[LoadPledge] > 0 {
		return nil
	}
	ids := mapped(l.rows.Transactions, func(row TransactionRow) apitype.UUID { return row.Pledge })
	slices.SortFunc(ids, apitype.UUID.Compare)
	for some := range slices.Chunk(slices.Compact(ids), movedAtOnce) {
		now, err := l.tx.GiveTime(l.now)
		if err != nil {
			return err
		}
		pledges, err := l.tx.KeptPledges(some)
		if err != nil {
			return err
		}
		for _, row := range pledges {
			if err := row.move(now); err != nil {
				return err
			}
			if err := l.tx.UpdatePledge(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// move sets the time of the last change of a pledge.
func (p *PledgeRow) move(now apitype.Time) error {
	var pledge apitype.Pledge
	if err := decode("pledge", p.Doc, &pledge); err != nil {
		return err
	}
	if err := p.keepStatusTime(pledge); err != nil {
		return err
	}
	pledge.UpdatedAt = now
	return p.write(pledge)
}

// enqueue lets a loaded call wait; whether the person was contacted or is in a lease is read
// when it is there.
func (l *loader) enqueue(c LoadedCall, row CallRow, call apitype.Call, of PersonRow) error {
	contacted := lastContact(call.Attempts.Value(), call.CompletedAt, nil, l.now)
	if contacted != nil {
		l.rows.Contacts = append(l.rows.Contacts, Contact{Person: call.PersonUUID, At: *contacted})
	}
	if call.Status != apitype.CallRequested {
		return nil
	}
	organization, err := l.organizationOf("/personUuid", of.Owner)
	if err != nil {
		return err
	}
	waiting, err := newQueueRow(l.tx, row, call, of)
	if err != nil {
		return err
	}
	waiting.DueAt, waiting.KeptFor = c.DeferredUntil, c.DeferredFor
	waiting.ContactedAt, waiting.MaxAttempts = contacted, organization.MaxCallAttempts
	waiting.refresh(l.now)
	l.rows.Queue = append(l.rows.Queue, waiting)
	return nil
}

// check refuses a call that the interface could not have answered.
func (c *LoadedCall) check() error {
	var v apitype.Violations
	if !slices.Contains(apitype.CallStatuses, c.Status) {
		v.Add("/status", "must be one of %s", joined(apitype.CallStatuses))
	}
	if !slices.Contains(apitype.CallTypes, c.Type) {
		v.Add("/type", "must be one of %s", joined(apitype.CallTypes))
	}
	if c.RequestedAt.IsZero() {
		v.Add("/requestedAt", "is required")
	}
	if c.LastUpdatedAt.IsZero() {
		c.LastUpdatedAt = c.RequestedAt
	}
	if c.DeferredUntil != nil && c.Status != apitype.CallRequested {
		v.Add("/deferredUntil", "is only for a call that is requested")
	}
	if c.CompletedBy != nil && c.Status != apitype.CallCompleted {
		v.Add("/completedByUserUuid", "is only for a call that is completed")
	}
	if c.DeferredFor != nil && c.DeferredUntil == nil {
		v.Add("/deferredForUserUuid", "needs deferredUntil")
	}
	return NotValid(v)
}

func (l *loader) transaction(t LoadedTransaction) error {
	if err := required(t.UUID); err != nil {
		return err
	}
	if t.CreatedAt.IsZero() {
		return refused("/createdAt", "is required")
	}
	if t.UpdatedAt.IsZero() {
		t.UpdatedAt = t.CreatedAt
	}
	person, ok := l.donors[t.PledgeUUID]
	if !ok {
		return refused("/pledgeUuid", "names no pledge")
	}
	if t.PersonUUID == nil {
		t.PersonUUID = &person
	}
	if *t.PersonUUID != person {
		return refused("/personUuid", "must be the person of the pledge")
	}
	row := TransactionRow{UUID: t.UUID, Pledge: t.PledgeUUID, CreatedAt: t.CreatedAt}
	if t.Method != nil {
		row.Method = *t.Method
	}
	var err error
	row.Doc, err = encode("transaction", t.Transaction)
	if err != nil {
		return err
	}
	l.rows.Transactions = append(l.rows.Transactions, row)
	return nil
}
