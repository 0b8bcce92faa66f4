package render

import (
	"cmp"
	"slices"
	"strings"
)

// tableSample is the number of rows that decide the widths of a table. Later rows are cut to them, so that a table of
// any length takes little memory.
const tableSample = 500

// minFlexible is the least width of a column that may be cut, in cells.
const minFlexible = 8

// table lays rows out in aligned columns.
type table[T any] struct {
	columns []Column[T]
	options Options
	view    View
	rows    [][]Text
	widths  []int // Nil until they are decided.
}

// add adds a row to b once the widths are decided, and all rows so far when they are.
func (t *table[T]) add(b []byte, record T) []byte {
	row := make([]Text, len(t.columns))
	for i, column := range t.columns {
		row[i] = column.In(record, t.view)
	}
	if t.widths != nil {
		return t.append(b, row)
	}
	t.rows = append(t.rows, row)
	if len(t.rows) < tableSample {
		return b
	}
	return t.begin(b)
}

// begin decides the widths if they are not decided yet, and adds the rows that waited for that.
func (t *table[T]) begin(b []byte) []byte {
	if t.widths != nil {
		return b
	}
	t.measure()
	if !t.options.NoHeader && len(t.rows) > 0 {
		b = t.append(b, t.header())
	}
	for _, row := range t.rows {
		b = t.append(b, row)
	}
	t.rows = nil
	return b
}

func (t *table[T]) header() []Text {
	row := make([]Text, len(t.columns))
	for i, column := range t.columns {
		row[i] = Text{Text: strings.ToUpper(cmp.Or(column.Title, column.Name)), Role: Strong}
	}
	return row
}

// measure decides the widths: first the widths of the cells, then less until the row fits. It shortens identifiers
// first, because their beginnings differ, and then the widest of the other columns. Requested columns stay, however
// long the line gets.
func (t *table[T]) measure() {
	t.widths = make([]int, len(t.columns))
	rows := t.rows
	if !t.options.NoHeader {
		rows = append([][]Text{t.header()}, rows...)
	}
	for _, row := range rows {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], Width(cell.Text))
		}
	}
	if t.options.Width <= 0 {
		return
	}
	needed := slices.Clone(t.widths)
	t.narrow(func(c Column[T]) bool { return isIdentifier(c.Name) })
	t.narrow(func(c Column[T]) bool { return c.Flexible })
	if len(t.options.Columns) > 0 {
		t.options.Width = max(t.options.Width, t.total())
	}
	t.tellNarrow(needed)
}

// narrow takes cells from the widest of some columns until the row fits.
func (t *table[T]) narrow(of func(Column[T]) bool) {
	for total := t.total(); total > t.options.Width; total-- {
		widest := -1
		for i, column := range t.columns {
			isWider := widest < 0 || t.widths[i] > t.widths[widest]
			if isWider && t.widths[i] > minFlexible && of(column) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.widths[widest]--
	}
}

// isIdentifier reports whether a column holds identifiers.
func isIdentifier(name string) bool {
	return name == "uuid" || strings.HasSuffix(name, "Uuid") || strings.HasSuffix(name, ".uuid")
}

// tellNarrow reports the shortened identifiers, and the columns without room.
func (t *table[T]) tellNarrow(needed []int) {
	var shortened, missing []string
	left := t.options.Width
	for i, column := range t.columns {
		if left < min(needed[i], t.widths[i]) {
			missing = append(missing, column.Name)
		} else if isIdentifier(column.Name) && t.widths[i] < needed[i] {
			shortened = append(shortened, column.Name)
		}
		left -= t.widths[i] + 2
	}
	if t.options.TooNarrow != nil && len(shortened)+len(missing) > 0 && len(t.rows) > 0 {
		t.options.TooNarrow(shortened, missing)
	}
}

func (t *table[T]) total() int {
	total := 2 * (len(t.widths) - 1)
	for _, width := range t.widths {
		total += width
	}
	return total
}

// append adds one row; what does not fit the terminal is cut.
func (t *table[T]) append(b []byte, row []Text) []byte {
	var line strings.Builder
	left := t.options.Width
	for i, cell := range row {
		width := t.widths[i]
		if t.options.Width > 0 {
			width = min(width, left)
			if width <= 0 {
				break
			}
			left -= width + 2
		}
		text := Cut(cell.Text, width)
		padding := strings.Repeat(" ", max(0, width-Width(text)))
		if t.options.Color {
			text = Text{Text: text, Role: cell.Role}.Paint()
		}
		if i > 0 {
			line.WriteString("  ")
		}
		if t.columns[i].Right {
			line.WriteString(padding + text)
		} else {
			line.WriteString(text + padding)
		}
	}
	return append(append(b, strings.TrimRight(line.String(), " ")...), '\n')
}
