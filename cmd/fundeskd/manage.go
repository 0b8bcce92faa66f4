package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/floorfile"
	"fundesk/service"
)

// print writes an answer: JSON with -o json, else the text.
func (p *program) print(value any, text func(io.Writer)) error {
	if p.output != "json" {
		var all bytes.Buffer
		text(&all)
		_, err := p.Out.Write(all.Bytes())
		return err
	}
	encoder := json.NewEncoder(p.Out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// answer runs a short command on the open service, and prints what came of it. What it did is said
// of what went wrong, where the service does not say it.
func answer[T any](ctx context.Context, p *program, did string, run func(*service.Service) (T, error), text func(io.Writer, T)) error {
	return p.with(ctx, func(s *service.Service) error {
		value, err := run(s)
		if err != nil && did != "" {
			err = fmt.Errorf("%s: %w", did, err)
		}
		if err != nil {
			return refused(err)
		}
		return p.print(value, func(w io.Writer) { text(w, value) })
	})
}

// viewed are all values as they are printed.
func viewed[T, V any](all []T, view func(T) V) []V {
	views := make([]V, len(all))
	for i, one := range all {
		views[i] = view(one)
	}
	return views
}

// refused makes a mistake in the command line of what the service finds not valid.
func refused(err error) error {
	if refusal, ok := errors.AsType[*service.Error](err); ok && refusal.Kind == service.Invalid {
		return usageError{err}
	}
	return err
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func table[T any](w io.Writer, all []T, cells func(T) []string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, one := range all {
		fmt.Fprintln(columns, strings.Join(cleaned(cells(one)), "\t"))
	}
	_ = columns.Flush() // To memory.
}

// cleaned returns cells that move neither each other nor the terminal.
func cleaned(row []string) []string {
	cells := make([]string, len(row))
	for i, cell := range row {
		cells[i] = printable(cell)
	}
	return cells
}

// printable returns a text on one line, with a sign in place of each control, bidirectional or invisible character.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, text)
}

func parseUUID(what, text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, usage("%s %q %w", what, text, err)
	}
	return id, nil
}

// about runs a command with the identifier that is its argument.
func about(what string, run func(*cobra.Command, apitype.UUID) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		id, err := parseUUID(what, args[0])
		if err != nil {
			return err
		}
		return run(c, id)
	}
}

func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: unknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

// listCommand prints all records of a kind, each as a view.
func listCommand[T, V any](p *program, use, short, example string, all func(*service.Service, context.Context) ([]T, error), view func(T) V, cells func(V) []string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return answer(c.Context(), p, "", func(s *service.Service) ([]V, error) {
				found, err := all(s, c.Context())
				return viewed(found, view), err
			}, func(w io.Writer, all []V) { table(w, all, cells) })
		},
	}
}

