package canvas

import (
	"runtime"
	"slices"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// stage lets the renderer bring the screen from the present frame to c.cells. The renderer sends a line from its first
// difference to its last, so a list and its preview would include the text between them. Staging one run of differences
// at a time avoids that.
func (c *Canvas) stage() {
	plainBlanks(c.cells.Lines)
	fresh := c.staged == nil
	if fresh {
		c.staged = uv.NewRenderBuffer(c.cells.Width(), c.cells.Height())
	}
	var changed []int
	for y := range c.cells.Lines {
		if !same(c.staged.Lines[y], c.cells.Lines[y]) {
			changed = append(changed, y)
		}
	}
	whole := fresh || scrolled(c.staged.Lines, c.cells.Lines, changed)
	for first := true; first || len(changed) > 0; first = false {
		if first { // What the renderer scrolls it looks at only in lines that are touched.
			for y := range c.staged.Lines {
				c.staged.TouchLine(0, y, c.staged.Width())
			}
		}
		changed = c.advance(changed, whole)
		c.renderer.SetScrollOptim(
			first && runtime.GOOS != "windows",
		) // Its terminals move the cursor out of what scrolls.
		c.renderer.Render(c.staged)
	}
}

// advance copies the next run of differences in each of the changed lines into c.staged, or all of them, and returns
// the lines that have more.
func (c *Canvas) advance(changed []int, whole bool) []int {
	return slices.DeleteFunc(changed, func(y int) bool {
		shown, line := c.staged.Lines[y], c.cells.Lines[y]
		start, end := 0, len(line)
		if !whole && narrow(shown) && narrow(line) {
			start, end = difference(shown, line)
		}
		copy(shown[start:end], line[start:end])
		c.staged.TouchLine(start, y, end-start)
		return same(shown[end:], line[end:])
	})
}

// difference returns the first run of cells in which line differs from shown. It ends where moving the cursor costs
// less than the cells that are the same.
func difference(shown, line uv.Line) (start, end int) {
	const costOfMoving = 10
	for start < len(line) && shown[start] == line[start] {
		start++
	}
	end = start
	for x := start; x < len(line) && x-end < costOfMoving; x++ {
		if shown[x] != line[x] {
			end = x + 1
		}
	}
	return start, end
}

// same reports whether two lines of one length have the same cells.
func same(a, b uv.Line) bool {
	for x := range a {
		if a[x] != b[x] {
			return false
		}
	}
	return true
}

// narrow reports whether each cell of line has one character, one column wide.
func narrow(line uv.Line) bool {
	return !slices.ContainsFunc(
		line,
		func(c uv.Cell) bool { return c.Width != 1 || utf8.RuneCountInString(c.Content) > 1 },
	)
}

// scrolled reports whether some of the changed lines were shown one line higher or lower.
func scrolled(shown, lines []uv.Line, changed []int) bool {
	moved := 0
	for _, y := range changed {
		if y > 0 && same(shown[y-1], lines[y]) || y+1 < len(lines) && same(shown[y+1], lines[y]) {
			moved++
		}
	}
	return moved >= 3 // The renderer scrolls no fewer.
}

// plainBlanks takes from blank cells the colour and weight that cannot be seen on them. A few
// between words of one style have that style, others none, so they can be erased.
func plainBlanks(lines []uv.Line) {
	const few = 8
	for _, line := range lines {
		for start := 0; start < len(line); start++ {
			end := start
			for end < len(line) && blank(&line[end]) {
				end++
			}
			var style uv.Style
			if start > 0 && end < len(line) && end-start <= few && showsNothing(&line[start-1]) &&
				line[start-1].Style.Equal(&line[end].Style) {
				style = line[start-1].Style
			}
			for ; start < end; start++ {
				line[start].Style = style
			}
		}
	}
}

// blank reports whether c shows nothing, whatever the colour and the weight of its text.
func blank(c *uv.Cell) bool { return c.Content == " " && showsNothing(c) }

// showsNothing reports whether a blank in the style of c would show nothing.
func showsNothing(c *uv.Cell) bool {
	const seen = uv.AttrReverse | uv.AttrStrikethrough
	return c.Link.URL == "" && c.Style.Bg == nil && c.Style.Underline == uv.UnderlineNone && c.Style.Attrs&seen == 0
}
