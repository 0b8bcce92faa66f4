package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// rolesOfThePage returns the permissions of each role in the table of the operator's page, sorted.
func rolesOfThePage(t *testing.T) map[string][]service.Permission {
	t.Helper()
	page, err := os.ReadFile("../../docs/operator.md")
	servicetest.Check(t, err)
	_, table, _ := strings.Cut(string(page), "| role | permissions |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	roles := map[string][]service.Permission{}
	for line := range strings.Lines(table) {
		role, text, _ := strings.Cut(strings.Trim(line, "| \n"), " | ")
		text, without, _ := strings.Cut(text, " without ")
		permissions := roles[strings.Split(text, ",")[0]] // The permissions of another role.
		for name := range strings.FieldsSeq(strings.NewReplacer("`", " ").Replace(text)) {
			area, isAll := strings.CutSuffix(name, "*")
			for _, p := range slices.Concat(service.Permissions, service.NamedPermissions) {
				if string(p) == name ||
					isAll && strings.HasPrefix(string(p), area) && !strings.Contains(without, string(p)) {
					permissions = append(slices.Clip(permissions), p)
				}
			}
		}
		slices.Sort(permissions)
		roles[role] = permissions
	}
	return roles
}

// A role gives its permissions. --permission adds to them, and a role replaces the earlier ones. The help and the
// operator's page have each role.
func TestRoles(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	page := rolesOfThePage(t)
	for _, role := range service.Roles {
		var account accountView
		e.must(
			&account,
			"account add",
			role.Name,
			"--all-organizations",
			"--role",
			role.Name,
			"--permission",
			"persons:erase",
		)
		want := append(slices.Clone(role.Permissions), service.PersonsErase)
		servicetest.Same(t, role.Name, want, account.Permissions)
		e.must(&account, "account set", account.UUID.String(), "--role", "consumer")
		consumer, _ := service.RoleNamed("consumer")
		servicetest.Same(t, role.Name, consumer.Permissions, account.Permissions)
		slices.Sort(want)
		want = slices.DeleteFunc(want, func(p service.Permission) bool { return p == service.PersonsErase })
		if !slices.Equal(page[role.Name], want) {
			t.Errorf("%s: the operator's page has %s, want %s", role.Name, page[role.Name], want)
		}
		e.try("account add --help").Prints("  " + role.Name + " ")
	}
}
