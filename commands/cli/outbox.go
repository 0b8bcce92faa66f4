package cli

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"

	"fundesk/apiclient"
	"fundesk/apiclient/durable"
	"fundesk/apiclient/outbox"
)

// Outbox opens the spool of the chosen service and account.
func (s *Session) Outbox(ctx context.Context) (*outbox.Outbox, error) {
	client, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	account, err := client.Identity(ctx)
	if err != nil {
		return nil, err
	}
	return s.openOutbox(outbox.Options{
		BaseURL:  client.BaseURL(),
		Account:  account,
		Now:      s.App.Now,
		Accepted: s.copySentMarks,
		Refused:  s.copyMarksInPart,
	})
}

// AnyOutbox opens the spool without asking for a token: to look, not to send.
func (s *Session) AnyOutbox() (*outbox.Outbox, error) {
	return s.openOutbox(outbox.Options{Now: s.App.Now})
}

// AllEntries returns the entries of every service and account.
func (s *Session) AllEntries() ([]outbox.Entry, []outbox.Damaged, error) {
	box, err := s.AnyOutbox()
	if err != nil {
		return nil, nil, err
	}
	entries, damaged, err := box.List()
	if err != nil {
		err = Failure(apiclient.KindFailure, "list the outbox: %s", err)
	}
	return entries, damaged, err
}

func (s *Session) openOutbox(o outbox.Options) (*outbox.Outbox, error) {
	dir, err := s.StateDir()
	if err != nil {
		return nil, err
	}
	err = durable.CheckTrust(dir)
	var box *outbox.Outbox
	if err == nil {
		box, err = outbox.Open(filepath.Join(dir, "outbox"), o)
	}
	if err != nil {
		return nil, UnsavedFailure("open the outbox: %s", err)
	}
	return box, nil
}

// UnsavedFailure returns the error of a file of the outbox that cannot be written, with the way out.
func UnsavedFailure(format string, err error) error {
	hint := "FUNDESK_STATE_DIR names another folder for it"
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		hint = "make room on its disk, or let FUNDESK_STATE_DIR name a folder on another disk"
	}
	return WithHint(Failure(apiclient.KindFailure, format, err), hint)
}
