package tui

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/BurntSushi/toml"

	"fundesk/apiclient/durable"
	"fundesk/tui/desk/say"
	"fundesk/tui/page"
)

// action is an action of a page with its keys, which keys.toml may change.
type action struct {
	page.Action
	keys []string
}

// registry returns all actions, scope by scope. The interface may be nil if none of them is run.
func registry(a *app) []*action {
	var all []*action
	for _, of := range slices.Concat(page.Actions(), a.everywhereActions()) {
		all = append(all, &action{Action: of, keys: strings.Fields(of.Keys)})
	}
	return all
}

// pageActions turn to the pages, in the order of their tabs.
func (a *app) pageActions() []page.Action {
	var all []page.Action
	for i, title := range pageTitles {
		all = append(all, page.Action{
			ID:    "page-" + pageNames[i],
			Scope: page.ScopeEverywhere,
			Keys:  fmt.Sprint(i + 1),
			Help:  title,
			Run:   does(func() tea.Cmd { return a.Turn(i) }),
		})
	}
	return all
}

// everywhereActions are the actions that no page has of its own.
func (a *app) everywhereActions() []page.Action {
	var ofDesk *page.Desk
	if a != nil {
		ofDesk = a.desk
	}
	first := []page.Action{
		page.UndoAction(ofDesk),
		{
			ID:    page.ActHelp,
			Scope: page.ScopeEverywhere,
			Keys:  "?",
			Help:  "help",
			Word:  "help",
			Run:   does(func() tea.Cmd { return a.askAction("Help: type to filter, Enter runs", false) }),
		},
		{
			ID:    "palette",
			Scope: page.ScopeEverywhere,
			Keys:  ":",
			Help:  "run an action by its name, or open a record by its UUID",
			Run:   does(func() tea.Cmd { return a.askAction("Run an action, or open a UUID", true) }),
		},
	}
	return slices.Concat(first, a.pageActions(), []page.Action{
		{
			ID:    "page-previous",
			Scope: page.ScopeEverywhere,
			Keys:  "[",
			Help:  "the previous tab",
			Run:   does(func() tea.Cmd { return a.Turn((a.current + len(a.pages) - 1) % len(a.pages)) }),
		},
		{
			ID:    "page-next",
			Scope: page.ScopeEverywhere,
			Keys:  "]",
			Help:  "the next tab",
			Run:   does(func() tea.Cmd { return a.Turn((a.current + 1) % len(a.pages)) }),
		},
		{
			ID:    page.ActOutbox,
			Scope: page.ScopeEverywhere,
			Keys:  "O",
			Help:  "what is not sent yet",
			Run:   does(func() tea.Cmd { return a.Turn(page.OutboxPage) }),
		},
		{
			ID:    page.ActRefresh,
			Scope: page.ScopeEverywhere,
			Keys:  "R",
			Help:  "reload this page",
			Run:   func(front page.Page) tea.Cmd { return front.Refresh() },
		},
		{
			ID:    page.ActReveal,
			Scope: page.ScopeEverywhere,
			Keys:  "v",
			Help:  "show or mask IBAN and social security number",
			Run:   does(a.reveal),
		},
		{
			ID:    "narrower",
			Scope: page.ScopeEverywhere,
			Keys:  "<",
			Help:  "make the left pane narrower",
			Run:   does(func() tea.Cmd { return a.resizePanes(-paneStep) }),
			Why:   func(page.Page) string { return a.whyNoPanes() },
		},
		{
			ID:    "wider",
			Scope: page.ScopeEverywhere,
			Keys:  ">",
			Help:  "make the left pane wider",
			Run:   does(func() tea.Cmd { return a.resizePanes(paneStep) }),
			Why:   func(page.Page) string { return a.whyNoPanes() },
		},
		{
			ID:    page.ActResults,
			Scope: page.ScopeEverywhere,
			Keys:  "B",
			Help:  "the result for each record of the last bulk action",
			Run:   does(a.showBatch),
			Why: func(page.Page) string {
				return say.When(a.Day.Changes.Batch == nil, "there was no action on several records")
			},
		},
		{
			ID:    page.ActDismiss,
			Scope: page.ScopeEverywhere,
			Keys:  "x",
			Help:  "dismiss the message",
			Run:   does(a.dismiss),
			Why: func(page.Page) string {
				return say.When(len(a.Messages.Errors) == 0, "there is no error to dismiss")
			},
		},
		{
			ID:    "messages",
			Scope: page.ScopeEverywhere,
			Keys:  "!",
			Help:  "show the last messages again",
			Run:   does(a.showMessages),
			Why: func(page.Page) string {
				return say.When(len(a.Messages.Past) == 0, "there was no message yet")
			},
		},
		{
			ID:    "mouse-on",
			Scope: page.ScopeEverywhere,
			Keys:  "",
			Help:  "click chooses, a double click opens, the wheel scrolls",
			Run:   does(func() tea.Cmd { return a.turnMouse(true) }),
		},
		{
			ID:    "mouse-off",
			Scope: page.ScopeEverywhere,
			Keys:  "",
			Help:  "the terminal has the mouse, to select text",
			Run:   does(func() tea.Cmd { return a.turnMouse(false) }),
		},
		{
			ID:     "suspend",
			Scope:  page.ScopeEverywhere,
			Keys:   "ctrl+z",
			Help:   "suspend",
			Run:    does(a.suspend),
			Traits: page.InText | page.WhenSmall,
		},
		{
			ID:     "redraw",
			Scope:  page.ScopeEverywhere,
			Keys:   "ctrl+l",
			Help:   "draw the screen again",
			Run:    does(func() tea.Cmd { return tea.ClearScreen }),
			Traits: page.InText | page.WhenSmall,
		},
		{
			ID:     "quit",
			Scope:  page.ScopeEverywhere,
			Keys:   "q ctrl+c",
			Help:   "quit",
			Word:   "quit",
			Run:    does(a.quit),
			Traits: page.IsRare,
		},
	})
}

