package service

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
)

// Each waiting call has a row in the queue with the time from which it may be offered. This file updates that row with
// each change that affects it. Package queue offers the calls.

// The times of the queue.
const (
	restAfterContact = 4 * time.Hour // Between two calls to a person.

	queueMemory = 92 * 24 * time.Hour // How long leases that ended are kept.
)

// QueueRow is a waiting call, with the fields that decide when it may be offered.
type QueueRow struct {
	Call        apitype.UUID
	Person      apitype.UUID
	Owner       apitype.UUID // Owning organization of the person.
	Type        apitype.CallType
	Language    string // Of the person. Empty if unknown.
	RequestedAt apitype.Time
	Attempts    int
	External    bool
	OptedOut    bool          // Of the phone.
	OptedIn     bool          // To the phone.
	Country     string        // Where the person is called. Empty if neither the address nor the number shows it.
	EndedAt     *apitype.Time // The end of the person's last pledge. Nil if one is a lead or active, or there is none.
	BlockedBy   *apitype.UUID // The digest of a number of the person that is blocked. Nil if none is.
	DueAt       *apitype.Time // Deferred until then.
	KeptFor     *apitype.UUID // For this user alone.
	DueReason   *string       // What the callback is about.
	EligibleAt  *apitype.Time // The last result of eligibleAt.
	Ready       bool          // Whether that time was seen to have come.
	Note        *string       // What agents left for the next one.

	ContactedAt *apitype.Time // Read along: the person's last contact on any call, without a rest of its own.
	RestedUntil *apitype.Time // The same: the end of the rests of attempts, by their reasons.
	MaxAttempts *int          // The same of the organization.
	LeasedUntil *apitype.Time // The end of the person's lease.
	PersonDoc   []byte        // The same of a call that is about to be offered.
	OwnRules    *string       // The same of a new call: the rules of the organization. Nil if it has none.
}

// eligibleAt returns when a call may be offered, or nil if it may not be. Only this function decides that. Each change
// of its inputs stores its result in the same transaction, and the store searches by it.
func (q QueueRow) eligibleAt() *apitype.Time {
	most, _ := maxAttempts(q.External, q.MaxAttempts)
	if q.OptedOut || q.BlockedBy != nil || q.Attempts >= most { // Spec gap: C5
		return nil
	}
	at := q.RequestedAt
	later := func(t *apitype.Time, by time.Duration) {
		if t != nil && t.Add(by).After(at.Time) {
			at = apitype.NewTime(t.Add(by))
		}
	}
	later(q.ContactedAt, restAfterContact)
	later(q.RestedUntil, 0)
	later(q.DueAt, 0)
	later(q.LeasedUntil, 0)
	return &at
}

// refresh sets the time from which the call may be offered, and reports whether it changed.
func (q *QueueRow) refresh(now apitype.Time) bool {
	at := q.eligibleAt()
	ready := at != nil && !at.After(now.Time)
	changed := ready != q.Ready || (at == nil) != (q.EligibleAt == nil) || (at != nil && !at.Equal(*q.EligibleAt))
	q.EligibleAt, q.Ready = at, ready
	return changed
}

// newQueueRow returns the row of a call that waits.
func newQueueRow(tx Tx, row CallRow, call apitype.Call, of PersonRow) (QueueRow, error) {
	person, err := of.person()
	if err != nil {
		return QueueRow{}, err
	}
	waiting := QueueRow{
		Call:        call.UUID,
		Person:      call.PersonUUID,
		Owner:       row.Owner,
		Type:        call.Type,
		RequestedAt: call.RequestedAt,
		Attempts:    call.AttemptsCount,
		External:    row.External,
	}
	waiting.asPerson(person)
	waiting.BlockedBy, err = blockOf(tx, person)
	return waiting, err
}

func languageOf(p apitype.Person) string { return *cmp.Or(p.Language, new("")) }

func optedOut(p apitype.Person) bool { return p.OptInPhone != nil && !*p.OptInPhone }

// RefreshEligibility recomputes when the calls of a person become eligible.
func RefreshEligibility(tx Tx, person apitype.UUID, now apitype.Time, change func(*QueueRow) bool) error {
	rows, err := tx.QueueOfPerson(person)
	if err != nil {
		return err
	}
	return refreshRows(tx, rows, now, change)
}

