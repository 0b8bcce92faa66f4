package service

import (
	"context"
	"errors"
	"fmt"
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
		l := &loader{tx: tx, now: s.present(), organizations: map[apitype.UUID]Organization{}, focusAreas: map[apitype.UUID]FocusArea{}}
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
	focusAreas    map[apitype.UUID]FocusArea
	// The last ones that were named: what belongs together mostly comes together.
	lastPerson PersonRow
	lastPledge PledgeRow
}

// namedPerson is a person that a record names.
func (l *loader) namedPerson(pointer string, id apitype.UUID) (PersonRow, error) {
	if l.lastPerson.UUID == id && !id.IsZero() {
		return l.lastPerson, nil
	}
	row, err := l.tx.Person(id)
	if errors.Is(err, ErrNoRow) {
		return row, refused(pointer, "names no person")
	}
	if err == nil {
		l.lastPerson = row
	}
	return row, err
}

// namedPledge is a pledge that a record names; ErrNoRow when there is none.
func (l *loader) namedPledge(id apitype.UUID) (PledgeRow, error) {
	if l.lastPledge.UUID == id && !id.IsZero() {
		return l.lastPledge, nil
	}
	row, err := l.tx.Pledge(id)
	if err == nil {
		l.lastPledge = row
	}
	return row, err
}

// namedFocusArea is a focus area that a pledge names; ErrNoRow when there is none.
func (l *loader) namedFocusArea(id apitype.UUID) (FocusArea, error) {
	if area, ok := l.focusAreas[id]; ok {
		return area, nil
	}
	area, err := l.tx.FocusArea(id)
	if err == nil {
		l.focusAreas[id] = area
	}
	return area, err
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
