package tui

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// action is what a key does, by the name that keys.toml uses.
type action string

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

const (
	actHelp       action = "help"
	actPalette    action = "palette"
	actPageDesk   action = "page-desk"
	actPageCalls  action = "page-calls"
	actPagePeople action = "page-persons"
	actPagePledge action = "page-pledges"
	actPageOutbox action = "page-outbox"
	actPageStats  action = "page-stats"
	actPrevPage   action = "page-previous"
	actNextPage   action = "page-next"
	actOutbox     action = "outbox"
	actUndo       action = "undo"
	actRefresh    action = "refresh"
	actReveal     action = "reveal"
	actResults    action = "results"
	actDismiss    action = "dismiss"
	actSuspend    action = "suspend"
	actRedraw     action = "redraw"
	actQuit       action = "quit"

	actDown     action = "down"
	actUp       action = "up"
	actPageDown action = "page-down"
	actPageUp   action = "page-up"
	actTop      action = "top"
	actBottom   action = "bottom"
	actOpen     action = "open"
	actBack     action = "back"
	actCopy     action = "copy"
	actMark     action = "mark"
	actBulk     action = "actions"
	actFilter   action = "filter"
	actWork     action = "work"

	actNext      action = "next-call"
	actSkip      action = "skip"
	actNotReach  action = "not-reached"
	actResult    action = "result"
	actRating    action = "rating"
	actNotes     action = "notes"
	actEditor    action = "editor"
	actComplete  action = "complete"
	actCancel    action = "cancel"
	actExpire    action = "expire"
	actProcessed action = "mark-processed"
	actPerson    action = "person"
	actPledge    action = "pledge"
	actResume    action = "resume-draft"
	actSkipped   action = "skipped"
	actWarnings  action = "warnings"

	actStatus    action = "status-action"
	actSignature action = "signature"

	actSendAgain action = "send-again"
	actDrop      action = "drop"
	actSendNow   action = "send-now"
	actStop      action = "stop"
)

// binding is one row of the registry.
type binding struct {
	action action
	scope  scope
	keys   []string
	help   string
	footer string // Short word for the footer; "" keeps it out.
}

// registry is every key there is. The footer, the help, the palette, keys.toml and
// the manual are drawn from it.
func registry() []binding {
	return slices.Concat(deskKeys(), listKeys(), everywhereKeys())
}

func deskKeys() []binding {
	return []binding{
		{actNext, scopeDesk, []string{"n"}, "take the next call", "next"},
		{actNotReach, scopeDesk, []string{"a"}, "not reached: record an attempt, take the next call", "not reached"},
		{actResult, scopeDesk, []string{"c"}, "choose the result code", "result"},
		{actRating, scopeDesk, []string{"r"}, "rate the donor's retention, 0 to 10", "rating"},
		{actNotes, scopeDesk, []string{"i"}, "write notes (esc leaves them)", "notes"},
		{actEditor, scopeDesk, []string{"E"}, "write notes in $EDITOR", ""},
		{actComplete, scopeDesk, []string{"ctrl+s"}, "complete the call, take the next one", "complete"},
		{actSkip, scopeDesk, []string{"s"}, "skip the call for now", "skip"},
		{actCancel, scopeDesk, []string{"X"}, "cancel the call…", "cancel"},
		{actExpire, scopeDesk, []string{"e"}, "expire the call…", "expire"},
		{actProcessed, scopeDesk, []string{"m"}, "mark the call as processed", ""},
		{actPerson, scopeDesk, []string{"o"}, "open the person", ""},
		{actPledge, scopeDesk, []string{"p"}, "open the pledge", ""},
		{actCopy, scopeDesk, []string{"y"}, "copy a phone number or the UUID…", "copy"},
		{actResume, scopeDesk, []string{"d"}, "go on with the latest draft", ""},
		{actSkipped, scopeDesk, []string{"K"}, "show the calls that were passed over, and why", ""},
		{actWarnings, scopeDesk, []string{"W"}, "show all that speaks against ringing now", ""},
		{actComplete, scopeNotes, []string{"ctrl+s"}, "complete the call, take the next one", "complete"},
		{actBack, scopeNotes, []string{"esc"}, "leave the notes", "leave notes"},
		{actDown, scopeDesk, []string{"j", "down"}, "scroll down", ""},
		{actUp, scopeDesk, []string{"k", "up"}, "scroll up", ""},
		{actPageDown, scopeDesk, []string{"pgdown", "ctrl+d"}, "a page down", ""},
		{actPageUp, scopeDesk, []string{"pgup", "ctrl+u"}, "a page up", ""},
	}
}

