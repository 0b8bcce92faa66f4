package main

import (
	"slices"
	"strings"
	"testing"

	"fundesk/service"
)

// A role gives its permissions, to which --permission adds, and replaces those that an account had. The help and
// the operator's page name each role.
func TestRoles(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	for _, role := range service.Roles {
		var account accountView
		e.must(&account, "", "account", "add", role.Name, "--all-organizations", "--role", role.Name, "--permission", "persons:erase")
		want := append(slices.Clone(role.Permissions), service.PersonsErase)
		if !slices.Equal(account.Permissions, want) {
			t.Errorf("%s: got %s, want %s", role.Name, account.Permissions, want)
		}
		e.must(&account, "", "account", "set", account.UUID.String(), "--role", "consumer")
		consumer, _ := service.RoleNamed("consumer")
		if !slices.Equal(account.Permissions, consumer.Permissions) {
			t.Errorf("%s: got %s, want those of a consumer", role.Name, account.Permissions)
		}
		_, help, _ := e.run("", "account", "add", "--help")
		if !strings.Contains(help, "  "+role.Name+" ") {
			t.Errorf("the help does not name the role %s", role.Name)
		}
	}
}
