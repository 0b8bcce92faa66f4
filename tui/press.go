package tui

import (
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/page"
	"fundesk/tui/widget"
)

// press runs the action of a key, or passes the key to the open editor.
func (a *app) press(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if esc, then, both := escThen(msg); both {
		return tea.Batch(a.press(esc), a.press(then))
	}
	hidErrors := a.Messages.Standing != "" && len(a.Messages.Errors) > 0
	a.Messages.Standing = ""
	isDismissal := name == a.KeyOf(page.ActDismiss) && a.Dialog == nil && !a.isTyping()
	if hidErrors && isDismissal {
		return nil // The agent has not seen them.
	}
	if a.layout.TooSmall {
		return a.pressUnseen(msg)
	}
	if a.Dialog == nil && !a.isTyping() && a.unheard.takes(msg, a.Day.Now()) {
		a.Day.Keys.Touch(a.Day.Now())
		return nil
	}
	if cmd, isStale := a.wake(name, len(msg.Text) > 0); isStale {
		return cmd
	} else if cmd != nil {
		return tea.Batch(cmd, a.press(msg))
	}
	if a.Dialog != nil {
		return a.pressDialog(msg)
	}
	current := a.pages[a.current]
	if a.Day.Pause.IsOn() && !a.looksOnly(name) {
		return a.resume(name)
	}
	if page.TickInstead(a.desk, name) {
		a.Day.Keys.Press(name, msg.IsRepeat, false, a.Day.Now())
		return nil
	}
	act := a.keys.find(name, append(current.Scopes(), page.ScopeEverywhere))
	isText := a.isTyping() && (act == nil || !act.Is(page.InText) || len(msg.Text) > 0)
	isAction := !isText && act != nil
	isAgain := isAction && act.Is(page.NotRepeated) && a.Day.Keys.Bounces(name, msg.IsRepeat, a.Day.Now())
	// An action that ends a call must have been meant for the call on the screen, and pressed again.
	isTooSoon := a.Day.Keys.Press(name, msg.IsRepeat, isAction && act.Is(page.EndsCall), a.Day.Now())
	if isText {
		return a.desk.Text(msg)
	}
	if act == nil {
		a.askAboutCapsLock(name)
		return nil
	}
	a.Messages.Heard()
	why := a.whyNot(act)
	if why == "" && (isTooSoon || isAgain) {
		why = a.Say("%s: press it again, it came too soon", a.Styles.KeyNames(name))
	}
	if why != "" {
		a.refuse(act, name, why)
		return nil
	}
	return act.Run(a.pages[a.current])
}

// pressDialog passes a key to the open dialog, unless the key suspends the program or draws the screen again. A
// question takes no letter for an answer that follows others without a pause: the agent may not have seen it yet.
func (a *app) pressDialog(msg tea.KeyPressMsg) tea.Cmd {
	open := a.Dialog
	a.Day.Keys.Touch(a.Day.Now())
	act := a.keys.find(msg.String(), []page.Scope{page.ScopeEverywhere})
	isOfTerminal := act != nil && act.Is(page.WhenSmall)
	if isOfTerminal && len(msg.Text) == 0 {
		return a.run(act)
	}
	question, isQuestion := open.(*page.Confirm)
	if isQuestion && a.unheard.takes(msg, a.Day.Now()) {
		if question.Answers(msg.String()) {
			a.Messages.Refuse(a.Say("%s: press it again, it came too soon", a.Styles.KeyNames(msg.String())))
		}
		return nil
	}
	becomes, cmd := open.Key(msg)
	if isQuestion && becomes == page.Stays && len(msg.Text) > 0 {
		a.unheard.follow(msg.String(), false, a.Day.Now()) // The agent types what was meant for the card.
	}
	if becomes == page.Closes && len(msg.Text) > 0 && isTextDialog(open) { // Its call has left the Desk.
		a.unheard.followText(a.Day.Now())
	}
	// The choice may have opened the next dialog already.
	if becomes != page.Stays && a.Dialog == open {
		a.Dialog = nil
	}
	if becomes == page.Passes {
		return a.press(msg)
	}
	a.Day.Keys.Count(msg.String(), msg.IsRepeat, a.Day.Now())
	return cmd
}

// refuse shows why the key of an action did nothing.
func (a *app) refuse(act *action, name, why string) {
	a.Messages.Refuse(why)
	if act == nil {
		return
	}
	if asksDigit := act.Is(page.AsksDigit); asksDigit || act.Is(page.OpensLine) {
		a.unheard.follow(name, asksDigit, a.Day.Now())
	}
}

