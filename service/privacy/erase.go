package privacy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Erasure is what is erased with a person.
type Erasure struct {
	PersonUUID   apitype.UUID      `json:"personUuid"`
	ErasedAt     apitype.Time      `json:"erasedAt"`
	Repeated     bool              `json:"repeated"` // It was erased before; nothing was left to erase.
	Calls        int               `json:"calls"`
	Pledges      int               `json:"pledges"`
	Transactions int               `json:"transactions"`
	Signatures   int               `json:"signatures"`
	Leases       int               `json:"leases"`   // That held.
	Waiting      int               `json:"waiting"`  // Calls that the queue would have given.
	DryRun       bool              `json:"dryRun"`   // Nothing was erased.
	Scrubbed     *service.Scrubbed `json:"scrubbed"` // Null in a dry run.
}

// maxReason is how long a reason may be, in code points.
const maxReason = 1000

func check(r apitype.EraseRequest) error {
	var v apitype.Violations
	switch reason := strings.TrimSpace(r.Reason); {
	case reason == "":
		v.Add("/reason", "is required")
	case len([]rune(reason)) > maxReason:
		v.Add("/reason", "must have %d characters at most", maxReason)
	case strings.ContainsRune(reason, 0):
		v.Add("/reason", "must not contain a NUL character")
	}
	return service.NotValid(v)
}

// Erase erases what is known of a person, for an operator. It is done again, without any
// effect but on the files, where the person was erased before. Spec gap: S60.
func (s *Service) Erase(ctx context.Context, id apitype.UUID, request apitype.EraseRequest) (Erasure, error) {
	if err := check(request); err != nil {
		return Erasure{}, err
	}
	line := service.AuditLine{Operation: service.AuditPersonErase, Record: &id, Reason: strings.TrimSpace(request.Reason)}
	return s.erase(ctx, line, request.DryRun, nil)
}

// EraseFor is Erase for a caller that may see the person.
// POST /fundesk/v1/persons/{uuid}/erase
func (s *Service) EraseFor(ctx context.Context, c service.Caller, id apitype.UUID, request apitype.EraseRequest) (service.Answer, error) {
	if err := cmp.Or(c.Require(service.PersonsErase), check(request)); err != nil {
		return service.Answer{}, err
	}
	line := c.Audited(service.AuditPersonErase, id, apitype.Time{})
	line.Reason = strings.TrimSpace(request.Reason)
	return service.Answered(s.erase(ctx, line, request.DryRun, &c))
}

func (s *Service) erase(ctx context.Context, line service.AuditLine, dry bool, c *service.Caller) (erasure Erasure, err error) {
	id := *line.Record
	if dry {
		return s.planErasure(ctx, id, c)
	}
	scrubbed := &service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	erase := func(tx service.Tx) error {
		if err := tx.ExcludeErasure(false); err != nil {
			return err
		}
		kept, open, err := toErase(tx, id, c, tx.LockPersonData)
		if err != nil {
			return err
		}
		if open != nil {
			erasure, scrubbed.Later = open.Erasure, s.rules.Store().Held()
			return nil
		}
		if line.At, err = s.rules.ChangeTime(tx); err != nil {
			return err
		}
		if erasure = erasureOf(kept, line.At); kept.ErasedAt != nil {
			return nil
		}
		if err := eraseKept(tx, kept, line.At); err != nil {
			return err
		}
		if err := s.record(service.ErasedPerson{UUID: id, ErasedAt: line.At}); err != nil {
			if c != nil { // Its disk may be full: nothing is erased, and the caller comes again.
				err = &service.Error{Kind: service.Unavailable, Detail: "the erasure cannot be noted outside the database", Cause: err}
			}
			return err
		}
		scrubbed.Later = s.rules.Store().Held()
		line.Fields = "person,calls,pledges,transactions,signatures"
		return errors.Join(setJSON(tx, service.UncleanSetting+id.String(), openErasure{kept.Person.Owner, erasure}), tx.Audit(line.Of(id)))
	}
	if err := s.rules.Write(ctx, service.WriteShared, "erase the person", erase); err != nil {
		return erasure, err
	}
	erasure.Scrubbed = scrubbed
	return erasure, s.finishErasure(ctx, id)
}

