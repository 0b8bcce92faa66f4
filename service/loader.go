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

// Load saves records that come in from outside the interface, all or none: feed hands
// them to add one by one, each after those that it refers to. What add returns ends
// the load. Load refuses a uuid that is there already.
func (s *Service) Load(ctx context.Context, feed func(add func(LoadRecord) error) error) error {
	return s.load(ctx, feed, nil, false)
}

// LoadMissing is [Service.Load] that passes over what is there already.
func (s *Service) LoadMissing(ctx context.Context, feed func(add func(LoadRecord) error) error) error {
	return s.load(ctx, feed, nil, true)
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
		if err = s.load(ctx, feed, empty, false); !errors.Is(err, ErrBusy) || ctx.Err() != nil {
			return err
		}
	}
}

func (s *Service) load(ctx context.Context, feed func(add func(LoadRecord) error) error, when func(Reader) (bool, error), skip bool) error {
	// What was being done is for the caller to say, who knows what is loaded.
	return s.store.Update(ctx, func(tx Tx) error {
		if when != nil {
			if fill, err := when(tx); err != nil || !fill {
				return err
			}
		}
		if err := tx.LoadsAlone(true); err != nil {
			return err
		}
		l, records := newLoader(tx, s.timeOf(tx)), 0
		l.skip = skip
		err := feed(func(record LoadRecord) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			records++
			return l.add(record)
		})
		// What waits came before what ended the load, and is told first.
		if refused := l.finish(); refused != nil {
			return refused
		}
		if err != nil {
			return err
		}
		return tx.Audit(AuditLine{At: l.now, Operation: AuditLoad, Records: &records})
	})
}

// How many records are saved together: what they name is looked up at once. The first are
// fewer, and each next are twice as many, so that the store soon has something to do.
const (
	firstBatch = 1_000
	loadBatch  = 10_000
)

// loader checks and saves the records of one load, a batch at a time.
type loader struct {
	tx            Tx
	now           apitype.Time
	organizations map[apitype.UUID]Organization
	focusAreas    map[apitype.UUID]FocusArea
	batch         []LoadRecord
	size          int        // How many records the batch will have.
	saving        chan error // Of the batch that is on its way, nil when none is.
	failed        error      // Of a batch that was.
	skip          bool       // What is there already is passed over.
	keyed         bool       // The key of a dump was loaded: its rows may follow.
	dumped        []LoadedRow

	// The batch that is being checked, or was and waits. While it is checked, the store
	// saves the one before, so that neither waits for the other.
	checked
}

// checked is what came of a batch.
type checked struct {
	rows    Rows
	owners  map[apitype.UUID]apitype.UUID // Of the persons that it names or holds.
	persons map[apitype.UUID]apitype.UUID // Of the pledges that it names or holds.
	donors  map[apitype.UUID]donor        // What the queue knows of the persons that it holds, or that its calls wait for.
	lines   map[Taken]int                 // Where its new rows came from.
}

func newLoader(tx Tx, now apitype.Time) *loader {
	return &loader{
		tx: tx, now: now, size: firstBatch,
		organizations: map[apitype.UUID]Organization{}, focusAreas: map[apitype.UUID]FocusArea{},
	}
}

// namedFocusArea is a focus area that a pledge names; ErrNoRow when there is none.
func (l *loader) namedFocusArea(id apitype.UUID) (FocusArea, error) {
	if area, ok := l.focusAreas[id]; ok {
		return area, nil
	}
	if err := l.saved(); err != nil {
		return FocusArea{}, err
	}
	area, err := l.tx.FocusArea(id)
	if err == nil {
		l.focusAreas[id] = area
	}
	return area, err
}

// add takes one record; when there are enough they are saved.
func (l *loader) add(record LoadRecord) error {
	switch data := record.Data.(type) {
	case LoadedKey:
		return atLine(record.Line, l.key(data))
	case LoadedRow:
		return atLine(record.Line, l.row(data))
	}
	l.batch = append(l.batch, record)
	if len(l.batch) < l.size {
		return nil
	}
	l.size = min(2*l.size, loadBatch)
	return l.save()
}

// finish saves what waits, and ends when everything is there.
func (l *loader) finish() error {
	if err := cmp.Or(l.saveDumped(), l.save()); err != nil {
		return err
	}
	return l.settle()
}

// settle ends when every batch that was checked is there.
func (l *loader) settle() error {
	if err := l.saved(); err != nil {
		return err
	}
	l.send()
	return l.saved()
}

// send sends the batch that was checked on its way to the store.
func (l *loader) send() {
	if len(l.lines) == 0 {
		return
	}
	l.saving = make(chan error, 1)
	go func(saved chan error, rows Rows, lines map[Taken]int) { saved <- insertRows(l.tx, rows, lines, l.now) }(l.saving, l.rows, l.lines)
	l.rows, l.lines = Rows{}, nil
}

// saved waits for the batch that is on its way: the transaction does one thing at a
// time.
func (l *loader) saved() error {
	if l.saving != nil {
		l.failed = <-l.saving
		l.saving = nil
	}
	return l.failed
}

// save checks the records that wait, and sends those of the batch before on their way.
// The first record that is refused ends it.
func (l *loader) save() error {
	batch := l.batch
	l.batch = l.batch[:0]
	if err := l.saved(); err != nil || len(batch) == 0 {
		return err
	}
	batch, err := l.missing(batch)
	if err != nil {
		return err
	}
	next, err := l.lookUp(batch)
	if err != nil {
		return err
	}
	l.send()
	next.lines = make(map[Taken]int, len(batch))
	l.checked = next
	for _, record := range batch {
		if err := l.check(record); err != nil {
			// Of what came before a refused record, one may be taken: then that is the first.
			return cmp.Or(l.settle(), atLine(record.Line, err))
		}
	}
	return nil
}

