package cli

import (
	"context"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
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

// CopyMarks stores marks that the service accepted in the copy, if there is one.
func (s *Session) CopyMarks(ctx context.Context, entries []apitype.ProcessedEntry) error {
	path, err := s.CopyPath(ctx)
	if err != nil {
		return nil // Without a folder of ours there is no copy.
	}
	if err := localcopy.AddMarks(ctx, path, entries); err != nil {
		return Failure(apiclient.KindFailure, "the records are marked, but not in the copy: %s", err)
	}
	return nil
}
