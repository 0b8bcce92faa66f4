package localcopy

import (
	"reflect"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// shape describes a JSON object as a type of apitype reads it, and the columns of its members.
type shape struct {
	members  []member
	required uint64 // The members without which a row has another text than the empty one.
}

// member is a member of an object.
type member struct {
	name       string
	kind       memberKind
	isOptional bool // It may be null.
	isFilled   bool // An empty text is NULL.
	column     int  // Below zero if it has none.
	cents      int  // The column of an amount in cents. Below zero if it has none.
	shape      *shape
	rows       *rows // Of its objects, if they have a table of their own.
	role       memberRole
}

type memberKind uint8

const (
	memberStrange memberKind = iota // It is read by its type.
	memberText
	memberUUID
	memberTime
	memberDate
	memberYesNo
	memberWhole
	memberAmount
	memberAny // An object that is passed on.
	memberObject
	memberList
)

// memberRole is the meaning of a member for a feed.
type memberRole uint8

const (
	roleNone memberRole = iota
	roleID
	roleTime // By which the service filters.
)

// rows describes the rows of a table that are read from JSON.
type rows struct {
	*statement
	columns []column
	empty   []cell // The row of an empty object.
	parent  int    // The column of the record's uuid. Below zero if it has none.
	number  int    // The column of the place in the list. Below zero if it has none.
}

// rowsOf returns the description of the rows of a type.
func rowsOf[T any](s *statement, v *values[T], parent, number string) *rows {
	var none T
	isCalled := func(name string) func(column) bool {
		return func(c column) bool { return c.name == name }
	}
	return &rows{
		statement: s,
		columns:   v.columns,
		empty:     v.row(&batch{}, none),
		parent:    slices.IndexFunc(v.columns, isCalled(parent)),
		number:    slices.IndexFunc(v.columns, isCalled(number)),
	}
}

// column returns the place of a column, or a number below zero.
func (r *rows) column(name string) int {
	return slices.IndexFunc(r.columns, func(c column) bool { return c.name == name })
}

// shaper makes the shape of a record.
type shaper struct {
	tables map[string]*rows  // The tables of members, by their names.
	names  map[string]string // The columns that are not called as their members.
	within []reflect.Type    // The types around the present one.
}

// shapeOf returns the shape of a type. Its columns have the prefix.
func (s *shaper) shapeOf(of reflect.Type, rows *rows, prefix string) *shape {
	s.within = append(s.within, of)
	defer func() { s.within = s.within[:len(s.within)-1] }()
	shaped := &shape{}
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		m := s.member(of.Field(i).Type, rows, prefix, name)
		if m.kind == memberAmount && m.column >= 0 {
			shaped.required |= 1 << i
		}
		shaped.members = append(shaped.members, m)
	}
	return shaped
}

// member returns a member of an object.
func (s *shaper) member(of reflect.Type, rows *rows, prefix, name string) member {
	m := member{name: name, column: -1, cents: -1}
	of, m.isOptional = inner(of)
	m.kind = kindOf(of)
	column := prefix + name
	if other, isOther := s.names[column]; isOther {
		column = other
	}
	if rows != nil {
		m.column, m.cents = rows.column(column), rows.column(column+"_cents")
	}
	if m.column >= 0 {
		m.isFilled = rows.columns[m.column].isFilled
	}
	if len(s.within) == 1 {
		m.rows = s.tables[name]
	}
	isNested := m.kind == memberObject || m.kind == memberList
	switch {
	case !isNested:
	case m.kind == memberList && slices.Contains(s.within, of.Elem()), slices.Contains(s.within, of):
		m.kind = memberStrange
	case m.rows != nil && m.kind == memberList:
		m.shape = s.shapeOf(of.Elem(), m.rows, "")
	case m.rows != nil:
		m.shape = s.shapeOf(of, m.rows, "")
	case m.kind == memberList:
		m.shape = s.shapeOf(of.Elem(), nil, "")
	default:
		m.shape = s.shapeOf(of, rows, prefix+name+"_")
	}
	return m
}

// inner returns the type of a value that may be null, and whether it may.
func inner(of reflect.Type) (reflect.Type, bool) {
	part, isEmbedded := reflect.TypeAssert[interface{ Part() any }](reflect.Zero(of))
	if isEmbedded {
		return reflect.TypeOf(part.Part()).Elem(), true
	}
	if of.Kind() == reflect.Pointer {
		return of.Elem(), true
	}
	return of, false
}

// kindOf returns the kind of a member of a type.
func kindOf(of reflect.Type) memberKind {
	switch of {
	case reflect.TypeFor[apitype.UUID]():
		return memberUUID
	case reflect.TypeFor[apitype.Time]():
		return memberTime
	case reflect.TypeFor[apitype.Date]():
		return memberDate
	case reflect.TypeFor[apitype.Amount]():
		return memberAmount
	case reflect.TypeFor[apitype.Number]():
		return memberWhole
	case reflect.TypeFor[apitype.Object]():
		return memberAny
	}
	if readsItself(of) {
		return memberStrange
	}
	switch of.Kind() {
	case reflect.String:
		return memberText
	case reflect.Bool:
		return memberYesNo
	case reflect.Int:
		return memberWhole
	case reflect.Struct:
		return memberObject
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Struct && !readsItself(of.Elem()) {
			return memberList
		}
	}
	return memberStrange
}

// readsItself reports whether a type has a method that reads it from JSON.
func readsItself(of reflect.Type) bool {
	for _, name := range []string{"UnmarshalJSON", "UnmarshalJSONFrom", "UnmarshalText"} {
		if _, has := reflect.PointerTo(of).MethodByName(name); has {
			return true
		}
	}
	return false
}
