package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sandbox"
)

const sandboxHelp = `With --sandbox it serves invented records from a temporary database, for
programs under test. --database keeps the records in a database of the sandbox.
The same --persons, --seed and --start-time make the same records; --load
serves your own instead. The second line of stdout is a bearer token. GET
/openapi.json describes the interface, and web pages from this machine
(http://localhost:3000) may call it. These requests need no token, and pages of
another origin may not send them:

  PUT /sandbox/clock   {"time":"2027-01-01T09:00:00.000Z"}, {"move":"36h"},
                       {"stopped":true}
  PUT /sandbox/fault   {"fault":"503","times":2,"method":"POST",
                       "path":"/calls","percent":50}; the faults are 401,
                       403, 429, 500, 502, 503, slow and slow-body (with
                       "delay":"2s"), truncated, not-json,
                       dropped-before-commit and dropped-after-commit;
                       POST adds one to those that are there
  POST /sandbox/token  {"permissions":["calls:read"],
                       "organizations":["UUID"],"ttl":"1h"}, and
                       "externalSources": a token of a new account, which
                       may do everything where nothing is named; with
                       "ttl":"-1h" one that has expired
  POST /sandbox/reset  records, clock and faults are as at the start again,
                       and tokens that were asked for are refused; not
                       with --database
  GET of clock and fault shows what holds; DELETE /sandbox/fault ends the
  faults.`

// The token of a sandbox is good wherever its clock is moved to: from long ago, for as long
// as a duration can be.
var sandboxTokenFrom = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

const sandboxTokenLife = math.MaxInt64

// sandboxFlags are flags of serve that mean nothing without --sandbox.
func (p *program) sandboxFlags(c *cobra.Command, o *serveOptions) {
	flags := c.Flags()
	flags.BoolVar(&o.sandbox, "sandbox", false, "serve sample data of its own, with a clock that can be set and faults on demand; see fundeskd serve --help")
	if p.persons == 0 {
		p.persons = embedded.DefaultSamplePersons
	}
	flags.IntVar(&p.persons, "persons", p.persons, "with --sandbox, how many persons, `N`, to make")
	flags.Uint64Var(&o.seed, "seed", 0, "with --sandbox, `number` that chooses among all possible data sets")
	flags.StringVar(&o.load, "load", "", "with --sandbox, `FILE` of records to serve in place of sample data, as fundeskd load reads them")
	flags.StringVar(&o.startTime, "start-time", "", "with --sandbox, `TIME` that its clock shows at the start, such as 2026-11-20T09:00:00Z (default: now)")
}

// checkSandbox refuses flags that would do nothing, or values that they cannot have.
func (p *program) checkSandbox(c *cobra.Command, o serveOptions) error {
	for _, name := range []string{"persons", "seed", "start-time", "load"} {
		if c.Flags().Changed(name) && !o.sandbox {
			return usage("--%s is for fundeskd serve --sandbox only", name)
		}
	}
	for _, name := range []string{"persons", "seed", "database"} {
		if c.Flags().Changed("load") && c.Flags().Changed(name) {
			return usage("--load and --%s exclude each other: the records are those of the file, in a database that is gone at the end", name)
		}
	}
	if p.persons < 1 {
		return usage("--persons must be 1 at least")
	}
	_, err := o.start(p.Now)
	return err
}

// start is the time of --start-time, now without it.
func (o serveOptions) start(now func() time.Time) (time.Time, error) {
	if o.startTime == "" {
		return now(), nil
	}
	start, err := apitype.ParseTime(o.startTime)
	if err != nil {
		return time.Time{}, usage("--start-time %q %w", o.startTime, err)
	}
	if until := sandboxTokenFrom.Add(sandboxTokenLife); start.Before(sandboxTokenFrom) || start.After(until) {
		return time.Time{}, usage("--start-time %q is not a time from %d to %d", o.startTime, sandboxTokenFrom.Year(), until.Year()-1)
	}
	return start.Time, nil
}

