package page

// The least terminal that the interface fits.
const (
	LeastWidth  = 60
	LeastHeight = 16
)

// Layout is the position of everything on the screen, as a pure function of the size.
type Layout struct {
	TooSmall      bool
	Width, Height int  // Of the terminal.
	Body          int  // Lines between the tabs and the status line.
	Above         int  // Lines between the tabs and the body.
	Panes         int  // 1, 2 or 3 in a row.
	Framed        bool // Each pane of the Desk has a border. Otherwise a rule separates two panes.
	Left          int  // Cells of the left pane, its border included; 0 when there is one pane.
	Middle        int  // Cells of the main pane.
	Right         int  // Cells of the right pane; 0 unless there are three.
	Shift         int  // Cells that the left pane is wider than by the size alone.
}

// ruleWidth is the width of the rule between two panes, leastPane the least width of a resized pane.
const (
	ruleWidth = 3
	leastPane = 24
)

// Shifted returns a layout with a wider left pane, as far as the other panes allow.
func (l Layout) Shifted(by int) Layout {
	if l.Panes > 1 {
		shift := max(min(by, l.Middle-2*leastPane), leastPane-l.Left)
		l.Left, l.Middle, l.Shift = l.Left+shift, l.Middle-shift, shift
	}
	return l
}

// Below returns a layout with some lines above all pages.
func (l Layout) Below(lines int) Layout {
	l.Above = lines
	l.Body = max(l.Body-lines, 1)
	return l
}

// Rows returns how many rows a list has room for, below its tabs, its summary and its head.
func (l Layout) Rows() int {
	if l.Framed {
		return l.Body - 4
	}
	return l.Body - 3
}

// NewLayout places things in width by height cells.
func NewLayout(width, height int) Layout {
	l := Layout{
		Width:    width,
		Height:   height,
		TooSmall: width < LeastWidth || height < LeastHeight,
		Panes:    1,
		Middle:   width,
	}
	l.Body = max(height-3, 1) // Tabs, status and footer take a line each.
	l.Framed = width >= 110 && height >= 30
	if width >= 120 {
		l.Panes = 3
		l.Left = min(width*4/15, 56)
		l.Right = min(width*7/30, 46)
	} else if width >= 100 {
		l.Panes = 2
		l.Left = width / 3
	}
	l.Middle = width - l.Left - l.Right
	if !l.Framed {
		l.Middle -= (l.Panes - 1) * ruleWidth
	}
	return l
}
