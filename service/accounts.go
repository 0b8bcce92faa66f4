package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
)

// Permission allows an account one group of operations. Spec gap: A2.
type Permission string

// The permissions of an account.
const (
	PersonsRead   Permission = "persons:read"
	PersonsCreate Permission = "persons:create"
	PersonsUpdate Permission = "persons:update"
	CallsRead     Permission = "calls:read"
	CallsCreate   Permission = "calls:create"
	CallsAttempt  Permission = "calls:attempt"
	CallsComplete Permission = "calls:complete"
	CallsCancel   Permission = "calls:cancel"
	CallsExpire   Permission = "calls:expire"
	PledgesRead   Permission = "pledges:read"
	PledgesCreate Permission = "pledges:create"
	PledgesUpdate Permission = "pledges:update"
	PledgesAct    Permission = "pledges:act"
	EntitiesMark  Permission = "entities:mark"
)

// Permissions returns all permissions.
var Permissions = []Permission{
	PersonsRead, PersonsCreate, PersonsUpdate,
	CallsRead, CallsCreate, CallsAttempt, CallsComplete, CallsCancel, CallsExpire,
	PledgesRead, PledgesCreate, PledgesUpdate, PledgesAct,
	EntitiesMark,
}

// The permissions that no account has unless they are named.
const (
	// PersonsErase allows to erase persons, and to export all that is kept of them. Spec gap: S60.
	PersonsErase Permission = "persons:erase"
	// SettingsWrite allows to replace what agents work by. Spec gap: S71.
	SettingsWrite Permission = "settings:write"
	// ChangesRead allows to follow the feed of changes.
	ChangesRead Permission = "changes:read"
)

// NamedPermissions are they.
var NamedPermissions = []Permission{PersonsErase, SettingsWrite, ChangesRead}

// Scope limits an account to the records of some organizations. The zero value contains no record. Spec gap: A3.
type Scope struct {
	All           bool
	Organizations []apitype.UUID
}

// Contains reports whether records of an organization are visible.
func (s Scope) Contains(organization apitype.UUID) bool {
	return s.All || slices.Contains(s.Organizations, organization)
}

// Narrow returns the part of the scope within organizations. An empty list means the whole scope. ok is false if
// nothing is left.
func (s Scope) Narrow(organizations []apitype.UUID) (narrowed Scope, ok bool) {
	switch {
	case len(organizations) == 0:
		narrowed = Scope{All: s.All, Organizations: slices.Clone(s.Organizations)} // Sorted below.
	case s.All:
		narrowed.Organizations = slices.Clone(organizations)
	default:
		for _, id := range organizations {
			if s.Contains(id) {
				narrowed.Organizations = append(narrowed.Organizations, id)
			}
		}
	}
	slices.SortFunc(narrowed.Organizations, apitype.UUID.Compare)
	narrowed.Organizations = slices.Compact(narrowed.Organizations)
	return narrowed, narrowed.All || len(narrowed.Organizations) > 0
}

// Account is a service account with its permissions and its scope.
type Account struct {
	UUID            apitype.UUID
	Name            string
	Permissions     []Permission
	Scope           Scope
	ExternalSources []string // The names that mark-processed entries may carry.
	CreatedAt       apitype.Time
	RevokedAt       *apitype.Time
	Epoch           string            // The epoch of the database.
	Person          *apitype.UserName // The signed-in person. Nil for a program.
}

// May reports whether the account has a permission.
func (a Account) May(p Permission) bool { return slices.Contains(a.Permissions, p) }

// Require refuses when the account lacks a permission.
func (a Account) Require(p Permission) error {
	if a.May(p) {
		return nil
	}
	return &Error{Kind: Forbidden, Detail: "the account lacks the permission " + string(p)}
}

// AddAccount saves a new account. Its uuid and creation time are chosen here.
func (s *Service) AddAccount(ctx context.Context, a Account) (Account, error) {
	err := a.begin()
	if err != nil {
		return Account{}, err
	}
	err = s.Write(ctx, WriteIsolated, "add the account", func(tx Tx) error { return s.addAccount(tx, &a) })
	return a, err
}

// AddAccountWithToken saves a new account together with its first token, which is valid for ttl.
func (s *Service) AddAccountWithToken(
	ctx context.Context,
	a Account,
	ttl time.Duration,
) (added Account, token string, expires apitype.Time, err error) {
	err = a.begin()
	if err != nil {
		return Account{}, "", expires, err
	}
	token, expires, err = s.issue(ctx, a.UUID, ttl, func(tx Tx, issued IssuedToken) error {
		err := s.addAccount(tx, &a)
		if err != nil {
			return err
		}
		issued.IssuedAt = a.CreatedAt // Not before its account.
		return errors.Join(tx.InsertToken(issued), tx.Audit(issued.line()))
	})
	return a, token, expires, err
}

// begin gives a new account its uuid, and checks it.
func (a *Account) begin() error {
	a.UUID, a.RevokedAt = apitype.NewUUID(), nil
	return a.check()
}

func (s *Service) addAccount(tx Tx, a *Account) error {
	err := a.Scope.check(tx)
	if err != nil {
		return err
	}
	a.CreatedAt = s.TimeOf(tx)
	return accountAudited(tx, *a)
}

