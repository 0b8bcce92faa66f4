package apiclient

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
)

// EntityAccessService marks retrieved records as processed.
type EntityAccessService struct{ client *Client }

// MarkError has the entries that were not marked. All others are.
type MarkError struct {
	Failed []apitype.ProcessedError // Refused by the service, each entry once with all its reasons.
	// Unconfirmed are the last entries, beginning with a request that failed as a whole. The entries of that request
	// may be marked, and later ones were not sent. Marking again is safe.
	Unconfirmed []apitype.ProcessedEntry
	Cause       *Error // The last refusal, or why the request failed.
	refused     int    // How many of the sent entries were refused; one may be sent twice.
	none        bool   // All were refused.
}

// Error returns how many entries failed, and the reason of the first.
func (e *MarkError) Error() string {
	var parts []string
	switch n := len(e.Failed); n {
	case 0:
	case 1:
		parts = append(parts, "one entry could not be marked: "+sentence(e.Failed[0].ErrorMessage))
	default:
		parts = append(parts, strconv.Itoa(n)+" entries could not be marked: "+sentence(e.Failed[0].ErrorMessage))
	}
	switch n := len(e.Unconfirmed); n {
	case 0:
	case 1:
		parts = append(parts, "the last entry is perhaps not marked: "+e.Cause.Error())
	default:
		parts = append(parts, "the last "+strconv.Itoa(n)+" entries are perhaps not marked: "+e.Cause.Error())
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the refusal, with a detail for each entry.
func (e *MarkError) Unwrap() error {
	whole := *e.Cause
	whole.Err, whole.Detail = e.Cause, nil
	switch {
	case whole.Kind == KindInterrupted:
	case e.none:
		whole.Kind = KindRejected
	default:
		whole.Kind = KindPartial
	}
	for _, f := range e.Failed {
		whole.Detail = append(whole.Detail, strings.TrimSpace(f.EntityName+" "+f.EntityUUID)+": "+f.ErrorMessage)
	}
	return &whole
}

// Accepted returns those of the sent entries that the service marked: all of them if e is nil.
func (e *MarkError) Accepted(sent []apitype.ProcessedEntry) []apitype.ProcessedEntry {
	if e == nil {
		return sent
	}
	marked := slices.Clone(sent[:len(sent)-len(e.Unconfirmed)])
	return slices.DeleteFunc(marked, func(entry apitype.ProcessedEntry) bool {
		return slices.ContainsFunc(e.Failed, func(f apitype.ProcessedError) bool { return f.Names(entry) })
	})
}

// MarkProcessed marks the entries, in requests of at most apitype.ChunkEntries. After a refusal of some entries it
// sends the others once more alone, so that each of them is known to be marked. It returns a MarkError if some are
// not. Spec gaps: E1, E3.
// POST /api/v1/entity-access/actions/mark-processed (interface: Entity access)
func (s *EntityAccessService) MarkProcessed(ctx context.Context, entries []apitype.ProcessedEntry) error {
	all := &MarkError{}
	for start := 0; start < len(entries); start += apitype.ChunkEntries {
		unsent := entries[start:]
		err := s.markChunk(ctx, unsent[:min(len(unsent), apitype.ChunkEntries)], all)
		switch {
		case err == nil:
		case start == 0 && len(all.Failed) == 0:
			return err
		default:
			all.Unconfirmed, all.Cause = unsent, asError(err)
			return all
		}
	}
	all.none = all.refused >= len(entries)
	if len(all.Failed) > 0 {
		return all
	}
	return nil
}

// markChunk marks one chunk and notes in refused what failed.
func (s *EntityAccessService) markChunk(
	ctx context.Context,
	entries []apitype.ProcessedEntry,
	refused *MarkError,
) error {
	for len(entries) > 0 {
		failed, err := s.mark(ctx, entries)
		if err == nil {
			return nil
		}
		others := slices.DeleteFunc(slices.Clone(entries), func(entry apitype.ProcessedEntry) bool {
			return slices.ContainsFunc(failed, func(f apitype.ProcessedError) bool { return f.Names(entry) })
		})
		if len(others) == len(entries) {
			return err // It names nothing of what was sent.
		}
		refused.Failed = append(refused.Failed, refusals(entries, failed)...)
		refused.refused += len(entries) - len(others)
		refused.Cause = asError(err)
		entries = others
	}
	return nil
}

// refusals returns one refusal for each refused entry. A service may name an entry several times, and one that was
// not sent.
func refusals(entries []apitype.ProcessedEntry, failed []apitype.ProcessedError) []apitype.ProcessedError {
	type key struct {
		name               apitype.EntityName
		entity, identifier apitype.UUID
	}
	seen := map[key]bool{}
	var all []apitype.ProcessedError
	for _, entry := range entries {
		k := key{name: entry.EntityName, entity: entry.EntityUUID}
		one := apitype.ProcessedError{EntityName: string(entry.EntityName), EntityUUID: entry.EntityUUID.String()}
		if entry.ConsumerIdentifier != nil {
			k.identifier = *entry.ConsumerIdentifier
			one.ConsumerIdentifier = new(k.identifier.String())
		}
		var reasons []string
		for _, f := range failed {
			if f.Names(entry) && !slices.Contains(reasons, f.ErrorMessage) {
				reasons = append(reasons, f.ErrorMessage)
			}
		}
		if len(reasons) > 0 && !seen[k] {
			one.ErrorMessage = strings.Join(reasons, "; ")
			all = append(all, one)
		}
		seen[k] = true
	}
	return all
}

// mark sends one request; failed are the entries that its refusal names.
func (s *EntityAccessService) mark(
	ctx context.Context,
	entries []apitype.ProcessedEntry,
) (failed []apitype.ProcessedError, err error) {
	ch, err := MarkProcessedChange(entries)
	if err != nil {
		return nil, err
	}
	_, err = s.client.Send(ctx, ch)
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

// MarkProcessedChange returns the change that marks the entries of one request.
func MarkProcessedChange(entries []apitype.ProcessedEntry) (Change, error) {
	return newChange(OpMarkProcessed, apitype.UUID{}, apitype.MarkProcessedRequest{Entries: entries})
}