func listKeys() []binding {
	return []binding{
		{actOpen, scopeLists, []string{"enter"}, "open", "open"},
		{actBack, scopeLists, []string{"esc", "backspace"}, "back", "back"},
		{actFilter, scopeLists, []string{"/"}, "filter", "filter"},
		{actMark, scopeLists, []string{"space"}, "mark", "mark"},
		{actBulk, scopeLists, []string{"A"}, "actions on the marked…", "actions"},
		{actCopy, scopeLists, []string{"y"}, "copy the UUID, in a record the value", "copy"},
		{actDown, scopeLists, []string{"j", "down"}, "down", ""},
		{actUp, scopeLists, []string{"k", "up"}, "up", ""},
		{actTop, scopeLists, []string{"g", "home"}, "to the top", ""},
		{actBottom, scopeLists, []string{"G", "end"}, "to the bottom of what is loaded", ""},
		{actPageDown, scopeLists, []string{"pgdown", "ctrl+d", "ctrl+f"}, "a page down", ""},
		{actPageUp, scopeLists, []string{"pgup", "ctrl+u", "ctrl+b"}, "a page up", ""},

		{actWork, scopeCalls, []string{"w"}, "work the call at the desk", "work"},
		{actStatus, scopePledges, []string{"t"}, "status action on the pledge…", "status"},
		{actSignature, scopePledges, []string{"S"}, "link to the signature", "signature"},

		{actSendAgain, scopeOutbox, []string{"s"}, "send again what was refused or is unsure…", "send again"},
		{actDrop, scopeOutbox, []string{"D"}, "drop the entry…", "drop"},
		{actSendNow, scopeOutbox, []string{"ctrl+r"}, "try all of them now", "try now"},
		{actStop, scopeStats, []string{"esc"}, "stop counting", "stop"},
	}
}

func everywhereKeys() []binding {
	return []binding{
		{actUndo, scopeEverywhere, []string{"u"}, "undo the last change, while it is held", "undo"},
		{actHelp, scopeEverywhere, []string{"?"}, "help", "help"},
		{actPalette, scopeEverywhere, []string{":"}, "run an action by its name", ""},
		{actPageDesk, scopeEverywhere, []string{"1"}, "Desk", ""},
		{actPageCalls, scopeEverywhere, []string{"2"}, "Calls", ""},
		{actPagePeople, scopeEverywhere, []string{"3"}, "Persons", ""},
		{actPagePledge, scopeEverywhere, []string{"4"}, "Pledges", ""},
		{actPageOutbox, scopeEverywhere, []string{"5"}, "Outbox", ""},
		{actPageStats, scopeEverywhere, []string{"6"}, "Stats", ""},
		{actPrevPage, scopeEverywhere, []string{"["}, "the tab before", ""},
		{actNextPage, scopeEverywhere, []string{"]"}, "the next tab", ""},
		{actOutbox, scopeEverywhere, []string{"O"}, "what is not sent yet", ""},
		{actRefresh, scopeEverywhere, []string{"R"}, "read again", ""},
		{actReveal, scopeEverywhere, []string{"v"}, "show or mask IBAN and social security number", ""},
		{actResults, scopeEverywhere, []string{"B"}, "what became of each record of the last action on several", ""},
		{actDismiss, scopeEverywhere, []string{"x"}, "dismiss the message", ""},
		{actSuspend, scopeEverywhere, []string{"ctrl+z"}, "suspend", ""},
		{actRedraw, scopeEverywhere, []string{"ctrl+l"}, "draw the screen again", ""},
		{actQuit, scopeEverywhere, []string{"q", "ctrl+c"}, "quit", "quit"},
	}
}

