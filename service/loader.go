package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Load saves records that come in from outside the interface, all or none: feed hands
// them to add one by one, each after those that it refers to. What add returns ends
// the load. Load refuses a uuid that is there already.
func (s *Service) Load(ctx context.Context, feed func(add func(LoadRecord) error) error) error {
	return s.load(ctx, feed, nil)
}

// LoadIfEmpty is [Service.Load] for a database without organizations; in another one it
// does nothing. Of several processes that race, one fills the database.
func (s *Service) LoadIfEmpty(ctx context.Context, feed func(add func(LoadRecord) error) error) error {
	empty := func(r Reader) (bool, error) {
		organizations, err := r.Organizations()
		return len(organizations) == 0, err
	}
	var fill bool
	err := s.view(ctx, "look for records", func(r Reader) (err error) {
		fill, err = empty(r)
		return err
	})
	if err != nil || !fill {
		return err
	}
	for {
		// The one that fills it may take longer than a store waits.
		if err = s.load(ctx, feed, empty); !errors.Is(err, ErrBusy) || ctx.Err() != nil {
			return err
		}
	}
}

func (s *Service) load(ctx context.Context, feed func(add func(LoadRecord) error) error, when func(Reader) (bool, error)) error {
	return s.update(ctx, "load", func(tx Tx) error {
		if when != nil {
			if fill, err := when(tx); err != nil || !fill {
				return err
			}
		}
		l := &loader{tx: tx, now: s.present(), organizations: map[apitype.UUID]Organization{}}
		return feed(func(record LoadRecord) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return l.add(record)
		})
	})
}

// DecodeLoadRecord reads one line of a load. Fields that nobody knows are refused.
func DecodeLoadRecord(line []byte) (record LoadRecord, err error) {
	var envelope struct {
		Kind LoadKind       `json:"kind"`
		Data jsontext.Value `json:"data"`
	}
	if err := strictly(line, &envelope); err != nil {
		return record, err
	}
	record.Kind = envelope.Kind
	switch record.Kind {
	case LoadOrganization:
		record.Data, err = decodeLoaded[LoadedOrganization](envelope.Data)
	case LoadUser:
		record.Data, err = decodeLoaded[LoadedUser](envelope.Data)
	case LoadFocusArea:
		record.Data, err = decodeLoaded[LoadedFocusArea](envelope.Data)
	case LoadPerson:
		record.Data, err = decodeLoaded[LoadedPerson](envelope.Data)
	case LoadPledge:
		record.Data, err = decodeLoaded[LoadedPledge](envelope.Data)
	case LoadCall:
		record.Data, err = decodeLoaded[LoadedCall](envelope.Data)
	case LoadTransaction:
		record.Data, err = decodeLoaded[LoadedTransaction](envelope.Data)
	default:
		return record, errors.New("kind must be one of organization, user, focusArea, person, pledge, call, transaction")
	}
	return record, err
}

func decodeLoaded[T any](data jsontext.Value) (value T, err error) {
	if data.Kind() != '{' {
		return value, errors.New("data must be a JSON object")
	}
	return value, strictly(data, &value)
}

// strictly decodes JSON as the service takes it; its errors hold no value of it.
func strictly(data []byte, value any) error {
	if v := DecodeStrict(data, value); len(v) > 0 {
		return v
	}
	return nil
}

// loader checks and saves the records of one load.
type loader struct {
	tx            Tx
	now           apitype.Time
	organizations map[apitype.UUID]Organization
}

// add saves one record.
func (l *loader) add(record LoadRecord) error {
	var err error
	switch data := record.Data.(type) {
	case LoadedOrganization:
		err = l.organization(data)
	case LoadedUser:
		err = required(data.UUID)
		if err == nil {
			err = l.tx.InsertUser(data)
		}
	case LoadedFocusArea:
		err = l.focusArea(data)
	case LoadedPerson:
		err = l.person(data)
	case LoadedPledge:
		err = l.pledge(data)
	case LoadedCall:
		err = l.call(data)
	case LoadedTransaction:
		err = l.transaction(data)
	default:
		err = fmt.Errorf("data of type %T is not loaded", record.Data)
	}
	if errors.Is(err, ErrExists) {
		return taken(string(record.Kind))
	}
	return err
}

