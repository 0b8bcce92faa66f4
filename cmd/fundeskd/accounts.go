package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

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

type accountFlags struct {
	organizations, permissions, sources []string
	role                                string
	all                                 bool
}

func (f *accountFlags) add(c *cobra.Command, unset string) {
	flags := c.Flags()
	flags.StringSliceVar(&f.organizations, "organization", nil, "`uuid` of an organization whose records it sees (repeatable)")
	flags.BoolVar(&f.all, "all-organizations", false, "it sees the records of all organizations")
	flags.StringVar(&f.role, "role", "", "`name` of a role, whose permissions it gets: "+roleNames())
	flags.StringSliceVar(&f.permissions, "permission", nil, "`name` of a permission, beyond those of --role (repeatable; default: "+unset+")")
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
	role, isRole := service.RoleNamed(f.role)
	if c.Flags().Changed("role") && !isRole {
		return usage("there is no role %q; there are %s", f.role, roleNames())
	}
	if isRole || len(f.permissions) > 0 {
		account.Permissions = slices.Clone(role.Permissions)
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
		Long: "Add makes an account for a person or a program, and prints its bearer\ntoken. " +
			"A role has what one kind of work needs:\n\n" + roleTable() + "\n" +
			"Without --role and --permission it has all of these:\n\n  " + strings.ReplaceAll(permissionNames(), " ", "\n  ") + "\n\n" +
			"These have to be named, or come with a role:\n\n  " + namedPermissions(),
		Example: "  fundeskd account add \"call centre\" --all-organizations --role agent\n" +
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
			if ttl < time.Second {
				return usage("--ttl must be a second at least")
			}
			return answer(c.Context(), p, "", func(s *service.Service) (view accountView, err error) {
				if account, err = s.AddAccount(c.Context(), account); err != nil {
					return view, err
				}
				token, expires, err := s.IssueToken(c.Context(), account.UUID, ttl)
				view = viewAccount(account)
				view.Token, view.ExpiresAt = token, &expires
				return view, err
			}, func(w io.Writer, a accountView) { fmt.Fprintln(w, a.Token) })
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
		Long: "Set changes what is named, from the next request on; its tokens stay good. A\n" +
			"list that is named is the whole list afterwards. --role and --permission\nreplace all permissions. Roles:\n\n" + roleTable(),
		Example: "  fundeskd account set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --role supervisor\n" +
			"  fundeskd account set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --permission calls:read --permission persons:read",
		Args: exactly("UUID"),
		RunE: about("account", func(c *cobra.Command, id apitype.UUID) error {
			if f.all && len(f.organizations) > 0 {
				return errWhichOrganizations
			}
			if c.Flags().NFlag() == c.InheritedFlags().NFlag() {
				return usage("nothing is named to be changed; see: %s --help", c.CommandPath())
			}
			if err := f.set(c, new(service.Account)); err != nil { // Before anything is opened.
				return err
			}
			return answer(c.Context(), p, "change the account", func(s *service.Service) (accountView, error) {
				account, err := s.SetAccount(c.Context(), id, func(account *service.Account) error {
					if c.Flags().Changed("name") {
						account.Name = name
					}
					return f.set(c, account)
				})
				return viewAccount(account), err
			}, func(w io.Writer, a accountView) { fmt.Fprintln(w, a.UUID) })
		}),
	}
	f.add(c, "as it is")
	c.Flags().StringVar(&name, "name", "", "`name` of the account")
	return c
}

func permissionNames() string {
	return strings.Join(viewed(service.Permissions, func(p service.Permission) string { return string(p) }), " ")
}

// namedPermissions returns the permissions that no account has by default.
func namedPermissions() string {
	return strings.Join(viewed(service.NamedPermissions, func(p service.Permission) string { return string(p) }), ", ")
}

// roleNames returns the names of all roles.
func roleNames() string {
	return strings.Join(viewed(service.Roles, func(r service.Role) string { return r.Name }), ", ")
}

// roleTable returns the roles with their permissions, in lines of at most 80 columns.
func roleTable() string {
	const indent = 14
	var b strings.Builder
	for _, role := range service.Roles {
		line := fmt.Sprintf("  %-*s", indent-2, role.Name)
		for _, permission := range role.Permissions {
			if len(line)+len(permission)+1 > 78 {
				fmt.Fprintln(&b, strings.TrimRight(line, " "))
				line = strings.Repeat(" ", indent)
			}
			line += string(permission) + " "
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}

type listedAccount struct {
	accountView
	LastUsedOn *apitype.Date         `json:"lastUsedOn"` // Of all its tokens, those that have ended too.
	Tokens     []service.IssuedToken `json:"tokens"`     // That are accepted, the oldest first.
}

// listed is an account with its tokens, and when the last of them ends. Of one that is revoked none
// is accepted.
func listed(a service.Account, tokens []service.IssuedToken, now time.Time) listedAccount {
	l := listedAccount{accountView: viewAccount(a), Tokens: []service.IssuedToken{}}
	for _, t := range tokens {
		if t.LastUsedOn != nil && (l.LastUsedOn == nil || l.LastUsedOn.Midnight().Before(t.LastUsedOn.Midnight())) {
			l.LastUsedOn = t.LastUsedOn
		}
		end := t.End()
		if a.RevokedAt != nil || end != nil && !end.After(now) {
			continue
		}
		l.Tokens = append(l.Tokens, t)
		if end != nil && (l.ExpiresAt == nil || end.After(l.ExpiresAt.Time)) {
			l.ExpiresAt = end
		}
	}
	return l
}

func (l listedAccount) row() []string {
	state, ends, used := "active", "no token", "no use known"
	if l.RevokedAt != nil {
		state, ends = "revoked", ""
	}
	for i, t := range l.Tokens {
		if i == 0 {
			ends = "ends "
		} else {
			ends += ", "
		}
		ends += endOf(t)
	}
	if l.LastUsedOn != nil {
		used = "used " + l.LastUsedOn.String()
	}
	return []string{l.UUID.String(), state, ends, used, l.Name}
}

func (p *program) accountList() *cobra.Command {
	c := listCommand(p, "list", "List accounts, when their tokens end, and when they were used last", "  fundeskd account list\n  fundeskd account list -o json",
		func(s *service.Service, ctx context.Context) ([]listedAccount, error) {
			accounts, err := s.Accounts(ctx)
			if err != nil {
				return nil, err
			}
			tokens, err := s.Tokens(ctx)
			of := map[apitype.UUID][]service.IssuedToken{}
			for _, t := range tokens {
				of[t.Account] = append(of[t.Account], t)
			}
			return viewed(accounts, func(a service.Account) listedAccount { return listed(a, of[a.UUID], p.Now()) }), err
		}, func(l listedAccount) listedAccount { return l }, listedAccount.row)
	c.Long = "List prints each account, the days on which its tokens end, and the last day on\n" +
		"which one was used, in UTC. That is known within minutes."
	return c
}

func (p *program) accountRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke UUID",
		Short:   "Revoke an account: its tokens are refused from the next request on",
		Example: "  fundeskd account revoke 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		Args:    exactly("UUID"),
		RunE: about("account", func(c *cobra.Command, id apitype.UUID) error {
			return answer(c.Context(), p, "revoke the account", func(s *service.Service) (accountView, error) {
				account, err := s.RevokeAccount(c.Context(), id)
				return viewAccount(account), err
			}, func(w io.Writer, a accountView) { fmt.Fprintln(w, "revoked", a.UUID) })
		}),
	}
}
