package commands

import (
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/load"
	"fundesk/commands/read"
	"fundesk/render"
)

func callCommand(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"call",
		"A call is a task to phone a donor. An agent records attempts and ends a call: completed, cancelled or\n"+
			"expired.",
		"  fundesk call list --status requested\n"+
			"  fundesk call complete 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --result-code reached --rating 8",
		cli.Verbs{
			"list":     callList,
			"get":      callGet,
			"create":   callCreate,
			"attempt":  change.Attempt,
			"complete": change.Complete,
			"cancel":   change.Cancel,
			"expire":   change.Expire,
			"stats":    read.CallStats,
			"checks":   read.Checks,
			"import": func(s *cli.Session) *cobra.Command {
				return load.Import(
					s,
					load.Rows{
						Record:  "call",
						Shows:   render.HasPath[apitype.Call],
						Creates: change.Fields(apitype.CallFields(), apitype.Created),
						Create:  newCall,
					},
				)
			},
		},
	)
}

func callList(s *cli.Session) *cobra.Command {
	flags, filters := &read.ListFlags{}, &read.CallFilters{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List calls, most recently requested first",
		Args:  cli.NoArgs,
		Long: "List calls. The interface has no filter for status, type and person: --status, --type and --person\n" +
			"filter on your computer, and --limit counts the calls that match. If the service has a filter for the\n" +
			"status, fundesk uses it.",
		Example: "  fundesk call list --status requested\n  fundesk call list --updated-after 36h --all -o ndjson\n" +
			"  fundesk call list --include person --columns uuid,status,person.lastName",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := filters.Check(); err != nil {
				return err
			}
			if err := flags.Check(cmd); err != nil {
				return err
			}
			if err := filters.FindUsers(cmd.Context(), s); err != nil {
				return err
			}
			filters.LeaveToService(cmd.Context(), s)
			o := &filters.Options
			return read.RunList(s, cmd, flags, read.List[apitype.Call, apitype.CallListOptions]{
				Columns: filters.Columns(s),
				Options: o,
				After:   func(cursor string) { o.After = cursor },
				Of:      read.Calls,
				Passes:  filters.Passes(),
			})
		},
	}
	flags.Register(s, cmd)
	filters.Register(s, cmd)
	return cmd
}

func callGet(s *cli.Session) *cobra.Command {
	return read.Get(s, &cobra.Command{
		Short: "Show calls",
		Long: "Show calls with everything that the service knows: person, pledge, attempts and result. One call\n" +
			"is one object, several are a list; - reads UUIDs or NDJSON from stdin.",
		Example: "  fundesk call get 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10\n" +
			"  fundesk call get 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 -o json --jq .result",
	}, render.CallColumns(), read.Calls)
}

func callCreate(s *cli.Session) *cobra.Command {
	cmd := &cobra.Command{
		Short: "Request a call to a person",
		Long: "Request a call. With external metadata the call is managed in an external system: the service then\n" +
			"applies no rules of its own to it.",
		Example: "  fundesk call create --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --type happy_call\n" +
			"  fundesk call create --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --application-name dialler " +
			"--reference-id 77 --status completed\n" +
			"  fundesk call create --file call.json",
	}
	return change.Create(s, cmd, change.Fields(apitype.CallFields(), apitype.Created), render.CallColumns(), newCall)
}

func newCall(s *cli.Session, object map[string]any) (apiclient.Change, error) {
	change.SetDefault(object, "requestedAt", apitype.NewTime(s.App.Now()).String())
	if object["externalMetadata"] == nil {
		change.DropImplied(object, "status", string(apitype.CallRequested))
		change.DropImplied(object, "attempts", []any{})
	}
	return change.Make(object, (*apitype.CreateCallRequest).Validate, apiclient.CreateCallChange)
}
