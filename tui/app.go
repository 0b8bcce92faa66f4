package tui

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/event"
	"fundesk/tui/page"
	"fundesk/tui/widget"
)

// The pages, in the order of their tabs.
var (
	pageNames  = []string{"desk", "calls", "persons", "pledges", "outbox", "stats", "floor"}
	pageTitles = []string{"Desk", "Calls", "Persons", "Pledges", "Outbox", "Stats", "Floor"}
)

// PageNames returns the names of the pages, in the order of their tabs.
func PageNames() []string { return slices.Clone(pageNames) }

// The seconds between two readings of changes: on the page in front, and otherwise.
const (
	pollFocused = 15
	pollBlurred = 60
	pollOffline = 5 // Poll faster while offline.
)

// app is the root model. It routes messages, and does not know what pages do.
type app struct {
	*page.Env
	keys    keymap
	pages   []page.Page
	current int
	layout  page.Layout
	desk    *page.Desk
	profile string // Name shown in the corner.
	focused bool
	beats   int            // Seconds so far.
	omitted int            // The number of omissions that were reported.
	reading loads          // Of what was read from the service.
	ahead   []tea.Msg      // Pressed while the call was being read; see holdAhead.
	unheard unheard        // Typed behind a refused key.
	tick    func() tea.Cmd // The next second.
	free    func()         // Gives free memory back to the system.
	mouse   mouse
	frame   string      // The latest.
	cursor  *tea.Cursor // Where text is typed. Nil if none is.
	log     io.Writer   // Gets the names of messages. Nil gets none.
	login   string      // How the agent gets another token. Empty if there is no way.
	// asksGround is set while the terminal may still answer whether its background is light.
	asksGround  bool
	groundUntil time.Time
	// suspended is set while ctrl+z has stopped the program.
	suspended bool
}

func newApp(ctx context.Context, o Options) (*app, error) {
	if o.Client == nil || o.Outbox == nil {
		return nil, fmt.Errorf("run the terminal interface: a client and an outbox are required")
	}
	current := 0
	if o.Page != "" {
		current = slices.Index(pageNames, o.Page)
		if current < 0 {
			return nil, fmt.Errorf("there is no page %q; there are %s", o.Page, strings.Join(pageNames, ", "))
		}
	}
	a := &app{
		current: current,
		profile: o.Profile,
		focused: true,
		log:     o.Log,
		tick:    func() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return ticked{} }) },
		free:    debug.FreeOSMemory,
		layout:  page.NewLayout(80, 24),
	}
	a.Env = page.NewEnv(ctx, a, desk.New(o.Options), page.NewStyles(o.Theme, o.NoColor, o.ASCII))
	a.Styles.Remote = o.Remote
	a.asksGround = !o.NoColor && (o.Theme == "" || o.Theme == page.Themes[0])
	a.mouse.on, a.login = o.Mouse, o.Login
	a.ASCII = o.ASCII
	a.Spinner = widget.NewSpinner(o.ASCII)
	if len(o.PledgeActions) > 0 {
		a.PledgeActions = o.PledgeActions
	}
	var err error
	a.Kept, err = page.ReadKept(a.Day.Beside("-screen.json"))
	if err != nil {
		a.Messages.Fail("the layout of the screen cannot be read", err)
	}
	if o.Notice != "" {
		a.Messages.Say(o.Notice)
	}
	a.desk = page.NewDesk(a.Env)
	a.Day.Transitions.Busy = func() bool { return a.Dialog != nil || a.isTyping() }
	a.pages = []page.Page{
		a.desk,
		page.NewCalls(a.Env),
		page.NewPersons(a.Env),
		page.NewPledges(a.Env),
		page.NewOutbox(a.Env),
		page.NewStats(a.Env),
		page.NewFloor(a.Env),
	}
	a.keys, err = loadKeymap(registry(a), o.ConfigDir, o.Hidden)
	if err != nil {
		return nil, err
	}
	a.draw()
	return a, nil
}

// Perform runs the events of the agent's day.
func (a *app) Perform(events []event.Event) tea.Cmd {
	var commands []tea.Cmd
	for _, e := range events {
		switch e := e.(type) {
		case event.Job:
			commands = append(commands, a.Job(e))
		case event.Notice:
			a.notice(e)
			if e.Rings {
				commands = append(commands, tea.Raw("\a"))
			}
		}
	}
	if !a.Day.LoggedOut {
		a.Messages.Over(event.OfLogin)
	}
	a.desk.Follow(a.current == page.DeskPage)
	return tea.Batch(commands...)
}

