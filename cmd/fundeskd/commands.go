package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/cmd/internal/release"
	"fundesk/service"
)

// root returns the whole command tree.
func (p *program) root() *cobra.Command {
	root := group("fundeskd", "The Fundraising Data Service",
		p.serveCommand(), p.migrateCommand(),
		group("organization", "Add, list and change organizations",
			p.organizationAdd(), p.organizationList(), p.organizationSet()),
		group("user", "Add, list and rename users, and end their access", p.userAdd(), p.userList(), p.userSet()),
		group("account", "Add, list, change and revoke accounts",
			p.accountAdd(), p.accountList(), p.accountSet(), p.accountRevoke()),
		group("oidc", "Check sign-in with an identity provider", p.oidcCheck()),
		group("token", "Issue and replace tokens", p.tokenIssue()),
		group("clock", "Correct times after a wrong clock", p.clockReset()),
		group("key", "Renew the signing key of tokens", p.keyRotate()),
		p.loadCommand(), p.sampleCommand(),
		p.backupCommand(), p.restoreCommand(), p.dumpCommand(),
		p.checkCommand(), p.cleanCommand(), p.maintainCommand(), p.openAPICommand(),
		group("person", "Export and erase a person's data", p.personExport(), p.personErase()),
		group("erasures", "Replay erasures after a restore", p.erasuresReplay()),
		group("retention", "Apply retention periods", p.retentionSet(), p.retentionShow(), p.retentionRun()),
		group("audit", "List changes of records, and delete old lines", p.auditList(), p.auditPrune()),
		group("do-not-call", "Check and change which numbers are not called",
			p.numberCheck(), p.numberAdd(), p.numberRemove()),
	)
	root.Long = "fundeskd serves persons, calls and pledges over HTTP from a database, and\nmanages its accounts."
	root.Version = release.Version
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.PersistentPreRunE = p.checkOutput
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))

	flags := root.PersistentFlags()
	flags.StringVar(&p.database, "database", "",
		"`sqlite:PATH` or postgres://… (default: fundeskd.db in the data folder; also FUNDESKD_DATABASE)")
	flags.StringVarP(&p.output, "output", "o", "",
		"print in this `FORMAT`: json, or ndjson where records are printed one by one")
	flags.BoolVar(&p.noMigrate, "no-migrate", false, "do not bring the schema up to date first")
	describeDefaults(root)
	return root
}

// describeDefaults replaces the descriptions of the commands that cobra adds by itself.
func describeDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short = "Print the help of a command"
			c.Long = "Help prints the same as --help."
			c.Example = "  fundeskd help account add"
		case "completion":
			c.Short = "Print a completion script"
			c.Long = "Completion prints a script that completes commands and flags in your shell."
			for _, shell := range c.Commands() {
				shell.Short = "Print the script for " + shell.Name()
				shell.Long = ""
				shell.Example = "  fundeskd completion " + shell.Name() + " > fundeskd." + shell.Name()
			}
		}
	}
}

// ndjson is the output format that only commands with [streams] have.
const ndjson = "ndjson"

// streams marks a command that prints records one by one.
func streams(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{ndjson: ""}
	return c
}

// checkOutput refuses an output format that the command does not have.
func (p *program) checkOutput(c *cobra.Command, _ []string) error {
	_, isStream := c.Annotations[ndjson]
	choices := "must be json"
	if isStream {
		choices = "must be one of json, ndjson"
	}
	switch p.output {
	case "", "json":
		return nil
	case ndjson:
		if isStream {
			return nil
		}
	}
	return usage("-o %s, not %q", choices, p.output)
}

// group returns a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  refuseUnknownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(commands...)
	return c
}

func refuseUnknownCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unknown command %q for %q; see: %s --help", args[0], c.CommandPath(), c.CommandPath())
	}
	return nil
}

// operation is a command that asks or changes the open service once, and prints one answer as text or JSON.
type operation[T any] struct {
	use, short, long, example string

	args    []argument
	flags   func(*pflag.FlagSet)
	check   func(context.Context, *pflag.FlagSet) error // Of the command line, before anything is opened. Or nil.
	access  access
	failure string // Begins the error of run. Empty if the error of the service needs no beginning.
	run     func(context.Context, *service.Service) (T, error)
	text    func(io.Writer, T)
}

// command returns the operation as a command of p. Every operator command that answers once is built here.
func (o operation[T]) command(p *program) *cobra.Command {
	c := &cobra.Command{
		Use:     o.use,
		Short:   o.short,
		Long:    o.long,
		Example: o.example,
		Args:    exactly(o.args),
	}
	if o.flags != nil {
		o.flags(c.Flags())
	}
	c.RunE = reading(o.args, func(c *cobra.Command) error {
		if o.check != nil {
			err := o.check(c.Context(), c.Flags())
			if err != nil {
				return err
			}
		}
		return p.withService(c.Context(), o.access, func(s *service.Service) error {
			answer, err := o.run(c.Context(), s)
			if err != nil {
				return o.wrap(err)
			}
			return p.print(answer, func(w io.Writer) { o.text(w, answer) })
		})
	})
	return c
}

