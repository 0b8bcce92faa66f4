package apiclient

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// answerPaths says where the answer shows what a request carries under another path;
// "-" is shown nowhere in a form that can be compared.
var answerPaths = map[string]string{
	"name.initials":                         "initials",
	"name.firstName":                        "firstName",
	"name.lastNamePrefix":                   "lastNamePrefix",
	"name.lastName":                         "lastName",
	"optIns.email":                          "optInEmail",
	"optIns.mail":                           "optInMail",
	"optIns.phone":                          "optInPhone",
	"optIns.sms":                            "optInSms",
	"mandate.id":                            "-",
	"externalMetadata.additionalProperties": "-",
	"attempts":                              "-",
	"focusAreaUuids":                        "-",
}

// ShownAs is where a record shows the field of a request, "" for one that it does not show.
func ShownAs(path string) string {
	switch shown, moved := answerPaths[path]; {
	case shown == "-":
		return ""
	case moved:
		return shown
	default:
		return path
	}
}

// groups are the objects of a request that answers show field by field elsewhere; null
// for one of them clears all of it.
var groups = map[string][]string{
	"name":   {"initials", "firstName", "lastNamePrefix", "lastName"},
	"optIns": {"optInEmail", "optInMail", "optInPhone", "optInSms"},
}

// compareSent counts the sent values that the record shows, and those of which it
// shows something else. What it does not show at all counts as neither.
func (o Operation) compareSent(sent, record map[string]any) (equal, differ int) {
	o.visit("", sent, func(path, shown string, value any) {
		got, there := Shown(record, shown)
		switch {
		case !there:
		case isShown(path, value, got):
			equal++
		default:
			differ++
		}
	})
	return equal, differ
}

// unchanged reports whether all that a request names is in record as it was in seen.
func (o Operation) unchanged(sent, seen, record map[string]any) bool {
	same := true
	o.visit("", sent, func(path, shown string, _ any) {
		before, _ := Shown(seen, shown)
		now, _ := Shown(record, shown)
		same = same && IsSame(path, before, now)
	})
	return same
}

// visit calls f for each value of a request with the place where answers show it.
func (o Operation) visit(prefix string, object map[string]any, f func(path, shown string, value any)) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		path, value := prefix+name, object[name]
		shown := ShownAs(path)
		if shown == "" || slices.Contains(o.hidden, path) || o.updates() && path == "externalMetadata" && value == nil {
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

// Shown is the value of a dotted field of a record, and whether it is there. A parent that is
// null makes its fields null.
func Shown(record map[string]any, path string) (value any, there bool) {
	name, below, nested := strings.Cut(path, ".")
	value, there = record[name]
	if !there || !nested {
		return value, there
	}
	inner, ok := value.(map[string]any)
	if !ok {
		return nil, value == nil
	}
	return Shown(inner, below)
}

// isShown reports whether a record shows what was sent. A service may keep times in whole
// seconds, cut or rounded: an attempt that is not recognised would be counted twice.
func isShown(path string, sent, shown any) bool {
	if IsSame(path, sent, shown) {
		return true
	}
	s, isText := sent.(string)
	got, alike := shown.(string)
	var a, b apitype.Time
	if !isText || !alike || !strings.HasSuffix(path, "At") || a.UnmarshalText([]byte(s)) != nil || b.UnmarshalText([]byte(got)) != nil {
		return false
	}
	return b.Time.Equal(a.Truncate(time.Second)) || b.Time.Equal(a.Round(time.Second))
}

// IsSame reports whether a value that would be sent is the one that a record shows, which the
// service may have normalised. What is absent is as null.
func IsSame(path string, sent, shown any) bool {
	switch s := sent.(type) {
	case string:
		got, ok := shown.(string)
		return ok && sameText(path, s, got)
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

func sameText(path, sent, shown string) bool {
	if sent == shown {
		return true
	}
	name := lastSegment(strings.ReplaceAll(path, ".", "/"))
	switch {
	case name == "iban":
		return apitype.NormalizeIBAN(sent) == apitype.NormalizeIBAN(shown)
	case name == "language", name == "country", strings.HasSuffix(name, "Uuid"), name == "uuid":
		return strings.EqualFold(sent, shown)
	case name == "dateOfBirth":
		return len(sent) >= 10 && len(shown) >= 10 && sent[:10] == shown[:10]
	case strings.HasSuffix(name, "At"):
		var a, b apitype.Time
		return a.UnmarshalText([]byte(sent)) == nil && b.UnmarshalText([]byte(shown)) == nil && a.Equal(b)
	default:
		return false
	}
}

func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