// insertRows saves the rows of a batch, which came from some lines.
func insertRows(tx Tx, rows Rows, lines map[Taken]int, now apitype.Time) error {
	there, err := tx.InsertRows(rows)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		return refreshLoaded(tx, rows, now)
	}
	first := slices.MinFunc(there, func(a, b Taken) int { return cmp.Compare(lines[a], lines[b]) })
	return atLine(lines[first], taken(string(first.Kind)))
}

// atLine says where the record came from that was refused.
func atLine(line int, err error) error {
	if line == 0 || err == nil {
		return err
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// lookUp reads what the records of a batch name and neither they nor those of the batch
// before hold: the owners of persons, the persons of pledges, and what the queue knows of
// persons.
func (l *loader) lookUp(batch []LoadRecord) (found checked, err error) {
	persons, pledges, donors := map[apitype.UUID]bool{}, map[apitype.UUID]bool{}, map[apitype.UUID]bool{}
	for _, record := range batch {
		switch data := record.Data.(type) {
		case LoadedPerson:
			persons[data.UUID], donors[data.UUID] = false, false
		case LoadedPledge:
			pledges[data.UUID] = false
			name(persons, data.person())
		case LoadedCall:
			name(persons, data.PersonUUID)
			if data.Status == apitype.CallRequested {
				name(donors, data.PersonUUID)
			}
			if data.RelatedCaseUUID != nil {
				name(pledges, *data.RelatedCaseUUID)
			}
		case LoadedTransaction:
			name(pledges, data.PledgeUUID)
		}
	}
	if found.owners, err = linked(persons, l.owners, l.tx.OwnersOfPersons); err != nil {
		return found, err
	}
	if found.persons, err = linked(pledges, l.persons, l.tx.PersonsOfPledges); err != nil {
		return found, err
	}
	found.donors, err = linked(donors, l.donors, l.readDonors)
	return found, err
}

// readDonors reads what the queue knows of some persons.
func (l *loader) readDonors(ids []apitype.UUID) (map[apitype.UUID]donor, error) {
	donors := map[apitype.UUID]donor{}
	if len(ids) == 0 {
		return donors, nil
	}
	docs, err := l.tx.PersonDocs(ids)
	for id, doc := range docs {
		var person apitype.Person
		if err := decode("person", doc, &person); err != nil {
			return nil, err
		}
		donors[id] = donorOf(person)
	}
	return donors, err
}

// linked is what named records are linked to: by those that are known, else by the store.
func linked[V any](records map[apitype.UUID]bool, known map[apitype.UUID]V, read func([]apitype.UUID) (map[apitype.UUID]V, error)) (map[apitype.UUID]V, error) {
	links := map[apitype.UUID]V{}
	var ids []apitype.UUID
	for id, named := range records {
		if link, ok := known[id]; ok && named {
			links[id] = link
		} else if named {
			ids = append(ids, id)
		}
	}
	found, err := read(ids)
	maps.Copy(links, found)
	return links, err
}

// name notes that a record is named, unless an earlier one of the batch holds it.
func name(records map[apitype.UUID]bool, id apitype.UUID) {
	if _, held := records[id]; !held {
		records[id] = true
	}
}

// check checks one record, and makes its row.
func (l *loader) check(record LoadRecord) error {
	var err error
	switch data := record.Data.(type) {
	case LoadedOrganization:
		err = l.organization(data)
	case LoadedUser:
		err = l.user(data)
	case LoadedFocusArea:
		err = l.focusArea(data)
	case LoadedPerson:
		err = l.once(record, data.UUID, func() error { return l.person(data) })
	case LoadedPledge:
		err = l.once(record, data.UUID, func() error { return l.pledge(data) })
	case LoadedCall:
		err = l.once(record, data.UUID, func() error { return l.call(data) })
	case LoadedTransaction:
		err = l.once(record, data.UUID, func() error { return l.transaction(data) })
	default:
		err = fmt.Errorf("data of type %T is not loaded", record.Data)
	}
	return orTaken(err, string(record.Kind))
}

// once makes a row whose uuid no earlier one of the batch has.
func (l *loader) once(record LoadRecord, id apitype.UUID, save func() error) error {
	row := Taken{record.Kind, id}
	if _, twice := l.lines[row]; twice {
		return ErrExists
	}
	l.lines[row] = record.Line
	return save()
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

func (l *loader) user(u LoadedUser) error {
	if err := cmp.Or(required(u.UUID), l.saved()); err != nil {
		return err
	}
	return l.tx.InsertUser(u)
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
	if err := cmp.Or(errors.Join(required(o.UUID), organization.check()), l.saved()); err != nil {
		return err
	}
	return l.tx.InsertOrganization(organization)
}

// known is an organization that a record names.
func (l *loader) known(pointer string, id apitype.UUID) (Organization, error) {
	if o, ok := l.organizations[id]; ok {
		return o, nil
	}
	if err := l.saved(); err != nil {
		return Organization{}, err
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
	if err := cmp.Or(required(a.UUID), l.saved()); err != nil {
		return err
	}
	return l.tx.InsertFocusArea(FocusArea{FocusArea: a.FocusArea, Organization: a.OrganizationUUID})
}
