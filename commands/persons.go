package commands

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/load"
	"fundesk/commands/read"
	"fundesk/render"
)

func personCommand(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"person",
		"Persons are donors. Each belongs to an organization; calls and pledges refer to them.",
		"  fundesk person list --created-after 7d\n  fundesk person get 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11",
		cli.Verbs{
			"list": personList, "get": personGet, "create": personCreate, "update": personUpdate,
			"export": change.Export, "erase": change.Erase, "consent": change.Consent,
			"stats":  read.PersonStats,
			"import": func(s *cli.Session) *cobra.Command { return load.Import(s, personRows()) },
			"apply":  func(s *cli.Session) *cobra.Command { return load.Apply(s, personRows()) },
		},
	)
}

func personRows() load.Rows {
	return load.Rows{
		Record:  "person",
		Shows:   render.HasPath[apitype.Person],
		Creates: change.Fields(append(apitype.PersonFields(), apitype.ConsentFields()...), apitype.Created),
		Create:  newPerson,
		Updates: change.Fields(apitype.PersonFields(), apitype.Updated),
		Update:  changePerson,
		Read:    load.ReaderOf(read.Persons),
	}
}

func personList(s *cli.Session) *cobra.Command {
	flags, o, selection, consents := &read.ListFlags{}, apitype.PersonListOptions{}, &read.PersonSelection{}, false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List persons, newest first",
		Args:  cli.NoArgs,
		Long: "List persons. The service filters by organization, time and IBAN. If it can search, --search\n" +
			"finds persons by name, phone number, e-mail address, postcode with house number, or IBAN: all\n" +
			"words must match, each by its beginning. --email and --name filter on your computer, and --limit\n" +
			"counts the persons that match; so does --phone if the service cannot search. A list that ends at\n" +
			"its limit says so on stderr.",
		Example: "  fundesk person list --created-after yesterday\n" +
			"  fundesk person list --search \"jansen 1234 AB 12\"\n" +
			"  fundesk person list --all --phone 06-12345678\n" +
			"  fundesk person list --iban \"$IBAN\" -o json --jq '.[].uuid'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			passes, err := selection.Passes(cmd)
			if err != nil {
				return err
			}
			read.WarnOfIBAN(s, o)
			l := read.List[apitype.Person, apitype.PersonListOptions]{
				Columns: render.PersonColumns(),
				Options: &o,
				After:   func(cursor string) { o.After = cursor },
				Of:      read.Persons,
				Passes:  passes,
				ForEdit: &read.ForEdit[apitype.Person]{
					Asked: &o.Revisions,
					Of:    func(p apitype.Person) *apitype.Number { return p.Revision },
				},
			}
			if consents || read.WantsConsents(s) {
				read.WithConsents(&l)
			}
			l.Allowed = func(ctx context.Context, client *apiclient.Client) error {
				return selection.LeaveToService(ctx, s, client, &o)
			}
			return read.RunList(s, cmd, flags, l)
		},
	}
	cmd.Flags().BoolVar(&consents, "consents", false, "add the newest consents, which are read person by person")
	flags.Register(s, cmd)
	flags.RegisterForEdit(cmd)
	cli.RegisterFilters(s, cmd, append(apitype.PersonFilters(), apitype.PersonSearch()), &o)
	selection.Register(cmd)
	return cmd
}

func personGet(s *cli.Session) *cobra.Command {
	return read.Get(s, &cobra.Command{
		Short: "Show persons",
		Long: "Show persons with everything that the service knows. One person is one object, several are a\n" +
			"list; - reads UUIDs or NDJSON from stdin.",
		Example: "  fundesk person get 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11\n" +
			"  fundesk call list --limit 10 --jq '.[].personUuid' | fundesk person get - -o ndjson",
	}, render.PersonColumns(), read.Persons)
}

func personCreate(s *cli.Session) *cobra.Command {
	cmd := &cobra.Command{
		Short: "Create a person",
		Long: "Create a person from flags, a JSON file, or both; - reads a body, or a person that get or list\n" +
			"printed, from stdin. Fields that only the service sets are left out. Without a UUID, create\n" +
			"chooses one, so that a lost answer creates no second person. To run a command again safely, use\n" +
			"person apply --create.",
		Example: "  fundesk person create --first-name Anna --last-name Jansen --email a.jansen@example.org\n" +
			"  fundesk person get \"$PERSON\" -o json | fundesk --profile other person create -\n" +
			"  fundesk person create --file person.json --dry-run",
	}
	return change.Create(
		s,
		cmd,
		change.Fields(apitype.PersonFields(), apitype.Created),
		render.PersonColumns(),
		newPerson,
	)
}

// newPerson returns the creation of a person from its body. The profile supplies defaults.
func newPerson(s *cli.Session, object map[string]any) (apiclient.Change, error) {
	p := s.Defaults()
	change.SetDefault(object, "owningOrganizationUuid", p.OwningOrganization)
	change.SetDefault(object, "recruitingOrganizationUuid", p.RecruitingOrganization)
	return change.Make(
		object,
		func(r *apitype.CreatePersonRequest) apitype.Violations { return r.Validate(s.App.Now()) },
		apiclient.CreatePersonChange,
	)
}

func personUpdate(s *cli.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update UUID… | -",
		Short: "Change fields of persons",
		Args:  cli.NeedArgs(1),
		Long: "Change the named fields of persons; all others stay as they are. --clear empties fields, and so\n" +
			"does null in a file. Several persons get the same values; apply gives each its own.",
		Example: "  fundesk person update 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --email new@example.org\n" +
			"  fundesk person update 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --clear iban,name.initials\n" +
			"  fundesk person list --created-after 1d --all -o id | fundesk person update - --language nl --yes",
	}
	return change.Update(
		s,
		cmd,
		change.Fields(apitype.PersonFields(), apitype.Updated),
		render.PersonColumns(),
		changePerson,
	)
}

func changePerson(s *cli.Session, id apitype.UUID, object map[string]any, _ json.RawMessage) (apiclient.Change, error) {
	return change.Make(
		object,
		func(r *apitype.UpdatePersonRequest) apitype.Violations { return r.Validate(s.App.Now()) },
		func(r apitype.UpdatePersonRequest) (apiclient.Change, error) {
			return apiclient.UpdatePersonChange(id, r)
		},
	)
}
