package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fundesk/service"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// access is how a command opens the database. The zero value opens an existing database for a short change.
type access struct {
	create  bool // Make a database that does not exist. Without it a mistyped path would make an empty one.
	retired bool // Also open a database that dump --retire has marked, for commands that only read.
	inspect bool // Write nothing, and open no database without its key.
	bulk    bool // Many records are written at once.
	patient bool // Wait for PostgreSQL as long as it takes, instead of defaultAnswerTimeout.
}

// defaultAnswerTimeout limits how long a request or a short command waits for an answer of PostgreSQL.
const defaultAnswerTimeout = 10 * time.Second

// storeOptions returns the options with which a command opens the database.
func (p *program) storeOptions(a access) (sqlstore.Options, error) {
	name, err := p.databaseName()
	if err != nil {
		return sqlstore.Options{}, err
	}
	computer := p.computer
	if computer == nil {
		computer = p.Now
	}
	o := sqlstore.Options{
		Database:  name,
		Postgres:  pgdriver.Driver{},
		Now:       computer,
		NoMigrate: p.noMigrate,
		Existing:  !a.create,
		Retired:   a.retired,
		Inspect:   a.inspect,
		Bulk:      a.bulk,
	}
	if !a.patient {
		o.AnswerTimeout = cmp.Or(p.answerTimeout, defaultAnswerTimeout)
	}
	return o, nil
}

// openStore opens the database. It reports a new database that the operator did not name.
func (p *program) openStore(ctx context.Context, o sqlstore.Options) (*sqlstore.Store, error) {
	path, isFile := strings.CutPrefix(o.Database, "sqlite:")
	_, missing := os.Stat(path)
	store, err := sqlstore.Open(ctx, o)
	isMissing := isFile && errors.Is(err, fs.ErrNotExist) // A server may have no socket.
	if isMissing && (o.Existing || o.Inspect) {
		return nil, fmt.Errorf("%w; fundeskd migrate makes a database, and --database names another one", err)
	}
	if err != nil {
		return nil, err
	}
	if isFile && errors.Is(missing, fs.ErrNotExist) && !p.isDatabaseNamed() {
		fmt.Fprintf(p.Err, "fundeskd: the database is new: %s\n", printable(o.Database))
	}
	return store, nil
}

