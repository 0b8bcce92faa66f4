package canvas

import (
	"runtime"
	"slices"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// stage has the renderer bring the screen from the frame that is there to c.cells. The renderer
// sends all of a line from its first difference to its last, so a list and its preview would
// bring along what stands between them. Staged a run of differences at a time, they do not.
func (c *Canvas) stage() {
	plainBlanks(c.cells.Lines)
	fresh := c.staged == nil
	if fresh {
		c.staged = uv.NewRenderBuffer(c.cells.Width(), c.cells.Height())
	}
	whole := fresh || scrolled(c.staged.Lines, c.cells.Lines)
	for first := true; c.advance(whole) || first; first = false {
		if first { // What the renderer scrolls it looks at only in lines that are touched.
			for y := range c.staged.Lines {
				c.staged.TouchLine(0, y, c.staged.Width())
			}
		}
		c.renderer.SetScrollOptim(first && runtime.GOOS != "windows") // Its terminals move the cursor out of what scrolls.
		c.renderer.Render(c.staged)
	}
}

// advance copies the next run of differences in each line into c.staged, or all of them, and
// reports whether there was any.
func (c *Canvas) advance(whole bool) bool {
	more := false
	for y, line := range c.cells.Lines {
		shown := c.staged.Lines[y]
		start, end := difference(shown, line, whole || !narrow(shown) || !narrow(line))
		if start < end {
			copy(shown[start:end], line[start:end])
			c.staged.TouchLine(start, y, end-start)
			more = true
		}
	}
	return more
}

// difference returns the first run of cells in which line differs from shown, or the whole line.
// A run ends where moving the cursor costs less than the cells that are the same.
func difference(shown, line uv.Line, whole bool) (start, end int) {
	const costOfMoving = 10
	for start < len(line) && shown[start].Equal(&line[start]) {
		start++
	}
	if whole && start < len(line) {
		return 0, len(line)
	}
	end = start
	for x := start; x < len(line) && x-end < costOfMoving; x++ {
		if !shown[x].Equal(&line[x]) {
			end = x + 1
		}
	}
	return start, end
}

// narrow reports whether each cell of line has one character, one column wide.
func narrow(line uv.Line) bool {
	return !slices.ContainsFunc(line, func(c uv.Cell) bool { return c.Width != 1 || utf8.RuneCountInString(c.Content) > 1 })
}

// scrolled reports whether a few of lines stood in shown one line higher or lower.
func scrolled(shown, lines []uv.Line) bool {
	moved := 0
	for y, line := range lines {
		same := func(y int) bool { return y >= 0 && y < len(shown) && slices.Equal(shown[y], line) }
		if !same(y) && (same(y-1) || same(y+1)) {
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
			if start > 0 && end < len(line) && end-start <= few && showsNothing(&line[start-1]) && line[start-1].Style.Equal(&line[end].Style) {
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
