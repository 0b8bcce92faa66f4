package tui

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/BurntSushi/toml"

	"fundesk/apiclient/durable"
	"fundesk/tui/desk"
	"fundesk/tui/page"
)

// action is a command with its key and everything about it. The footer, the help, the palette, keys.toml and the manual
// read it.
type action struct {
	id     string // By which keys.toml and the palette name it.
	scope  page.Scope
	help   string
	footer string // Short word for the footer; "" keeps it out.
	traits trait
	run    func(*app) tea.Cmd
	why    func(*app) string // Returns the reason why it cannot run now, or "". Nil if it always can.
	key.Binding
}

// trait is a special property of a key.
type trait int

const (
	inText      trait = 1 << iota // While text is being typed.
	endsCall                      // It ends the call, so the agent must have seen the call.
	notAhead                      // Not on a call that was not there when it was pressed.
	forCall                       // Pressed while the call is being read, it waits for that.
	whenSmall                     // It works if the terminal is too small to show anything.
	inFooter                      // Of an action of the desk: the footer has it.
	namedOnCard                   // The card names it at its place.
	isRare                        // The footer shows it if there is room for all others.
)

func (a *action) is(t trait) bool { return a.traits&t != 0 }

// row returns an action of the table; keys are separated by blanks.
func row(
	id string,
	s page.Scope,
	keys, help, footer string,
	run func(*app) tea.Cmd,
	why func(*app) string,
	traits ...trait,
) *action {
	a := &action{
		id:      id,
		scope:   s,
		help:    help,
		footer:  footer,
		run:     run,
		why:     why,
		Binding: key.NewBinding(key.WithKeys(strings.Fields(keys)...)),
	}
	for _, t := range traits {
		a.traits |= t
	}
	return a
}

func registry() []*action {
	return slices.Concat(deskActions(), listActions(), everywhereActions())
}

// deskRow returns a row for an action of the Desk. Its words, effect and obstacles are the same in both faces. run is
// set if each face has its own way. Nil runs the action itself.
func deskRow(id, keys string, run func(*app) tea.Cmd, traits ...trait) *action {
	does, _ := desk.ActionOf(id)
	footer := ""
	if slices.Contains(traits, inFooter) {
		footer = does.Word
	}
	if run == nil {
		run = func(a *app) tea.Cmd { return a.desk.Answer(does.Run(a.Day.Ask), nil) }
	}
	return row(
		id,
		page.ScopeDesk,
		keys,
		does.Help,
		footer,
		run,
		func(a *app) string { return desk.WithKeys(a.Say(does.Why(a.Day)), a.KeyOf) },
		traits...)
}

func deskActions() []*action {
	complete := deskRow(page.ActComplete, "ctrl+s", nil, inFooter, inText, endsCall, notAhead)
	complete.scope = page.ScopeNotes
	return []*action{
		deskRow(page.ActNext, "n", nil, inFooter, notAhead),
		deskRow(page.ActDial, "d", nil, inFooter, namedOnCard, notAhead),
		deskRow("not-reached", "a", nil, inFooter, endsCall, notAhead),
		deskRow(page.ActResult, "c", on((*page.Desk).AskResult), inFooter, namedOnCard, forCall),
		deskRow(page.ActRating, "r", on((*page.Desk).AskRating), inFooter, namedOnCard, forCall),
		deskRow(page.ActNotes, "i", on((*page.Desk).Write), inFooter, namedOnCard, forCall),
		deskRow(page.ActComplete, "ctrl+s", nil, inFooter, namedOnCard, endsCall, notAhead),
		deskRow(page.ActFix, "f", on((*page.Desk).Fix), inFooter, namedOnCard, notAhead),
		deskRow(page.ActTick, "space", on((*page.Desk).Tick), notAhead),
		deskRow("skip", "s", nil, inFooter, endsCall, notAhead),
		deskRow("later", "b", on((*page.Desk).AskLater), inFooter, endsCall, notAhead),
		deskRow(page.ActNarrow, "F", nil),
		deskRow("cancel", "X", nil, inFooter, isRare, endsCall, notAhead),
		deskRow("expire", "e", nil, inFooter, isRare, endsCall, notAhead),
		deskRow("mark-processed", "m", nil, notAhead),
		deskRow(page.ActFind, "/", on((*page.Desk).AskDonor), inFooter),
		deskRow(page.ActAccept, "enter", on((*page.Desk).AcceptOrOpen), notAhead),
		deskRow("last-calls", "H", on((*page.Desk).AskRecent), inFooter, isRare),
		deskRow("person", "o", on((*page.Desk).OpenPerson)),
		deskRow("pledge", "p", on((*page.Desk).OpenPledge)),
		deskRow(page.ActCopy, "y", on((*page.Desk).CopyNumber), inFooter, namedOnCard),
		deskRow("copy-other", "Y", on((*page.Desk).AskCopy)),
		deskRow(page.ActResume, "D", nil),
		deskRow(page.ActSkipped, "K", on((*page.Desk).ShowSkipped)),
		deskRow(page.ActWarnings, "W", on((*page.Desk).ShowWarnings)),
		complete,
		row("back", page.ScopeNotes, "esc", "leave the notes", "leave notes", on((*page.Desk).LeaveNotes), nil, inText),
		row("down", page.ScopeDesk, "j down", "to the next fact, then scroll down", "", scroll(page.Down), nil),
		row("up", page.ScopeDesk, "k up", "to the fact before, then scroll up", "", scroll(page.Up), nil),
		row("page-down", page.ScopeDesk, "pgdown ctrl+d", "a page down", "", scroll(page.PageDown), nil),
		row("page-up", page.ScopeDesk, "pgup ctrl+u", "a page up", "", scroll(page.PageUp), nil),
	}
}

