package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/widget"
)

// dialog takes all keys until it closes.
type dialog interface {
	key(msg tea.KeyPressMsg) (fate, tea.Cmd)
	// hints are the keys that work in it, for the footer.
	hints() []hint
	paste(text string)
	// view draws within at most width by height cells, its frame not included.
	view(s styles, width, height int) (title string, lines []string)
}

// fate is what becomes of a dialog with a key.
type fate int

const (
	stays  fate = iota
	closes      // The key was its last.
	passes      // It closes, and the key is for who is below it.
)

// hint is a key and what it does, in a word.
type hint struct{ key, does string }

// confirm asks before something that cannot be taken back lightly: y does it, n and
// esc do not, Enter does nothing.
type confirm struct {
	title string
	lines []string
	yes   func() tea.Cmd
	no    func() // Nil: it closes.
}

func (c *confirm) key(msg tea.KeyPressMsg) (fate, tea.Cmd) {
	switch msg.String() {
	case "y":
		return closes, c.yes()
	case "n", "esc", "ctrl+c":
		if c.no != nil {
			c.no()
		}
		return closes, nil
	}
	return stays, nil
}

func (c *confirm) hints() []hint { return []hint{{"y", "yes"}, {"n", "no"}} }

func (c *confirm) paste(string) {}

func (c *confirm) view(s styles, width, _ int) (string, []string) {
	var lines []string
	for _, line := range c.lines {
		lines = append(lines, widget.Wrap(line, width)...)
	}
	return c.title, append(lines, "", s.key("y")+" yes   "+s.key("n")+" no")
}

// option is one choice; its key picks it.
type option struct {
	key   string
	label string
	run   func() tea.Cmd
	why   string // Why it cannot be chosen; "" when it can.
}

// choose offers options, each on a key of its own; a filter narrows long lists.
type choose struct {
	title      string
	options    []option
	hint       string
	hintNow    func() string // A hint that changes with time; nil: hint.
	filterable bool
	editor     widget.TextField
	cursor     int
}

// choiceKeys are the keys given to options that have none.
const choiceKeys = "123456789abcdefghilmoprstuvwxyz"

// newChoice gives each option its key.
func newChoice(title, hint string, options []option) *choose {
	next := 0
	for i := range options {
		if options[i].key == "" && next < len(choiceKeys) {
			options[i].key = choiceKeys[next : next+1]
			next++
		}
	}
	return &choose{title: title, hint: hint, options: options}
}

