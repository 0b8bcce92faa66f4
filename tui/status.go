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
	if a.Changes.Trouble != nil {
		text += a.Styles.Bad("draft not saved") + " "
	}
	switch {
	case a.Offline != "":
		text += a.Styles.Bad(a.Offline) + " "
	case a.Changes.Unsent() > 0:
		text += a.Styles.Warn(fmt.Sprintf("%d unsent", a.Changes.Unsent())) + " "
	}
	if n := len(a.Changes.Entries) - a.Changes.Unsent(); n > 0 {
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

// leastNews is how many cells a message needs beside what is held.
const leastNews = 16

// status is the line above the footer: what is held, and after it, or alone, what there is to say.
func (a *app) status() string {
	width := a.layout.Width
	held := a.Changes.HeldText(a.KeyOf(page.ActUndo))
	if held == "" || a.Offline != "" && !a.Changes.Held[len(a.Changes.Held)-1].Until.After(a.Now()) && (len(a.Errors) > 0 || a.IsSaid()) {
		return a.news(width) // What waits for the service has its line above the page.
	}
	held = a.Styles.DueSign + " " + page.Clean(held)
	label := page.Clean(a.Changes.Held[len(a.Changes.Held)-1].Label)
	if render.Width(held) > width {
		held = strings.NewReplacer(", sent in ", ", ", " takes it back", " undo").Replace(held)
	}
	if render.Width(held) > width {
		there := strings.NewReplacer(" there (", " (")
		held, label = there.Replace(held), there.Replace(label)
	}
	if over := render.Width(held) - width; over > 0 { // What it is may be cut, not the way back.
		held = strings.Replace(held, label, widget.Fit(label, max(render.Width(label)-over, 1)), 1)
	}
	room := width - render.Width(held) - 2
	if room < leastNews || a.IsSaid() && a.Aside && len(a.Errors) == 0 {
		return a.Styles.Held(widget.Fit(held, width))
	}
	return a.Styles.Held(held) + "  " + a.news(room)
}

// news is the reply to a key, an error, an offer, or the latest message.
func (a *app) news(width int) string {
	said := a.IsSaid()
	offer, does := a.Gate.Offered()
	n := len(a.Errors)
	suffix := ""
	switch {
	case n == 1:
		suffix = "  (" + a.KeyOf(page.ActDismiss) + " dismisses)"
	case n > 1:
		suffix = fmt.Sprintf("  (%d errors, %s dismisses)", n, a.KeyOf(page.ActDismiss))
	}
	if room := width - render.Width(suffix); room < leastNews {
		suffix = ""
	} else {
		width = room
	}
	line := widget.Fit("", width)
	switch {
	case said && a.Reply:
		line = widget.Fit(page.Clean(a.Text), width)
	case offer != "" && a.current == page.DeskPage:
		key := ": " + a.KeyOf(page.ActAccept) + " " + does
		offer = page.Clean(offer)
		line = a.Styles.Held(widget.Fit(widget.Fit(offer, max(min(render.Width(offer), width-render.Width(key)), 0))+key, width))
	case n > 0:
		line = a.Styles.Bad(widget.Fit(a.Styles.WarnSign+" "+page.Clean(a.Errors[0].Text), width))
	case said:
		line = widget.Fit(page.Clean(a.Text), width)
	case a.Changes.Trouble != nil:
		line = a.Styles.Bad(widget.Fit("the draft is not saved: "+page.Clean(desk.Cause(a.Changes.Trouble)), width))
	}
	return line + a.Styles.Dim(suffix)
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
			text += " " + a.login + "."
		}
	}
	every := a.pollEvery()
	text += fmt.Sprintf(" Next try in %d s, %s tries now.", every-a.beats%every, a.KeyOf(page.ActRefresh))
	if n := a.Changes.Unsent(); n > 0 {
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