func (s *Service) planErasure(ctx context.Context, id apitype.UUID, c *service.Caller) (erasure Erasure, err error) {
	err = s.rules.ReadLong(ctx, "count what would be erased", func(r service.Reader) error {
		kept, open, err := toErase(r, id, c, r.Kept)
		if erasure = erasureOf(kept, s.rules.Now()); open != nil {
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
func toErase(r service.Reader, id apitype.UUID, c *service.Caller, keptOf func(apitype.UUID) (service.Kept, error)) (kept service.Kept, open *openErasure, err error) {
	open, err = settingOf[openErasure](r, service.UncleanSetting+id.String())
	if err != nil || open != nil && (c == nil || c.Scope.Contains(open.Owner)) {
		return kept, open, err
	}
	if c != nil {
		if _, err := service.VisiblePerson(r, *c, id); err != nil {
			return kept, nil, err
		}
	}
	if kept, err = keptOf(id); err != nil {
		return kept, nil, service.OrUnknown(err, "person", id)
	}
	if c != nil && slices.ContainsFunc(kept.Pledges, func(p service.PledgeRow) bool { return !c.Scope.Contains(p.Owner) }) {
		return kept, nil, &service.Error{
			Kind:   service.Conflict,
			Detail: "the person has pledges of another organization, which this account may not change; the operator erases the person: fundeskd person erase " + id.String(),
		}
	}
	return kept, nil, nil
}

func erasureOf(k service.Kept, now apitype.Time) Erasure {
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

// ReplayErasures erases persons as earlier erasures did, of which the database knows nothing since
// it was restored, and is how many it did not know. Of a person who is unknown the uuid is kept, so
// that it is not used again.
func (s *Service) ReplayErasures(ctx context.Context, persons []service.ErasedPerson) (replayed int, err error) {
	for _, person := range persons {
		done, err := s.replayErasure(ctx, person)
		if err != nil {
			return replayed, err
		}
		if done {
			replayed++
		}
	}
	if replayed > 0 { // The database was put back.
		err = s.rules.ChangeEpoch(ctx)
	}
	return replayed, err
}

func (s *Service) replayErasure(ctx context.Context, person service.ErasedPerson) (done bool, err error) {
	line := service.AuditLine{Operation: service.AuditPersonErase, Record: &person.UUID, Person: &person.UUID, Reason: "replayed"}
	err = s.rules.Write(ctx, service.WriteShared, "replay the erasure", func(tx service.Tx) error {
		done, line.At = false, s.rules.TimeOf(tx)
		if err := tx.ExcludeErasure(false); err != nil {
			return err
		}
		kept, err := tx.LockPersonData(person.UUID)
		if err == nil && kept.ErasedAt != nil {
			return nil
		}
		// Later erasures must not get an earlier time: a consumer that has pulled this one would miss them.
		if _, failed := tx.GiveTime(person.ErasedAt); failed != nil {
			return failed
		}
		switch {
		case errors.Is(err, service.ErrNoRow):
			err = tx.EraseUnknown(person.UUID, person.ErasedAt)
		case err != nil:
			return err
		default:
			err = errors.Join(eraseKept(tx, kept, person.ErasedAt), tx.SetSetting(uncleanReplay, line.At.String()))
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
func eraseKept(tx service.Tx, kept service.Kept, now apitype.Time) error {
	id := kept.Person.UUID
	if err := tx.ErasePerson(id, now); err != nil {
		return err
	}
	err := inBatches(kept.Pledges, pledgeSize, 0, func(ids []apitype.UUID) error {
		return rewrite(ids, tx.KeptPledges, func(p *service.PledgeRow) error { return p.Erase(now) }, tx.RewritePledge)
	})
	if err != nil {
		return err
	}
	err = inBatches(kept.Transactions, transactionSize, 0, func(ids []apitype.UUID) error {
		return rewrite(ids, tx.KeptTransactions, (*service.TransactionRow).Erase, tx.RewriteTransaction)
	})
	if err != nil {
		return err
	}
	size := 0
	for _, call := range kept.Calls {
		size += call.Bytes
	}
	if size > batchBytes || len(kept.Calls) > mostErased {
		return tx.SetSetting(service.ErasingSetting+id.String(), "")
	}
	return inBatches(kept.Calls, callSize, 0, func(ids []apitype.UUID) error { return eraseCalls(tx, ids, now) })
}

// mostErased is how many calls are blanked in one transaction, so that others do not wait long for it.
const mostErased = 50

// eraseCalls blanks calls that were not yet.
func eraseCalls(tx service.Tx, ids []apitype.UUID, now apitype.Time) error {
	rows, err := tx.KeptCalls(ids)
	if err != nil {
		return err
	}
	return each(rows, func(row service.CallRow) error {
		if changed, err := row.Erase(now); err != nil || !changed {
			return err
		}
		return tx.RewriteCall(row)
	})
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