// serveSandbox serves sample data to integrators. The database that the environment
// names is never used: it may be a real one.
func (p *program) serveSandbox(ctx context.Context, o serveOptions) (err error) {
	start, err := o.start(p.Now)
	if err != nil {
		return err
	}
	t := twin{program: p, options: o}
	if p.database == "" {
		if t.folder, err = os.MkdirTemp("", "fundeskd-sandbox-"); err != nil {
			return fmt.Errorf("make a folder for the database: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(t.folder)) }()
		p.database = t.first()
	}
	box := sandbox.New(p.Now, start)
	p.Now = box.Now
	token, err := p.fillSandbox(ctx, o, start)
	if err != nil {
		return fmt.Errorf("fill the sandbox: %w", err)
	}
	if t.folder != "" {
		if err := t.renew(ctx); err != nil {
			return err
		}
	}
	if t.server, err = p.newServer(ctx, o); err != nil {
		return err
	}
	served := t.server
	served.http.Handler = box.Wrap(sandbox.Service{Handler: served.http.Handler, Reset: t.reset, Token: t.token})
	fmt.Fprintf(p.Out, "%s\n%s\n", served.URL, token)
	return errors.Join(served.Run(ctx), t.server.Close())
}

// fillSandbox makes the records, or loads them, and makes a token that sees them all.
func (p program) fillSandbox(ctx context.Context, o serveOptions, start time.Time) (token string, err error) {
	if o.load != "" {
		_, err = p.loadFile(ctx, o.load)
	} else {
		sample := embedded.SampleOptions{Persons: p.persons, Seed: o.seed, Now: start}
		err = p.with(ctx, func(s *service.Service) error {
			return s.LoadIfEmpty(ctx, func(add func(service.LoadRecord) error) error { return embedded.Sample(sample, add) })
		})
	}
	if err != nil {
		return "", err
	}
	p.Now = func() time.Time { return sandboxTokenFrom } // It is issued by a service that lives long ago.
	err = p.with(ctx, func(s *service.Service) error {
		token, err = s.OwnToken(ctx, "sandbox", sandboxTokenLife)
		return err
	})
	return token, err
}

// twin is the service of a sandbox. Each reset serves another copy of the first database,
// which is never served itself.
type twin struct {
	program *program
	options serveOptions
	folder  string // Of the databases; empty with --database.
	copies  int
	server  *server // Of the copy that is served; the first one listens for all.
}

func (t *twin) first() string { return "sqlite:" + filepath.Join(t.folder, "start.db") }

// renew makes a copy of the first database, for the program to open next.
func (t *twin) renew(ctx context.Context) error {
	first := *t.program
	first.database = t.first()
	store, err := first.openStore(ctx)
	if err != nil {
		return err
	}
	t.copies++
	folder := t.copyFolder()
	if err := os.Mkdir(folder, 0o700); err != nil {
		return errors.Join(err, store.Close())
	}
	file := filepath.Join(folder, "sandbox.db")
	_, err = store.Backup(ctx, file)
	if err := errors.Join(err, store.Close()); err != nil {
		return fmt.Errorf("copy the sandbox: %w", err)
	}
	t.program.database = "sqlite:" + file
	return nil
}

func (t *twin) copyFolder() string { return filepath.Join(t.folder, fmt.Sprintf("copy-%d", t.copies)) }

// reset serves the records of the start from now on. No request runs meanwhile.
func (t *twin) reset(ctx context.Context) (http.Handler, error) {
	if t.folder == "" {
		return nil, &service.Error{Kind: service.Conflict, Detail: "the sandbox was started with --database, which keeps what is in it; without that it can be reset"}
	}
	folder, database, before := t.copyFolder(), t.program.database, t.server
	var next *server
	err := t.renew(ctx)
	if err == nil {
		next, err = t.program.openServer(ctx, t.options)
	}
	if err != nil {
		t.program.database = database
		before.logger.Error("the sandbox was not reset", "error", told(err))
		return nil, err
	}
	t.server = next
	if err := errors.Join(before.Close(), os.RemoveAll(folder)); err != nil {
		next.logger.Warn("what the sandbox served before is still there", "error", told(err))
	}
	return next.front, nil
}

// token is a token of a new account.
func (t *twin) token(ctx context.Context, o sandbox.TokenOrder) (issued sandbox.Token, err error) {
	ttl, err := 24*time.Hour, error(nil)
	if o.TTL != "" {
		ttl, err = time.ParseDuration(o.TTL)
	}
	if err != nil || ttl < time.Second && ttl > -time.Minute { // Clocks may differ by half of that.
		return issued, &service.Error{Kind: service.Invalid, Detail: fmt.Sprintf("ttl %q is not a duration such as 1h, or -1h for a token that has expired", o.TTL)}
	}
	issuer := *t.program
	if ttl < 0 {
		const life = time.Hour
		past := issuer.Now().Add(ttl - life)
		issuer.Now, ttl = func() time.Time { return past }, life
	}
	account := service.Account{
		Name: "asked of the sandbox", Permissions: o.Permissions, ExternalSources: o.ExternalSources,
		Scope: service.Scope{All: o.Organizations == nil, Organizations: o.Organizations},
	}
	if o.Permissions == nil {
		account.Permissions = service.Permissions
	}
	err = issuer.with(ctx, func(s *service.Service) error {
		if account, err = s.AddAccount(ctx, account); err != nil {
			return err
		}
		issued.Account = account.UUID
		issued.Token, issued.ExpiresAt, err = s.IssueToken(ctx, account.UUID, ttl)
		return err
	})
	return issued, err
}
