package page

import (
	tea "charm.land/bubbletea/v2"

	"fundesk/tui/desk/ask"
)

// Action is something that a key does. It holds its key, words, handler, and the reason why it does nothing. The
// footer, the help, the palette, keys.toml and the manual read them.
type Action struct {
	ID     string // By which keys.toml and the palette name it.
	Scope  Scope
	Keys   string // Separated by blanks. Empty for an action of the palette alone.
	Help   string
	Word   string // Short, for the footer. Empty keeps it out.
	Traits Trait
	Run    func(front Page) tea.Cmd
	Why    func(front Page) string // Returns why it does nothing now, or "". Nil if it always does something.
}

// Trait is a special property of an action.
type Trait int

// The traits.
const (
	InText      Trait = 1 << iota // It works while text is being typed.
	EndsCall                      // It ends the call, so the agent must have seen the call.
	NotRepeated                   // A key that is held down, or bounces, does it once.
	NotAhead                      // It does not work on a call that was not there when its key was pressed.
	ForCall                       // Pressed while the call is being read, it waits for that.
	OpensLine                     // The agent types a text behind its key.
	AsksDigit                     // The agent chooses by a digit behind its key.
	WhenSmall                     // It works if the terminal is too small to show anything.
	NamedOnCard                   // The card names it at its place.
	IsRare                        // The footer shows it if there is room for all others.
)

// Is reports whether the action has a trait.
func (a Action) Is(t Trait) bool { return a.Traits&t != 0 }

// on runs a method of the page in front.
func on[P any](run func(P) tea.Cmd) func(Page) tea.Cmd {
	return func(front Page) tea.Cmd {
		p, _ := front.(P)
		return run(p)
	}
}

// onWhy asks a method of the page in front for the reason why an action does nothing.
func onWhy[P any](why func(P) string) func(Page) string {
	return func(front Page) string {
		if p, ok := front.(P); ok {
			return why(p)
		}
		return "not on this page"
	}
}

func scroll(by Step) func(Page) tea.Cmd {
	return func(front Page) tea.Cmd { return front.Scroll(by) }
}

// Actions returns the actions of all pages, scope by scope.
func Actions() []Action {
	var all []Action
	for _, of := range []func() []Action{
		deskActions, listActions, callsActions, pledgesActions, outboxActions, statsActions, floorActions,
	} {
		all = append(all, of()...)
	}
	return all
}

// UndoAction undoes the last change of the Desk, on every page.
func UndoAction(d *Desk) Action {
	does, _ := ask.ActionOf(ActUndo)
	undo := deskAction(does, screenAction{})
	undo.Scope = ScopeEverywhere
	run, why := undo.Run, undo.Why
	undo.Run = func(Page) tea.Cmd { return run(d) }
	undo.Why = func(Page) string { return why(d) }
	return undo
}

// screenAction has the parts that the screen adds to an action of the Desk.
type screenAction struct {
	run    func(*Desk) tea.Cmd // The screen's own way. Nil asks the questions of both faces.
	traits Trait
	noWord bool // The footer leaves it out.
}

