package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
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

// refused makes a mistake in the command line of what the service finds not valid.
func refused(err error) error {
	if refusal, ok := errors.AsType[*service.Error](err); ok && refusal.Kind == service.Invalid {
		return usageError{err}
	}
	return err
}

// table writes rows in columns.
func table(w io.Writer, rows [][]string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(columns, strings.Join(cleaned(row), "\t"))
	}
	_ = columns.Flush() // To memory.
}

// tableRow writes a row of a table whose other rows are not known yet.
func tableRow(w io.Writer, row []string) error {
	_, err := fmt.Fprintln(w, strings.Join(cleaned(row), "  "))
	return err
}

// cleaned are cells without what would move them, or the terminal.
func cleaned(row []string) []string {
	cells := make([]string, len(row))
	for i, cell := range row {
		cells[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, cell)
	}
	return cells
}

// parseUUID reads an identifier of the command line.
func parseUUID(what, text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, usage("%s %q %w", what, text, err)
	}
	return id, nil
}

func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: unknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

func (p *program) organizationCommand() *cobra.Command {
	return group("organization", "Add, list and change organizations", p.organizationAdd(), p.organizationList(), p.organizationSet())
}

// organizationView is an organization as it is printed.
type organizationView struct {
	UUID            apitype.UUID `json:"uuid"`
	Name            string       `json:"name"`
	Abbreviation    string       `json:"abbreviation"`
	MaxCallAttempts *int         `json:"maxCallAttempts"`
	CoolingOff      string       `json:"coolingOff"`
}

func viewOrganization(o service.Organization) organizationView {
	return organizationView{o.UUID, o.Name, o.Abbreviation, o.MaxCallAttempts, o.CoolingOff.String()}
}

func (p *program) organizationAdd() *cobra.Command {
	var name, abbreviation, id string
	var attempts int
	var coolingOff time.Duration
	c := &cobra.Command{
		Use:     "add",
		Short:   "Add an organization",
		Example: `  fundeskd organization add --name "Sea Rescue" --abbreviation SR --max-call-attempts 6`,
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
			if id != "" {
				var err error
				if o.UUID, err = parseUUID("--uuid", id); err != nil {
					return err
				}
			}
			return p.with(c.Context(), func(s *service.Service) error {
				o, err := s.AddOrganization(c.Context(), o)
				if err != nil {
					return refused(fmt.Errorf("add the organization: %w", err))
				}
				return p.print(viewOrganization(o), func(w io.Writer) { fmt.Fprintln(w, o.UUID) })
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&name, "name", "", "`name` of the organization")
	flags.StringVar(&abbreviation, "abbreviation", "", "short `name`, as on a screen")
	flags.StringVar(&id, "uuid", "", "`uuid` (default: a new one)")
	flags.IntVar(&attempts, "max-call-attempts", 0, "at most `N` attempts of one call (default: any number)")
	flags.DurationVar(&coolingOff, "cooling-off", service.DefaultCoolingOff, "time from a pledge's creation to its release")
	return c
}

func (p *program) organizationList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List organizations",
		Example: "  fundeskd organization list -o json",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.with(c.Context(), func(s *service.Service) error {
				organizations, err := s.Organizations(c.Context())
				if err != nil {
					return err
				}
				views, rows := make([]organizationView, len(organizations)), make([][]string, len(organizations))
				for i, o := range organizations {
					views[i] = viewOrganization(o)
					rows[i] = []string{o.UUID.String(), o.Abbreviation, o.Name}
				}
				return p.print(views, func(w io.Writer) { table(w, rows) })
			})
		},
	}
}

func (p *program) organizationSet() *cobra.Command {
	var attempts int
	var unlimited bool
	var coolingOff time.Duration
	c := &cobra.Command{
		Use:   "set UUID",
		Short: "Change the settings of an organization",
		Long: "Set changes what is named. A maximum of attempts counts at once, for the calls that wait too; a\n" +
			"cooling-off is that of pledges made from now on. Names stay: they stand in the records.",
		Example: "  fundeskd organization set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --max-call-attempts 8",
		Args:    exactly("UUID"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseUUID("organization", args[0])
			if err != nil {
				return err
			}
			limited, cooled := c.Flags().Changed("max-call-attempts"), c.Flags().Changed("cooling-off")
			if limited && unlimited || !limited && !unlimited && !cooled {
				return usage("use --max-call-attempts N or --any-call-attempts, --cooling-off, or both")
			}
			p.existing = true
			return p.with(c.Context(), func(s *service.Service) error {
				o, err := s.SetOrganization(c.Context(), id, func(o *service.Organization) {
					if limited {
						o.MaxCallAttempts = &attempts
					}
					if unlimited {
						o.MaxCallAttempts = nil
					}
					if cooled {
						o.CoolingOff = coolingOff
					}
				})
				if err != nil {
					return refused(fmt.Errorf("change the organization: %w", err))
				}
				return p.print(viewOrganization(o), func(w io.Writer) { fmt.Fprintln(w, "changed", o.UUID) })
			})
		},
	}
	flags := c.Flags()
	flags.IntVar(&attempts, "max-call-attempts", 0, "at most `N` attempts of one call")
	flags.BoolVar(&unlimited, "any-call-attempts", false, "any number of attempts of one call")
	flags.DurationVar(&coolingOff, "cooling-off", 0, "time from a pledge's creation to its release")
	return c
}

