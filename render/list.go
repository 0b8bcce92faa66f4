package render

import (
	"bufio"
	"bytes"
	"cmp"
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
		order, err = Select(columns, []string{by}, false)
		if err != nil {
			return nil, err
		}
	}
	l := &List[T]{
		order:   order,
		out:     bufio.NewWriterSize(out, 64<<10),
		options: o,
		columns: selected,
	}
	if o.Format == Table {
		l.rows = &table[T]{
			columns: selected,
			options: o,
			view:    View{Now: o.Now, Location: o.Location, Locale: o.Locale},
		}
	}
	return l, nil
}

// Count returns how many records were added.
func (l *List[T]) Count() int { return l.count + len(l.kept) }

// Printed returns how many of them produced output: a query may produce none.
func (l *List[T]) Printed() int { return l.count - l.silent }

// Add writes one record. raw is its JSON, and decode reads it if the format needs that. A record that cannot be
// decoded is left out. The first one is written at once, so that its reader may begin.
func (l *List[T]) Add(raw []byte, decode func() (T, error)) error {
	var record T
	isTyped := l.options.Query == nil && slices.Contains([]Format{Table, TSV, CSV}, l.options.Format)
	if isTyped || l.order != nil {
		var err error
		record, err = decode()
		if err != nil {
			return err
		}
	}
	if l.order == nil {
		return l.write(raw, record)
	}
	s := sortable[T]{
		raw:    bytes.Clone(raw),
		record: record,
		key:    strings.ToLower(l.order[0].Value(record)),
	} // A page is used again.
	if n, err := apitype.ParseNumber(s.key); err == nil {
		s.number = &n
	}
	l.kept = append(l.kept, s)
	if l.options.Most > 0 && len(l.kept) >= 2*l.options.Most {
		l.sort()
	}
	return nil
}

// write adds one record to the output.
func (l *List[T]) write(raw []byte, record T) error {
	l.count++
	b, err := l.add(l.out.AvailableBuffer(), raw, record)
	_, failed := l.out.Write(b)
	err = cmp.Or(err, failed)
	if err != nil || l.count > 1 {
		return err
	}
	return l.Flush()
}

// add adds one record to b.
func (l *List[T]) add(b, raw []byte, record T) ([]byte, error) {
	o := l.options
	if o.Query != nil {
		value, err := o.Query.read(raw)
		if err != nil {
			return b, err
		}
		if !o.eachRecord() {
			l.merged = append(l.merged, value)
			return b, nil
		}
		results, err := o.Query.run(l.out, value, o)
		if results == 0 {
			l.silent++
		}
		return b, err
	}
	if o.Format == JSON {
		if o.Terminal {
			raw = indent(raw)
		}
		separator := ",\n"
		if l.count == 1 {
			separator = "[\n"
		}
		return append(append(b, separator...), raw...), nil
	}
	if o.Format == NDJSON {
		return append(append(b, o.line(raw)...), '\n'), nil
	}
	if o.Format == ID {
		id, err := identifier(raw, o.Identifier)
		if err != nil {
			return b, err
		}
		if o.Terminal {
			id = Clean(id)
		}
		return append(append(b, id...), '\n'), nil
	}
	if o.Format == TSV {
		return appendTSV(b, l.columns, record), nil
	}
	if o.Format == CSV {
		if l.count == 1 && !o.NoHeader {
			b = appendCSVHeader(b, l.columns, o)
		}
		return appendCSV(b, l.columns, record, o), nil
	}
	return l.rows.add(b, record), nil
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

// Abort ends a list that failed. An empty output stays empty, and no query runs over a part. A JSON array stays open,
// so that it does not look complete, unless the list was read to its end.
func (l *List[T]) Abort(atEnd bool) error { return l.end(false, atEnd) }

func (l *List[T]) end(complete, closed bool) error {
	l.sort()
	kept := l.kept
	l.kept = nil
	for _, s := range kept {
		if err := l.write(s.raw, s.record); err != nil {
			return err
		}
	}
	b, o, err := l.out.AvailableBuffer(), l.options, error(nil)
	isEmpty := complete && l.count == 0
	switch {
	case o.Query != nil:
		if complete && !o.eachRecord() {
			_, err = o.Query.run(l.out, append([]any{}, l.merged...), o)
		}
	case o.Format == JSON && l.count > 0 && closed:
		b = append(b, "\n]\n"...)
	case o.Format == JSON && complete:
		b = append(b, "[]\n"...)
	case o.Format == CSV && isEmpty && !o.NoHeader:
		b = appendCSVHeader(b, l.columns, o)
	case o.Format == Table:
		b = l.rows.begin(b)
	}
	if _, failed := l.out.Write(b); cmp.Or(err, failed) != nil {
		return cmp.Or(err, failed)
	}
	return l.out.Flush()
}

// line returns a record on one line, as it may be written.
func (o Options) line(raw []byte) []byte {
	raw = compactLine(raw)
	if o.Terminal {
		return CleanJSON(raw)
	}
	return raw
}

// sortable is a record that waits for the others.
type sortable[T any] struct {
	raw    []byte
	record T
	key    string
	number *apitype.Number
}

// sort puts the gathered records in their order, and lets go of those beyond the most that are written:
// numbers by their value, before texts; nothing comes last.
func (l *List[T]) sort() {
	direction := 1
	if strings.HasPrefix(l.options.SortBy, "-") {
		direction = -1
	}
	slices.SortStableFunc(l.kept, func(a, b sortable[T]) int {
		if a.key == "" || b.key == "" {
			return cmp.Compare(len(b.key), len(a.key))
		}
		if a.number != nil && b.number != nil {
			return direction * a.number.Compare(*b.number)
		}
		if a.number != nil {
			return -direction
		}
		if b.number != nil {
			return direction
		}
		return direction * strings.Compare(a.key, b.key)
	})
	if most := l.options.Most; most > 0 && len(l.kept) > most {
		clear(l.kept[most:])
		l.kept, l.Cut = l.kept[:most], true
	}
}

// compactLine returns a record on one line.
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

// indent returns JSON with line breaks, safe for a terminal.
func indent(raw []byte) []byte {
	value := jsontext.Value(bytes.Clone(raw))
	err := value.Indent(
		jsontext.WithIndent("  "),
		jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true),
	)
	if err != nil {
		return CleanJSON(raw)
	}
	return CleanJSON(value)
}

// identifier returns the member of a record that identifies it, by default its uuid. Other commands read one a line,
// so only a well-formed UUID is printed.
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
