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
func (s *Service) MarkProcessed(ctx context.Context, c Caller, entries []apitype.UncheckedEntry) (failures []apitype.ProcessedError, err error) {
	if err := c.Require(EntitiesMark); err != nil {
		return nil, err
	}
	if len(entries) < 1 || len(entries) > apitype.MaxEntries {
		return nil, invalid(apitype.Violations{{
			Pointer: "/entries", Message: fmt.Sprintf("must have 1 to %d entries", apitype.MaxEntries),
		}})
	}
	err = s.update(ctx, "mark entities", func(tx Tx) error {
		failures = nil
		for _, sent := range entries {
			problem, err := markEntry(tx, c, sent)
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

// markEntry marks one entity, or says what is wrong with the entry.
func markEntry(tx Tx, c Caller, sent apitype.UncheckedEntry) (problem string, err error) {
	entry, problem := sent.Check()
	if problem != "" {
		return problem, nil
	}
	if entry.ExternalSourceName != nil && !slices.Contains(c.ExternalSources, *entry.ExternalSourceName) {
		return "externalSourceName is not a source of the account", nil
	}
	err = visibleEntity(tx, c, entry)
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.Kind == NotFound {
		return refusal.Detail, nil
	}
	if err != nil {
		return "", err
	}
	return "", tx.Mark(c.UUID, entry)
}

// visibleEntity refuses an entity that the caller may not see like one that is unknown.
func visibleEntity(r Reader, c Caller, entry apitype.ProcessedEntry) (err error) {
	switch entry.EntityName {
	case apitype.EntityPerson:
		_, err = visiblePerson(r, c, entry.EntityUUID)
	case apitype.EntityCall:
		_, err = visibleCall(r, c, entry.EntityUUID)
	case apitype.EntityPledge:
		_, err = visiblePledge(r, c, entry.EntityUUID)
	default:
		if _, err = r.Transaction(entry.EntityUUID, c.Scope); errors.Is(err, ErrNoRow) {
			return notFound(string(apitype.EntityTransaction))
		}
	}
	return err
}
