package tui

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/BurntSushi/toml"

	"fundesk/tui/desk"
)

// scope is where a key works.
type scope string

const (
	scopeEverywhere scope = "everywhere"
	scopeDesk       scope = "desk"
	scopeNotes      scope = "notes"
	scopeLists      scope = "lists"
	scopeCalls      scope = "calls"
	scopePledges    scope = "pledges"
	scopeOutbox     scope = "outbox"
	scopeStats      scope = "stats"
)

// action is something that a key does: all that there is to say of it. The footer, the
// help, the palette, keys.toml and the manual are drawn from it.
type action struct {
	id     string // By which keys.toml and the palette name it.
	scope  scope
	help   string
	footer string // Short word for the footer; "" keeps it out.
	traits trait
	run    func(*app) tea.Cmd
	why    func(*app) string // Why it cannot run now, "" when it can; nil: it always can.
	key.Binding
}

// trait says when a key works besides.
type trait int

const (
	inText    trait = 1 << iota // While text is being typed.
	endsCall                    // It ends the call: only one that was seen.
	notAhead                    // Not on a call that was not there when it was pressed.
	forCall                     // Pressed while the call is being read, it waits for that.
	whenSmall                   // Where the terminal is too small to show anything.
)

func (a *action) is(t trait) bool { return a.traits&t != 0 }

// row is an action of the table; keys are separated by blanks.
func row(id string, s scope, keys, help, footer string, run func(*app) tea.Cmd, why func(*app) string, traits ...trait) *action {
	a := &action{id: id, scope: s, help: help, footer: footer, run: run, why: why, Binding: key.NewBinding(key.WithKeys(strings.Fields(keys)...))}
	for _, t := range traits {
		a.traits |= t
	}
	return a
}

// registry is every action there is.
func registry() []*action {
	return slices.Concat(deskActions(), listActions(), everywhereActions())
}

// The actions that texts of the interface name the key of.
const (
	actNext     = "next-call"
	actResult   = "result"
	actRating   = "rating"
	actNotes    = "notes"
	actComplete = "complete"
	actResume   = "resume-draft"
	actSkipped  = "skipped"
	actWarnings = "warnings"
	actSign     = "signature"
	actStop     = "stop"
	actHelp     = "help"
	actOutbox   = "outbox"
	actRefresh  = "refresh"
	actResults  = "results"
	actDismiss  = "dismiss"
)

func deskActions() []*action {
	return []*action{
		row(actNext, scopeDesk, "n", "take the next call", "next", ofDay((*desk.Day).Next), onWhy((*deskView).whyNotNext), notAhead),
		row("not-reached", scopeDesk, "a", "not reached: record an attempt, take the next call", "not reached", ofDay((*desk.Day).NotReached), onWhy((*deskView).whyNotEnd), endsCall, notAhead),
		row(actResult, scopeDesk, "c", "choose the result code, then the rating", "result", on((*deskView).askResult), onWhy((*deskView).whyNoCall), forCall),
		row(actRating, scopeDesk, "r", "rate the donor's retention, 0 to 10", "rating", on((*deskView).askRating), onWhy((*deskView).whyNoCall), forCall),
		row(actNotes, scopeDesk, "i", "write notes (esc leaves them)", "notes", on((*deskView).write), onWhy((*deskView).whyNoCall), forCall),
		row("editor", scopeDesk, "E", "write notes in $EDITOR", "", on((*deskView).editNotes), onWhy((*deskView).whyNoCall)),
		row(actComplete, scopeDesk, "ctrl+s", "complete the call, take the next one", "complete", ofDay((*desk.Day).CompleteCall), onWhy((*deskView).whyNotComplete), endsCall, notAhead),
		row("skip", scopeDesk, "s", "skip the call for now", "skip", ofDay((*desk.Day).Skip), onWhy((*deskView).whyNoCall), notAhead),
		row("cancel", scopeDesk, "X", "cancel the call…", "cancel", on((*deskView).askCancel), onWhy((*deskView).whyNotEnd), endsCall, notAhead),
		row("expire", scopeDesk, "e", "expire the call…", "expire", on((*deskView).askExpire), onWhy((*deskView).whyNotEnd), endsCall, notAhead),
		row("mark-processed", scopeDesk, "m", "mark the call as processed", "", ofDay((*desk.Day).MarkProcessed), onWhy((*deskView).whyNoCall), notAhead),
		row("person", scopeDesk, "o", "open the person", "", on((*deskView).openPerson), onWhy((*deskView).whyNoCall)),
		row("pledge", scopeDesk, "p", "open the pledge", "", on((*deskView).openPledge), onWhy((*deskView).whyNoPledge)),
		row("copy", scopeDesk, "y", "copy a phone number or the UUID…", "copy", on((*deskView).askCopy), onWhy((*deskView).whyNoCall)),
		row(actResume, scopeDesk, "d", "go on with the latest draft", "", ofDay((*desk.Day).Resume), onWhy((*deskView).whyNoDraft)),
		row(actSkipped, scopeDesk, "K", "show the calls that were passed over, and why", "", on((*deskView).showSkipped), nil),
		row(actWarnings, scopeDesk, "W", "show all that speaks against ringing now", "", on((*deskView).showWarnings), onWhy((*deskView).whyNoCall)),
		row(actComplete, scopeNotes, "ctrl+s", "complete the call, take the next one", "complete", ofDay((*desk.Day).CompleteCall), onWhy((*deskView).whyNotComplete), inText, endsCall, notAhead),
		row("back", scopeNotes, "esc", "leave the notes", "leave notes", on((*deskView).leaveNotes), nil, inText),
		row("down", scopeDesk, "j down", "scroll down", "", scroll(down), nil),
		row("up", scopeDesk, "k up", "scroll up", "", scroll(up), nil),
		row("page-down", scopeDesk, "pgdown ctrl+d", "a page down", "", scroll(pageDown), nil),
		row("page-up", scopeDesk, "pgup ctrl+u", "a page up", "", scroll(pageUp), nil),
	}
}

