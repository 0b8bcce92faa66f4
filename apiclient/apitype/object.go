package apitype

import (
	stdjson "encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

var errObject = errors.New("must be a JSON object")

// Object is a JSON object that the service keeps and passes on as it was sent. The
// zero value is written as {}.
type Object []byte

// MarshalJSON writes the object.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON reads a JSON object; null leaves o unchanged.
func (o *Object) UnmarshalJSON(data []byte) error {
	switch jsontext.Value(data).Kind() {
	case '{':
		*o = append(Object(nil), data...)
		return nil
	case 'n':
		return nil
	default:
		return errObject
	}
}

// EncodedObject is an Object that a request carries as a JSON-encoded string. It reads
// a bare object too. Spec gap: C9.
type EncodedObject Object

// MarshalJSON writes the object as a string.
func (o EncodedObject) MarshalJSON() ([]byte, error) {
	text, err := Object(o).MarshalJSON()
	if err != nil {
		return nil, err
	}
	return stdjson.Marshal(string(text))
}

// UnmarshalJSON reads a string that holds a JSON object, or the object itself.
func (o *EncodedObject) UnmarshalJSON(data []byte) error {
	if jsontext.Value(data).Kind() != '"' {
		return (*Object)(o).UnmarshalJSON(data)
	}
	text, err := jsontext.AppendUnquote(nil, data)
	if err != nil {
		return errObject
	}
	if !jsontext.Value(text).IsValid() || jsontext.Value(text).Kind() != '{' || Depth(text) > MaxDepth {
		return errors.New("must be a JSON object, or a string that holds one")
	}
	*o = EncodedObject(text)
	return nil
}

// MaxDepth limits the nesting of objects and arrays in a request. Spec gap: R13.
const MaxDepth = 64

// Depth returns how deep objects and arrays are nested in a JSON text.
func Depth(data []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
