package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sandbox"
)

const sandboxHelp = `With --sandbox it is a twin of the service for those who connect a program to one: sample data in a
database that is gone at the end (--database keeps it in one of its own), and no account of yours.
The second line of stdout is a bearer token. Besides the interface it answers, without a token:

  PUT /sandbox/clock  {"time":"2027-01-01T09:00:00.000Z"}, {"move":"36h"}, {"stopped":true}
  PUT /sandbox/fault  {"fault":"503","times":2,"method":"POST","path":"/calls"}; the faults are 429, 503,
                      slow (with "delay":"2s") and dropped-after-commit
  GET of both shows what holds; DELETE /sandbox/fault ends the fault.`

// sandboxTokenLife outlasts moves of the clock.
const sandboxTokenLife = 100 * 365 * 24 * time.Hour

// serveSandbox serves sample data to integrators. The database that the environment
// names is never used: it may be a real one.
func (p *program) serveSandbox(ctx context.Context, o serveOptions) (err error) {
	if p.database == "" {
		folder, failed := os.MkdirTemp("", "fundeskd-sandbox-")
		if failed != nil {
			return fmt.Errorf("make a folder for the database: %w", failed)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		p.database = "sqlite:" + filepath.Join(folder, "sandbox.db")
	}
	box := sandbox.New(p.Now)
	p.Now = box.Now
	var token string
	err = p.with(ctx, func(s *service.Service) (err error) {
		err = s.LoadIfEmpty(ctx, func(add func(service.LoadRecord) error) error {
			return embedded.Sample(embedded.SampleOptions{Persons: p.persons, Now: box.Now()}, add)
		})
		if err != nil {
			return err
		}
		account, err := s.OwnAccount(ctx, "sandbox")
		if err != nil {
			return err
		}
		token, _, err = s.IssueToken(ctx, account, sandboxTokenLife)
		return err
	})
	if err != nil {
		return fmt.Errorf("fill the sandbox: %w", err)
	}
	server, err := p.newServer(ctx, o)
	if err != nil {
		return err
	}
	server.http.Handler = box.Wrap(server.http.Handler)
	fmt.Fprintf(p.Out, "%s\n%s\n", server.URL, token)
	return errors.Join(server.Run(ctx), server.Close())
}
