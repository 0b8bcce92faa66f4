package commands

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/load"
	"fundesk/commands/read"
	"fundesk/render"
)

func pledgeCommand(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"pledge",
		"Pledges are persons' commitments to donate, once or at an interval.",
		"  fundesk pledge list --status lead\n"+
			"  fundesk pledge action activate 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 --yes",
		cli.Verbs{
			"list":   pledgeList,
			"get":    pledgeGet,
			"create": pledgeCreate,
			"update": pledgeUpdate,
			"action": change.Action,
			"stats":  read.PledgeStats,
			"import": func(s *cli.Session) *cobra.Command { return load.Import(s, pledgeRows()) },
			"apply":  func(s *cli.Session) *cobra.Command { return load.Apply(s, pledgeRows()) },
		},
	)
}

func pledgeRows() load.Rows {
	return load.Rows{
		Record:  "pledge",
		Shows:   render.HasPath[apitype.Pledge],
		Creates: change.Fields(apitype.PledgeFields(), apitype.Created),
		Create:  newPledge,
		Updates: change.Fields(apitype.PledgeFields(), apitype.Updated),
		Update:  changePledge,
		Read:    load.ReaderOf(read.Pledges),
	}
}

func pledgeList(s *cli.Session) *cobra.Command {
	flags, o := &read.ListFlags{}, apitype.PledgeListOptions{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List pledges, newest first",
		Args:  cli.NoArgs,
		Long: "List pledges. The filters are those of the service; a list that ends at its limit says so on\n" +
			"stderr. Columns of the person imply --include person.",
		Example: "  fundesk pledge list --status active\n" +
			"  fundesk pledge list --released-after 7d --all -o csv > released.csv\n" +
			"  fundesk pledge list --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --include transactions -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := read.RefuseParameters(o.Validate()); err != nil {
				return err
			}
			isNamed := slices.ContainsFunc(
				s.WantedColumns(),
				func(name string) bool { return strings.HasPrefix(name, "person.") },
			)
			if isNamed && !slices.Contains(o.Include, apitype.IncludePerson) {
				o.Include = append(o.Include, apitype.IncludePerson)
			}
			person := slices.Contains(o.Include, apitype.IncludePerson)
			l := read.List[apitype.Pledge, apitype.PledgeListOptions]{
				Columns: read.FilledColumns(s, render.PledgeColumns(), func(string) bool { return person }),
				Options: &o,
				After:   func(cursor string) { o.After = cursor },
				Of:      read.Pledges,
				Allowed: read.PersonsOfPledges(&o),
				ForEdit: &read.ForEdit[apitype.Pledge]{
					Asked: &o.Revisions,
					Of:    func(p apitype.Pledge) *apitype.Number { return p.Revision },
				},
			}
			return read.RunList(s, cmd, flags, l)
		},
	}
	flags.Register(s, cmd)
	flags.RegisterForEdit(cmd)
	cli.RegisterFilters(s, cmd, apitype.PledgeFilters(), &o)
	return cmd
}

func pledgeGet(s *cli.Session) *cobra.Command {
	return read.Get(s, &cobra.Command{
		Short: "Show pledges",
		Long: "Show pledges with everything that the service knows: person, calls, transactions and a link to the\n" +
			"signature. One pledge is one object, several are a list; - reads UUIDs or NDJSON from stdin.",
		Example: "  fundesk pledge get 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90\n" +
			"  fundesk pledge get 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 -o json --jq .signatureSignedUrl",
	}, render.PledgeColumns(), read.Pledges)
}

func pledgeCreate(s *cli.Session) *cobra.Command {
	cmd := &cobra.Command{
		Short: "Create a pledge of a person",
		Long: "Create a pledge. With an external source it is managed in an external system: the service then\n" +
			"applies no rules of its own to it.",
		Example: "  fundesk pledge create --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 " +
			"--initial-donation-amount 12.50 \\\n" +
			"    --initial-donation-interval monthly --starts-at 2026-12-01 " +
			"--recruiter-user 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b\n" +
			"  fundesk pledge create --file pledge.json",
	}
	change.Create(
		s,
		cmd,
		change.Fields(apitype.PledgeFields(), apitype.Created),
		render.PledgeColumns(),
		newPledge,
	)
	earlier := *cmd.Flags().Lookup("focus-area-uuids")
	earlier.Name, earlier.Hidden = "focus-areas", true
	cmd.Flags().AddFlag(&earlier)
	return cmd
}

// newPledge returns the creation of a pledge from its body. The profile supplies defaults.
func newPledge(s *cli.Session, object map[string]any) (apiclient.Change, error) {
	p := s.Defaults()
	change.SetDefault(object, "owningOrganizationUuid", p.OwningOrganization)
	change.SetDefault(object, "recruitingOrganizationUuid", p.RecruitingOrganization)
	change.SetDefault(object, "createdAt", apitype.NewTime(s.App.Now()).String())
	if object["externalSource"] == nil {
		change.DropImplied(object, "status", string(apitype.PledgeLead))
		change.DropImplied(object, "donationAmount", object["initialDonationAmount"])
		change.DropImplied(object, "donationInterval", object["initialDonationInterval"])
	}
	return change.Make(
		object,
		func(r *apitype.CreatePledgeRequest) apitype.Violations { return r.Validate(s.App.Now()) },
		apiclient.CreatePledgeChange,
	)
}

func pledgeUpdate(s *cli.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update UUID… | -",
		Short: "Change fields of pledges",
		Args:  cli.NeedArgs(1),
		Long: "Change the fields that are named; all others stay as they are. --clear empties a field. The\n" +
			"service refuses amount, interval and end of an external pledge: its own system changes them.\n" +
			"Several pledges get the same values; apply gives each its own.",
		Example: "  fundesk pledge update 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 --donation-amount 15\n" +
			"  fundesk pledge update 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 --clear endsAt",
	}
	return change.Update(
		s,
		cmd,
		change.Fields(apitype.PledgeFields(), apitype.Updated),
		render.PledgeColumns(),
		changePledge,
	)
}

// changePledge returns the update of a pledge. If the pledge is known, it refuses fields that its mode forbids.
func changePledge(
	_ *cli.Session,
	id apitype.UUID,
	object map[string]any,
	raw json.RawMessage,
) (apiclient.Change, error) {
	return change.Make(object, func(r *apitype.UpdatePledgeRequest) apitype.Violations {
		violations := r.Validate()
		if pledge, err := (apiclient.Record[apitype.Pledge]{Raw: raw}).Decode(); err == nil && raw != nil {
			violations = append(violations, r.ValidateFor(pledge, pledge.ExternalSource.Pointer() != nil)...)
		}
		return violations
	}, func(r apitype.UpdatePledgeRequest) (apiclient.Change, error) {
		return apiclient.UpdatePledgeChange(id, r)
	})
}