func required(id apitype.UUID) error {
	if id.IsZero() {
		return refused("/uuid", "is required")
	}
	return nil
}

func refused(pointer, message string) error {
	return invalid(apitype.Violations{{Pointer: pointer, Message: message}})
}

func (l *loader) organization(o LoadedOrganization) error {
	organization := Organization{OrganizationReference: o.OrganizationReference, MaxCallAttempts: o.MaxCallAttempts, CoolingOff: DefaultCoolingOff}
	if o.CoolingOff != nil {
		d, err := time.ParseDuration(*o.CoolingOff)
		if err != nil {
			return refused("/coolingOff", "must be a duration such as 336h")
		}
		organization.CoolingOff = d
	}
	if err := errors.Join(required(o.UUID), organization.check()); err != nil {
		return err
	}
	return l.tx.InsertOrganization(organization)
}

// known is an organization that a record names.
func (l *loader) known(pointer string, id apitype.UUID) (Organization, error) {
	if o, ok := l.organizations[id]; ok {
		return o, nil
	}
	o, err := l.tx.Organization(id)
	if errors.Is(err, ErrNoRow) {
		return o, refused(pointer, "names no organization")
	}
	if err == nil {
		l.organizations[id] = o
	}
	return o, err
}

func (l *loader) focusArea(a LoadedFocusArea) error {
	if _, err := l.known("/organizationUuid", a.OrganizationUUID); err != nil {
		return err
	}
	if err := required(a.UUID); err != nil {
		return err
	}
	return l.tx.InsertFocusArea(FocusArea{FocusArea: a.FocusArea, Organization: a.OrganizationUUID})
}

func (l *loader) person(p LoadedPerson) error {
	owner, err := l.known("/owningOrganizationUuid", p.OwningOrganizationUUID)
	if err != nil {
		return err
	}
	if _, err := l.known("/recruitingOrganizationUuid", p.RecruitingOrganizationUUID); err != nil {
		return err
	}
	if err := errors.Join(required(p.UUID), p.check(l.now)); err != nil {
		return err
	}
	person := p.Person
	person.PersonUUID = person.UUID
	person.SocialSecurityNumber = apitype.EmbedPointer(p.SocialSecurityNumber.Pointer())
	person.Address = apitype.EmbedPointer(p.Address.Pointer())
	person.OwningOrganization = apitype.Embed(owner.OrganizationReference)
	person.Mandate = apitype.EmbedPointer[apitype.Mandate](nil)
	row := PersonRow{Recruiting: p.RecruitingOrganizationUUID, Rev: 1}
	if p.Mandate != nil {
		person.Mandate, row.MandateID = apitype.Embed(apitype.Mandate{CreatedAt: p.Mandate.CreatedAt}), p.Mandate.ID
	}
	if quality := p.QualityResult.Pointer(); quality != nil {
		if row.Quality, err = encode("quality result", quality); err != nil {
			return err
		}
	}
	person.QualityResult = apitype.Embedded[apitype.QualityResult]{}
	if err := row.write(person); err != nil {
		return err
	}
	return l.tx.InsertPerson(row)
}

// check refuses a person that the interface could not have answered.
func (p *LoadedPerson) check(now apitype.Time) error {
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
	if p.Mandate != nil && p.Mandate.CreatedAt.IsZero() {
		v.Add("/mandate/createdAt", "is required")
	}
	same := apitype.CreatePersonRequest{
		OwningOrganizationUUID: p.OwningOrganizationUUID, RecruitingOrganizationUUID: p.RecruitingOrganizationUUID,
		AcademicTitle: p.AcademicTitle, DateOfBirth: p.DateOfBirth, SocialSecurityNumber: p.SocialSecurityNumber.Pointer(),
		Gender: p.Gender, PhoneNumber: p.PhoneNumber, MobilePhoneNumber: p.MobilePhoneNumber, Email: p.Email,
		Language: p.Language, IBAN: p.IBAN, Address: p.Address.Pointer(),
		Name: &apitype.Name{Initials: p.Initials, FirstName: p.FirstName, LastNamePrefix: p.LastNamePrefix, LastName: p.LastName},
	}
	v = append(v, same.Validate(now.Time)...)
	p.IBAN, p.Language = same.IBAN, same.Language
	return invalid(v)
}

