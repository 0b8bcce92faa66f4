package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/page"
	"fundesk/tui/widget"
)

// mostProfile is how many cells a profile's name gets.
const mostProfile = 20

// corner says which service, and whether it can be reached.
func (a *app) corner() string {
	text := ""
	if a.Trouble != nil {
		text += a.Styles.Bad("draft not saved") + " "
	}
	switch {
	case a.Offline != "":
		text += a.Styles.Bad(a.Offline) + " "
	case a.Unsent() > 0:
		text += a.Styles.Warn(fmt.Sprintf("%d unsent", a.Unsent())) + " "
	}
	if n := len(a.Entries) - a.Unsent(); n > 0 {
		text += a.Styles.Bad(fmt.Sprintf("%d refused", n)) + " "
	}
	name := page.Clean(a.profile)
	parts := []string{widget.Fit(name, min(render.Width(name), mostProfile))}
	if a.layout.Panes == 3 { // There is room.
		if a.Agent != nil && a.Agents[*a.Agent] != "" {
			parts = append(parts, page.Clean(a.Agents[*a.Agent]))
		}
		if parts = append(parts, a.Now().Local().Format("15:04")); a.Offline == "" {
			parts = append(parts, "online")
		}
	}
	return text + a.Styles.Dim(strings.Join(parts, " · ")) + " "
}

// status is the line above the footer: an error, what is held, or the latest message.
func (a *app) status() string {
	width := a.layout.Width
	said := a.IsSaid()
	if n := len(a.Errors); n > 0 {
		suffix := "  (" + a.KeyOf(page.ActDismiss) + " dismisses)"
		if n > 1 {
			suffix = fmt.Sprintf("  (%d errors, %s dismisses)", n, a.KeyOf(page.ActDismiss))
		}
		if said && a.Reply {
			return widget.Fit(page.Clean(a.Text), width-render.Width(suffix)) + a.Styles.Dim(suffix)
		}
		text := a.Styles.WarnSign + " " + page.Clean(a.Errors[0])
		return a.Styles.Bad(widget.Fit(text, width-render.Width(suffix))) + a.Styles.Dim(suffix)
	}
	if said && (len(a.Held) == 0 || !a.Aside) {
		return widget.Fit(page.Clean(a.Text), width)
	}
	if held := a.HeldText(a.KeyOf(page.ActUndo)); held != "" {
		return a.Styles.Held(widget.Fit(a.Styles.DueSign+" "+page.Clean(held), width))
	}
	if a.Trouble != nil {
		return a.Styles.Bad(widget.Fit("the draft is not saved: "+page.Clean(desk.Cause(a.Trouble)), width))
	}
	return widget.Fit("", width)
}

// standing is what stands above the page while the service cannot be reached, or the login has
// ended: which service, why, what happens next, and what there is to do.
func (a *app) banner() []string {
	if a.Offline == "" {
		return nil
	}
	text := "No connection to " + a.Client.BaseURL() + ": " + cmp.Or(a.Reason, a.Offline) + "."
	if a.LoggedOut {
		text = "The login at " + a.Client.BaseURL() + " has ended: " + cmp.Or(a.Reason, a.Offline) + "."
		if a.login != "" {
			text += " Log in from another terminal: " + a.login + "."
		}
	}
	every := a.pollEvery()
	text += fmt.Sprintf(" Next try in %d s, %s tries now.", every-a.beats%every, a.KeyOf(page.ActRefresh))
	if n := a.Unsent(); n > 0 {
		text += " " + render.Plural(n, "change is", "changes are") + " kept, and sent then."
	} else {
		text += " What you do is kept, and sent then."
	}
	lines := widget.Wrap(page.Clean(text), min(a.layout.Width-4, 100))
	for i, line := range lines {
		margin := max(a.layout.Width-render.Width(line), 0) / 2
		lines[i] = a.Styles.Bad(widget.Fit(strings.Repeat(" ", margin)+line, a.layout.Width))
	}
	return lines
}

// ticked comes once a second.
type ticked struct{}

func everySecond() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return ticked{} })
}
