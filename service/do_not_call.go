package service

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// An objection to phone calls holds for the number. A number is kept as a digest that only the holder of the
// database's key can make, so a block names no donor and outlives the erasure of one. Spec gap: S79.

// Block is a number that an organization must not call. Each person with an objection has a block of their own, so
// that lifting one leaves the others.
type Block struct {
	Organization apitype.UUID
	Number       apitype.UUID  // Its digest.
	Person       apitype.UUID  // Zero if an operator or a supervisor added it.
	At           apitype.Time  // When it was blocked: the first time, or the last time without a person.
	Call         *apitype.UUID // Of the objection. Nil if it came otherwise.
	User         *apitype.UUID
}

// Lifting chooses the blocks that are lifted of an organization.
type Lifting struct {
	Organization apitype.UUID
	Numbers      []apitype.UUID // The digests of numbers.
	// Person lifts the blocks of the person, for any number, and those of the numbers without a person. Nil lifts all
	// blocks of the numbers.
	Person *apitype.UUID
	// Until keeps blocks without a person that are newer. Nil keeps none.
	Until *apitype.Time
}

// BlockKeySetting is the setting with the key of the digests.
const BlockKeySetting = "do_not_call_key"

// digestsOf returns the digests of numbers under a key, in order.
func digestsOf(key string, numbers []string) []apitype.UUID {
	var digests []apitype.UUID
	for _, number := range numbers {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(number))
		digests = append(digests, apitype.UUID(mac.Sum(nil)[:len(apitype.UUID{})]))
	}
	slices.SortFunc(digests, apitype.UUID.Compare)
	return slices.Compact(digests)
}

// plainNumber returns a number without zeros between the code of the country and the rest: +31 06 and +31 6 ring at the
// same phone.
func plainNumber(number string) string {
	national, country := splitNumber(apitype.Digits(number))
	return "+" + country + national
}

// spellingsOf returns numbers as they are, plain, and with one zero after the code of the country. A number is blocked
// plain. Earlier versions blocked it as it was.
func spellingsOf(numbers []string) []string {
	withZero := func(number string) string {
		national, country := splitNumber(apitype.Digits(number))
		return "+" + country + "0" + national
	}
	return slices.Concat(numbers, mapped(numbers, plainNumber), mapped(numbers, withZero))
}

// phoneNumbers returns the numbers of a person.
func phoneNumbers(p apitype.Person) []string {
	var numbers []string
	for _, number := range []*string{p.MobilePhoneNumber, p.PhoneNumber} {
		if number != nil {
			numbers = append(numbers, *number)
		}
	}
	return numbers
}

// blockNumbers blocks numbers with the organization, person, call and user of a block. Waiting calls of persons with
// these numbers are no longer offered, by the clock.
func blockNumbers(tx Tx, numbers []string, b Block, clock apitype.Time) error {
	if len(numbers) == 0 {
		return nil
	}
	made := make([]byte, sha256.Size)
	_, _ = rand.Read(made) // It never fails.
	key, err := tx.EnsureSetting(BlockKeySetting, hex.EncodeToString(made))
	if err != nil {
		return err
	}
	for _, digest := range digestsOf(key, mapped(numbers, plainNumber)) {
		b.Number = digest
		if err := tx.InsertBlock(b); err != nil {
			return err
		}
	}
	var terms []string
	for _, number := range numbers {
		terms = append(terms, numberTerm(number))
	}
	persons, err := tx.WaitingWithTerms(b.Organization, terms)
	if err != nil {
		return err
	}
	return refreshPersons(tx, persons, clock)
}

// refreshPersons copies the fields of changed persons to the queue.
func refreshPersons(tx Tx, ids []apitype.UUID, clock apitype.Time) error {
	for _, id := range ids {
		_, err := refreshPerson(tx, id, clock)
		if err != nil {
			return err
		}
	}
	return nil
}