// newService returns the rules on an open store. It closes the store if that fails.
func (p *program) newService(
	ctx context.Context,
	store *sqlstore.Store,
	rules service.Options,
) (*service.Service, error) {
	rules.Store = store
	rules.Now = p.Now
	s, err := service.New(ctx, rules)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

// withStore runs a command on the open database.
func (p *program) withStore(ctx context.Context, a access, run func(*sqlstore.Store) error) error {
	o, err := p.storeOptions(a)
	if err != nil {
		return err
	}
	store, err := p.openStore(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(run(store), store.Close())
}

// withBoth runs a command on the open database and its service.
func (p *program) withBoth(ctx context.Context, a access, run func(*sqlstore.Store, *service.Service) error) error {
	o, err := p.storeOptions(a)
	if err != nil {
		return err
	}
	store, err := p.openStore(ctx, o)
	if err != nil {
		return err
	}
	s, err := p.newService(ctx, store, service.Options{})
	if err != nil {
		return err
	}
	return errors.Join(run(store, s), store.Close())
}

// withService runs a command on the open service.
func (p *program) withService(ctx context.Context, a access, run func(*service.Service) error) error {
	return p.withBoth(ctx, a, func(_ *sqlstore.Store, s *service.Service) error { return run(s) })
}

// databaseName returns the database that the command line, the environment or the platform names.
func (p *program) databaseName() (string, error) {
	err := p.adoptServiceSettings()
	if err != nil {
		return "", err
	}
	if p.database != "" {
		return p.database, nil
	}
	named := p.Getenv("FUNDESKD_DATABASE")
	if named != "" {
		return named, nil
	}
	folder := p.dataFolder()
	if folder == "" {
		return "", usage("no data folder is known; use --database sqlite:PATH")
	}
	return "sqlite:" + filepath.Join(folder, "fundeskd.db"), nil
}

// isDatabaseNamed reports whether the operator named the database or its folder.
func (p *program) isDatabaseNamed() bool {
	return p.database != "" || p.Getenv("FUNDESKD_DATABASE") != "" || p.Getenv("FUNDESK_DATA_DIR") != ""
}

// dataFolder returns the data folder of the environment or the platform, or an empty text if none is known.
func (p *program) dataFolder() string {
	named := p.Getenv("FUNDESK_DATA_DIR")
	if named != "" {
		return named
	}
	data := p.Getenv("XDG_DATA_HOME")
	if data != "" {
		return filepath.Join(data, "fundesk")
	}
	home := p.Getenv("HOME")
	if home != "" {
		return filepath.Join(home, ".local", "share", "fundesk")
	}
	return ""
}

// serviceSettings is the settings file of the installed service. The package makes it readable for the service's user.
const serviceSettings = "/etc/fundeskd/fundeskd.env"

// adoptServiceSettings lets a command of the service's user that names no database work on that of the installed
// service. The settings go into the environment of the process, as systemd does it for the service: the PostgreSQL
// driver reads PGPASSWORD and the like there. Root is refused, because its files beside the database would stop the
// service.
func (p *program) adoptServiceSettings() error {
	if p.serviceSettings == "" || p.isDatabaseNamed() || p.Getenv("XDG_DATA_HOME") != "" {
		return nil
	}
	text, err := os.ReadFile(p.serviceSettings)
	if err != nil {
		return nil //nolint:nilerr // No service is installed, or this user may not manage it.
	}
	if os.Geteuid() == 0 {
		return usage("the database of the service belongs to its user; run: sudo -u fundeskd fundeskd …; " +
			"or name another one with --database")
	}
	for name, value := range parseEnvironment(string(text)) {
		err := os.Setenv(name, value)
		if err != nil {
			return fmt.Errorf("read %s: %w", p.serviceSettings, err)
		}
	}
	return nil
}

// parseEnvironment reads an environment file as systemd does: NAME=VALUE lines, with optional quotes and comments.
func parseEnvironment(text string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		isComment := strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";")
		if !ok || isComment {
			continue
		}
		settings[strings.TrimSpace(name)] = unquote(strings.TrimSpace(value))
	}
	return settings
}

// unquote removes a pair of double or single quotes around a value.
func unquote(value string) string {
	for _, quote := range []string{`"`, "'"} {
		inner, opens := strings.CutPrefix(value, quote)
		inner, closes := strings.CutSuffix(inner, quote)
		if opens && closes {
			return inner
		}
	}
	return value
}

// checkUnused refuses an SQLite file that another program has open.
func (p *program) checkUnused() error {
	name, err := p.databaseName()
	if err != nil {
		return err
	}
	if sqlstore.IsServed(name) {
		return errors.New("another program has the database open; stop what serves it first")
	}
	return nil
}

// checkNoSessions refuses a PostgreSQL database with other sessions of fundeskd.
func checkNoSessions(ctx context.Context, store *sqlstore.Store) error {
	others, err := store.Others(ctx)
	if err != nil {
		return err
	}
	if others > 0 {
		return fmt.Errorf("other sessions of fundeskd at the database: %d; stop what serves it first", others)
	}
	return nil
}

// untilInterrupted does what may wait for ever, such as reading stdin. It does not wait for that after an interrupt.
func untilInterrupted(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// confirm asks a question unless yes is true. Off a terminal it returns a usage error that names --yes.
func (p *program) confirm(ctx context.Context, question string, yes bool) error {
	if yes {
		return nil
	}
	if !isTerminal(p.In) || !isTerminal(p.Err) {
		return usage("%s Nothing was changed; --yes does it", question)
	}
	fmt.Fprintf(p.Err, "%s [y/N] ", question)
	var line string
	err := untilInterrupted(ctx, func() (err error) {
		line, err = bufio.NewReader(p.In).ReadString('\n')
		return err
	})
	if ctx.Err() != nil {
		fmt.Fprintln(p.Err)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	default:
		return errors.New("nothing was changed")
	}
}
