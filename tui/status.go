package tui

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"fundesk/render"
	"fundesk/tui/desk/connection"
	"fundesk/tui/page"
	"fundesk/tui/widget"
)

// mostProfile is the width of a profile's name, in cells.
const mostProfile = 20

// corner names the service and the state of the connection.
func (a *app) corner() string {
	text := ""
	if a.Day.Changes.Drafts.Trouble() != nil {
		text += a.Styles.Bad(a.Say("draft not saved")) + " "
	}
	if a.Day.Offline != "" {
		text += a.Styles.Bad(strings.Replace(a.Say(a.Day.Offline), "service ", a.Say("service")+" ", 1)) + " "
	} else if a.Day.Changes.Waiting() > len(a.Day.Changes.Held) {
		text += a.Styles.Warn(a.Say("%d unsent", a.Day.Changes.Waiting())) + " "
	}
	if n := len(a.Day.Changes.Entries) - a.Day.Changes.Waiting(); n > 0 {
		text += a.Styles.Bad(a.Say("%d refused", n)) + " "
	}
	corners := a.corners(text)
	most := a.namedTabs(cmp.Or(text, corners[len(corners)-1]))
	for _, corner := range corners {
		if a.namedTabs(corner) >= most { // The names of the pages come before all but the clock.
			return corner
		}
	}
	return text
}

// corners returns what the corner may show after a text, the longest first. The last one has the clock alone.
func (a *app) corners(text string) []string {
	name := page.Clean(a.profile)
	parts := []string{widget.Fit(name, min(render.Width(name), mostProfile))}
	if a.layout.Panes == 3 && a.Day.Agent != nil && a.Day.AgentName(*a.Day.Agent) != "" {
		parts = append(parts, page.Clean(a.Day.AgentName(*a.Day.Agent)))
	}
	clock := len(parts)
	parts = append(parts, a.Day.Now().Local().Format("15:04"))
	called, reached := a.Day.Work.Counts()
	if called > 0 && a.layout.Panes == 3 {
		parts = append(parts, a.Say("%d called, %d reached", called, reached))
	} else if a.Day.Offline == "" {
		parts = append(parts, a.Say("online"))
	}
	drawn := func(parts []string) string { return text + a.Styles.Dim(strings.Join(parts, " · ")) + " " }
	var all []string
	for i := range clock + 1 {
		all = append(all, drawn(parts[i:]))
	}
	return append(all, drawn(parts[clock:clock+1]))
}

// namedTabs returns how many pages have their names beside a corner.
func (a *app) namedTabs(corner string) int {
	room := a.layout.Width - render.Width(corner)
	named := len(pageTitles)
	for named > 0 && render.Width(a.tabNames(named, "")) >= room {
		named--
	}
	return named
}

// leastNews is the least width of a message next to a held change, in cells.
const leastNews = 16

// status returns the line above the footer: the held change, and the message.
func (a *app) status() string {
	width, changes := a.layout.Width, a.Day.Changes
	if len(changes.Held) == 0 {
		return a.news(width)
	}
	left := changes.Held[len(changes.Held)-1].Until.Sub(a.Day.Now())
	hasErrors := len(a.Messages.Errors) > 0
	hasNews := hasErrors || a.Messages.IsSaid()
	if a.Day.Offline != "" && left <= 0 && hasNews {
		return a.news(width) // Changes that wait for the service have a line above the page.
	}
	sign, bar := a.Styles.DueSign+" ", ""
	if a.layout.Panes > 1 && a.Day.Offline == "" { // Next to the time, so that a second changes one place of the line.
		bar = " " + strings.Fields(a.HoldBar(left))[0]
	}
	forHeld := width - a.newsWidth()
	label, rest := changes.HeldParts(a.KeyOf(page.ActUndo), false)
	if render.Width(sign+page.Clean(label)+bar+rest) > forHeld {
		label, rest = changes.HeldParts(a.KeyOf(page.ActUndo), true)
	}
	rest = bar + rest
	label = page.Clean(label)
	if render.Width(sign+label+rest) > forHeld {
		label = strings.Replace(label, strings.Split(a.Say("%s there (%s here)"), "%s")[1], " (", 1)
	}
	held := sign + widget.Fit(label, min(render.Width(label), max(forHeld-render.Width(sign+rest), 1))) + rest
	room := width - render.Width(held) - 2
	isAside := a.Messages.IsSaid() && a.Messages.Aside && !hasErrors
	if room < leastNews || isAside {
		return a.Styles.Held(widget.Fit(held, width))
	}
	return a.Styles.Held(held) + "  " + a.news(room)
}

