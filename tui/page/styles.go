package page

import (
	"strings"

	"charm.land/lipgloss/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// paint draws text in a role.
type paint func(string) string

// Styles are the roles in which text is drawn. They use the terminal's sixteen colours, and each role also has a word,
// a sign or a weight.
type Styles struct {
	Dim, Good, Held, Warn, Bad, Tab, Key              paint
	plain, bold, accent, chosen, marked, head, cursor paint
	focus                                             paint // The border of the pane with the focus.
	kinds                                             map[apitype.CallType]paint
	border                                            lipgloss.Border
	rule                                              string // Between panes.
	line                                              string // One character of a horizontal rule.
	WarnSign, OKSign, DueSign, fixSign                string
	mark, badSign, pointer, changed                   string
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

// Themes are the sets of colours; the first is the default: the terminal's own colours, the same without faint or dark
// ones, and few colours. All keep to the sixteen colours of the terminal, so that they follow light and dark terminals.
var Themes = []string{"default", "high-contrast", "calm"}

// NewStyles makes the roles in a theme. Without colour only weight, reverse and underline
// remain; with ascii the signs are letters.
func NewStyles(theme string, noColor, ascii bool) Styles {
	s := baseStyles(noColor, ascii)
	if noColor {
		return s
	}
	base := lipgloss.NewStyle()
	switch theme {
	case "high-contrast":
		bold := base.Bold(true)
		s.Dim, s.Good, s.Held, s.Warn = s.plain, s.bold, s.bold, painter(bold.Reverse(true))
		s.Bad, s.accent, s.Key, s.marked = painter(
			bold.Reverse(true),
		), painter(
			bold.Underline(true),
		), painter(
			bold.Underline(true),
		), painter(
			bold,
		)
		s.kinds, s.focus = nil, s.bold
	case "calm":
		s.Good, s.Held, s.accent, s.Key, s.marked = s.plain, s.plain, s.bold, s.bold, s.bold
		s.Warn, s.Bad = painter(base.Foreground(lipgloss.Yellow)), painter(base.Foreground(lipgloss.Red))
		s.kinds, s.focus = nil, s.plain
	}
	return s
}

func baseStyles(noColor, ascii bool) Styles {
	base := lipgloss.NewStyle()
	color := func(s lipgloss.Style, c lipgloss.Style) paint {
		if noColor {
			return painter(s)
		}
		return painter(c)
	}
	s := Styles{
		plain:  func(text string) string { return text },
		bold:   painter(base.Bold(true)),
		Dim:    color(base, base.Faint(true)),
		accent: color(base.Bold(true), base.Foreground(lipgloss.Cyan).Bold(true)),
		Good:   color(base, base.Foreground(lipgloss.Green)),
		Held:   color(base, base.Foreground(lipgloss.Blue)),
		Warn:   color(base.Bold(true), base.Foreground(lipgloss.Yellow).Bold(true)),
		Bad:    color(base.Bold(true), base.Foreground(lipgloss.Red).Bold(true)),
		focus:  color(base, base.Foreground(lipgloss.Cyan)),
		chosen: painter(base.Reverse(true)),
		marked: color(base.Bold(true), base.Foreground(lipgloss.Magenta).Bold(true)),
		head:   painter(base.Underline(true)),
		Tab:    painter(base.Reverse(true).Bold(true)),
		Key:    color(base.Bold(true), base.Foreground(lipgloss.Blue).Bold(true)),
		cursor: painter(base.Reverse(true)),
		kinds: map[apitype.CallType]paint{
			apitype.CallVerification: color(base.Bold(true), base.Foreground(lipgloss.Cyan).Bold(true)),
			apitype.CallHappy:        color(base.Bold(true), base.Foreground(lipgloss.Blue).Bold(true)),
			apitype.CallWinback:      color(base.Bold(true), base.Foreground(lipgloss.Magenta).Bold(true)),
		},
		border:   widget.LineBorder,
		rule:     " │ ",
		line:     "─",
		mark:     "●",
		WarnSign: "▲",
		OKSign:   "✓",
		DueSign:  "◷",
		fixSign:  desk.FixSign,
		badSign:  "✗",
		pointer:  "▸",
		changed:  desk.FixSign,
		bar:      [2]string{"▰", "▱"},
		bars:     []string{"█", "▓", "░", "▒"},
		steps:    strings.Split("▁▂▃▄▅▆▇█", ""),
		say:      new(desk.Day).Say,
	}
	if ascii {
		s.border, s.rule, s.line = widget.ASCIIBorder, " | ", "-"
		s.mark, s.WarnSign, s.OKSign, s.DueSign, s.badSign, s.fixSign = "*", "!", "ok", "@", "x", "(corrected)"
		s.pointer, s.changed, s.bar = ">", "*", [2]string{"#", "-"}
		s.bars = []string{"#", "=", "-", "+"}
		s.steps = strings.Split("_.,-~=+#", "")
	}
	return s
}

// status returns the sign and the role of the state of a call or a pledge.
func (s Styles) status(status string) (sign string, role paint) {
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

// pill returns a state as a block of its colour.
func (s Styles) pill(status string) string {
	if status == "" {
		return ""
	}
	_, role := s.status(status)
	return "\x1b[7m" + role(" "+s.statusText(status)+" ") + "\x1b[m"
}

// frame returns the frame of a pane, bare if there is no room for one.
func (s Styles) frame(l Layout, width int) widget.Frame {
	return widget.Frame{Border: s.border, Width: width, Bare: !l.Framed, Paint: s.Dim}
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
