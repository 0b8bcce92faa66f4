package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// result is what a page's own command brought; the page drops it when seq is not what
// it waits for.
type result struct {
	to    int // Index of the page.
	seq   int
	value any
	err   error
}

// kind of a record.
type kind int

const (
	kindCall kind = iota
	kindPerson
	kindPledge
)

func (k kind) String() string { return []string{"call", "person", "pledge"}[k] }

// reference is a record that something points to.
type reference struct {
	kind kind
	id   apitype.UUID
}

// message is a line for the user that goes by itself.
type message struct {
	text  string
	until time.Time
	// aside gives way to the count-down of a held change.
	aside bool
	// reply says why a key did nothing: it comes before errors that stood there already.
	reply bool
}

// maxErrors is how many errors wait to be dismissed; the oldest go first.
const maxErrors = 20

// messageTime is how long a message that is no error stays.
const messageTime = 6 * time.Second

// shell is what all pages share: the options, the line of messages, dialogs, and the
// way to send a change.
type shell struct {
	Options
	ctx    context.Context // The program's life: a tea.Cmd is run without a context.
	styles styles
	keys   keymap
	*desk.Day
	editor runningEditor

	dialog      dialog
	message     message
	errors      []string // Until they are dismissed; the first is in sight.
	revealed    bool
	focused     bool
	beats       int
	loads       loads
	ahead       typeahead
	sent        func() // After an action on several records; nil: nothing.
	jump        func(reference) tea.Cmd
	turnTo      func(page int) tea.Cmd
	workOn      func(reference) tea.Cmd
	tick        func() tea.Cmd // The next second.
	previewRest time.Duration
	follow      func() // Shows what the day has come to.
}

func newShell(ctx context.Context, o Options, keys keymap) *shell {
	if len(o.PledgeActions) == 0 {
		o.PledgeActions = apitype.PledgeActions
	}
	day := desk.New(o.Options)
	o.Options = day.Options
	return &shell{
		Options: o, ctx: ctx, keys: keys, focused: true,
		styles: newStyles(o.NoColor, o.ASCII),
		Day:    day,
		tick:   everySecond, previewRest: previewRest, follow: func() {},
	}
}

// perform does what the day asks for.
func (s *shell) perform(events []desk.Event) tea.Cmd {
	var commands []tea.Cmd
	for _, e := range events {
		switch e := e.(type) {
		case desk.Job:
			commands = append(commands, func() tea.Msg { return e(s.ctx) })
		case desk.Notice:
			s.notice(e)
		}
	}
	s.follow()
	return tea.Batch(commands...)
}

// notice shows a line of the day.
func (s *shell) notice(n desk.Notice) {
	switch n.See {
	case desk.SeeOutbox:
		n.Text += " (" + s.keys.keyOf(actOutbox) + " shows it)"
	case desk.SeeResults:
		n.Text += ", " + s.keys.keyOf(actResults) + " shows each"
	}
	switch n.Level {
	case desk.Said:
		s.say(n.Text)
	case desk.Done:
		s.say(s.styles.okSign + " " + n.Text)
		s.message.aside = true
	case desk.Failed:
		s.fail(n.Text, nil)
	case desk.Urgent:
		s.errors = slices.Insert(s.errors, 0, n.Text)
		s.message.reply = false
	}
}

// load runs f beside the interface; what it brings goes to a page.
func (s *shell) load(to, seq int, f func(ctx context.Context) (any, error)) tea.Cmd {
	s.loads.begun++
	return func() tea.Msg {
		value, err := f(s.ctx)
		return result{to: to, seq: seq, value: value, err: err}
	}
}

// say shows a message for a while.
func (s *shell) say(text string) {
	s.message = message{text: text, until: s.Now().Add(messageTime)}
}

// refuse says why a key does nothing.
func (s *shell) refuse(why string) {
	s.say(why)
	s.message.reply = true
}

func (s *shell) sayf(format string, args ...any) { s.say(fmt.Sprintf(format, args...)) }

