// Command picture draws terminal screens as SVG: files that `tmux capture-pane -ep` wrote.
// Several screens are one animated picture, each shown for the seconds behind its name.
//
//	picture -size 120x36 -mark "$mark" desk.txt > desk.svg
//	picture -size 120x36 -mark "$mark" -light calls.txt > calls-light.svg
//	picture -size 120x36 -mark "$mark" next.txt=2 result.txt=1.5 > minute.svg
package main

import (
	"bytes"
	"encoding/xml"
	"flag"
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

// theme is a terminal's own colours.
type theme struct {
	paper, ink string
	palette    []string // The sixteen colours, in the order of ANSI.
}

var dark = theme{"#1b1e28", "#d6dbe8", []string{
	"#2b303b", "#e06c75", "#8fc379", "#e5c07b", "#6cb0f0", "#c678dd", "#56b6c2", "#c8ccd4",
	"#6b7386", "#ff7b86", "#a8e08f", "#ffd68a", "#8cc8ff", "#dd93f2", "#74d6e2", "#ffffff",
}}

var light = theme{"#fafafa", "#22252c", []string{
	"#22252c", "#b3261e", "#2e7d32", "#8a5a00", "#1a5fb4", "#8e24aa", "#00707a", "#c4c8d0",
	"#6a707c", "#c62828", "#1b5e20", "#6d4600", "#0d47a1", "#6a1b9a", "#004d54", "#000000",
}}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("picture", flag.ContinueOnError)
	size := flags.String("size", "120x36", "columns and lines of the screens")
	mark := flags.String("mark", "", "which golden screens it belongs to")
	isLight := flags.Bool("light", false, "as on a light terminal")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p := picture{theme: dark, mark: *mark, lines: map[string]int{}}
	if *isLight {
		p.theme = light
	}
	if _, err := fmt.Sscanf(*size, "%dx%d", &p.columns, &p.rows); err != nil {
		return fmt.Errorf("-size %q is not COLUMNSxLINES", *size)
	}
	for _, arg := range flags.Args() {
		file, duration, _ := strings.Cut(arg, "=")
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		seconds := 1.0
		if duration != "" {
			seconds, err = strconv.ParseFloat(duration, 64)
			if err != nil {
				return err
			}
		}
		if err := p.add(string(text), seconds); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, p.svg())
	return err
}

// picture holds some screens. A line that several screens share is drawn once.
type picture struct {
	theme
	columns, rows int
	mark          string

	defs    bytes.Buffer
	lines   map[string]int // By what is drawn, their number in defs.
	frames  []string
	seconds []float64
}

func (p *picture) add(text string, seconds float64) error {
	screen := vt.NewEmulator(p.columns, p.rows)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if _, err := screen.WriteString(strings.Join(lines, "\r\n")); err != nil {
		return err
	}
	var frame strings.Builder
	for y := range p.rows {
		drawn := p.line(screen, y)
		if drawn == "" {
			continue
		}
		number, isKnown := p.lines[drawn]
		if !isKnown {
			number = len(p.lines)
			p.lines[drawn] = number
			fmt.Fprintf(&p.defs, "<g id=\"l%d\">\n%s</g>\n", number, drawn)
		}
		fmt.Fprintf(&frame, `<use href="#l%d" y="%.0f"/>`+"\n", number, margin+float64(y)*cellHeight)
	}
	p.frames, p.seconds = append(p.frames, frame.String()), append(p.seconds, seconds)
	return nil
}

func (p *picture) svg() string {
	var b strings.Builder
	width, height := float64(p.columns)*cellWidth+2*margin, float64(p.rows)*cellHeight+2*margin
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" `+
			`font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">`+"\n",
		width,
		height,
	)
	fmt.Fprintf(&b, "<!-- screens %s -->\n", p.mark)
	if len(p.frames) > 1 {
		b.WriteString(p.timing())
	}
	fmt.Fprintf(&b, "<defs>\n%s</defs>\n", p.defs.String())
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="10" fill="%s"/>`+"\n", p.paper)
	for i, frame := range p.frames {
		fmt.Fprintf(&b, "<g class=\"f%d\">\n%s</g>\n", i, frame)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// timing shows one frame after the other without end. Without animation the last one stays.
func (p *picture) timing() string {
	var total float64
	for _, seconds := range p.seconds {
		total += seconds
	}
	var b strings.Builder
	b.WriteString("<style>\n")
	at := 0.0
	for i, seconds := range p.seconds {
		from, to := 100*at/total, 100*(at+seconds)/total
		at += seconds
		fmt.Fprintf(
			&b,
			"@keyframes k%d{0%%{visibility:hidden}%.2f%%{visibility:visible}"+
				"%.2f%%{visibility:hidden}100%%{visibility:hidden}}\n",
			i,
			from,
			to,
		)
		still := "hidden"
		if i == len(p.seconds)-1 {
			still = "visible"
		}
		fmt.Fprintf(&b, ".f%d{visibility:%s;animation:k%d %.1fs step-end infinite}\n", i, still, i, total)
	}
	b.WriteString("@media (prefers-reduced-motion){g{animation:none!important}}\n</style>\n")
	return b.String()
}

// line draws the runs of equal style of one line, at the height of the first one.
func (p *picture) line(screen *vt.Emulator, y int) string {
	var b strings.Builder
	for x := 0; x < screen.Width(); {
		style, start, text := p.styleAt(screen, x, y), x, ""
		for x < screen.Width() && p.styleAt(screen, x, y) == style {
			content, cells := " ", 1
			if cell := screen.CellAt(x, y); cell != nil && cell.Content != "" {
				content, cells = cell.Content, max(1, cell.Width)
			}
			text += content
			x += cells
		}
		left, length := margin+float64(start)*cellWidth, float64(x-start)*cellWidth
		if style.paper != p.paper {
			fmt.Fprintf(
				&b,
				`<rect x="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n",
				left,
				length,
				cellHeight,
				style.paper,
			)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		fmt.Fprintf(
			&b,
			`<text x="%.1f" y="13.5" textLength="%.1f" xml:space="preserve" fill="%s"%s>`,
			left,
			length,
			style.ink,
			style.attributes,
		)
		_ = xml.EscapeText(&b, []byte(text)) // Into memory.
		b.WriteString("</text>\n")
	}
	return b.String()
}

// cellStyle holds the look of a cell.
type cellStyle struct{ ink, paper, attributes string }

func (p *picture) styleAt(screen *vt.Emulator, x, y int) cellStyle {
	style := cellStyle{ink: p.ink, paper: p.paper}
	cell := screen.CellAt(x, y)
	if cell == nil {
		return style
	}
	if cell.Style.Fg != nil {
		style.ink = p.hex(cell.Style.Fg)
	}
	if cell.Style.Bg != nil {
		style.paper = p.hex(cell.Style.Bg)
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

// hex returns a colour in the form of SVG. The sixteen colours of ANSI come from the palette.
func (p *picture) hex(c color.Color) string {
	if basic, ok := c.(ansi.BasicColor); ok {
		return p.palette[basic]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
