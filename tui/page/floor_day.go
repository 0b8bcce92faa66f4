package page

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/tui/widget"
)

// leastForDay is the least number of rows that the agents leave, for the day of the chosen one.
const leastForDay = 8

// agentDay is the last reading of an agent's work of today.
type agentDay struct {
	user apitype.UUID
	agentToday
}

// floorParts are the lines around the table of agents, and the rows that they leave to it.
type floorParts struct {
	look, waiting, today []string
	rows                 int
}

// partsOf draws the parts around the agents.
func (v *Floor) partsOf(l Layout, width int) floorParts {
	p := floorParts{look: v.lookLines(width), waiting: v.waitingLines(width), today: v.todayLines(width)}
	if l.Body < leastForView+len(p.look)+len(p.waiting)+len(p.today) {
		p.today = nil
	}
	p.rows = l.Body - len(p.look) - len(p.waiting) - 3 // The edges, and the rule above what waits.
	if len(p.today) > 0 {
		p.rows -= len(p.today) + 1
	}
	return p
}

// hasDay reports whether there is room for the day of an agent below a table with some rows.
func (v *Floor) hasDay(rows int) bool {
	return v.isKept() && len(v.agents) > 0 && rows-len(v.agents)-2 >= leastForDay
}

// isKept reports whether the service keeps what agents did.
func (v *Floor) isKept() bool {
	return v.Day.Client != nil && v.Day.Client.Announces(apitype.ExtensionAttempts)
}

// dayLines draws what the chosen agent did today, the newest first.
func (v *Floor) dayLines(frame widget.Frame, height int) []string {
	a := v.agents[min(v.table.Cursor(), len(v.agents)-1)]
	lines := []string{frame.Rule(v.Styles.bold(v.queueAgent(a)+" · "+v.Say("Today")), "")}
	if v.day.user == a.UserUUID {
		for _, line := range v.workLines(v.day.work) {
			lines = append(lines, frame.Line(" "+line))
		}
	}
	for len(lines) < height {
		lines = append(lines, frame.Line(""))
	}
	return lines[:height]
}

// readDay reads what the chosen agent did today, if there is room to show it. The next poll tries again what failed.
func (v *Floor) readDay() tea.Cmd {
	frame := v.Styles.frame(v.layout, v.layout.Width)
	if v.table.Cursor() >= len(v.agents) || !v.hasDay(v.partsOf(v.layout, frame.Inner()).rows) {
		return nil
	}
	user, now := v.agents[v.table.Cursor()].UserUUID, v.Day.Now()
	v.moves++
	read := func(ctx context.Context) (agentToday, error) { return readAgent(ctx, v.Day.Client, user, now) }
	return loadAs(v.Env, "day of an agent read", &v.moves, read, func(is agentToday, err error) tea.Cmd {
		if err == nil {
			v.day = agentDay{user, is}
		}
		return nil
	})
}

// cursorMoved reads the day of the chosen agent once the cursor pauses.
func (v *Floor) cursorMoved() tea.Cmd {
	v.moves++
	moves := v.moves
	if v.PreviewPause == 0 {
		return v.readDay()
	}
	return tea.Tick(v.PreviewPause, func(time.Time) tea.Msg {
		return Result{"cursor rested", func() tea.Cmd {
			if moves != v.moves {
				return nil
			}
			return v.readDay()
		}}
	})
}
