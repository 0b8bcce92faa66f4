package apiclient

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
)

const markPath = "/api/v1/entity-access/actions/mark-processed"

// EntityAccessService marks retrieved records as processed.
type EntityAccessService struct{ client *Client }

// MarkError lists the entries that the service refused; all others are marked.
type MarkError struct {
	Failed []apitype.ProcessedError
	Cause  *Error // The last refusal.
}

// Error says how many entries failed and why the first did.
func (e *MarkError) Error() string {
	text := strconv.Itoa(len(e.Failed)) + " entries could not be marked"
	if len(e.Failed) == 1 {
		text = "one entry could not be marked"
	}
	if len(e.Failed) > 0 {
		text += ": " + sentence(e.Failed[0].ErrorMessage)
	}
	return text
}

// Unwrap is the refusal.
func (e *MarkError) Unwrap() error { return e.Cause }

// MarkProcessed marks the entries, in requests of at most apitype.ChunkEntries. After a
// refusal of some entries the others are sent once more alone, so that each of them is
// known to be marked. Spec gaps: E1, E3.
// POST /api/v1/entity-access/actions/mark-processed (interface: Entity access)
func (s *EntityAccessService) MarkProcessed(ctx context.Context, entries []apitype.ProcessedEntry) error {
	refused := &MarkError{}
	for chunk := range slices.Chunk(entries, apitype.ChunkEntries) {
		if err := s.markChunk(ctx, chunk, refused); err != nil {
			return err
		}
	}
	if len(refused.Failed) > 0 {
		return refused
	}
	return nil
}

// markChunk marks one chunk and notes in refused what failed.
func (s *EntityAccessService) markChunk(ctx context.Context, entries []apitype.ProcessedEntry, refused *MarkError) error {
	for len(entries) > 0 {
		failed, err := s.mark(ctx, entries)
		if err == nil {
			return nil
		}
		if len(failed) == 0 {
			return err
		}
		refused.Failed = append(refused.Failed, failed...)
		refused.Cause = asError(err)
		rest := slices.DeleteFunc(slices.Clone(entries), func(entry apitype.ProcessedEntry) bool {
			return slices.ContainsFunc(failed, func(f apitype.ProcessedError) bool { return sameEntry(entry, f) })
		})
		if len(rest) == len(entries) {
			return err // The refusal names nothing of what was sent.
		}
		entries = rest
	}
	return nil
}

// mark sends one request; failed are the entries that its refusal names.
func (s *EntityAccessService) mark(ctx context.Context, entries []apitype.ProcessedEntry) (failed []apitype.ProcessedError, err error) {
	ch, err := MarkProcessedChange(entries)
	if err != nil {
		return nil, err
	}
	sender := &sending{client: s.client, change: ch}
	_, err = sender.run(ctx)
	known := asError(err)
	if known == nil || known.Kind != KindRejected {
		return nil, err
	}
	var body apitype.ProcessedErrors
	if json.Unmarshal(known.body, &body) != nil {
		return nil, err
	}
	return slices.DeleteFunc(body.Errors, func(f apitype.ProcessedError) bool { return f.EntityUUID == "" }), err
}

// sameEntry reports whether a refusal names an entry.
func sameEntry(entry apitype.ProcessedEntry, failed apitype.ProcessedError) bool {
	if !strings.EqualFold(entry.EntityUUID.String(), failed.EntityUUID) {
		return false
	}
	if failed.ConsumerIdentifier != nil && (entry.ConsumerIdentifier == nil || !strings.EqualFold(entry.ConsumerIdentifier.String(), *failed.ConsumerIdentifier)) {
		return false
	}
	return failed.EntityName == "" || string(entry.EntityName) == failed.EntityName
}

// MarkProcessedChange is one request that marks entries, as it is sent.
func MarkProcessedChange(entries []apitype.ProcessedEntry) (Change, error) {
	return newChange(OpMarkProcessed, apitype.UUID{}, http.MethodPost, markPath, apitype.MarkProcessedRequest{Entries: entries})
}
