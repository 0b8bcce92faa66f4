package page

import (
	"regexp"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/say"
	"fundesk/tui/widget"
)

// paint draws text in a role.
type paint func(string) string

// Styles are the roles in which text is drawn. Each role has a word, a sign or a weight besides its colour.
type Styles struct {
	Dim, Good, Held, Warn, Bad, Tab, Key              paint
	plain, bold, accent, chosen, marked, head, cursor paint
	focus                                             paint // The border of the pane with the focus.
	band                                              paint // The donor, and what is chosen: "here".
	sending                                           paint // What the next key sends.
	alarm                                             paint // The holder of a donor.
	kinds                                             map[apitype.CallType]paint
	border                                            lipgloss.Border
	rule                                              string // Between panes.
	line                                              string // One character of a horizontal rule.
	WarnSign, OKSign, DueSign, fixSign                string
	mark, badSign, pointer, changed, kindSign         string
	// A segment of the hold that is left, and one that has passed.
	bar [2]string
	// What bars are made of, by type of call.
	bars []string
	// Heights of a line over days.
	steps []string
	// The page behind a dialog is not drawn again.
	Remote bool
	say    func(text string, args ...any) string // In the agent's language.
}

// Themes are the sets of colours: for dark grounds, for light ones, without faint or dark colours, and with few. The
// first is the default.
var Themes = []string{"default", "light", "high-contrast", "calm"}

// palette has the colours of the roles, in numbers of the terminal's 256. Those are the same in every terminal, and
// have a contrast of at least 4.5 on the ground that they are for.
type palette struct {
	accent, good, held, warn, bad, marked string // Text.
	verification, happy, winback          string // Of the types of calls.
	here, send                            string // Grounds of white text.
}

var (
	onDark = palette{
		accent:       "75",
		good:         "78",
		held:         "75",
		warn:         "221",
		bad:          "203",
		marked:       "176",
		verification: "80",
		happy:        "75",
		winback:      "176",
		here:         "25",
		send:         "22",
	}
	onLight = palette{
		accent:       "25",
		good:         "22",
		held:         "25",
		warn:         "94",
		bad:          "124",
		marked:       "90",
		verification: "23",
		happy:        "25",
		winback:      "90",
		here:         "25",
		send:         "22",
	}
)

// NewStyles makes the roles in a theme. Without colour only weight, reverse and underline remain. With ascii the signs
// are letters.
func NewStyles(theme string, noColor, ascii bool) Styles {
	colours := onDark
	if theme == "light" {
		colours = onLight
	}
	s := signsOf(ascii)
	s.setWeights()
	if noColor {
		return s
	}
	base := lipgloss.NewStyle()
	bold := base.Bold(true)
	if theme == "high-contrast" {
		s.Dim, s.Held, s.Warn, s.Bad = s.plain, s.bold, painter(bold.Reverse(true)), painter(bold.Reverse(true))
		s.accent, s.Key = painter(bold.Underline(true)), painter(bold.Underline(true))
		s.Good = s.bold
		return s
	}
	s.setColours(colours)
	if theme == "calm" {
		s.Good, s.Held, s.accent, s.Key, s.marked = s.plain, s.plain, s.bold, s.bold, s.bold
		s.kinds, s.focus = nil, s.plain
	}
	return s
}

// cursorMark stands before the cell where text is typed. The terminal never gets it.
const cursorMark = "\x1b]777;cursor\a"

// TakeCursor takes the mark of the cursor out of the lines of the screen, and returns its place. It returns false if no
// text is typed.
func TakeCursor(lines []string) (x, y int, found bool) {
	for i, line := range lines {
		before, after, marked := strings.Cut(line, cursorMark)
		if !marked {
			continue
		}
		if !found {
			x, y, found = render.Width(ansi.Strip(before)), i, true
		}
		lines[i] = before + strings.ReplaceAll(after, cursorMark, "")
	}
	return x, y, found
}

// setWeights sets the roles without colours.
func (s *Styles) setWeights() {
	base := lipgloss.NewStyle()
	s.plain = func(text string) string { return text }
	s.bold, s.Dim = painter(base.Bold(true)), s.plain
	s.Good, s.Held, s.focus = s.plain, s.plain, s.plain
	s.accent, s.Warn, s.Bad, s.Key, s.marked = s.bold, s.bold, s.bold, s.bold, s.bold
	s.chosen = painter(base.Reverse(true))
	s.cursor = func(text string) string { return cursorMark + s.chosen(text) }
	s.head, s.Tab = painter(base.Underline(true)), painter(base.Reverse(true).Bold(true))
	s.band, s.sending, s.alarm = s.bold, s.plain, painter(base.Reverse(true).Bold(true))
}

// setColours sets the roles that have colours.
func (s *Styles) setColours(p palette) {
	base := lipgloss.NewStyle()
	ink := func(colour string) paint { return painter(base.Foreground(lipgloss.Color(colour))) }
	bold := func(colour string) paint { return painter(base.Foreground(lipgloss.Color(colour)).Bold(true)) }
	ground := func(colour string) paint {
		return painter(base.Foreground(lipgloss.Color("231")).Background(lipgloss.Color(colour)).Bold(true))
	}
	s.Dim = painter(base.Faint(true))
	s.accent, s.Key, s.focus = bold(p.accent), bold(p.accent), ink(p.accent)
	s.Good, s.Held, s.Warn, s.Bad = ink(p.good), ink(p.held), bold(p.warn), bold(p.bad)
	s.marked = bold(p.marked)
	s.band, s.Tab, s.sending, s.alarm = ground(p.here), ground(p.here), ground(p.send), ground("124")
	s.kinds = map[apitype.CallType]paint{
		apitype.CallVerification: ink(p.verification),
		apitype.CallHappy:        ink(p.happy),
		apitype.CallWinback:      ink(p.winback),
	}
}

