// Package floorfile is the file of the settings of an organization: TOML with the keys of a profile, or the
// JSON of the service. A file is checked as a whole, and each problem names its setting.
package floorfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Problems are the mistakes of a file, one a line.
type Problems []string

// Error implements error.
func (p Problems) Error() string { return strings.Join(p, "; ") }

// keys are the TOML words for those of the JSON, if they differ.
var keys = map[string]string{
	"uuid":            "organization",
	"maxCallAttempts": "max_attempts",
	"callingHours":    "calling_hours",
	"asksNotes":       "asks_notes",
	"requireOptIn":    "require_opt_in",
	"yearsAfterEnd":   "years_after_end",
	"requiredChecks":  "required_checks",
	"notReached":      "not_reached",
}

// Read reads a file whole, and the revision that get wrote into it. An empty revision replaces any settings. Its error
// is [Problems].
func Read(text []byte) (s apitype.OrganizationSettings, revision string, err error) {
	isJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	if isJSON {
		revision, err = readJSON(text, &s)
	} else {
		revision, err = readTOML(text, &s)
	}
	if err != nil {
		return s, "", err
	}
	var problems Problems
	for _, v := range s.Validate() {
		path := strings.Split(strings.TrimPrefix(v.Pointer, "/"), "/")
		if !isJSON {
			for i, word := range path {
				path[i] = cmp.Or(keys[word], word)
			}
		}
		problems = append(problems, strings.Join(path, ".")+" "+v.Message)
	}
	if len(problems) > 0 {
		return s, "", problems
	}
	return s, revision, nil
}

func readJSON(text []byte, s *apitype.OrganizationSettings) (string, error) {
	var file struct {
		apitype.OrganizationSettings
		Revision *string `json:"_revision"`
	}
	err := decodeJSON(text, &file)
	*s = file.OrganizationSettings
	if err != nil || file.Revision == nil {
		return "", err
	}
	return checkRevision(*file.Revision)
}

// decodeJSON returns [Problems] with their lines.
func decodeJSON(text []byte, file any) error {
	err := jsonv2.Unmarshal(text, file, jsonv2.RejectUnknownMembers(true))
	at := int64(0)
	if semantic, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		at = semantic.ByteOffset
		if errors.Is(err, jsonv2.ErrUnknownName) {
			return Problems{
				fmt.Sprintf(
					"line %d: there is no %s",
					lineAt(text, at),
					strings.TrimPrefix(string(semantic.JSONPointer), "/"),
				),
			}
		}
		return Problems{
			fmt.Sprintf(
				"line %d: %s is of another kind",
				lineAt(text, at),
				strings.TrimPrefix(string(semantic.JSONPointer), "/"),
			),
		}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return Problems{fmt.Sprintf("line %d: %s", lineAt(text, syntactic.ByteOffset), syntactic.Err)}
	}
	return err
}

// tomlError are the line, the key and the problem in an error of the library.
var tomlError = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^toml: line (\d+)(?: \(last key "(.*?)"\))?: (.*)`)
})

func readTOML(text []byte, s *apitype.OrganizationSettings) (string, error) {
	meta, err := toml.Decode(string(text), s)
	if err != nil {
		said := tomlError().FindStringSubmatch(err.Error())
		if said == nil {
			return "", Problems{err.Error()}
		}
		if strings.HasPrefix(said[3], "incompatible types") {
			return "", Problems{"line " + said[1] + ": " + said[2] + " is of another kind"}
		}
		return "", Problems{"line " + said[1] + ": " + said[3]}
	}
	var problems Problems
	// The library takes a map from anything.
	for _, key := range []string{"results", "scripts", "calling_hours", "required_checks", "not_reached"} {
		if kind := meta.Type(key); kind != "" && kind != "Hash" {
			problems = append(problems, key+" is a table, with values below it")
		}
	}
	for _, key := range meta.Undecoded() {
		problems = append(problems, "there is no setting "+key.String())
	}
	if len(problems) > 0 {
		return "", problems
	}
	return revisionOfTOML(text)
}

func lineAt(text []byte, offset int64) int {
	return bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n")) + 1
}

// Write returns the settings as TOML, with scripts on lines of their own.
func Write(s apitype.OrganizationSettings) ([]byte, error) {
	var text bytes.Buffer
	scripts := s.Scripts
	s.Scripts = nil
	encoder := toml.NewEncoder(&text)
	encoder.Indent = ""
	err := encoder.Encode(s)
	if len(scripts) > 0 {
		text.WriteString("\n[scripts]\n")
	}
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		if strings.Contains(scripts[name], `'''`) || strings.Contains(scripts[name], "\r") {
			fmt.Fprintf(&text, "%q = %s\n", name, quoted(scripts[name]))
		} else {
			fmt.Fprintf(&text, "%q = '''\n%s'''\n", name, scripts[name])
		}
	}
	return text.Bytes(), err
}

// quoted returns a text in quotes. TOML and JSON have the same form.
func quoted(text string) string {
	value, err := jsontext.AppendQuote(nil, text)
	if err != nil { // It is not UTF-8, which no TOML can hold.
		return `""`
	}
	return string(value)
}
