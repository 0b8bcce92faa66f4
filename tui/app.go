package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/canvas"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// page is what the root asks of each tab.
type page interface {
	// open is called each time the page comes to the front.
	open() tea.Cmd
	resize(l layout)
	scopes() []scope
	// typing reports whether keys are text for the page's own field.
	typing() bool
	// text is handed the key or the paste.
	text(msg tea.Msg) tea.Cmd
	scroll(by step) tea.Cmd
	refresh() tea.Cmd
	// receive is handed a result of this page's own commands.
	receive(r result) tea.Cmd
	lines(l layout) []string
}

// The pages, in the order of their tabs.
var (
	pageNames  = []string{"desk", "calls", "persons", "pledges", "outbox", "stats"}
	pageTitles = []string{"Desk", "Calls", "Persons", "Pledges", "Outbox", "Stats"}
)

// How often changes are asked for, in seconds: when somebody looks, and when nobody
// does.
const (
	pollFocused = 15
	pollAway    = 60
	pollOffline = 5 // Nobody waits longer than needed for the network to be back.
)

// The indices of pages that others turn to.
const (
	deskPage = iota
	callsPage
	personsPage
	pledgesPage
	outboxPage
	statsPage
)

// app is the root model: it routes messages, and knows nothing of what pages do.
type app struct {
	*shell
	pages   []page
	current int
	layout  layout
	desk    *deskView
	canvas  *canvas.Canvas // Nil: the library draws.
	// Drawn with every key, and the same most of the time.
	drawnTabs   drawn[tabsKey]
	drawnFooter drawn[footerKey]
}

// drawn is a line and what it was made of.
type drawn[K comparable] struct {
	key  K
	line string
}

// of is the line for key, made anew when key is another one.
func (d *drawn[K]) of(key K, draw func() string) string {
	if d.line == "" || d.key != key {
		d.key, d.line = key, draw()
	}
	return d.line
}

// tabsKey is all that the first line depends on.
type tabsKey struct {
	current, width, entries int
	corner                  string
}

// footerKey is all that the last line depends on: allowed has a bit for each binding of
// the footer.
type footerKey struct {
	current, width int
	scope          scope
	allowed        uint64
}

func newApp(ctx context.Context, o Options) (*app, error) {
	if o.Client == nil || o.Outbox == nil {
		return nil, fmt.Errorf("run the terminal interface: a client and an outbox are required")
	}
	current := 0
	if o.Page != "" {
		if current = slices.Index(pageNames, o.Page); current < 0 {
			return nil, fmt.Errorf("there is no page %q; known are %s", o.Page, strings.Join(pageNames, ", "))
		}
	}
	keys, err := loadKeymap(o.ConfigDir)
	if err != nil {
		return nil, err
	}
	a := &app{shell: newShell(ctx, o, keys), current: current}
	a.desk = newDesk(a.shell)
	a.shell.follow = a.desk.follow
	calls, persons, pledges := newCallsPage(a.shell), newPersonsPage(a.shell), newPledgesPage(a.shell)
	a.pages = []page{a.desk, calls, persons, pledges, newOutboxPage(a.shell), newStatsPage(a.shell)}
	a.shell.jump = func(r reference) tea.Cmd {
		switch r.kind {
		case kindCall:
			return a.show(callsPage, calls.showFrom(r, a.current))
		case kindPerson:
			return a.show(personsPage, persons.showFrom(r, a.current))
		default:
			return a.show(pledgesPage, pledges.showFrom(r, a.current))
		}
	}
	a.shell.turnTo = func(index int) tea.Cmd { return a.show(index, nil) }
	a.shell.workOn = func(r reference) tea.Cmd { return a.show(deskPage, a.perform(a.Take(r.id))) }
	a.layout = newLayout(80, 24)
	return a, nil
}

func (a *app) show(index int, then tea.Cmd) tea.Cmd {
	a.current = index
	a.Autosave.FlushSoon()
	return tea.Batch(a.pages[index].open(), then)
}

