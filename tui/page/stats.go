package page

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render/counts"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/say"
	"fundesk/tui/widget"
)

// Stats is the page of counts for supervisors. It walks all calls and pledges, shows the counts so far, and can be
// stopped.
type Stats struct {
	*Env
	Calls   *counts.Counts[apitype.Call] // As far as they were counted.
	Pledges *counts.Counts[apitype.Pledge]
	seq     int
	size    int // Records asked for at a time.
	running bool
	stopped bool
	short   bool // Some records were not counted, or may be missing.
	period  period
	done    time.Time            // When the last count ended.
	begins  time.Time            // The beginning of the counted period. Zero counts everything.
	agents  []apitype.QueueAgent // The work of each agent in the period. Nil if the service does not report it.
	view    widget.Scroll
	cursor  int                      // Index of the chosen bar.
	bars    []listing                // The lists behind the bars, as they were drawn last.
	chosen  map[apitype.CallType]int // The parts of the chosen bar. Nil without one.
	layout  Layout
}

// period is the counted period: calls requested and pledges made in a number of days. Zero counts everything.
type period int

var periods = []period{1, 7, 30, 90, 365, 0}

// in names the period in a sentence.
func (p period) in(say func(string, ...any) string) string {
	switch p {
	case 0:
		return say("of all time")
	case 1:
		return say("of today")
	default:
		return say("of the last %d days", int(p))
	}
}

// since returns the beginning of the period. Zero means everything.
func (p period) since(now time.Time) time.Time {
	if p == 0 {
		return time.Time{}
	}
	year, month, day := now.Local().Date()
	return time.Date(year, month, day-int(p)+1, 0, 0, 0, 0, time.Local)
}

// listing is a list and its filter. The filter is empty if none describes the bar.
type listing struct {
	page   int
	filter string
}

// NewStats makes the page of statistics.
func NewStats(s *Env) *Stats {
	v := &Stats{Env: s, layout: NewLayout(80, 24)}
	v.clear()
	return v
}

func (v *Stats) clear() {
	groups := func(g counts.Group[apitype.Call]) bool { return !slices.Contains(callGroups, g.Name) }
	v.Calls = counts.OfCalls(slices.DeleteFunc(counts.CallGroups(v.Day.Now(), time.Local), groups), "")
	v.Pledges = counts.OfPledges(
		slices.DeleteFunc(
			counts.PledgeGroups(time.Local),
			func(g counts.Group[apitype.Pledge]) bool { return g.Name != "status" },
		),
		"",
	)
	v.size, v.short, v.agents = queue.PageSize, false, nil
}

// callGroups are the ways in which calls are counted here.
var callGroups = []string{"age", "attempts", "result", "type", "completed"}

// Open implements Page.
func (v *Stats) Open() tea.Cmd {
	if v.running || v.Calls.Total.Records > 0 {
		return v.Poll()
	}
	return v.restart()
}

// Poll counts again if the day has changed.
func (v *Stats) Poll() tea.Cmd {
	if v.running || v.begins.Equal(v.period.since(v.Day.Now())) {
		return nil
	}
	return v.restart()
}

func (v *Stats) restart() tea.Cmd {
	v.clear()
	v.seq++
	v.running, v.stopped = true, false
	v.begins = v.period.since(v.Day.Now())
	since := v.since() // The reading runs in the background.
	return count(v, "", func(ctx context.Context, p apitype.Paging) (apiclient.Page[apitype.Call], error) {
		return v.Day.Client.Calls.List(ctx, apitype.CallListOptions{Paging: p, RequestedAfter: since})
	}, func(c apitype.Call) bool {
		v.Calls.Add(c)
		return true
	}, func() tea.Cmd {
		return count(v, "", func(ctx context.Context, p apitype.Paging) (apiclient.Page[apitype.Pledge], error) {
			return v.Day.Client.Pledges.List(ctx, apitype.PledgeListOptions{Paging: p})
		}, func(p apitype.Pledge) bool {
			if p.CreatedAt.Before(v.begins) {
				return false // The newest come first.
			}
			v.Pledges.Add(p)
			return true
		}, v.readAgents)
	})
}

// loadCount is loadAs for a running count. A failed reading ends the count.
func loadCount[T any](v *Stats, read func(context.Context) (T, error), takeIn func(T) tea.Cmd) tea.Cmd {
	return loadAs(v.Env, "calls counted", &v.seq, read, func(value T, err error) tea.Cmd {
		if err == nil {
			return takeIn(value)
		}
		v.running, v.stopped = false, true
		v.FailRead("cannot count", err)
		return nil
	})
}