// resume ends a pause. A key that undoes a change does that, too: the change is held only for seconds.
func (a *app) resume(name string) tea.Cmd {
	a.Day.Keys.Touch(a.Day.Now())
	var undoes tea.Cmd
	act := a.keys.find(name, []page.Scope{page.ScopeEverywhere})
	if act != nil && act.ID == page.ActUndo && a.whyNot(act) == "" {
		undoes = act.Run(a.pages[a.current])
	}
	return tea.Batch(undoes, a.Perform(a.Day.Pause.End()))
}

// looksOnly reports whether a key only looks around, or quits. Such a key does not end a pause.
func (a *app) looksOnly(name string) bool {
	act := a.keys.find(name, []page.Scope{page.ScopeEverywhere})
	if act == nil {
		return false
	}
	isLook := slices.Contains([]string{page.ActHelp, "palette", "messages", "quit"}, act.ID)
	return isLook || strings.HasPrefix(act.ID, "page-")
}

// askAboutCapsLock says that an upper-case letter has no meaning.
func (a *app) askAboutCapsLock(name string) {
	if r := []rune(name); len(r) == 1 && unicode.IsUpper(r[0]) {
		a.Messages.Refuse(a.Say("%s does nothing: is Caps Lock on?", name))
	}
}

// wake reads everything on the Desk again after the computer slept. isStale means that the key or click does nothing
// before that is read. Text still reaches its editor.
func (a *app) wake(name string, isText bool) (cmd tea.Cmd, isStale bool) {
	cmd = a.Perform(a.Day.Wake())
	if !a.Day.IsStale() || a.current != page.DeskPage {
		return cmd, false
	}
	_, hasField := a.Dialog.(page.Paster)
	isTyped := hasField || a.isTyping() && isText
	if isTyped || name == "esc" || name == "ctrl+c" {
		return cmd, false
	}
	a.Day.Keys.Touch(a.Day.Now())
	act := a.keys.find(name, append(a.desk.Scopes(), page.ScopeEverywhere))
	a.refuse(act, name, a.Say("%s: press it again, the call is read again after the pause", a.Styles.KeyNames(name)))
	return cmd, true
}

// isTyping reports whether keys are text: only the Desk has a text of its own.
func (a *app) isTyping() bool { return a.current == page.DeskPage && a.desk.Typing() }

// takesText reports whether keys are text, in the notes or in a dialog.
func (a *app) takesText() bool {
	if a.Dialog == nil {
		return a.isTyping()
	}
	return isTextDialog(a.Dialog)
}

// isTextDialog reports whether letters are text in a dialog. In a choice they are keys.
func isTextDialog(dialog page.Dialog) bool {
	_, isChoice := dialog.(*page.Choose)
	_, takes := dialog.(page.Paster)
	return takes && !isChoice
}

// escThen splits a key with alt. A terminal sends the same bytes for it as for esc and the key after it, and an agent
// who leaves the notes quickly presses those. Ctrl with an arrow moves over words.
func escThen(msg tea.KeyPressMsg) (esc, then tea.KeyPressMsg, both bool) {
	if msg.Mod == tea.ModAlt && msg.Code == tea.KeyEscape { // Pressed twice, and read at once.
		return tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: tea.KeyEscape}, true
	}
	if msg.Mod&^tea.ModShift != tea.ModAlt || !unicode.IsPrint(msg.Code) {
		return esc, then, false
	}
	r := msg.Code
	if msg.Mod.Contains(tea.ModShift) {
		r = unicode.ToUpper(r)
		if msg.ShiftedCode != 0 {
			r = msg.ShiftedCode
		}
	}
	return tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: r, Text: string(r)}, true
}

