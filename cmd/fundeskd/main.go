// Command fundeskd is the Fundraising Data Service: it serves the interface from a
// database, and manages what the interface does not: accounts, organizations, loads and
// backups. It wires the packages below service, and holds no rule.
//
//	fundeskd organization add --name "Sea Rescue" --abbreviation SR
//	fundeskd account add "call centre" --all-organizations
//	fundeskd serve --listen 127.0.0.1:8080
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/cmd/internal/release"
	"fundesk/cmd/internal/zone"
	"fundesk/service"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// memoryLimit is how much memory the collector lets the program have, in bytes: with less to
// spare it runs more often, and what the engine and the system hold beside stays within 256 MB.
const memoryLimit = 128 << 20

func main() {
	if os.Getenv("GOGC") == "" {
		// Little lives long here, and much is made for each answer: with the default
		// the collector takes a third of the time.
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if err := zone.Set(os.Getenv); err != nil {
		fmt.Fprintf(os.Stderr, "fundeskd: warning: %v; times are in UTC until then\n", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, endAtNext)
	code := run(ctx, os.Args[1:], program{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now, Sleep: time.Sleep, settings: serviceSettings})
	stop()
	os.Exit(code)
}

// rebound is how long a signal may be the first one still: timeout(1) tells a program, and
// then its whole group.
const rebound = 100 * time.Millisecond

// endAtNext ends the program at the next signal, whatever it waits for. The signal's own
// way is not enough: what a script starts in the background has it ignored.
func endAtNext() {
	next := make(chan os.Signal, 1)
	signal.Notify(next, os.Interrupt, syscall.SIGTERM)
	for first := time.Now(); time.Since(first) < rebound; {
		<-next
	}
	os.Exit(exitInterrupted)
}

type program struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	Now    func() time.Time
	Sleep  func(time.Duration)
	// settings is the file of the installed service; empty: none is looked for.
	settings string

	database     string
	output       string
	store        sqlstore.Options // But for its database.
	rules        service.Options  // But for the store and the clock.
	kept         string           // What is left of the command when it is interrupted.
	timeouts     timeouts         // Of serve; zero: the defaults.
	persons      int              // Of serve --sandbox; 0: as many as a sample has without being told.
	erasuresLog  string
	skipExisting bool // By load: what is there already is passed over.
}

const (
	exitDone        = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func run(ctx context.Context, args []string, p program) int {
	root := p.root()
	root.SetArgs(append([]string{}, args...)) // With nil, cobra takes those of the process.
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintf(p.Err, "fundeskd: interrupted%s\n", p.kept)
		return exitInterrupted
	}
	text := told(err)
	if code := (pgdriver.Driver{}).Code(err); strings.HasPrefix(code, "28") && os.Geteuid() == 0 && p.settings != "" {
		text += "; where PostgreSQL knows users by the system's names, run: sudo -u fundeskd fundeskd …"
	}
	fmt.Fprintf(p.Err, "fundeskd: %s\n", text)
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailure
}

// told is an error in one line. It tells the operator also why the store refused.
func told(err error) string {
	text := err.Error()
	if refusal, ok := errors.AsType[*service.Error](err); ok && refusal.Cause != nil {
		text += ": " + refusal.Cause.Error()
	}
	return printable(strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ").Replace(text))
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "fundeskd",
		Short: "The Fundraising Data Service",
		Long: "fundeskd serves persons, calls and pledges over HTTP from a database, and\n" +
			"manages its accounts.",
		Version:       release.Version,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.database, "database", "", "`sqlite:PATH` or postgres://… (default: fundeskd.db in the data folder; also FUNDESKD_DATABASE)")
	flags.StringVarP(&p.output, "output", "o", "", "`FORMAT`: json for one machine-readable answer; ndjson where records are printed one by one")
	flags.BoolVar(&p.store.NoMigrate, "no-migrate", false, "do not bring the schema up to date first")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		// With the others a mistyped path would make an empty database, and all would be well with it.
		p.store.Existing = !slices.Contains([]string{"add", "load", "sample", "migrate", "serve"}, c.Name())
		p.store.Retired = slices.Contains([]string{"check", "dump", "list", "show"}, c.Name())
		_, streamed := c.Annotations[ndjson]
		switch {
		case p.output == "" || p.output == "json" || p.output == ndjson && streamed:
			return nil
		case streamed:
			return usage("unknown output format %q; known are json, ndjson", p.output)
		default:
			return usage("unknown output format %q; known is json", p.output)
		}
	}
	root.AddCommand(
		p.serveCommand(), p.migrateCommand(),
		group("organization", "Add, list and change organizations", p.organizationAdd(), p.organizationList(), p.organizationSet()),
		group("user", "Add, list and rename users", p.userAdd(), p.userList(), p.userSet()),
		group("account", "Add, list, change and revoke accounts", p.accountAdd(), p.accountList(), p.accountSet(), p.accountRevoke()),
		group("token", "Issue and replace tokens", p.tokenIssue()),
		group("clock", "Put times right after a wrong clock", p.clockReset()),
		group("key", "Renew the signing key of tokens", p.keyRotate()),
		p.loadCommand(), p.sampleCommand(),
		p.backupCommand(), p.restoreCommand(), p.dumpCommand(), p.checkCommand(), p.cleanCommand(), p.openAPICommand(),
		group("person", "Export and erase a person's data", p.personExport(), p.personErase()),
		group("erasures", "Replay erasures after a restore", p.erasuresReplay()),
		group("retention", "Apply retention periods", p.retentionSet(), p.retentionShow(), p.retentionRun()),
		group("audit", "List changes of records", p.auditList()),
		group("do-not-call", "Check and change which numbers are not called", p.numberCheck(), p.numberAdd(), p.numberRemove()),
	)
	return root
}

