package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/floorfile"
	"fundesk/service"
)

type organizationView struct {
	UUID            apitype.UUID `json:"uuid"`
	Name            string       `json:"name"`
	Abbreviation    string       `json:"abbreviation"`
	MaxCallAttempts *int         `json:"maxCallAttempts"`
	CoolingOff      string       `json:"coolingOff"`
	Country         *string      `json:"country"`

	isUnchanged bool // organization set found everything as it was to be.
}

func viewOrganization(o service.Organization) organizationView {
	view := organizationView{
		UUID:            o.UUID,
		Name:            o.Name,
		Abbreviation:    o.Abbreviation,
		MaxCallAttempts: o.MaxCallAttempts,
		CoolingOff:      o.CoolingOff.String(),
	}
	if o.Settings != nil && o.Settings.Country != "" {
		view.Country = &o.Settings.Country
	}
	return view
}

func (o organizationView) cells() []string {
	return []string{o.UUID.String(), o.Abbreviation, o.Name, *cmp.Or(o.Country, new("any hour"))}
}

// printChanged prints whether a record was changed.
func printChanged(w io.Writer, id apitype.UUID, isUnchanged bool) {
	what := "changed"
	if isUnchanged {
		what = "unchanged"
	}
	fmt.Fprintln(w, what, id)
}

// countryFlag adds --country, which takes capital and small letters.
func countryFlag(flags *pflag.FlagSet, to *string, help string) {
	parse := func(text string) (string, error) {
		country := strings.ToUpper(text)
		problem := apitype.CheckCountryCode(country)
		if problem != "" {
			return "", fmt.Errorf("%s", problem)
		}
		return country, nil
	}
	flags.Var(&flagValue[string]{to: to, parse: parse}, "country", help)
}

// anyHourHint warns of an organization without a country.
const anyHourHint = "fundeskd: without a country, calls of this organization are given at any hour; set one with: " +
	"fundeskd organization set %s --country NL\n"

func (p *program) organizationAdd() *cobra.Command {
	var o service.Organization
	var id *apitype.UUID
	var country string
	var attempts int
	return operation[organizationView]{
		use:   "add",
		short: "Add an organization",
		long: "With a country, calls are given in the calling hours of the donor's country, and\n" +
			"not on its public holidays. Without one they are given at any hour.",
		example: `  fundeskd organization add --name "Sea Rescue" --abbreviation SR --country NL --max-call-attempts 6`,
		flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&o.Name, "name", "", "`name` of the organization")
			flags.StringVar(&o.Abbreviation, "abbreviation", "", "short `name`, as on a screen")
			uuidFlag(flags, &id, "uuid", "`uuid` (default: a new one)")
			countryFlag(flags, &country, "calling hours of this `country`, such as NL (default: any hour)")
			flags.IntVar(&attempts, "max-call-attempts", 0, "at most `N` attempts of one call (default: any number)")
			flags.DurationVar(&o.CoolingOff, "cooling-off", service.DefaultCoolingOff,
				"time from a pledge's creation to its release")
		},
		check: func(_ context.Context, flags *pflag.FlagSet) error {
			if o.Name == "" || o.Abbreviation == "" {
				return usage("--name and --abbreviation are needed")
			}
			if flags.Changed("max-call-attempts") {
				o.MaxCallAttempts = &attempts
			}
			if id != nil {
				o.UUID = *id
			}
			if country != "" {
				o.Settings = &apitype.OrganizationSettings{Country: country}
			}
			return nil
		},
		access:  access{create: true},
		failure: "add the organization",
		run: func(ctx context.Context, s *service.Service) (organizationView, error) {
			added, err := s.AddOrganization(ctx, o)
			if err != nil {
				return organizationView{}, err
			}
			if added.Settings == nil {
				fmt.Fprintf(p.Err, anyHourHint, added.UUID)
			}
			return viewOrganization(added), nil
		},
		text: func(w io.Writer, o organizationView) { fmt.Fprintln(w, o.UUID) },
	}.command(p)
}

func (p *program) organizationList() *cobra.Command {
	return recordList[service.Organization, organizationView]{
		use:     "list",
		short:   "List organizations",
		example: "  fundeskd organization list -o json",
		all: func(ctx context.Context, s *service.Service) ([]service.Organization, error) {
			return s.Organizations(ctx)
		},
		view:  viewOrganization,
		cells: organizationView.cells,
	}.command(p)
}

// organizationChange holds the flags of organization set. A nil field stays unchanged.
type organizationChange struct {
	settings    *apitype.OrganizationSettings // From --settings.
	maxAttempts *int
	coolingOff  *time.Duration
	country     *string // Empty removes it.
	anyAttempts bool
}

// apply changes an organization. A settings file replaces all settings, but keeps the maximum and the country if it has
// none.
func (c *organizationChange) apply(o *service.Organization) {
	if c.settings != nil {
		country := cmp.Or(c.settings.Country, o.Settings.Country)
		o.Settings = new(*c.settings)
		o.Settings.Country = country
		o.MaxCallAttempts = cmp.Or(c.settings.MaxCallAttempts, o.MaxCallAttempts)
	}
	if c.country != nil {
		o.Settings.Country = *c.country
	}
	if c.maxAttempts != nil {
		o.MaxCallAttempts = c.maxAttempts
	}
	if c.anyAttempts {
		o.MaxCallAttempts = nil
	}
	if c.coolingOff != nil {
		o.CoolingOff = *c.coolingOff
	}
}