type organizationView struct {
	UUID            apitype.UUID `json:"uuid"`
	Name            string       `json:"name"`
	Abbreviation    string       `json:"abbreviation"`
	MaxCallAttempts *int         `json:"maxCallAttempts"`
	CoolingOff      string       `json:"coolingOff"`
	Country         *string      `json:"country"`
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

// atAnyHour is said of an organization without a country.
const atAnyHour = "without a country, calls of this organization are given at any hour; set one with: " +
	"fundeskd organization set %s --country NL\n"

// countryOf reads the country of an organization, in capital or small letters.
func countryOf(text string) (string, error) {
	country := strings.ToUpper(text)
	if problem := apitype.CheckCountryCode(country); problem != "" {
		return "", usage("--country %q %s", text, problem)
	}
	return country, nil
}

func (p *program) organizationAdd() *cobra.Command {
	var name, abbreviation, id, country string
	var attempts int
	var coolingOff time.Duration
	c := &cobra.Command{
		Use:   "add",
		Short: "Add an organization",
		Long: "With a country, calls are given in the calling hours of the donor's country, and\n" +
			"not on its public holidays. Without one they are given at any hour.",
		Example: `  fundeskd organization add --name "Sea Rescue" --abbreviation SR --country NL --max-call-attempts 6`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			o := service.Organization{CoolingOff: coolingOff}
			o.Name, o.Abbreviation = name, abbreviation
			if name == "" || abbreviation == "" {
				return usage("--name and --abbreviation are needed")
			}
			if c.Flags().Changed("max-call-attempts") {
				o.MaxCallAttempts = &attempts
			}
			if chosen, err := optionalUUID("--uuid", id); err != nil {
				return err
			} else if chosen != nil {
				o.UUID = *chosen
			}
			if c.Flags().Changed("country") {
				code, err := countryOf(country)
				if err != nil {
					return err
				}
				o.Settings = &apitype.OrganizationSettings{Country: code}
			}
			return answer(c.Context(), p, "add the organization", func(s *service.Service) (organizationView, error) {
				o, err := s.AddOrganization(c.Context(), o)
				if err == nil && o.Settings == nil {
					fmt.Fprintf(p.Err, "fundeskd: "+atAnyHour, o.UUID)
				}
				return viewOrganization(o), err
			}, func(w io.Writer, o organizationView) { fmt.Fprintln(w, o.UUID) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&name, "name", "", "`name` of the organization")
	flags.StringVar(&abbreviation, "abbreviation", "", "short `name`, as on a screen")
	flags.StringVar(&id, "uuid", "", "`uuid` (default: a new one)")
	flags.StringVar(&country, "country", "", "calling hours of this `country`, such as NL (default: any hour)")
	flags.IntVar(&attempts, "max-call-attempts", 0, "at most `N` attempts of one call (default: any number)")
	flags.DurationVar(&coolingOff, "cooling-off", service.DefaultCoolingOff, "time from a pledge's creation to its release")
	return c
}

func (p *program) organizationList() *cobra.Command {
	return listCommand(p, "list", "List organizations", "  fundeskd organization list -o json", (*service.Service).Organizations, viewOrganization,
		func(o organizationView) []string {
			return []string{o.UUID.String(), o.Abbreviation, o.Name, *cmp.Or(o.Country, new("any hour"))}
		})
}

// organizationChange is what the flags of organization set change.
type organizationChange struct {
	attempts   int
	unlimited  bool
	coolingOff time.Duration
	country    string
	anyHour    bool
	file       string
	settings   *apitype.OrganizationSettings // Of the file.

	hasAttempts, hasCoolingOff, hasCountry bool // The flag was given.
}

// check refuses flags that change nothing, or exclude each other, and reads the country.
func (c *organizationChange) check() (err error) {
	hasAny := c.hasAttempts || c.unlimited || c.hasCoolingOff || c.hasCountry || c.anyHour || c.file != ""
	isTwice := c.hasAttempts && c.unlimited || c.hasCountry && c.anyHour
	if !hasAny || isTwice {
		return usage("use --max-call-attempts N or --any-call-attempts, --country C or --any-hour, --cooling-off, " +
			"--settings FILE, or several")
	}
	if c.hasCountry {
		c.country, err = countryOf(c.country)
	}
	return err
}

// apply changes an organization, which has its settings as they are. Those of a file replace them, but for the maximum
// and the country where the file has none.
func (c *organizationChange) apply(o *service.Organization) {
	if c.settings != nil {
		country := cmp.Or(c.settings.Country, o.Settings.Country)
		o.Settings = new(*c.settings)
		o.Settings.Country = country
		o.MaxCallAttempts = cmp.Or(c.settings.MaxCallAttempts, o.MaxCallAttempts)
	}
	if c.hasCountry || c.anyHour {
		o.Settings.Country = c.country
	}
	if c.hasAttempts {
		o.MaxCallAttempts = &c.attempts
	}
	if c.unlimited {
		o.MaxCallAttempts = nil
	}
	if c.hasCoolingOff {
		o.CoolingOff = c.coolingOff
	}
}

func (p *program) organizationSet() *cobra.Command {
	var change organizationChange
	c := &cobra.Command{
		Use:   "set UUID",
		Short: "Change the settings of an organization",
		Long: "Set changes what is named. A maximum of attempts counts at once, for the calls\n" +
			"that wait too; a cooling-off is that of pledges made from now on. Names stay:\n" +
			"they stand in the records. A file of settings replaces the results, scripts and\n" +
			"calling hours of the agents as a whole, and the maximum and the country where it\n" +
			"has max_attempts and country. It is TOML with the keys of a profile, or the JSON\n" +
			"of GET /fundesk/v1/settings. With a country, calls are given in the calling\n" +
			"hours of the donor's country, and not on its public holidays.",
		Example: "  fundeskd organization set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --max-call-attempts 8\n" +
			"  fundeskd organization set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --country NL\n" +
			"  fundeskd organization set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --settings floor.toml",
		Args: exactly("UUID"),
		RunE: about("organization", func(c *cobra.Command, id apitype.UUID) (err error) {
			change.hasAttempts = c.Flags().Changed("max-call-attempts")
			change.hasCoolingOff = c.Flags().Changed("cooling-off")
			change.hasCountry = c.Flags().Changed("country")
			if err := change.check(); err != nil {
				return err
			}
			if change.settings, err = p.readSettings(change.file, id); err != nil {
				return err
			}
			return answer(c.Context(), p, "change the organization", func(s *service.Service) (organizationView, error) {
				o, err := s.SetOrganization(c.Context(), id, change.apply)
				return viewOrganization(o), err
			}, func(w io.Writer, o organizationView) { fmt.Fprintln(w, "changed", o.UUID) })
		}),
	}
	flags := c.Flags()
	flags.IntVar(&change.attempts, "max-call-attempts", 0, "at most `N` attempts of one call")
	flags.BoolVar(&change.unlimited, "any-call-attempts", false, "any number of attempts of one call")
	flags.DurationVar(&change.coolingOff, "cooling-off", 0, "time from a pledge's creation to its release")
	flags.StringVar(&change.country, "country", "", "calling hours of this `country`, such as NL")
	flags.BoolVar(&change.anyHour, "any-hour", false, "no country: calls are given at any hour")
	flags.StringVar(&change.file, "settings", "", "`FILE` of results, scripts and calling hours; - is stdin")
	return c
}

// readSettings reads a file of settings for an organization whole; nil: none is named.
func (p *program) readSettings(file string, of apitype.UUID) (*apitype.OrganizationSettings, error) {
	var text []byte
	var err error
	switch file {
	case "":
		return nil, nil
	case "-":
		text, err = io.ReadAll(p.In)
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, usageError{err}
	}
	settings, err := floorfile.Read(text)
	if err != nil {
		return nil, usage("the settings of %s are not valid: %w", file, err)
	}
	if !settings.UUID.IsZero() && settings.UUID != of {
		return nil, usage("%s has the settings of the organization %s, not of %s", file, settings.UUID, of)
	}
	return &settings, nil
}
