package page

import (
	"slices"
	"strings"
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
type Paster interface{ Paste(text string) tea.Cmd }

// Fate is the state of a dialog after a key.
type Fate int

// The results of a key in a dialog.
const (
	Stays  Fate = iota
	Closes      // The key was its last.
	Passes      // It closes, and the dialog or page below it gets the key.
)

// Hint is a key and its action, in a word.
type Hint struct{ Key, Does string }

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
	lines      []string // Above the options.
	Options    []Option
	hint       string
	hintNow    func() string // A hint that changes with time. Nil uses hint.
	Filterable bool
	More       func(text string) []Option // Further options for a text. Nil means none.
	picker
	late late
}

// picker is a line of text with choices below it, and the cursor on one of them.
type picker struct {
	Editor widget.TextField
	cursor int
}

// move moves the cursor over some choices; it reports whether a key does that.
func (p *picker) move(key string, choices int) bool {
	switch key {
	case "up", "ctrl+p":
		p.cursor = max(p.cursor-1, 0)
	case "down", "ctrl+n":
		p.cursor = min(p.cursor+1, max(choices-1, 0))
	default:
		return false
	}
	return true
}

// noChoice is the cursor of a choice that stays open, before it moves.
const noChoice = -1

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
	// An option of that name comes first, then those whose names begin with it.
	rank := func(o Option) int {
		label := plain(o.Label)
		name, _, _ := strings.Cut(label, ":")
		if name == want {
			return 0
		}
		if strings.HasPrefix(label, want) {
			return 1
		}
		return 2
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
	found := c.Matching()
	isOnOne := c.cursor != noChoice && c.cursor < len(found)
	if isOnOne && found[c.cursor].Run != nil && found[c.cursor].Why == "" {
		all = append([]Hint{{"enter", "choose"}}, all...)
	}
	return all
}

