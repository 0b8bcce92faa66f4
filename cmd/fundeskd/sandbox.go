package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"fundesk/apiclient/apitype"
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

// The token of a sandbox is good wherever its clock is moved to: from long ago, for as long
// as a duration can be.
var sandboxTokenFrom = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

const sandboxTokenLife = math.MaxInt64

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
	var account apitype.UUID
	err = p.with(ctx, func(s *service.Service) error {
		err := s.LoadIfEmpty(ctx, func(add func(service.LoadRecord) error) error {
			return embedded.Sample(embedded.SampleOptions{Persons: p.persons, Now: box.Now()}, add)
		})
		if err != nil {
			return err
		}
		account, err = s.OwnAccount(ctx, "sandbox")
		return err
	})
	if err != nil {
		return fmt.Errorf("fill the sandbox: %w", err)
	}
	token, err := p.sandboxToken(ctx, account)
	if err != nil {
		return fmt.Errorf("issue a token: %w", err)
	}
	server, err := p.newServer(ctx, o)
	if err != nil {
		return err
	}
	server.http.Handler = box.Wrap(server.http.Handler)
	fmt.Fprintf(p.Out, "%s\n%s\n", server.URL, token)
	return errors.Join(server.Run(ctx), server.Close())
}

// sandboxToken is a token of an account, issued by a service that lives long ago.
func (p program) sandboxToken(ctx context.Context, account apitype.UUID) (token string, err error) {
	p.Now = func() time.Time { return sandboxTokenFrom }
	err = p.with(ctx, func(s *service.Service) error {
		token, _, err = s.IssueToken(ctx, account, sandboxTokenLife)
		return err
	})
	return token, err
}