// inText are the actions that work while text is being typed.
var inText = []action{actComplete, actBack, actSuspend, actRedraw}

// KeyHelp is one key for the manual.
type KeyHelp struct {
	Scope  string
	Keys   []string
	Action string // Its name in keys.toml.
	Help   string
}

// Keys are all keys of the interface, scope by scope.
func Keys() []KeyHelp {
	bindings := registry()
	help := make([]KeyHelp, 0, len(bindings))
	for _, b := range bindings {
		help = append(help, KeyHelp{Scope: string(b.scope), Keys: b.keys, Action: string(b.action), Help: b.help})
	}
	return help
}

// keymap finds actions by keys.
type keymap struct{ bindings []binding }

// find is the action of a key in the first of the scopes that has it.
func (k keymap) find(key string, scopes []scope) (action, bool) {
	for _, s := range scopes {
		for _, b := range k.bindings {
			if b.scope == s && slices.Contains(b.keys, key) {
				return b.action, true
			}
		}
	}
	return "", false
}

// in are the bindings of the scopes, in their order.
func (k keymap) in(scopes []scope) []binding {
	var found []binding
	for _, s := range scopes {
		for _, b := range k.bindings {
			if b.scope == s {
				found = append(found, b)
			}
		}
	}
	return found
}

// footer are the bindings of the scopes that the footer may show, with their number.
func (k keymap) footer(scopes []scope) iter.Seq2[int, *binding] {
	return func(yield func(int, *binding) bool) {
		n := 0
		for _, s := range scopes {
			for i := range k.bindings {
				b := &k.bindings[i]
				if b.scope != s || b.footer == "" || len(b.keys) == 0 {
					continue
				}
				if !yield(n, b) {
					return
				}
				n++
			}
		}
	}
}

// keyName is a key as it is shown.
func keyName(key string) string { return keySigns.Replace(key) }

var keySigns = strings.NewReplacer("ctrl+", "^", "pgdown", "PgDn", "pgup", "PgUp")

// loadKeymap reads the registry, changed by keys.toml where there is one: lines such
// as
//
//	[desk]
//	not-reached = ["a", "f2"]
func loadKeymap(configDir string) (keymap, error) {
	k := keymap{bindings: registry()}
	if configDir == "" {
		return k, nil
	}
	path := filepath.Join(configDir, "keys.toml")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return k, nil
	}
	if err != nil {
		return k, fmt.Errorf("read %s: %w", path, err)
	}
	var custom map[scope]map[action][]string
	if err := toml.Unmarshal(text, &custom); err != nil {
		return k, fmt.Errorf("read %s: %w", path, err)
	}
	for _, s := range slices.Sorted(maps.Keys(custom)) {
		for _, name := range slices.Sorted(maps.Keys(custom[s])) {
			if !k.rebind(s, name, custom[s][name]) {
				return k, fmt.Errorf("read %s: there is no action %q in %q; see: fundesk help keys", path, name, s)
			}
		}
	}
	return k, k.clash(path)
}

func (k keymap) rebind(s scope, name action, keys []string) bool {
	for i, b := range k.bindings {
		if b.scope == s && b.action == name {
			k.bindings[i].keys = keys
			return true
		}
	}
	return false
}

// clash refuses a key that does two things in one scope.
func (k keymap) clash(path string) error {
	seen := map[string]action{}
	for _, b := range k.bindings {
		for _, key := range b.keys {
			id := string(b.scope) + " " + key
			if other, taken := seen[id]; taken && other != b.action {
				return fmt.Errorf("read %s: the key %s of %q does both %s and %s", path, key, b.scope, other, b.action)
			}
			seen[id] = b.action
		}
	}
	return nil
}
