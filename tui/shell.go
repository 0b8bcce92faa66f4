package tui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
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
	keeper *keeper
	sender *outbox.Sender
	editor runningEditor

	dialog       dialog
	message      message
	errors       []string // Until they are dismissed; the first is in sight.
	revealed     bool
	focused      bool
	offline      string // Why nothing reaches the service; "" when it does.
	turnedAway   bool   // The service did not take the token, and has answered nothing since.
	draftTrouble error
	beats        int
	loads        loads
	early        typeahead

	written            chan struct{} // Closed when all changes so far are on disk; nil when there is none.
	held               []heldChange
	entries            []outbox.Entry
	reading, readAgain bool // The outbox is being read; something has changed since.
	damaged            []outbox.Damaged
	drafts             []outbox.Draft
	draftsRead         bool // At least once, or it cannot be.

	lastBulk    *bulkRun // The latest action on several records; nil: none.
	sent        func()   // After an action on several records; nil: nothing.
	jump        func(reference) tea.Cmd
	turnTo      func(page int) tea.Cmd
	workOn      func(reference) tea.Cmd
	tick        func() tea.Cmd // The next second.
	previewRest time.Duration
	// heard is told what became of a change.
	heard func(outbox.Event) tea.Cmd
}

func newShell(ctx context.Context, o Options, keys keymap) *shell {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.QuitWait == 0 {
		o.QuitWait = quitWait
	}
	if len(o.PledgeActions) == 0 {
		o.PledgeActions = apitype.PledgeActions
	}
	if o.Languages == nil {
		o.Languages = localeLanguages(os.Getenv)
	}
	return &shell{
		Options: o, ctx: ctx, keys: keys, focused: true,
		styles: newStyles(o.NoColor, o.ASCII),
		keeper: newKeeper(o.Outbox),
		tick:   everySecond, previewRest: previewRest,
		heard: func(outbox.Event) tea.Cmd { return nil },
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
	if text := errorText(what, err); !slices.Contains(s.errors, text) {
		s.errors = append(s.errors, text)
		s.errors = s.errors[max(len(s.errors)-maxErrors, 0):]
		s.message.reply = false
	}
}

// failFirst is fail for what the user must not miss: it comes before other errors.
func (s *shell) failFirst(what string, err error) {
	s.errors = slices.Insert(s.errors, 0, errorText(what, err))
	s.message.reply = false
}

func errorText(what string, err error) string {
	if err == nil {
		return what
	}
	return what + ": " + err.Error()
}

// cause is why the disk did not take something, without the paths and steps before it:
// the line that says it is short.
func cause(err error) string {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	return err.Error()
}

// failRead tells that something could not be read.
func (s *shell) failRead(what string, err error) {
	if s.noteConnection(err) {
		return
	}
	s.fail(what, err)
}

// noteConnection keeps the corner true; it reports whether err is the connection's and
// passes by itself.
func (s *shell) noteConnection(err error) bool {
	failure, known := errors.AsType[*apiclient.Error](err)
	switch apiclient.KindOf(err) {
	case "":
		s.offline = ""
		if s.turnedAway {
			s.turnedAway = false
			s.sender.Resume() // Somebody has logged in again.
		}
		return false
	case apiclient.KindUnavailable:
		switch {
		case !failure.Retryable:
			s.offline = "wrong answers"
		case failure.Status != 0:
			s.offline = fmt.Sprintf("service %d", failure.Status)
		default:
			s.offline = "offline"
		}
		return failure.Retryable
	case apiclient.KindUnauthenticated:
		s.offline = "not logged in"
		s.turnedAway = known && failure.Status == http.StatusUnauthorized
		return false
	default:
		s.offline = ""
		return false
	}
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
	if s.draftTrouble != nil {
		text += s.styles.bad("draft not saved") + " "
	}
	switch {
	case s.offline != "":
		text += s.styles.bad(s.offline) + " "
	case s.unsent() > 0:
		text += s.styles.warn(fmt.Sprintf("%d unsent", s.unsent())) + " "
	}
	if n := len(s.entries) - s.unsent(); n > 0 {
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
		suffix := "  (" + a.keyOf(actDismiss) + " dismisses)"
		if n > 1 {
			suffix = fmt.Sprintf("  (%d errors, %s dismisses)", n, a.keyOf(actDismiss))
		}
		if said && a.message.reply {
			return widget.Fit(clean(a.message.text), width-widget.Width(suffix)) + a.styles.dim(suffix)
		}
		text := a.styles.warnSign + " " + clean(a.errors[0])
		return a.styles.bad(widget.Fit(text, width-widget.Width(suffix))) + a.styles.dim(suffix)
	}
	if said && (len(a.held) == 0 || !a.message.aside) {
		return widget.Fit(clean(a.message.text), width)
	}
	if n := len(a.held); n > 0 {
		last := a.held[n-1]
		left := max(last.until.Sub(a.Now()).Round(time.Second), 0)
		text := fmt.Sprintf("%s %s, sent in %d s, u takes it back", a.styles.okSign, clean(last.change.label), int(left.Seconds()))
		if n > 1 {
			text += fmt.Sprintf(" (%d held)", n)
		}
		return a.styles.good(widget.Fit(text, width))
	}
	if a.draftTrouble != nil {
		return a.styles.bad(widget.Fit("the draft is not saved: "+clean(cause(a.draftTrouble)), width))
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
