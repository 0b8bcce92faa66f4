package page

import (
	"slices"
	"time"

	"fundesk/tui/desk/event"
)

// Message is a line for the user.
type Message struct {
	At    time.Time
	Text  string
	Owner string // The subject with which it ends. Empty if it has none.
}

// Messages are the lines for the user. Errors stay until they are dismissed or their subject is over; other messages go
// by themselves. All can be read again.
type Messages struct {
	Message            // The latest that is not an error.
	Aside    bool      // It gives way to the count-down of a held change.
	Reply    bool      // It is the reason why a key did nothing, and comes before older errors.
	Standing string    // A message that stays until a key. Empty without one.
	Errors   []Message // The oldest first.
	Past     []Message // All of them, the latest last.
	now      func() time.Time
	inWords  func(text string, args ...any) string // Translates into the agent's language. Nil keeps the text.
}

// Beyond maxErrors the oldest errors are dropped, and beyond maxPast the oldest messages. A message that is not an
// error is shown for messageTime.
const (
	maxErrors   = 20
	maxPast     = 50
	messageTime = 6 * time.Second
)

// IsSaid reports whether a message that is not an error is still to be shown.
func (m *Messages) IsSaid() bool { return m.Latest() != "" }

// Latest returns the message to show: the latest for its time, else the standing one.
func (m *Messages) Latest() string {
	if m.Text != "" && m.now().Sub(m.At) < messageTime {
		return m.Text
	}
	return m.Standing
}

// Stand shows a message for messageTime at least, and until a key.
func (m *Messages) Stand(text string) {
	m.Say(text)
	m.Standing = m.Text
}

// Say shows a message for messageTime.
func (m *Messages) Say(text string) {
	m.SayOf("", text)
}

// SayOf shows a message about something for a while, and no longer than that lasts.
func (m *Messages) SayOf(owner, text string) {
	m.Message, m.Aside, m.Reply = m.keep(owner, text), false, false
}

// keep stores a message in the list of past messages.
func (m *Messages) keep(owner, text string) Message {
	if m.inWords != nil {
		text = m.inWords(text)
	}
	message := Message{At: m.now(), Text: text, Owner: owner}
	if n := len(m.Past); text != "" && (n == 0 || m.Past[n-1].Text != text) {
		m.Past = append(m.Past, message)
		m.Past = m.Past[max(len(m.Past)-maxPast, 0):]
	}
	return message
}

// Refuse shows the reason why a key does nothing.
func (m *Messages) Refuse(why string) {
	m.Say(why)
	m.Reply = true
}

// Heard ends the reply to a key: another one asks for something else.
func (m *Messages) Heard() {
	if m.Reply {
		m.Message, m.Reply = Message{}, false
	}
}

// Fail shows an error until it is dismissed, after older errors.
func (m *Messages) Fail(what string, err error) { m.FailOf("", event.ErrorText(what, err)) }

// FailOf shows an error that ends with its subject.
func (m *Messages) FailOf(owner, text string) {
	message := m.keep(owner, text)
	if slices.ContainsFunc(m.Errors, func(e Message) bool { return e.Text == message.Text }) {
		return
	}
	m.Errors = append(m.Errors, message)
	m.Errors = m.Errors[max(len(m.Errors)-maxErrors, 0):]
	m.Reply = false
}

// FailFirst shows an error that the user must not miss, before other errors, until its subject ends.
func (m *Messages) FailFirst(owner, text string) {
	message := m.keep(owner, text)
	others := slices.DeleteFunc(m.Errors, func(e Message) bool { return e.Text == message.Text })
	m.Errors = append([]Message{message}, others...)
	m.Reply = false
}

// Over ends the messages about something.
func (m *Messages) Over(owner string) {
	if m.Owner == owner {
		m.Message = Message{}
	}
	m.Errors = slices.DeleteFunc(m.Errors, func(e Message) bool { return e.Owner == owner })
}
