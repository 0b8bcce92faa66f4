package apitype

import (
	stdjson "encoding/json"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// optional is a member that is absent (the zero value, which omitzero leaves out), null, or a value.
type optional[T any] struct {
	present bool
	value   *T
}

// IsZero reports whether the member is absent.
func (o optional[T]) IsZero() bool { return !o.present }

// MarshalJSON writes the value, or null.
func (o optional[T]) MarshalJSON() ([]byte, error) { return stdjson.Marshal(o.value) }

// MarshalJSONTo does the work of MarshalJSON with a streaming encoder.
func (o optional[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, o.value)
}

// Patch is one field of a partial update. The zero value leaves the field unchanged,
// [Clear] writes null, [Set] writes a value.
type Patch[T any] struct{ optional[T] }

// Set returns a patch that gives the field a value.
func Set[T any](value T) Patch[T] { return Patch[T]{optional[T]{true, &value}} }

// Clear returns a patch that clears the field.
func Clear[T any]() Patch[T] { return Patch[T]{optional[T]{present: true}} }

// IsClear reports whether the field is cleared.
func (p Patch[T]) IsClear() bool { return p.present && p.value == nil }

// Value returns the new value. ok is false if the field stays unchanged or is cleared.
func (p Patch[T]) Value() (value T, ok bool) {
	if p.value == nil {
		return value, false
	}
	return *p.value, true
}

// Apply writes the patch to a nullable field.
func (p Patch[T]) Apply(field **T) {
	if p.present {
		*field = p.value
	}
}

// UnmarshalJSON reads null as [Clear] and any other value as [Set].
func (p *Patch[T]) UnmarshalJSON(data []byte) error {
	p.present, p.value = true, nil
	return stdjson.Unmarshal(data, &p.value)
}

// UnmarshalJSONFrom is UnmarshalJSON for a streaming decoder: its options and the place of an error reach the value
// inside.
func (p *Patch[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	p.present, p.value = true, nil
	return json.UnmarshalDecode(dec, &p.value)
}

// Embedded is a part of an answer that need not be there. Spec gap: R14.
type Embedded[T any] struct{ optional[T] }

// Embed returns an included part.
func Embed[T any](value T) Embedded[T] { return EmbedPointer(&value) }

// EmbedPointer returns a requested part, which is null if value is nil.
func EmbedPointer[T any](value *T) Embedded[T] { return Embedded[T]{optional[T]{true, value}} }

// Pointer returns the part, or nil if it is absent or null. It is not a copy.
func (e Embedded[T]) Pointer() *T { return e.value }

// Part does the work of Pointer for code without the type.
func (e Embedded[T]) Part() any { return e.value }

// SetPart does the work of [Embed] for code without the type. Nil makes the part absent.
func (e *Embedded[T]) SetPart(part any) {
	*e = Embedded[T]{}
	if value, ok := part.(T); ok {
		*e = Embed(value)
	}
}

// Value returns the part, or its zero value if it is absent or null.
func (e Embedded[T]) Value() T {
	var value T
	if e.value != nil {
		value = *e.value
	}
	return value
}

// UnmarshalJSON reads the part. A value of another type, such as a string for a circular reference, counts as absent.
// Spec gap: L14.
func (e *Embedded[T]) UnmarshalJSON(data []byte) error {
	*e = Embedded[T]{}
	if e.isForeign(jsontext.Value(data).Kind()) {
		return nil
	}
	e.present = true
	return stdjson.Unmarshal(data, &e.value)
}

// UnmarshalJSONFrom is UnmarshalJSON for a streaming decoder.
func (e *Embedded[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*e = Embedded[T]{}
	if e.isForeign(dec.PeekKind()) {
		return dec.SkipValue()
	}
	e.present = true
	return json.UnmarshalDecode(dec, &e.value)
}

// isForeign reports whether a JSON value of this kind cannot be the part. A part that
// reads itself, such as [Time], decides for itself.
func (e *Embedded[T]) isForeign(kind jsontext.Kind) bool {
	if _, ok := any(e.value).(stdjson.Unmarshaler); ok || kind == 'n' {
		return false
	}
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Struct:
		return kind != '{'
	case reflect.Slice:
		return kind != '['
	default:
		return false
	}
}
