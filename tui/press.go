package tui

import (
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// press runs what a key is bound to, or hands it to whoever is being typed at.
func (a *app) press(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if esc, then, both := escThen(msg); both {
		return tea.Batch(a.press(esc), a.press(then))
	}
	if a.layout.tooSmall {
		return a.pressUnseen(msg)
	}
	if a.dialog != nil {
		open := a.dialog
		becomes, cmd := open.key(msg)
		// The choice may have opened the next dialog already.
		if becomes != stays && a.dialog == open {
			a.dialog = nil
		}
		if becomes == passes {
			return a.press(msg)
		}
		a.Guard.Press(name, msg.IsRepeat, false, a.Now())
		return cmd
	}
	current := a.pages[a.current]
	act := a.keys.find(name, append(current.scopes(), scopeEverywhere))
	if current.typing() {
		if act == nil || !act.is(inText) || len(msg.Text) > 0 {
			a.Guard.Press(name, msg.IsRepeat, false, a.Now())
			return current.text(msg)
		}
		return a.runKey(act, msg)
	}
	if act == nil {
		a.Guard.Press(name, msg.IsRepeat, false, a.Now())
		return nil
	}
	return a.runKey(act, msg)
}

// runKey is run for an action that a key asked for: one that ends a call must have been
// meant for the call on screen.
func (a *app) runKey(act *action, msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if a.Guard.Press(name, msg.IsRepeat, act.is(endsCall), a.Now()) && a.whyNot(act) == "" {
		a.refuse(keyName(name) + " came too soon after this call did: press it again")
		return nil
	}
	return a.run(act)
}

// escThen takes a key with alt apart: a terminal sends the same for it as for esc and
// the key after it, and who is quick at leaving the notes presses those. Alt with b and
// f moves over words.
func escThen(msg tea.KeyPressMsg) (esc, then tea.KeyPressMsg, both bool) {
	if msg.Mod&^tea.ModShift != tea.ModAlt || !unicode.IsPrint(msg.Code) || msg.Code == 'b' || msg.Code == 'f' {
		return esc, then, false
	}
	r := msg.Code
	if msg.Mod.Contains(tea.ModShift) {
		if r = unicode.ToUpper(r); msg.ShiftedCode != 0 {
			r = msg.ShiftedCode
		}
	}
	return tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: r, Text: string(r)}, true
}

// pressUnseen is press where the terminal is too small to show anything: text goes on
// to where it is typed, and nothing is done that the user cannot see.
func (a *app) pressUnseen(msg tea.KeyPressMsg) tea.Cmd {
	current := a.pages[a.current]
	if p, asks := a.dialog.(*prompt); asks && len(msg.Text) > 0 {
		p.paste(msg.Text)
		return nil
	}
	if a.dialog == nil && current.typing() && !strings.HasPrefix(msg.String(), "ctrl+") && msg.String() != "esc" {
		return current.text(msg)
	}
	switch act := a.keys.find(msg.String(), []scope{scopeEverywhere}); {
	case act == nil:
		return nil
	case act.id == "quit" && a.Trouble == nil && (len(msg.Text) == 0 || a.dialog == nil):
		return a.finish() // What was typed is kept as a draft.
	case act.is(whenSmall):
		return a.run(act)
	}
	return nil
}

func (a *app) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case a.dialog != nil:
		a.dialog.paste(msg.Content)
		return nil
	case a.pages[a.current].typing():
		return a.pages[a.current].text(msg)
	default:
		return nil // Pasted text must never run keys.
	}
}

// flushDrafts saves what is typed, and leaves the outbox as it is until the program is
// stopped.
func (a *app) flushDrafts() tea.Msg {
	_ = a.Autosave.Flush() // It is tried again, and told, when the program goes on.
	a.Outbox.Still(suspendTime)
	return nil
}

// suspendTime is how long the program may take to be stopped.
const suspendTime = 2 * time.Second

// run runs an action, unless something speaks against it: then it says what.
func (a *app) run(act *action) tea.Cmd {
	if why := a.whyNot(act); why != "" {
		a.refuse(why)
		return nil
	}
	return act.run(a)
}

func (a *app) whyNot(act *action) string {
	if act.why == nil {
		return ""
	}
	return act.why(a)
}

func (a *app) whyNotUndo() string {
	if len(a.Held) == 0 {
		return "nothing to undo: no change is held"
	}
	return ""
}

func (a *app) whyNotDismiss() string {
	if len(a.errors) == 0 {
		return "there is no error to dismiss"
	}
	return ""
}

func (a *app) dismiss() tea.Cmd {
	a.errors = a.errors[1:]
	return nil
}

func (a *app) reveal() tea.Cmd {
	a.revealed = !a.revealed
	return nil
}

func (a *app) suspend() tea.Cmd { return tea.Sequence(a.flushDrafts, tea.Suspend) }

func (a *app) redraw() tea.Cmd {
	if a.canvas == nil {
		return tea.ClearScreen
	}
	a.canvas.Redraw()
	return nil
}

func (a *app) askHelp() tea.Cmd { return a.askAction("Help: type to filter, Enter runs", false) }

func (a *app) askPalette() tea.Cmd { return a.askAction("Run an action", true) }

// askAction lists the actions that work here; picking one runs it.
func (a *app) askAction(title string, byName bool) tea.Cmd {
	scopes := append(slices.Clone(a.pages[a.current].scopes()), scopeEverywhere)
	var options []option
	for _, act := range a.keys.in(scopes) {
		label := act.help
		if byName {
			label = act.id + ": " + act.help
		}
		keys := act.Keys()
		options = append(options, option{
			key: strings.Join(keys[:min(len(keys), 2)], " "), label: label, why: a.whyNot(act),
			run: func() tea.Cmd {
				a.dialog = nil
				return a.run(act)
			},
		})
	}
	a.dialog = &choose{title: title, options: options, filterable: true}
	return nil
}
