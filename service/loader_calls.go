package service

import (
	"errors"
	"slices"

	"fundesk/apiclient/apitype"
)

// call saves a call.
func (l *loader) call(c LoadedCall) error {
	if err := errors.Join(required(c.UUID), c.check()); err != nil {
		return err
	}
	person, err := l.namedPerson("/personUuid", c.PersonUUID)
	if err != nil {
		return err
	}
	if c.RelatedCaseUUID != nil {
		pledge, err := l.namedPledge(*c.RelatedCaseUUID)
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
	pledge, err := l.namedPledge(t.PledgeUUID)
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