// refreshPerson copies the fields of a changed person to the queue, and returns the person.
func refreshPerson(tx Tx, id apitype.UUID, clock apitype.Time) (PersonRow, error) {
	row, err := tx.Person(id, Scope{All: true})
	if err != nil {
		return row, err
	}
	person, err := row.person()
	if err != nil {
		return row, err
	}
	return row, personChanged(tx, id, person, clock)
}

// blockOf returns the digest of a number of a person that is blocked for their organization, or nil if none is.
func blockOf(tx Tx, person apitype.Person) (*apitype.UUID, error) {
	numbers := phoneNumbers(person)
	if len(numbers) == 0 {
		return nil, nil
	}
	key, err := tx.Setting(BlockKeySetting)
	if err != nil || key == "" {
		return nil, err
	}
	return tx.BlockOf(person.OwningOrganization.Value().UUID, digestsOf(key, spellingsOf(numbers)))
}

// deleteBlocks lifts blocks, and lets the calls wait again that they kept. It reports whether there were any.
func deleteBlocks(tx Tx, l Lifting, clock apitype.Time) (bool, error) {
	lifted, err := tx.DeleteBlocks(l)
	if err != nil || len(lifted) == 0 {
		return false, err
	}
	persons, err := tx.WaitingBlockedBy(l.Organization, lifted)
	if err != nil {
		return false, err
	}
	return true, refreshPersons(tx, persons, clock)
}

// blockedSince returns when the first of some numbers was blocked for an organization of a scope, or nil if none is.
func blockedSince(r Reader, numbers []string, scope Scope) (*apitype.Time, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	key, err := r.Setting(BlockKeySetting)
	if err != nil {
		return nil, err
	}
	return blockedSinceByKey(r, key, numbers, scope)
}

// blockedSinceByKey does the work of blockedSince with a key that was read already. An empty key means that nothing was
// ever blocked.
func blockedSinceByKey(r Reader, key string, numbers []string, scope Scope) (*apitype.Time, error) {
	if key == "" || len(numbers) == 0 {
		return nil, nil
	}
	return r.BlockedSince(digestsOf(key, spellingsOf(numbers)), scope)
}

// NumberBlocked reports whether a number of a person is blocked.
func NumberBlocked(r Reader, row PersonRow) (bool, error) {
	key, err := r.Setting(BlockKeySetting)
	if err != nil {
		return false, err
	}
	return NumberBlockedByKey(r, key, row)
}

// NumberBlockedByKey does the work of NumberBlocked with a key that was read already.
func NumberBlockedByKey(r Reader, key string, row PersonRow) (bool, error) {
	person, err := row.person()
	if err != nil {
		return false, err
	}
	since, err := blockedSinceByKey(r, key, phoneNumbers(person), Scope{Organizations: []apitype.UUID{row.Owner}})
	return since != nil, err
}

// optInChanged blocks or unblocks the numbers of a person after an update set the opt-in for phone. It lifts only the
// person's own blocks and blocks without a person: another person with the number may have objected. line is the line
// of the update, with its time. Leases and rests go by the clock, which may be behind it. An objection also blocks the
// numbers that its update removes: a donor may ask for both.
func optInChanged(
	tx Tx,
	line AuditLine,
	row PersonRow,
	person, before apitype.Person,
	request apitype.UpdatePersonRequest,
	clock apitype.Time,
) error {
	optIns, _ := request.OptIns.Value()
	isSet, isGiven := optIns.Phone.Value()
	if isSet {
		isLifted, err := unblockPerson(tx, row, person, nil, clock)
		isNoted := slices.Contains(strings.Split(line.Fields, ","), "optInPhone")
		if err != nil || !isLifted || isNoted {
			return err
		}
		line.Fields = "optInPhone"
		return tx.Audit(line)
	}
	wasOut := optedOut(before)
	if !optedOut(person) || wasOut && !isGiven {
		return nil
	}
	if wasOut { // No older consent lifts an objection that was repeated.
		line.Fields = "optInPhone"
		if err := cmp.Or(tx.HoldPerson(row.UUID), tx.Audit(line)); err != nil {
			return err
		}
	}
	block := Block{Organization: row.Owner, Person: row.UUID, At: line.At}
	return blockNumbers(tx, slices.Concat(phoneNumbers(person), phoneNumbers(before)), block, clock)
}

