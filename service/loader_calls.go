package service

import (
	"errors"
	"slices"

	"fundesk/apiclient/apitype"
)

// names notes what a call names.
func (c LoadedCall) names(n naming) {
	n.name(n.persons, c.PersonUUID)
	if c.RelatedCaseUUID != nil {
		n.name(n.pledges, *c.RelatedCaseUUID)
	}
}

// call saves a call.
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
	row := CallRow{Owner: of.Owner, External: c.ExternalMetadata.Pointer() != nil, Rev: 1}
	var err error
	if row.Private, err = encode("call", callPrivate{ExternalSource: c.ExternalSource}); err != nil {
		return err
	}
	if err := row.write(call); err != nil {
		return err
	}
	l.rows.Calls = append(l.rows.Calls, row)
	return l.enqueue(c, row, call, of)
}

// refreshLoaded recomputes when the calls of persons become eligible who have a loaded call, and were
// contacted or are in a lease.
func refreshLoaded(tx Tx, rows Rows, now apitype.Time) error {
	persons := append(mapped(rows.Queue, func(row QueueRow) apitype.UUID { return row.Person }),
		mapped(rows.Contacts, func(c Contact) apitype.UUID { return c.Person })...)
	if len(persons) == 0 {
		return nil
	}
	busy, err := tx.BusyPersons(persons)
	for _, id := range busy {
		err = errors.Join(err, refreshEligibility(tx, id, now, nil))
	}
	return err
}

// enqueue lets a loaded call wait; whether the person was contacted or is in a lease is read
// when it is there.
func (l *loader) enqueue(c LoadedCall, row CallRow, call apitype.Call, of PersonRow) error {
	if at := lastContact(call, nil, l.now); at != nil {
		l.rows.Contacts = append(l.rows.Contacts, Contact{Person: call.PersonUUID, At: *at})
	}
	if call.Status != apitype.CallRequested {
		return nil
	}
	organization, err := l.organizationOf("/personUuid", of.Owner)
	if err != nil {
		return err
	}
	waiting, err := newQueueRow(row, call, of)
	if err != nil {
		return err
	}
	waiting.DueAt, waiting.KeptFor = c.DeferredUntil, c.DeferredFor
	waiting.ContactedAt, waiting.MaxAttempts = lastContact(call, nil, l.now), organization.MaxCallAttempts
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
	if c.DeferredFor != nil && c.DeferredUntil == nil {
		v.Add("/deferredForUserUuid", "needs deferredUntil")
	}
	return invalid(v)
}

// transaction saves a transaction.
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
	if row.Doc, err = encode("transaction", t.Transaction); err != nil {
		return err
	}
	l.rows.Transactions = append(l.rows.Transactions, row)
	return nil
}