func listActions() []*action {
	return []*action{
		row("open", scopeLists, "enter", "open", "open", on(opener.openRecord), onWhy(opener.whyNotOpen)),
		row("back", scopeLists, "esc backspace", "back", "back", on(lister.back), onWhy(lister.whyNotBack)),
		row("filter", scopeLists, "/", "filter", "filter", on(lister.askFilter), onWhy(lister.whyNotFilter)),
		row("mark", scopeLists, "space", "mark", "mark", on(lister.mark), onWhy(lister.whyNotMark)),
		row("actions", scopeLists, "A", "actions on the marked…", "actions", on(lister.askBulk), onWhy(lister.whyNotMark)),
		row("copy", scopeLists, "y", "copy the UUID, in a record the value", "copy", on(opener.copyRecord), onWhy(opener.whyNotCopy)),
		row("down", scopeLists, "j down", "down", "", scroll(down), nil),
		row("up", scopeLists, "k up", "up", "", scroll(up), nil),
		row("top", scopeLists, "g home", "to the top", "", scroll(top), nil),
		row("bottom", scopeLists, "G end", "to the bottom of what is loaded", "", scroll(bottom), nil),
		row("page-down", scopeLists, "pgdown ctrl+d ctrl+f", "a page down", "", scroll(pageDown), nil),
		row("page-up", scopeLists, "pgup ctrl+u ctrl+b", "a page up", "", scroll(pageUp), nil),

		row("work", scopeCalls, "w", "work the call at the desk", "work", on((*callsView).work), onWhy((*callsView).whyNotWork)),
		row("status-action", scopePledges, "t", "status action on the pledge…", "status", on((*pledgesView).askStatus), onWhy((*pledgesView).whyNotStatus)),
		row(actSign, scopePledges, "S", "link to the signature", "signature", on((*pledgesView).askSignature), onWhy((*pledgesView).whyNotStatus)),

		row("send-again", scopeOutbox, "s", "send again what was refused or is unsure…", "send again", on((*outboxView).askSendAgain), onWhy((*outboxView).whyNotSendAgain)),
		row("drop", scopeOutbox, "D", "drop the entry…", "drop", on((*outboxView).askDrop), onWhy((*outboxView).whyNotOpen)),
		row("send-now", scopeOutbox, "ctrl+r", "try all of them now", "try now", ofDay((*desk.Day).SendNow), nil),
		row(actStop, scopeStats, "esc", "stop counting", "stop", on((*stats).stop), onWhy((*stats).whyNotStop)),
	}
}

// pageActions turn to the pages, in the order of their tabs.
func pageActions() []*action {
	var all []*action
	for i, title := range pageTitles {
		all = append(all, row("page-"+pageNames[i], scopeEverywhere, fmt.Sprint(i+1), title, "", func(a *app) tea.Cmd { return a.show(i, nil) }, nil))
	}
	return all
}

