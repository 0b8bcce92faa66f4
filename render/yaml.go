package render

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// yamlOf is a JSON value as YAML 1.2, in the order of its names and with every digit. Lines
// after the first begin with indent.
func yamlOf(raw []byte, indent string) []byte {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return appendYAML(nil, dec, indent, true)
}

// appendYAML writes the next value of dec. Where it has lines of its own, they begin here, or
// below a name that stands on the line already.
func appendYAML(out []byte, dec *jsontext.Decoder, indent string, here bool) []byte {
	token, err := dec.ReadToken()
	if err != nil { // The value was valid when it came.
		return out
	}
	kind := token.Kind()
	if kind != '{' && kind != '[' {
		return append(append(out, yamlScalar(token)...), '\n')
	}
	if closing := kind + 2; dec.PeekKind() == closing { // As in ASCII.
		_, _ = dec.ReadToken() // It was looked at.
		return append(out, string([]byte{byte(kind), byte(closing), '\n'})...)
	}
	for first := true; dec.PeekKind() != '}' && dec.PeekKind() != ']' && dec.PeekKind() != 0; first = false {
		switch {
		case !first:
			out = append(out, indent...)
		case !here:
			out = append(bytes.TrimRight(out, " "), "\n"+indent...)
		}
		if kind == '[' {
			out = appendYAML(append(out, "- "...), dec, indent+"  ", true)
			continue
		}
		name, err := dec.ReadToken()
		if err != nil {
			return out
		}
		out = append(append(out, yamlScalar(name)...), ": "...)
		out = appendYAML(out, dec, indent+"  ", false)
	}
	_, _ = dec.ReadToken() // The end that was looked at.
	return out
}

// yamlScalar is one value. A text that YAML would read as something else, or not at all, is
// quoted as in JSON, which YAML reads alike.
func yamlScalar(token jsontext.Token) string {
	text := token.String()
	if token.Kind() != '"' {
		return text
	}
	if isPlainYAML(text) {
		return text
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // What is no UTF-8 was replaced.
		return `""`
	}
	var safe strings.Builder
	for _, r := range string(quoted) {
		if unicode.IsPrint(r) || r > 0xffff {
			safe.WriteRune(r)
		} else { // JSON has it as it is; YAML would not, or break the line.
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	return safe.String()
}

// isPlainYAML reports whether a text means itself without quotes: letters first, and nothing
// that has a meaning for any version of YAML.
func isPlainYAML(text string) bool {
	if text == "" || strings.Contains("|true|false|null|yes|no|on|off|y|n|nan|inf|", "|"+strings.ToLower(text)+"|") {
		return false
	}
	if c := text[0] | 0x20; c < 'a' || c > 'z' {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0x7f || r < ' ' || strings.ContainsRune(`:#{}[],&*!|>'"%@`+"`", r)
	}) && !strings.HasSuffix(text, " ")
}