// Init reads the outbox and opens the first page.
func (a *app) Init() tea.Cmd {
	a.loads.begun++
	return tea.Batch(a.perform(a.Begin()), a.pages[a.current].open(), a.tick())
}

// Update routes a message to whom it concerns.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if a.canvas != nil {
		a.canvas.Hear(msg)
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.layout = newLayout(msg.Width, msg.Height)
		for _, p := range a.pages {
			p.resize(a.layout)
		}
		return a, nil
	case tea.KeyPressMsg:
		if a.holdAhead(msg) {
			return a, nil
		}
		return a, a.press(msg)
	case tea.PasteMsg:
		if a.holdAhead(msg) {
			return a, nil
		}
		return a, a.paste(msg)
	case tea.BlurMsg:
		a.focused = false
		a.Autosave.FlushSoon()
		return a, nil
	case tea.FocusMsg:
		a.focused = true
		return a, a.perform(a.ReadOutbox())
	case tea.ResumeMsg:
		return a, tea.Batch(a.perform(a.ReadOutbox()), tea.ClearScreen)
	case result:
		cmd := a.pages[msg.to].receive(msg)
		return a, tea.Batch(cmd, a.catchUp())
	case desk.Result:
		cmd := a.perform(a.Receive(msg))
		return a, tea.Batch(cmd, a.catchUp())
	case ticked:
		return a, a.onTick()
	case finished:
		return a, tea.Quit
	case copied:
		a.say(msg.what + " copied")
		return a, tea.SetClipboard(msg.text)
	}
	return a, nil
}

// quit ends the program; with text that was not sent, or is not on disk, it asks first.
func (a *app) quit() tea.Cmd {
	line := "The call on the desk is not completed. What you typed is kept as a draft and offered next time."
	switch {
	case a.Trouble != nil:
		line = "What you typed could not be saved and is lost then: " + desk.Cause(a.Trouble) + "."
	case !a.HasDraft():
		return a.finish()
	}
	a.dialog = &confirm{title: "Quit?", lines: []string{line}, yes: a.finish}
	return nil
}

// finish sends what is held and ends the program.
func (a *app) finish() tea.Cmd {
	a.say("sending what is held…")
	return func() tea.Msg {
		a.Finish(a.ctx)
		return finished{}
	}
}

// finished ends the program.
type finished struct{}

// View draws the screen; what the canvas draws is not the library's.
func (a *app) View() tea.View {
	content := strings.Join(a.screen(), "\n")
	if a.canvas != nil {
		a.canvas.Show(content)
		content = canvas.Blank
	}
	view := tea.NewView(content)
	view.AltScreen = true
	view.ReportFocus = true
	view.WindowTitle = "fundesk " + clean(a.Profile)
	return view
}

// asciiSigns are what stands for our signs where there is only ASCII.
var asciiSigns = strings.NewReplacer("…", "~", "·", "-", "•", "*")

// screen is exactly the lines of the terminal.
func (a *app) screen() []string {
	l := a.layout
	if l.tooSmall {
		sentence := fmt.Sprintf("fundesk needs %d by %d cells; this terminal has %d by %d. ", leastWidth, leastHeight, l.width, l.height)
		if a.Trouble == nil {
			sentence += "What you typed is kept."
		} else {
			sentence += "What you typed is not saved."
		}
		return widget.Block(widget.Wrap(sentence, max(l.width, 1)), l.width, l.height)
	}
	screen := make([]string, 0, l.height)
	screen = append(screen, a.tabs())
	screen = append(screen, widget.Block(a.pages[a.current].lines(l), l.width, l.body)...)
	screen = append(screen, a.status(), a.footer())
	if a.dialog != nil {
		screen = drawDialog(a.dialog, a.styles, screen, l.width)
	}
	if a.ASCII {
		for i, line := range screen {
			screen[i] = asciiSigns.Replace(line)
		}
	}
	return screen
}