// fail shows an error until it is dismissed, after those that are not yet.
func (s *shell) fail(what string, err error) {
	if text := desk.ErrorText(what, err); !slices.Contains(s.errors, text) {
		s.errors = append(s.errors, text)
		s.errors = s.errors[max(len(s.errors)-maxErrors, 0):]
		s.message.reply = false
	}
}

// failRead tells that something could not be read.
func (s *shell) failRead(what string, err error) {
	if s.NoteConnection(err) {
		return
	}
	s.fail(what, err)
}

// clean is text from the service as it may be drawn, on one line.
func clean(text string) string { return render.Clean(widget.Unjoined(text)) }

// cleanLines is text from the service of several lines.
func cleanLines(text string) []string {
	return strings.Split(render.CleanLines(widget.Unjoined(text)), "\n")
}

// ago is a time as a person says it.
func (s *shell) ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return s.Locale.Relative(t, s.Now())
}

// when is the local date and time, with the time ago where that says more.
func (s *shell) when(t apitype.Time) string {
	text := s.Locale.DateTime(t.Local(), "2 Jan 2006 15:04")
	if age := s.Now().Sub(t.Time).Abs(); age < 30*24*time.Hour {
		text = s.ago(t.Time) + " (" + text + ")"
	}
	return text
}

func (s *shell) iban(text string) string {
	if s.revealed {
		return clean(text)
	}
	return render.MaskIBAN(text)
}

func (s *shell) digits(text string) string {
	if s.revealed {
		return clean(text)
	}
	return render.MaskDigits(text)
}

// mostProfile is how many cells a profile's name gets.
const mostProfile = 20

// corner says which service, and whether it can be reached.
func (s *shell) corner() string {
	text := ""
	if s.Trouble != nil {
		text += s.styles.bad("draft not saved") + " "
	}
	switch {
	case s.Offline != "":
		text += s.styles.bad(s.Offline) + " "
	case s.Unsent() > 0:
		text += s.styles.warn(fmt.Sprintf("%d unsent", s.Unsent())) + " "
	}
	if n := len(s.Entries) - s.Unsent(); n > 0 {
		text += s.styles.bad(fmt.Sprintf("%d refused", n)) + " "
	}
	name := clean(s.Profile)
	return text + s.styles.dim(widget.Fit(name, min(widget.Width(name), mostProfile))) + " "
}

// status is the line above the footer: an error, what is held, or the latest message.
func (a *app) status() string {
	width := a.layout.width
	said := a.message.text != "" && a.message.until.After(a.Now())
	if n := len(a.errors); n > 0 {
		suffix := "  (" + a.keys.keyOf(actDismiss) + " dismisses)"
		if n > 1 {
			suffix = fmt.Sprintf("  (%d errors, %s dismisses)", n, a.keys.keyOf(actDismiss))
		}
		if said && a.message.reply {
			return widget.Fit(clean(a.message.text), width-widget.Width(suffix)) + a.styles.dim(suffix)
		}
		text := a.styles.warnSign + " " + clean(a.errors[0])
		return a.styles.bad(widget.Fit(text, width-widget.Width(suffix))) + a.styles.dim(suffix)
	}
	if said && (len(a.Held) == 0 || !a.message.aside) {
		return widget.Fit(clean(a.message.text), width)
	}
	if held := a.HeldText(); held != "" {
		return a.styles.good(widget.Fit(a.styles.okSign+" "+clean(held), width))
	}
	if a.Trouble != nil {
		return a.styles.bad(widget.Fit("the draft is not saved: "+clean(desk.Cause(a.Trouble)), width))
	}
	return widget.Fit("", width)
}

// copied asks the terminal to take a text.
type copied struct{ what, text string }

// copyText copies a value from the service as it may be drawn, on one line: whoever
// pastes it into a shell must not run what a donor's record says.
func copyText(what, text string) tea.Cmd { return copyOwn(what, clean(text)) }

// copyOwn copies what the user wrote, exactly.
func copyOwn(what, text string) tea.Cmd {
	return func() tea.Msg { return copied{what: what, text: text} }
}

// ticked comes once a second.
type ticked struct{}

func everySecond() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return ticked{} })
}