// refreshRows recomputes when some calls may be offered.
func refreshRows(tx Tx, rows []QueueRow, now apitype.Time, change func(*QueueRow) bool) error {
	for _, row := range rows {
		changed := change != nil && change(&row)
		if row.refresh(now) || changed {
			if err := tx.UpdateQueueRow(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// StillEligible reports whether a call that is next may be given as its person is and by the rules that were read
// for the take. It makes the call ineligible where not: an opt-out, or the end of a pledge, while the call was created
// is known here at last.
func (q QueueRow) StillEligible(tx Tx, rules *FloorRules, blockKey string, now apitype.Time) (bool, error) {
	var person apitype.Person
	if err := decode("person", q.PersonDoc, &person); err != nil {
		return false, err
	}
	isOther := q.asPerson(person)
	if rules.limitsYears(q.Owner) {
		ended, _, err := tx.PledgesEnded(q.Person, q.Owner)
		if err != nil {
			return false, err
		}
		isOther = isOther || !equalTimes(q.EndedAt, ended)
		q.EndedAt = ended
	}
	q.refresh(now)
	isCallable := rules.mayBeCalled(q, now)
	if q.Ready && !isCallable && !isOther {
		return false, nil // Its kind is newer than the kinds that were read. The next reading has it.
	}
	if !q.Ready || !isCallable {
		return false, cmp.Or(personChanged(tx, q.Person, person, now), pledgesChanged(tx, q.Person, q.Owner, now))
	}
	since, err := blockedSinceByKey(tx, blockKey, phoneNumbers(person), Scope{Organizations: []apitype.UUID{q.Owner}})
	if err != nil || since == nil {
		return err == nil, err
	}
	// It was blocked while the call was created.
	return false, personChanged(tx, q.Person, person, now)
}

// DropErasing takes a call out of the queue that was created after the erasure of its person had begun.
func (q QueueRow) DropErasing(tx Tx) (bool, error) {
	erasing, err := tx.Setting(ErasingSetting + q.Person.String())
	if err != nil || erasing == "" {
		return false, err
	}
	return true, tx.DeleteQueueRow(q.Call)
}

// enqueue adds a new call to the queue. It recomputes the person's other calls only if the new call has a contact,
// whatever its status.
func (s *Service) enqueue(tx Tx, row CallRow, call apitype.Call, person PersonRow, now apitype.Time) error {
	contacted := lastContact(call.Attempts.Value(), call.CompletedAt, nil, now)
	if err := s.recordContact(tx, &row, contacted); err != nil {
		return err
	}
	if call.Status == apitype.CallRequested {
		waiting, err := newQueueRow(tx, row, call, person)
		if err != nil {
			return err
		}
		if err := tx.QueueFacts(&waiting); err != nil {
			return err
		}
		waiting.refresh(now)
		if err := waiting.holdPerson(tx); err != nil {
			return err
		}
		if err := tx.InsertQueueRow(waiting); err != nil {
			return err
		}
	}
	if contacted == nil {
		return nil
	}
	return RefreshEligibility(tx, call.PersonUUID, now, nil)
}

// holdPerson holds the person of a new call that may not be given as the person is: what lets it be given, at the same
// time, would not see the call. The opposite needs no hold: a take looks at the person again.
func (q *QueueRow) holdPerson(tx Tx) error {
	needsOptIn := false
	if !q.OptedIn && q.OwnRules != nil {
		var rules storedRules
		if err := decode("rules of the queue", []byte(*q.OwnRules), &rules); err != nil {
			return err
		}
		needsOptIn = slices.Contains(rules.RequireOptIn, q.Type)
	}
	if !q.OptedOut && !needsOptIn && q.EndedAt == nil {
		return nil
	}
	return tx.HoldPerson(q.Person)
}

// recordContact saves the last contact of the person of a call, and sets the call's PersonRow. Nil changes nothing.
func (s *Service) recordContact(tx Tx, call *CallRow, at *apitype.Time) error {
	if at == nil {
		return nil
	}
	person, err := tx.Person(call.Person, Scope{All: true})
	if errors.Is(err, ErrNoRow) { // It may be erased.
		return tx.RecordContact(call.Person, *at, nil)
	}
	if err != nil {
		return err
	}
	call.PersonRow = &person
	return tx.RecordContact(call.Person, *at, s.numbersOf(&person))
}

// numbersOf returns the phone numbers of a person for the queue, in order. They are digests that only the holder of
// the key can compute. After a change of the key, digests of the last hours no longer match.
func (s *Service) numbersOf(row *PersonRow) []apitype.UUID {
	var person struct { // Of the document, nothing else is decoded.
		MobilePhoneNumber *string `json:"mobilePhoneNumber"`
		PhoneNumber       *string `json:"phoneNumber"`
	}
	if row == nil || decode("person", row.Doc, &person) != nil {
		return nil
	}
	var digests []apitype.UUID
	for _, number := range []*string{person.MobilePhoneNumber, person.PhoneNumber} {
		if number != nil {
			mac := hmac.New(sha256.New, s.keys.known.Load().cursor)
			mac.Write([]byte("number " + plainNumber(*number)))
			digests = append(digests, apitype.UUID(mac.Sum(nil)[:len(apitype.UUID{})]))
		}
	}
	slices.SortFunc(digests, apitype.UUID.Compare)
	return slices.Compact(digests)
}

// NumberContacted returns the last contact of one of a person's numbers before a time, or nil if it is too old to
// matter.
func (s *Service) NumberContacted(r Reader, person *PersonRow, before apitype.Time) (*apitype.Time, error) {
	var at *apitype.Time
	var err error
	if numbers := s.numbersOf(person); len(numbers) > 0 {
		at, err = r.NumbersContacted(numbers, apitype.NewTime(before.Add(-restAfterContact)))
	}
	return at, err
}

// lastContact returns the last contact of a person on a call, by new attempts or the completion, or nil if it is too
// old to matter. taken is the start of the lease that the contact ended, or nil. The caller's clock is not trusted: a
// future time would block calls to the person. A contact that ended a lease is later than the start of that lease.
func lastContact(
	attempts []apitype.CallAttempt,
	completed, taken *apitype.Time,
	now apitype.Time,
) *apitype.Time {
	var last *apitype.Time
	consider := func(at apitype.Time) {
		if at.After(now.Time) {
			at = now
		}
		if last == nil || at.After(last.Time) {
			last = &at
		}
	}
	for _, attempt := range attempts {
		consider(attempt.AttemptAt)
	}
	for _, at := range []*apitype.Time{completed, taken} {
		if at != nil {
			consider(*at)
		}
	}
	if last == nil || last.Add(restAfterContact).Before(now.Time) {
		return nil
	}
	return last
}

// personChanged copies the fields of a changed person to the queue.
func personChanged(tx Tx, id apitype.UUID, person apitype.Person, now apitype.Time) error {
	blocked, err := blockOf(tx, person)
	if err != nil {
		return err
	}
	return RefreshEligibility(tx, id, now, func(row *QueueRow) bool {
		isOther := !equal(row.BlockedBy, blocked)
		row.BlockedBy = blocked
		return row.asPerson(person) || isOther
	})
}

// attemptsLimited recomputes the calls that have as many attempts as the old or the new maximum of an organization. It
// always writes their rows, so that a concurrent change that used the old maximum conflicts.
func attemptsLimited(tx Tx, o Organization, before *int, now apitype.Time) error {
	least := before
	if least == nil || (o.MaxCallAttempts != nil && *o.MaxCallAttempts < *least) {
		least = o.MaxCallAttempts
	}
	if least == nil {
		return nil
	}
	rows, err := tx.QueueOfAttempts(o.UUID, *least)
	if err != nil {
		return err
	}
	return refreshRows(tx, rows, now, func(*QueueRow) bool { return true })
}

// onAttempt updates the queue after an attempt, which ends the lease of the call and uses up its
// deferral.
func (s *Service) onAttempt(tx Tx, row *CallRow, call apitype.Call, user *apitype.UUID, now apitype.Time) error {
	rows, err := tx.QueueOfPerson(call.PersonUUID)
	if err != nil {
		return err
	}
	ended, err := endLeaseOf(tx, call, rows, now, EndedByAttempt)
	if err != nil {
		return err
	}
	attempts := call.Attempts.Value()
	contacted := lastContact(attempts[len(attempts)-1:], nil, ended.takenAt(), now)
	if err := s.recordContact(tx, row, contacted); err != nil {
		return err
	}
	err = refreshRows(tx, rows, now, func(q *QueueRow) bool {
		q.settle(ended, contacted)
		if q.Call != call.UUID {
			return false
		}
		q.Attempts, q.DueAt, q.KeptFor, q.DueReason = call.AttemptsCount, nil, nil, nil
		return true
	})
	if err != nil {
		return err
	}
	return countWork(tx, ended, user, Work{Owner: row.Owner, SeenAt: now, Attempts: 1})
}

// endLeaseOf ends the lease of a call, if the waiting calls of its person show that the person is claimed. It returns
// nil for no lease.
func endLeaseOf(tx Tx, call apitype.Call, rows []QueueRow, now apitype.Time, by LeaseEnd) (*LeaseRow, error) {
	if !slices.ContainsFunc(rows, func(q QueueRow) bool { return q.LeasedUntil != nil }) {
		return nil, nil //nolint:nilnil // There is no lease.
	}
	return tx.EndLease(call.PersonUUID, call.UUID, nil, now, by)
}

// settle sets the facts that changed since the row was read: the end of the person's lease and a contact. Nil means
// none.
func (q *QueueRow) settle(ended *LeaseRow, contacted *apitype.Time) {
	if ended != nil {
		q.LeasedUntil = nil
	}
	if contacted != nil && (q.ContactedAt == nil || q.ContactedAt.Before(contacted.Time)) {
		q.ContactedAt = contacted
	}
}

// EndLease ends a lease if it is live, counts that, and recomputes when the calls of its person become eligible.
// Otherwise nothing changes, and a later lease of the call stays. Every change locks the rows of these calls before the
// row of the donor, so that no two changes wait for each other.
func EndLease(tx Tx, l LeaseRow, now apitype.Time, by LeaseEnd, change func(*QueueRow) bool) error {
	rows, err := tx.QueueOfPerson(l.Person)
	if err != nil {
		return err
	}
	ended, err := tx.EndLease(l.Person, l.CallUUID, &l.LeaseUUID, now, by)
	if err != nil || ended == nil {
		return err
	}
	err = refreshRows(tx, rows, now, func(q *QueueRow) bool {
		q.settle(ended, nil)
		return change != nil && change(q)
	})
	if err != nil {
		return err
	}
	return countWork(tx, ended, nil, Work{SeenAt: now})
}

// countWork counts the work of a user and the end of a lease. A nil user counts nothing.
func countWork(tx Tx, ended *LeaseRow, user *apitype.UUID, work Work) error {
	var all []Work
	if user != nil {
		work.User = *user
		all = append(all, work)
	}
	if ended != nil && (user == nil || ended.UserUUID != *user) {
		all = append(all, ended.Work(work.SeenAt))
	}
	return tx.CountWork(all)
}

// onCallEnded updates the queue after the end of a call. A completion is a contact: the person was
// spoken to.
func (s *Service) onCallEnded(tx Tx, row *CallRow, call apitype.Call, user *apitype.UUID, now apitype.Time) error {
	rows, err := tx.QueueOfPerson(call.PersonUUID)
	if err != nil {
		return err
	}
	if err := tx.DeleteQueueRow(call.UUID); err != nil {
		return err
	}
	by := map[apitype.CallStatus]LeaseEnd{
		apitype.CallCompleted: EndedByComplete,
		apitype.CallCancelled: EndedByCancel,
		apitype.CallExpired:   EndedByExpiry,
	}[call.Status]
	ended, err := endLeaseOf(tx, call, rows, now, by)
	if err != nil {
		return err
	}
	var contacted *apitype.Time
	if call.Status == apitype.CallCompleted {
		contacted = lastContact(nil, call.CompletedAt, ended.takenAt(), now)
		if err := s.recordContact(tx, row, contacted); err != nil {
			return err
		}
	}
	rows = slices.DeleteFunc(rows, func(q QueueRow) bool { return q.Call == call.UUID })
	err = refreshRows(tx, rows, now, func(q *QueueRow) bool {
		q.settle(ended, contacted)
		return false
	})
	if err != nil {
		return err
	}
	if call.Status != apitype.CallCompleted {
		user = nil
	}
	work := Work{Owner: row.Owner, SeenAt: now, Completed: 1}
	result := call.Result.Pointer()
	if result != nil && result.ResultCode != nil {
		work.Code = *result.ResultCode
	}
	return countWork(tx, ended, user, work)
}
