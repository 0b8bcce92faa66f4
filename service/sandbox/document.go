package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document is what the page of the interface shows of its description in OpenAPI 3.1.
type document struct {
	Info       struct{ Title, Version, Description string }
	Tags       []struct{ Name, Description string }
	Paths      members[members[operation]]
	Components struct {
		Schemas    members[schema]
		Parameters members[parameter]
		Responses  members[response]
		Examples   members[example]
	}
}

// members are those of an object, in their order.
type members[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSONFrom reads an object.
func (m *members[T]) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if token, err := from.ReadToken(); err != nil || token.Kind() != '{' {
		return fmt.Errorf("no object: %w", err)
	}
	for from.PeekKind() == '"' {
		var next member[T]
		if err := json.UnmarshalDecode(from, &next.Name); err != nil {
			return err
		}
		if err := json.UnmarshalDecode(from, &next.Value); err != nil {
			return err
		}
		*m = append(*m, next)
	}
	_, err := from.ReadToken()
	return err
}

// named is the member that a reference means.
func (m members[T]) named(ref string) (value T) {
	if i := slices.IndexFunc(m, func(one member[T]) bool { return one.Name == path.Base(ref) }); i >= 0 {
		value = m[i].Value
	}
	return value
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameter
	RequestBody                       struct{ Content members[media] }
	Responses                         members[response]
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                schema
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     members[media]
}

// media is a body.
type media struct {
	Schema   schema
	Example  jsontext.Value
	Examples members[example]
}

type example struct {
	Ref     string `json:"$ref"`
	Summary string
	Value   jsontext.Value
}

// schema is a type with its bounds.
type schema struct {
	Ref                                string `json:"$ref"`
	Type                               jsontext.Value
	Format, Description, Pattern       string
	Enum                               []string
	Properties                         members[schema]
	Required                           []string
	Items                              *schema
	AnyOf, AllOf                       []schema
	Minimum, ExclusiveMinimum, Maximum jsontext.Value
	MinLength, MaxLength, MinItems     jsontext.Value
	MaxItems, Default                  jsontext.Value
	AdditionalProperties               jsontext.Value
	Examples                           []jsontext.Value
	Deprecated                         bool
}

// part is a piece of the name of a type: a link where it is a schema of the document.
type part struct {
	Text   string
	IsLink bool
}

// kind is the name of the type.
func (s schema) kind() (parts []part) {
	switch {
	case s.Ref != "":
		return []part{{path.Base(s.Ref), true}}
	case len(s.AllOf) > 0:
		return s.AllOf[0].kind()
	case s.Items != nil:
		parts = append([]part{{Text: "array of "}}, s.Items.kind()...)
	case len(s.Enum) > 0:
		parts = []part{{Text: `"` + strings.Join(s.Enum, `", "`) + `"`}}
	}
	for i, one := range s.AnyOf {
		if i > 0 {
			parts = append(parts, part{Text: " or "})
		}
		parts = append(parts, one.kind()...)
	}
	var names []string
	if json.Unmarshal(s.Type, &names) != nil {
		names = make([]string, 1)
		_ = json.Unmarshal(s.Type, &names[0]) // A schema without a type has no name of one.
	}
	for i, name := range names {
		if name == "" || i == 0 && len(parts) > 0 { // It is named by what it consists of.
			continue
		}
		if len(parts) > 0 {
			name = " or " + name
		}
		if i == 0 && s.Format != "" {
			name += " (" + s.Format + ")"
		}
		parts = append(parts, part{Text: name})
	}
	return parts
}

// bounds is what a value must be beside its type.
func (s schema) bounds() string {
	var texts []string
	if len(s.Default) > 0 {
		texts = append(texts, "default "+string(s.Default))
	}
	if len(s.ExclusiveMinimum) > 0 {
		texts = append(texts, "more than "+string(s.ExclusiveMinimum))
	}
	for _, bound := range []struct {
		least, most jsontext.Value
		of          string
	}{{s.Minimum, s.Maximum, ""}, {s.MinLength, s.MaxLength, " characters"}, {s.MinItems, s.MaxItems, " elements"}} {
		switch {
		case len(bound.least) > 0 && len(bound.most) > 0:
			texts = append(texts, fmt.Sprintf("%s to %s%s", bound.least, bound.most, bound.of))
		case len(bound.least) > 0:
			texts = append(texts, fmt.Sprintf("at least %s%s", bound.least, bound.of))
		case len(bound.most) > 0:
			texts = append(texts, fmt.Sprintf("at most %s%s", bound.most, bound.of))
		}
	}
	if string(s.AdditionalProperties) == "true" {
		texts = append(texts, "with any members")
	}
	if s.Pattern != "" {
		texts = append(texts, "matches "+s.Pattern)
	}
	for _, one := range s.Examples {
		texts = append(texts, "such as "+string(one))
	}
	return strings.Join(texts, ", ")
}

// row is a member of an object, or a parameter.
type row struct {
	Name, In, Bounds, Description string
	Kind                          []part
	IsRequired, IsDeprecated      bool
}

func newRow(name string, s schema, description string, required bool) row {
	return row{Name: name, Kind: s.kind(), Bounds: s.bounds(), Description: description, IsRequired: required, IsDeprecated: s.Deprecated}
}

// rows are the members of an object, with those of objects within it that have no name of their own.
func (s schema) rows(prefix string) (rows []row) {
	for _, one := range s.Properties {
		name, value := prefix+one.Name, one.Value
		rows = append(rows, newRow(name, value, value.Description, slices.Contains(s.Required, one.Name)))
		rows = append(rows, value.rows(name+".")...)
		if value.Items != nil {
			rows = append(rows, value.Items.rows(name+"[].")...)
		}
	}
	return rows
}
