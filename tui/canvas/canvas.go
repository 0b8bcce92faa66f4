// Package canvas draws frames the moment they are there.
//
// The library draws by a clock, so a key waits half a period for its frame. Here it keeps
// all else that it does for a terminal (modes, sizes, suspending, editors, panics, giving
// it back), with a view that is Blank; what it writes for that passes through the
// canvas, which so knows when the screen is there to be drawn on, and never draws at
// another time. A slow terminal delays nobody but the canvas: a frame that comes
// meanwhile takes the place of the one that waits.
//
// It must not know what a frame shows, nor read or change how the terminal is set.
//
//	c := canvas.New(os.Stdout, false)
//	go c.Run(ctx)
//	tea.NewProgram(model, tea.WithOutput(c.Output())) // The model calls Hear and Show.
package canvas

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

// Blank is the content of the library's views: nothing to be seen. With none at all it
// would clear the screen at every tick of its clock.
const Blank = " "

// Frames follow each other by between on average: no eye and few terminals are faster. A few
// may follow at once, so that a key does not wait because the clock was drawn just before.
const (
	between = time.Second / 120
	atOnce  = 4
)

// frame is the next screen, with everything that its drawing depends on.
type frame struct {
	content string
	surroundings
}

// surroundings are the properties of the terminal.
type surroundings struct {
	width, height int
	name          string // TERM.
	colors        tea.ColorProfileMsg
	colorsKnown   bool
	synchronized  bool // It can take a frame as one piece.
}

// Canvas draws on a terminal what it is shown. Hear, Show and Redraw are for the
// library's loop alone and never wait.
type Canvas struct {
	out    io.Writer
	cooked bool
	heard  surroundings
	wake   chan struct{}

	waiting sync.Mutex
	next    frame
	anew    bool // Whatever is on the screen, all of next is to be drawn.

	writing  sync.Mutex // Held while the terminal takes what is written.
	there    bool       // The alternate screen is.
	drawn    frame
	renderer *uv.TerminalRenderer // Nil while the content of the screen is unknown.
	cells    uv.ScreenBuffer      // The latest frame.
	staged   *uv.RenderBuffer     // The content that the renderer has drawn. Nil before the first frame.
	method   ansi.Method          // How their widths are counted.
	changes  bytes.Buffer
}

// New returns a canvas on out. cooked means that a line feed also returns to the first column, as on a terminal that
// the library has not set.
func New(out io.Writer, cooked bool) *Canvas {
	return &Canvas{out: out, cooked: cooked, wake: make(chan struct{}, 1), method: ansi.GraphemeWidth}
}

// Hear learns from a message of the library what the terminal is like.
func (c *Canvas) Hear(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.heard.width, c.heard.height = msg.Width, msg.Height
	case tea.EnvMsg:
		c.heard.name = msg.Getenv("TERM")
	case tea.ColorProfileMsg:
		c.heard.colors, c.heard.colorsKnown = msg, true
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput {
			c.heard.synchronized = msg.Value == ansi.ModeReset
		}
	}
}

// Show draws content soon, in place of what was not drawn yet.
func (c *Canvas) Show(content string) {
	c.change(func() { c.next = frame{content, c.heard} })
}

// Redraw schedules a drawing of the whole last frame. Unlike the library's redraw, it does not block on a stopped
// terminal.
func (c *Canvas) Redraw() { c.change(func() { c.anew = true }) }

// change changes what waits to be drawn.
func (c *Canvas) change(what func()) {
	c.waiting.Lock()
	what()
	c.waiting.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run draws until ctx ends.
func (c *Canvas) Run(ctx context.Context) {
	var due time.Time // Of the next frame, if none had been drawn sooner than the others.
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		if !c.draw() {
			continue
		}
		now := time.Now()
		if earliest := now.Add(-(atOnce - 1) * between); due.Before(earliest) {
			due = earliest
		}
		due = due.Add(between)
		select {
		case <-ctx.Done():
			return
		case <-time.After(due.Sub(now)):
		}
	}
}

// draw brings the screen up to date, and reports whether there was anything to draw. A
// terminal that is gone ends the program elsewhere.
func (c *Canvas) draw() bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	changes := c.paint()
	if len(changes) > 0 {
		_, _ = c.out.Write(changes)
	}
	return len(changes) > 0
}

// Output returns what the library writes to, and a terminal for it where out is a file.
func (c *Canvas) Output() io.Writer {
	if out, isFile := c.out.(*os.File); isFile {
		return &file{Canvas: c, out: out}
	}
	return c
}

// file has the methods of a terminal, besides Write, that the library needs.
type file struct {
	*Canvas
	out *os.File
}

func (f *file) Fd() uintptr                { return f.out.Fd() }
func (f *file) Read(b []byte) (int, error) { return f.out.Read(b) }
func (f *file) Close() error               { return f.out.Close() }

// Write hands on what the library sets or clears, and what is to be seen after it.
func (c *Canvas) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	entered := bytes.LastIndex(b, []byte(ansi.SetModeAltScreenSaveCursor))
	left := bytes.LastIndex(b, []byte(ansi.ResetModeAltScreenSaveCursor))
	written := bytes.Clone(b)
	if entered != left {
		c.there = entered > left
		// Some terminals bring what no longer fits a smaller screen back into their scrollback.
		written = bytes.ReplaceAll(
			written,
			[]byte(ansi.ResetModeAltScreenSaveCursor),
			[]byte(ansi.EraseEntireScreen+ansi.ResetModeAltScreenSaveCursor),
		)
	}
	c.renderer = nil
	_, err := c.out.Write(append(written, c.paint()...))
	return len(b), err
}

// paint returns the bytes that turn the screen into the latest frame. It returns nil if nothing changes.
func (c *Canvas) paint() []byte {
	c.waiting.Lock()
	next, anew := c.next, c.anew
	c.anew = false
	c.waiting.Unlock()
	if !c.there || next.width <= 0 || next.height <= 0 || !next.colorsKnown {
		return nil
	}
	switch {
	case anew || c.renderer == nil || next.surroundings != c.drawn.surroundings:
		c.begin(next.surroundings)
	case next.content == c.drawn.content:
		return nil
	}
	c.drawn = next
	c.cells.Clear()
	c.count(next.content)
	uv.NewStyledString(next.content).Draw(c.cells, c.cells.Bounds())
	c.changes.Reset()
	c.stage()
	if next.synchronized {
		c.changes.WriteString(ansi.SetModeSynchronizedOutput)
	}
	_ = c.renderer.Flush() // Into memory.
	if next.synchronized {
		c.changes.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	return c.changes.Bytes()
}

// count chooses how cells are counted: by the way without tables until a frame needs the
// other.
func (c *Canvas) count(content string) {
	if c.method == ansi.GraphemeWidth {
		c.method = render.Method(content)
		c.renderer.SetWidthMethod(c.method)
		c.cells.Method = c.method
	}
}

// begin makes the next frame a whole one.
func (c *Canvas) begin(s surroundings) {
	c.renderer = uv.NewTerminalRenderer(&c.changes, []string{"TERM=" + s.name})
	c.renderer.SetColorProfile(s.colors.Profile)
	c.renderer.SetMapNewline(c.cooked)
	c.renderer.SetFullscreen(true)
	c.renderer.Erase()
	c.renderer.SetWidthMethod(c.method)
	c.cells = uv.NewScreenBuffer(s.width, s.height)
	c.cells.Method = c.method
	c.staged = nil
}
