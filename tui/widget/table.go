package widget

import "strings"

// Column of a table. Its width is fixed, or with Grow shares what is left over.
type Column[R any] struct {
	Title string
	Width int // Cells; with Grow the least.
	Grow  bool
	Right bool // Numbers and times stand at the right edge.
	// Text is the cell's text, cleaned already.
	Text func(R) string
}

// Table draws a window of a list: its cost depends on the height of the window, never
// on the length of the list.
type Table[R any] struct {
	Columns []Column[R]
	cursor  int
	top     int
	height  int
}

// Cursor is the index of the chosen row.
func (t *Table[R]) Cursor() int { return t.cursor }

// SetHeight tells how many rows are in sight.
func (t *Table[R]) SetHeight(rows int) { t.height = max(rows, 1) }

// Height is how many rows are in sight.
func (t *Table[R]) Height() int { return max(t.height, 1) }

// Move moves the cursor by rows within a list of count rows.
func (t *Table[R]) Move(by, count int) { t.Place(t.cursor+by, count) }

// Place puts the cursor on a row of a list of count rows, and scrolls.
func (t *Table[R]) Place(row, count int) {
	t.cursor = min(max(row, 0), max(count-1, 0))
	height := max(t.height, 1)
	if t.cursor < t.top {
		t.top = t.cursor
	}
	if t.cursor >= t.top+height {
		t.top = t.cursor - height + 1
	}
	t.top = max(min(t.top, count-height), 0)
}

// Shift keeps the cursor on its row when rows were added above it.
func (t *Table[R]) Shift(added, count int) {
	t.top += added
	t.Place(t.cursor+added, count)
}

// RowStyle draws a whole row: chosen is the cursor's.
type RowStyle[R any] func(row R, chosen bool, line string) string

// Lines draws the head and the rows in sight, width cells each.
func (t *Table[R]) Lines(rows []R, width int, head func(string) string, style RowStyle[R]) []string {
	widths := t.widths(width)
	line := make([]byte, 0, 2*width)
	for i, c := range t.Columns {
		line = appendCell(line, i, widths[i], c.Title, c.Right)
	}
	lines := make([]string, 0, t.height+1)
	lines = append(lines, head(Fit(string(line), width)))
	t.Place(t.cursor, len(rows))
	for i := t.top; i < min(t.top+max(t.height, 1), len(rows)); i++ {
		line = line[:0]
		for j, c := range t.Columns {
			if widths[j] > 0 {
				line = appendCell(line, j, widths[j], c.Text(rows[i]), c.Right)
			}
		}
		lines = append(lines, style(rows[i], i == t.cursor, Fit(string(line), width)))
	}
	return lines
}

// appendCell adds a cell of width cells, and the blank before it, to a line.
func appendCell(line []byte, index, width int, text string, right bool) []byte {
	if width == 0 {
		return line
	}
	if index > 0 {
		line = append(line, ' ')
	}
	if !isPlain(text) || len(text) > width {
		text = Fit(text, width)
		if right {
			text = FitRight(strings.TrimRight(text, " "), width)
		}
		return append(line, text...)
	}
	if right {
		line = append(line, blanks(width-len(text))...)
	}
	line = append(line, text...)
	if !right {
		line = append(line, blanks(width-len(text))...)
	}
	return line
}

// widths shares width among the columns. Where they do not all fit, those at the end
// are left out.
func (t *Table[R]) widths(width int) []int {
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
