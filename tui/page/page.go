// Package page holds the pages of the terminal interface: the Desk, the lists of calls,
// persons and pledges with their records, the outbox, the statistics, and the floor.
//
// A page is a plain struct that the root model sizes, feeds and draws; its actions are
// methods that the table of keys names. It is handed an Env, and must not know which keys
// there are, nor the other pages: what concerns those goes through the Host.
//
//	calls := page.NewCalls(env)
//	cmd := calls.Open()
//	lines := calls.Lines(page.NewLayout(80, 24))
package page

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/event"
	"fundesk/tui/widget"
)

// Page is a tab of the interface.
type Page interface {
	// Open is called each time the page comes to the front.
	Open() tea.Cmd
	Resize(l Layout)
	Scopes() []Scope
	Scroll(by Step) tea.Cmd
	// Refresh reads the page again.
	Refresh() tea.Cmd
	Lines(l Layout) []string
}

// The indices of the pages, in the order of their tabs.
const (
	DeskPage = iota
	CallsPage
	PersonsPage
	PledgesPage
	OutboxPage
	StatsPage
	FloorPage
	NoPage = -1
)

// Scope is the part of the screen in which a key works.
type Scope string

// The scopes; a page has one of its own, or several.
const (
	ScopeEverywhere Scope = "everywhere"
	ScopeDesk       Scope = "desk"
	ScopeNotes      Scope = "notes"
	ScopeLists      Scope = "lists"
	ScopeCalls      Scope = "calls"
	ScopePledges    Scope = "pledges"
	ScopeOutbox     Scope = "outbox"
	ScopeStats      Scope = "stats"
	ScopeFloor      Scope = "floor"
)

// The actions that texts of the interface name the key of.
const (
	ActNext     = "next-call"
	ActResult   = "result"
	ActRating   = "rating"
	ActNotes    = "notes"
	ActComplete = "complete"
	ActResume   = "resume-draft"
	ActSkipped  = "skipped"
	ActWarnings = "warnings"
	ActSign     = "signature"
	ActStop     = "stop"
	ActHelp     = "help"
	ActOutbox   = "outbox"
	ActRefresh  = "refresh"
	ActFilter   = "filter"
	ActResults  = "results"
	ActDismiss  = "dismiss"
	ActNarrow   = "narrow"
	ActCopy     = "copy"
	ActReveal   = "reveal"
	ActFix      = "fix"
	ActUndo     = "undo"
	ActFind     = "find"
	ActWatch    = "page-floor"
	ActAccept   = "accept"
	ActDial     = "dial"
	ActTick     = "tick"
	ActScript   = "script"

	ActCallbacks = "callbacks"
)

// Step is a move over a page.
type Step int

// The steps.
const (
	Down Step = iota
	Up
	PageDown
	PageUp
	Top
	Bottom
)

// rowsOf returns how far a step goes over count rows, of which a page has some.
func rowsOf(by Step, page, count int) int {
	switch by {
	case Down:
		return 1
	case Up:
		return -1
	case PageDown:
		return page
	case PageUp:
		return -page
	case Top:
		return -count
	default:
		return count
	}
}

// Reference is a record that something points to.
type Reference struct {
	Kind apitype.EntityName
	ID   apitype.UUID
}

// Result is what a page has read, or another message to it. Its name says in a log which one came.
type Result struct {
	Name   string
	takeIn func() tea.Cmd
}

// TakeIn passes the result to the page.
func (r Result) TakeIn() tea.Cmd { return r.takeIn() }

// Host shows the pages.
type Host interface {
	// Perform runs the events of the agent's day.
	Perform(events []event.Event) tea.Cmd
	// KeyOf is the key of an action as it is shown.
	KeyOf(id string) string
	// Jump opens a record on the page of its kind, Turn a page, WorkOn a call on the desk.
	Jump(to Reference) tea.Cmd
	Turn(page int) tea.Cmd
	WorkOn(call Reference) tea.Cmd
	// ShowList shows a list by a filter.
	ShowList(page int, filter string) tea.Cmd
}

// Env is the environment that every page is given.
type Env struct {
	Host          Host
	Day           *desk.Day
	Questions     *ask.Questions // Of the Day.
	Messages      Messages
	Styles        Styles
	PledgeActions []apitype.PledgeAction
	ASCII         bool
	Dialog        Dialog // Takes all keys. Nil if none is open.
	Spinner       widget.Spinner
	PreviewPause  time.Duration // How long the cursor pauses on a row before its record is read.
	Kept          Kept          // How the screen is arranged.
	Loads         int           // How often something was read from the service.
	drawnDialog   dialogSize

	Ctx context.Context // The program's life: a tea.Cmd is run without a context.
}

