package cli

import (
	"context"
	"encoding/json"
	"errors"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/apiclient/outbox"
	"fundesk/commands/localcopy"
)

// CopyPath returns the file of the copy of the chosen service and account.
func (s *Session) CopyPath(ctx context.Context) (string, error) {
	client, err := s.Connect(ctx)
	if err != nil {
		return "", err
	}
	account, err := client.Identity(ctx)
	if err != nil {
		return "", err
	}
	state, err := s.StateDir()
	if err != nil {
		return "", err
	}
	if err := durable.CheckTrust(state); err != nil {
		return "", WithHint(
			Failure(apiclient.KindFailure, "open the copy: %s", err),
			"FUNDESK_STATE_DIR names another folder for it",
		)
	}
	return localcopy.Path(state, s.Target.BaseURL, account), nil
}

// copySentMarks stores the marks of an entry of the outbox in the copy. The service has them in any case, so a copy
// that cannot be written delays no entry.
func (s *Session) copySentMarks(ctx context.Context, e outbox.Entry) {
	_ = s.CopyMarks(ctx, marksOf(e))
}

// copyMarksInPart stores those marks of a refused entry of the outbox that the service takes. A service may keep or
// drop them beside a wrong one, so they are sent once more without it.
func (s *Session) copyMarksInPart(ctx context.Context, e outbox.Entry) {
	entries := marksOf(e)
	if len(entries) < 2 {
		return
	}
	err := s.Client.EntityAccess.MarkProcessed(ctx, entries)
	refused, isMark := errors.AsType[*apiclient.MarkError](err)
	if err == nil || isMark {
		_ = s.CopyMarks(ctx, refused.Accepted(entries))
	}
}

// marksOf returns the marks of an entry of the outbox, or nil for another change.
func marksOf(e outbox.Entry) []apitype.ProcessedEntry {
	if e.Op != apiclient.OpMarkProcessed {
		return nil
	}
	var request apitype.MarkProcessedRequest
	if json.Unmarshal(e.Body, &request) != nil {
		return nil
	}
	return request.Entries
}

// CopyMarks stores marks that the service accepted in the copy, if there is one.
func (s *Session) CopyMarks(ctx context.Context, entries []apitype.ProcessedEntry) error {
	if len(entries) == 0 {
		return nil
	}
	path, err := s.CopyPath(ctx)
	if err != nil {
		return nil // Without a folder of ours there is no copy.
	}
	if err := localcopy.AddMarks(ctx, path, entries); err != nil {
		return Failure(apiclient.KindFailure, "the records are marked, but not in the copy: %s", err)
	}
	return nil
}
