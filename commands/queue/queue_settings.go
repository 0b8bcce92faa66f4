package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/floorfile"
	"fundesk/commands/cli"
	"fundesk/commands/read"
)

func queueSettings(s *cli.Session) *cobra.Command {
	const about = "The results, scripts and hours that all agents of an organization use, and who may be\n" +
		"called. Each Desk reads them at its start."
	cmd := cli.Group(s, "settings", about,
		"  fundesk queue settings get > settings.toml\n  fundesk queue settings set settings.toml",
		cli.Verbs{"get": settingsGet, "set": settingsSet})
	cmd.Short = "Read and write the settings of the floor"
	return cmd
}

func settingsGet(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "get [ORGANIZATION]",
		Short: "Print the settings of an organization",
		Args:  cli.AtMost(1),
		Long: "Print the settings of an organization as TOML, for: fundesk queue settings set. ORGANIZATION is\n" +
			"a uuid. It is needed where the account sees several. With -o json the settings are printed as\n" +
			"the service has them, and _revision for each organization.",
		Example: "  fundesk queue settings get > settings.toml\n  fundesk queue settings get -o json --jq '.users'",
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := s.Output()
			if err != nil {
				return err
			}
			isJSON := options.Format.IsJSON() || options.Query != nil
			var organization apitype.UUID
			if len(args) > 0 {
				organization, err = cli.ParseID(args[0])
				if err != nil {
					return err
				}
			}
			client, err := s.Connect(cmd.Context())
			if err != nil {
				return err
			}
			current, _, err := client.Settings(cmd.Context(), "")
			if err != nil {
				return err
			}
			if isJSON && len(args) == 0 {
				settings, err := withRevisions(current)
				if err != nil {
					return err
				}
				return cli.ShowOne(s, settings, nil)
			}
			of, err := settingsOf(current, organization, "fundesk queue settings get UUID")
			if err != nil {
				return err
			}
			if isJSON {
				file := struct {
					apitype.OrganizationSettings
					Revision string `json:"_revision"`
				}{of, floorfile.Revision(of)}
				return cli.ShowOne(s, file, nil)
			}
			text, err := floorfile.Write(of)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.App.Out, "%s%s", floorfile.RevisionLine(of), text)
			return err
		},
	}
}

// withRevisions adds to each organization the member that set compares. The rest stays as the service sent it.
func withRevisions(current apiclient.Record[apitype.Settings]) (json.RawMessage, error) {
	settings, err := current.Decode()
	if err != nil {
		return nil, err
	}
	var sent struct {
		Organizations []jsontext.Value `json:"organizations"`
	}
	err = jsonv2.Unmarshal(current.Raw, &sent, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	all := current.Raw
	for i, of := range settings.Organizations {
		was := sent.Organizations[i]
		revision := []byte(strconv.Quote(floorfile.Revision(of)))
		is := read.WithMember(json.RawMessage(was), apitype.RevisionMember, revision)
		all = bytes.Replace(all, was, is, 1)
	}
	return all, nil
}

// settingsOf returns the settings of one organization. The zero uuid means the only one. If there are several, the
// error says how to name one.
func settingsOf(
	current apiclient.Record[apitype.Settings],
	organization apitype.UUID,
	howToName string,
) (apitype.OrganizationSettings, error) {
	settings, err := current.Decode()
	if err != nil {
		return apitype.OrganizationSettings{}, err
	}
	var ids []string
	for _, of := range settings.Organizations {
		if of.UUID == organization || organization == (apitype.UUID{}) && len(settings.Organizations) == 1 {
			return of, nil
		}
		ids = append(ids, of.UUID.String())
	}
	if organization != (apitype.UUID{}) {
		return apitype.OrganizationSettings{}, cli.Failure(
			apiclient.KindNotFound,
			"the account sees no organization %s",
			organization,
		)
	}
	return apitype.OrganizationSettings{}, cli.WithHint(
		cli.UsageError("the account sees "+cli.Count(len(ids), "organization")+": name one"),
		howToName+"; there are "+strings.Join(ids, ", "),
	)
}

func settingsSet(s *cli.Session) *cobra.Command {
	var organization *apitype.UUID
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "set FILE",
		Short: "Replace the settings of an organization",
		Args:  cli.NeedExactly(1),
		Long: "Replace the settings of an organization with those of FILE, or of stdin for -. FILE is TOML or\n" +
			"JSON. It is checked as a whole before anything is sent. The account needs the permission\n" +
			"settings:write. What changes is asked about; off a terminal it needs --yes. Each Desk has the\n" +
			"new settings within minutes.\n\n" +
			"Some settings say who may be called, and the queue keeps to them at once. require_opt_in =\n" +
			"[\"winback\"] names types of calls that need an opt-in. years_after_end = 3 ends calls so long\n" +
			"after the last pledge. country = \"NL\" gives calls in calling hours only. [calling_hours.NL] has\n" +
			"weekday, saturday and sunday: \"09:00-21:00\", \"00:00-24:00\", or \"-\" for no calls. holidays =\n" +
			"[\"-NL\", \"NL:2026-05-05\"] changes the public holidays.\n\n" +
			"get writes the line \"# revision\" into the file (JSON: _revision). If the settings were changed\n" +
			"since then, set changes nothing and ends with exit code 6. A file without a revision replaces\n" +
			"what is there.",
		Example: "  fundesk queue settings set settings.toml\n  fundesk queue settings set - --yes < settings.toml",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := s.ReadInput(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			is, revision, err := floorfile.Read(text)
			if problems, ok := errors.AsType[floorfile.Problems](err); ok && len(problems) > 0 {
				name := inputName(args[0])
				return cli.UsageError("nothing was sent, "+name+" has problems: "+problems[0], problems...)
			}
			if err != nil {
				return err
			}
			if reflect.ValueOf(is).IsZero() {
				return hasNoSetting(args[0])
			}
			if organization != nil {
				is.UUID = *organization
			}
			return setSettings(s, cmd, is, revision, yes, dryRun)
		},
	}
	cmd.Flags().
		Var(cli.UUIDValue(&organization), "organization", "organization of the settings (default: that of the file, "+
			"else the only one)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the request and send nothing")
	cli.OnPage(cmd, "changes", "yes", "dry-run")
	return cmd
}

