package service

import "slices"

// Role is a named set of permissions for one kind of work.
type Role struct {
	Name        string
	Permissions []Permission
}

// agentPermissions are for agents at the Desk: they store results, corrections, and cancellations.
var agentPermissions = []Permission{
	PersonsRead, PersonsUpdate,
	CallsRead, CallsCreate, CallsAttempt, CallsComplete, CallsCancel, CallsExpire,
	PledgesRead, PledgesUpdate,
	EntitiesMark,
}

// Roles returns all roles. No role may erase persons.
var Roles = []Role{
	{"agent", agentPermissions},
	{"supervisor", append(slices.Clone(agentPermissions), SettingsWrite, PledgesAct)},
	{"back-office", Permissions},
	{"importer", []Permission{
		PersonsRead, PersonsCreate, PersonsUpdate,
		PledgesRead, PledgesCreate,
		CallsRead, CallsCreate,
	}},
	{"consumer", []Permission{PersonsRead, CallsRead, PledgesRead, EntitiesMark, ChangesRead}},
}

// RoleNamed returns the role of a name, and whether there is one.
func RoleNamed(name string) (Role, bool) {
	i := slices.IndexFunc(Roles, func(r Role) bool { return r.Name == name })
	if i < 0 {
		return Role{}, false
	}
	return Roles[i], true
}
