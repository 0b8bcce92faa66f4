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
	// Record is told of the erasure before it is made, to note it outside the database; it may be nil.
	// It may be told again.
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
	return NotValid(v)
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

// ErasePersonFor is ErasePerson for a caller that may see the person.
// POST /fundesk/v1/persons/{uuid}/erase
func (s *Service) ErasePersonFor(ctx context.Context, c Caller, id apitype.UUID, request EraseRequest) (Answer, error) {
	if err := cmp.Or(c.Require(PersonsErase), request.check()); err != nil {
		return Answer{}, err
	}
	line := c.Audited(AuditPersonErase, id, apitype.Time{})
	line.Reason = strings.TrimSpace(request.Reason)
	if record := s.recordErasure; record != nil {
		request.Record = func(person ErasedPerson) error {
			if err := record(person); err != nil { // Its disk may be full: nothing is erased, and the caller comes again.
				return &Error{Kind: Unavailable, Detail: "the erasure cannot be noted outside the database", Cause: err}
			}
			return nil
		}
	}
	return answered(s.erasePerson(ctx, line, request, &c))
}

func (s *Service) erasePerson(ctx context.Context, line AuditLine, request EraseRequest, c *Caller) (erasure Erasure, err error) {
	id := *line.Record
	if request.DryRun {
		return s.planErasure(ctx, id, c)
	}
	scrubbed := &Scrubbed{Rewritten: []string{}, Later: []string{}}
	erase := func(tx Tx) error {
		if err := tx.ExcludeErasure(false); err != nil {
			return err
		}
		kept, open, err := toErase(tx, id, c, tx.LockPersonData)
		if err != nil {
			return err
		}
		if open != nil {
			erasure, scrubbed.Later = open.Erasure, s.store.Held()
			return nil
		}
		line.At = s.TimeOf(tx)
		if erasure = kept.erasure(line.At); kept.ErasedAt != nil {
			return nil
		}
		if err := eraseKept(tx, kept, line.At); err != nil {
			return err
		}
		if request.Record != nil {
			if err := request.Record(ErasedPerson{UUID: id, ErasedAt: line.At}); err != nil {
				return err
			}
		}
		scrubbed.Later = s.store.Held()
		line.Fields = "person,calls,pledges,transactions,signatures"
		return errors.Join(setJSON(tx, UncleanSetting+id.String(), openErasure{kept.Person.Owner, erasure}), tx.Audit(line.Of(id)))
	}
	if err := s.Write(ctx, WriteShared, "erase the person", erase); err != nil {
		return erasure, err
	}
	erasure.Scrubbed = scrubbed
	return erasure, s.finishErasure(ctx, id)
}

func (s *Service) planErasure(ctx context.Context, id apitype.UUID, c *Caller) (erasure Erasure, err error) {
	err = s.ReadLong(ctx, "count what would be erased", func(r Reader) error {
		kept, open, err := toErase(r, id, c, r.Kept)
		if erasure = kept.erasure(s.Now()); open != nil {
			erasure = open.Erasure
			erasure.Repeated = true // Nothing is left that would be erased.
		}
		return err
	})
	erasure.DryRun = true
	return erasure, err
}

// toErase returns what is kept of a person, or the erasure that was made and after which the files were
// not cleaned yet.
func toErase(r Reader, id apitype.UUID, c *Caller, keptOf func(apitype.UUID) (Kept, error)) (kept Kept, open *openErasure, err error) {
	open, err = settingOf[openErasure](r, UncleanSetting+id.String())
	if err != nil || open != nil && (c == nil || c.Scope.Contains(open.Owner)) {
		return kept, open, err
	}
	if c != nil {
		if _, err := VisiblePerson(r, *c, id); err != nil {
			return kept, nil, err
		}
	}
	if kept, err = keptOf(id); err != nil {
		return kept, nil, OrUnknown(err, "person", id)
	}
	if c != nil && len(kept.foreign(c.Scope)) > 0 {
		return kept, nil, conflict("the person has pledges of another organization, which this account may not change; the operator erases the person: fundeskd person erase %s", id)
	}
	return kept, nil, nil
}