// pressUnseen is press on a terminal that is too small to show anything. Text still reaches its editor, and nothing
// runs that the user cannot see.
func (a *app) pressUnseen(msg tea.KeyPressMsg) tea.Cmd {
	a.Day.Keys.Touch(a.Day.Now())
	if line, takes := a.Dialog.(page.Paster); takes && len(msg.Text) > 0 {
		return line.Paste(msg.Text)
	}
	if a.takesText() && a.Dialog != nil && msg.String() == "backspace" {
		_, cmd := a.Dialog.Key(msg)
		return cmd
	}
	isPart := !strings.HasPrefix(msg.String(), "ctrl+") && msg.String() != "esc" // Of a text.
	if isPart && a.Dialog == nil && a.isTyping() {
		return a.desk.Text(msg)
	}
	if a.Dialog != nil && msg.String() == "ctrl+c" {
		return a.pressDialog(msg) // As elsewhere, it closes what is open, and the next one quits.
	}
	act := a.keys.find(msg.String(), []page.Scope{page.ScopeEverywhere})
	if act == nil {
		return nil
	}
	if act.ID == "quit" && a.Day.Changes.Drafts.Trouble() == nil && a.Dialog == nil {
		return a.finish() // What was typed is kept as a draft.
	}
	if act.Is(page.WhenSmall) {
		return a.run(act)
	}
	return nil
}

func (a *app) paste(msg tea.PasteMsg) tea.Cmd {
	a.Day.Keys.Touch(a.Day.Now())
	text, takes := a.Dialog.(page.Paster)
	if takes {
		return text.Paste(msg.Content)
	}
	if a.Dialog == nil && a.isTyping() {
		return a.desk.Text(msg)
	}
	return nil // Pasted text must never run keys.
}

// suspendTime is the longest time until the program is stopped.
const suspendTime = 2 * time.Second

// run runs an action, or shows the reason why it cannot.
func (a *app) run(act *action) tea.Cmd {
	if why := a.whyNot(act); why != "" {
		a.Messages.Refuse(why)
		return nil
	}
	return act.Run(a.pages[a.current])
}

func (a *app) whyNot(act *action) string {
	if act.Why == nil {
		return ""
	}
	return act.Why(a.pages[a.current])
}

// showMessages lists the past messages, the latest first.
func (a *app) showMessages() tea.Cmd {
	var lines []string
	for _, m := range slices.Backward(a.Messages.Past) {
		lines = append(lines, m.At.Format("15:04:05")+"  "+page.Clean(m.Text))
	}
	a.Dialog = &page.Text{Title: "Messages", Lines: lines}
	return nil
}

// paneStep is the number of cells by which a key resizes a pane.
const paneStep = 4

func (a *app) resizePanes(by int) tea.Cmd {
	a.Kept.Panes = a.layout.Shift + by // It begins no further than there is room.
	cmd := a.Keep()
	a.resize(a.layout.Width, a.layout.Height)
	return cmd
}

func (a *app) suspend() tea.Cmd {
	a.suspended = true
	return tea.Sequence(func() tea.Msg {
		_ = a.Day.Changes.Drafts.Flush() // It is repeated, and reported, when the program goes on.
		a.Day.Outbox.Quiesce(suspendTime)
		return nil
	}, tea.Suspend)
}

// askAction lists the actions that work here; picking one runs it.
func (a *app) askAction(title string, byName bool) tea.Cmd {
	scopes := append(slices.Clone(a.pages[a.current].Scopes()), page.ScopeEverywhere)
	var options []page.Option
	for _, act := range a.keys.in(scopes) {
		label := a.Say(act.Help)
		if byName {
			label = act.ID + ": " + a.Say(act.Help)
		}
		keys := act.keys
		options = append(options, page.Option{
			Key:   strings.Join(keys[:min(len(keys), 2)], " "),
			Label: label,
			Why:   a.whyNot(act),
			Run: func() tea.Cmd {
				a.Dialog = nil
				return a.run(act)
			},
		})
	}
	a.Dialog = &page.Choose{
		Title:      title,
		Options:    options,
		Filterable: true,
		More:       a.recordOption,
	}
	return nil
}

// mostBar is the width of a progress bar, in cells.
const mostBar = 40

// showBatch lists the outcome of each record of the latest bulk action.
func (a *app) showBatch() tea.Cmd {
	b := a.Day.Changes.Batch
	a.Dialog = &page.Text{Title: a.Say(b.Label), Now: func(width int) []string {
		lines := []string{b.Summary(a.Say)}
		if answered := b.Answered(); answered < len(b.Records) {
			lines = append(lines, widget.Bar(answered, len(b.Records), min(width, mostBar), a.ASCII))
		}
		lines = append(lines, "")
		for _, r := range b.Records {
			sign := "  "
			if r.Bad {
				sign = a.Styles.WarnSign + " "
			} else if r.Done {
				sign = a.Styles.OKSign + " "
			}
			lines = append(lines, sign+r.Name+"  "+page.Clean(a.Say(r.State)))
		}
		return lines
	}}
	return nil
}
