package apiclient

import (
	"bytes"
	"errors"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// embedded is an [apitype.Embedded] of any type.
type embedded interface {
	Part() any
	SetPart(part any)
}

// omitting reads a record without the parts that break the interface.
type omitting struct {
	options jsonv2.Options
	at      string   // The place of the present value.
	isRead  bool     // The next part is the present one.
	places  []string // The places of omitted values.
	bad     int      // How much could not be read.
}

// mostOmitted limits the bad parts of a record.
const mostOmitted = 100

// decodeWithout decodes a record that failed to decode, without the embedded objects that break the interface: one bad
// object must not hide the others. It reads 2.0 as a whole number. It returns the places of the objects, or the error
// of the record itself.
func decodeWithout[T any](raw []byte, failed error) (value T, omitted []string, err error) {
	if apitype.Depth(raw) > apitype.MaxDepth {
		return value, nil, failed
	}
	o := &omitting{}
	o.options = jsonv2.JoinOptions(tolerant, jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(
		jsonv2.UnmarshalFromFunc(o.readPart), jsonv2.UnmarshalFromFunc(o.readObject), apitype.WholeNumbers(),
	)))
	if jsonv2.Unmarshal(raw, &value, o.options) != nil {
		return *new(T), nil, failed
	}
	return value, o.places, nil
}

// circular begins a reference back, as from the calls of a pledge to the call itself. Spec gap: L14.
const circular = `"[Circular`

// readPart reads an embedded part, or leaves it out. From a list it leaves out unreadable elements,
// and references back without a note.
func (o *omitting) readPart(dec *jsontext.Decoder, part embedded) error {
	if o.isRead {
		o.isRead = false
		return errors.ErrUnsupported // It reads itself.
	}
	text, err := dec.ReadValue()
	if err != nil {
		return err
	}
	list := reflect.TypeOf(part.Part()).Elem()
	if list.Kind() != reflect.Slice || text.Kind() != '[' {
		if !o.read(string(dec.StackPointer()), text, part) {
			part.SetPart(nil)
		}
		return nil
	}
	kept, elements := reflect.MakeSlice(list, 0, 0), jsontext.NewDecoder(bytes.NewBuffer(text), o.options)
	for _, err = elements.ReadToken(); err == nil && elements.PeekKind() != ']'; {
		element, _ := elements.ReadValue() // It was read once.
		if bytes.HasPrefix(element, []byte(circular)) {
			continue
		}
		value := reflect.New(list.Elem())
		if o.read(string(dec.StackPointer()+elements.StackPointer()), element, value.Interface()) {
			kept = reflect.Append(kept, value.Elem())
		} else if o.bad > mostOmitted {
			err = errors.New("too many of its parts cannot be read")
		}
	}
	part.SetPart(kept.Interface())
	return err
}

// readObject reads an object that is passed on as it is, or leaves it empty.
func (o *omitting) readObject(dec *jsontext.Decoder, object *apitype.Object) error {
	text, err := dec.ReadValue()
	if err == nil && object.UnmarshalJSON(text) != nil {
		o.omit(o.at + string(dec.StackPointer()))
	}
	return err
}

// read reads the value at a place and reports whether it could; else its place is noted.
func (o *omitting) read(at string, text []byte, value any) bool {
	before, known := o.at, len(o.places)
	o.at += at
	_, o.isRead = value.(embedded)
	err := jsonv2.Unmarshal(text, value, o.options)
	if err != nil {
		o.places = o.places[:known] // They are part of it.
		o.omit(o.at)
	}
	o.at = before
	return err == nil
}

func (o *omitting) omit(at string) {
	o.bad++
	o.places = append(o.places, strings.ReplaceAll(strings.TrimPrefix(at, "/"), "/", "."))
}
