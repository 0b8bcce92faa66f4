package signin

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Map turns the claims of a token into what a person may do. The first entry that matches counts.
type Map struct {
	nameClaim string
	entries   []entry
}

// entry gives the persons with a value of a claim a role.
type entry struct {
	Claim            string   `toml:"claim"` // May be a path with dots.
	Value            string   `toml:"value"`
	Role             string   `toml:"role"`
	Permissions      []string `toml:"permissions"` // Beyond the role's.
	Organizations    []string `toml:"organizations"`
	AllOrganizations bool     `toml:"all_organizations"`

	permissions []service.Permission
	scope       service.Scope
}

// ReadMap reads a file and checks all of it. The error names every wrong entry.
func ReadMap(path string) (*Map, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the map: %w", err)
	}
	m, err := ParseMap(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// ParseMap reads a map and checks all of it.
func ParseMap(text string) (*Map, error) {
	var file struct {
		NameClaim string  `toml:"name_claim"`
		Entries   []entry `toml:"map"`
	}
	read, err := toml.Decode(text, &file)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, key := range read.Undecoded() {
		problems = append(problems, fmt.Errorf("%q is not a setting of the map", key.String()))
	}
	if len(file.Entries) == 0 {
		problems = append(problems, errors.New("the map has no [[map]] entry, so no person could sign in"))
	}
	for i := range file.Entries {
		e := &file.Entries[i]
		for _, problem := range e.check() {
			problems = append(problems, fmt.Errorf("entry %d (%s = %q): %s", i+1, e.Claim, e.Value, problem))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	m := &Map{nameClaim: file.NameClaim, entries: file.Entries}
	if m.nameClaim == "" {
		m.nameClaim = "name"
	}
	return m, nil
}

// check returns the problems of an entry, and prepares what it gives.
func (e *entry) check() []string {
	var problems []string
	if e.Claim == "" || slices.Contains(strings.Split(e.Claim, "."), "") {
		problems = append(problems, `claim must name a claim, such as "groups" or "realm_access.roles"`)
	}
	if e.Value == "" {
		problems = append(problems, "value is missing")
	}
	role, isRole := service.RoleNamed(e.Role)
	if e.Role != "" && !isRole {
		problems = append(problems, fmt.Sprintf("there is no role %q", e.Role))
	}
	if e.Role == "" && len(e.Permissions) == 0 {
		problems = append(problems, "role or permissions is missing")
	}
	e.permissions = slices.Clone(role.Permissions)
	for _, name := range e.Permissions {
		permission := service.Permission(name)
		isKnown := slices.Contains(service.Permissions, permission) ||
			slices.Contains(service.NamedPermissions, permission)
		if !isKnown {
			problems = append(problems, fmt.Sprintf("there is no permission %q", name))
		}
		if !slices.Contains(e.permissions, permission) {
			e.permissions = append(e.permissions, permission)
		}
	}
	return append(problems, e.checkScope()...)
}

func (e *entry) checkScope() []string {
	var problems []string
	if e.AllOrganizations == (len(e.Organizations) > 0) {
		problems = append(problems, "name organizations, or all_organizations = true")
	}
	e.scope.All = e.AllOrganizations
	for _, text := range e.Organizations {
		id, err := apitype.ParseUUID(text)
		if err != nil {
			problems = append(problems, fmt.Sprintf("the organization %q %s", text, err))
			continue
		}
		e.scope.Organizations = append(e.scope.Organizations, id)
	}
	return problems
}

// Organizations returns the organizations that entries name, each with the entry's number, which starts at 1.
func (m *Map) Organizations() map[apitype.UUID]int {
	named := map[apitype.UUID]int{}
	for i, e := range m.entries {
		for _, id := range e.scope.Organizations {
			named[id] = i + 1
		}
	}
	return named
}

// person returns what the claims of a token give.
func (m *Map) person(claims map[string]any) service.SignedIn {
	name, _ := claimAt(claims, m.nameClaim).(string)
	person := service.SignedIn{Name: name}
	for _, e := range m.entries {
		if !hasValue(claimAt(claims, e.Claim), e.Value) {
			continue
		}
		person.IsMapped = true
		person.Permissions = e.permissions
		person.Scope = e.scope
		return person
	}
	person.Unmapped = m.unmatched(claims)
	return person
}

// unmatched says why no entry matches the claims of a token. It holds nothing of the token.
func (m *Map) unmatched(claims map[string]any) string {
	var said []string
	for _, e := range m.entries {
		text := "the token has no claim " + e.Claim
		if claimAt(claims, e.Claim) != nil {
			text = "the claim " + e.Claim + " has other values"
		}
		if !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	return "no entry of the map matches: " + strings.Join(said, "; ")
}

// claimAt returns the claim of a name, or of a path with dots. A claim whose own name has the dots comes first.
func claimAt(claims map[string]any, path string) any {
	value, has := claims[path]
	if has {
		return value
	}
	first, rest, isPath := strings.Cut(path, ".")
	inner, isObject := claims[first].(map[string]any)
	if !isPath || !isObject {
		return nil
	}
	return claimAt(inner, rest)
}

// hasValue reports whether a claim is a text, or a list with it.
func hasValue(claim any, value string) bool {
	switch claim := claim.(type) {
	case string:
		return claim == value
	case []any:
		return slices.Contains(claim, any(value))
	default:
		return false
	}
}
