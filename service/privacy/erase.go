package privacy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Erasure counts what was erased with a person, or would be.
type Erasure struct {
	PersonUUID   apitype.UUID      `json:"personUuid"`
	ErasedAt     apitype.Time      `json:"erasedAt"`
	Repeated     bool              `json:"repeated"` // The person was erased before, and nothing was left to erase.
	Calls        int               `json:"calls"`
	Pledges      int               `json:"pledges"`
	Transactions int               `json:"transactions"`
	Signatures   int               `json:"signatures"`
	Leases       int               `json:"leases"`   // Live ones.
	Waiting      int               `json:"waiting"`  // Calls that the queue would have given.
	DryRun       bool              `json:"dryRun"`   // Nothing was erased.
	Scrubbed     *service.Scrubbed `json:"scrubbed"` // Null in a dry run.
}

// erasureOf counts what is kept of a person.
func erasureOf(k service.Kept, now apitype.Time) Erasure {
	if k.ErasedAt != nil {
		return Erasure{PersonUUID: k.Person.UUID, ErasedAt: *k.ErasedAt, Repeated: true}
	}
	e := Erasure{
		PersonUUID:   k.Person.UUID,
		ErasedAt:     now,
		Calls:        len(k.Calls),
		Pledges:      len(k.Pledges),
		Transactions: len(k.Transactions),
		Signatures:   len(k.Signatures),
		Waiting:      k.Waiting,
	}
	for _, lease := range k.Leases {
		if lease.Live(now) {
			e.Leases++
		}
	}
	return e
}

// maxReason is the maximum length of a reason, in code points.
const maxReason = 1000

func check(r apitype.EraseRequest) error {
	var v apitype.Violations
	reason := strings.TrimSpace(r.Reason)
	if reason == "" {
		v.Add("/reason", "is required")
	}
	if utf8.RuneCountInString(reason) > maxReason {
		v.Add("/reason", "must have %d characters at most", maxReason)
	}
	if strings.ContainsRune(reason, 0) {
		v.Add("/reason", "must not contain a NUL character")
	}
	return service.NotValid(v)
}

// Erase erases a person for an operator. Repeating it only cleans the files. Spec gap: S60.
func (s *Service) Erase(ctx context.Context, id apitype.UUID, request apitype.EraseRequest) (Erasure, error) {
	err := check(request)
	if err != nil {
		return Erasure{}, err
	}
	line := service.AuditLine{
		Operation: service.AuditPersonErase,
		Record:    &id,
		Reason:    strings.TrimSpace(request.Reason),
	}
	return s.erase(ctx, line, request.DryRun, nil)
}

// EraseFor erases a person for a caller that may see them.
// POST /fundesk/v1/persons/{uuid}/erase
func (s *Service) EraseFor(
	ctx context.Context,
	c service.Caller,
	id apitype.UUID,
	request apitype.EraseRequest,
) (service.Answer, error) {
	err := cmp.Or(c.Require(service.PersonsErase), check(request))
	if err != nil {
		return service.Answer{}, err
	}
	line := c.Audited(service.AuditPersonErase, id, apitype.Time{})
	line.Reason = strings.TrimSpace(request.Reason)
	return service.Answered(s.erase(ctx, line, request.DryRun, &c))
}

// erase erases the person of an audit line, for a caller or for an operator (nil).
func (s *Service) erase(ctx context.Context, line service.AuditLine, dry bool, c *service.Caller) (Erasure, error) {
	id := *line.Record
	if dry {
		return s.planErasure(ctx, id, c)
	}
	var erasure Erasure
	scrubbed := &service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	err := s.erasing(ctx, "erase the person", func(tx service.Tx, record recorder) error {
		err := tx.ExcludeErasure(false)
		if err != nil {
			return err
		}
		begun, err := s.begunErasure(tx, id, c)
		if err != nil {
			return err
		}
		if begun != nil {
			erasure = *begun
			scrubbed.Later = s.rules.Store().Held()
			return nil
		}
		kept, err := keptFor(tx, id, c, tx.LockPersonData)
		if err != nil {
			return err
		}
		now, err := s.rules.ChangeTime(tx)
		if err != nil {
			return err
		}
		erasure = erasureOf(kept, now)
		if erasure.Repeated {
			return nil
		}
		scrubbed.Later = s.rules.Store().Held()
		line.Fields = erasedFields
		err = s.begin(tx, record, kept, now, plan{
			Line:  line.Of(id),
			Until: id.String(),
			Open:  &openErasure{Owner: kept.Person.Owner, Erasure: erasure},
		})
		if isUnrecorded(err) && c != nil { // The disk may be full. Nothing is erased, and the caller tries again.
			err = &service.Error{
				Kind:   service.Unavailable,
				Detail: "the erasure cannot be recorded outside the database",
				Cause:  err,
			}
		}
		return err
	})
	if err != nil {
		return erasure, err
	}
	erasure.Scrubbed = scrubbed
	return erasure, s.finish(ctx, id)
}

