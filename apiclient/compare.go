package apiclient

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// answerPaths has the path in answers for values that requests have under another one. It is empty if answers do not
// have the value in a comparable form. null for a group, whose fields answers show elsewhere, clears all of them.
var answerPaths = sync.OnceValues(func() (paths map[string]string, groups map[string][]string) {
	paths, groups = map[string]string{}, map[string][]string{}
	for _, f := range apitype.PersonFields() {
		if f.Sent == "" || f.Name == "" || f.In&apitype.Updated == 0 { // Of an organization nothing is cleared.
			continue
		}
		paths[f.Sent] = f.Name
		group, _, _ := strings.Cut(f.Sent, ".")
		groups[group] = append(groups[group], f.Name)
	}
	noteRecast(paths, apitype.PersonFields())
	noteRecast(paths, apitype.CallFields())
	noteRecast(paths, apitype.PledgeFields())
	return paths, groups
})

func noteRecast[T any](paths map[string]string, fields []apitype.Field[T]) {
	for _, f := range fields {
		if f.Recast {
			paths[f.Sent] = ""
		}
	}
}

// tally counts how the fields of a change compare with the record that was read.
type tally struct {
	equal     int      // Shown as they were sent.
	changed   bool     // One of those was shown otherwise before.
	hidden    []string // Not shown.
	foreign   []string // Shown otherwise than they were sent,
	elsewhere []string // The part of them that differs from the shown values.
}

// tally compares the sent values with the record, and both with the values shown before.
func (j *judge) tally() tally {
	var seen map[string]string
	isKnown := j.change.Seen != nil && json.Unmarshal(j.change.Seen, &seen) == nil
	var t tally
	j.op.visit("", j.sent, func(path, shown string, value any) {
		got, isThere := Shown(j.record, shown)
		isBefore := isKnown && seen[shown] == fingerprint(shown, got)
		switch {
		case shown == "" || !isThere:
			t.hidden = append(t.hidden, path)
		case isShown(path, value, got, showsFractions(lastName(shown), j.record)):
			t.equal++
			t.changed = t.changed || isKnown && !isBefore
		default:
			t.foreign = append(t.foreign, path)
			if !isBefore {
				t.elsewhere = append(t.elsewhere, path)
			}
		}
	})
	return t
}

// SeenOf returns the values of a record for the fields that an update names, as [Change.Seen] has them: as
// fingerprints, so that it contains no value. The record is a decoded one, or its JSON.
func SeenOf(ch Change, record any) json.RawMessage {
	text, _ := json.Marshal(record) // A value that is not JSON shows nothing.
	var shown, sent map[string]any
	if apitype.DecodeExact(text, &shown) != nil || apitype.DecodeExact(ch.Body, &sent) != nil {
		return nil
	}
	seen := map[string]string{}
	ch.Operation().visit("", sent, func(_, path string, _ any) {
		if path != "" {
			value, _ := Shown(shown, path)
			seen[path] = fingerprint(path, value)
		}
	})
	text, _ = json.Marshal(seen) // Texts alone.
	return text
}

// Without returns the change without some fields of its body, by their names there. Body is nil if none is left.
func (ch Change) Without(fields []string) Change {
	var body map[string]any
	if apitype.DecodeExact(ch.Body, &body) != nil {
		return ch
	}
	for _, field := range fields {
		name, below, isNested := strings.Cut(field, ".")
		inner, _ := body[name].(map[string]any)
		if delete(inner, below); !isNested || len(inner) == 0 {
			delete(body, name)
		}
	}
	ch.Body = nil
	if len(body) > 0 {
		ch.Body, _ = json.Marshal(body) // It was read from JSON.
	}
	return ch
}

// fingerprint returns a text that differs for different values of a field, without showing them.
func fingerprint(path string, value any) string {
	switch v := value.(type) {
	case string:
		value = canonical(path, v)
	case json.Number:
		if f, err := v.Float64(); err == nil {
			value = f
		}
	}
	text, _ := json.Marshal(value)
	sum := sha256.Sum256(append([]byte(path+"="), text...))
	return hex.EncodeToString(sum[:8])
}

