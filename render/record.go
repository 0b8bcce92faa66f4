package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// ErrNoIdentifier is a record that cannot be printed as its identifier.
var ErrNoIdentifier = errors.New("a record has no uuid")

// Record writes one record: as one document, one line, one row, or field by field in a
// table.
func Record[T any](out io.Writer, columns []Column[T], o Options, raw []byte, decode func() (T, error)) error {
	if o.Query != nil {
		return o.Query.Print(out, o, raw)
	}
	if o.Format == JSON {
		return Document(out, o, raw)
	}
	if (o.Format == Table || o.Format == Wide) && len(o.Columns) == 0 {
		return fields(out, o, raw)
	}
	list, err := NewList(out, columns, o)
	if err != nil {
		return err
	}
	if err := list.Add(raw, decode); err != nil {
		return err
	}
	return list.Close()
}

// Document writes one JSON document: laid out on a terminal, else as it was sent.
func Document(out io.Writer, o Options, raw []byte) error {
	if o.Terminal {
		raw = indent(raw)
	}
	_, err := fmt.Fprintf(out, "%s\n", raw)
	return err
}

// field is one line of a record that is written field by field.
type field struct {
	name  string
	value Text
}

// fields writes all fields of a record in its own order. The lines of a long text are aligned.
func fields(out io.Writer, o Options, raw []byte) error {
	var lines []field
	dec := jsontext.NewDecoder(
		bytes.NewReader(raw),
		jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true),
	)
	if err := flatten(&lines, "", dec, o); err != nil {
		return err
	}
	width := 0
	for _, line := range lines {
		width = max(width, Width(line.name))
	}
	var b []byte
	for _, line := range lines {
		name := line.name
		for part := range strings.SplitSeq(line.value.Text, "\n") {
			name = Pad(name, width)
			if o.Color {
				name, part = Text{Text: name, Role: Faint}.Paint(), Text{Text: part, Role: line.value.Role}.Paint()
			}
			b = append(append(b, strings.TrimRight(name+"  "+part, " ")...), '\n')
			name = ""
		}
	}
	_, err := out.Write(b)
	return err
}

// flatten lists the fields of a JSON value with dotted names.
func flatten(lines *[]field, name string, dec *jsontext.Decoder, o Options) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	below := func(member string) string { return strings.TrimPrefix(name+"."+member, ".") }
	switch token.Kind() {
	case '{':
		for dec.PeekKind() == '"' && err == nil {
			key, _ := dec.ReadToken()
			member := Clean(key.String())
			isOfPledge := member == "person" || member == "calls" || member == "transactions"
			if name == "pledgeCase" && isOfPledge {
				err = dec.SkipValue() // The call shows its own attempts, which its pledge repeats.
				continue
			}
			err = flatten(lines, below(member), dec, o)
		}
	case '[':
		for i := 1; dec.PeekKind() != ']' && err == nil; i++ {
			err = flatten(lines, below(strconv.Itoa(i)), dec, o)
		}
	case '"':
		*lines = append(*lines, field{name, fieldText(name, token.String(), o)})
		return nil
	case 'n': // Nothing is known: not worth a line.
		return nil
	default:
		*lines = append(*lines, field{name, numberText(name, token.String(), o)})
		return nil
	}
	if err != nil {
		return err
	}
	_, err = dec.ReadToken()
	return err
}

// fieldText returns a text value for a person: times with their distance from now.
func fieldText(name, value string, o Options) Text {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.HasSuffix(last, "At") || last == "collectionDate" {
		if t, err := apitype.ParseTime(value); err == nil {
			at := t.Time
			if o.Location != nil {
				at = at.In(o.Location)
			}
			return Text{Text: o.Locale.DateTime(at, "2006-01-02 15:04:05 MST") + " (" + distance(at, o.Now) + ")"}
		}
	}
	switch last {
	case "status":
		return Text{Text: Clean(value), Role: statusRole(value)}
	case "phoneNumber", "mobilePhoneNumber":
		return Text{Text: Clean(o.Locale.Phone(value))}
	case "dateOfBirth":
		if day, err := apitype.ParseDate(value); err == nil && o.Locale != (Locale{}) {
			return Text{Text: o.Locale.Date(day.Midnight(), time.DateOnly)}
		}
	}
	return Text{Text: CleanLines(value)}
}

// numberText returns a number or a truth value. The locale formats amounts.
func numberText(name, value string, o Options) Text {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if o.Locale != (Locale{}) && (last == "amount" || strings.HasSuffix(last, "Amount")) {
		if amount, err := apitype.ParseAmount(value); err == nil {
			return Text{Text: Clean(o.Locale.Amount(amount))}
		}
	}
	return Text{Text: Clean(value)}
}

// Line writes one JSON document on one line.
func Line(out io.Writer, o Options, raw []byte) error {
	_, err := fmt.Fprintf(out, "%s\n", o.line(bytes.TrimSpace(raw)))
	return err
}
