// Package render turns records into what a person or a script reads: a table, tsv, csv,
// json, ndjson or bare identifiers; one record field by field; values masked, cleaned
// and shortened where that is wanted.
//
// It must not know where records come from nor which command asked: no network, no
// command line, no terminal program. It writes to the writer that it is given and to
// nothing else.
//
//	list, err := render.NewList(os.Stdout, render.CallColumns(), render.Options{Format: render.NDJSON})
//	if err != nil {
//		return err // an unknown column
//	}
//	err = list.Add(raw, decode)
//	err = list.Close()
package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// Format is the format of records.
type Format string

// The formats.
const (
	Table  Format = "table"  // For people: aligned, coloured, cut to the width.
	TSV    Format = "tsv"    // Without a header; tabs and newlines in values become spaces.
	CSV    Format = "csv"    // RFC 4180 with a header.
	JSON   Format = "json"   // One document, the records as the service sent them.
	NDJSON Format = "ndjson" // One record a line, as the service sent it.
	ID     Format = "id"     // One identifier a line.
	Wide   Format = "wide"   // A table of every column, uncut.
)

// Formats returns all formats.
var Formats = []Format{Table, Wide, TSV, CSV, JSON, NDJSON, ID}

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	if slices.Contains(Formats, Format(name)) {
		return Format(name), nil
	}
	return "", fmt.Errorf("-o must be one of %s, not %q", strings.Join(apitype.Texts(Formats), ", "), Clean(name))
}

// IsJSON reports whether the format is for programs that read JSON.
func (f Format) IsJSON() bool { return f == JSON || f == NDJSON }

// Options set how records are written.
type Options struct {
	Format     Format
	Columns    []string // Names of columns. Empty means the noun's columns.
	SortBy     string   // Name of a column, with - before it for descending order. Empty keeps the order.
	Most       int      // Writes only so many of the sorted records. Zero writes all.
	Identifier string   // The member that the format id prints. Empty means uuid.
	NoHeader   bool
	Query      *Query // Runs over the whole list, or with NDJSON over each record. Nil if there is none.
	Endless    bool   // The list has no end: a query runs over each record in any format.
	Terminal   bool   // The output goes to a terminal: text is cleaned and cut.
	Color      bool
	Width      int // Of the terminal, in cells. Zero cuts nothing.
	// CSV for Excel with the settings of this country. Empty means RFC 4180.
	Excel     string
	TooNarrow func(shortened, missing []string) // Called with the columns of a table that did not fit. May be nil.
	Now       time.Time                         // For relative times.
	Location  *time.Location                    // For absolute times in tables. Nil means UTC.
	Locale    Locale                            // For tables and records field by field.
}

// eachRecord reports whether a query runs over each record, and not over the whole list.
func (o Options) eachRecord() bool {
	return o.Endless || o.Format == NDJSON
}

// Column is one value of a record.
type Column[T any] struct {
	Name     string             // As in the interface, dotted when nested; the csv header.
	Title    string             // The head of the column. Empty means the name.
	Value    func(T) string     // Exact; times in RFC 3339 UTC.
	Cell     func(T, View) Text // In a table. Nil means Value.
	Default  bool               // Shown when no columns were asked for.
	Flexible bool               // May be cut to fit a terminal.
	Right    bool               // Aligned to the right.
	Width    int                // In a list on the screen, in cells; with Grow the least.
	Grow     bool               // It shares what is left over there.
	Items    bool               // A list with commas: items without room there are left out whole.
	// Time and Number are the source of the value, if it has one: lists on the screen show ages, and sort by them.
	Time   func(T) *apitype.Time
	Number func(T) int64
	// IsNumber reports whether the value is a number for Excel. Nil means that it is one if Number is set.
	IsNumber func(T) bool
}

// isNumber reports whether Excel gets the value of a record as a number.
func (c Column[T]) isNumber(record T) bool {
	if c.IsNumber != nil {
		return c.IsNumber(record)
	}
	return c.Number != nil
}