// notice shows a line of the day.
func (a *app) notice(n event.Notice) {
	switch n.See {
	case event.SeeOutbox:
		n.Text = a.Say(n.Text) + a.Say(" (%s shows it)", a.KeyOf(page.ActOutbox))
	case event.SeeResults:
		n.Text = a.Say(n.Text) + a.Say(", %s shows each", a.KeyOf(page.ActResults))
	}
	switch n.Level {
	case event.Said:
		a.Messages.SayOf(n.Owner, n.Text)
	case event.Told:
		a.Messages.Stand(n.Text)
	case event.Over:
		a.Messages.Over(n.Owner)
	case event.Done:
		a.Messages.Say(a.Styles.OKSign + " " + a.Say(n.Text))
		a.Messages.Aside = true
	case event.Failed:
		a.Messages.FailOf(n.Owner, n.Text)
	case event.Urgent:
		a.Messages.FailFirst(n.Owner, n.Text)
	}
}

// KeyOf returns the key of an action as it is shown.
func (a *app) KeyOf(id string) string {
	for _, act := range a.keys {
		if keys := act.keys; act.ID == id && len(keys) > 0 {
			return a.Styles.KeyNames(keys[0])
		}
	}
	return id
}

// Jump opens a record on the page of its kind; the way back leads here.
func (a *app) Jump(to page.Reference) tea.Cmd {
	index := map[apitype.EntityName]int{
		apitype.EntityCall:   page.CallsPage,
		apitype.EntityPerson: page.PersonsPage,
		apitype.EntityPledge: page.PledgesPage,
	}[to.Kind]
	records, _ := a.pages[index].(interface {
		ShowFrom(r page.Reference, from int) tea.Cmd
	})
	shows := records.ShowFrom(to, a.current)
	return tea.Batch(a.Turn(index), shows)
}

// Turn turns to a page.
func (a *app) Turn(index int) tea.Cmd {
	a.current = index
	a.Day.Changes.Drafts.FlushSoon()
	return a.openPage()
}

// openPage opens the current page. All pages but the Desk name results by the settings of the floor; on the Desk the
// first call does not wait for them.
func (a *app) openPage() tea.Cmd {
	if a.current == page.DeskPage {
		return a.pages[a.current].Open()
	}
	return tea.Batch(a.Perform(a.Day.NeedSettings()), a.pages[a.current].Open())
}

// WorkOn takes a call to the desk.
func (a *app) WorkOn(call page.Reference) tea.Cmd {
	takes := a.Perform(a.Day.Take(call.ID))
	return tea.Batch(a.Turn(page.DeskPage), takes)
}

// ShowList shows a list by a filter.
func (a *app) ShowList(index int, filter string) tea.Cmd {
	list, _ := a.pages[index].(interface{ SetFilter(text string) tea.Cmd })
	a.current = index
	return list.SetFilter(filter)
}

// Init reads the outbox and opens the first page.
func (a *app) Init() tea.Cmd {
	a.Loads++
	begins := []tea.Cmd{a.Perform(a.Day.Begin()), a.openPage(), a.tick()}
	if a.asksGround {
		a.groundUntil = time.Now().Add(groundAnswers)
		begins = append(begins, tea.RequestBackgroundColor)
	}
	return tea.Batch(begins...)
}

// groundAnswers limits the time in which the terminal names its background. A later answer would change the colours
// while the agent reads.
const groundAnswers = 100 * time.Millisecond

// onGround takes the colours for light or dark grounds, as the terminal has it.
func (a *app) onGround(msg tea.BackgroundColorMsg) {
	if !a.asksGround || time.Now().After(a.groundUntil) {
		return
	}
	a.asksGround = false
	if !msg.IsDark() {
		a.UseTheme("light")
	}
}

// Update routes a message to its page, turns the spinner, and draws the next frame. Drawing decides how far lists and
// cards are scrolled, so it belongs here.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.logName(msg)
	model, cmd := a.route(msg)
	turns := a.Spinner.Follow(msg, a.waits())
	a.draw()
	return model, tea.Batch(cmd, turns)
}

// logName writes which message came.
func (a *app) logName(msg tea.Msg) {
	if a.log == nil {
		return
	}
	name := fmt.Sprintf("%T", msg)
	switch msg := msg.(type) {
	case event.Result:
		name = msg.Name
	case page.Result:
		name = msg.Name
	}
	_, _ = fmt.Fprintf(a.log, "%s message: %s\n", a.Day.Now().Format("15:04:05.000"), name)
}

