package page

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

// view is a common filter of a list, which has a tab.
type view[T any] struct {
	name   string // In English.
	filter string
	// has reports whether a record belongs to the view. Nil means that each does.
	has func(record T, now time.Time) bool
}

// viewCount is the number of records of a view, as far as the list was read.
type viewCount struct {
	n       int
	isLeast bool // More follow.
	isKnown bool
}

// text returns the number for a tab, or an empty text if it is not known.
func (c viewCount) text(e *Env) string {
	if !c.isKnown || c.isLeast && c.n == 0 {
		return ""
	}
	if c.isLeast {
		return " " + e.Day.Locale.Count(c.n) + "+"
	}
	return " " + e.Day.Locale.Count(c.n)
}

// callViews returns the views of the calls. A call is overdue after two weeks, as on the Desk.
func callViews() []view[apitype.Call] {
	return []view[apitype.Call]{
		{name: "All"},
		{name: "Open", filter: "status=requested", has: func(c apitype.Call, _ time.Time) bool {
			return c.Status == apitype.CallRequested
		}},
		{
			name:   "Overdue",
			filter: "status=requested requestedFrom=2000-01-01 requestedUntil=14d",
			has: func(c apitype.Call, now time.Time) bool {
				return c.Status == apitype.CallRequested && now.Sub(c.RequestedAt.Time) > overdue
			},
		},
		{
			name:   "Done today",
			filter: "status=completed completedOn=today updatedAfter=today",
			has: func(c apitype.Call, now time.Time) bool {
				return c.Status == apitype.CallCompleted && c.CompletedAt != nil && isToday(c.CompletedAt.Time, now)
			},
		},
	}
}

func personViews() []view[apitype.Person] {
	return []view[apitype.Person]{
		{name: "All"},
		{name: "New today", filter: "createdAfter=today", has: func(p apitype.Person, now time.Time) bool {
			return isToday(p.CreatedAt.Time, now)
		}},
		{name: "New this week", filter: "createdAfter=7d", has: func(p apitype.Person, now time.Time) bool {
			return now.Sub(p.CreatedAt.Time) < 7*24*time.Hour
		}},
	}
}

func pledgeViews() []view[apitype.Pledge] {
	return []view[apitype.Pledge]{
		{name: "All"},
		pledgesIn("Leads", apitype.PledgeLead),
		pledgesIn("Active", apitype.PledgeActive),
		pledgesIn("Cancelled", apitype.PledgeCancelled),
		{name: "Changed today", filter: "updatedAfter=today", has: func(p apitype.Pledge, now time.Time) bool {
			return isToday(p.UpdatedAt.Time, now)
		}},
	}
}

// pledgesIn returns the view of the pledges with a status.
func pledgesIn(name string, status apitype.PledgeStatus) view[apitype.Pledge] {
	return view[apitype.Pledge]{
		name:   name,
		filter: "status=" + string(status),
		has:    func(p apitype.Pledge, _ time.Time) bool { return p.Status == status },
	}
}

func isToday(at, now time.Time) bool {
	return at.Local().Format(time.DateOnly) == now.Local().Format(time.DateOnly)
}

// viewsOf returns the views that a record belongs to, a bit for each.
func (l *List[T]) viewsOf(record T) uint8 {
	var bits uint8
	for i, v := range l.views {
		if v.has != nil && v.has(record, l.Day.Now()) {
			bits |= 1 << i
		}
	}
	return bits
}

// current returns the index of the view in front, or -1 for another filter.
func (l *List[T]) current() int {
	for i, v := range l.views {
		if v.filter == l.filter {
			return i
		}
	}
	return -1
}

// countViews counts the records of the views. The first view has those of all others, and a read of it costs nothing
// more. Another view counts itself alone.
func (l *List[T]) countViews() {
	current, isLeast := l.current(), l.More || l.mayBeCut
	if current > 0 {
		l.counts[current] = viewCount{len(l.Rows), isLeast, true}
	}
	if current != 0 {
		return
	}
	l.counts[0] = viewCount{len(l.Rows), isLeast, true}
	l.counted = l.Day.Now()
	for i := range l.views[1:] {
		count := viewCount{0, isLeast, true}
		for _, row := range l.Rows {
			count.n += int(row.views >> (i + 1) & 1)
		}
		l.counts[i+1] = count
	}
}

// moveBetweenViews counts a record in the views that it belongs to now, and no more in those of before. The view in
// front is counted by its rows.
func (l *List[T]) moveBetweenViews(before, now uint8) {
	for i := range l.counts {
		if l.counts[i].isKnown && i != l.current() {
			l.counts[i].n += int(now>>i&1) - int(before>>i&1)
		}
	}
}

// viewTabs draws the views in a width, the one in front on the ground of the accent. Counts of the others go first if
// there is no room.
func (l *List[T]) viewTabs(width int) []string {
	tabs := make([]string, len(l.views))
	for _, hasCounts := range []bool{true, false} {
		used := 0
		for i, v := range l.views {
			name, count := l.Say(v.name), ""
			if hasCounts || i == l.current() {
				count = l.counts[i].text(l.Env)
			}
			tabs[i] = " " + name + l.Styles.Dim(count) + " "
			if i == l.current() {
				tabs[i] = l.Styles.Tab(" " + name + count + " ")
			}
			used += render.Width(tabs[i])
		}
		if used <= width {
			break
		}
	}
	return tabs
}

// clickView turns to the view whose tab is at a cell of the first line.
func (l *List[T]) clickView(x int) tea.Cmd {
	frame := l.Styles.frame(l.layout, l.width(l.layout))
	tabs := l.viewTabs(frame.Inner())
	before, _, _ := strings.Cut(ansi.Strip(frame.Top(strings.Join(tabs, ""), "")), ansi.Strip(tabs[0]))
	at := render.Width(before)
	for i, tab := range tabs {
		width := render.Width(tab)
		if x >= at && x < at+width {
			return l.setFilter(l.views[i].filter)
		}
		at += width
	}
	return nil
}

// TurnView turns to a view some tabs further.
func (l *List[T]) TurnView(by int) tea.Cmd {
	n := len(l.views)
	to := 0
	if current := l.current(); current >= 0 {
		to = (current + by + n) % n
	}
	return l.setFilter(l.views[to].filter)
}

// top draws the first two lines of the list: the views with the key of the next one, and how much of the list is here.
func (l *List[T]) top(frame widget.Frame, place string) []string {
	tabs := strings.Join(l.viewTabs(frame.Inner()), "")
	aside := strings.TrimLeft(place+"  "+l.Styles.Key(l.Styles.KeyNames(l.Host.KeyOf(actNextView))), " ")
	if render.Width(tabs)+render.Width(aside)+4 > frame.Inner() {
		aside = place
	}
	return []string{frame.Top(tabs, aside), frame.Line(" " + l.summary())}
}
