package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/page"
)

// holdAhead keeps a key or a paste for the call that is being read: otherwise the first
// letters of a note would be lost, and the others would run as keys on whatever comes. It
// reports whether it did.
func (a *app) holdAhead(msg tea.Msg) bool {
	if a.current != page.DeskPage || a.Dialog != nil || !a.Day.IsReading() {
		return false
	}
	if len(a.ahead) == 0 {
		key, isKey := msg.(tea.KeyPressMsg)
		if !isKey {
			return false
		}
		if act := a.keys.find(key.String(), a.desk.Scopes()); act == nil || !act.Is(page.ForCall) {
			return false
		}
	}
	if key, isKey := msg.(tea.KeyPressMsg); isKey && key.String() == "ctrl+c" {
		return false
	}
	a.ahead = append(a.ahead, msg)
	a.desk.SetAhead(len(a.ahead))
	a.Day.Changes.Drafts.KeepLine(drafts.AheadLine, typedText(a.ahead))
	return true
}

// catchUp passes on the typed keys once the call is there. If no call comes, it shows the text, so that it can be used
// elsewhere.
func (a *app) catchUp() tea.Cmd {
	if len(a.ahead) == 0 || (a.Day.IsReading() && a.current == page.DeskPage) {
		return nil
	}
	presses := a.ahead
	a.ahead = nil
	a.Day.Changes.Drafts.KeepLine(drafts.AheadLine, "")
	defer a.desk.SetAhead(0) // Until then no question takes a letter of the text.
	if a.Day.Call == nil || a.current != page.DeskPage {
		a.Messages.Fail(changes.NoCallCame+": "+typedText(presses), nil)
		return nil
	}
	var commands []tea.Cmd
	for i, msg := range presses {
		if paste, isPaste := msg.(tea.PasteMsg); isPaste {
			commands = append(commands, a.paste(paste))
			continue
		}
		key, _ := msg.(tea.KeyPressMsg)
		act := a.keys.find(key.String(), append(a.desk.Scopes(), page.ScopeEverywhere))
		isCommand := a.Dialog == nil && (!a.desk.Typing() || len(key.Text) == 0)
		if act != nil && isCommand && act.Is(page.NotAhead) {
			a.Messages.Say(a.Say("%s was pressed before the call was there; press it again", act.ID))
			if rest := typedText(presses[i+1:]); rest != "" {
				a.Messages.Fail("not used: "+rest, nil)
			}
			break
		}
		commands = append(commands, a.press(key))
	}
	return tea.Batch(commands...)
}

// typedText returns the text of keys and pastes.
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