// waits reports whether the screen waits for an answer.
func (a *app) waits() bool {
	for _, shown := range []any{a.pages[a.current], a.Dialog} {
		if w, may := shown.(page.Waiter); may && w.Waits() {
			return true
		}
	}
	return false
}

func (a *app) route(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.resize(msg.Width, msg.Height)
		return a, nil
	case tea.KeyPressMsg:
		if a.holdAhead(msg) {
			return a, nil
		}
		ahead := a.catchUp() // What was typed before this key.
		return a, tea.Batch(ahead, a.press(msg))
	case tea.PasteMsg:
		if a.holdAhead(msg) {
			return a, nil
		}
		ahead := a.catchUp()
		return a, tea.Batch(ahead, a.paste(msg))
	case tea.MouseMsg:
		return a, a.onMouse(msg)
	case tea.BlurMsg:
		a.focused = false
		a.Day.Changes.Drafts.FlushSoon()
		return a, nil
	case tea.FocusMsg:
		a.focused = true
		return a, a.Perform(a.Day.Changes.Refresh())
	case continued:
		if a.suspended { // The library sets the terminal up after its own stop.
			return a, nil
		}
		// The terminal is given back and taken again: whatever stopped the program may have changed it.
		return a, tea.Exec(noProgram{}, func(error) tea.Msg { return tea.ResumeMsg{} })
	case tea.ResumeMsg:
		a.suspended = false
		a.Day.Outbox.Resume()
		return a, tea.Batch(a.Perform(a.Day.Changes.Refresh()), tea.ClearScreen)
	case page.Result:
		open, current, isBusy := a.Dialog, a.current, a.Day.Transitions.Busy()
		cmd := msg.TakeIn()
		if isBusy && (a.Dialog != open || a.current != current) { // Typing continues in the same field.
			a.Dialog, a.current = open, current
			a.Messages.Refuse("what you asked for came while you were typing: ask again")
		}
		return a, tea.Batch(cmd, a.catchUp())
	case event.Result:
		isText := a.takesText()
		cmd := a.Perform(a.Day.Receive(msg))
		if isText && !a.takesText() { // The call left the Desk, as by a pause. The rest of the text is no command.
			a.unheard.followText(a.Day.Now())
		}
		return a, tea.Batch(cmd, a.catchUp())
	case ticked:
		cmd := a.onTick()
		return a, tea.Batch(cmd, a.catchUp())
	case finished:
		return a, tea.Quit
	case tea.BackgroundColorMsg:
		a.onGround(msg)
		return a, nil
	case page.Copied:
		a.Messages.Say(a.Say("%s copied", msg.What))
		return a, tea.SetClipboard(msg.Text)
	}
	return a, nil
}

// resize lays the pages out for a terminal of a size.
func (a *app) resize(width, height int) {
	a.layout = page.NewLayout(width, height)
	a.layout = a.layout.Shifted(a.Kept.Panes).Below(len(a.banner()))
	for _, p := range a.pages {
		p.Resize(a.layout)
	}
}

// quit ends the program; with text that was not sent, or is not on disk, it asks first.
func (a *app) quit() tea.Cmd {
	line := "The call on the desk is not completed. What you typed is kept as a draft and offered next time."
	trouble := a.Day.Changes.Drafts.Trouble()
	if trouble != nil {
		line = a.Say("What you typed could not be saved and is lost then: %s.", a.Say(connection.Cause(trouble)))
	} else if !a.Day.HasDraft() {
		return a.finish()
	}
	a.Dialog = &page.Confirm{Title: "Quit?", Lines: []string{line}, Yes: a.finish}
	return nil
}

// finish sends the held changes and ends the program.
func (a *app) finish() tea.Cmd {
	a.Messages.Say("sending what is held…")
	return func() tea.Msg {
		a.Day.Changes.Finish(a.Ctx, a.Day.QuitWait)
		return finished{}
	}
}

// finished ends the program.
type finished struct{}

// draw draws the frame, and notes the place of the terminal's cursor.
func (a *app) draw() {
	lines, cursor := a.drawn()
	a.frame, a.cursor = strings.Join(lines, "\n"), cursor
}

// drawn returns exactly the lines of the terminal, and where its cursor belongs, or nil if no text is typed.
func (a *app) drawn() ([]string, *tea.Cursor) {
	lines := a.marked()
	x, y, isTyped := page.TakeCursor(lines)
	if !isTyped {
		return lines, nil
	}
	return lines, tea.NewCursor(x, y)
}

