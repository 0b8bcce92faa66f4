package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/render"
)

// typeahead is what was pressed while the agent's next call was still being read: it
// is for that call, and waits for it. Otherwise the first letters of a note would be
// lost, and the others would run as keys on whatever comes.
type typeahead struct{ presses []tea.Msg }

// aheadText says how much waits for the call.
func (d *deskView) aheadText() string {
	if n := len(d.ahead.presses); n > 0 {
		return " " + render.Plural(n, "key waits", "keys wait") + " for it"
	}
	return ""
}

// holdAhead keeps a key or a paste for the call that is being read; it reports whether
// it did.
func (a *app) holdAhead(msg tea.Msg) bool {
	if a.current != deskPage || a.dialog != nil || !a.IsReading() {
		return false
	}
	if len(a.ahead.presses) == 0 {
		key, isKey := msg.(tea.KeyPressMsg)
		if !isKey {
			return false
		}
		if act := a.keys.find(key.String(), a.desk.scopes()); act == nil || !act.is(forCall) {
			return false
		}
	}
	if key, isKey := msg.(tea.KeyPressMsg); isKey && key.String() == "ctrl+c" {
		return false
	}
	a.ahead.presses = append(a.ahead.presses, msg)
	return true
}

// catchUp hands over what was typed ahead once the call is there. Where none comes, the
// text is said, so that it can be used elsewhere.
func (a *app) catchUp() tea.Cmd {
	if len(a.ahead.presses) == 0 || (a.IsReading() && a.current == deskPage) {
		return nil
	}
	presses := a.ahead.presses
	a.ahead.presses = nil
	if a.Call == nil || a.current != deskPage {
		a.fail("no call came for what you typed: "+typedText(presses), nil)
		return nil
	}
	var commands []tea.Cmd
	for i, msg := range presses {
		if paste, isPaste := msg.(tea.PasteMsg); isPaste {
			commands = append(commands, a.paste(paste))
			continue
		}
		key, _ := msg.(tea.KeyPressMsg)
		act := a.keys.find(key.String(), append(a.desk.scopes(), scopeEverywhere))
		isCommand := a.dialog == nil && (!a.desk.typing() || len(key.Text) == 0)
		if act != nil && isCommand && act.is(notAhead) {
			a.say(act.id + " was pressed before the call was there; press it again")
			if rest := typedText(presses[i+1:]); rest != "" {
				a.fail("not used: "+rest, nil)
			}
			break
		}
		commands = append(commands, a.press(key))
	}
	return tea.Batch(commands...)
}

// typedText is the text of keys and pastes.
func typedText(presses []tea.Msg) string {
	var b strings.Builder
	for _, msg := range presses {
		switch msg := msg.(type) {
		case tea.KeyPressMsg:
			b.WriteString(msg.Text)
		case tea.PasteMsg:
			b.WriteString(msg.Content)
		}
	}
	return b.String()
}
