package tui

// The least terminal that the interface fits.
const (
	leastWidth  = 60
	leastHeight = 16
)

// layout is where things stand: a pure function of the size.
type layout struct {
	tooSmall      bool
	width, height int // Of the terminal.
	body          int // Lines between the tabs and the status line.
	panes         int // 1, 2 or 3 beside each other.
	left          int // Cells of the left pane; 0 when there is one pane.
	middle        int // Cells of the main pane.
	right         int // Cells of the right pane; 0 unless there are three.
}

// ruleWidth is what stands between two panes.
const ruleWidth = 3

// newLayout places things in width by height cells.
func newLayout(width, height int) layout {
	l := layout{width: width, height: height, tooSmall: width < leastWidth || height < leastHeight, panes: 1, middle: width}
	l.body = max(height-3, 1) // Tabs, status and footer take a line each.
	switch {
	case width >= 120:
		l.panes = 3
		l.left = min(width/4, 40)
		l.right = min(width/4, 48)
		l.middle = width - l.left - l.right - 2*ruleWidth
	case width >= 100:
		l.panes = 2
		l.left = width / 3
		l.middle = width - l.left - ruleWidth
	}
	return l
}