func (p *program) accountCommand() *cobra.Command {
	return group("account", "Add, list, change and revoke accounts", p.accountAdd(), p.accountList(), p.accountSet(), p.accountRevoke())
}

// accountView is an account as it is printed. Token only when it was just issued.
type accountView struct {
	UUID             apitype.UUID         `json:"uuid"`
	Name             string               `json:"name"`
	Token            string               `json:"token,omitempty"`
	ExpiresAt        *apitype.Time        `json:"expiresAt,omitempty"`
	Permissions      []service.Permission `json:"permissions"`
	AllOrganizations bool                 `json:"allOrganizations"`
	Organizations    []apitype.UUID       `json:"organizations"`
	ExternalSources  []string             `json:"externalSources"`
	CreatedAt        apitype.Time         `json:"createdAt"`
	RevokedAt        *apitype.Time        `json:"revokedAt"`
}

func viewAccount(a service.Account) accountView {
	return accountView{
		UUID: a.UUID, Name: a.Name, Permissions: append([]service.Permission{}, a.Permissions...),
		AllOrganizations: a.Scope.All, Organizations: append([]apitype.UUID{}, a.Scope.Organizations...),
		ExternalSources: append([]string{}, a.ExternalSources...), CreatedAt: a.CreatedAt, RevokedAt: a.RevokedAt,
	}
}

// defaultTTL is how long a token is valid when nothing is said: 90 days.
const defaultTTL = 2160 * time.Hour

// accountFlags are the settings of an account on a command line.
type accountFlags struct {
	organizations, permissions, sources []string
	all                                 bool
}

func (f *accountFlags) add(c *cobra.Command, unset string) {
	flags := c.Flags()
	flags.StringSliceVar(&f.organizations, "organization", nil, "`uuid` of an organization whose records it sees (repeatable)")
	flags.BoolVar(&f.all, "all-organizations", false, "it sees the records of all organizations")
	flags.StringSliceVar(&f.permissions, "permission", nil, "`name` of a permission (repeatable; default: "+unset+")")
	flags.StringArrayVar(&f.sources, "external-source", nil, "`name` that its processed entries may carry (repeatable)")
}

// set gives an account what the flags name; a list that is named is the whole list.
func (f *accountFlags) set(c *cobra.Command, account *service.Account) error {
	for name, values := range map[string][]string{"permission": f.permissions, "organization": f.organizations, "external-source": f.sources} {
		if c.Flags().Changed(name) && (len(values) == 0 || slices.Contains(values, "")) {
			return usage("--%s is empty", name) // A variable without a value must not give all permissions.
		}
	}
	if f.all || len(f.organizations) > 0 {
		account.Scope = service.Scope{All: f.all}
	}
	for _, text := range f.organizations {
		id, err := parseUUID("--organization", text)
		if err != nil {
			return err
		}
		account.Scope.Organizations = append(account.Scope.Organizations, id)
	}
	if len(f.permissions) > 0 {
		account.Permissions = nil
	}
	for _, name := range f.permissions {
		if permission := service.Permission(name); !slices.Contains(account.Permissions, permission) {
			account.Permissions = append(account.Permissions, permission)
		}
	}
	if len(f.sources) > 0 {
		account.ExternalSources = f.sources
	}
	return nil
}

var errWhichOrganizations = usage("use --organization UUID, once or more, or --all-organizations")

func (p *program) accountAdd() *cobra.Command {
	var f accountFlags
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add an account and print its token",
		Long:  "Add makes an account for a person or a program, and prints its bearer token. Without --permission it\nhas all permissions: " + permissionNames() + ".",
		Example: "  fundeskd account add \"call centre\" --all-organizations\n" +
			"  fundeskd account add dashboard --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --permission calls:read --ttl 720h",
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.all == (len(f.organizations) > 0) {
				return errWhichOrganizations
			}
			account := service.Account{Name: args[0], Permissions: service.Permissions}
			if err := f.set(c, &account); err != nil {
				return err
			}
			return p.with(c.Context(), func(s *service.Service) error { return p.addAccount(c.Context(), s, account, ttl) })
		},
	}
	f.add(c, "all")
	c.Flags().DurationVar(&ttl, "ttl", defaultTTL, "how long the token is valid")
	return c
}

