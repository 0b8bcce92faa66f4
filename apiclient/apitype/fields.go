package apitype

import "strings"

// FieldKind is what a field holds.
type FieldKind int

// The kinds of fields.
const (
	TextField FieldKind = iota
	WordField           // One of some words, such as a status.
	NameField           // A name, which has a letter.
	PhoneField
	DateField
	TimeField
	NumberField // Every digit is kept.
	AmountField // Euros.
	YesNoField
	UUIDsField  // Several identifiers.
	ObjectField // JSON.
)

// FieldUse says which bodies carry a field.
type FieldUse int

// The bodies that carry fields, of creations and updates.
const (
	Created FieldUse = 1 << iota
	Updated
	OfExternal // Creations carry it for external records only.
	Written    = Created | Updated
)

// Field is one field of a record of type T: a row of data, of which its column, its flags, the column of
// an import with its example, and its correction at the desk are made.
type Field[T any] struct {
	Name    string // Where answers show it, dotted when nested; empty: nowhere.
	Sent    string // Where bodies carry it; empty: where answers show it.
	Recast  bool   // No answer shows what was sent in a form that can be compared.
	Kind    FieldKind
	In      FieldUse // 0: it is read only.
	Title   string   // Over its column; empty: the name.
	Default bool     // A column that is shown unless others are asked for.
	Flag    string   // Empty: the last part of where it is sent, in kebab-case.
	Help    string   // Of the flag.
	Example string
	Values  []string // That are known; nil where it may be anything.
	Key     string   // That corrects it at the desk; empty: it is not corrected there.
	Label   string   // What an agent calls it.
	Secret  bool     // Masked on the screen.

	// Value returns the value: a text, a number, a time, or a pointer that is nil where there is none.
	Value func(T) any
}

// ExampleUUID stands in examples for the identifiers that they cannot leave out.
const ExampleUUID = "3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11"

// Path is where bodies carry the field.
func (f Field[T]) Path() string {
	if f.Sent != "" {
		return f.Sent
	}
	return f.Name
}

// ShownAt returns where answers show what bodies carry as this field, "" for nowhere in a form that can be
// compared.
func (f Field[T]) ShownAt() string {
	switch {
	case f.Recast:
		return ""
	case f.Name != "":
		return f.Name
	default:
		return f.Sent
	}
}

// FlagName is the field's name on the command line.
func (f Field[T]) FlagName() string {
	if f.Flag != "" {
		return f.Flag
	}
	path := f.Path()
	name := Kebab(path[strings.LastIndexByte(path, '.')+1:])
	if before, ok := strings.CutSuffix(name, "-uuid"); ok {
		return before
	}
	return name
}