// NewEnv returns an environment for a host; ctx is the program's life.
func NewEnv(ctx context.Context, host Host, day *desk.Day, s Styles) *Env {
	s.say = day.Say
	return &Env{
		Host:          host,
		Day:           day,
		Questions:     ask.New(day),
		Styles:        s,
		Ctx:           ctx,
		Messages:      Messages{now: day.Now, inWords: day.Say},
		PledgeActions: apitype.PledgeActions,
		PreviewPause:  PreviewPause,
	}
}

// UseTheme draws with the colours of another theme from now on.
func (e *Env) UseTheme(theme string) {
	remote := e.Styles.Remote
	e.Styles = NewStyles(theme, false, e.ASCII)
	e.Styles.Remote, e.Styles.say = remote, e.Day.Say
}

// Job returns work of the day as a command.
func (e *Env) Job(job event.Job) tea.Cmd { return func() tea.Msg { return job(e.Ctx) } }

// Waiter is a page, or a dialog, that may wait for something that it shows.
type Waiter interface{ Waits() bool }

// Load runs read in the background and passes its result to takeIn in the interface's goroutine. The name says what was
// done.
func Load[T any](
	e *Env,
	name string,
	read func(ctx context.Context) (T, error),
	takeIn func(T, error) tea.Cmd,
) tea.Cmd {
	return loadAs(e, name, new(int), read, takeIn)
}

// loadAs is Load for a value that is read again and again. It drops the result if seq was raised since.
func loadAs[T any](
	e *Env,
	name string,
	seq *int,
	read func(ctx context.Context) (T, error),
	takeIn func(T, error) tea.Cmd,
) tea.Cmd {
	e.Loads++
	asked := *seq
	return func() tea.Msg {
		value, err := read(e.Ctx)
		return Result{name, func() tea.Cmd {
			if asked != *seq {
				return nil
			}
			return takeIn(value, err)
		}}
	}
}

// LoadFront is Load for something that comes to the front. It is dropped after another key, which was not meant for it.
func LoadFront[T any](
	e *Env,
	name string,
	read func(ctx context.Context) (T, error),
	takeIn func(T, error) tea.Cmd,
) tea.Cmd {
	asked := e.Day.Keys.Presses
	return Load(e, name, read, func(value T, err error) tea.Cmd {
		if err == nil && !e.Day.Transitions.IsAsked(asked) {
			e.Messages.Refuse("what you asked for came while you were typing: ask again")
			return nil
		}
		return takeIn(value, err)
	})
}

// FailChange shows that a change was not made that is not kept in the outbox, also without a connection.
func (e *Env) FailChange(what string, err error) {
	e.Day.NoteConnection(err)
	e.Messages.Fail(what, err)
}

// FailRead shows that something could not be read.
func (e *Env) FailRead(what string, err error) {
	if owner, isShown := e.Day.OwnerOf(what, err); isShown {
		e.Messages.FailOf(owner, event.ErrorText(what, err))
	}
}

// Clean returns text from the service as it may be drawn, on one line.
func Clean(text string) string { return render.Clean(widget.Unjoined(text)) }

// cleanLines returns text from the service of several lines.
func cleanLines(text string) []string {
	return strings.Split(render.CleanLines(widget.Unjoined(text)), "\n")
}

// Say translates a text of the Desk into the agent's language; see [desk.Day].
func (e *Env) Say(text string, args ...any) string { return e.Day.Say(text, args...) }

// longAgo is the least distance of a time that is written as its date.
const longAgo = 60 * 24 * time.Hour

// ago returns the distance of a time in words: "3 days ago", "in 2h", or its date.
func (e *Env) ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if e.Day.Now().Sub(t).Abs() >= longAgo {
		return e.Day.Date(e.Day.Locale.Date(t.Local(), "2 Jan 2006"))
	}
	text := e.Day.Locale.Relative(t, e.Day.Now())
	if strings.HasSuffix(text, " ago") {
		return e.Day.Ago(t)
	}
	if after, isAhead := strings.CutPrefix(text, "in "); isAhead {
		return e.Say("in %s", after)
	}
	return e.Say(text)
}

// when returns the local date and time, with its distance if that helps.
func (e *Env) when(t apitype.Time) string {
	text := e.Day.Date(e.Day.Locale.DateTime(t.Local(), "2 Jan 2006 15:04"))
	if age := e.Day.Now().Sub(t.Time).Abs(); age < 30*24*time.Hour {
		text = e.ago(t.Time) + " (" + text + ")"
	}
	return text
}

// secret returns a value that is masked until the user shows it.
func (e *Env) secret(text string, mask func(string) string) string {
	if e.Day.IsRevealed {
		return Clean(text)
	}
	return mask(text)
}

// Copied asks the terminal to take a text.
type Copied struct{ What, Text string }

// copyText copies a value of the service on one line, cleaned for drawing, so that a donor's record never runs as a
// command in a shell.
func copyText(what, text string) tea.Cmd { return copyOwn(what, Clean(text)) }

// copyOwn copies text of the user, exactly.
func copyOwn(what, text string) tea.Cmd {
	return func() tea.Msg { return Copied{What: what, Text: text} }
}
