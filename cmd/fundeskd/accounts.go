package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// accountView is an account as it is printed.
type accountView struct {
	UUID             apitype.UUID         `json:"uuid"`
	Name             string               `json:"name"`
	Token            string               `json:"token,omitempty"` // Only of a new account.
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
		UUID:             a.UUID,
		Name:             a.Name,
		Permissions:      append([]service.Permission{}, a.Permissions...),
		AllOrganizations: a.Scope.All,
		Organizations:    append([]apitype.UUID{}, a.Scope.Organizations...),
		ExternalSources:  append([]string{}, a.ExternalSources...),
		CreatedAt:        a.CreatedAt,
		RevokedAt:        a.RevokedAt,
	}
}

// defaultTokenLife is the default of --ttl: 90 days.
const defaultTokenLife = 2160 * time.Hour

func addTokenLife(flags *pflag.FlagSet, ttl *time.Duration) {
	flags.DurationVar(ttl, "ttl", defaultTokenLife, "how long the token is valid")
	flags.Lookup("ttl").DefValue = "2160h" // Help shows it without minutes.
}

// accountFlags are the flags of account add and account set.
type accountFlags struct {
	organizations []string
	permissions   []string
	sources       []string
	role          string
	all           bool

	ids []apitype.UUID // Of organizations, after check.
}

func (f *accountFlags) add(flags *pflag.FlagSet, unset string) {
	flags.StringSliceVar(&f.organizations, "organization", nil,
		"`uuid` of an organization whose records it sees (repeatable)")
	flags.BoolVar(&f.all, "all-organizations", false, "it sees the records of all organizations")
	flags.StringVar(&f.role, "role", "", "give it the permissions of the role of this `name`: "+roleNames())
	flags.StringSliceVar(&f.permissions, "permission", nil,
		"`name` of a permission, beyond those of --role (repeatable; default: "+unset+")")
	flags.StringArrayVar(&f.sources, "external-source", nil,
		"`name` that its processed entries may carry (repeatable)")
}

// check refuses empty lists and unknown values. A shell variable without a value must not give all permissions.
func (f *accountFlags) check(flags *pflag.FlagSet) error {
	for name, values := range map[string][]string{
		"permission":      f.permissions,
		"organization":    f.organizations,
		"external-source": f.sources,
	} {
		isEmpty := len(values) == 0 || slices.Contains(values, "")
		if flags.Changed(name) && isEmpty {
			return usage("--%s is empty", name)
		}
	}
	for _, text := range f.organizations {
		id, err := parseUUID("--organization", text)
		if err != nil {
			return err
		}
		f.ids = append(f.ids, id)
	}
	_, isRole := service.RoleNamed(f.role)
	if flags.Changed("role") && !isRole {
		return usage("there is no role %q; there are %s", f.role, roleNames())
	}
	return nil
}

// apply gives an account what the flags name. A named list replaces the whole list.
func (f *accountFlags) apply(account *service.Account) {
	if f.all || len(f.ids) > 0 {
		account.Scope = service.Scope{All: f.all, Organizations: f.ids}
	}
	role, isRole := service.RoleNamed(f.role)
	if isRole || len(f.permissions) > 0 {
		account.Permissions = slices.Clone(role.Permissions)
	}
	for _, name := range f.permissions {
		permission := service.Permission(name)
		if !slices.Contains(account.Permissions, permission) {
			account.Permissions = append(account.Permissions, permission)
		}
	}
	if len(f.sources) > 0 {
		account.ExternalSources = f.sources
	}
}

var errWhichOrganizations = usage(
	"use --organization UUID, once or more, or --all-organizations; fundeskd organization list names them",
)

func (p *program) accountAdd() *cobra.Command {
	account := service.Account{Permissions: service.Permissions}
	var chosen accountFlags
	var ttl time.Duration
	return operation[accountView]{
		use:   "add NAME",
		short: "Add an account and print its token",
		long: "Add makes an account for a person or a program, and prints its bearer\ntoken. " +
			"A role has what one kind of work needs:\n\n" + roleTable() + "\n" +
			"Without --role and --permission it has all of these:\n\n  " +
			strings.Join(names(service.Permissions), "\n  ") + "\n\n" +
			"These have to be named, or come with a role:\n\n  " +
			strings.Join(names(service.NamedPermissions), ", "),
		example: "  fundeskd account add \"call centre\" --all-organizations --role agent\n" +
			"  fundeskd account add dashboard --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c" +
			" --permission calls:read --ttl 720h",
		args: []argument{textArgument("NAME", &account.Name)},
		flags: func(flags *pflag.FlagSet) {
			chosen.add(flags, "all")
			addTokenLife(flags, &ttl)
		},
		check: func(_ context.Context, flags *pflag.FlagSet) error {
			if chosen.all == (len(chosen.organizations) > 0) {
				return errWhichOrganizations
			}
			if ttl < time.Second {
				return usage("--ttl must be a second at least")
			}
			return chosen.check(flags)
		},
		access: access{create: true},
		run: func(ctx context.Context, s *service.Service) (accountView, error) {
			chosen.apply(&account)
			added, token, expires, err := s.AddAccountWithToken(ctx, account, ttl)
			if err != nil {
				return accountView{}, err
			}
			view := viewAccount(added)
			view.Token = token
			view.ExpiresAt = &expires
			return view, nil
		},
		text: func(w io.Writer, a accountView) { fmt.Fprintln(w, a.Token) },
	}.command(p)
}

