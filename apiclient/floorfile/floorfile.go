// Package floorfile is the file of the settings of an organization: TOML with the keys of a profile, or the
// JSON of the service. A file is checked as a whole, and each problem names its line.
package floorfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Problems are all that is wrong with a file, a line each.
type Problems []string

// Error implements error.
func (p Problems) Error() string { return strings.Join(p, "; ") }

// keys are the words of TOML for those of the JSON that have others.
var keys = map[string]string{
	"uuid":            "organization",
	"maxCallAttempts": "max_attempts",
	"callingHours":    "calling_hours",
	"asksNotes":       "asks_notes",
	"requireOptIn":    "require_opt_in",
	"yearsAfterEnd":   "years_after_end",
	"requiredChecks":  "required_checks",
}

// Read reads a file whole. Its error is [Problems].
func Read(text []byte) (s apitype.OrganizationSettings, err error) {
	lineOf := jsonLine
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		err = readJSON(text, &s)
	} else {
		lineOf = tomlLine
		err = readTOML(text, &s)
	}
	if err != nil {
		return s, err
	}
	var problems Problems
	for _, v := range s.Validate() {
		path := strings.Split(strings.TrimPrefix(v.Pointer, "/"), "/")
		if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			for i, word := range path {
				path[i] = cmp.Or(keys[word], word)
			}
		}
		problems = append(
			problems,
			fmt.Sprintf("line %d: %s %s", lineOf(text, path), strings.Join(path, "."), v.Message),
		)
	}
	if len(problems) > 0 {
		return s, problems
	}
	return s, nil
}

func readJSON(text []byte, s *apitype.OrganizationSettings) error {
	err := jsonv2.Unmarshal(text, s, jsonv2.RejectUnknownMembers(true))
	at := int64(0)
	if semantic, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		if at = semantic.ByteOffset; errors.Is(err, jsonv2.ErrUnknownName) {
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

func readTOML(text []byte, s *apitype.OrganizationSettings) error {
	meta, err := toml.Decode(string(text), s)
	if err != nil {
		said := tomlError().FindStringSubmatch(err.Error())
		switch {
		case said == nil:
			return Problems{err.Error()}
		case strings.HasPrefix(said[3], "incompatible types"):
			return Problems{"line " + said[1] + ": " + said[2] + " is of another kind"}
		default:
			return Problems{"line " + said[1] + ": " + said[3]}
		}
	}
	var problems Problems
	for _, key := range []string{"results", "scripts", "calling_hours", "required_checks"} { // The library takes a map from anything.
		if kind := meta.Type(key); kind != "" && kind != "Hash" {
			problems = append(
				problems,
				fmt.Sprintf("line %d: %s is a table, with values below it", tomlLine(text, []string{key}), key),
			)
		}
	}
	for _, key := range meta.Undecoded() {
		problems = append(problems, fmt.Sprintf("line %d: there is no setting %s", tomlLine(text, key), key))
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

func lineAt(text []byte, offset int64) int {
	return bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n")) + 1
}

// jsonLine returns the line where the value at a path, or as much of it as there is, ends.
func jsonLine(text []byte, path []string) int {
	decoder, pointer, line := jsontext.NewDecoder(bytes.NewReader(text)), "", 1
	for _, word := range path {
		pointer += "/" + word
		for {
			if _, err := decoder.ReadToken(); err != nil {
				return line
			}
			if string(decoder.StackPointer()) == pointer {
				line = lineAt(text, decoder.InputOffset())
				break
			}
		}
	}
	return line
}

// tomlLine returns the line of a key, or of the table that it would be in.
func tomlLine(text []byte, path []string) int {
	want, best, line := path, 0, 1
	var table []string
	rows, quotes := map[string]int{}, ""
	for i, row := range strings.Split(string(text), "\n") {
		if quotes != "" {
			if strings.Contains(row, quotes) {
				quotes = ""
			}
			continue
		}
		row = strings.TrimSpace(row)
		key, value, isKey := strings.Cut(row, "=")
		at := table
		switch name, isRow := strings.CutPrefix(row, "[["); {
		case isRow:
			name, _, _ = strings.Cut(name, "]]")
			table = words(name)
			if n := len(table); len(want) <= n || isNumber(want[n]) { // What TOML says of a key counts no rows.
				table = append(table, strconv.Itoa(rows[name]))
			}
			rows[name]++
			at = table
		case strings.HasPrefix(row, "["):
			name, _, _ := strings.Cut(row[1:], "]")
			table = words(name)
			at = table
		case isKey && !strings.HasPrefix(row, "#"):
			at = append(slices.Clip(table), words(key)...)
		}
		if n := shared(at, want); n > best && n >= min(len(at), len(want)) {
			best, line = n, i+1
		}
		for _, mark := range []string{`"""`, `'''`} {
			if strings.Count(value, mark) == 1 {
				quotes = mark
			}
		}
	}
	return line
}

func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// words are the parts of a dotted key, which may be quoted.
func words(key string) (all []string) {
	for quote, part := range apart(key) {
		if quote {
			all = append(all, part)
			continue
		}
		for word := range strings.SplitSeq(part, ".") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
	}
	return all
}

// apart are the parts of a key in quotes, and those between them.
func apart(key string) func(yield func(bool, string) bool) {
	return func(yield func(bool, string) bool) {
		for isQuoted := false; key != ""; isQuoted = !isQuoted {
			i := strings.IndexAny(key, `"'`)
			part := key
			if key = ""; i >= 0 {
				part, key = part[:i], part[i+1:]
			}
			if (isQuoted || strings.TrimSpace(part) != "") && !yield(isQuoted, part) {
				return
			}
		}
	}
}

// shared is how many parts two paths have in common, from their beginning.
func shared(a, b []string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
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

// quoted is a text in quotes as TOML has them: those of JSON.
func quoted(text string) string {
	value, err := jsontext.AppendQuote(nil, text)
	if err != nil { // It is not UTF-8, which no TOML can hold.
		return `""`
	}
	return string(value)
}