// signsOf returns styles that have signs and borders alone.
func signsOf(ascii bool) Styles {
	s := Styles{
		border:   widget.LineBorder,
		rule:     " │ ",
		line:     "─",
		mark:     "●",
		WarnSign: "▲",
		OKSign:   "✓",
		DueSign:  "◷",
		fixSign:  card.FixSign,
		badSign:  "✗",
		pointer:  "▸",
		changed:  card.FixSign,
		kindSign: "▎",
		bar:      [2]string{"▰", "▱"},
		bars:     []string{"█", "▓", "░", "▒"},
		steps:    strings.Split("▁▂▃▄▅▆▇█", ""),
		say:      say.Texts{}.Say,
	}
	if ascii {
		s.border, s.rule, s.line = widget.ASCIIBorder, " | ", "-"
		s.mark, s.WarnSign, s.OKSign, s.DueSign, s.badSign, s.fixSign = "*", "!", "ok", "@", "x", "(corrected)"
		s.pointer, s.changed, s.kindSign, s.bar = ">", "*", "|", [2]string{"#", "-"}
		s.bars = []string{"#", "=", "-", "+"}
		s.steps = strings.Split("_.,-~=+#", "")
	}
	return s
}

// colourCodes are the codes of colours and weights, without links.
var colourCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// eighth draws some eighths of a cell, for the end of a bar. It draws nothing in ASCII.
func (s Styles) eighth(n int) string {
	if n == 0 || s.bars[0] != "█" {
		return ""
	}
	return string([]rune("▏▎▍▌▋▊▉")[n-1])
}

// sparkline draws values as heights, the first at the left, or nothing if all are zero.
func sparkline[N int | float64](s Styles, values []N) string {
	highest := slices.Max(values)
	if highest == 0 {
		return ""
	}
	var b strings.Builder
	for _, value := range values {
		b.WriteString(s.steps[int(float64(value)/float64(highest)*float64(len(s.steps)-1)+0.5)])
	}
	return b.String()
}

// onBand draws a line of a width on the background of the band. The line has no other colours.
func (s Styles) onBand(line string, width int) string {
	return s.band(colourCodes.ReplaceAllString(widget.Fit(line, width), ""))
}

// status returns the sign and the role of the state of a call or a pledge.
func (s Styles) status(status string) (string, paint) {
	switch status {
	case string(apitype.CallRequested), string(apitype.PledgeLead):
		return s.DueSign, s.Held
	case string(apitype.CallCompleted), string(apitype.PledgeActive), string(apitype.PledgeFulfilled):
		return s.OKSign, s.Good
	case string(apitype.CallCancelled), string(apitype.CallExpired), string(apitype.PledgeDropped):
		return s.badSign, s.Bad
	default:
		return "", s.plain
	}
}

// statusText returns a state with its sign.
func (s Styles) statusText(status string) string {
	sign, _ := s.status(status)
	return strings.TrimLeft(sign+" "+s.say(Clean(render.Words(status))), " ")
}

// pledgeText returns the status of a pledge with its sign.
func (s Styles) pledgeText(status apitype.PledgeStatus) string {
	sign, _ := s.status(string(status))
	return strings.TrimLeft(sign+" "+s.say(Clean(card.PledgeStatus(status))), " ")
}

// pill returns a state, in its words, as a block of its colour.
func (s Styles) pill(status, words string) string {
	if status == "" {
		return ""
	}
	_, role := s.status(status)
	return "\x1b[7m" + role(" "+words+" ") + "\x1b[m"
}

// frame returns the frame of a pane, bare if there is no room for one.
func (s Styles) frame(l Layout, width int) widget.Frame {
	return widget.Frame{
		Border: s.border,
		Width:  width,
		Bare:   !l.Framed,
		Paint:  s.Dim,
	}
}

// active returns the frame of the pane with the focus. Over SSH it looks like the others, because adjacent borders are
// then one run of one style. That saves an eighth of a page's bytes.
func (s Styles) active(l Layout, width int) widget.Frame {
	frame := s.frame(l, width)
	if !s.Remote {
		frame.Paint = s.focus
	}
	return frame
}

// panes joins panes from left to right.
func (s Styles) panes(l Layout, panes ...[]string) []string {
	if l.Framed {
		return widget.Beside("", panes...)
	}
	return widget.Beside(s.Dim(s.rule), panes...)
}

// kind returns the hue of a type of call.
func (s Styles) kind(t apitype.CallType) paint {
	if role, known := s.kinds[t]; known {
		return role
	}
	return s.bold
}

// painter takes a style's opening and closing codes once, so that drawing is putting
// strings together.
func painter(style lipgloss.Style) paint {
	before, after, _ := strings.Cut(style.Render("x"), "x")
	return func(text string) string {
		if text == "" {
			return ""
		}
		return before + text + after
	}
}