func (c *choose) matching() []option {
	if !c.filterable || c.editor.IsEmpty() {
		return c.options
	}
	var found []option
	want := strings.ToLower(c.editor.Value())
	for _, o := range c.options {
		if strings.Contains(strings.ToLower(o.label), want) {
			found = append(found, o)
		}
	}
	// The one of that name comes first, then those that begin with it.
	rank := func(o option) int {
		label := strings.ToLower(o.label)
		name, _, _ := strings.Cut(label, ":")
		switch {
		case name == want:
			return 0
		case strings.HasPrefix(label, want):
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(found, func(a, b option) int { return rank(a) - rank(b) })
	return found
}

func (c *choose) hints() []hint {
	all := []hint{{"esc", "close"}}
	if found := c.matching(); c.cursor < len(found) && found[c.cursor].run != nil && found[c.cursor].why == "" {
		all = append([]hint{{"enter", "choose"}}, all...)
	}
	return all
}

func (c *choose) key(msg tea.KeyPressMsg) (fate, tea.Cmd) {
	found := c.matching()
	name := msg.String()
	switch name {
	case "esc", "ctrl+c":
		return closes, nil
	case "up", "ctrl+p":
		c.cursor = max(c.cursor-1, 0)
		return stays, nil
	case "down", "ctrl+n":
		c.cursor = min(c.cursor+1, max(len(found)-1, 0))
		return stays, nil
	case "enter":
		if c.cursor < len(found) {
			return c.pick(found[c.cursor])
		}
		return stays, nil
	}
	if c.filterable {
		c.editor.Update(msg)
		c.cursor = 0
		return stays, nil
	}
	for _, o := range found {
		if o.key == name {
			return c.pick(o)
		}
	}
	return stays, nil
}

func (c *choose) pick(o option) (fate, tea.Cmd) {
	if o.why != "" || o.run == nil {
		return stays, nil
	}
	return closes, o.run()
}

func (c *choose) paste(text string) {
	if c.filterable {
		c.editor.Insert(text)
	}
}

func (c *choose) view(s styles, width, height int) (string, []string) {
	var lines []string
	room := height
	if c.filterable {
		lines = append(lines, c.editor.Line(min(width, 30), s.cursor))
		room--
	}
	if c.hintNow != nil {
		c.hint = c.hintNow()
	}
	hint := strings.TrimPrefix(c.hint+"; esc closes", "; ")
	room--
	found := c.matching()
	c.cursor = min(c.cursor, max(len(found)-1, 0))
	longest := 0
	for _, o := range c.options {
		longest = max(longest, widget.Width(o.label+o.why)+14)
	}
	width = min(width, longest)
	top := max(0, min(c.cursor-room/2, len(found)-room))
	for i := top; i < min(len(found), top+max(room, 1)); i++ {
		o := found[i]
		line := widget.Fit(keyName(o.key), 9) + " " + o.label
		if !c.filterable {
			line = widget.Fit(keyName(o.key), 3) + o.label
		}
		if o.why != "" {
			line += "  (" + o.why + ")"
		}
		line = widget.Fit(line, width)
		switch {
		case i == c.cursor:
			line = s.chosen(line)
		case o.why != "":
			line = s.dim(line)
		}
		lines = append(lines, line)
	}
	if len(found) == 0 {
		lines = append(lines, s.dim("nothing of that name works here"))
	}
	lines = append(lines, s.dim(hint))
	return c.title, lines
}

// prompt asks for a line of text.
type prompt struct {
	title  string
	help   []string
	editor widget.TextField
	done   func(text string) (problem string, cmd tea.Cmd)
	wrong  string
}

func (p *prompt) hints() []hint { return []hint{{"enter", "take it"}, {"esc", "close"}} }

func (p *prompt) key(msg tea.KeyPressMsg) (fate, tea.Cmd) {
	switch msg.String() {
	case "esc", "ctrl+c":
		return closes, nil
	case "enter":
		problem, cmd := p.done(p.editor.Value())
		if p.wrong = problem; problem != "" {
			return stays, cmd
		}
		return closes, cmd
	default:
		p.editor.Update(msg)
		p.wrong = ""
		return stays, nil
	}
}

func (p *prompt) paste(text string) { p.editor.Insert(text) }

func (p *prompt) view(s styles, width, _ int) (string, []string) {
	lines := []string{p.editor.Line(width, s.cursor)}
	if p.wrong != "" {
		for _, line := range widget.Wrap(p.wrong, width) {
			lines = append(lines, s.bad(line))
		}
	}
	for _, hint := range append(slices.Clone(p.help), "Enter takes it, esc closes") {
		for _, line := range widget.Wrap(hint, width) {
			lines = append(lines, s.dim(line))
		}
	}
	return p.title, lines
}

// text shows lines that are longer than a message.
type text struct {
	title string
	lines []string
	top   int
}

func (t *text) hints() []hint { return []hint{{"esc", "close"}} }

func (t *text) key(msg tea.KeyPressMsg) (fate, tea.Cmd) {
	switch msg.String() {
	case "j", "down":
		t.top++
	case "k", "up":
		t.top = max(t.top-1, 0)
	case "esc", "q", "n", "enter", "ctrl+c":
		return closes, nil
	}
	return stays, nil
}

func (t *text) paste(string) {}

func (t *text) view(s styles, width, height int) (string, []string) {
	var lines []string
	for _, line := range t.lines {
		lines = append(lines, widget.Wrap(line, width)...)
	}
	t.top = min(t.top, max(len(lines)-height+1, 0))
	shown := lines[t.top:]
	if len(shown) > height-1 {
		shown = shown[:max(height-1, 0)]
	}
	return t.title, append(append([]string(nil), shown...), s.dim("j/k scroll, esc closes"))
}

// askedRating asks for a rating from 0 to 10. It never stands in the way: what is no
// rating is for the call.
type askedRating struct {
	now *int // As it is so far; nil for none.
	one bool // A 1 was pressed: with a 0 it is ten.
	set func(*int)
}

func (r *askedRating) key(msg tea.KeyPressMsg) (fate, tea.Cmd) {
	name := msg.String()
	switch {
	case r.one && name == "0":
		r.set(new(10))
		return closes, nil
	case name == "esc":
		return closes, nil
	case r.one, name == "ctrl+c":
		return passes, nil
	case name == "-":
		r.set(nil)
		return closes, nil
	case name == "r":
		return stays, nil // As in c 1 r 8.
	case len(name) != 1 || name[0] < '0' || name[0] > '9':
		return passes, nil
	}
	n := int(name[0] - '0')
	r.now, r.one = &n, n == 1
	if r.set(&n); r.one {
		return stays, nil
	}
	return closes, nil
}

func (r *askedRating) hints() []hint {
	if r.one {
		return []hint{{"0", "ten"}, {"esc", "one"}}
	}
	return []hint{{"0", "to 9"}, {"-", "none"}, {"esc", "close"}}
}

func (r *askedRating) paste(string) {}

func (r *askedRating) view(s styles, _, _ int) (string, []string) {
	line := "none"
	if r.now != nil {
		line = strconv.Itoa(*r.now)
	}
	if r.one {
		return "Retention rating", []string{s.accent("1"), s.dim("0 makes it 10, any other key goes on with 1")}
	}
	return "Retention rating", []string{s.accent(line), s.dim("0 to 9, 1 and 0 is 10, - is none; any other key goes on")}
}

// drawDialog lays a dialog over the screen.
func drawDialog(d dialog, s styles, screen []string, width int) []string {
	inner := min(width-8, 90)
	title, lines := d.view(s, inner, max(len(screen)-4, 1))
	longest := widget.Width(title) + 4
	for _, line := range lines {
		longest = max(longest, widget.Width(line))
	}
	inner = min(inner, max(longest, 36))
	height := min(len(lines)+2, len(screen))
	return widget.Over(screen, widget.Frame(s.border, title, lines, inner+4, height), width)
}
