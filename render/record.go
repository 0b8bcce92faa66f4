package render

import (
	"bufio"
	"bytes"
	"encoding/json"
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
		value, err := o.Query.read(raw)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(out)
		if _, err := o.Query.run(w, value, o); err != nil {
			return err
		}
		return w.Flush()
	}
	switch {
	case o.Format == JSON:
		return Document(out, o, raw)
	case (o.Format == Table || o.Format == Wide) && len(o.Columns) == 0:
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

// fields writes a record field by field, everything that it holds, in its own order.
func fields(out io.Writer, o Options, raw []byte) error {
	var lines []field
	if err := flatten(&lines, "", json.RawMessage(raw), o); err != nil {
		return err
	}
	width := 0
	for _, line := range lines {
		width = max(width, Width(line.name))
	}
	w := bufio.NewWriter(out)
	for _, line := range lines {
		if err := writeField(w, line, width, o); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeField writes one field; the lines of a long text stand under each other.
func writeField(w *bufio.Writer, line field, width int, o Options) error {
	parts := strings.Split(line.value.Text, "\n")
	for i, part := range parts {
		name := ""
		if i == 0 {
			name = line.name
		}
		name = Pad(name, width)
		if o.Color {
			name = Text{Text: name, Role: Faint}.Paint()
			part = Text{Text: part, Role: line.value.Role}.Paint()
		}
		if _, err := w.WriteString(strings.TrimRight(name+"  "+part, " ") + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// flatten lists the fields of a JSON value with dotted names.
func flatten(lines *[]field, name string, raw json.RawMessage, o Options) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch dec.PeekKind() {
	case '{':
		return flattenObject(lines, name, dec, o)
	case '[':
		return flattenArray(lines, name, dec, o)
	case '"':
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		*lines = append(*lines, field{name, fieldText(name, token.String(), o)})
	case 'n': // Nothing is known: not worth a line.
	default:
		*lines = append(*lines, field{name, numberText(name, string(bytes.TrimSpace(raw)), o)})
	}
	return nil
}

func flattenObject(lines *[]field, prefix string, dec *jsontext.Decoder, o Options) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := Clean(token.String())
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if prefix == "pledgeCase" && (name == "person" || name == "calls" || name == "transactions") {
			continue // The call shows its own; those of its pledge say the same again.
		}
		if prefix != "" {
			name = prefix + "." + name
		}
		if err := flatten(lines, name, json.RawMessage(bytes.Clone(value)), o); err != nil {
			return err
		}
	}
	return nil
}

func flattenArray(lines *[]field, prefix string, dec *jsontext.Decoder, o Options) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for i := 1; dec.PeekKind() != ']'; i++ {
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := flatten(lines, prefix+"."+strconv.Itoa(i), json.RawMessage(bytes.Clone(value)), o); err != nil {
			return err
		}
	}
	return nil
}

// fieldText is a text value as a person reads it: times with their distance from now.
func fieldText(name, value string, o Options) Text {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.HasSuffix(last, "At") || last == "collectionDate" {
		if t, err := apitype.ParseTime(value); err == nil {
			at := t.Time
			if o.Location != nil {
				at = at.In(o.Location)
			}
			return Text{Text: o.Locale.DateTime(at, "2006-01-02 15:04:05 MST") + " (" + relativeLong(at, o.Now) + ")"}
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

// numberText is a number or a truth value; amounts as the locale writes them.
func numberText(name, value string, o Options) Text {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if o.Locale != (Locale{}) && (last == "amount" || strings.HasSuffix(last, "Amount")) {
		if amount, err := apitype.ParseAmount(value); err == nil {
			return Text{Text: Clean(o.Locale.Amount(amount))}
		}
	}
	return Text{Text: Clean(value)}
}

// relativeLong is RelativeTime that never falls back to the date.
func relativeLong(t, now time.Time) string {
	days := int(now.Sub(t).Hours() / 24)
	switch {
	case days >= 60:
		return strconv.Itoa(days) + "d ago"
	case days <= -60:
		return "in " + strconv.Itoa(-days) + "d"
	default:
		return RelativeTime(t, now)
	}
}

// Line writes one JSON document on one line.
func Line(out io.Writer, o Options, raw []byte) error {
	line := compactLine(bytes.TrimSpace(raw))
	if o.Terminal {
		line = CleanJSON(line)
	}
	_, err := fmt.Fprintf(out, "%s\n", line)
	return err
}
