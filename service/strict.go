package service

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// DecodeStrict reads the JSON of a request or of a load. Unknown and repeated members, wrong types, trailing data, bad
// UTF-8, NUL characters and deep nesting are violations with a pointer. They never repeat the value. Spec gaps: R8,
// R13.
func DecodeStrict(data []byte, value any) apitype.Violations {
	if tooDeepText(data) {
		return apitype.Violations{{Pointer: firstPlace(data, tooDeep), Message: "is nested too deeply"}}
	}
	if err := json.Unmarshal(data, value, strict()); err != nil {
		return apitype.Violations{violation(err)}
	}
	if jsontext.Value(data).Kind() != '{' {
		return apitype.Violations{{Message: "the body must be a JSON object"}}
	}
	if hasNUL(data) {
		return apitype.Violations{{Pointer: firstPlace(data, withNUL), Message: "must not contain a NUL character"}}
	}
	if mayExceedDouble(data) {
		if place := firstPlace(data, exceedsDouble); place != "" {
			return apitype.Violations{{Pointer: place, Message: beyondDouble}}
		}
	}
	return nil
}

// beyondDouble refuses a number that other programs cannot read (RFC 7493). Digits are kept exactly otherwise.
const beyondDouble = "must be a number within the range of a double"

// exponent finds what a number beyond a double has: an exponent of three digits, or more than 300 digits.
var exponent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9][eE]\+?[0-9]{3}|[0-9]{300}|[0-9]{100}[0-9]*[eE]`)
})

func mayExceedDouble(data []byte) bool { return exponent().Match(data) }

func exceedsDouble(_ *jsontext.Decoder, token jsontext.Token) bool {
	if token.Kind() != jsontext.KindNumber {
		return false
	}
	_, err := strconv.ParseFloat(token.String(), 64)
	return err != nil
}

// hasBeyondDouble reports whether a JSON text has a number outside a double.
func hasBeyondDouble(data []byte) bool {
	if !mayExceedDouble(data) {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		if exceedsDouble(d, token) {
			return true
		}
	}
}

// manyItems is the length of a body from which its arrays are counted before decoding, in bytes. A shorter body takes
// little memory in any case.
const manyItems = 16 << 10

// CountItems refuses a request whose arrays have too many elements before it decodes them: a megabyte of them takes
// forty times its size. Spec gap: S32.
func CountItems(data []byte) apitype.Violations {
	if len(data) < manyItems {
		return nil
	}
	// A decoder copies nothing of a buffer.
	d := jsontext.NewDecoder(
		bytes.NewBuffer(data),
		jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true),
	)
	if token, err := d.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginObject {
		return nil // The decoder reports other errors.
	}
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		member := name.String()
		limit, counted := apitype.MaxItems(member)
		if !counted || d.PeekKind() != jsontext.KindBeginArray {
			if d.SkipValue() != nil {
				return nil
			}
			continue
		}
		if n, err := countArray(d, limit); n > limit {
			return apitype.Violations{
				{Pointer: "/" + member, Message: fmt.Sprintf("must have %d items at most", limit)},
			}
		} else if err != nil {
			return nil
		}
	}
	return nil
}

// countArray counts the elements of the array that comes, one more than limit at most.
func countArray(d *jsontext.Decoder, limit int) (int, error) {
	var n int
	if _, err := d.ReadToken(); err != nil {
		return n, err
	}
	for ; n <= limit && d.PeekKind() != jsontext.KindEndArray; n++ {
		if err := d.SkipValue(); err != nil {
			return n, err
		}
	}
	_, err := d.ReadToken()
	return n, err
}

// tooDeepText reports whether a JSON text is nested too deeply. Few have as many brackets,
// and those are counted in no time.
func tooDeepText(data []byte) bool {
	brackets := bytes.Count(data, []byte{'{'}) + bytes.Count(data, []byte{'['})
	return brackets > apitype.MaxDepth && apitype.Depth(data) > apitype.MaxDepth
}

// strict are the options of a strict decoder. Made once: the decoder keeps what it found
// out about types with them.
var strict = sync.OnceValue(func() json.Options {
	return json.JoinOptions(json.RejectUnknownMembers(true), apitype.StrictDecoding())
})

// firstPlace returns the pointer to the first refused value of a JSON text, or to the object with a refused name. It
// is empty if the text is broken before that.
func firstPlace(data []byte, refused func(*jsontext.Decoder, jsontext.Token) bool) string {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return ""
		}
		if !refused(d, token) {
			continue
		}
		kind, length := d.StackIndex(d.StackDepth())
		if kind == jsontext.KindBeginObject && length%2 == 1 { // The token was a name.
			return string(d.StackPointer().Parent())
		}
		return string(d.StackPointer())
	}
}

func tooDeep(d *jsontext.Decoder, _ jsontext.Token) bool { return d.StackDepth() > apitype.MaxDepth }

func withNUL(_ *jsontext.Decoder, token jsontext.Token) bool {
	return token.Kind() == jsontext.KindString && strings.ContainsRune(token.String(), 0)
}

// violation returns the error of a decoder without the value.
func violation(err error) apitype.Violation {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return apitype.Violation{Pointer: string(semantic.JSONPointer), Message: semanticMessage(semantic)}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		where := string(syntactic.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return apitype.Violation{Pointer: where, Message: "is given twice"}
		}
		return apitype.Violation{Pointer: where, Message: "is not valid JSON in UTF-8"}
	}
	return apitype.Violation{Message: "the body is not valid JSON"}
}

func semanticMessage(err *json.SemanticError) string {
	if errors.Is(err, json.ErrUnknownName) {
		return "is not a known field"
	}
	t := err.GoType
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "is not valid"
	}
	// The package's own types return a constant text.
	if own := reflect.TypeFor[apitype.UUID]().PkgPath(); t.PkgPath() == own && err.Err != nil &&
		t.Kind() != reflect.String {
		if said := err.Err.Error(); strings.HasPrefix(said, "is ") || strings.HasPrefix(said, "must ") {
			return said
		}
	}
	switch t.Kind() {
	case reflect.Bool:
		return "must be true or false"
	case reflect.String:
		return "must be a string"
	case reflect.Int, reflect.Int64:
		return "must be a whole number"
	case reflect.Slice:
		return "must be an array"
	case reflect.Array:
		return "must be a string"
	case reflect.Struct:
		return "must be a JSON object"
	default:
		return "is not valid"
	}
}

// hasNUL reports whether a string in a JSON text holds a NUL, which must be escaped
// there: an odd number of backslashes before u0000.
func hasNUL(data []byte) bool {
	for {
		i := bytes.Index(data, []byte(`u0000`))
		if i < 0 {
			return false
		}
		slashes := 0
		for slashes < i && data[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 1 {
			return true
		}
		data = data[i+5:]
	}
}