// inputName returns the name of a file for people.
func inputName(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// hasNoSetting refuses an empty file: it is more often what a failed command left than a wish to remove all settings.
func hasNoSetting(file string) error {
	return cli.WithHint(
		cli.UsageError(inputName(file)+" has no setting: nothing was sent"),
		"to remove all settings, name the organization in the file: organization = \"UUID\"",
	)
}

// setSettings replaces an organization's settings, unless they changed since the file was made.
func setSettings(
	s *cli.Session,
	cmd *cobra.Command,
	is apitype.OrganizationSettings,
	revision string,
	yes, dryRun bool,
) error {
	if dryRun && is.UUID != (apitype.UUID{}) {
		return printSettings(s, is)
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	current, _, err := client.Settings(cmd.Context(), "")
	if err != nil {
		return err
	}
	was, err := settingsOf(current, is.UUID, "add --organization UUID")
	if err != nil {
		return err
	}
	is.UUID = was.UUID
	if dryRun {
		return printSettings(s, is)
	}
	changes := differences(was, is)
	if len(changes) == 0 {
		s.Note("the organization has these settings already")
		return nil
	}
	if floorfile.IsStale(revision, was) {
		return cli.WithHint(
			cli.Failure(
				apiclient.KindConflict,
				"the settings of organization %s changed since the file was made: nothing was sent",
				is.UUID,
			),
			"make your change in the current settings: fundesk queue settings get "+is.UUID.String(),
		)
	}
	if err := s.AskChange(
		cmd.Context(),
		yes,
		"change "+strings.Join(changes, ", ")+" of organization "+is.UUID.String(),
		nil,
		1,
	); err != nil {
		return err
	}
	if err := client.SetSettings(cmd.Context(), is, current.ETag); err != nil {
		return err
	}
	s.Note("changed: %s", strings.Join(changes, ", "))
	return nil
}

func printSettings(s *cli.Session, is apitype.OrganizationSettings) error {
	return printRequest(s, http.MethodPut, "/fundesk/v1/settings/"+is.UUID.String(), is)
}

// differences name what two settings differ in, by the keys of the file.
func differences(was, is apitype.OrganizationSettings) []string {
	all := slices.Concat(
		differing("results.", was.Results, is.Results), differing("scripts.", was.Scripts, is.Scripts),
		differing("calling_hours.", was.CallingHours, is.CallingHours),
		differing("required_checks.", was.RequiredChecks, is.RequiredChecks),
		differing("not_reached.", was.NotReached, is.NotReached))
	for _, one := range []struct {
		name    string
		was, is any
	}{
		{"max_attempts", was.MaxCallAttempts, is.MaxCallAttempts},
		{"require_opt_in", slices.Concat(was.RequireOptIn), slices.Concat(is.RequireOptIn)},
		{"years_after_end", was.YearsAfterEnd, is.YearsAfterEnd},
		{"country", was.Country, is.Country},
		{"holidays", slices.Concat(was.Holidays), slices.Concat(is.Holidays)},
	} {
		if !reflect.DeepEqual(one.was, one.is) {
			all = append(all, one.name)
		}
	}
	return all
}

func differing[K ~string, V any](prefix string, was, is map[K]V) []string {
	both := maps.Clone(is)
	if both == nil {
		both = map[K]V{}
	}
	maps.Copy(both, was)
	var all []string
	for _, key := range slices.Sorted(maps.Keys(both)) {
		before, had := was[key]
		now, has := is[key]
		switch {
		case had && !has:
			all = append(all, fmt.Sprintf("%s%s (removed)", prefix, key))
		case !had:
			all = append(all, fmt.Sprintf("%s%s (new)", prefix, key))
		case !reflect.DeepEqual(before, now):
			all = append(all, prefix+string(key))
		}
	}
	return all
}
