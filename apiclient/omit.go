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
		semantic, ok := errors.AsType[*jsonv2.SemanticError](err)
		if !ok || len(omitted) == maxOmitted {
			return value, nil, failed
		}
		place := embeddedPlace(strings.Split(string(semantic.JSONPointer), "/")[1:])
		if place == nil {
			return value, nil, failed
		}
		tree = without(tree, place)
		omitted = append(omitted, strings.Join(place, "."))
		text, marshalErr := json.Marshal(tree)
		if marshalErr != nil {
			return value, nil, failed
		}
		var next T
		if err = jsonv2.Unmarshal(text, &next, tolerant); err == nil {
			value = next
		}
	}
	return value, omitted, nil
}

// embeddedPlace is the path of the innermost embedded object around a path, nil where there
// is none.
func embeddedPlace(path []string) []string {
	for i, name := range slices.Backward(path) {
		if !slices.Contains(embeddedNames, name) {
			continue
		}
		if i+1 < len(path) {
			if _, err := strconv.Atoi(path[i+1]); err == nil {
				return path[:i+2]
			}
		}
		return path[:i+1]
	}
	return nil
}

// without is a JSON value without what lies at a path.
func without(value any, path []string) any {
	switch v := value.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
		} else {
			v[path[0]] = without(v[path[0]], path[1:])
		}
		return v
	case []any:
		at, err := strconv.Atoi(path[0])
		if err != nil || at < 0 || at >= len(v) {
			return v
		}
		if len(path) == 1 {
			return slices.Delete(v, at, at+1)
		}
		v[at] = without(v[at], path[1:])
		return v
	default:
		return value
	}
}
