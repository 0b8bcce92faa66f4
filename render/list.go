package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// List writes a list of records, one after the other. Nothing is written before the
// first record, so that a list that fails at once leaves the output empty.
type List[T any] struct {
	out     *bufio.Writer
	options Options
	columns []Column[T]
	count   int
	silent  int // Records of which a query left nothing.
	rows    *table[T]
	merged  []any       // What a query over the whole list will see.
	order   []Column[T] // The column to sort by, if any.
	kept    []sortable[T]
	Cut     bool // Sorted records were left out, as more came than are written.
}

// NewList prepares a list. Its error is a wrong column name.
func NewList[T any](out io.Writer, columns []Column[T], o Options) (*List[T], error) {
	selected, err := Select(columns, o.Columns, o.Format == CSV || o.Format == Wide)
	if err != nil {
		return nil, err
	}
	if o.Format == Wide {
		o.Format, o.Width = Table, 0
	}
	var order []Column[T]
	if by := strings.TrimPrefix(o.SortBy, "-"); by != "" {
		if order, err = Select(columns, []string{by}, false); err != nil {
			return nil, err
		}
	}
	l := &List[T]{order: order, out: bufio.NewWriterSize(out, 64<<10), options: o, columns: selected}
	if o.Format == Table {
		l.rows = newTable(l.out, selected, o)
	}
	return l, nil
}

// Count is how many records were added.
func (l *List[T]) Count() int { return l.count + len(l.kept) }

// Printed is how many of them left something in the output: a query over each may leave
// nothing of one.
func (l *List[T]) Printed() int { return l.count - l.silent }

// Add writes one record: raw is its JSON, decode reads it when the format needs that; a
// record that cannot be decoded is none of the list. The first one is handed to the output
// at once, so that whoever reads it may begin.
func (l *List[T]) Add(raw []byte, decode func() (T, error)) error {
	var record T
	if l.isTyped() || l.order != nil {
		var err error
		if record, err = decode(); err != nil {
			return err
		}
	}
	if l.order != nil {
		l.keep(raw, record)
		return nil
	}
	return l.write(raw, record)
}

// write adds one record to the output.
func (l *List[T]) write(raw []byte, record T) error {
	l.count++
	if err := l.add(raw, record); err != nil || l.count > 1 {
		return err
	}
	return l.Flush()
}

// isTyped reports whether the format shows values, and not the record as it was sent.
func (l *List[T]) isTyped() bool {
	return l.options.Query == nil && slices.Contains([]Format{Table, TSV, CSV}, l.options.Format)
}

func (l *List[T]) add(raw []byte, record T) error {
	switch {
	case l.options.Query != nil:
		return l.addQueried(raw)
	case l.options.Format == JSON:
		return l.addJSON(raw)
	case l.options.Format == NDJSON:
		return l.writeLine(compactLine(raw))
	case l.options.Format == ID:
		id, err := identifier(raw, l.options.Identifier)
		if err != nil {
			return err
		}
		return l.writeLine([]byte(l.clean(id)))
	default:
		return l.addRow(record)
	}
}

func (l *List[T]) addRow(record T) error {
	switch l.options.Format {
	case TSV:
		return writeTSV(l.out, l.columns, record)
	case CSV:
		if err := l.csvHeader(); err != nil {
			return err
		}
		return writeCSV(l.out, l.columns, record, l.options)
	default:
		return l.rows.add(record)
	}
}

func (l *List[T]) csvHeader() error {
	if l.count != 1 || l.options.NoHeader {
		return nil
	}
	return writeCSVHeader(l.out, l.columns, l.options)
}

func (l *List[T]) addJSON(raw []byte) error {
	separator := ",\n"
	if l.count == 1 {
		separator = "[\n"
	}
	if _, err := l.out.WriteString(separator); err != nil {
		return err
	}
	if l.options.Terminal {
		raw = indent(raw)
	}
	_, err := l.out.Write(raw)
	return err
}

func (l *List[T]) addQueried(raw []byte) error {
	value, err := l.options.Query.read(raw)
	if err != nil {
		return err
	}
	if l.options.eachRecord() {
		results, err := l.options.Query.run(l.out, value, l.options)
		if results == 0 {
			l.silent++
		}
		return err
	}
	l.merged = append(l.merged, value)
	return nil
}

func (l *List[T]) writeLine(line []byte) error {
	if l.options.Terminal {
		line = CleanJSON(line)
	}
	if _, err := l.out.Write(line); err != nil {
		return err
	}
	return l.out.WriteByte('\n')
}

func (l *List[T]) clean(text string) string {
	if l.options.Terminal {
		return Clean(text)
	}
	return text
}

// Flush hands what was written to the output: at the end of a page.
func (l *List[T]) Flush() error {
	if l.options.Format == Table {
		return nil // The first rows decide the widths.
	}
	return l.out.Flush()
}

// Close ends a list that is complete: an empty one is written as such.
func (l *List[T]) Close() error { return l.end(true, true) }

// Abort ends a list that failed: an empty output stays empty, and no query runs over a part.
// A JSON array stays open, so that nobody takes it for whole, unless the list was read to
// its end.
func (l *List[T]) Abort(atEnd bool) error { return l.end(false, atEnd) }

func (l *List[T]) end(complete, closed bool) error {
	err := l.release()
	if err != nil {
		return err
	}
	switch {
	case l.options.Query != nil:
		if complete && !l.options.eachRecord() {
			_, err = l.options.Query.run(l.out, append([]any{}, l.merged...), l.options)
		}
	case l.options.Format == JSON && l.count > 0 && closed:
		_, err = l.out.WriteString("\n]\n")
	case l.options.Format == JSON && complete:
		_, err = l.out.WriteString("[]\n")
	case l.options.Format == CSV && l.count == 0 && complete && !l.options.NoHeader:
		err = writeCSVHeader(l.out, l.columns, l.options)
	case l.options.Format == Table:
		err = l.rows.close()
	}
	if err != nil {
		return err
	}
	return l.out.Flush()
}

// compactLine is a record on one line; one that already is stays as it is.
func compactLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	value := jsontext.Value(bytes.Clone(raw))
	if value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
	}
	return value
}

// indent is JSON laid out for a person, safe for a terminal.
func indent(raw []byte) []byte {
	value := jsontext.Value(bytes.Clone(raw))
	if value.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return CleanJSON(raw)
	}
	return CleanJSON(value)
}

// identifier is the member of a record that identifies it, its uuid where none is named.
// Another command reads one a line: whatever else a service calls a uuid must not pass for
// several.
func identifier(raw []byte, member string) (string, error) {
	if member != "" {
		var record map[string]any
		id, ok := "", false
		if json.Unmarshal(raw, &record) == nil {
			id, ok = record[member].(string)
		}
		if !ok {
			return "", ErrNoIdentifier
		}
		return id, nil
	}
	id, err := apitype.RecordUUID(raw)
	if err != nil {
		return "", ErrNoIdentifier
	}
	return id.String(), nil
}
