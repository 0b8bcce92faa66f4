package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
)

// Saved counts the records of each kind that a load has saved.
type Saved map[LoadKind]int

// LoadRecords saves records from outside the interface, all or none, and returns their number. feed passes them to add
// one by one, each after the records that it refers to. An error of add ends the load. A uuid that is already stored
// is refused, or skipped with skip.
func (s *Service) LoadRecords(
	ctx context.Context,
	skip bool,
	feed func(add func(LoadRecord) error) error,
) (Saved, error) {
	return s.load(ctx, feed, nil, skip)
}

// LoadIfEmpty loads records into a database without organizations. It leaves any other database as it is. If
// several processes race, one fills the database.
func (s *Service) LoadIfEmpty(ctx context.Context, feed func(add func(LoadRecord) error) error) error {
	empty := func(r Reader) (bool, error) {
		organizations, err := r.Organizations()
		return len(organizations) == 0, err
	}
	if fill, err := View(ctx, s, "look for records", empty); err != nil || !fill {
		return err
	}
	for {
		// The process that fills it may take longer than a store waits.
		if _, err := s.load(ctx, feed, empty, false); !errors.Is(err, ErrBusy) || ctx.Err() != nil {
			return err
		}
	}
}

func (s *Service) load(
	ctx context.Context,
	feed func(add func(LoadRecord) error) error,
	when func(Reader) (bool, error),
	skip bool,
) (Saved, error) {
	var saved Saved
	// The caller adds the operation.
	err := s.store.Write(ctx, WriteIsolated, func(tx Tx) error {
		saved = Saved{}
		if when != nil {
			if fill, err := when(tx); err != nil || !fill {
				return err
			}
		}
		if err := tx.ExcludeErasure(true); err != nil {
			return err
		}
		l := &loader{
			tx:            tx,
			now:           s.TimeOf(tx),
			skip:          skip,
			saved:         saved,
			organizations: map[apitype.UUID]Organization{},
			focusAreas:    map[apitype.UUID]FocusArea{},
		}
		var failed error
		err := feed(func(record LoadRecord) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			failed = l.add(record)
			return failed
		})
		if ofStore(failed) {
			return failed
		}
		// Records in the batch come before the error that ended the load, so their error is reported first.
		err = cmp.Or(l.saveDumped(), l.save(), err)
		if err != nil {
			return err
		}
		records := 0
		for _, n := range saved {
			records += n
		}
		if saved[LoadPerson]+saved[LoadCall]+saved[LoadPledge] > 0 {
			if err := changeEpoch(tx); err != nil {
				return err
			}
		}
		if l.needsEnd && !skip { // A dump in parts is loaded with skip.
			return &Error{Kind: Invalid, Detail: "the dump is cut short: its last line is missing"}
		}
		if l.goesOn {
			if err := l.unchanged(); err != nil {
				return err
			}
		}
		if l.keyed { // The times of a dump do not go back either.
			newest, err := tx.NewestChange()
			if err != nil {
				return err
			}
			if _, err := tx.GiveTime(newest); err != nil {
				return err
			}
		}
		return tx.Audit(AuditLine{At: l.now, Operation: AuditLoad, Records: &records})
	})
	return saved, err
}

const (
	// lookBack is longer than a change takes that was under way when a load began.
	lookBack = time.Minute
	// lookBatch is the number of persons that one transaction looks at again.
	lookBatch = 200
)

