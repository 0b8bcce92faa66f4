package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// callFilters are the filters of the call list: those of the interface, and those that
// look at what was retrieved.
type callFilters struct {
	options    apitype.CallListOptions
	selection  apitype.CallSelection
	noExternal bool
}

// register declares the filters of calls but those that the command sets itself.
func (c *callFilters) register(s *session, cmd *cobra.Command, own ...string) {
	registerFilters(s, cmd, without(apitype.CallFilters(), own...), &c.options)
	registerFilters(s, cmd, apitype.CallSelections(), &c.selection)
	cmd.Flags().BoolVar(&c.noExternal, "no-external-reference", false, "only calls without an external reference")
}

// check refuses filters that do not go together.
func (c *callFilters) check() error {
	if c.noExternal {
		if c.options.ExternalReferenceID != "" || c.options.ExternalApplicationName != "" {
			return usageError("--no-external-reference excludes the other external filters")
		}
		c.options.ExternalReferenceID, c.options.ExternalApplicationName = apitype.NoExternalReference, apitype.NoExternalReference
	}
	return refuseParameters(c.options.Validate())
}

// leaveToService lets a service that can choose by status or person do so.
func (c *callFilters) leaveToService(ctx context.Context, s *session) {
	client, err := s.connect(ctx)
	if err != nil || len(c.selection.Statuses) == 0 && c.selection.PersonUUID == nil {
		return
	}
	// Where that cannot be known, the list says why.
	if has, err := client.Has(ctx, apitype.ExtensionStatus); err == nil && has {
		c.options.Statuses, c.selection.Statuses = c.selection.Statuses, nil
	}
	if has, err := client.Has(ctx, apitype.ExtensionFilters); err == nil && has {
		c.options.PersonUUID, c.selection.PersonUUID = c.selection.PersonUUID, nil
	}
}

// passes is the filter of what was retrieved, nil when there is none.
func (c *callFilters) passes() func(apitype.Call) bool {
	if c.selection.IsEmpty() {
		return nil
	}
	return c.selection.Passes
}

// callIncludes are the objects of columns, as the interface calls them.
var callIncludes = map[string]string{"person": apitype.IncludePerson, "pledgeCase": apitype.IncludePledge}

// includeFor asks for the embedded objects whose columns are printed.
func (c *callFilters) includeFor(columns []string) {
	for _, name := range columns {
		object, _, _ := strings.Cut(name, ".")
		if include := callIncludes[object]; include != "" && !slices.Contains(c.options.Include, include) {
			c.options.Include = append(c.options.Include, include)
		}
	}
}

// columns are those of calls. The objects of columns that are named are asked for; without
// names there are no columns of objects that the list does not hold.
func (c *callFilters) columns(s *session) []render.Column[apitype.Call] {
	c.includeFor(s.wantedColumns())
	return filledColumns(s, render.CallColumns(), func(object string) bool {
		return slices.Contains(c.options.Include, callIncludes[object]) || object == "person" && slices.Contains(c.options.Include, apitype.IncludePersonQualityResult)
	})
}

// filledColumns leaves out the columns of embedded objects that a list does not hold, unless
// they are named.
func filledColumns[T any](s *session, columns []render.Column[T], holds func(object string) bool) []render.Column[T] {
	if len(s.flags.columns) > 0 {
		return columns
	}
	return slices.DeleteFunc(columns, func(c render.Column[T]) bool {
		object, _, nested := strings.Cut(c.Name, ".")
		return nested && (object == "person" || object == "pledgeCase") && !holds(object)
	})
}

// refuseParameters turns parameters that do not go together into a usage error that
// names flags.
func refuseParameters(violations apitype.Violations) error {
	if len(violations) == 0 {
		return nil
	}
	v := violations[0]
	partner := strings.NewReplacer("requestedUntil", "--requested-until", "externalReferenceId", "--external-reference-id")
	return usageError("--" + apitype.Kebab(v.Parameter) + " " + partner.Replace(v.Message))
}
