package page

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// Row is what a list keeps of a record: its identifier, and what its columns show. A record
// takes twenty times the room, and a list holds rows by the ten thousand.
type Row struct {
	ID       apitype.UUID
	shape    *shape
	cells    []byte // Of each cell a number, the length of its text, and the text.
	external bool   // Its state is another system's: anything may be done.
	leftOut  bool   // By what the filter looks at here.
}

// shape is what the rows of a list have in common.
type shape struct {
	cells []string // Their names: those of the columns, and after them of what is kept besides.
	title []string // The cells that name a record in a question.
	time  string   // The cell that the list is sorted by.
}

func (r Row) cell(index int) (number int64, text []byte) {
	b := r.cells
	for range index + 1 {
		number, text, b = nextCell(b)
	}
	return number, text
}

// nextCell returns the first of some cells, and those after it.
func nextCell(cells []byte) (number int64, text, rest []byte) {
	number, n := binary.Varint(cells)
	length, m := binary.Uvarint(cells[n:])
	cells = cells[n+m:]
	return number, cells[:length], cells[length:]
}

// number and text are those of the cell of a name; a row of no list has none.
func (r Row) number(name string) int64 {
	number, _ := r.cell(slices.Index(r.shape.cells, name))
	return number
}

func (r Row) text(name string) string {
	_, text := r.cell(slices.Index(r.shape.cells, name))
	return string(text)
}

// at returns the time that the list is sorted by.
func (r Row) at() time.Time { return time.UnixMicro(r.number(r.shape.time)) }

// name returns the record as a person says it.
func (r Row) name() string {
	var texts []string
	for _, cell := range r.shape.title {
		texts = append(texts, r.text(cell))
	}
	return strings.Join(texts, " ")
}

// title names the record in a question.
func (r Row) title() string { return desk.ShortID(r.ID) + "  " + r.name() }

// search returns the text that words are looked for in.
func (r Row) search() string {
	text := make([]byte, 0, 36+len(r.cells))
	text = append(text, r.ID.String()...)
	for b := r.cells; len(b) > 0; {
		var cell []byte
		_, cell, b = nextCell(b)
		text = append(append(text, ' '), cell...)
	}
	return string(text)
}

// rowMaker makes the rows of a noun.
type rowMaker[T any] struct {
	*Env
	listed []render.Listed[T]
	shape  shape
	about  func(T) Row    // All but its cells.
	also   func(T) string // Words are looked for in it, too; nil: in nothing else.
}

// newRowMaker makes rows for the columns of a list; title are the cells that name a record.
func newRowMaker[T any](e *Env, listed []render.Listed[T], about func(T) Row, time string, title ...string) *rowMaker[T] {
	m := &rowMaker[T]{Env: e, listed: listed, about: about, shape: shape{time: time, title: title}}
	for _, c := range listed {
		m.shape.cells = append(m.shape.cells, c.Name)
	}
	return m
}

// row returns what the list keeps of a record.
func (m *rowMaker[T]) row(record T) Row {
	row, view := m.about(record), m.view()
	row.shape = &m.shape
	b := make([]byte, 0, 128)
	add := func(number int64, text string) {
		b = binary.AppendUvarint(binary.AppendVarint(b, number), uint64(len(text)))
		b = append(b, text...)
	}
	for _, c := range m.listed {
		switch {
		case c.Name == "uuid":
			add(0, "") // The row has it.
		case c.Time != nil:
			var at time.Time
			if t := c.Time(record); t != nil {
				at = t.Time
			}
			add(at.UnixMicro(), "")
		case c.Number != nil:
			add(c.Number(record), Clean(c.Say(record, view)))
		default:
			add(0, Clean(c.Say(record, view)))
		}
	}
	if m.also != nil {
		add(0, Clean(m.also(record)))
	}
	row.cells = slices.Clone(b)
	return row
}

