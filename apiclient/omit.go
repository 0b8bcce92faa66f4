package apiclient

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// embeddedNames are the members of records that hold objects of their own, which an answer
// need not carry. Spec gap: L14.
var embeddedNames = []string{
	"address", "mandate", "owningOrganization", "qualityResult", "externalMetadata", "attempts", "result", "pledgeCase", "person",
	"transactions", "recruitingOrganization", "recruiterUser", "calls", "focusAreas", "externalSource",
}

// maxOmitted is how many embedded objects a record is read without: one that is worse has
// another shape. maxRepaired is the largest record that is read so, in bytes: it takes several
// times the memory.
const (
	maxOmitted  = 100
	maxRepaired = 1 << 20
)

// decodeWithout reads a record that failed to be decoded without the embedded objects that
// are not what the interface promises: one bad object must not hide the others. It tells
// where those were; the error is that of the record itself.
func decodeWithout[T any](raw []byte, failed error) (value T, omitted []string, err error) {
	var tree any
	if len(raw) > maxRepaired || apitype.DecodeExact(raw, &tree) != nil {
		return value, nil, failed
	}
	for err = failed; err != nil; {
		var place []string
		if semantic, ok := errors.AsType[*jsonv2.SemanticError](err); ok && len(omitted) < maxOmitted {
			place = embeddedPlace(strings.Split(string(semantic.JSONPointer), "/")[1:])
		}
		if place == nil {
			return *new(T), nil, failed
		}
		tree, omitted = without(tree, place), append(omitted, strings.Join(place, "."))
		text, _ := json.Marshal(tree) // It was read from JSON.
		value = *new(T)
		err = jsonv2.Unmarshal(text, &value, tolerant)
	}
	return value, omitted, nil
}

// embeddedPlace returns the path of the innermost embedded object around a path, nil where there is none.
func embeddedPlace(path []string) []string {
	for i, name := range slices.Backward(path) {
		if !slices.Contains(embeddedNames, name) {
			continue
		}
		if i++; i < len(path) && strings.Trim(path[i], "0123456789") == "" { // One of several.
			i++
		}
		return path[:i]
	}
	return nil
}

// without returns a JSON value without what lies at a path in it.
func without(value any, path []string) any {
	object, _ := value.(map[string]any)
	list, _ := value.([]any)
	at, err := strconv.Atoi(path[0])
	isIn := err == nil && at < len(list)
	switch {
	case isIn && len(path) == 1:
		return slices.Delete(list, at, at+1)
	case isIn:
		list[at] = without(list[at], path[1:])
	case len(path) == 1:
		delete(object, path[0])
	case object != nil:
		object[path[0]] = without(object[path[0]], path[1:])
	}
	return value
}