// planErasure counts what an erasure would erase.
func (s *Service) planErasure(ctx context.Context, id apitype.UUID, c *service.Caller) (Erasure, error) {
	var erasure Erasure
	err := s.rules.ReadLong(ctx, "count what would be erased", func(r service.Reader) error {
		begun, err := s.begunErasure(r, id, c)
		if err != nil {
			return err
		}
		if begun != nil {
			erasure = *begun
			erasure.Repeated = true // Nothing is left that would be erased.
			return nil
		}
		kept, err := keptFor(r, id, c, r.Kept)
		if err != nil {
			return err
		}
		erasure = erasureOf(kept, s.rules.Now())
		return nil
	})
	erasure.DryRun = true
	return erasure, err
}

// begunErasure returns a person's erasure if it is unfinished, or if its bytes are still in the files. Otherwise it
// returns nil. Only operators and accounts of the owner get it.
func (s *Service) begunErasure(r service.Reader, id apitype.UUID, c *service.Caller) (*Erasure, error) {
	begun, err := settingOf[plan](r, service.ErasingSetting+id.String())
	if err != nil {
		return nil, err
	}
	var open *openErasure
	if begun != nil {
		open = begun.Open
	} else {
		open, err = settingOf[openErasure](r, service.UncleanSetting+id.String())
	}
	if err != nil || open == nil {
		return nil, err
	}
	if c != nil && !c.Scope.Contains(open.Owner) {
		return nil, nil //nolint:nilnil // The caller sees no such person.
	}
	return &open.Erasure, nil
}

// keptFor returns everything that is stored about a person if the caller may erase it.
func keptFor(
	r service.Reader,
	id apitype.UUID,
	c *service.Caller,
	read func(apitype.UUID) (service.Kept, error),
) (service.Kept, error) {
	if c != nil {
		_, err := service.VisiblePerson(r, *c, id)
		if err != nil {
			return service.Kept{}, err
		}
	}
	kept, err := read(id)
	if err != nil {
		return kept, service.OrUnknown(err, "person", id)
	}
	isForeign := func(p service.PledgeRow) bool { return !c.Scope.Contains(p.Owner) }
	if c != nil && slices.ContainsFunc(kept.Pledges, isForeign) {
		return kept, &service.Error{
			Kind: service.Conflict,
			Detail: "the person has pledges of another organization, which this account may not change; " +
				"the operator erases the person: fundeskd person erase " + id.String(),
		}
	}
	return kept, nil
}

// Replay is what a replay of erasures changed.
type Replay struct {
	Erased   int
	NewEpoch bool // Copies of the records begin again.
}

// ReplayErasures repeats the erasures that a restored database has lost. It reserves the uuid of an unknown person, so
// that it is never used again.
func (s *Service) ReplayErasures(ctx context.Context, persons []service.ErasedPerson) (Replay, error) {
	var done Replay
	var err error
	done.NewEpoch, err = s.rules.ChangeEpochIfRestored(ctx)
	if err != nil {
		return done, err
	}
	for _, person := range persons {
		if !done.NewEpoch {
			isLacking, err := s.lacksErasure(ctx, person.UUID)
			if err != nil {
				return done, err
			}
			if !isLacking {
				continue
			}
			// Before the first erasure: a replay after an interruption may find none that is lacking.
			err = s.rules.ChangeEpoch(ctx)
			if err != nil {
				return done, err
			}
			done.NewEpoch = true
		}
		isNew, err := s.replayErasure(ctx, person)
		if err != nil {
			return done, err
		}
		if isNew {
			done.Erased++
		}
	}
	return done, nil
}

// lacksErasure reports whether a person is not erased.
func (s *Service) lacksErasure(ctx context.Context, id apitype.UUID) (bool, error) {
	return service.View(ctx, s.rules, "look for the erasure", func(r service.Reader) (bool, error) {
		kept, err := r.Kept(id)
		if errors.Is(err, service.ErrNoRow) {
			return true, nil
		}
		return err == nil && kept.ErasedAt == nil, err
	})
}

func (s *Service) replayErasure(ctx context.Context, person service.ErasedPerson) (bool, error) {
	id := person.UUID
	var isNew bool
	err := s.rules.Write(ctx, service.WriteShared, "replay the erasure", func(tx service.Tx) error {
		isNew = false
		err := tx.ExcludeErasure(false)
		if err != nil {
			return err
		}
		kept, err := tx.LockPersonData(id)
		isUnknown := errors.Is(err, service.ErrNoRow)
		if err != nil && !isUnknown {
			return err
		}
		if kept.ErasedAt != nil {
			return nil
		}
		isNew = true
		// Later erasures must not get an earlier time: a consumer that has pulled this one would miss them.
		_, err = tx.GiveTime(person.ErasedAt)
		if err != nil {
			return err
		}
		now := s.rules.TimeOf(tx)
		line := service.AuditLine{
			At:        now,
			Operation: service.AuditPersonErase,
			Record:    &id,
			Person:    &id,
			Reason:    "replayed",
		}
		if isUnknown {
			err := tx.EraseUnknown(id, person.ErasedAt)
			if err != nil {
				return err
			}
			return tx.Audit(line)
		}
		return s.begin(tx, nil, kept, now, plan{Line: line, ErasedAt: &person.ErasedAt, Until: replayedPersons})
	})
	if err != nil {
		return false, err
	}
	return isNew, s.finish(ctx, id)
}
