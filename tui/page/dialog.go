package page

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
	"fundesk/tui/widget"
)

// Dialog takes all keys until it closes.
type Dialog interface {
	Key(msg tea.KeyPressMsg) (Fate, tea.Cmd)
	// Hints are the keys that work in it, for the footer.
	Hints() []Hint
	// View draws within at most width by height cells, its frame not included.
	View(s Styles, width, height int) (title string, lines []string)
}

// Paster is a dialog in which text is typed.
type Paster interface{ Paste(text string) }

// Fate is what becomes of a dialog with a key.
type Fate int

// What a dialog makes of a key.
const (
	Stays  Fate = iota
	Closes      // The key was its last.
	Passes      // It closes, and the key is for who is below it.
)

// Hint is a key and what it does, in a word.
type Hint struct{ Key, Does string }

// Confirm asks before something that cannot be taken back lightly: y does it, n and
// esc do not, Enter does nothing.
type Confirm struct {
	Title string
	Lines []string
	Yes   func() tea.Cmd
	No    func() // Nil: it closes.
}

// Key implements Dialog.
func (c *Confirm) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	switch msg.String() {
	case "y":
		return Closes, c.Yes()
	case "n", "esc", "ctrl+c":
		if c.No != nil {
			c.No()
		}
		return Closes, nil
	}
	return Stays, nil
}

// Hints implements Dialog.
func (c *Confirm) Hints() []Hint { return []Hint{{"y", "yes"}, {"n", "no"}} }

// View implements Dialog.
func (c *Confirm) View(s Styles, width, _ int) (string, []string) {
	var lines []string
	for _, line := range c.Lines {
		lines = append(lines, widget.Wrap(s.say(line), width)...)
	}
	return c.Title, append(lines, "", s.Key("y")+" "+s.say("yes")+"   "+s.Key("n")+" "+s.say("no"))
}

// Option is one choice; its key picks it.
type Option struct {
	Key   string
	Label string
	Run   func() tea.Cmd
	Why   string // Why it cannot be chosen; "" when it can.
}

// Choose offers options, each on a key of its own; a filter narrows long lists.
type Choose struct {
	Title      string
	Options    []Option
	hint       string
	hintNow    func() string // A hint that changes with time; nil: hint.
	Filterable bool
	More       func(text string) []Option // What a text stands for besides; nil: nothing.
	Editor     widget.TextField
	cursor     int
	// openAt is when it takes a choice: one that opens by itself is to be seen first.
	openAt time.Time
	now    func() time.Time
}

// choiceKeys are the keys given to options that have none.
const choiceKeys = "123456789abcdefghilmoprstuvwxyz"

// NewChoice gives each option its key.
func NewChoice(title, hint string, options []Option) *Choose {
	next := 0
	for i := range options {
		if options[i].Key == "" && next < len(choiceKeys) {
			options[i].Key = choiceKeys[next : next+1]
			next++
		}
	}
	return &Choose{Title: title, hint: hint, Options: options}
}

// Matching returns the options that pass the filter.
func (c *Choose) Matching() []Option {
	if !c.Filterable || c.Editor.IsEmpty() {
		return c.Options
	}
	var found []Option
	plain := func(text string) string { return strings.ReplaceAll(strings.ToLower(text), "-", " ") }
	want := plain(c.Editor.Value())
	for _, o := range c.Options {
		if strings.Contains(plain(o.Label), want) {
			found = append(found, o)
		}
	}
	// The one of that name comes first, then those that begin with it.
	rank := func(o Option) int {
		label := plain(o.Label)
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
	slices.SortStableFunc(found, func(a, b Option) int { return rank(a) - rank(b) })
	if c.More != nil {
		found = append(found, c.More(c.Editor.Value())...)
	}
	return found
}

// Hints implements Dialog.
func (c *Choose) Hints() []Hint {
	all := []Hint{{"esc", "close"}}
	if found := c.Matching(); c.cursor < len(found) && found[c.cursor].Run != nil && found[c.cursor].Why == "" {
		all = append([]Hint{{"enter", "choose"}}, all...)
	}
	return all
}

// Key implements Dialog.
func (c *Choose) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	found := c.Matching()
	name := msg.String()
	switch name {
	case "esc", "ctrl+c":
		return Closes, nil
	case "up", "ctrl+p":
		c.cursor = max(c.cursor-1, 0)
		return Stays, nil
	case "down", "ctrl+n":
		c.cursor = min(c.cursor+1, max(len(found)-1, 0))
		return Stays, nil
	}
	if c.now != nil && c.now().Before(c.openAt) {
		return Stays, nil // The key was meant for what was there before.
	}
	switch name {
	case "enter":
		if c.cursor < len(found) {
			return c.pick(found[c.cursor])
		}
		return Stays, nil
	}
	if c.Filterable {
		c.Editor.Update(msg)
		c.cursor = 0
		return Stays, nil
	}
	for _, o := range found {
		if o.Key == name {
			return c.pick(o)
		}
	}
	return Stays, nil
}

