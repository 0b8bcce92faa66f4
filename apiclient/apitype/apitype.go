// Package apitype holds every JSON type of the Fundraising Data Service: what it
// answers, what it is asked, the parameters of its lists, and the checks of shape
// that both sides share. The interface itself is the source of every name.
//
// It knows no network, no database and no rule that needs a stored record; it
// imports nothing else of this module.
//
// Three conventions run through it. A field that an answer must carry and that may
// be null is a pointer without omit. A field that an answer may leave out is an
// [Embedded] value, which tells absent from null. A field of an update is a
// [Patch]: unchanged, cleared or set.
//
//	request := apitype.UpdatePersonRequest{
//		Email: apitype.Set("a.jansen@example.org"),
//		IBAN:  apitype.Clear[string](),
//	}
//	body, err := json.Marshal(request) // {"email":"a.jansen@example.org","iban":null}
package apitype

import (
	"fmt"
	"strconv"
	"strings"
)

// Violation is a problem with one value of a request. Exactly one of Pointer and Parameter is set. Message is one
// clause without the value, so that it may be shown and logged.
type Violation struct {
	// Pointer is the JSON pointer of the body value (RFC 6901). For a missing field it is the place of that field.
	Pointer string `json:"pointer,omitempty"`
	// Parameter is the name of the query parameter.
	Parameter string `json:"parameter,omitempty"`
	// Message completes "the value …".
	Message string `json:"message"`
}

// Where returns the place of the violation in the form that people write: the field in dotted form, or the parameter.
func (v Violation) Where() string {
	if v.Parameter != "" {
		return v.Parameter
	}
	return strings.ReplaceAll(strings.TrimPrefix(v.Pointer, "/"), "/", ".")
}

// Violations are all problems of a request. The zero value has none.
type Violations []Violation

// Error lists the violations, separated by semicolons.
func (v Violations) Error() string {
	parts := make([]string, len(v))
	for i, violation := range v {
		parts[i] = strings.TrimSpace(violation.Where() + " " + violation.Message)
	}
	return strings.Join(parts, "; ")
}

// Err returns v as an error, or nil without a violation.
func (v Violations) Err() error {
	if len(v) == 0 {
		return nil
	}
	return v
}

// Add notes a violation of the body value at pointer.
func (v *Violations) Add(pointer, format string, args ...any) {
	*v = append(*v, Violation{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// addParameter notes a violation of the query parameter name.
func (v *Violations) addParameter(name, format string, args ...any) {
	*v = append(*v, Violation{Parameter: name, Message: fmt.Sprintf(format, args...)})
}

// OrganizationReference names an organization inside another record.
type OrganizationReference struct {
	UUID         UUID   `json:"uuid"`
	Name         string `json:"name"`
	Abbreviation string `json:"abbreviation"`
}

// ExternalSource names the external system that manages a record, and the record's
// identifier there.
type ExternalSource struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
}

// validate checks an external source at pointer.
func (s ExternalSource) validate(v *Violations, pointer string) {
	requireText(v, pointer+"/name", s.Name, maxText)
	requireText(v, pointer+"/identifier", s.Identifier, maxText)
}

// pointerAt returns the JSON pointer of a field of an array's element.
func pointerAt(array string, index int, field string) string {
	return array + "/" + strconv.Itoa(index) + "/" + field
}

// TextOf returns a text that may be missing.
func TextOf[T ~string](text *T) string {
	if text == nil {
		return ""
	}
	return string(*text)
}