// screenActions are the actions of the Desk that the screen does in its own way, or treats specially.
func screenActions() map[string]screenAction {
	return map[string]screenAction{
		ActNext:           {traits: NotAhead},
		ActDial:           {traits: NamedOnCard | NotAhead | NotRepeated},
		"not-reached":     {traits: EndsCall | NotAhead},
		"not-reached-why": {traits: EndsCall | NotAhead | AsksDigit, noWord: true},
		ActResult:         {run: (*Desk).AskResult, traits: NamedOnCard | ForCall | AsksDigit},
		ActRating:         {run: (*Desk).AskRating, traits: NamedOnCard | ForCall | AsksDigit},
		ActNotes:          {run: (*Desk).Write, traits: NamedOnCard | ForCall | OpensLine},
		ActComplete:       {traits: NamedOnCard | EndsCall | NotAhead},
		ActFix:            {run: (*Desk).Fix, traits: NamedOnCard | NotAhead | OpensLine},
		ActTick:           {run: (*Desk).Tick, traits: NotAhead, noWord: true},
		"script":          {run: (*Desk).NextStep, traits: NotAhead, noWord: true},
		"script-back":     {traits: NotAhead, noWord: true},
		"skip":            {traits: EndsCall | NotAhead},
		"later":           {run: (*Desk).AskLater, traits: EndsCall | NotAhead | OpensLine},
		ActCallbacks:      {noWord: true},
		ActNarrow:         {noWord: true},
		"cancel":          {traits: IsRare | EndsCall | NotAhead | OpensLine},
		"expire":          {traits: IsRare | EndsCall | NotAhead},
		"mark-processed":  {traits: NotAhead, noWord: true},
		ActFind:           {run: (*Desk).AskDonor, traits: OpensLine},
		ActAccept:         {run: (*Desk).AcceptOrOpen, traits: NotAhead, noWord: true},
		"last-calls":      {run: (*Desk).AskRecent, traits: IsRare},
		"pause":           {traits: AsksDigit, noWord: true},
		"person":          {run: (*Desk).OpenPerson, noWord: true},
		"pledge":          {run: (*Desk).OpenPledge, noWord: true},
		ActCopy:           {run: (*Desk).CopyNumber, traits: NamedOnCard},
		"copy-other":      {run: (*Desk).AskCopy, noWord: true},
		ActResume:         {noWord: true},
		ActSkipped:        {run: (*Desk).ShowSkipped, noWord: true},
		ActWarnings:       {run: (*Desk).ShowWarnings, noWord: true},
	}
}

// deskAction returns an action of the Desk with its key and words, which both faces of the Desk share.
func deskAction(does ask.Action, screen screenAction) Action {
	a := Action{
		ID:     does.ID,
		Scope:  ScopeDesk,
		Keys:   does.Keys,
		Help:   does.Help,
		Word:   does.Word,
		Traits: screen.traits,
	}
	if screen.noWord {
		a.Word = ""
	}
	run := screen.run
	if run == nil {
		run = func(d *Desk) tea.Cmd { return d.Answer(does.Run(d.Questions), nil) }
	}
	a.Run = on(run)
	a.Why = onWhy(func(d *Desk) string { return d.whyNot(does) })
	return a
}

func deskActions() []Action {
	var all []Action
	var complete Action // In the notes, too.
	screens := screenActions()
	for _, does := range ask.Actions() {
		if does.ID == ActUndo { // It works on every page.
			continue
		}
		a := deskAction(does, screens[does.ID])
		if does.ID == ActComplete {
			complete = a
		}
		all = append(all, a)
	}
	all = append(
		all,
		Action{
			ID:    "down",
			Scope: ScopeDesk,
			Keys:  "j down",
			Help:  "to the next detail, then scroll down",
			Run:   scroll(Down),
		},
		Action{
			ID:    "up",
			Scope: ScopeDesk,
			Keys:  "k up",
			Help:  "to the previous detail, then scroll up",
			Run:   scroll(Up),
		},
		Action{
			ID:    "page-down",
			Scope: ScopeDesk,
			Keys:  "pgdown ctrl+d",
			Help:  "a page down",
			Run:   scroll(PageDown),
		},
		Action{
			ID:    "page-up",
			Scope: ScopeDesk,
			Keys:  "pgup ctrl+u",
			Help:  "a page up",
			Run:   scroll(PageUp),
		},
	)
	complete.Scope, complete.Traits = ScopeNotes, InText|EndsCall|NotAhead
	leave := Action{
		ID:    "back",
		Scope: ScopeNotes,
		Keys:  "esc",
		Help:  "leave the notes",
		Word:  "leave notes",
	}
	leave.Traits, leave.Run = InText, on((*Desk).LeaveNotes)
	return append(all, complete, leave)
}
