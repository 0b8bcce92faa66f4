// Command picture draws a terminal screen as SVG: it reads what `tmux capture-pane
// -ep` prints and writes the picture that the README shows.
//
//	tmux capture-pane -ep | go run ./cmd/fundesk/testdata/picture 120 36 > desk.svg
package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"os"
	"strconv"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// The size of one cell and the margin around all, in SVG units.
const (
	cellWidth, cellHeight = 8.4, 18.0
	margin                = 16.0
)

// The terminal's own colours.
const (
	paper = "#1b1e28"
	ink   = "#d6dbe8"
)

// palette is the sixteen colours, in the order of ANSI.
var palette = []string{
	"#2b303b", "#e06c75", "#8fc379", "#e5c07b", "#6cb0f0", "#c678dd", "#56b6c2", "#c8ccd4",
	"#6b7386", "#ff7b86", "#a8e08f", "#ffd68a", "#8cc8ff", "#dd93f2", "#74d6e2", "#ffffff",
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("want the width and the height of the screen in cells")
	}
	width, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	height, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	screen := vt.NewEmulator(width, height)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if _, err := screen.WriteString(strings.Join(lines, "\r\n")); err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	draw(w, screen)
	return w.Flush()
}

func draw(w io.Writer, screen *vt.Emulator) {
	width := float64(screen.Width())*cellWidth + 2*margin
	height := float64(screen.Height())*cellHeight + 2*margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">`+"\n", width, height)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" rx="10" fill="%s"/>`+"\n", paper)
	for y := range screen.Height() {
		drawLine(w, screen, y)
	}
	fmt.Fprintln(w, "</svg>")
}

// drawLine draws the runs of equal style of one line.
func drawLine(w io.Writer, screen *vt.Emulator, y int) {
	for x := 0; x < screen.Width(); {
		style, start, text := styleAt(screen, x, y), x, ""
		for x < screen.Width() && styleAt(screen, x, y) == style {
			content, cells := " ", 1
			if cell := screen.CellAt(x, y); cell != nil && cell.Content != "" {
				content, cells = cell.Content, max(1, cell.Width)
			}
			text += content
			x += cells
		}
		left, top := margin+float64(start)*cellWidth, margin+float64(y)*cellHeight
		length := float64(x-start) * cellWidth
		if style.paper != paper {
			fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, length, cellHeight, style.paper)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" textLength="%.1f" xml:space="preserve" fill="%s"%s>`, left, top+13.5, length, style.ink, style.attributes)
		_ = xml.EscapeText(w, []byte(text))
		fmt.Fprintln(w, "</text>")
	}
}

// cellStyle is how a cell is drawn.
type cellStyle struct{ ink, paper, attributes string }

func styleAt(screen *vt.Emulator, x, y int) cellStyle {
	style := cellStyle{ink: ink, paper: paper}
	cell := screen.CellAt(x, y)
	if cell == nil {
		return style
	}
	if cell.Style.Fg != nil {
		style.ink = hex(cell.Style.Fg)
	}
	if cell.Style.Bg != nil {
		style.paper = hex(cell.Style.Bg)
	}
	if cell.Style.Attrs&uv.AttrReverse != 0 {
		style.ink, style.paper = style.paper, style.ink
	}
	if cell.Style.Attrs&uv.AttrBold != 0 {
		style.attributes += ` font-weight="bold"`
	}
	if cell.Style.Attrs&uv.AttrFaint != 0 {
		style.attributes += ` opacity="0.65"`
	}
	if cell.Style.Attrs&uv.AttrItalic != 0 {
		style.attributes += ` font-style="italic"`
	}
	return style
}

// hex is a colour as SVG writes it; the sixteen of ANSI come from the palette.
func hex(c color.Color) string {
	if basic, ok := c.(ansi.BasicColor); ok {
		return palette[basic]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
