package read

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
)

// CallFilters are the filters of the call list: the interface's, and the ones applied after the download.
type CallFilters struct {
	Options    apitype.CallListOptions
	selection  apitype.CallSelection
	attemptBy  userFlag
	completer  userFlag
	noExternal bool
}

// userFlag is a flag that takes a user by UUID or by name.
type userFlag struct {
	flag string
	name string // A name that only the service can resolve. Empty if the flag has a UUID.
	set  func(apitype.UUID)
}

// register lets a flag that takes an UUID take a name, too.
func (u *userFlag) register(cmd *cobra.Command, name string, set func(apitype.UUID)) {
	u.flag, u.set = name, set
	flag := cmd.Flags().Lookup(name)
	byUUID := flag.Value
	flag.Usage += ": a name, or the UUID"
	flag.Value = &cli.Value{Word: "user", Text: byUUID.String, Read: func(text string) error {
		u.name = ""
		if byUUID.Set(text) != nil {
			u.name = text
		}
		if strings.TrimSpace(text) == "" {
			return errNoUser
		}
		return nil
	}}
}

// Register declares the filters of calls.
func (c *CallFilters) Register(s *cli.Session, cmd *cobra.Command) {
	cli.RegisterFilters(s, cmd, apitype.CallFilters(), &c.Options)
	cli.RegisterFilters(s, cmd, apitype.CallSelections(), &c.selection)
	cli.RegisterFilters(s, cmd, []apitype.Filter[apitype.CallListOptions]{apitype.CompletedBy()}, &c.Options)
	cmd.Flags().BoolVar(&c.noExternal, "no-external-reference", false, "only calls without an external reference")
	c.attemptBy.register(cmd, "attempt-by", func(user apitype.UUID) { c.selection.AttemptBy = &user })
	c.completer.register(cmd, "completed-by", func(user apitype.UUID) { c.Options.CompletedByUserUUID = &user })
}

var errNoUser = errors.New("must not be empty; leave it out for everything")

