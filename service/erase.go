package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"fundesk/apiclient/apitype"
)

// Erasure is what is erased with a person.
type Erasure struct {
	PersonUUID   apitype.UUID `json:"personUuid"`
	ErasedAt     apitype.Time `json:"erasedAt"`
	Repeated     bool         `json:"repeated"` // It was erased before; nothing was left to erase.
	Calls        int          `json:"calls"`
	Pledges      int          `json:"pledges"`
	Transactions int          `json:"transactions"`
	Signatures   int          `json:"signatures"`
	Leases       int          `json:"leases"`   // That held.
	Waiting      int          `json:"waiting"`  // Calls that the queue would have given.
	DryRun       bool         `json:"dryRun"`   // Nothing was erased.
	Scrubbed     *Scrubbed    `json:"scrubbed"` // Null in a dry run.
}

// Scrubbed is what was done, and is to be done, so that the files of the database hold nothing of erased values.
type Scrubbed struct {
	Rewritten []string `json:"rewritten"` // What was written anew.
	Later     []string `json:"later"`     // What holds it in unused space until the next cleaning.
	Busy      []string `json:"-"`         // Those of them that the next cleaning may write anew.
}

// EraseRequest asks for the erasure of a person.
type EraseRequest struct {
	Reason string
	DryRun bool
	// Record is told of the erasure before it is made, to keep outside the database who was erased
	// when; nil: nobody is. It may be told again.
	Record func(ErasedPerson) error
}

// MaxReason is how long a reason may be, in code points.
const MaxReason = 1000

func (r EraseRequest) check() error {
	var v apitype.Violations
	switch reason := strings.TrimSpace(r.Reason); {
	case reason == "":
		v.Add("/reason", "is required")
	case len([]rune(reason)) > MaxReason:
		v.Add("/reason", "must have %d characters at most", MaxReason)
	case strings.ContainsRune(reason, 0):
		v.Add("/reason", "must not contain a NUL character")
	}
	return invalid(v)
}

// ErasePerson erases what is known of a person, for an operator. It is done again, without any
// effect but on the files, where the person was erased before. Spec gap: S60.
func (s *Service) ErasePerson(ctx context.Context, id apitype.UUID, request EraseRequest) (Erasure, error) {
	if err := request.check(); err != nil {
		return Erasure{}, err
	}
	line := AuditLine{Operation: AuditPersonErase, Record: &id, Reason: strings.TrimSpace(request.Reason)}
	return s.erasePerson(ctx, line, request, nil)
}

// ErasePersonFor is ErasePerson for a caller, who must see the person.
// POST /fundesk/v1/persons/{uuid}/erase
func (s *Service) ErasePersonFor(ctx context.Context, c Caller, id apitype.UUID, request EraseRequest) (Answer, error) {
	if err := cmp.Or(c.Require(PersonsErase), request.check()); err != nil {
		return Answer{}, err
	}
	line := c.audited(AuditPersonErase, id, apitype.Time{})
	line.Reason = strings.TrimSpace(request.Reason)
	if record := s.recordErasure; record != nil {
		request.Record = func(person ErasedPerson) error {
			if err := record(person); err != nil { // Its disk may be full: nobody is erased, and the caller comes again.
				return &Error{Kind: Unavailable, Detail: "the erasure cannot be noted outside the database", Cause: err}
			}
			return nil
		}
	}
	erasure, err := s.erasePerson(ctx, line, request, &c)
	if err != nil {
		return Answer{}, err
	}
	return answered(erasure)
}

func (s *Service) erasePerson(ctx context.Context, line AuditLine, request EraseRequest, c *Caller) (erasure Erasure, err error) {
	id := *line.Record
	scrubbed := &Scrubbed{Rewritten: []string{}, Later: []string{}}
	erase := func(tx Tx) error {
		open, err := openErasureOf(tx, id)
		if err != nil {
			return err
		}
		if open != nil && (c == nil || c.Scope.Contains(open.Owner)) {
			erasure = open.Erasure
			erasure.Repeated = request.DryRun // Nothing is left that would be erased.
			scrubbed.Later = s.store.Held()
			return nil
		}
		if c != nil {
			if _, err := visiblePerson(tx, *c, id); err != nil {
				return err
			}
		}
		if err := tx.LoadsAlone(false); err != nil {
			return err
		}
		kept, err := tx.HoldKept(id)
		if err != nil {
			return orUnknown(err, "person", id)
		}
		if c != nil && len(kept.foreign(c.Scope)) > 0 {
			return conflict("the person has pledges of another organization, which this account may not change; the operator erases the person: fundeskd person erase %s", id)
		}
		line.At = s.timeOf(tx)
		erasure = kept.erasure(line.At)
		if request.DryRun || kept.ErasedAt != nil {
			return nil
		}
		e := &eraser{tx: tx, kept: kept, now: line.At}
		if err := e.erase(); err != nil {
			return err
		}
		if request.Record != nil {
			if err := request.Record(ErasedPerson{UUID: id, ErasedAt: line.At}); err != nil {
				return err
			}
		}
		scrubbed.Later = s.store.Held()
		line.Fields = "person,calls,pledges,transactions,signatures"
		return errors.Join(openErasure{kept.Person.Owner, erasure}.note(tx), tx.Audit(line.of(id)))
	}
	if err := described("erase the person", s.store.UpdateShared(ctx, erase)); err != nil {
		return erasure, err
	}
	if erasure.DryRun = request.DryRun; request.DryRun {
		return erasure, nil
	}
	erasure.Scrubbed = scrubbed
	return erasure, nil
}

