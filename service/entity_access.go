package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fundesk/apiclient/apitype"
)

// MarkProcessed marks what the caller has retrieved. Entries that cannot be marked come
// back with the reason, the others are saved. Spec gaps: E1, E2, E3.
// POST /api/v1/entity-access/actions/mark-processed (interface: Entity access)
func (s *Service) MarkProcessed(
	ctx context.Context,
	c Caller,
	entries []apitype.UncheckedEntry,
) ([]apitype.ProcessedError, error) {
	if err := c.Require(EntitiesMark); err != nil {
		return nil, err
	}
	if len(entries) < 1 || len(entries) > apitype.MaxEntries {
		return nil, NotValid(apitype.Violations{{
			Pointer: "/entries", Message: fmt.Sprintf("must have 1 to %d entries", apitype.MaxEntries),
		}})
	}
	var failures []apitype.ProcessedError
	err := s.Write(ctx, WriteIsolated, "mark entities", func(tx Tx) error {
		failures = nil
		now := s.TimeOf(tx)
		for _, sent := range entries {
			problem, err := markEntry(tx, c, sent, now)
			if err != nil {
				return err
			}
			if problem != "" {
				failures = append(failures, sent.Failure(problem))
			}
		}
		return nil
	})
	return failures, err
}

func markEntry(tx Tx, c Caller, sent apitype.UncheckedEntry, now apitype.Time) (string, error) {
	entry, problem := sent.Check()
	if problem != "" {
		return problem, nil
	}
	if entry.ExternalSourceName != nil && !slices.Contains(c.ExternalSources, *entry.ExternalSourceName) {
		return "externalSourceName is not a source of the account", nil
	}
	person, err := visibleEntity(tx, c, entry)
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.Kind == NotFound {
		return refusal.Detail, nil
	}
	if err != nil {
		return "", err
	}
	line := c.Audited(AuditOperation(entry.EntityName)+".mark-processed", entry.EntityUUID, now)
	line.Person = person
	return "", errors.Join(tx.Mark(c.UUID, entry), tx.Audit(line))
}

// visibleEntity returns the person of an entity. It refuses an invisible entity like an unknown one.
func visibleEntity(r Reader, c Caller, entry apitype.ProcessedEntry) (*apitype.UUID, error) {
	var about struct {
		PersonUUID *apitype.UUID `json:"personUuid"`
	}
	var err error
	switch entry.EntityName {
	case apitype.EntityPerson:
		_, err = VisiblePerson(r, c, entry.EntityUUID)
		return &entry.EntityUUID, err
	case apitype.EntityPledge:
		row, err := visiblePledge(r, c, entry.EntityUUID)
		return &row.Person, err
	case apitype.EntityCall:
		row, err := visibleCall(r, c, entry.EntityUUID)
		if err != nil {
			return nil, err
		}
		err = decode("call", row.Doc, &about)
		return about.PersonUUID, err
	default:
		row, err := r.Transaction(entry.EntityUUID, c.Scope)
		if err != nil {
			return nil, OrNotFound(err, string(apitype.EntityTransaction))
		}
		err = decode("transaction", row.Doc, &about)
		return about.PersonUUID, err
	}
}