// SetAccount changes the permissions and the scope of an account, from the next request on, in every process. A
// revoked account stays revoked.
func (s *Service) SetAccount(
	ctx context.Context,
	id apitype.UUID,
	set func(*Account) error,
) (Account, error) {
	var account Account
	var err error
	err = s.Write(ctx, WriteIsolated, "change the account", func(tx Tx) error {
		account, err = activeAccount(tx, id)
		if err != nil {
			return err
		}
		before := account
		if err := set(&account); err != nil {
			return err
		}
		if err := cmp.Or(account.check(), account.Scope.check(tx)); err != nil {
			return err
		}
		changed := before.changed(account)
		if changed == "" {
			return nil
		}
		line := AuditLine{
			At:        s.TimeOf(tx),
			Operation: AuditAccountSet,
			Record:    &id,
			Fields:    changed,
		}
		return errors.Join(tx.UpdateAccount(account), tx.Audit(line))
	})
	return account, err
}

func activeAccount(tx Tx, id apitype.UUID) (Account, error) {
	account, err := tx.Account(id)
	if err == nil && account.RevokedAt != nil {
		err = &Error{Kind: Invalid, Detail: "the account " + id.String() + " is revoked"}
	}
	return account, OrUnknown(err, "account", id)
}

// maxSource is the longest name of an external source, in characters. An index holds these names.
const maxSource = 200

// check refuses organizations that are not there.
func (s Scope) check(tx Tx) error {
	for _, id := range s.Organizations {
		if _, err := tx.Organization(id); errors.Is(err, ErrNoRow) {
			return &Error{Kind: Invalid, Detail: "there is no organization " + id.String()}
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (a Account) changed(after Account) string {
	var names []string
	for _, field := range []struct {
		name string
		same bool
	}{
		{"name", a.Name == after.Name},
		{"permissions", slices.Equal(a.Permissions, after.Permissions)},
		{
			"organizations",
			a.Scope.All == after.Scope.All && slices.Equal(a.Scope.Organizations, after.Scope.Organizations),
		},
		{"externalSources", slices.Equal(a.ExternalSources, after.ExternalSources)},
	} {
		if !field.same {
			names = append(names, field.name)
		}
	}
	return strings.Join(names, ",")
}

// accountAudited saves a new account, with the line of it.
func accountAudited(tx Tx, a Account) error {
	line := AuditLine{
		At:        a.CreatedAt,
		Operation: AuditAccountAdd,
		Record:    &a.UUID,
		Fields:    "name,permissions,organizations,externalSources",
	}
	return errors.Join(tx.InsertAccount(a), tx.Audit(line))
}

// check refuses an account that no request could use, or that means two things.
func (a Account) check() error {
	if strings.TrimSpace(a.Name) == "" {
		return &Error{Kind: Invalid, Detail: "an account needs a name"}
	}
	if a.Scope.All == (len(a.Scope.Organizations) > 0) {
		return &Error{Kind: Invalid, Detail: "an account sees named organizations, or all of them"}
	}
	for _, name := range append([]string{a.Name}, a.ExternalSources...) {
		if problem := apitype.CheckName(name); problem != "" {
			return &Error{Kind: Invalid, Detail: fmt.Sprintf("the name %q %s", name, problem)}
		}
	}
	for _, name := range a.ExternalSources {
		if utf8.RuneCountInString(name) > maxSource {
			return &Error{
				Kind:   Invalid,
				Detail: fmt.Sprintf("the name %q is longer than %d characters", name, maxSource),
			}
		}
	}
	for _, p := range a.Permissions {
		if known := slices.Concat(Permissions, NamedPermissions); !slices.Contains(known, p) {
			return &Error{
				Kind:   Invalid,
				Detail: fmt.Sprintf("there is no permission %q; there are %s", p, joined(known)),
			}
		}
	}
	return nil
}

// Accounts returns all accounts, the oldest first.
func (s *Service) Accounts(ctx context.Context) ([]Account, error) {
	return View(ctx, s, "list the accounts", Reader.Accounts)
}

// RevokeAccount ends an account; its tokens are refused from the next request on, in
// every process. Spec gap: A4.
func (s *Service) RevokeAccount(ctx context.Context, id apitype.UUID) (Account, error) {
	var account Account
	var err error
	err = s.Write(ctx, WriteIsolated, "revoke the account", func(tx Tx) error {
		account, err = tx.Account(id)
		if err != nil || account.RevokedAt != nil {
			return OrUnknown(err, "account", id)
		}
		account.RevokedAt = new(s.TimeOf(tx))
		line := AuditLine{
			At:        *account.RevokedAt,
			Operation: AuditAccountRevoke,
			Record:    &id,
			Fields:    "revokedAt",
		}
		return errors.Join(tx.UpdateAccount(account), tx.Audit(line))
	})
	return account, err
}

func joined[T ~string](values []T) string {
	return strings.Join(mapped(values, func(value T) string { return string(value) }), ", ")
}

// mapped returns the values of a list, each converted by a function.
func mapped[T, V any](all []T, of func(T) V) []V {
	values := make([]V, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	return values
}