// RevisionColumn returns the column of the revisions of records that were read with them.
func RevisionColumn[T any](of func(T) *apitype.Number) Column[T] {
	return Column[T]{
		Name:    "rev",
		Default: true,
		Right:   true,
		Value:   func(record T) string { return FieldText(of(record)) },
		Number: func(record T) int64 {
			n := of(record)
			if n == nil {
				return 0
			}
			value, _ := n.Int() // A revision is no larger.
			return value
		},
	}
}

// In returns the column's cell of a record in a table, safe to draw.
func (c Column[T]) In(record T, v View) Text {
	cell := Text{}
	if c.Cell != nil {
		cell = c.Cell(record, v)
	} else {
		cell.Text = c.Value(record)
	}
	cell.Text = apartEmoji(Clean(cell.Text))
	return cell
}

// View has the settings that cells of a table depend on.
type View struct {
	Now      time.Time
	Location *time.Location
	Locale   Locale
	// A result in the words of a profile. Nil means the words of its code.
	Result func(kind apitype.CallType, code string) string
}

// result returns the result of a call in words.
func (v View) result(kind apitype.CallType, code string) string {
	if v.Result == nil {
		return Words(code)
	}
	return v.Result(kind, code)
}

// Text is a text with the role that colours it. Colour never carries meaning alone.
type Text struct {
	Text string
	Role Role
}

// Role is why a text is coloured.
type Role int

// The roles.
const (
	Plain Role = iota
	Good
	Bad
	Waiting
	Faint
	Strong
)

// The colours of the roles: the sixteen that each terminal theme defines.
var roleCodes = [...]string{Good: "32", Bad: "31", Waiting: "33", Faint: "90", Strong: "1"}

// Paint returns the text in the colour of its role.
func (t Text) Paint() string {
	if t.Role == Plain || t.Text == "" {
		return t.Text
	}
	return "\x1b[" + roleCodes[t.Role] + "m" + t.Text + "\x1b[0m"
}

// ColumnError is a column that is not there.
type ColumnError struct {
	problem string
	Name    string   // Empty if it has no columns.
	Known   []string // What a column may be called.
}

// Error names the unknown column, and lists the known ones.
func (e *ColumnError) Error() string { return e.problem }

var errNoColumns = &ColumnError{problem: "what is printed here has no columns; choose fields by --jq"}

// Select finds columns by name, or by a path of the JSON. Without names it returns the default columns, or all. The
// error lists all columns.
func Select[T any](columns []Column[T], names []string, all bool) ([]Column[T], error) {
	var selected []Column[T]
	if len(names) == 0 {
		for _, column := range columns {
			if all || column.Default {
				selected = append(selected, column)
			}
		}
		return selected, nil
	}
	if len(columns) == 0 {
		return nil, errNoColumns
	}
	for _, name := range names {
		i := slices.IndexFunc(columns, func(c Column[T]) bool { return c.Name == name })
		if i < 0 {
			column, isPath := pathColumn[T](name)
			if !isPath {
				problem := fmt.Sprintf(
					"there is no column %q; there are %s, and any path of the JSON",
					Clean(name),
					strings.Join(Names(columns), ", "),
				)
				if list := listIn[T](name); list != "" {
					problem = fmt.Sprintf("%s is a list, and %q is within it: choose by --jq, or ask fundesk query",
						list, Clean(name))
				}
				all := slices.Sorted(slices.Values(append(Names(columns), paths(reflect.TypeFor[T](), 2)...)))
				return nil, &ColumnError{problem, name, slices.Compact(all)}
			}
			selected = append(selected, column)
			continue
		}
		selected = append(selected, columns[i])
	}
	return selected, nil
}

// Names returns the names of columns.
func Names[T any](columns []Column[T]) []string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	return names
}