func (c *Choose) pick(o Option) (Fate, tea.Cmd) {
	if o.Why != "" || o.Run == nil {
		return Stays, nil
	}
	return Closes, o.Run()
}

// Paste implements Paster.
func (c *Choose) Paste(text string) {
	if c.Filterable {
		c.Editor.Insert(text)
	}
}

// View implements Dialog.
func (c *Choose) View(s Styles, width, height int) (string, []string) {
	var lines []string
	room := height
	if c.Filterable {
		lines = append(lines, c.Editor.Line(min(width, 30), s.cursor))
		room--
	}
	if c.hintNow != nil {
		c.hint = c.hintNow()
	}
	hint := strings.TrimPrefix(s.say(c.hint)+"; "+s.say("esc closes"), "; ")
	room--
	found := c.Matching()
	c.cursor = min(c.cursor, max(len(found)-1, 0))
	longest := 0
	for _, o := range slices.Concat(c.Options, found) {
		longest = max(longest, render.Width(s.say(o.Label)+s.say(o.Why))+14)
	}
	width = min(width, longest)
	top := max(0, min(c.cursor-room/2, len(found)-room))
	for i := top; i < min(len(found), top+max(room, 1)); i++ {
		o := found[i]
		line := widget.Fit(KeyName(o.Key), 9) + " " + o.Label
		if !c.Filterable {
			line = widget.Fit(KeyName(o.Key), 3) + s.say(o.Label)
		}
		if o.Why != "" {
			line += "  (" + s.say(o.Why) + ")"
		}
		line = widget.Fit(line, width)
		switch {
		case i == c.cursor:
			line = s.chosen(line)
		case o.Why != "":
			line = s.Dim(line)
		}
		lines = append(lines, line)
	}
	if len(found) == 0 {
		lines = append(lines, s.Dim(s.say("nothing of that name works here")))
	}
	lines = append(lines, s.Dim(hint))
	return c.Title, lines
}

// Prompt asks for a line of text.
type Prompt struct {
	Title  string
	help   []string
	Editor widget.TextField
	done   func(text string) (problem string, cmd tea.Cmd)
	Wrong  string // What is wrong with the text; "" for nothing.

	// All of these may be nil.
	changed  func(text string) (problem string, cmd tea.Cmd) // Told of each change.
	left     func()                                          // It closes, and nothing is taken.
	complete func(text string) []string                      // How the text may go on.
	history  []string                                        // Texts of before, the latest last.
	back     int                                             // How far back in the history.
}

// Hints implements Dialog.
func (p *Prompt) Hints() []Hint {
	hints := []Hint{{"esc", "close"}}
	if p.Wrong == "" {
		hints = []Hint{{"enter", "take it"}, {"esc", "close"}}
	}
	if len(p.completions()) > 0 {
		hints = append(hints, Hint{"tab", "complete"})
	}
	if p.back < len(p.history) {
		hints = append(hints, Hint{"up", "the one before"})
	}
	return hints
}

func (p *Prompt) completions() []string {
	if p.complete == nil {
		return nil
	}
	return p.complete(p.Editor.Value())
}

func (p *Prompt) set(text string) tea.Cmd {
	p.Editor.SetValue(text)
	return p.wasChanged()
}

func (p *Prompt) wasChanged() (cmd tea.Cmd) {
	if p.Wrong = ""; p.changed != nil {
		p.Wrong, cmd = p.changed(p.Editor.Value())
	}
	return cmd
}

func commonStart(texts []string) string {
	start := texts[0]
	for _, text := range texts[1:] {
		for !strings.HasPrefix(text, start) {
			_, size := utf8.DecodeLastRuneInString(start)
			start = start[:len(start)-size]
		}
	}
	return start
}

// Key implements Dialog.
func (p *Prompt) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	switch msg.String() {
	case "esc", "ctrl+c":
		if p.left != nil {
			p.left()
		}
		return Closes, nil
	case "enter":
		problem, cmd := p.done(p.Editor.Value())
		if p.Wrong = problem; problem != "" {
			return Stays, cmd
		}
		return Closes, cmd
	case "tab":
		if found := p.completions(); len(found) > 0 {
			return Stays, p.set(commonStart(found))
		}
	case "up":
		if p.back < len(p.history) {
			p.back++
			return Stays, p.set(p.history[len(p.history)-p.back])
		}
	case "down":
		if p.back--; p.back > 0 {
			return Stays, p.set(p.history[len(p.history)-p.back])
		} else if p.back = max(p.back, 0); len(p.history) > 0 {
			return Stays, p.set("")
		}
	default:
		if p.Editor.Update(msg) {
			return Stays, p.wasChanged()
		}
	}
	return Stays, nil
}

