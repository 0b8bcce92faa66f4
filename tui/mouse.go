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

// mouse is the state of the mouse. It is off by default, because a terminal cannot select text while a program has the
// mouse.
type mouse struct {
	on    bool
	x, y  int // Of the latest click.
	click time.Time
}

// The longest time between the clicks of a double click, and the lines of one turn of the wheel.
const (
	doubleClick = 400 * time.Millisecond
	wheelRows   = 3
)

func (a *app) turnMouse(on bool) tea.Cmd {
	a.mouse.on = on
	if on {
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
		if cmd, isStale := a.wake("click", false); isStale {
			return cmd
		} else if cmd != nil {
			return tea.Batch(cmd, a.onMouse(msg))
		}
		a.Day.Keys.Touch(a.Day.Now())
		twice := a.mouse.x == at.X && a.mouse.y == at.Y && a.Day.Now().Sub(a.mouse.click) < doubleClick
		a.mouse.x, a.mouse.y, a.mouse.click = at.X, at.Y, a.Day.Now()
		if at.Y == 0 && at.Button == tea.MouseLeft {
			return a.clickTab(at.X)
		}
		rows, hasRows := a.pages[a.current].(page.Clicked)
		hasDialled := twice && a.current == page.DeskPage // By the first click.
		if !hasRows || hasDialled || at.Button != tea.MouseLeft {
			return nil
		}
		cmd, onRow := rows.Click(at.X, at.Y-1-len(a.banner()))
		opener, opens := a.pages[a.current].(page.Opener)
		isOpening := onRow && twice && opens
		if isOpening && opener.WhyNotOpen() == "" {
			return tea.Batch(cmd, opener.OpenRecord())
		}
		return cmd
	default:
		return nil
	}
}

// clickTab turns to the page whose tab is at a column.
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
	return a.Turn(clicked)
}

// recordOption offers to open the record whose UUID was typed.
func (a *app) recordOption(text string) []page.Option {
	id, err := apitype.ParseUUID(strings.TrimSpace(text))
	if err != nil {
		return nil
	}
	return []page.Option{{Key: "enter", Label: a.Say("open the record %s", id), Run: func() tea.Cmd {
		return page.LoadFront(
			a.Env,
			"record found",
			func(ctx context.Context) (apitype.EntityName, error) { return findRecord(ctx, a.Day.Client, id) },
			func(kind apitype.EntityName, err error) tea.Cmd {
				switch {
				case apiclient.KindOf(err) == apiclient.KindNotFound:
					a.Messages.Refuse(a.Say("there is no call, person or pledge %s", id))
				case err != nil:
					a.FailRead(a.Say("cannot open %s", id), err)
				default:
					return a.Jump(page.Reference{Kind: kind, ID: id})
				}
				return nil
			},
		)
	}}}
}

// findRecord asks for a call, a person and a pledge of that UUID. Without one, it returns the most helpful error.
func findRecord(
	ctx context.Context,
	client *apiclient.Client,
	id apitype.UUID,
) (apitype.EntityName, error) {
	var failed error
	for _, of := range []struct {
		kind apitype.EntityName
		get  func() error
	}{
		{apitype.EntityCall, func() error { _, err := client.Calls.Get(ctx, id); return err }},
		{apitype.EntityPerson, func() error { _, err := client.Persons.Get(ctx, id); return err }},
		{apitype.EntityPledge, func() error { _, err := client.Pledges.Get(ctx, id); return err }},
	} {
		err := of.get()
		if err == nil {
			return of.kind, nil
		}
		if failed == nil || apiclient.KindOf(failed) == apiclient.KindNotFound {
			failed = err
		}
	}
	return "", failed
}