func everywhereActions() []*action {
	return slices.Concat([]*action{
		row("undo", scopeEverywhere, "u", "undo the last change, while it is held", "undo", ofDay((*desk.Day).Undo), (*app).whyNotUndo),
		row(actHelp, scopeEverywhere, "?", "help", "help", (*app).askHelp, nil),
		row("palette", scopeEverywhere, ":", "run an action by its name", "", (*app).askPalette, nil),
	}, pageActions(), []*action{
		row("page-previous", scopeEverywhere, "[", "the tab before", "", func(a *app) tea.Cmd { return a.show((a.current+len(a.pages)-1)%len(a.pages), nil) }, nil),
		row("page-next", scopeEverywhere, "]", "the next tab", "", func(a *app) tea.Cmd { return a.show((a.current+1)%len(a.pages), nil) }, nil),
		row(actOutbox, scopeEverywhere, "O", "what is not sent yet", "", func(a *app) tea.Cmd { return a.show(outboxPage, nil) }, nil),
		row(actRefresh, scopeEverywhere, "R", "read again", "", on(page.refresh), nil),
		row("reveal", scopeEverywhere, "v", "show or mask IBAN and social security number", "", (*app).reveal, nil),
		row(actResults, scopeEverywhere, "B", "what became of each record of the last action on several", "", (*app).showBatch, (*app).whyNoBatch),
		row(actDismiss, scopeEverywhere, "x", "dismiss the message", "", (*app).dismiss, (*app).whyNotDismiss),
		row("suspend", scopeEverywhere, "ctrl+z", "suspend", "", (*app).suspend, nil, inText, whenSmall),
		row("redraw", scopeEverywhere, "ctrl+l", "draw the screen again", "", (*app).redraw, nil, inText, whenSmall),
		row("quit", scopeEverywhere, "q ctrl+c", "quit", "quit", (*app).quit, nil),
	})
}

// on runs a method of the page in front, or of the desk.
func on[P any](run func(P) tea.Cmd) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd {
		p, _ := a.pages[a.current].(P)
		return run(p)
	}
}

// onWhy asks a method of the page in front what speaks against an action.
func onWhy[P any](why func(P) string) func(*app) string {
	return func(a *app) string {
		if p, ok := a.pages[a.current].(P); ok {
			return why(p)
		}
		return "not on this page"
	}
}

// ofDay does something of the agent's day.
func ofDay(run func(*desk.Day) []desk.Event) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { return a.perform(run(a.Day)) }
}

// step is a move over a page.
type step int

const (
	down step = iota
	up
	pageDown
	pageUp
	top
	bottom
)

func scroll(by step) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { return a.pages[a.current].scroll(by) }
}

// KeyHelp is one key for the manual.
type KeyHelp struct {
	Scope  string
	Keys   []string
	Action string // Its name in keys.toml.
	Help   string
}

// Keys are all keys of the interface, scope by scope.
func Keys() []KeyHelp {
	actions := registry()
	help := make([]KeyHelp, 0, len(actions))
	for _, a := range actions {
		help = append(help, KeyHelp{Scope: string(a.scope), Keys: a.Keys(), Action: a.id, Help: a.help})
	}
	return help
}

// keymap finds actions by keys.
type keymap []*action

// find is the action of a key in the first of the scopes that has it, nil for none.
func (k keymap) find(name string, scopes []scope) *action {
	for _, s := range scopes {
		for _, a := range k {
			if a.scope == s && slices.Contains(a.Keys(), name) {
				return a
			}
		}
	}
	return nil
}

// in are the actions of the scopes, in their order.
func (k keymap) in(scopes []scope) []*action {
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

// keyOf is the key of an action as it is shown.
func (k keymap) keyOf(id string) string {
	for _, a := range k {
		if keys := a.Keys(); a.id == id && len(keys) > 0 {
			return keyName(keys[0])
		}
	}
	return id
}

// footer are the actions of the scopes that the footer may show, with their number.
func (k keymap) footer(scopes []scope) iter.Seq2[int, *action] {
	return func(yield func(int, *action) bool) {
		n := 0
		for _, s := range scopes {
			for _, a := range k {
				if a.scope != s || a.footer == "" || len(a.Keys()) == 0 {
					continue
				}
				if !yield(n, a) {
					return
				}
				n++
			}
		}
	}
}

// keyName is a key as it is shown.
func keyName(name string) string { return keySigns.Replace(name) }

var keySigns = strings.NewReplacer("ctrl+", "^", "pgdown", "PgDn", "pgup", "PgUp")

// loadKeymap reads the registry, changed by keys.toml where there is one: lines such
// as
//
//	[desk]
//	not-reached = ["a", "f2"]
func loadKeymap(configDir string) (keymap, error) {
	k := keymap(registry())
	if configDir == "" {
		return k, nil
	}
	path := filepath.Join(configDir, "keys.toml")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return k, nil
	}
	var custom map[scope]map[string][]string
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