func (k Kept) erasure(now apitype.Time) Erasure {
	e := Erasure{PersonUUID: k.Person.UUID, ErasedAt: now}
	if k.ErasedAt != nil {
		e.ErasedAt, e.Repeated = *k.ErasedAt, true
		return e
	}
	e.Calls, e.Pledges, e.Transactions, e.Signatures, e.Waiting = len(k.Calls), len(k.Pledges), len(k.Transactions), len(k.Signatures), k.Waiting
	for _, lease := range k.Leases {
		if lease.Live(now) {
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
	err = s.Write(ctx, WriteShared, "replay the erasure", func(tx Tx) error {
		done, line.At = false, s.TimeOf(tx)
		if err := tx.ExcludeErasure(false); err != nil {
			return err
		}
		kept, err := tx.LockPersonData(person.UUID)
		switch {
		case errors.Is(err, ErrNoRow):
			err = tx.EraseUnknown(person.UUID, person.ErasedAt)
		case err != nil || kept.ErasedAt != nil:
			return err
		default:
			err = errors.Join(eraseKept(tx, kept, person.ErasedAt), tx.SetSetting(uncleanReplay, ""))
		}
		done = true
		return errors.Join(err, tx.Audit(line))
	})
	if err == nil {
		err = s.finishErasure(ctx, person.UUID)
	}
	return done, err
}

// eraseKept leaves a tombstone of a person, and blanks what belongs to them: from then on no answer
// says anything of them. Amounts, dates, codes and links stay, for the books. Where the calls take
// long, only their erasure is begun: readers see them blanked until finishErasure has blanked all.
func eraseKept(tx Tx, kept Kept, now apitype.Time) error {
	id := kept.Person.UUID
	if err := tx.ErasePerson(id, now); err != nil {
		return err
	}
	err := inBatches(kept.Pledges, 0, func(ids []apitype.UUID) error {
		return rewrite(ids, tx.KeptPledges, func(p *PledgeRow) error { return p.Erase(now) }, tx.RewritePledge)
	})
	if err != nil {
		return err
	}
	coverPayers := func(t *TransactionRow) error { return revise("transaction", &t.Doc, coverPayer) }
	err = inBatches(kept.Transactions, 0, func(ids []apitype.UUID) error {
		return rewrite(ids, tx.KeptTransactions, coverPayers, tx.RewriteTransaction)
	})
	if err != nil {
		return err
	}
	size := 0
	for _, call := range kept.Calls {
		size += call.Bytes
	}
	if size > keptBatch || len(kept.Calls) > mostErased {
		return tx.SetSetting(ErasingSetting+id.String(), "")
	}
	return eraseCalls(tx, mapped(kept.Calls, func(c CallRow) apitype.UUID { return c.UUID }), now)
}

// mostErased is how many calls are blanked in one transaction, so that others do not wait long for it.
const mostErased = 50

// eraseCalls blanks calls that were not yet.
func eraseCalls(tx Tx, ids []apitype.UUID, now apitype.Time) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := tx.KeptCalls(ids)
	if err != nil {
		return err
	}
	return each(rows, func(row CallRow) error {
		if erased("call", row.Private) != nil {
			return nil
		}
		if err := row.Erase(now); err != nil {
			return err
		}
		return tx.RewriteCall(row)
	})
}

func (c *CallRow) Erase(now apitype.Time) error {
	if err := c.Blank(now); err != nil {
		return err
	}
	return revise("call", &c.Private, func(private *callPrivate) { private.ErasedAt = &now })
}

// rewrite changes rows of a person, and saves them.
func rewrite[T any](ids []apitype.UUID, read func([]apitype.UUID) ([]T, error), change func(*T) error, save func(T) error) error {
	rows, err := read(ids)
	if err != nil {
		return err
	}
	return each(rows, func(row T) error {
		if err := change(&row); err != nil {
			return err
		}
		return save(row)
	})
}

func (p *PledgeRow) Erase(now apitype.Time) error {
	var pledge apitype.Pledge
	if err := decode("pledge", p.Doc, &pledge); err != nil {
		return err
	}
	pledge.ExternalMetadata, pledge.RecruitingLocationLabel, pledge.UpdatedAt = nil, nil, now
	if err := p.write(pledge); err != nil {
		return err
	}
	return revise("pledge", &p.Private, func(private *pledgePrivate) { private.ErasedAt = &now })
}

func each[T any](rows []T, do func(T) error) error {
	for _, row := range rows {
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// blank takes from a call its notes, external metadata and what is known of its recording.
func (c *CallRow) Blank(now apitype.Time) error {
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

// coverPayer removes the payer from a transaction. What banks and payment providers write along names
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
