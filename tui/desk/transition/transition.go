// Package transition decides when the call on the Desk changes.
//
// A change that the agent asked for with the latest key is made at once. Any other change never replaces a shown call:
// it is proposed. Without a shown call it waits until no text field or dialog is open, the keyboard is idle, and no
// pause is on. The package does not know the Desk: it is handed functions.
package transition

import (
	"cmp"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pause"
	"fundesk/tui/desk/say"
)

// restTime is the idle time of the keyboard after which an empty Desk shows a call that the agent did not ask for.
const restTime = time.Second

// Unasked is the number of keys of a change that the agent did not ask for.
const Unasked = -1

// Transitions has the changes of the call on the Desk that were not made yet. Set the exported fields once.
type Transitions struct {
	say.Texts
	Events   *event.Queue
	Now      func() time.Time
	Keys     *debounce.Keys
	Pause    *pause.Pause
	Call     func() *apitype.Call // The call on the Desk. Nil without one.
	Next     func()               // Clears the Desk and waits for another call.
	OnAccept func()               // Is called after a proposal was accepted.
	// Busy reports whether a text field or a dialog has the keys. Nil means never.
	Busy func() bool

	proposed *Transition
	waiting  []Transition
}

// Transition is a change of the call on the Desk.
type Transition struct {
	Asked int          // After how many keys the agent asked for it; Unasked if not at all.
	Text  string       // What has come, for a proposal: "the open call of A. Jansen was found".
	Does  string       // What accepting it does. Empty opens a call.
	Of    apitype.UUID // The call whose end ends the proposal. Zero without one.
	Entry string       // The entry of the outbox whose end ends it. Empty without one.
	Run   func()

	at time.Time // When it was proposed.
}

// IsFree reports whether the agent is doing nothing that a change could disturb.
func (s *Transitions) IsFree() bool {
	return (s.Busy == nil || !s.Busy()) && s.Now().Sub(s.Keys.LastAt) >= restTime
}

// IsAsked reports whether nothing was pressed since the agent asked for something.
func (s *Transitions) IsAsked(asked int) bool { return asked == s.Keys.Presses }

// Apply makes a change, proposes it, or lets it wait.
func (s *Transitions) Apply(t Transition) {
	switch {
	case s.IsAsked(t.Asked):
		t.Run()
	case s.Call() != nil:
		s.Propose(t)
	case s.IsFree() && !s.Pause.IsOn() && !s.Pause.IsSent():
		t.Run()
	default:
		s.waiting = append(s.waiting, t)
	}
}

// ApplyWaiting applies the changes that waited for the keyboard.
func (s *Transitions) ApplyWaiting() {
	waiting := s.waiting
	s.waiting = nil
	for _, t := range waiting {
		s.Apply(t)
	}
}

// Propose offers a change that the agent may make with one key.
func (s *Transitions) Propose(t Transition) {
	t.at = s.Now()
	s.proposed = &t
	text, does := s.Proposed()
	s.Events.Notify(event.Notice{Text: text, See: event.SeeOffer, Does: does})
}

// Proposed returns the proposal and the effect of its key, or an empty text.
func (s *Transitions) Proposed() (text, does string) {
	if s.proposed == nil {
		return "", ""
	}
	return s.proposed.Text, s.Say(cmp.Or(s.proposed.Does, "opens it"))
}

// IsProposed reports whether something has come and waits for the agent.
func (s *Transitions) IsProposed() bool { return s.proposed != nil }

// WhyNotAccept returns why there is no proposal to accept.
func (s *Transitions) WhyNotAccept() string {
	if s.proposed == nil {
		return "nothing is offered"
	}
	if s.Now().Sub(s.proposed.at) < debounce.VisibleFor {
		return "something new has just come: press it again"
	}
	return ""
}

// Accept makes the change that was proposed.
func (s *Transitions) Accept() []event.Event {
	if t := s.proposed; t != nil {
		s.proposed = nil
		t.Run()
		s.OnAccept()
	}
	return s.Events.Drain()
}

// CallLeft drops the proposal about a call that leaves the Desk.
func (s *Transitions) CallLeft(call apitype.UUID) {
	if s.proposed != nil && s.proposed.Of == call {
		s.proposed = nil
	}
}

// KeepEntries drops the proposal about an entry of the outbox that is no longer there.
func (s *Transitions) KeepEntries(isThere func(entry string) bool) {
	if t := s.proposed; t != nil && t.Entry != "" && !isThere(t.Entry) {
		s.proposed = nil
	}
}

// ReplaceStale replaces a call that cannot be worked on by the next one: at once if it has just come, or after a key
// if the agent may be working on it.
func (s *Transitions) ReplaceStale(text string, asked int) {
	if s.IsAsked(asked) && s.Now().Sub(s.Keys.ShownAt) < restTime {
		s.Next()
		s.Events.Sayf("%s; here is the next one", text)
		return
	}
	s.Propose(Transition{
		Text: text,
		Does: "takes the next call",
		Of:   s.Call().UUID,
		Run:  s.Next,
	})
}
