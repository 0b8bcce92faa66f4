package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/page"
)

// mouse is what is known of the mouse, which is off unless somebody wants it: a terminal
// whose mouse a program has selects no text.
type mouse struct {
	on    bool
	x, y  int // Of the latest click.
	click time.Time
}

// How a double click is told from two, and how far a turn of the wheel goes.
const (
	doubleClick = 400 * time.Millisecond
	wheelRows   = 3
)

func (a *app) turnMouse(on bool) tea.Cmd {
	if a.mouse.on = on; on {
		a.Messages.Say("the mouse is on; the terminal selects text with shift held")
	} else {
		a.Messages.Say("the mouse is off")
	}
	return nil
}

// onMouse turns to a tab, chooses a row, opens it at the second click, and scrolls.
func (a *app) onMouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	if a.Dialog != nil || a.layout.TooSmall {
		return nil
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		step := page.Down
		if at.Button == tea.MouseWheelUp {
			step = page.Up
		}
		var commands []tea.Cmd
		for range wheelRows {
			commands = append(commands, a.pages[a.current].Scroll(step))
		}
		return tea.Batch(commands...)
	case tea.MouseClickMsg:
		a.Day.Guard.Touch(a.Day.Now())
		twice := a.mouse.x == at.X && a.mouse.y == at.Y && a.Day.Now().Sub(a.mouse.click) < doubleClick
		a.mouse.x, a.mouse.y, a.mouse.click = at.X, at.Y, a.Day.Now()
		if at.Button != tea.MouseLeft {
			return nil
		}
		if at.Y == 0 {
			return a.clickTab(at.X)
		}
		rows, hasRows := a.pages[a.current].(page.Clicked)
		if !hasRows {
			return nil
		}
		cmd, onRow := rows.Click(at.X, at.Y-1-len(a.banner()))
		if opener, opens := a.pages[a.current].(page.Opener); onRow && twice && opens && opener.WhyNotOpen() == "" {
			return tea.Batch(cmd, opener.OpenRecord())
		}
		return cmd
	default:
		return nil
	}
}

// clickTab turns to the page whose tab stands at a column.
func (a *app) clickTab(x int) tea.Cmd {
	if x >= a.layout.Width-render.Width(a.corner()) {
		return nil
	}
	line, at, clicked := ansi.Strip(a.tabs()), 0, -1
	for i := range pageNames {
		next := strings.Index(line[at:], fmt.Sprintf(" %d", i+1))
		if next < 0 || at+next > x {
			break
		}
		at, clicked = at+next+1, i
	}
	if clicked < 0 {
		return nil
	}
	return a.show(clicked, nil)
}

// recordFound tells which record has a UUID that was asked for.
type recordFound struct {
	ref   page.Reference
	there bool
	err   error
}

// recordOption opens the record whose UUID was typed.
func (a *app) recordOption(text string) []page.Option {
	id, err := apitype.ParseUUID(strings.TrimSpace(text))
	if err != nil {
		return nil
	}
	return []page.Option{{Key: "enter", Label: "open the record " + id.String(), Run: func() tea.Cmd {
		return func() tea.Msg { return findRecord(a.Ctx, a.Day.Client, id) }
	}}}
}

// findRecord asks for a call, a person and a pledge of that UUID.
func findRecord(ctx context.Context, client *apiclient.Client, id apitype.UUID) recordFound {
	var failed error
	for _, try := range []struct {
		kind page.Kind
		get  func() error
	}{
		{page.KindCall, func() error { _, err := client.Calls.Get(ctx, id); return err }},
		{page.KindPerson, func() error { _, err := client.Persons.Get(ctx, id); return err }},
		{page.KindPledge, func() error { _, err := client.Pledges.Get(ctx, id); return err }},
	} {
		err := try.get()
		if err == nil {
			return recordFound{ref: page.Reference{Kind: try.kind, ID: id}, there: true}
		}
		if kind := apiclient.KindOf(err); failed == nil && kind != apiclient.KindNotFound {
			failed = err
		}
	}
	return recordFound{ref: page.Reference{ID: id}, err: failed}
}

func (a *app) onFound(found recordFound) tea.Cmd {
	switch {
	case found.err != nil:
		a.FailRead("cannot open "+found.ref.ID.String(), found.err)
		return nil
	case !found.there:
		a.Messages.Refuse("there is no call, person or pledge " + found.ref.ID.String())
		return nil
	default:
		return a.Jump(found.ref)
	}
}