// wrap returns the error of an operation. A value that the service refuses as invalid is a mistake in the command line.
func (o operation[T]) wrap(err error) error {
	refusal, isRefusal := errors.AsType[*service.Error](err)
	if o.failure != "" {
		err = fmt.Errorf("%s: %w", o.failure, err)
	}
	if isRefusal && refusal.Kind == service.Invalid {
		return usageError{err}
	}
	return err
}

// recordList is a command that prints all records of one kind.
type recordList[T, V any] struct {
	use, short, long, example string

	all   func(context.Context, *service.Service) ([]T, error)
	view  func(T) V        // The record in JSON.
	cells func(V) []string // The record in a table.
}

func (l recordList[T, V]) command(p *program) *cobra.Command {
	return operation[[]V]{
		use:     l.use,
		short:   l.short,
		long:    l.long,
		example: l.example,
		access:  access{retired: true},
		run: func(ctx context.Context, s *service.Service) ([]V, error) {
			all, err := l.all(ctx, s)
			if err != nil {
				return nil, err
			}
			return mapped(all, l.view), nil
		},
		text: func(w io.Writer, all []V) { writeTable(w, all, l.cells) },
	}.command(p)
}

// mapped returns a slice with f applied to each element. It is never nil, so that JSON has an array.
func mapped[T, V any](all []T, f func(T) V) []V {
	views := make([]V, len(all))
	for i, one := range all {
		views[i] = f(one)
	}
	return views
}

// argument is one required argument of a command.
type argument struct {
	name string
	read func(text string) error
}

// textArgument stores any text.
func textArgument(name string, to *string) argument {
	return argument{name, func(text string) error {
		*to = text
		return nil
	}}
}

// uuidArgument stores an identifier. of names the kind of record in an error.
func uuidArgument(name, of string, to *apitype.UUID) argument {
	return argument{name, func(text string) (err error) {
		*to, err = parseUUID(of, text)
		return err
	}}
}

// exactly refuses missing, superfluous and empty arguments. A shell variable without a value is an empty argument.
func exactly(wanted []argument) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(wanted) {
			return usage("missing %s; see: %s --help", wanted[len(args)].name, c.CommandPath())
		}
		if len(args) > len(wanted) {
			return usage("unexpected argument %q; see: %s --help", args[len(wanted)], c.CommandPath())
		}
		for i, arg := range args {
			if arg == "" {
				return usage("%s is empty; see: %s --help", wanted[i].name, c.CommandPath())
			}
		}
		return nil
	}
}

// reading returns a command's function that reads the arguments first.
func reading(wanted []argument, run func(*cobra.Command) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		for i, arg := range args {
			err := wanted[i].read(arg)
			if err != nil {
				return err
			}
		}
		return run(c)
	}
}

func parseUUID(what, text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, usage("%s %q %w", what, text, err)
	}
	return id, nil
}

// flagValue is a flag with its own parse function. It implements [pflag.Value].
type flagValue[T any] struct {
	to    *T
	parse func(text string) (T, error)
	text  string
}

// Set parses the text of the command line.
func (f *flagValue[T]) Set(text string) error {
	value, err := f.parse(text)
	if err != nil {
		return err
	}
	*f.to = value
	f.text = text
	return nil
}

func (f *flagValue[T]) String() string { return f.text }

// Type returns the placeholder of help texts that name none.
func (f *flagValue[T]) Type() string { return "parsed" }

// uuidFlag adds a flag with an identifier. The target stays nil without the flag.
func uuidFlag(flags *pflag.FlagSet, to **apitype.UUID, name, help string) {
	parse := func(text string) (*apitype.UUID, error) {
		id, err := apitype.ParseUUID(text)
		return &id, err
	}
	flags.Var(&flagValue[*apitype.UUID]{to: to, parse: parse}, name, help)
}

// needOrganization refuses a command line without --organization.
func needOrganization(_ context.Context, flags *pflag.FlagSet) error {
	if !flags.Changed("organization") {
		return usage("use --organization UUID; fundeskd organization list names them")
	}
	return nil
}

// flagWants describes the values of a flag by its type, instead of the words of the library that parses numbers.
var flagWants = map[string]string{
	"int":      "must be a whole number",
	"intSlice": "must be a whole number",
	"uint64":   "must be a whole number, 0 at least",
	"float64":  "must be a number",
	"duration": "must be a duration such as 30s or 336h",
	"bool":     "must be true or false",
}

// flagError returns the usage error of an unknown flag, or of a flag with a wrong value.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usageError{err}
	}
	flag := invalid.GetFlag()
	if flag.Value.Type() == "parsed" {
		return usage("--%s %q %w", flag.Name, invalid.GetValue(), invalid.Unwrap())
	}
	wants := flagWants[flag.Value.Type()]
	if wants == "" {
		return usageError{err}
	}
	return usage("--%s %s, not %q", flag.Name, wants, invalid.GetValue())
}