func listActions() []*action {
	return []*action{
		row(
			"open",
			page.ScopeLists,
			"enter",
			"open",
			"open",
			on(page.Opener.OpenRecord),
			onWhy(page.Opener.WhyNotOpen),
		),
		row(
			"back",
			page.ScopeLists,
			"esc backspace",
			"back",
			"back",
			on(page.Lister.Back),
			onWhy(page.Lister.WhyNotBack),
		),
		row(
			page.ActFilter,
			page.ScopeLists,
			"/",
			"filter",
			"filter",
			on(page.Lister.AskFilter),
			onWhy(page.Lister.WhyNotFilter),
		),
		row(
			"sort",
			page.ScopeLists,
			"o",
			"sort by a column…",
			"",
			on(page.Lister.AskSort),
			onWhy(page.Lister.WhyNotFilter),
		),
		row(
			"columns",
			page.ScopeLists,
			"C",
			"show or hide columns…",
			"",
			on(page.Lister.AskColumns),
			onWhy(page.Lister.WhyNotFilter),
		),
		row(
			page.ActRange,
			page.ScopeLists,
			"V",
			"mark a range: from here to where V is pressed again",
			"",
			on(page.Lister.MarkRange),
			onWhy(page.Lister.WhyNotMark),
		),
		row("mark", page.ScopeLists, "space", "mark", "mark", on(page.Lister.MarkRow), onWhy(page.Lister.WhyNotMark)),
		row(
			"actions",
			page.ScopeLists,
			"A",
			"actions on the marked…",
			"actions",
			on(page.Lister.AskBulk),
			onWhy(page.Lister.WhyNotMark),
		),
		row(
			page.ActCopy,
			page.ScopeLists,
			"y",
			"copy the UUID, in a record the value",
			"copy",
			on(page.Copier.CopyRecord),
			onWhy(page.Copier.WhyNotCopy),
		),
		row("down", page.ScopeLists, "j down", "down", "", scroll(page.Down), nil),
		row("up", page.ScopeLists, "k up", "up", "", scroll(page.Up), nil),
		row("top", page.ScopeLists, "g home", "to the top", "", scroll(page.Top), nil),
		row("bottom", page.ScopeLists, "G end", "to the bottom of what is loaded", "", scroll(page.Bottom), nil),
		row("page-down", page.ScopeLists, "pgdown ctrl+d ctrl+f", "a page down", "", scroll(page.PageDown), nil),
		row("page-up", page.ScopeLists, "pgup ctrl+u ctrl+b", "a page up", "", scroll(page.PageUp), nil),

		row(
			"work",
			page.ScopeCalls,
			"w",
			"work the call at the desk",
			"work",
			on((*page.Calls).Work),
			onWhy((*page.Calls).WhyNotWork),
		),
		row(
			"status-action",
			page.ScopePledges,
			"t",
			"status action on the pledge…",
			"status",
			on((*page.Pledges).AskStatus),
			onWhy((*page.Pledges).WhyNotStatus),
		),
		row(
			page.ActSign,
			page.ScopePledges,
			"S",
			"link to the signature",
			"signature",
			on((*page.Pledges).AskSignature),
			onWhy((*page.Pledges).WhyNotStatus),
		),

		row(
			"send-again",
			page.ScopeOutbox,
			"s",
			"send again what was refused or is unsure…",
			"send again",
			on((*page.Outbox).AskSendAgain),
			onWhy((*page.Outbox).WhyNotSendAgain),
		),
		row(
			"drop",
			page.ScopeOutbox,
			"D",
			"drop the entry…",
			"drop",
			on((*page.Outbox).AskDrop),
			onWhy((*page.Outbox).WhyNotOpen),
		),
		row(
			"send-now",
			page.ScopeOutbox,
			"ctrl+r",
			"try all of them now",
			"try now",
			func(a *app) tea.Cmd { return a.Perform(a.Day.Changes.SendNow()) },
			nil,
		),
		row(
			"period",
			page.ScopeStats,
			"P",
			"choose the period that is counted…",
			"period",
			on((*page.Stats).AskPeriod),
			nil,
		),
		row(
			"free",
			page.ScopeFloor,
			"X",
			"free what the agent holds…",
			"free",
			on((*page.Floor).AskFree),
			onWhy((*page.Floor).WhyNotOpen),
		),
		row(
			page.ActStop,
			page.ScopeStats,
			"esc",
			"stop counting",
			"stop",
			on((*page.Stats).Stop),
			onWhy((*page.Stats).WhyNotStop),
		),
	}
}

