package cli

import (
	"fmt"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// UserNamed returns the user with the name in a flag, or the only one whose name begins so. An error lists the users
// that may be meant.
func UserNamed(users []apitype.UserName, flag, name string) (apitype.UserName, error) {
	isExact := func(user apitype.UserName) bool { return user.Name == name }
	begins := func(user apitype.UserName) bool {
		return strings.HasPrefix(strings.ToLower(user.Name), strings.ToLower(name))
	}
	for _, fits := range []func(apitype.UserName) bool{isExact, begins} {
		found := slices.DeleteFunc(slices.Clone(users), func(user apitype.UserName) bool { return !fits(user) })
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			may := "--" + flag + " " + Quote(name) + " may be " + strings.Join(sortedNames(found), " or ")
			return apitype.UserName{}, WithHint(UsageError(may), "write more of the name, or give the UUID")
		}
	}
	return apitype.UserName{}, WithHint(UsageError("there is no user "+Quote(name)), usersHint(users))
}

// mostNames is the number of users in a hint.
const mostNames = 20

// usersHint names the users that there are.
func usersHint(users []apitype.UserName) string {
	if len(users) == 0 {
		return "it has no names of users: give the UUID, or let an operator add names: fundeskd user add NAME"
	}
	names := sortedNames(users)
	more := ""
	if len(names) > mostNames {
		more = fmt.Sprintf(" and %d more", len(names)-mostNames)
		names = names[:mostNames]
	}
	return "users: " + strings.Join(names, ", ") + more
}

func sortedNames(users []apitype.UserName) []string {
	var names []string
	for _, user := range users {
		names = append(names, render.Clean(user.Name))
	}
	slices.Sort(names)
	return names
}