// does returns the handler of an action that does not depend on the page in front.
func does(run func() tea.Cmd) func(page.Page) tea.Cmd {
	return func(page.Page) tea.Cmd { return run() }
}

func (a *app) reveal() tea.Cmd {
	a.Day.IsRevealed = !a.Day.IsRevealed
	return nil
}

func (a *app) dismiss() tea.Cmd {
	a.Messages.Errors = a.Messages.Errors[1:]
	return nil
}

func (a *app) whyNoPanes() string {
	return say.When(a.layout.Panes == 1, "there is only one pane: two need 100 columns")
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
	actions := registry(nil)
	help := make([]KeyHelp, 0, len(actions))
	for _, a := range actions {
		help = append(help, KeyHelp{
			Scope:  string(a.Scope),
			Keys:   a.keys,
			Action: a.ID,
			Help:   a.Help,
		})
	}
	return help
}

func (a *action) ofDesk() bool { return a.Scope == page.ScopeDesk || a.Scope == page.ScopeNotes }

// IsOfDesk reports whether the Desk has an action.
func IsOfDesk(name string) bool {
	return slices.ContainsFunc(registry(nil), func(a *action) bool { return a.ofDesk() && a.ID == name })
}

// keymap finds actions by keys.
type keymap []*action

// find returns the action of a key in the first of the scopes that has it, or nil.
func (k keymap) find(name string, scopes []page.Scope) *action {
	for _, a := range k.in(scopes) {
		if slices.Contains(a.keys, name) {
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
			if a.Scope == s {
				found = append(found, a)
			}
		}
	}
	return found
}

// loadKeymap returns the actions with their keys, changed by keys.toml if it exists: lines such as
//
//	[desk]
//	not-reached = ["a", "f2"]
func loadKeymap(all []*action, configDir string, hidden []string) (keymap, error) {
	k := slices.DeleteFunc(
		keymap(all),
		func(a *action) bool { return a.ofDesk() && slices.Contains(hidden, a.ID) },
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
			i := slices.IndexFunc(k, func(a *action) bool { return a.Scope == s && a.ID == id })
			if i < 0 {
				return k, fmt.Errorf("read %s: there is no action %q in %q; see: fundesk help keys", path, id, s)
			}
			if id == "quit" && s == page.ScopeEverywhere && len(custom[s][id]) == 0 {
				return k, fmt.Errorf("read %s: quit must keep a key", path)
			}
			k[i].keys = custom[s][id]
		}
	}
	return k, k.clash(path)
}

// clash refuses a key that does two things in one scope.
func (k keymap) clash(path string) error {
	seen := map[string]string{}
	for _, a := range k {
		for _, name := range a.keys {
			in := string(a.Scope) + " " + name
			if other, taken := seen[in]; taken && other != a.ID {
				return fmt.Errorf("read %s: the key %s of %q does both %s and %s", path, name, a.Scope, other, a.ID)
			}
			seen[in] = a.ID
		}
	}
	return nil
}