// pageActions turn to the pages, in the order of their tabs.
func pageActions() []*action {
	var all []*action
	for i, title := range pageTitles {
		all = append(
			all,
			row(
				"page-"+pageNames[i],
				page.ScopeEverywhere,
				fmt.Sprint(i+1),
				title,
				"",
				func(a *app) tea.Cmd { return a.Turn(i) },
				nil,
			),
		)
	}
	return all
}

func everywhereActions() []*action {
	noPanes := func(a *app) string {
		return desk.When(a.layout.Panes == 1, "there is one pane: more stand beside each other from 100 columns")
	}
	undo := deskRow(page.ActUndo, "u", nil, inFooter)
	undo.scope = page.ScopeEverywhere
	return slices.Concat([]*action{
		undo,
		row(
			page.ActHelp,
			page.ScopeEverywhere,
			"?",
			"help",
			"help",
			func(a *app) tea.Cmd { return a.askAction("Help: type to filter, Enter runs", false) },
			nil,
		),
		row(
			"palette",
			page.ScopeEverywhere,
			":",
			"run an action by its name, or open a record by its UUID",
			"",
			func(a *app) tea.Cmd { return a.askAction("Run an action, or open a UUID", true) },
			nil,
		),
	}, pageActions(), []*action{
		row(
			"page-previous",
			page.ScopeEverywhere,
			"[",
			"the tab before",
			"",
			func(a *app) tea.Cmd { return a.Turn((a.current + len(a.pages) - 1) % len(a.pages)) },
			nil,
		),
		row(
			"page-next",
			page.ScopeEverywhere,
			"]",
			"the next tab",
			"",
			func(a *app) tea.Cmd { return a.Turn((a.current + 1) % len(a.pages)) },
			nil,
		),
		row(
			page.ActOutbox,
			page.ScopeEverywhere,
			"O",
			"what is not sent yet",
			"",
			func(a *app) tea.Cmd { return a.Turn(page.OutboxPage) },
			nil,
		),
		row(page.ActRefresh, page.ScopeEverywhere, "R", "read again", "", on(page.Page.Refresh), nil),
		row(
			page.ActReveal,
			page.ScopeEverywhere,
			"v",
			"show or mask IBAN and social security number",
			"",
			does(func(a *app) { a.Day.Card.IsRevealed = !a.Day.Card.IsRevealed }),
			nil,
		),
		row(
			"narrower",
			page.ScopeEverywhere,
			"<",
			"make the left pane narrower",
			"",
			func(a *app) tea.Cmd { return a.resizePanes(-paneStep) },
			noPanes,
		),
		row(
			"wider",
			page.ScopeEverywhere,
			">",
			"make the left pane wider",
			"",
			func(a *app) tea.Cmd { return a.resizePanes(paneStep) },
			noPanes,
		),
		row(
			page.ActResults,
			page.ScopeEverywhere,
			"B",
			"what became of each record of the last action on several",
			"",
			(*app).showBatch,
			func(a *app) string {
				return desk.When(a.Day.Changes.Batch == nil, "there was no action on several records")
			},
		),
		row(
			page.ActDismiss,
			page.ScopeEverywhere,
			"x",
			"dismiss the message",
			"",
			does(func(a *app) { a.Messages.Errors = a.Messages.Errors[1:] }),
			func(a *app) string {
				return desk.When(len(a.Messages.Errors) == 0, "there is no error to dismiss")
			},
		),
		row(
			"messages",
			page.ScopeEverywhere,
			"!",
			"show the last messages again",
			"",
			(*app).showMessages,
			func(a *app) string {
				return desk.When(len(a.Messages.Past) == 0, "there was no message yet")
			},
		),
		row(
			"mouse-on",
			page.ScopeEverywhere,
			"",
			"click chooses, a double click opens, the wheel scrolls",
			"",
			func(a *app) tea.Cmd { return a.turnMouse(true) },
			nil,
		),
		row(
			"mouse-off",
			page.ScopeEverywhere,
			"",
			"the terminal has the mouse, to select text",
			"",
			func(a *app) tea.Cmd { return a.turnMouse(false) },
			nil,
		),
		row("suspend", page.ScopeEverywhere, "ctrl+z", "suspend", "", (*app).suspend, nil, inText, whenSmall),
		row(
			"redraw",
			page.ScopeEverywhere,
			"ctrl+l",
			"draw the screen again",
			"",
			func(*app) tea.Cmd { return tea.ClearScreen },
			nil,
			inText,
			whenSmall,
		),
		row("quit", page.ScopeEverywhere, "q ctrl+c", "quit", "quit", (*app).quit, nil, isRare),
	})
}