// newsWidth returns the room that a message needs next to a held change: it tells what is next, and the name of what is
// held gives way. Most of the line stays for the held change.
func (a *app) newsWidth() int {
	if !a.Messages.IsSaid() || a.Messages.Aside {
		return 0
	}
	return min(render.Width(page.Clean(a.Messages.Latest()))+2, a.layout.Width*3/5)
}

// news returns the reply to a key, an error, an offer, or the latest message.
func (a *app) news(width int) string {
	said := a.Messages.IsSaid()
	offer, does := a.Day.Transitions.Proposed()
	trouble := a.Day.Changes.Drafts.Trouble()
	n := len(a.Messages.Errors)
	if a.Messages.Standing != "" { // A key ends it, and shows the errors again.
		n = 0
	}
	suffix := ""
	if n == 1 {
		suffix = a.Say("  (%s dismisses)", a.KeyOf(page.ActDismiss))
	} else if n > 1 {
		suffix = a.Say("  (%d errors, %s dismisses)", n, a.KeyOf(page.ActDismiss))
	}
	if room := width - render.Width(suffix); room < leastNews {
		suffix = ""
	} else {
		width = room
	}
	line := widget.Fit("", width)
	switch {
	case said && a.Messages.Reply:
		line = widget.Fit(page.Clean(a.Messages.Latest()), width)
	case offer != "" && a.current == page.DeskPage:
		key := ": " + a.KeyOf(page.ActAccept) + " " + does
		offer = page.Clean(offer)
		line = a.Styles.Held(
			widget.Fit(widget.Fit(offer, max(min(render.Width(offer), width-render.Width(key)), 0))+key, width),
		)
	case n > 0:
		line = a.Styles.Bad(widget.Fit(a.Styles.WarnSign+" "+page.Clean(a.Messages.Errors[0].Text), width))
	case said:
		line = widget.Fit(page.Clean(a.Messages.Latest()), width)
	case trouble != nil:
		cause := page.Clean(a.Say(connection.Cause(trouble)))
		line = a.Styles.Bad(widget.Fit(a.Say("the draft is not saved")+": "+cause, width))
	}
	return line + a.Styles.Dim(suffix)
}

// banner returns the lines above the page: a pause, and while the service cannot be reached, or the login has ended,
// the service, the reason and the next steps.
func (a *app) banner() []string {
	var lines []string
	if paused := a.Day.Pause.Text(); paused != "" {
		lines = append(lines, a.Styles.Held(a.centred(paused)))
	}
	if a.Day.Offline != "" {
		lines = append(lines, a.offlineLines()...)
	}
	return lines
}

// centred puts a text in the middle of a line.
func (a *app) centred(text string) string {
	margin := max(a.layout.Width-render.Width(text), 0) / 2
	return widget.Fit(strings.Repeat(" ", margin)+text, a.layout.Width)
}

// noConnection returns why the service cannot be reached. It names the service once: most reasons do.
func (a *app) noConnection() string {
	reason, base := cmp.Or(a.Day.Reason, a.Day.Offline), a.Day.Client.BaseURL()
	if at, err := url.Parse(base); err == nil && strings.Contains(reason, at.Host) {
		return a.Say("No connection: %s.", a.Say(reason))
	}
	if strings.HasPrefix(a.Day.Offline, "service ") { // It answers.
		return a.Say("The service at %s answers with an error: %s.", base, a.Say(reason))
	}
	return a.Say("No connection to %s: %s.", base, a.Say(reason))
}