// FindUsers asks the service for the users with the names in the flags. It refuses a filter that the service does not
// have.
func (c *CallFilters) FindUsers(ctx context.Context, s *cli.Session) error {
	if c.completer.name != "" || c.Options.CompletedByUserUUID != nil {
		if err := needCompletedBy(ctx, s); err != nil {
			return err
		}
	}
	for _, flag := range []userFlag{c.attemptBy, c.completer} {
		if flag.name == "" {
			continue
		}
		if err := flag.find(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func needCompletedBy(ctx context.Context, s *cli.Session) error {
	client, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	has, err := client.Has(ctx, apitype.ExtensionCompletedBy)
	if err != nil || has {
		return err
	}
	refusal := cli.UsageError("this service does not say who completed a call")
	return cli.WithHint(refusal, "for the calls that a user attempted: --attempt-by USER")
}

// find sets the user of a name.
func (u userFlag) find(ctx context.Context, s *cli.Session) error {
	client, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	has, err := client.Has(ctx, apitype.ExtensionSettings)
	if err != nil {
		return err
	}
	if !has {
		return cli.WithHint(cli.UsageError("this service names no users"), "give the UUID: --"+u.flag+" UUID")
	}
	read, _, err := client.Settings(ctx, "")
	settings, err := apiclient.Decoded(read, err)
	if err != nil {
		return err
	}
	user, err := cli.UserNamed(settings.Users, u.flag, u.name)
	if err != nil {
		return err
	}
	u.set(user.UUID)
	return nil
}

// Check refuses filters that do not go together.
func (c *CallFilters) Check() error {
	if c.noExternal {
		if c.Options.ExternalReferenceID != "" || c.Options.ExternalApplicationName != "" {
			return cli.UsageError("--no-external-reference cannot be combined with the other external filters")
		}
		c.Options.ExternalReferenceID = apitype.NoExternalReference
		c.Options.ExternalApplicationName = apitype.NoExternalReference
	}
	if err := c.checkPeriod(); err != nil {
		return err
	}
	if c.Options.RequestedUntil != nil && c.Options.RequestedFrom == nil { // The interface has them together only.
		c.Options.RequestedFrom = new(apitype.NewTime(time.Unix(0, 0)))
	}
	return RefuseParameters(c.Options.Validate())
}

// checkPeriod refuses a period that ends before it begins: the list would be empty.
func (c *CallFilters) checkPeriod() error {
	until := c.Options.RequestedUntil
	for _, begin := range []struct {
		flag string
		at   *apitype.Time
	}{
		{"--requested-from", c.Options.RequestedFrom},
		{"--requested-after", c.Options.RequestedAfter},
	} {
		if until != nil && begin.at != nil && begin.at.After(until.Time) {
			return cli.UsageError(
				"--requested-until " + until.String() + " is before " + begin.flag + " " + begin.at.String(),
			)
		}
	}
	return nil
}

// LeaveToService lets a service that can choose by status or person do so.
func (c *CallFilters) LeaveToService(ctx context.Context, s *cli.Session) {
	client, err := s.Connect(ctx)
	if err != nil || len(c.selection.Statuses) == 0 && c.selection.PersonUUID == nil {
		return
	}
	// If that is unknown, the list reports the reason.
	if has, err := client.Has(ctx, apitype.ExtensionStatus); err == nil && has {
		c.Options.Statuses, c.selection.Statuses = c.selection.Statuses, nil
	}
	if has, err := client.Has(ctx, apitype.ExtensionFilters); err == nil && has {
		c.Options.PersonUUID, c.selection.PersonUUID = c.selection.PersonUUID, nil
	}
}

// Passes returns the filter for downloaded records, or nil.
func (c *CallFilters) Passes() func(apitype.Call) bool {
	if c.selection.IsEmpty() {
		return nil
	}
	return c.selection.Passes
}

// callIncludes are the objects of columns, as the interface calls them.
var callIncludes = map[string]string{"person": apitype.IncludePerson, "pledgeCase": apitype.IncludePledge}

// includeFor requests the embedded objects of the printed columns.
func (c *CallFilters) includeFor(columns []string) {
	for _, name := range columns {
		object, _, _ := strings.Cut(name, ".")
		if include := callIncludes[object]; include != "" && !slices.Contains(c.Options.Include, include) {
			c.Options.Include = append(c.Options.Include, include)
		}
	}
}

// Columns returns the columns of calls. Objects of named columns are requested. Without names, it leaves out columns of
// objects that the list does not have.
func (c *CallFilters) Columns(s *cli.Session) []render.Column[apitype.Call] {
	c.includeFor(s.WantedColumns())
	return FilledColumns(s, render.CallColumns(), func(object string) bool {
		return slices.Contains(c.Options.Include, callIncludes[object]) ||
			object == "person" && slices.Contains(c.Options.Include, apitype.IncludePersonQualityResult)
	})
}

// FilledColumns leaves out the columns of embedded objects that a list does not hold, unless
// they are named.
func FilledColumns[T any](
	s *cli.Session,
	columns []render.Column[T],
	holds func(object string) bool,
) []render.Column[T] {
	if len(s.Flags.Columns) > 0 {
		return columns
	}
	return slices.DeleteFunc(columns, func(c render.Column[T]) bool {
		object, _, nested := strings.Cut(c.Name, ".")
		return nested && (object == "person" || object == "pledgeCase") && !holds(object)
	})
}

// RefuseParameters turns parameters that do not go together into a usage error that
// names flags.
func RefuseParameters(violations apitype.Violations) error {
	if len(violations) == 0 {
		return nil
	}
	v := violations[0]
	partner := strings.NewReplacer(
		"requestedUntil",
		"--requested-until",
		"externalReferenceId",
		"--external-reference-id",
	)
	return cli.UsageError("--" + apitype.Kebab(v.Parameter) + " " + partner.Replace(v.Message))
}