func (p *program) accountSet() *cobra.Command {
	var id apitype.UUID
	var chosen accountFlags
	var name string
	var isRenamed bool
	return operation[accountView]{
		use:   "set UUID",
		short: "Change what an account may do, and on whose records",
		long: "Set changes what you name, from the next request on. Its tokens stay valid. A\n" +
			"list that you name replaces the whole list. --role and --permission\n" +
			"replace all permissions. Roles:\n\n" + roleTable(),
		example: "  fundeskd account set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --role supervisor\n" +
			"  fundeskd account set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c " +
			"--permission calls:read --permission persons:read",
		args: []argument{uuidArgument("UUID", "account", &id)},
		flags: func(flags *pflag.FlagSet) {
			chosen.add(flags, "as it is")
			flags.StringVar(&name, "name", "", "`name` of the account")
		},
		check: func(_ context.Context, flags *pflag.FlagSet) error {
			if chosen.all && len(chosen.organizations) > 0 {
				return errWhichOrganizations
			}
			isRenamed = flags.Changed("name")
			hasAny := isRenamed || chosen.all
			for _, list := range []string{"organization", "role", "permission", "external-source"} {
				hasAny = hasAny || flags.Changed(list)
			}
			if !hasAny {
				return usage("nothing is named to be changed; see: fundeskd account set --help")
			}
			return chosen.check(flags)
		},
		failure: "change the account",
		run: func(ctx context.Context, s *service.Service) (accountView, error) {
			account, err := s.SetAccount(ctx, id, func(account *service.Account) error {
				if isRenamed {
					account.Name = name
				}
				chosen.apply(account)
				return nil
			})
			return viewAccount(account), err
		},
		text: func(w io.Writer, a accountView) { fmt.Fprintln(w, a.UUID) },
	}.command(p)
}

func (p *program) accountRevoke() *cobra.Command {
	var id apitype.UUID
	return operation[accountView]{
		use:     "revoke UUID",
		short:   "Revoke an account: its tokens are refused from the next request on",
		example: "  fundeskd account revoke 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		args:    []argument{uuidArgument("UUID", "account", &id)},
		failure: "revoke the account",
		run: func(ctx context.Context, s *service.Service) (accountView, error) {
			account, err := s.RevokeAccount(ctx, id)
			return viewAccount(account), err
		},
		text: func(w io.Writer, a accountView) { fmt.Fprintln(w, "revoked", a.UUID) },
	}.command(p)
}

// listedAccount is an account with its valid tokens, the oldest first.
type listedAccount struct {
	accountView
	Tokens []service.IssuedToken `json:"tokens"`
}

// listAccount returns an account with its valid tokens, and when the last of them ends. A revoked account has none.
func listAccount(a service.Account, tokens []service.IssuedToken, now time.Time) listedAccount {
	l := listedAccount{accountView: viewAccount(a), Tokens: []service.IssuedToken{}}
	if a.RevokedAt != nil {
		return l
	}
	for _, t := range tokens {
		end := t.End()
		if end != nil && !end.After(now) {
			continue
		}
		l.Tokens = append(l.Tokens, t)
		isLater := end != nil && (l.ExpiresAt == nil || end.After(l.ExpiresAt.Time))
		if isLater {
			l.ExpiresAt = end
		}
	}
	return l
}

func (l listedAccount) cells() []string {
	if l.RevokedAt != nil {
		return []string{l.UUID.String(), "revoked", "", l.Name}
	}
	ends := "no token"
	if len(l.Tokens) > 0 {
		ends = "ends " + strings.Join(mapped(l.Tokens, endDay), ", ")
	}
	return []string{l.UUID.String(), "active", ends, l.Name}
}

func (p *program) accountList() *cobra.Command {
	return recordList[listedAccount, listedAccount]{
		use:     "list",
		short:   "List accounts, and when their tokens end",
		long:    "List prints each account with the days, in UTC, on which its tokens end.",
		example: "  fundeskd account list\n  fundeskd account list -o json",
		all:     p.allAccounts,
		view:    func(l listedAccount) listedAccount { return l },
		cells:   listedAccount.cells,
	}.command(p)
}

func (p *program) allAccounts(ctx context.Context, s *service.Service) ([]listedAccount, error) {
	accounts, err := s.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := s.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	byAccount := map[apitype.UUID][]service.IssuedToken{}
	for _, t := range tokens {
		byAccount[t.Account] = append(byAccount[t.Account], t)
	}
	list := func(a service.Account) listedAccount { return listAccount(a, byAccount[a.UUID], p.Now()) }
	return mapped(accounts, list), nil
}

func names[T ~string](all []T) []string {
	return mapped(all, func(one T) string { return string(one) })
}

// roleNames returns the names of all roles.
func roleNames() string {
	return strings.Join(mapped(service.Roles, func(r service.Role) string { return r.Name }), ", ")
}

// roleTable returns the roles with their permissions, in lines of at most 78 columns.
func roleTable() string {
	const indent, width = 14, 78
	var b strings.Builder
	for _, role := range service.Roles {
		line := fmt.Sprintf("  %-*s", indent-2, role.Name)
		for _, permission := range role.Permissions {
			if len(line)+len(permission)+1 > width {
				fmt.Fprintln(&b, strings.TrimRight(line, " "))
				line = strings.Repeat(" ", indent)
			}
			line += string(permission) + " "
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}