func (p *program) accountSet() *cobra.Command {
	var f accountFlags
	var name string
	c := &cobra.Command{
		Use:   "set UUID",
		Short: "Change what an account may do, and on whose records",
		Long: "Set changes what is named, from the next request on; its tokens stay good. A list that is named is the\n" +
			"whole list afterwards. Permissions: " + permissionNames() + ".",
		Example: "  fundeskd account set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --permission calls:read --permission persons:read",
		Args:    exactly("UUID"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseUUID("account", args[0])
			if err != nil {
				return err
			}
			if f.all && len(f.organizations) > 0 {
				return errWhichOrganizations
			}
			if c.Flags().NFlag() == c.InheritedFlags().NFlag() {
				return usage("nothing is named to be changed; see: %s --help", c.CommandPath())
			}
			if err := f.set(c, new(service.Account)); err != nil { // Before anything is opened.
				return err
			}
			p.existing = true
			return p.with(c.Context(), func(s *service.Service) error {
				account, err := s.SetAccount(c.Context(), id, func(account *service.Account) error {
					if c.Flags().Changed("name") {
						account.Name = name
					}
					return f.set(c, account)
				})
				if err != nil {
					return refused(fmt.Errorf("change the account: %w", err))
				}
				return p.print(viewAccount(account), func(w io.Writer) { fmt.Fprintln(w, account.UUID) })
			})
		},
	}
	f.add(c, "as it is")
	c.Flags().StringVar(&name, "name", "", "`name` of the account")
	return c
}

func permissionNames() string {
	names := make([]string, len(service.Permissions))
	for i, permission := range service.Permissions {
		names[i] = string(permission)
	}
	return strings.Join(names, " ")
}

func (p *program) addAccount(ctx context.Context, s *service.Service, account service.Account, ttl time.Duration) error {
	if ttl < time.Second {
		return usage("--ttl must be a second at least")
	}
	account, err := s.AddAccount(ctx, account)
	if err != nil {
		return refused(err)
	}
	token, expires, err := s.IssueToken(ctx, account.UUID, ttl)
	if err != nil {
		return err
	}
	view := viewAccount(account)
	view.Token, view.ExpiresAt = token, &expires
	return p.print(view, func(w io.Writer) { fmt.Fprintln(w, token) })
}

func (p *program) accountList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List accounts",
		Example: "  fundeskd account list",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.with(c.Context(), func(s *service.Service) error {
				accounts, err := s.Accounts(c.Context())
				if err != nil {
					return err
				}
				views, rows := make([]accountView, len(accounts)), make([][]string, len(accounts))
				for i, a := range accounts {
					views[i] = viewAccount(a)
					state := "active"
					if a.RevokedAt != nil {
						state = "revoked"
					}
					rows[i] = []string{a.UUID.String(), state, a.Name}
				}
				return p.print(views, func(w io.Writer) { table(w, rows) })
			})
		},
	}
}

func (p *program) accountRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke UUID",
		Short:   "Revoke an account: its tokens are refused from the next request on",
		Example: "  fundeskd account revoke 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		Args:    exactly("UUID"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseUUID("account", args[0])
			if err != nil {
				return err
			}
			p.existing = true
			return p.with(c.Context(), func(s *service.Service) error {
				account, err := s.RevokeAccount(c.Context(), id)
				if err != nil {
					return fmt.Errorf("revoke the account: %w", err)
				}
				return p.print(viewAccount(account), func(w io.Writer) { fmt.Fprintln(w, "revoked", account.UUID) })
			})
		},
	}
}

func (p *program) tokenCommand() *cobra.Command {
	return group("token", "Issue tokens", p.tokenIssue())
}

func (p *program) tokenIssue() *cobra.Command {
	var ttl time.Duration
	c := &cobra.Command{
		Use:     "issue ACCOUNT-UUID",
		Short:   "Issue a new token of an account",
		Example: "  fundeskd token issue 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --ttl 24h",
		Args:    exactly("ACCOUNT-UUID"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseUUID("account", args[0])
			if err != nil {
				return err
			}
			if ttl < time.Second {
				return usage("--ttl must be a second at least")
			}
			p.existing = true
			return p.with(c.Context(), func(s *service.Service) error {
				token, expires, err := s.IssueToken(c.Context(), id, ttl)
				if err != nil {
					return fmt.Errorf("issue a token: %w", err)
				}
				view := struct {
					Token     string       `json:"token"`
					Account   apitype.UUID `json:"account"`
					ExpiresAt apitype.Time `json:"expiresAt"`
				}{token, id, expires}
				return p.print(view, func(w io.Writer) { fmt.Fprintln(w, token) })
			})
		},
	}
	c.Flags().DurationVar(&ttl, "ttl", defaultTTL, "how long the token is valid")
	return c
}
