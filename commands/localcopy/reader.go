package localcopy

import (
	"reflect"

	"fundesk/apiclient/apitype"
)

// recordReader reads records from JSON into rows. It takes the forms that the service writes, such as times with
// milliseconds in UTC. A record with anything else is read by its type, which takes all forms and five times as long.
type recordReader struct {
	shape *shape
	rows  *rows
	batch *batch
	scan
	found
}

// found is a record as rows.
type found struct {
	id   apitype.UUID
	time apitype.Time // By which the service filters. Zero if it is unknown.
	text cell         // The uuid.
	rows []tableRow   // The first one is that of the record itself.
}

// tableRow is a row of a table.
type tableRow struct {
	*rows
	values []cell
}

// newReader returns a reader of records of type T. The tables are those of its members. The service filters by the
// member timed, or by none that is known.
func newReader[T any](main *rows, tables map[string]*rows, names map[string]string, timed string) *recordReader {
	s := &shaper{tables: tables, names: names}
	r := &recordReader{rows: main, shape: s.shapeOf(reflect.TypeFor[T](), main, "")}
	for i := range r.shape.members {
		m := &r.shape.members[i]
		switch m.name {
		case "uuid":
			m.role = roleID
		case timed:
			m.role = roleTime
		default:
			continue
		}
		r.shape.required |= 1 << i
	}
	return r
}

// read reads a record, which is valid JSON, into rows of a batch. It returns false if the record is to be read by its
// type.
func (r *recordReader) read(data []byte, b *batch) bool {
	r.batch, r.scan = b, scan{data: data}
	r.found = found{rows: r.found.rows[:0]}
	if !r.object(r.shape, r.begin(r.rows)) {
		return false
	}
	for _, row := range r.found.rows {
		if row.parent >= 0 {
			row.values[row.parent] = r.found.text
		}
	}
	return true
}

// begin begins a row.
func (r *recordReader) begin(of *rows) []cell {
	values := r.batch.room(len(of.empty))
	copy(values, of.empty)
	r.found.rows = append(r.found.rows, tableRow{of, values})
	return values
}

// object reads an object. Its values belong to a row, which is nil if no table has them.
func (r *recordReader) object(s *shape, row []cell) bool {
	if !r.take('{') {
		return false
	}
	var seen uint64
	next := 0
	for isFirst := true; !r.take('}'); isFirst = false {
		if !isFirst && !r.take(',') {
			return false
		}
		name, ok := r.name()
		if !ok {
			return false
		}
		i := s.find(name, next)
		if i < 0 {
			if !r.skip() {
				return false
			}
			continue
		}
		isTwice := seen&(1<<i) != 0
		if isTwice || !r.member(&s.members[i], row) {
			return false
		}
		seen |= 1 << i
		next = i + 1
	}
	return seen&s.required == s.required
}

// find returns the place of a member, or a number below zero. Members mostly come in their order.
func (s *shape) find(name []byte, next int) int {
	for i := next; i < len(s.members); i++ {
		if s.members[i].name == string(name) {
			return i
		}
	}
	for i := range next {
		if s.members[i].name == string(name) {
			return i
		}
	}
	return -1
}

// member reads the value of a member.
func (r *recordReader) member(m *member, row []cell) bool {
	if r.isNull() {
		return m.isOptional && r.skip()
	}
	switch m.kind {
	case memberObject:
		if m.rows != nil {
			row = r.begin(m.rows)
		}
		return r.object(m.shape, row)
	case memberList:
		return r.list(m)
	case memberAny:
		return r.peek() == '{' && r.skip()
	case memberText:
		return r.text(m, row)
	case memberUUID, memberTime, memberDate:
		return r.fixed(m, row)
	case memberYesNo, memberWhole, memberAmount:
		return r.number(m, row)
	default:
		return false
	}
}

// list reads a list of objects.
func (r *recordReader) list(m *member) bool {
	if !r.take('[') {
		return false
	}
	for n := int64(1); !r.take(']'); n++ {
		if n > 1 && !r.take(',') {
			return false
		}
		var row []cell
		if m.rows != nil {
			row = r.begin(m.rows)
			if m.rows.number >= 0 {
				row[m.rows.number] = cell{kind: cellWhole, number: n}
			}
		}
		if !r.object(m.shape, row) {
			return false
		}
	}
	return true
}

// text reads a text.
func (r *recordReader) text(m *member, row []cell) bool {
	if m.column < 0 {
		return r.peek() == '"' && r.skip()
	}
	before := len(r.batch.texts)
	texts, ok := r.appendText(r.batch.texts)
	if !ok {
		return false
	}
	r.batch.texts = texts
	length := len(texts) - before
	if length > 0 || !m.isFilled {
		row[m.column] = r.batch.last(length)
	}
	return true
}

// fixed reads a text of a fixed form, as the service writes it.
func (r *recordReader) fixed(m *member, row []cell) bool {
	text, ok := r.plain()
	if !ok || !isUsual(m.kind, text) {
		return false
	}
	if m.column >= 0 {
		r.batch.texts = append(r.batch.texts, text...)
		row[m.column] = r.batch.last(len(text))
	}
	var err error
	switch m.role {
	case roleID:
		r.found.text = row[m.column]
		err = r.id.UnmarshalText(text)
	case roleTime:
		err = r.time.UnmarshalText(text)
	}
	return err == nil
}

// isUsual reports whether a text has the form in which the copy stores it.
func isUsual(kind memberKind, text []byte) bool {
	switch kind {
	case memberUUID:
		return isUUID(text)
	case memberTime:
		return isTime(text)
	default:
		return isDate(text)
	}
}

// number reads a number, or yes or no.
func (r *recordReader) number(m *member, row []cell) bool {
	var n int64
	var ok bool
	switch m.kind {
	case memberYesNo:
		n, ok = r.yesNo()
	case memberAmount:
		n, ok = r.hundredths()
	default:
		n, ok = r.whole()
	}
	if !ok || m.column < 0 {
		return ok
	}
	value := cell{kind: cellWhole, number: n}
	if m.kind != memberAmount {
		row[m.column] = value
		return true
	}
	row[m.cents] = value
	before := len(r.batch.texts)
	r.batch.texts = appendHundredths(r.batch.texts, n)
	row[m.column] = r.batch.last(len(r.batch.texts) - before)
	return true
}