// unblockPerson lifts the blocks of a person, and those without a person that were made until a time. Nil is any time.
// It reports whether there were any.
func unblockPerson(
	tx Tx,
	row PersonRow,
	person apitype.Person,
	until *apitype.Time,
	clock apitype.Time,
) (bool, error) {
	key, err := tx.Setting(BlockKeySetting)
	if err != nil || key == "" {
		return false, err
	}
	return deleteBlocks(tx, Lifting{
		Organization: row.Owner,
		Numbers:      digestsOf(key, spellingsOf(phoneNumbers(person))),
		Person:       &row.UUID,
		Until:        until,
	}, clock)
}

// CheckNumber reports whether a number is blocked for an organization that the account sees.
// POST /fundesk/v1/do-not-call/check
func (s *Service) CheckNumber(ctx context.Context, c Caller, request apitype.NumberRequest) (Answer, error) {
	if err := cmp.Or(c.Require(CallsRead), NotValid(request.Validate())); err != nil {
		return Answer{}, err
	}
	return View(ctx, s, "look for a blocked number", func(r Reader) (Answer, error) {
		since, err := blockedSince(r, []string{request.Number}, c.Scope)
		return Answered(apitype.NumberState{Blocked: since != nil, Since: since}, err)
	})
}

// BlockNumber blocks a number for an organization.
// POST /fundesk/v1/do-not-call
func (s *Service) BlockNumber(ctx context.Context, c Caller, request apitype.BlockRequest) error {
	return s.changeBlock(ctx, c, request, AuditNumberBlock, func(tx Tx, now apitype.Time) error {
		block := Block{Organization: request.OrganizationUUID, At: now}
		return blockNumbers(tx, []string{request.Number}, block, now)
	})
}

// UnblockNumber lifts all blocks of a number for an organization.
// POST /fundesk/v1/do-not-call/remove
func (s *Service) UnblockNumber(ctx context.Context, c Caller, request apitype.BlockRequest) error {
	return s.changeBlock(ctx, c, request, AuditNumberUnblock, func(tx Tx, now apitype.Time) error {
		key, err := tx.Setting(BlockKeySetting)
		if err != nil || key == "" {
			return err
		}
		numbers := digestsOf(key, spellingsOf([]string{request.Number}))
		_, err = deleteBlocks(tx, Lifting{Organization: request.OrganizationUUID, Numbers: numbers}, now)
		return err
	})
}

func (s *Service) changeBlock(
	ctx context.Context,
	c Caller,
	request apitype.BlockRequest,
	operation AuditOperation,
	change func(tx Tx, now apitype.Time) error,
) error {
	if err := cmp.Or(c.Require(SettingsWrite), NotValid(request.Validate())); err != nil {
		return err
	}
	return s.Write(ctx, WriteIsolated, string(operation), func(tx Tx) error {
		_, err := tx.Organization(request.OrganizationUUID)
		if errors.Is(err, ErrNoRow) || err == nil && !c.Scope.Contains(request.OrganizationUUID) {
			var v apitype.Violations
			v.Add("/organizationUuid", "names no organization of the account")
			return NotValid(v)
		}
		if err != nil {
			return err
		}
		now := s.TimeOf(tx)
		if err := change(tx, now); err != nil {
			return err
		}
		line := c.Audited(operation, request.OrganizationUUID, now)
		if c.UUID.IsZero() { // An operator's command.
			line.Account = nil
		}
		return tx.Audit(line)
	})
}