// does returns an action that is over at once.
func does(run func(*app)) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd {
		run(a)
		return nil
	}
}

// on runs a method of the page in front, or of the desk.
func on[P any](run func(P) tea.Cmd) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd {
		p, _ := a.pages[a.current].(P)
		return run(p)
	}
}

// onWhy asks a method of the page in front for the reason why an action cannot run.
func onWhy[P any](why func(P) string) func(*app) string {
	return func(a *app) string {
		if p, ok := a.pages[a.current].(P); ok {
			return why(p)
		}
		return "not on this page"
	}
}

func scroll(by page.Step) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { return a.pages[a.current].Scroll(by) }
}

// KeyHelp is one key for the manual.
type KeyHelp struct {
	Scope  string
	Keys   []string
	Action string // Its name in keys.toml.
	Help   string
}

// Keys returns all keys of the interface, scope by scope.
func Keys() []KeyHelp {
	actions := registry()
	help := make([]KeyHelp, 0, len(actions))
	for _, a := range actions {
		help = append(help, KeyHelp{Scope: string(a.scope), Keys: a.Keys(), Action: a.id, Help: a.help})
	}
	return help
}

func (a *action) ofDesk() bool { return a.scope == page.ScopeDesk || a.scope == page.ScopeNotes }

// IsOfDesk reports whether the Desk has an action.
func IsOfDesk(name string) bool {
	return slices.ContainsFunc(registry(), func(a *action) bool { return a.ofDesk() && a.id == name })
}

// keymap finds actions by keys.
type keymap []*action

// find returns the action of a key in the first of the scopes that has it, or nil.
func (k keymap) find(name string, scopes []page.Scope) *action {
	for _, a := range k.in(scopes) {
		if slices.Contains(a.Keys(), name) {
			return a
		}
	}
	return nil
}

// in returns the actions of the scopes, in their order.
func (k keymap) in(scopes []page.Scope) []*action {
	var found []*action
	for _, s := range scopes {
		for _, a := range k {
			if a.scope == s {
				found = append(found, a)
			}
		}
	}
	return found
}

// loadKeymap reads the registry, changed by keys.toml where there is one: lines such
// as
//
//	[desk]
//	not-reached = ["a", "f2"]
func loadKeymap(configDir string, hidden []string) (keymap, error) {
	k := slices.DeleteFunc(
		keymap(registry()),
		func(a *action) bool { return a.ofDesk() && slices.Contains(hidden, a.id) },
	)
	if configDir == "" {
		return k, nil
	}
	path := filepath.Join(configDir, "keys.toml")
	if err := durable.CheckTrust(path); err != nil { // The file decides what a key does.
		return k, fmt.Errorf("read %s: %w", path, err)
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return k, nil
	}
	var custom map[page.Scope]map[string][]string
	if err == nil {
		err = toml.Unmarshal(text, &custom)
	}
	if err != nil {
		return k, fmt.Errorf("read %s: %w", path, err)
	}
	for _, s := range slices.Sorted(maps.Keys(custom)) {
		for _, id := range slices.Sorted(maps.Keys(custom[s])) {
			i := slices.IndexFunc(k, func(a *action) bool { return a.scope == s && a.id == id })
			if i < 0 {
				return k, fmt.Errorf("read %s: there is no action %q in %q; see: fundesk help keys", path, id, s)
			}
			if id == "quit" && s == page.ScopeEverywhere && len(custom[s][id]) == 0 {
				return k, fmt.Errorf("read %s: quit must keep a key", path)
			}
			k[i].SetKeys(custom[s][id]...)
		}
	}
	return k, k.clash(path)
}

// clash refuses a key that does two things in one scope.
func (k keymap) clash(path string) error {
	seen := map[string]string{}
	for _, a := range k {
		for _, name := range a.Keys() {
			in := string(a.scope) + " " + name
			if other, taken := seen[in]; taken && other != a.id {
				return fmt.Errorf("read %s: the key %s of %q does both %s and %s", path, name, a.scope, other, a.id)
			}
			seen[in] = a.id
		}
	}
	return nil
}