// View shows the frame that Update has drawn.
func (a *app) View() tea.View {
	view := tea.NewView(a.frame)
	view.AltScreen, view.Cursor = true, a.cursor
	if a.mouse.on {
		view.MouseMode = tea.MouseModeCellMotion
	}
	view.ReportFocus = true
	view.WindowTitle = "fundesk " + page.Clean(a.profile)
	return view
}

// marked returns the lines of the terminal with the mark of its cursor.
func (a *app) marked() []string {
	l := a.layout
	if l.TooSmall {
		sentence := a.Say(
			"fundesk needs %d by %d cells; this terminal has %d by %d.",
			page.LeastWidth,
			page.LeastHeight,
			l.Width,
			l.Height,
		)
		sentence += " "
		if a.Day.Changes.Drafts.Trouble() == nil {
			sentence += a.Say("What you typed is kept.")
		} else {
			sentence += a.Say("What you typed is not saved.")
		}
		return widget.Block(widget.Wrap(sentence, max(l.Width, 1)), l.Width, l.Height)
	}
	screen := make([]string, 0, l.Height)
	banner := a.banner()
	if len(banner) != l.Above {
		a.resize(l.Width, l.Height)
		l = a.layout
	}
	screen = append(append(screen, a.tabs()), banner...)
	screen = append(screen, widget.Block(a.pages[a.current].Lines(l), l.Width, l.Body)...)
	screen = append(screen, a.status(), a.footer())
	if a.Dialog != nil {
		screen = page.DrawDialog(a.Env, screen, l.Width)
	}
	if a.ASCII {
		for i, line := range screen {
			screen[i] = asciiLine(line)
		}
	}
	return screen
}

// tabs returns the first line: the pages, and in the corner the profile and the state of the connection. Without room
// for all names, only the current page has one.
func (a *app) tabs() string {
	corner := a.corner()
	tabs := a.tabNames(len(pageTitles), " ")
	if render.Width(tabs) >= a.layout.Width-render.Width(corner) {
		tabs = a.tabNames(a.namedTabs(corner), "")
	}
	return widget.Fit(tabs, max(a.layout.Width-render.Width(corner), 0)) + corner
}

// tabNames returns the tabs of the pages. Only the first ones, and the one in front, have their names.
func (a *app) tabNames(named int, gap string) string {
	var b strings.Builder
	for i, title := range pageTitles {
		label := fmt.Sprintf(" %d", i+1)
		if i < named || i == a.current {
			label += " " + a.Say(title)
		}
		if n := len(a.Day.Changes.Entries); i == page.OutboxPage && n > 0 {
			label += fmt.Sprintf(" (%d)", n)
		}
		if label += gap; i == a.current {
			label = a.Styles.Tab(label)
		}
		b.WriteString(label)
	}
	return b.String()
}

// pollEvery returns after how many seconds changes are asked for.
func (a *app) pollEvery() int {
	if a.Day.Offline != "" {
		return pollOffline
	}
	if !a.focused {
		return pollBlurred
	}
	return pollFocused
}

// onTick keeps what depends on the time up to date.
func (a *app) onTick() tea.Cmd {
	commands := []tea.Cmd{a.tick(), a.Perform(a.Day.Tick())}
	a.beats++
	if a.Day.Omitted != nil { // Some records, or objects in them, are not shown.
		n, first := a.Day.Omitted()
		if n > a.omitted {
			a.Messages.Fail(
				a.Say(
					"%s could not be read and left out of what is shown; the first: %s",
					a.Day.Count(n, "record or part of one", "records or parts of them"),
					first,
				),
				nil,
			)
		}
		a.omitted = n
	}
	if quiet := a.Loads == a.reading.seen; quiet && a.Loads != a.reading.settled {
		a.reading.settled = a.Loads
		// What reading took goes back to the system: the library would keep it for minutes.
		commands = append(commands, func() tea.Msg { a.free(); return nil })
	}
	a.reading.seen = a.Loads
	if a.beats%5 == 0 {
		commands = append(commands, a.Perform(a.Day.Changes.Refresh()))
	}
	if a.beats%a.pollEvery() == 0 {
		commands = append(commands, a.Perform(a.Day.Poll()))
		if live, ok := a.pages[a.current].(interface{ Poll() tea.Cmd }); ok && a.current != page.DeskPage {
			commands = append(commands, live.Poll())
		}
	}
	return tea.Batch(commands...)
}
