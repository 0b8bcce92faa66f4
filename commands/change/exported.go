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
	var left []string
	has := func(is func(Field) bool) int { return slices.IndexFunc(fields, is) }
	var visit func(prefix string, part map[string]any)
	visit = func(prefix string, part map[string]any) { // What neither bodies nor answers have stays, to be refused.
		for _, name := range slices.Sorted(maps.Keys(part)) {
			path, value := prefix+name, part[name]
			inner, isObject := openObject(value)
			if has(func(f Field) bool { return f.Path == path }) >= 0 {
				continue
			}
			shown := has(func(f Field) bool { return path != "" && f.Shown == path })
			isGroup := has(func(f Field) bool { return strings.HasPrefix(f.Path, path+".") }) >= 0
			switch {
			case shown >= 0:
				delete(part, name)
				if at := fields[shown].Path; value != nil {
					if before, _ := apiclient.Shown(object, at); before == nil {
						SetPath(object, at, value)
					}
				}
			case isObject && (isGroup || has(func(f Field) bool { return strings.HasPrefix(f.Shown, path+".") }) >= 0):
				part[name] = inner
				all := len(left)
				visit(path+".", inner)
				if len(left) > all {
					left = append(left[:all], "the rest of "+path)
				}
				if len(inner) == 0 && !isGroup {
					delete(part, name)
				}
			case !isGroup && isShown(path):
				delete(part, name)
				if value != nil && !apiclient.IsSame(path, value, []any{}) {
					left = append(left, path)
				}
			}
		}
	}
	visit("", object)
	return left
}

// LeftOut describes the parts of exported records that a creation does not have.
func LeftOut(names []string) string {
	return "left out, because this request cannot set them: " + strings.Join(names, ", ")
}

// DropImplied removes a field with the default value of a creation, because bodies may not have it.
func DropImplied(object map[string]any, name string, implied any) {
	if value, given := object[name]; given && apiclient.IsSame(name, value, implied) {
		delete(object, name)
	}
}