func (p *program) organizationSet() *cobra.Command {
	var (
		id         apitype.UUID
		change     organizationChange
		attempts   int
		coolingOff time.Duration
		country    string
		anyHour    bool
		file       string
		revision   string // Of the file.
	)
	return operation[organizationView]{
		use:   "set UUID",
		short: "Change the settings of an organization",
		long: "Set changes what you name. A maximum of attempts applies at once, also to calls\n" +
			"that wait. A cooling-off applies to pledges made from now on. Names do not\n" +
			"change, because records hold them. A file of settings replaces the results,\n" +
			"scripts and calling hours of the agents as a whole, and the maximum and the\n" +
			"country if it has max_attempts and country. It is TOML with the keys of a\n" +
			"profile, or the JSON of GET /fundesk/v1/settings. A file of fundesk queue\n" +
			"settings get is refused if the settings changed since. With a country, calls are\n" +
			"given in the calling hours of the donor's country, and not on its public\n" +
			"holidays.",
		example: "  fundeskd organization set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --max-call-attempts 8\n" +
			"  fundeskd organization set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --country NL\n" +
			"  fundeskd organization set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --settings floor.toml",
		args: []argument{uuidArgument("UUID", "organization", &id)},
		flags: func(flags *pflag.FlagSet) {
			flags.IntVar(&attempts, "max-call-attempts", 0, "at most `N` attempts of one call")
			flags.BoolVar(&change.anyAttempts, "any-call-attempts", false, "any number of attempts of one call")
			flags.DurationVar(&coolingOff, "cooling-off", 0, "time from a pledge's creation to its release")
			countryFlag(flags, &country, "calling hours of this `country`, such as NL")
			flags.BoolVar(&anyHour, "any-hour", false, "no country: calls are given at any hour")
			flags.StringVar(&file, "settings", "", "`FILE` of results, scripts and calling hours; - is stdin")
		},
		check: func(ctx context.Context, flags *pflag.FlagSet) (err error) {
			if flags.Changed("max-call-attempts") {
				change.maxAttempts = &attempts
			}
			if flags.Changed("cooling-off") {
				change.coolingOff = &coolingOff
			}
			if flags.Changed("country") || anyHour {
				change.country = &country
			}
			hasAny := change != organizationChange{} || file != ""
			isTwice := change.maxAttempts != nil && change.anyAttempts || country != "" && anyHour
			if !hasAny || isTwice {
				return usage(
					"use --max-call-attempts N or --any-call-attempts, --country C or --any-hour, --cooling-off, " +
						"--settings FILE, or several",
				)
			}
			if file == "" {
				return nil
			}
			text, err := p.readFile(ctx, file)
			if err != nil {
				return usageError{err}
			}
			change.settings, revision, err = parseSettings(text, file, id)
			return err
		},
		failure: "change the organization",
		run: func(ctx context.Context, s *service.Service) (organizationView, error) {
			var before service.Organization
			var isRefused bool
			o, err := s.SetOrganization(ctx, id, func(o *service.Organization) {
				before = *o
				before.Settings = new(*o.Settings)
				change.apply(o)
				isSameMaximum := reflect.DeepEqual(before.MaxCallAttempts, o.MaxCallAttempts)
				isChange := len(before.Settings.Changed(*o.Settings)) > 0 || !isSameMaximum
				isRefused = isChange && floorfile.IsStale(revision, *before.Settings)
				if isRefused {
					*o = before
				}
			})
			if err != nil {
				return organizationView{}, err
			}
			if isRefused {
				return organizationView{}, fmt.Errorf("the settings changed since the file was made, and stay as they "+
					"are; make your change in the current ones: fundesk queue settings get %s", id)
			}
			view := viewOrganization(o)
			isSame := reflect.DeepEqual(view, viewOrganization(before))
			view.isUnchanged = isSame && len(before.Settings.Changed(*o.Settings)) == 0
			return view, nil
		},
		text: func(w io.Writer, o organizationView) { printChanged(w, o.UUID, o.isUnchanged) },
	}.command(p)
}

// parseSettings reads the text of a settings file for an organization, and its revision.
func parseSettings(text []byte, file string, of apitype.UUID) (*apitype.OrganizationSettings, string, error) {
	settings, revision, err := floorfile.Read(text)
	if err != nil {
		return nil, "", usage("the settings of %s are not valid: %w", file, err)
	}
	if !settings.UUID.IsZero() && settings.UUID != of {
		return nil, "", usage("%s has the settings of the organization %s, not of %s", file, settings.UUID, of)
	}
	return &settings, revision, nil
}

// readFile reads a whole file, or stdin for "-".
func (p *program) readFile(ctx context.Context, name string) ([]byte, error) {
	if name != "-" {
		return os.ReadFile(name)
	}
	var text []byte
	err := untilInterrupted(ctx, func() (err error) {
		text, err = io.ReadAll(p.In)
		return err
	})
	return text, err
}
