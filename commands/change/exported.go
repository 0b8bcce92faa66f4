package change

import (
	"maps"
	"slices"
	"strings"

	"fundesk/apiclient"
)

// AsCreation turns a record as answers show it into the body of its creation. What bodies carry elsewhere moves
// there; what answers alone show is left out, and AsCreation returns its names.
func AsCreation(object map[string]any, fields []Field, isShown func(path string) bool) []string {
	e := exported{body: object, fields: fields, isShown: isShown}
	e.visit("", object)
	return e.left
}

// exported is a record on its way to the body of its creation.
type exported struct {
	body    map[string]any
	fields  []Field
	isShown func(path string) bool
	left    []string
}

// visit goes through a part of the record. What neither bodies nor answers have stays, to be refused.
func (e *exported) visit(prefix string, part map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(part)) {
		path, value := prefix+name, part[name]
		inner, isObject := openObject(value)
		has := func(is func(Field) bool) int { return slices.IndexFunc(e.fields, is) }
		if has(func(f Field) bool { return f.Path == path }) >= 0 {
			continue
		}
		shown := has(func(f Field) bool { return f.Shown == path })
		isGroup := has(func(f Field) bool { return strings.HasPrefix(f.Path, path+".") }) >= 0
		switch {
		case shown >= 0:
			delete(part, name)
			if at := e.fields[shown].Path; value != nil {
				if before, _ := apiclient.Shown(e.body, at); before == nil {
					SetPath(e.body, at, value)
				}
			}
		case isObject && (isGroup || has(func(f Field) bool { return strings.HasPrefix(f.Shown, path+".") }) >= 0):
			part[name] = inner
			all := len(e.left)
			e.visit(path+".", inner)
			if len(e.left) > all {
				e.left = append(e.left[:all], "the rest of "+path)
			}
			if len(inner) == 0 && !isGroup {
				delete(part, name)
			}
		case !isGroup && e.isShown(path):
			delete(part, name)
			if value != nil && !apiclient.IsSame(path, value, []any{}) {
				e.left = append(e.left, path)
			}
		}
	}
}

// LeftOut tells what of exported records a creation does not carry.
func LeftOut(names []string) string {
	return "left out, because only the service sets them: " + strings.Join(names, ", ")
}

// DropImplied removes a field that says what a creation without it says, where bodies may not carry it.
func DropImplied(object map[string]any, name string, implied any) {
	if value, given := object[name]; given && apiclient.IsSame(name, value, implied) {
		delete(object, name)
	}
}