// Paste implements Paster.
func (p *Prompt) Paste(text string) {
	p.Editor.Insert(text)
	p.wasChanged()
}

// View implements Dialog.
func (p *Prompt) View(s Styles, width, _ int) (string, []string) {
	lines := []string{p.Editor.Line(width, s.cursor)}
	if p.Wrong != "" {
		for _, line := range widget.Wrap(s.say(p.Wrong), width) {
			lines = append(lines, s.Bad(line))
		}
	}
	help := slices.Clone(p.help)
	if found := p.completions(); len(found) > 0 {
		for i, text := range found {
			found[i] = text[strings.LastIndex(text, " ")+1:]
		}
		help = []string{strings.Join(found, "  ")} // In its place: the text does not jump.
	}
	for _, hint := range append(help, "Enter takes it, esc closes") {
		for _, line := range widget.Wrap(s.say(hint), width) {
			lines = append(lines, s.Dim(line))
		}
	}
	return p.Title, lines
}

// Text shows lines that are longer than a message.
type Text struct {
	Title string
	Lines []string
	Now   func(width int) []string // Lines that change with time; nil: Lines.
	view  widget.Scroll
}

// Hints implements Dialog.
func (t *Text) Hints() []Hint { return []Hint{{"esc", "close"}} }

// Key implements Dialog.
func (t *Text) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	switch msg.String() {
	case "j", "down":
		t.view.By(1)
	case "k", "up":
		t.view.By(-1)
	case "esc", "q", "n", "enter", "ctrl+c":
		return Closes, nil
	}
	return Stays, nil
}

// View implements Dialog.
func (t *Text) View(s Styles, width, height int) (string, []string) {
	if t.Now != nil {
		t.Lines = t.Now(width)
	}
	var lines []string
	for _, line := range t.Lines {
		lines = append(lines, widget.Wrap(line, width)...)
	}
	t.view.Set(lines, width, min(len(lines), height-1))
	return t.Title, append(t.view.Lines(), s.Dim(s.say("j/k scroll, esc closes")))
}

// askedRating asks for a rating from 0 to 10. It never stands in the way: what is no
// rating is for the call.
type askedRating struct {
	onCard
	now *int // As it is so far; nil for none.
	one bool // A 1 was pressed: with a 0 it is ten.
	set func(*int)
}

// Key implements Dialog.
func (r *askedRating) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	name := msg.String()
	switch {
	case r.one && name == "0":
		r.set(new(10))
		return Closes, nil
	case name == "esc":
		return Closes, nil
	case r.one, name == "ctrl+c":
		return Passes, nil
	case name == "-":
		r.set(nil)
		return Closes, nil
	case name == "r":
		return Stays, nil // As in c 1 r 8.
	case len(name) != 1 || name[0] < '0' || name[0] > '9':
		return Passes, nil
	}
	n := int(name[0] - '0')
	r.now, r.one = &n, n == 1
	if r.set(&n); r.one {
		return Stays, nil
	}
	return Closes, nil
}

// Hints implements Dialog.
func (r *askedRating) Hints() []Hint {
	if r.one {
		return []Hint{{"0", "ten"}, {"esc", "one"}}
	}
	return []Hint{{"0", "to 9"}, {"-", "none"}, {"esc", "close"}}
}

// DrawDialog lays a dialog over the screen.
func DrawDialog(d Dialog, s Styles, screen []string, width int) []string {
	if _, isInline := d.(Inline); isInline {
		return screen
	}
	inner := min(width-8, 90)
	title, lines := d.View(s, inner, max(len(screen)-4, 1))
	title = s.say(title)
	longest := render.Width(title) + 4
	for _, line := range lines {
		longest = max(longest, render.Width(line))
	}
	frame := widget.Frame{Border: s.border, Width: min(inner, max(longest, 36)) + 4}
	lines = frame.Close(append([]string{frame.Top(s.bold(title), "")}, frame.Lines(lines...)...), min(len(lines)+2, len(screen)))
	for i, line := range screen {
		if !s.Remote {
			screen[i] = s.Dim(ansi.Strip(line))
		}
	}
	return widget.Over(screen, lines, width)
}

// KeyName returns a key as it is shown.
func KeyName(name string) string { return keySigns.Replace(name) }

var keySigns = strings.NewReplacer("ctrl+", "^", "pgdown", "PgDn", "pgup", "PgUp")