// Key implements Dialog.
func (c *Choose) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	found := c.Matching()
	name := msg.String()
	if name == "esc" || name == "ctrl+c" {
		return Closes, nil
	}
	if c.move(name, len(found)) || c.late.isUnseen() {
		return Stays, nil
	}
	if name == "enter" && c.cursor == noChoice {
		return Closes, nil
	}
	if name == "enter" && c.cursor < len(found) {
		return c.pick(found[c.cursor])
	}
	if name == "enter" {
		return Stays, nil
	}
	if c.Filterable {
		c.Editor.Update(msg)
		c.cursor = 0
		return Stays, nil
	}
	for _, o := range found {
		if o.Key == msg.String() {
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
func (c *Choose) Paste(text string) tea.Cmd {
	if c.Filterable {
		c.Editor.Insert(text)
	}
	return nil
}

// View implements Dialog.
func (c *Choose) View(s Styles, width, height int) (string, []string) {
	var lines []string
	room := height
	if c.Filterable {
		lines = append(lines, c.Editor.Line(min(width, 30), s.cursor))
	}
	if c.hintNow != nil {
		c.hint = c.hintNow()
	}
	for _, line := range c.lines {
		lines = append(lines, widget.Wrap(s.say(line), width)...)
	}
	hint := strings.TrimPrefix(s.say(c.hint)+"; "+s.say("esc closes"), "; ")
	room -= len(lines) + 1
	found := c.Matching()
	c.cursor = min(c.cursor, max(len(found)-1, 0))
	longest := 0
	for _, o := range slices.Concat(c.Options, found) {
		longest = max(longest, render.Width(s.say(o.Label)+s.say(o.Why))+14)
	}
	width = min(width, longest)
	all, first, last := c.optionLines(s, found, width)
	room = max(room, 1)
	top := max(0, min(max(first-room/2, last-room), len(all)-room))
	lines = append(lines, all[top:min(len(all), top+room)]...)
	if len(found) == 0 {
		lines = append(lines, s.Dim(s.say("no action of that name works here")))
	}
	lines = append(lines, s.Dim(hint))
	return c.Title, lines
}

// optionLines draws the options. The lines of the chosen one are those from first up to last.
func (c *Choose) optionLines(s Styles, options []Option, width int) (all []string, first, last int) {
	before := ""                  // The reason of the option before.
	isDimmed := s.Dim("a") != "a" // Otherwise its reason alone shows that an option cannot be chosen.
	for i, o := range options {
		isChosen := i == c.cursor
		key, label := widget.Fit(s.KeyNames(strings.Fields(o.Key)...), 9)+" ", o.Label
		if !c.Filterable {
			key, label = widget.Fit(s.KeyNames(o.Key), 3), s.say(o.Label)
		}
		if isRepeated := o.Why == before && isDimmed; o.Why != "" && (isChosen || !isRepeated) {
			label += "  (" + s.say(o.Why) + ")"
		}
		before = o.Why
		if isChosen {
			first = len(all)
		}
		for _, part := range widget.Wrap(label, width-render.Width(key)) {
			line := widget.Fit(key+part, width)
			key = strings.Repeat(" ", render.Width(key))
			if isChosen {
				line = s.chosen(line)
			} else if o.Why != "" {
				line = s.Dim(line)
			}
			all = append(all, line)
		}
		if isChosen {
			last = len(all)
		}
	}
	return all, first, last
}

// Prompt asks for a line of text.
type Prompt struct {
	Title  string
	help   []string
	Editor widget.TextField
	done   func(text string) (problem string, cmd tea.Cmd)
	Wrong  string // The mistake in the text. Empty if there is none.

	// All of these may be nil.
	changed  func(text string) (problem string, cmd tea.Cmd) // Called with each change.
	left     func() tea.Cmd                                  // It closes, and nothing is taken.
	keep     func(text string)                               // Called with each change, and with "" when it is left.
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

func (p *Prompt) wasChanged() tea.Cmd {
	if p.keep != nil {
		p.keep(p.Editor.Value())
	}
	var cmd tea.Cmd
	p.Wrong = ""
	if p.changed != nil {
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
		if p.keep != nil {
			p.keep("")
		}
		if p.left != nil {
			return Closes, p.left()
		}
		return Closes, nil
	case "enter":
		problem, cmd := p.done(p.Editor.Value())
		p.Wrong = problem
		if problem != "" {
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
		if p.back > 0 {
			p.back--
			return Stays, p.set(slices.Concat(p.history, []string{""})[len(p.history)-p.back])
		}
	default:
		if p.Editor.Update(msg) {
			return Stays, p.wasChanged()
		}
	}
	return Stays, nil
}

// Paste implements Paster.
func (p *Prompt) Paste(text string) tea.Cmd {
	p.Editor.Insert(text)
	return p.wasChanged()
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
	Now   func(width int) []string // Lines that change with time. Nil uses Lines.
	view  widget.Scroll
	late  late
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
	case "esc", "ctrl+c":
		return Closes, nil
	case "q", "n", "enter":
		if !t.late.isUnseen() {
			return Closes, nil
		}
	default:
		t.late.wait() // The key was meant for what was there before, and so is the text that it begins.
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
	t.view.Set(lines, min(len(lines), height-1))
	return t.Title, append(t.view.Lines(), s.Dim(s.say("j/k scroll, esc closes")))
}

// dialogSize is the size of the last drawn dialog, and of its screen. An open dialog never becomes smaller, because the
// page behind it would be drawn again with each key.
type dialogSize struct {
	of            Dialog
	width, lines  int
	screen, cells int
}

// DrawDialog lays the dialog over the screen. It dims the screen, except for a list that a filter narrows.
func DrawDialog(e *Env, screen []string, width int) []string {
	if _, isInline := e.Dialog.(Inline); isInline {
		return screen
	}
	inner := min(width-8, 90)
	title, lines := e.Dialog.View(e.Styles, inner, max(len(screen)-4, 1))
	title = e.Say(title)
	longest := render.Width(title) + 4
	for _, line := range lines {
		longest = max(longest, render.Width(line))
	}
	drawn := &e.drawnDialog
	if drawn.of != e.Dialog || drawn.screen != len(screen) || drawn.cells != width {
		*drawn = dialogSize{of: e.Dialog, screen: len(screen), cells: width}
	}
	drawn.width, drawn.lines = max(drawn.width, min(inner, max(longest, 36))), max(drawn.lines, len(lines))
	frame := widget.Frame{Border: e.Styles.border, Width: drawn.width + 4}
	lines = frame.Close(
		append([]string{frame.Top(e.Styles.bold(title), "")}, frame.Lines(lines...)...),
		min(drawn.lines+2, len(screen)),
	)
	prompt, isPrompt := e.Dialog.(*Prompt)
	for i, line := range screen {
		if !e.Styles.Remote && (!isPrompt || prompt.changed == nil) {
			screen[i] = e.Styles.Dim(ansi.Strip(line))
		}
	}
	return widget.Over(screen, lines, width)
}

// KeyNames returns keys as they are shown, in the agent's language.
func (s Styles) KeyNames(names ...string) string {
	for i, name := range names {
		if said := s.say("key " + name); !strings.HasPrefix(said, "key ") {
			names[i] = said
		}
	}
	return keySigns.Replace(strings.Join(names, " "))
}

var keySigns = strings.NewReplacer("ctrl+", "^", "pgdown", "PgDn", "pgup", "PgUp")