// tabs is the first line: the pages, and in the corner the profile and the state of
// the connection. Where there is no room for all, only the current page has its name.
func (a *app) tabs() string {
	corner := a.corner()
	return a.drawnTabs.of(tabsKey{a.current, a.layout.width, len(a.Entries), corner}, func() string {
		tabs := a.tabNames(true)
		if widget.Width(tabs)+widget.Width(corner) > a.layout.width {
			tabs = a.tabNames(false)
		}
		return widget.Fit(tabs, max(a.layout.width-widget.Width(corner), 0)) + corner
	})
}

func (a *app) tabNames(all bool) string {
	var b strings.Builder
	for i, title := range pageTitles {
		label := fmt.Sprintf(" %d ", i+1)
		if all || i == a.current {
			label += title + " "
		}
		if n := len(a.Entries); i == outboxPage && n > 0 {
			label += fmt.Sprintf("(%d) ", n)
		}
		if i == a.current {
			label = a.styles.tab(label)
		}
		b.WriteString(label)
	}
	return b.String()
}

// footer is the last line: the keys that work now.
func (a *app) footer() string {
	if a.dialog != nil {
		return a.hintLine(a.dialog.hints())
	}
	if a.pages[a.current].typing() {
		return a.hintLine(a.textHints())
	}
	scopes := append(a.pages[a.current].scopes(), scopeEverywhere)
	key := footerKey{current: a.current, width: a.layout.width, scope: scopes[0]}
	for i, act := range a.keys.footer(scopes) {
		if a.whyNot(act) == "" {
			key.allowed |= 1 << i
		}
	}
	return a.drawnFooter.of(key, func() string {
		var b strings.Builder
		used := 0
		reserved := widget.Width(a.keys.keyOf(actHelp)+" "+actHelp) + 2 // The way to all the others is always there.
		for i, act := range a.keys.footer(scopes) {
			if key.allowed&(1<<i) == 0 {
				continue
			}
			if act.id == actHelp {
				reserved = 0
			}
			item := a.styles.key(keyName(act.Keys()[0])) + " " + act.footer
			w := widget.Width(item)
			if used+w+2+reserved > a.layout.width {
				continue
			}
			if used > 0 {
				b.WriteString("  ")
				used += 2
			}
			b.WriteString(item)
			used += w
		}
		return widget.Fit(b.String(), a.layout.width)
	})
}

// textHints are the keys that work while text is typed.
func (a *app) textHints() (hints []hint) {
	for _, act := range a.keys.footer(a.pages[a.current].scopes()) {
		if act.is(inText) && a.whyNot(act) == "" {
			hints = append(hints, hint{act.Keys()[0], act.footer})
		}
	}
	return hints
}

func (a *app) hintLine(hints []hint) string {
	items := make([]string, 0, len(hints))
	for _, h := range hints {
		items = append(items, a.styles.key(keyName(h.key))+" "+h.does)
	}
	return widget.Fit(strings.Join(items, "  "), a.layout.width)
}

// onTick keeps what depends on the time up to date.
func (a *app) onTick() tea.Cmd {
	commands := []tea.Cmd{a.tick()}
	a.Release()
	a.beats++
	if a.loads.areSettled() {
		commands = append(commands, freeMemory)
	}
	if a.beats%5 == 0 {
		commands = append(commands, a.perform(a.ReadOutbox()))
	}
	every := pollFocused
	switch {
	case !a.focused:
		every = pollAway
	case a.Offline != "":
		every = pollOffline
	}
	if a.beats%every == 0 {
		commands = append(commands, a.perform(a.Poll()))
		if live, ok := a.pages[a.current].(interface{ poll() tea.Cmd }); ok && a.current != deskPage {
			commands = append(commands, live.poll())
		}
	}
	return tea.Batch(commands...)
}