func (l *loader) pledge(p LoadedPledge) error {
	owner, err := l.known("/owningOrganizationUuid", p.OwningOrganizationUUID)
	if err != nil {
		return err
	}
	recruiter, err := l.known("/recruitingOrganizationUuid", p.RecruitingOrganizationUUID)
	if err != nil {
		return err
	}
	if err := errors.Join(required(p.UUID), p.check()); err != nil {
		return err
	}
	row := PledgeRow{
		Person: p.person(), External: p.ExternalSource.Pointer() != nil, ReleasedAt: p.ReleasedAt.Pointer(),
		HasSignature: len(p.Signature) > 0, Private: []byte(`{}`), Rev: 1,
	}
	if _, err := l.tx.Person(row.Person); errors.Is(err, ErrNoRow) {
		return refused("/person/uuid", "names no person")
	} else if err != nil {
		return err
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
	areas, err := l.focusAreas(p)
	if err != nil {
		return err
	}
	pledge.FocusAreas = apitype.Embed(areas)
	if err := row.write(pledge); err != nil {
		return err
	}
	if err := l.tx.InsertPledge(row); err != nil || !row.HasSignature {
		return err
	}
	return l.tx.InsertSignature(row.UUID, p.Signature)
}

// focusAreas are those that a pledge names, by uuid or embedded.
func (l *loader) focusAreas(p LoadedPledge) ([]apitype.FocusArea, error) {
	ids := p.FocusAreaUUIDs
	if len(ids) == 0 {
		for _, area := range p.FocusAreas.Value() {
			ids = append(ids, area.UUID)
		}
	}
	areas := make([]apitype.FocusArea, 0, len(ids))
	for _, id := range ids {
		area, err := l.tx.FocusArea(id)
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

// person is the pledge's person, named by uuid or embedded.
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
	return invalid(v)
}

func (l *loader) call(c LoadedCall) error {
	if err := errors.Join(required(c.UUID), c.check()); err != nil {
		return err
	}
	person, err := l.tx.Person(c.PersonUUID)
	if errors.Is(err, ErrNoRow) {
		return refused("/personUuid", "names no person")
	} else if err != nil {
		return err
	}
	if c.RelatedCaseUUID != nil {
		pledge, err := l.tx.Pledge(*c.RelatedCaseUUID)
		if errors.Is(err, ErrNoRow) || (err == nil && pledge.Person != c.PersonUUID) {
			return refused("/relatedCaseUuid", "names no pledge of this person")
		} else if err != nil {
			return err
		}
	}
	if c.CallingOrganizationUUID != nil {
		if _, err := l.known("/callingOrganizationUuid", *c.CallingOrganizationUUID); err != nil {
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
	row := CallRow{Owner: person.Owner, External: c.ExternalMetadata.Pointer() != nil, Rev: 1}
	if row.Private, err = encode("call", callPrivate{ExternalSource: c.ExternalSource}); err != nil {
		return err
	}
	if err := row.write(call); err != nil {
		return err
	}
	return l.tx.InsertCall(row)
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
	return invalid(v)
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
	pledge, err := l.tx.Pledge(t.PledgeUUID)
	if errors.Is(err, ErrNoRow) {
		return refused("/pledgeUuid", "names no pledge")
	} else if err != nil {
		return err
	}
	if t.PersonUUID.IsZero() {
		t.PersonUUID = pledge.Person
	}
	if t.PersonUUID != pledge.Person {
		return refused("/personUuid", "must be the person of the pledge")
	}
	row := TransactionRow{UUID: t.UUID, Pledge: t.PledgeUUID, CreatedAt: t.CreatedAt}
	if t.Method != nil {
		row.Method = *t.Method
	}
	if row.Doc, err = encode("transaction", t.Transaction); err != nil {
		return err
	}
	return l.tx.InsertTransaction(row)
}
