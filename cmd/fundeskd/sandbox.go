package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sandbox"
	"fundesk/service/sqlstore"
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
                       may do everything that it does not name; with
                       "ttl":"-1h" one that has expired
  POST /sandbox/reset  records, clock and faults are as at the start again,
                       and tokens that were asked for are refused; not
                       with --database
  GET of clock and fault shows them; DELETE /sandbox/fault ends the
  faults.`

// The token of a sandbox is valid wherever its clock is moved to.
var sandboxTokenFrom = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

const sandboxTokenLife = math.MaxInt64

// sandboxOptions are the flags of serve that mean nothing without --sandbox.
type sandboxOptions struct {
	isOn      bool
	persons   int
	seed      uint64
	startTime string // Of its clock. Empty means now.
	load      string // A file of records. Empty means sample data.
}

func (o *sandboxOptions) addFlags(flags *pflag.FlagSet, persons int) {
	if persons == 0 {
		persons = embedded.DefaultSamplePersons
	}
	flags.BoolVar(&o.isOn, "sandbox", false,
		"serve sample data of its own, with a clock that can be set and faults on demand; see fundeskd serve --help")
	flags.IntVar(&o.persons, "persons", persons, "with --sandbox, make `N` persons")
	flags.Uint64Var(&o.seed, "seed", 0, "with --sandbox, the same `number` makes the same records")
	flags.StringVar(&o.load, "load", "",
		"with --sandbox, serve the records of this `FILE`, as fundeskd load reads them")
	flags.StringVar(&o.startTime, "start-time", "",
		"with --sandbox, start its clock at this `TIME`, such as 2026-11-20T09:00:00Z (default: now)")
}

// check refuses flags that would do nothing, and values that they cannot have.
func (o *sandboxOptions) check(flags *pflag.FlagSet, now func() time.Time) error {
	for _, name := range []string{"persons", "seed", "start-time", "load"} {
		if flags.Changed(name) && !o.isOn {
			return usage("--%s is for fundeskd serve --sandbox only", name)
		}
	}
	for _, name := range []string{"persons", "seed", "database"} {
		if flags.Changed("load") && flags.Changed(name) {
			return usage("--load and --%s cannot be combined: the records are those of the file, "+
				"in a database that is gone at the end", name)
		}
	}
	if o.persons < 1 {
		return usage("--persons must be 1 at least")
	}
	_, err := o.start(now)
	return err
}

// start returns the time of --start-time, or now without it.
func (o *sandboxOptions) start(now func() time.Time) (time.Time, error) {
	if o.startTime == "" {
		return now(), nil
	}
	start, err := apitype.ParseTime(o.startTime)
	if err != nil {
		return time.Time{}, usage("--start-time %q %w", o.startTime, err)
	}
	until := sandboxTokenFrom.Add(sandboxTokenLife)
	if start.Before(sandboxTokenFrom) || start.After(until) {
		return time.Time{}, usage("--start-time %q is not a time from %d to %d",
			o.startTime, sandboxTokenFrom.Year(), until.Year()-1)
	}
	return start.Time, nil
}

// serveSandbox serves sample data to integrators. It never uses the database that the environment names, which may be a
// real one.
func (p *program) serveSandbox(ctx context.Context, o serveOptions) (err error) {
	start, err := o.sandbox.start(p.Now)
	if err != nil {
		return err
	}
	box := sandbox.New(p.Now, start)
	twin := &twin{program: *p, options: o}
	twin.program.Now, twin.program.computer = box.Now, p.Now // PostgreSQL's clock follows none of a sandbox.
	if p.database == "" {
		twin.folder, err = os.MkdirTemp("", "fundeskd-sandbox-")
		if err != nil {
			return fmt.Errorf("make a folder for the database: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(twin.folder)) }()
		twin.program.database = twin.original()
	}
	token, err := twin.program.fillSandbox(ctx, o.sandbox, start)
	if err != nil {
		return fmt.Errorf("fill the sandbox: %w", err)
	}
	if twin.folder != "" {
		twin.program, err = twin.copyOriginal(ctx)
		if err != nil {
			return err
		}
	}
	listening, err := twin.program.newServer(ctx, o)
	if err != nil {
		return err
	}
	twin.server = listening
	listening.http.Handler = box.Wrap(sandbox.Service{
		Handler: listening.http.Handler,
		Reset:   twin.reset,
		Token:   twin.token,
	})
	fmt.Fprintf(p.Out, "%s\n%s\n", listening.URL, token)
	return errors.Join(listening.Run(ctx), twin.close())
}

// fillSandbox makes or loads the records, and returns a token that sees them all.
func (p *program) fillSandbox(ctx context.Context, o sandboxOptions, start time.Time) (string, error) {
	var err error
	if o.load != "" {
		_, err = p.loadFile(ctx, o.load, false)
	} else {
		sample := embedded.SampleOptions{Persons: o.persons, Seed: o.seed, Now: start}
		err = p.withService(ctx, access{create: true}, func(s *service.Service) error {
			return s.LoadIfEmpty(ctx, func(add func(service.LoadRecord) error) error {
				return embedded.Sample(sample, add)
			})
		})
	}
	if err != nil {
		return "", err
	}
	issuer := *p
	issuer.Now = func() time.Time { return sandboxTokenFrom }
	var token string
	err = issuer.withService(ctx, access{}, func(s *service.Service) error {
		token, err = s.OwnToken(ctx, "sandbox", sandboxTokenLife)
		return err
	})
	return token, err
}

// twin is the service of a sandbox. It serves a copy of its original database, and another copy after each reset.
type twin struct {
	program program // On the copy that is served.
	options serveOptions
	server  *server // Of that copy. The first one listens for all.
	folder  string  // Of the databases. Empty with --database, which has no copies.
	copies  int
	// endMaintenance ends the maintenance of a copy after a reset. Nil for the first copy, which Run maintains.
	endMaintenance func()
}

func (t *twin) original() string { return "sqlite:" + filepath.Join(t.folder, "start.db") }

// copyOriginal makes another copy of the original database, and returns the program on it.
func (t *twin) copyOriginal(ctx context.Context) (program, error) {
	original := t.program
	original.database = t.original()
	t.copies++
	folder := filepath.Join(t.folder, fmt.Sprintf("copy-%d", t.copies))
	err := os.Mkdir(folder, 0o700)
	if err != nil {
		return program{}, err
	}
	file := filepath.Join(folder, "sandbox.db")
	err = original.withStore(ctx, access{}, func(store *sqlstore.Store) error {
		_, err := store.Backup(ctx, file)
		return err
	})
	if err != nil {
		return program{}, fmt.Errorf("copy the sandbox: %w", err)
	}
	served := t.program
	served.database = "sqlite:" + file
	return served, nil
}

var errKeptDatabase = &service.Error{
	Kind: service.Conflict,
	Detail: "the sandbox was started with --database, which keeps what is in it; " +
		"without that it can be reset",
}

// reset returns a handler that serves the records of the start. No request runs at the same time.
func (t *twin) reset(ctx context.Context) (http.Handler, error) {
	if t.folder == "" {
		return nil, errKeptDatabase
	}
	before := t.server
	folderBefore := filepath.Dir(strings.TrimPrefix(t.program.database, "sqlite:"))
	next, err := t.openCopy(ctx)
	if err != nil {
		before.logger.Error("the sandbox was not reset", "error", oneLine(err))
		return nil, err
	}
	before.service.Store(nil) // Run of the first server finds nothing to maintain any more.
	err = errors.Join(t.close(), os.RemoveAll(folderBefore))
	t.server = next
	t.endMaintenance = next.maintain(ctx)
	if err != nil {
		next.logger.Warn("the earlier database of the sandbox was not removed", "error", oneLine(err))
	}
	return next.front, nil
}

// close ends the maintenance of the present copy, and closes it.
func (t *twin) close() error {
	if t.endMaintenance != nil {
		t.endMaintenance()
	}
	return t.server.Close()
}

// openCopy returns a server on another copy of the original database.
func (t *twin) openCopy(ctx context.Context) (*server, error) {
	served, err := t.copyOriginal(ctx)
	if err != nil {
		return nil, err
	}
	next, err := served.openServer(ctx, t.options)
	if err != nil {
		return nil, err
	}
	t.program = served
	return next, nil
}

const defaultSandboxLife = 24 * time.Hour

// token issues a token of a new account.
func (t *twin) token(ctx context.Context, o sandbox.TokenOrder) (sandbox.Token, error) {
	var issued sandbox.Token
	ttl, err := parseSandboxLife(o.TTL)
	if err != nil {
		return issued, err
	}
	issuer := t.program
	if ttl < 0 { // The token expired that long ago.
		const life = time.Hour
		past := issuer.Now().Add(ttl - life)
		issuer.Now = func() time.Time { return past }
		ttl = life
	}
	account := service.Account{
		Name:            "asked of the sandbox",
		Permissions:     o.Permissions,
		ExternalSources: o.ExternalSources,
		Scope:           service.Scope{All: o.Organizations == nil, Organizations: o.Organizations},
	}
	if o.Permissions == nil {
		account.Permissions = append(slices.Clone(service.Permissions), service.ChangesRead)
	}
	err = issuer.withService(ctx, access{}, func(s *service.Service) error {
		added, token, expires, err := s.AddAccountWithToken(ctx, account, ttl)
		issued.Account, issued.Token, issued.ExpiresAt = added.UUID, token, expires
		return err
	})
	return issued, err
}

// parseSandboxLife reads the life of a token. A token that has expired did so a minute ago at least, because clocks
// differ by up to half of that.
func parseSandboxLife(text string) (time.Duration, error) {
	if text == "" {
		return defaultSandboxLife, nil
	}
	ttl, err := time.ParseDuration(text)
	isValid := ttl >= time.Second || ttl <= -time.Minute
	if err != nil || !isValid {
		detail := fmt.Sprintf("ttl %q is not a duration such as 1h, or -1h for a token that has expired", text)
		return 0, &service.Error{Kind: service.Invalid, Detail: detail}
	}
	return ttl, nil
}