// columns returns the columns of the list, which sort by their number or their text; the latest time is the least age.
func (m *rowMaker[T]) columns() []widget.Column[Row] {
	columns, kinds := make([]widget.Column[Row], len(m.listed)), map[string]paint{}
	for _, kind := range apitype.CallTypes {
		kinds[render.Words(string(kind))] = m.Styles.kind(kind)
	}
	for i, listed := range m.listed {
		c := widget.Column[Row]{
			Title: listed.Heading, Width: listed.Width, Grow: listed.Grow, Right: listed.Right || listed.Time != nil, Down: listed.Time != nil,
			Text: func(b []byte, r Row) []byte {
				_, text := r.cell(i)
				return append(b, text...)
			},
		}
		if listed.Time != nil || listed.Number != nil {
			c.Number = func(r Row) int64 {
				number, _ := r.cell(i)
				return number
			}
		}
		switch {
		case listed.Name == "uuid":
			c.Text = func(b []byte, r Row) []byte { return desk.AppendShortID(b, r.ID) }
		case listed.Name == "status":
			c.Text = func(b []byte, r Row) []byte { return append(b, m.Styles.statusText(r.text("status"))...) }
			c.Paint = func(r Row) func(string) string { _, role := m.Styles.status(r.text("status")); return role }
		case listed.Name == "donationAmount":
			c.Text = func(b []byte, r Row) []byte {
				return append(append(append(b, euro(m.ASCII)...), ' '), r.text("donationAmount")...)
			}
		case c.Down:
			c.Text = func(b []byte, r Row) []byte { return render.AppendAge(b, m.Day.Now().Sub(time.UnixMicro(c.Number(r)))) }
		}
		if text := c.Text; slices.Contains(wordColumns, listed.Name) {
			c.Text = func(b []byte, r Row) []byte { return append(b, m.Say(string(text(nil, r)))...) }
		}
		if listed.Name == "type" {
			c.Paint = func(r Row) func(string) string { return kinds[r.text("type")] }
		}
		columns[i] = widened(m.Env, listed.Name, c)
	}
	return columns
}

// columnWords are the words of columns that must have room for each.
var columnWords = map[string][]string{
	"type": {"verification", "happy", "winback"}, "donationInterval": {"half-yearly", "quarterly"}, "status": {"requested", "completed", "cancelled", "fulfilled", "lead"},
}

// widened returns a column that has room for each of its words.
func widened[R any](e *Env, name string, c widget.Column[R]) widget.Column[R] {
	for _, word := range columnWords[name] {
		text := e.Say(render.Words(word))
		if name == "status" {
			text = e.Styles.statusText(word)
		}
		c.Width = max(c.Width, render.Width(text))
	}
	return c
}

// wordColumns are the columns whose values are words of the program, not data.
var wordColumns = []string{"type", "donationInterval", "language", "releasedAt", "recruitmentType", "state"}

// titled returns a column with a title in the agent's language, for which it has room.
func titled[R any](c widget.Column[R], title string) widget.Column[R] {
	c.Title, c.Width = title, max(c.Width, render.Width(title))
	return c
}

// columnsOf returns the columns of a list whose rows are its records, whole. A time is shown as
// an age.
func columnsOf[T any](e *Env, listed []render.Listed[T]) []widget.Column[T] {
	columns := make([]widget.Column[T], len(listed))
	for i, c := range listed {
		columns[i] = titled(widened(e, c.Name, widget.Column[T]{
			Width: c.Width, Grow: c.Grow, Right: c.Right || c.Time != nil,
			Text: func(b []byte, record T) []byte {
				if c.Time == nil {
					text := c.Say(record, e.view())
					if slices.Contains(wordColumns, c.Name) {
						text = e.Say(text)
					}
					return append(b, text...)
				}
				if t := c.Time(record); t != nil {
					b = render.AppendAge(b, e.Day.Now().Sub(t.Time))
				}
				return b
			},
		}), e.Say(c.Heading))
	}
	return columns
}

func (m *rowMaker[T]) fetch(list func(context.Context, apitype.Paging) (apiclient.Page[T], error)) func(context.Context, string) (batch, error) {
	return func(ctx context.Context, after string) (batch, error) {
		page, err := list(ctx, apitype.Paging{First: new(ListPage), After: after})
		if err != nil {
			return batch{}, err
		}
		return batch{rows: apiclient.Rows(page, m.row), cursor: page.EndCursor, more: page.HasNextPage, mayBeCut: page.MayBeCut}, nil
	}
}

// mostChanged bounds a walk for what has changed: beyond it the list is read anew.
var mostChanged = apiclient.AllOptions{Limit: desk.MostChanges}

func (m *rowMaker[T]) changed(walk iter.Seq2[apiclient.Record[T], error]) ([]Row, error) {
	var rows []Row
	for record, err := range apiclient.Readable(walk, m.Day.Client.Omit) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, m.row(record))
	}
	return rows, nil
}

// itself returns the row of what is kept whole.
func itself[T any](value T) T { return value }
