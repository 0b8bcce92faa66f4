package apitype

import "strings"

// FieldKind is the type of a field's values.
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

// FieldUse names the bodies that have a field.
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
	Name    string // Its path in answers, dotted if nested. Empty if answers do not have it.
	Sent    string // Its path in bodies. Empty if it is the path in answers.
	Recast  bool   // No answer shows the sent value in a comparable form.
	Kind    FieldKind
	In      FieldUse // Zero if it is read-only.
	Title   string   // The head of its column. Empty means the name.
	Default bool     // A column that is shown unless others are asked for.
	Flag    string   // Its flag. Empty means the last part of the path in bodies, in kebab-case.
	NoFlag  bool     // Only a body in a file carries it.
	Help    string   // Of the flag.
	Example string
	Values  []string // The known values. Nil if any value is allowed.
	Key     string   // The key that corrects it at the Desk. Empty if it cannot be corrected there.
	Label   string   // What an agent calls it.
	Secret  bool     // Masked on the screen.

	// Value returns the value: a text, a number, a time, or a nil pointer without a value.
	Value func(T) any
}

// ExampleUUID is the identifier in examples that need one.
const ExampleUUID = "3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11"

// Path returns the field's path in bodies.
func (f Field[T]) Path() string {
	if f.Sent != "" {
		return f.Sent
	}
	return f.Name
}

// ShownAt returns the path in answers of this field of bodies. It is empty if answers do not have it in a comparable
// form.
func (f Field[T]) ShownAt() string {
	if f.Recast {
		return ""
	}
	if f.Name != "" {
		return f.Name
	}
	return f.Sent
}

// FlagName returns the field's name on the command line.
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