// visit calls f for each value of a request with its path in answers, which is empty if there is none.
func (o Operation) visit(prefix string, object map[string]any, f func(path, shown string, value any)) {
	paths, groups := answerPaths()
	for _, name := range slices.Sorted(maps.Keys(object)) {
		path, value := prefix+name, object[name]
		shown, moved := paths[path]
		if !moved {
			shown = path
		}
		isRemoved := value == nil && path == "externalMetadata" && o.updates()
		if shown == "" || isRemoved || slices.Contains(o.hidden, path) {
			f(path, "", value)
			continue
		}
		if fields, ok := groups[path]; ok && value == nil {
			for _, field := range fields {
				f(field, field, nil)
			}
			continue
		}
		if inner, ok := value.(map[string]any); ok && (path != "externalMetadata" || o.descends) {
			o.visit(path+".", inner, f)
			continue
		}
		f(path, shown, value)
	}
}

// Shown returns the value of a dotted field of a record, and whether it exists. The fields of a null parent are null.
func Shown(record map[string]any, path string) (any, bool) {
	name, below, nested := strings.Cut(path, ".")
	value, there := record[name]
	if !there || !nested {
		return value, there
	}
	inner, ok := value.(map[string]any)
	if !ok {
		return nil, value == nil
	}
	return Shown(inner, below)
}

// isShown reports whether a record shows the sent value. Unless the service is seen to keep fractions of seconds, it
// may have cut or rounded a time: an attempt that is not recognised would be counted twice.
func isShown(path string, sent, shown any, keepsFractions bool) bool {
	if IsSame(path, sent, shown) {
		return true
	}
	if keepsFractions || !strings.HasSuffix(path, "At") {
		return false
	}
	a, isTime := timeOf(sent)
	b, isTimeToo := timeOf(shown)
	if !isTime || !isTimeToo {
		return false
	}
	return b.Time.Equal(a.Truncate(time.Second)) || b.Time.Equal(a.Round(time.Second))
}

// timeOf returns a value as a time, if it is one.
func timeOf(value any) (apitype.Time, bool) {
	text, isText := value.(string)
	var at apitype.Time
	isTime := isText && at.UnmarshalText([]byte(text)) == nil
	return at, isTime
}

// showsFractions reports whether a time field, at any depth of a record, is written with a fraction of a
// second. The fraction .000 counts: it shows that the service keeps fractions.
func showsFractions(name string, value any) bool {
	if !strings.HasSuffix(name, "At") {
		return false
	}
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return showsFractions(name, item) })
	case map[string]any:
		for key, inner := range v {
			text, isText := inner.(string)
			if isText && key == name && hasFraction(text) {
				return true
			}
			if !isText && showsFractions(name, inner) {
				return true
			}
		}
	}
	return false
}

// hasFraction reports whether a text is a time with a fraction of a second.
func hasFraction(text string) bool {
	var at apitype.Time
	_, clock, isTime := strings.Cut(text, "T")
	return isTime && strings.ContainsAny(clock, ".,") && at.UnmarshalText([]byte(text)) == nil
}

// IsSame reports whether a value to send equals the one in a record, which the service may have normalised. An absent
// value equals null.
func IsSame(path string, sent, shown any) bool {
	switch s := sent.(type) {
	case string:
		got, ok := shown.(string)
		return ok && canonical(path, s) == canonical(path, got)
	case json.Number:
		got, ok := shown.(json.Number)
		if !ok {
			return false
		}
		a, errA := apitype.ParseNumber(s.String())
		b, errB := apitype.ParseNumber(got.String())
		return errA == nil && errB == nil && a.Compare(b) == 0
	default:
		a, errA := json.Marshal(sent)
		b, errB := json.Marshal(shown)
		return errA == nil && errB == nil && bytes.Equal(a, b)
	}
}

// canonical returns a text of a field in one form, if services write the same value in several.
func canonical(path, text string) string {
	name := lastName(path)
	if name == "iban" {
		return apitype.NormalizeIBAN(text)
	}
	if name == "language" || name == "country" || strings.HasSuffix(name, "Uuid") || name == "uuid" {
		return strings.ToLower(text)
	}
	if name == "dateOfBirth" && len(text) > 10 {
		return text[:10]
	}
	if strings.HasSuffix(name, "At") {
		var at apitype.Time
		if at.UnmarshalText([]byte(text)) == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return text
}

func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