// unknownCommand refuses arguments of a command that only groups others.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unknown command %q for %q; see: %s --help", args[0], c.CommandPath(), c.CommandPath())
	}
	return nil
}

// flagError is a flag that is not there, or has a value that it cannot have: told in words
// of this program, not in those of the library that reads numbers.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usageError{err}
	}
	wants := map[string]string{
		"int":      "must be a whole number",
		"intSlice": "must be a whole number",
		"uint64":   "must be a whole number, 0 at least",
		"float64":  "must be a number",
		"duration": "must be a duration such as 30s or 336h",
		"bool":     "must be true or false",
	}[invalid.GetFlag().Value.Type()]
	if wants == "" {
		return usageError{err}
	}
	return usage("--%s %s, not %q", invalid.GetFlag().Name, wants, invalid.GetValue())
}

// exactly wants a number of arguments, named for the message.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usage("missing %s; see: %s --help", names[len(args)], c.CommandPath())
		case len(args) > len(names):
			return usage("unexpected argument %q; see: %s --help", args[len(names)], c.CommandPath())
		}
		for i, arg := range args {
			if arg == "" { // A variable without a value.
				return usage("%s is empty; see: %s --help", names[i], c.CommandPath())
			}
		}
		return nil
	}
}

// databaseName is the database that the command line, the environment or the platform
// names.
func (p *program) databaseName() (string, error) {
	if err := p.useService(); err != nil {
		return "", err
	}
	if p.database != "" {
		return p.database, nil
	}
	if named := p.Getenv("FUNDESKD_DATABASE"); named != "" {
		return named, nil
	}
	folder := p.dataFolder()
	if folder == "" {
		return "", usage("no data folder is known; use --database sqlite:PATH")
	}
	return "sqlite:" + filepath.Join(folder, "fundeskd.db"), nil
}

// dataFolder is the data folder of the environment or the platform, empty when none is known.
func (p *program) dataFolder() string {
	folder := p.Getenv("FUNDESK_DATA_DIR")
	if data := p.Getenv("XDG_DATA_HOME"); folder == "" && data != "" {
		folder = filepath.Join(data, "fundesk")
	}
	if home := p.Getenv("HOME"); folder == "" && home != "" {
		folder = filepath.Join(home, ".local", "share", "fundesk")
	}
	return folder
}

func (p *program) open(ctx context.Context) (*sqlstore.Store, *service.Service, error) {
	store, err := p.openStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	rules := p.rules
	rules.Store, rules.Now = store, p.Now
	s, err := service.New(ctx, rules)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, s, nil
}

func (p *program) openStore(ctx context.Context) (*sqlstore.Store, error) {
	name, err := p.databaseName()
	if err != nil {
		return nil, err
	}
	o := p.store
	o.Database, o.Postgres, o.Now = name, pgdriver.Driver{}, p.Now
	_, missing := os.Stat(strings.TrimPrefix(name, "sqlite:"))
	store, err := sqlstore.Open(ctx, o)
	if (o.Existing || o.Inspect) && errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; fundeskd migrate makes a database, and --database names another one", err)
	}
	if isNamed := p.database+p.Getenv("FUNDESKD_DATABASE")+p.Getenv("FUNDESK_DATA_DIR") != ""; err == nil && !isNamed && errors.Is(missing, fs.ErrNotExist) {
		fmt.Fprintf(p.Err, "fundeskd: the database is new: %s\n", printable(name))
	}
	return store, err
}

// defaultAnswerTimeout is how long what is short waits for a PostgreSQL server.
const defaultAnswerTimeout = 10 * time.Second

// with runs a short command on the open service.
func (p *program) with(ctx context.Context, run func(*service.Service) error) error {
	switch p.store.AnswerTimeout {
	case 0:
		p.store.AnswerTimeout = defaultAnswerTimeout
	case forgoTimeout:
		p.store.AnswerTimeout = 0
	}
	return p.on(ctx, func(_ *sqlstore.Store, s *service.Service) error { return run(s) })
}

// on runs a command on the open database, however long it takes.
func (p *program) on(ctx context.Context, run func(*sqlstore.Store, *service.Service) error) error {
	store, s, err := p.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(run(store, s), store.Close())
}

// serviceSettings are the settings of the installed service: a package brings them, for its user to read.
const serviceSettings = "/etc/fundeskd/fundeskd.env"

// useService lets a command of the service's user, which names no database, work on that of the installed
// service. Root gets the command that does: files of root's beside the database would stop the service.
func (p *program) useService() error {
	if p.settings == "" || p.database != "" || p.Getenv("FUNDESKD_DATABASE") != "" || p.Getenv("FUNDESK_DATA_DIR") != "" || p.Getenv("XDG_DATA_HOME") != "" {
		return nil
	}
	text, err := os.ReadFile(p.settings)
	if err != nil {
		return nil // There is no service, or this user has nothing to do with it.
	}
	if os.Geteuid() == 0 {
		return usage("the database of the service belongs to its user; run: sudo -u fundeskd fundeskd …; or name another one with --database")
	}
	for name, value := range settingsIn(string(text)) {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("read %s: %w", p.settings, err)
		}
	}
	return nil
}

// settingsIn returns the settings of a file as systemd reads it: NAME=VALUE, the value perhaps in
// quotes.
func settingsIn(text string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		for _, quote := range []string{`"`, "'"} {
			if len(value) >= 2 && strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote) {
				value = value[1 : len(value)-1]
			}
		}
		settings[strings.TrimSpace(name)] = value
	}
	return settings
}
