package widget

import (
	"strings"

	"fundesk/render"
)

// Table draws a window of a list, in the columns of records of type T, of which a row holds what they show. Its cost
// depends on the height of the window, never on the length of the list.
type Table[T, R any] struct {
	Columns []render.Column[T]
	// Cell appends a cell of a row, cleaned already, and returns its role. The cursor's row has its own role. Nil draws
	// it plain.
	Cell   func(b []byte, row R, c *render.Column[T]) ([]byte, func(string) string)
	cursor int
	top    int
	height int
	buffer []byte // Of the last drawing, for the next one.
	ends   []int
}

// Cursor returns the index of the chosen row.
func (t *Table[T, R]) Cursor() int { return t.cursor }

// SetHeight sets the number of visible rows.
func (t *Table[T, R]) SetHeight(rows int) { t.height = max(rows, 1) }

// Height returns how many rows are in sight.
func (t *Table[T, R]) Height() int { return max(t.height, 1) }

// Move moves the cursor by rows within a list of count rows.
func (t *Table[T, R]) Move(by, count int) { t.Place(t.cursor+by, count) }

// Place puts the cursor on a row of a list of count rows. If the row is not visible, it scrolls by half a window,
// because each scroll draws all rows again, which is slow over a slow line.
func (t *Table[T, R]) Place(row, count int) {
	t.cursor = min(max(row, 0), max(count-1, 0))
	height := max(t.height, 1)
	if t.cursor < t.top {
		t.top = t.cursor - height/2
	}
	if t.cursor >= t.top+height {
		t.top = t.cursor - height + 1 + height/2
	}
	t.top = max(min(t.top, count-height), 0)
}

// Click puts the cursor on the row at a line of the window, if there is one.
func (t *Table[T, R]) Click(line, count int) bool {
	if line < 0 || line >= t.Height() || t.top+line >= count {
		return false
	}
	t.Place(t.top+line, count)
	return true
}

// Shift keeps the cursor on its row when rows were added above it.
func (t *Table[T, R]) Shift(added, count int) {
	t.top += added
	t.Place(t.cursor+added, count)
}

// InSight returns the rows in the window.
func (t *Table[T, R]) InSight(rows []R) []R {
	return rows[min(t.top, len(rows)):min(t.top+max(t.height, 1), len(rows))]
}

// Lines draws the head and the rows in sight, width cells each, the first of them left to the sign of a row. style
// draws a whole row: chosen is the cursor's.
func (t *Table[T, R]) Lines(
	rows []R,
	width int,
	head func(string) string,
	style func(row R, chosen bool, line string) string,
) []string {
	widths := t.widths(width - 1)
	t.Place(t.cursor, len(rows))
	shown := t.InSight(rows)
	b, ends := t.buffer[:0], t.ends[:0]
	used := 1
	b = append(b, ' ')
	for i, c := range t.Columns {
		b = appendCell(b, i, widths[i], c.Right, func(b []byte) []byte { return append(b, c.Title...) })
		if widths[i] > 0 {
			used += widths[i] + min(i, 1)
		}
	}
	rest := blanks(width - used)
	b = append(b, rest...)
	ends = append(ends, len(b))
	for n, row := range shown {
		b = append(b, ' ')
		for i := range t.Columns {
			c, start := &t.Columns[i], len(b)+min(i, 1)
			var paint func(string) string
			b = appendCell(b, i, widths[i], c.Right, func(b []byte) []byte {
				from := len(b)
				b, paint = t.Cell(b, row, c)
				if c.Items {
					b = append(b[:from], wholeItems(string(b[from:]), widths[i])...)
				}
				return b
			})
			if paint != nil && t.top+n != t.cursor {
				b = append(b[:start], paint(string(b[start:]))...)
			}
		}
		b = append(b, rest...)
		ends = append(ends, len(b))
	}
	t.buffer, t.ends = b, ends
	// One string for all lines: a frame is drawn with every key.
	text := string(b)
	lines := make([]string, 0, len(ends))
	lines = append(lines, head(text[:ends[0]]))
	for i, row := range shown {
		lines = append(lines, style(row, t.top+i == t.cursor, text[ends[i]:ends[i+1]]))
	}
	return lines
}

// wholeItems returns the first items of a list with commas that fit in a width, with a sign for the others.
func wholeItems(list string, width int) string {
	if render.Width(list) <= width {
		return list
	}
	for at := len(list); at >= 0; at = strings.LastIndex(list[:at], ", ") {
		if text := list[:at] + ", …"; render.Width(text) <= width {
			return text
		}
	}
	return list
}

// appendCell adds a cell of width cells, and the blank before it, to a line.
func appendCell(b []byte, index, width int, right bool, text func([]byte) []byte) []byte {
	if width == 0 {
		return b
	}
	if index > 0 {
		b = append(b, ' ')
	}
	start := len(b)
	b = text(b)
	cell := b[start:]
	if !render.IsPlain(cell) || len(cell) > width {
		fitted := Fit(string(cell), width)
		if right {
			fitted = FitRight(strings.TrimRight(fitted, " "), width)
		}
		return append(b[:start], fitted...)
	}
	if right {
		n := len(cell)
		b = append(b, blanks(width-n)...)
		copy(b[start+width-n:], b[start:start+n])
		copy(b[start:start+width-n], blanks(width-n))
		return b
	}
	return append(b, blanks(width-len(cell))...)
}

// widths shares width among the columns. Without room for all, it leaves out the last ones.
func (t *Table[T, R]) widths(width int) []int {
	widths := make([]int, len(t.Columns))
	left, growing := width, 0
	for i, c := range t.Columns {
		need := c.Width
		if i > 0 {
			need++
		}
		if need > left {
			break
		}
		left -= need
		widths[i] = c.Width
		if c.Grow {
			growing++
		}
	}
	for i, c := range t.Columns {
		if c.Grow && widths[i] > 0 {
			share := left / growing
			widths[i] += share
			left -= share
			growing--
		}
	}
	return widths
}