// count counts the records of a list from a cursor on, until one does not count, and does something after it.
func count[T any](
	v *Stats,
	after string,
	list func(context.Context, apitype.Paging) (apiclient.Page[T], error),
	add func(T) bool,
	then func() tea.Cmd,
) tea.Cmd {
	size := v.size
	return loadCount(v, func(ctx context.Context) (apiclient.Page[T], error) {
		return list(ctx, apitype.Paging{After: after, First: &size})
	}, func(page apiclient.Page[T]) tea.Cmd {
		records := apiclient.Rows(page, itself)
		more := page.HasNextPage && page.EndCursor != "" && page.EndCursor != after
		if page.Fewer > 0 {
			v.size = page.Fewer
		}
		v.short = v.short || page.MayBeCut || page.HasNextPage && !more || page.Err() != nil ||
			len(records) < len(page.Records)
		for _, record := range records {
			if !add(record) {
				return then()
			}
		}
		if more {
			return count(v, page.EndCursor, list, add, then)
		}
		return then()
	})
}

// since returns the beginning of the counted period as a filter. Nil counts everything.
func (v *Stats) since() *apitype.Time {
	if !v.begins.IsZero() {
		return new(apitype.NewTime(v.begins.Add(-time.Millisecond))) // The filter is strict.
	}
	return nil
}

// readAgents reads the work of each agent in the period, if the service has a queue. The service counts whole hours,
// and only a limited time back.
func (v *Stats) readAgents() tea.Cmd {
	since := slices.MaxFunc([]time.Time{v.begins, v.Day.Now().Add(time.Hour - apitype.MaxAgents)}, time.Time.Compare)
	return loadCount(v, func(ctx context.Context) ([]apitype.QueueAgent, error) {
		has, err := v.Day.Client.Has(ctx, apitype.ExtensionQueue)
		if err != nil || !has {
			return nil, err
		}
		answer, err := apiclient.Decoded(
			v.Day.Client.Queue.Agents(ctx, apitype.QueueAgentsOptions{Since: new(apitype.NewTime(since))}),
		)
		return answer.Agents, err
	}, func(agents []apitype.QueueAgent) tea.Cmd {
		v.running, v.agents, v.done = false, agents, v.Day.Now()
		return nil
	})
}

// Resize implements Page.
func (v *Stats) Resize(l Layout) { v.layout = l }

// Scopes implements Page.
func (v *Stats) Scopes() []Scope { return []Scope{ScopeStats, ScopeLists} }

// WhyNotStop returns the reason why there is nothing to stop, or "".
func (v *Stats) WhyNotStop() string { return say.When(!v.running, "nothing is being counted") }

// Stop stops counting.
func (v *Stats) Stop() tea.Cmd {
	v.seq++
	v.running, v.stopped = false, true
	return nil
}

// Refresh implements Page.
func (v *Stats) Refresh() tea.Cmd { return v.restart() }

// Scroll implements Page: it goes from bar to bar.
func (v *Stats) Scroll(by Step) tea.Cmd {
	v.cursor = max(min(v.cursor+rowsOf(by, v.layout.Body/2, len(v.bars)), len(v.bars)-1), 0)
	return nil
}

// WhyNotOpen implements Opener.
func (v *Stats) WhyNotOpen() string {
	return say.When(v.cursor >= len(v.bars) || v.bars[v.cursor].filter == "", "this bar has no list")
}

// OpenRecord implements Opener: it lists the records of a bar.
func (v *Stats) OpenRecord() tea.Cmd {
	return v.Host.ShowList(v.bars[v.cursor].page, v.bars[v.cursor].filter)
}

// statsActions returns the actions of the statistics.
func statsActions() []Action {
	return []Action{
		{
			ID:    "period",
			Scope: ScopeStats,
			Keys:  "P",
			Help:  "choose the period that is counted…",
			Word:  "period",
			Run:   on((*Stats).AskPeriod),
		},
		{
			ID:    ActStop,
			Scope: ScopeStats,
			Keys:  "esc",
			Help:  "stop counting",
			Word:  "stop",
			Run:   on((*Stats).Stop),
			Why:   onWhy((*Stats).WhyNotStop),
		},
	}
}

// AskPeriod offers the periods to count.
func (v *Stats) AskPeriod() tea.Cmd {
	var options []Option
	for _, p := range periods {
		options = append(options, Option{Label: v.Say("calls and pledges") + " " + p.in(v.Say), Run: func() tea.Cmd {
			v.period = p
			return v.restart()
		}})
	}
	v.Dialog = NewChoice("Count", "by when a call was requested, and a pledge made", options)
	return nil
}
