package page

import (
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

// Row is the part of a record that a list keeps: its identifier and the text of its columns. A whole record takes
// twenty times the memory, and a list holds tens of thousands of rows.
type Row struct {
	ID       apitype.UUID
	micros   int64  // The time that the list is sorted by.
	number   int64  // Of the column that is sorted by its number.
	cells    string // The texts of the columns, and further text in which words are searched.
	external bool   // Its state is another system's: anything may be done.
	leftOut  bool   // By what the filter looks at here.
	found    bool   // The service searched for the words of the filter.
	views    uint8  // The views that it belongs to, a bit for each.
}

// cellEnd ends each cell of a row but the last one; a cleaned text has none.
const cellEnd = "\n"

func (r Row) at() time.Time { return time.UnixMicro(r.micros) }

// row returns the part of a record that the list keeps.
func (l *List[T]) row(record T) Row {
	row, view := l.about(record), l.view()
	b := make([]byte, 0, 128)
	for _, c := range l.columns {
		switch {
		case c.Name == "uuid": // The row has it.
		case c.Time != nil:
			var at time.Time
			if t := c.Time(record); t != nil {
				at = t.Time
			}
			row.micros = at.UnixMicro()
		default:
			if c.Number != nil {
				row.number = c.Number(record)
			}
			b = append(b, Clean(c.Cell(record, view).Text)...)
		}
		b = append(b, cellEnd...)
	}
	if l.also != nil {
		b = append(b, Clean(l.also(record))...)
	}
	row.cells, row.views = string(b), l.viewsOf(record)
	return row
}

// text returns the cell of a column.
func (l *List[T]) text(r Row, column string) string {
	rest := r.cells
	for _, c := range l.columns {
		if c.Name == column {
			break
		}
		_, rest, _ = strings.Cut(rest, cellEnd)
	}
	text, _, _ := strings.Cut(rest, cellEnd)
	return text
}

// nameOf returns the name of a record as an agent would say it.
func (l *List[T]) nameOf(r Row) string {
	var texts []string
	for _, column := range l.title {
		texts = append(texts, l.text(r, column))
	}
	return strings.Join(texts, " ")
}

// searched returns the text that words are looked for in.
func (l *List[T]) searched(r Row) string {
	return r.ID.String() + cellEnd + r.cells
}

// cell draws a cell of a row; see [widget.Table].
func (l *List[T]) cell(b []byte, r Row, c *render.Column[T]) ([]byte, func(string) string) {
	if c.Name == "uuid" {
		return render.AppendShortID(b, r.ID), nil
	}
	if c.Time != nil {
		return render.AppendAge(b, l.Day.Now().Sub(r.at())), nil
	}
	text := l.text(r, c.Name)
	switch c.Name {
	case "status":
		_, role := l.Styles.status(text)
		if l.noun.kind == apitype.EntityPledge {
			return append(b, l.Styles.pledgeText(apitype.PledgeStatus(text))...), role
		}
		return append(b, l.Styles.statusText(text)...), role
	case "donationAmount":
		return append(b, l.inEuros(text)...), nil
	case "type":
		return append(b, l.Say(text)...), l.kinds[text]
	}
	return append(b, inWords(l.Env, c.Name, text)...), nil
}

// inWords returns a cell in the agent's language, where its column has words of the program, and not data.
func inWords(e *Env, column, text string) string {
	if slices.Contains(
		[]string{"type", "donationInterval", "language", "releasedAt", "recruitmentType", "state"},
		column,
	) {
		return e.Say(text)
	}
	return text
}

// columnWords are the words of columns that must have room for each.
var columnWords = map[string][]string{
	"type": {
		"verification",
		"happy",
		"winback",
	},
	"donationInterval": {"half-yearly", "quarterly"},
	"status":           {"requested", "completed", "cancelled", "fulfilled", "lead"},
}

// fitted returns a column with its title in the agent's language, with room for that and for each of its words.
func fitted[T any](e *Env, c render.Column[T]) render.Column[T] {
	c.Title, c.Right = e.Say(c.Title), c.Right || c.Time != nil
	c.Width = max(c.Width, render.Width(c.Title))
	for _, word := range columnWords[c.Name] {
		text := e.Say(render.Words(word))
		if c.Name == "status" {
			text = e.Styles.statusText(word)
		}
		c.Width = max(c.Width, render.Width(text))
	}
	return c
}

// wholeTable returns a table of rows that are made of records as they are. A time is shown as an age.
func wholeTable[T, R any](e *Env, columns []render.Column[T], record func(R) T) widget.Table[T, R] {
	var t widget.Table[T, R]
	for _, c := range columns {
		t.Columns = append(t.Columns, fitted(e, c))
	}
	t.Cell = func(b []byte, row R, c *render.Column[T]) ([]byte, func(string) string) {
		record := record(row)
		if c.Time == nil {
			return append(b, inWords(e, c.Name, c.Cell(record, e.view()).Text)...), nil
		}
		if t := c.Time(record); t != nil {
			b = render.AppendAge(b, e.Day.Now().Sub(t.Time))
		}
		return b, nil
	}
	return t
}

// itself returns the record, for lists that keep whole records.
func itself[T any](value T) T { return value }
