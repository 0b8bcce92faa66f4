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

// CallFilters are the filters of the call list: those of the interface, and those that
// look at what was retrieved.
type CallFilters struct {
	Options    apitype.CallListOptions
	selection  apitype.CallSelection
	attemptBy  string // A name, which only the service can make a user of.
	noExternal bool
}

// Register declares the filters of calls.
func (c *CallFilters) Register(s *cli.Session, cmd *cobra.Command) {
	cli.RegisterFilters(s, cmd, apitype.CallFilters(), &c.Options)
	cli.RegisterFilters(s, cmd, apitype.CallSelections(), &c.selection)
	cmd.Flags().BoolVar(&c.noExternal, "no-external-reference", false, "only calls without an external reference")
	flag := cmd.Flags().Lookup("attempt-by")
	byUUID := flag.Value
	flag.Usage += ": a name, or the UUID"
	flag.Value = &cli.Value{Word: "user", Text: byUUID.String, Read: func(text string) error {
		c.attemptBy = ""
		if byUUID.Set(text) != nil {
			c.attemptBy = text
		}
		if strings.TrimSpace(text) == "" {
			return errNoUser
		}
		return nil
	}}
}

var errNoUser = errors.New("must not be empty; leave it out for everybody")

// FindUsers asks the service who has the names of the flags.
func (c *CallFilters) FindUsers(ctx context.Context, s *cli.Session) error {
	if c.attemptBy == "" {
		return nil
	}
	client, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	has, err := client.Has(ctx, apitype.ExtensionSettings)
	if err != nil {
		return err
	}
	if !has {
		return cli.WithHint(cli.UsageError("this service names no users"), "give the UUID: --attempt-by UUID")
	}
	read, _, err := client.Settings(ctx, "")
	settings, err := apiclient.Decoded(read, err)
	if err != nil {
		return err
	}
	user, err := cli.UserNamed(settings.Users, "attempt-by", c.attemptBy)
	if err != nil {
		return err
	}
	c.selection.AttemptBy = &user.UUID
	return nil
}

// Check refuses filters that do not go together.
func (c *CallFilters) Check() error {
	if c.noExternal {
		if c.Options.ExternalReferenceID != "" || c.Options.ExternalApplicationName != "" {
			return cli.UsageError("--no-external-reference excludes the other external filters")
		}
		c.Options.ExternalReferenceID, c.Options.ExternalApplicationName = apitype.NoExternalReference, apitype.NoExternalReference
	}
	if c.Options.RequestedUntil != nil && c.Options.RequestedFrom == nil { // The interface has them together only.
		c.Options.RequestedFrom = new(apitype.NewTime(time.Unix(0, 0)))
	}
	return RefuseParameters(c.Options.Validate())
}

// LeaveToService lets a service that can choose by status or person do so.
func (c *CallFilters) LeaveToService(ctx context.Context, s *cli.Session) {
	client, err := s.Connect(ctx)
	if err != nil || len(c.selection.Statuses) == 0 && c.selection.PersonUUID == nil {
		return
	}
	// Where that cannot be known, the list says why.
	if has, err := client.Has(ctx, apitype.ExtensionStatus); err == nil && has {
		c.Options.Statuses, c.selection.Statuses = c.selection.Statuses, nil
	}
	if has, err := client.Has(ctx, apitype.ExtensionFilters); err == nil && has {
		c.Options.PersonUUID, c.selection.PersonUUID = c.selection.PersonUUID, nil
	}
}

// Passes is the filter of what was retrieved, nil when there is none.
func (c *CallFilters) Passes() func(apitype.Call) bool {
	if c.selection.IsEmpty() {
		return nil
	}
	return c.selection.Passes
}

// callIncludes are the objects of columns, as the interface calls them.
var callIncludes = map[string]string{"person": apitype.IncludePerson, "pledgeCase": apitype.IncludePledge}

// includeFor asks for the embedded objects whose columns are printed.
func (c *CallFilters) includeFor(columns []string) {
	for _, name := range columns {
		object, _, _ := strings.Cut(name, ".")
		if include := callIncludes[object]; include != "" && !slices.Contains(c.Options.Include, include) {
			c.Options.Include = append(c.Options.Include, include)
		}
	}
}

// Columns are those of calls. The objects of columns that are named are asked for; without
// names there are no columns of objects that the list does not hold.
func (c *CallFilters) Columns(s *cli.Session) []render.Column[apitype.Call] {
	c.includeFor(s.WantedColumns())
	return FilledColumns(s, render.CallColumns(), func(object string) bool {
		return slices.Contains(c.Options.Include, callIncludes[object]) || object == "person" && slices.Contains(c.Options.Include, apitype.IncludePersonQualityResult)
	})
}

// FilledColumns leaves out the columns of embedded objects that a list does not hold, unless
// they are named.
func FilledColumns[T any](s *cli.Session, columns []render.Column[T], holds func(object string) bool) []render.Column[T] {
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
	partner := strings.NewReplacer("requestedUntil", "--requested-until", "externalReferenceId", "--external-reference-id")
	return cli.UsageError("--" + apitype.Kebab(v.Parameter) + " " + partner.Replace(v.Message))
}