// offlineLines returns why nothing is read or sent, and the next steps.
func (a *app) offlineLines() []string {
	text := a.noConnection()
	if a.Day.LoggedOut {
		text = a.Say(
			"The login at %s has ended: %s.",
			a.Day.Client.BaseURL(),
			a.Say(cmp.Or(a.Day.Reason, a.Day.Offline)),
		)
		if a.login != "" {
			text += " " + a.Say(a.login) + "."
		}
	}
	if a.Day.Stranger {
		text = a.Say(
			"The token at %s belongs to another account: you get no calls and nothing is sent.",
			a.Day.Client.BaseURL(),
		)
		text += " " + a.Say(a.login)
		text += ". " + a.Say(
			"Log in as before, or quit and start again as the other account; changes that wait here stay with this "+
				"one.",
		)
	}
	every := a.pollEvery()
	text += " " + a.Say("Next try in %d s, %s tries now.", every-a.beats%every, a.KeyOf(page.ActRefresh))
	if n := a.Day.Changes.Waiting(); n > 0 {
		text += " " + a.Say("%s and will be sent then.", a.Day.Count(n, "change is kept", "changes are kept"))
	} else {
		text += " " + a.Say("What you do is kept and will be sent then.")
	}
	lines := widget.Wrap(page.Clean(text), min(a.layout.Width-4, 100))
	for i, line := range lines {
		lines[i] = a.Styles.Bad(a.centred(line))
	}
	return lines
}

// ticked comes once a second.
type ticked struct{}

// footer returns the last line: the keys that work now, with their words as far as there is room. Keys that the card
// names get theirs last. Keys without words come at the end.
func (a *app) footer() string {
	if a.Dialog != nil {
		return a.hintLine(a.Dialog.Hints())
	}
	typing := a.isTyping()
	acts := slices.DeleteFunc(
		a.keys.in(append(a.pages[a.current].Scopes(), page.ScopeEverywhere)),
		func(act *action) bool {
			return act.Word == "" || len(act.keys) == 0 || typing && !act.Is(page.InText) || a.whyNot(act) != ""
		},
	)
	rank := func(act *action) int {
		if act.ID == page.ActHelp || act.ID == page.ActUndo {
			return 0
		}
		if act.Is(page.NamedOnCard) {
			return 3
		}
		if act.Is(page.IsRare) {
			return 2
		}
		return 1
	}
	items, keys := make([]string, len(acts)), make([]string, len(acts))
	also := a.Say("also")
	used, left := render.Width(also), len(acts)
	for i, act := range acts {
		keys[i] = a.Styles.Key(a.Styles.KeyNames(act.keys[0]))
		used += 1 + render.Width(keys[i])
	}
	for wanted := range 4 {
		for i, act := range acts {
			word := " " + a.Say(act.Word)
			if act.ID == page.ActUndo {
				word = " " + a.undoWord()
			}
			needs := render.Width(word) + 1
			if left == 1 { // Then none is without its word.
				needs -= render.Width(also) + 2
			}
			if rank(act) == wanted && used+needs <= a.layout.Width {
				items[i], keys[i], used, left = keys[i]+word, "", used+needs, left-1
			}
		}
	}
	isEmpty := func(item string) bool { return item == "" }
	items = slices.DeleteFunc(items, isEmpty)
	if left > 0 {
		items = append(items, a.Styles.Dim(also)+" "+strings.Join(slices.DeleteFunc(keys, isEmpty), " "))
	}
	return widget.Fit(strings.Join(items, "  "), a.layout.Width)
}

// undoWord names what undo takes back. If there is room, it adds the donor of the last held change.
func (a *app) undoWord() string {
	held := a.Day.Changes.Held
	if len(held) == 0 || a.layout.Panes < 3 {
		return a.Say("undo")
	}
	_, name, named := strings.Cut(held[len(held)-1].Label, ": ")
	if !named {
		return a.Say("undo")
	}
	name, _, _ = strings.Cut(name, ", ") // Without the time of a callback.
	name = strings.Join(strings.Fields(page.Clean(name)), " ")
	return a.Say("undoes %s", widget.Fit(name, min(render.Width(name), mostProfile)))
}

func (a *app) hintLine(hints []page.Hint) string {
	items := make([]string, 0, len(hints))
	for _, h := range hints {
		items = append(items, a.Styles.Key(a.Styles.KeyNames(h.Key))+" "+a.Say(h.Does))
	}
	return widget.Fit(strings.Join(items, "  "), a.layout.Width)
}