// LookAgain corrects the waiting calls of donors who were changed beside a load that began at a time, and those of
// organizations that have raised their maximum of attempts. The load saw both as they were, and the changes did not see
// its calls. A take looks at a donor again before it gives a call, but a call that is kept from the queue would stay
// there until the donor changes once more.
func (s *Service) LookAgain(ctx context.Context, began apitype.Time) error {
	since, after := apitype.NewTime(began.Add(-lookBack)), apitype.UUID{}
	for {
		persons, err := View(ctx, s, "look for changes beside the load", func(r Reader) ([]apitype.UUID, error) {
			return r.ChangedBesideLoad(since, after, lookBatch)
		})
		if err != nil || len(persons) == 0 {
			return err
		}
		err = s.Write(ctx, WriteIsolated, "look at donors again", func(tx Tx) error {
			for _, id := range persons {
				err := lookAgain(tx, id, s.TimeOf(tx))
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(persons) < lookBatch {
			return err
		}
		after = persons[len(persons)-1]
	}
}

func lookAgain(tx Tx, id apitype.UUID, now apitype.Time) error {
	row, err := refreshPerson(tx, id, now)
	if errors.Is(err, ErrNoRow) { // Erased since.
		return nil
	}
	if err != nil {
		return err
	}
	return pledgesChanged(tx, id, row.Owner, now)
}

// loadBatch is the number of records that are saved together. Their references are looked up at once.
const loadBatch = 4_000

// loader checks and saves the records of one load, a batch at a time.
type loader struct {
	tx            Tx
	now           apitype.Time
	skip          bool // Skips existing records.
	saved         Saved
	organizations map[apitype.UUID]Organization
	focusAreas    map[apitype.UUID]FocusArea
	batch         []loading
	keyed         bool // The key of a dump was loaded: its rows may follow.
	goesOn        bool // The database has records of the dump already.
	changes       int  // Lines of its audit before the load that are not about a load.
	dumpedChanges int  // Such lines of the dump.
	needsEnd      bool // The key promised a last line that has not come yet.
	dumped        []LoadedRow

	// Of the batch that is being saved.
	rows    Rows
	persons map[apitype.UUID]PersonRow    // That it names or holds: owner and document.
	donors  map[apitype.UUID]apitype.UUID // The persons of the pledges that it names or holds.
	lines   map[Taken]int                 // Where its new rows came from.
}

// loading is a record that waits.
type loading struct {
	LoadRecord
	kind *loadKind
	id   apitype.UUID
}

func (r loading) row() Taken { return Taken{r.Kind, r.id} }

// known returns what read finds, or found before.
func known[T any](all map[apitype.UUID]T, id apitype.UUID, read func(apitype.UUID) (T, error)) (T, error) {
	found, ok := all[id]
	var err error
	if !ok {
		found, err = read(id)
		if err == nil {
			all[id] = found
		}
	}
	return found, err
}

// add takes one record; when there are enough they are saved.
func (l *loader) add(record LoadRecord) error {
	switch data := record.Data.(type) {
	case LoadedKey:
		return atLine(record.Line, l.key(data))
	case LoadedRow:
		return atLine(record.Line, l.row(data))
	case LoadedEnd:
		l.needsEnd = false
		return nil
	}
	kind := kindNamed(record.Kind)
	l.batch = append(l.batch, loading{record, kind, kind.id(record.Data)})
	if len(l.batch) < loadBatch {
		return nil
	}
	return l.save()
}

// save checks and saves the records that wait. The first record that is refused ends it.
func (l *loader) save() error {
	batch, err := l.missing(l.batch)
	l.batch = l.batch[:0]
	if err != nil {
		return err
	}
	n := naming{map[apitype.UUID]bool{}, map[apitype.UUID]bool{}}
	for _, record := range batch {
		record.kind.names(record.Data, n)
	}
	l.persons, err = l.tx.PersonsToLoad(slices.Collect(maps.Keys(n.persons)))
	if err != nil {
		return err
	}
	l.donors, err = l.tx.PersonsOfPledges(slices.Collect(maps.Keys(n.pledges)))
	if err != nil {
		return err
	}
	l.rows, l.lines = Rows{}, make(map[Taken]int, len(batch))
	for _, record := range batch {
		if err := l.check(record); err != nil {
			if ofStore(err) {
				return err
			}
			// A record before the refused one may have a taken uuid: then that one is the first.
			return cmp.Or(l.insert(), atLine(record.Line, err))
		}
		l.saved[record.Kind]++
	}
	return l.insert()
}

// ofStore reports whether an error is no refusal of a record, but one of the store, which then refuses all the rest of
// the transaction. It decides whether the load runs again.
func ofStore(err error) bool {
	kind := KindOf(err)
	return err != nil && (kind == Internal || kind == Unavailable)
}

func (l *loader) insert() error {
	there, err := l.tx.InsertRows(l.rows)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		if err := refreshLoaded(l.tx, l.rows, l.now); err != nil {
			return err
		}
		return l.movePledges()
	}
	first := slices.MinFunc(there, func(a, b Taken) int { return cmp.Compare(l.lines[a], l.lines[b]) })
	return atLine(l.lines[first], taken(string(first.Kind)))
}

// atLine adds the line of the refused record to an error.
func atLine(line int, err error) error {
	if line == 0 || err == nil {
		return err
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// naming are the persons and pledges that the records of a batch name.
type naming struct{ persons, pledges map[apitype.UUID]bool }

// check checks one record, and makes its row. Its uuid is no earlier one's of the batch.
func (l *loader) check(record loading) error {
	row := record.row()
	if _, twice := l.lines[row]; twice && !row.UUID.IsZero() {
		return taken(string(record.Kind))
	}
	l.lines[row] = record.Line
	return orTaken(record.kind.load(l, record.Data), string(record.Kind))
}

func required(id apitype.UUID) error {
	if id.IsZero() {
		return refused("/uuid", "is required")
	}
	return nil
}

func refused(pointer, message string) error {
	return NotValid(apitype.Violations{{Pointer: pointer, Message: message}})
}

func (l *loader) user(u LoadedUser) error {
	if err := required(u.UUID); err != nil {
		return err
	}
	return l.tx.InsertUser(User{RecruiterUser: u})
}

func (l *loader) organization(o LoadedOrganization) error {
	organization := Organization{
		OrganizationReference: o.OrganizationReference,
		MaxCallAttempts:       o.MaxCallAttempts,
		CoolingOff:            DefaultCoolingOff,
		Settings:              o.Settings,
	}
	if o.Settings != nil {
		organization.MaxCallAttempts = cmp.Or(o.MaxCallAttempts, o.Settings.MaxCallAttempts)
		problems := o.Settings.Validate()
		for i := range problems {
			problems[i].Pointer = "/settings" + problems[i].Pointer
		}
		if err := NotValid(problems); err != nil {
			return err
		}
	}
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

// organizationOf returns the organization of a record.
func (l *loader) organizationOf(pointer string, id apitype.UUID) (Organization, error) {
	o, err := known(l.organizations, id, l.tx.Organization)
	if errors.Is(err, ErrNoRow) {
		err = refused(pointer, "names no organization")
	}
	return o, err
}

func (l *loader) focusArea(a LoadedFocusArea) error {
	if _, err := l.organizationOf("/organizationUuid", a.OrganizationUUID); err != nil {
		return err
	}
	if err := required(a.UUID); err != nil {
		return err
	}
	return l.tx.InsertFocusArea(FocusArea{FocusArea: a.FocusArea, Organization: a.OrganizationUUID})
}