// erasure counts what is kept.
func (k Kept) erasure(now apitype.Time) Erasure {
	e := Erasure{PersonUUID: k.Person.UUID, ErasedAt: now}
	if k.ErasedAt != nil {
		e.ErasedAt, e.Repeated = *k.ErasedAt, true
		return e
	}
	e.Calls, e.Pledges, e.Transactions, e.Signatures, e.Waiting = len(k.Calls), len(k.Pledges), len(k.Transactions), len(k.Signatures), len(k.Waiting)
	for _, lease := range k.Leases {
		if lease.live(now) {
			e.Leases++
		}
	}
	return e
}

// ErasedPerson says when a person was erased.
type ErasedPerson struct {
	UUID     apitype.UUID `json:"uuid"`
	ErasedAt apitype.Time `json:"erasedAt"`
	Run      int          `json:"run,omitzero"` // The run of the retention that erased them; 0: it was asked for.
}

// ReplayErasures erases persons as earlier erasures did, of which the database knows nothing since
// it was restored, and is how many it did not know. Of a person who is unknown the uuid is kept, so
// that it is not used again.
func (s *Service) ReplayErasures(ctx context.Context, persons []ErasedPerson) (replayed int, err error) {
	for _, person := range persons {
		done, err := s.replayErasure(ctx, person)
		if err != nil {
			return replayed, err
		}
		if done {
			replayed++
		}
	}
	return replayed, nil
}

func (s *Service) replayErasure(ctx context.Context, person ErasedPerson) (done bool, err error) {
	line := AuditLine{Operation: AuditPersonErase, Record: &person.UUID, Person: &person.UUID, Reason: "replayed"}
	err = s.store.UpdateShared(ctx, func(tx Tx) error {
		done, line.At = false, s.timeOf(tx)
		if err := tx.LoadsAlone(false); err != nil {
			return err
		}
		kept, err := tx.HoldKept(person.UUID)
		switch {
		case errors.Is(err, ErrNoRow):
			err = tx.EraseUnknown(person.UUID, person.ErasedAt)
		case err != nil || kept.ErasedAt != nil:
			return err
		default:
			e := &eraser{tx: tx, kept: kept, now: person.ErasedAt}
			err = errors.Join(e.erase(), tx.SetSetting(uncleanReplay, ""))
		}
		done = true
		return errors.Join(err, tx.Audit(line))
	})
	return done, described("replay the erasure", err)
}

// eraser erases what is kept of a person.
type eraser struct {
	tx   Tx
	kept Kept
	now  apitype.Time
}

// erase blanks what the person, and what belongs to them, says of them. Amounts, dates, codes and
// links stay, for the books.
func (e *eraser) erase() error {
	if err := e.tx.ErasePerson(e.kept.Person.UUID, e.now); err != nil {
		return err
	}
	if err := each(e.kept.Calls, e.call); err != nil {
		return err
	}
	if err := each(e.kept.Pledges, e.pledge); err != nil {
		return err
	}
	return each(e.kept.Transactions, e.transaction)
}

// each does something with every row, until that fails.
func each[T any](rows []T, do func(T) error) error {
	for _, row := range rows {
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

func (e *eraser) call(row CallRow) error {
	if err := row.blank(e.now); err != nil {
		return err
	}
	if err := revise("call", &row.Private, func(private *callPrivate) { private.ErasedAt = &e.now }); err != nil {
		return err
	}
	return e.tx.RewriteCall(row)
}

// blank takes from a call its notes, external metadata and what is known of its recording.
func (c *CallRow) blank(now apitype.Time) error {
	var call apitype.Call
	if err := decode("call", c.Doc, &call); err != nil {
		return err
	}
	call.Notes, call.RecordingDuration, call.LastUpdatedAt = nil, nil, now
	if call.ExternalMetadata.Pointer() != nil {
		call.ExternalMetadata = apitype.EmbedPointer[apitype.CallExternalMetadata](nil)
	}
	if result := call.Result.Pointer(); result != nil {
		result.Notes = nil
		call.Result = apitype.EmbedPointer(result)
	}
	return c.write(call)
}

func (e *eraser) pledge(row PledgeRow) error {
	var pledge apitype.Pledge
	if err := decode("pledge", row.Doc, &pledge); err != nil {
		return err
	}
	pledge.ExternalMetadata, pledge.RecruitingLocationLabel, pledge.UpdatedAt = nil, nil, e.now
	if err := row.write(pledge); err != nil {
		return err
	}
	if err := revise("pledge", &row.Private, func(private *pledgePrivate) { private.ErasedAt = &e.now }); err != nil {
		return err
	}
	return e.tx.RewritePledge(row)
}

func (e *eraser) transaction(row TransactionRow) error {
	if err := revise("transaction", &row.Doc, coverPayer); err != nil {
		return err
	}
	return e.tx.RewriteTransaction(row)
}

// coverPayer takes from a transaction who paid. What banks and payment providers write along names
// them too.
func coverPayer(t *apitype.Transaction) {
	t.Name, t.IBAN, t.Description, t.ProviderMetadata = nil, nil, nil, nil
}

// erased refuses to change a record of a person who was erased: what private columns hold of it
// says so.
func erased(kind string, private []byte) error {
	if !bytes.Contains(private, []byte(`"erasedAt"`)) {
		return nil
	}
	return &Error{Kind: NotFound, Detail: "the person of this " + kind + " was erased; the " + kind + " takes no changes any more, and nothing of this one was kept"}
}
