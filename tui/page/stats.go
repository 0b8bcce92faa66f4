package page

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// Stats is the page of what a supervisor asks: it walks all calls and pledges, shows
// what it has counted so far, and can be stopped.
type Stats struct {
	*Env
	counts  counts
	seq     int
	running bool
	stopped bool
	short   bool // There are records that were not counted, or nothing tells.
	period  period
	agents  []apitype.QueueAgent // What each has done in the period; nil: the service does not tell.
	view    widget.Scroll
	cursor  int                      // Index of the chosen bar.
	bars    []listing                // What the bars stand for, as they were drawn last.
	chosen  map[apitype.CallType]int // What the chosen one is made of; nil: nothing.
	layout  Layout
}

// counts are what was counted so far.
type counts struct {
	calls, pledges int
	requestedAge   byType         // By age.
	attempts       map[string]int // By group of attempts before a result.
	results        byType         // By code.
	ratings        map[apitype.CallType]rating
	days           map[string]*day // By local day of the completion.
	statuses       map[apitype.PledgeStatus]int
	yearly, once   map[apitype.PledgeStatus]int64 // Euro cents of the current donations: in a year, and once.
	unvalued       int                            // Pledges whose interval nobody knows.
}

// period is what is counted: calls that were requested and pledges that were made since a
// number of days; 0 is everything.
type period int

var periods = []period{1, 7, 30, 90, 365, 0}

func (p period) String() string {
	switch p {
	case 0:
		return "of all time"
	case 1:
		return "of today"
	default:
		return fmt.Sprintf("of the last %d days", int(p))
	}
}

// since is when the period begins; zero for everything.
func (p period) since(now time.Time) time.Time {
	if p == 0 {
		return time.Time{}
	}
	year, month, day := now.Local().Date()
	return time.Date(year, month, day-int(p)+1, 0, 0, 0, 0, time.Local)
}

// listing is a list and its filter; "" where no filter tells what is meant.
type listing struct {
	page   int
	filter string
}

// inYear is how often a donation is made in a year.
var inYear = map[apitype.DonationInterval]int64{"monthly": 12, "quarterly": 4, "half-yearly": 2, "yearly": 1}

type rating struct {
	n   int
	sum float64
}

// add counts one more.
func (r *rating) add(value float64) {
	r.n++
	r.sum += value
}

func (r *rating) mean() float64 { return r.sum / float64(max(r.n, 1)) }

// byType counts calls by something, and then by their type.
type byType map[string]map[apitype.CallType]int

func (b byType) add(name string, kind apitype.CallType) {
	if b[name] == nil {
		b[name] = map[apitype.CallType]int{}
	}
	b[name][kind]++
}

// day is what was completed on one day.
type day struct {
	calls   int
	kinds   map[apitype.CallType]int
	ratings rating
}

// ages are the groups of requested calls, in days.
var ages = []struct {
	title string
	days  int
}{{"today", 1}, {"2-3 days", 3}, {"4-7 days", 7}, {"8-30 days", 30}, {"older", 1 << 20}}

func newCounts() counts {
	return counts{
		requestedAge: byType{}, attempts: map[string]int{}, results: byType{},
		ratings: map[apitype.CallType]rating{}, days: map[string]*day{}, statuses: map[apitype.PledgeStatus]int{},
		yearly: map[apitype.PledgeStatus]int64{}, once: map[apitype.PledgeStatus]int64{},
	}
}

// NewStats is the page of statistics.
func NewStats(s *Env) *Stats {
	return &Stats{Env: s, counts: newCounts(), layout: NewLayout(80, 24)}
}

// counted is one page of the walk.
type counted[T any] struct {
	records []T
	cursor  string
	more    bool
	short   bool // There are records that were not read, or nothing tells.
	size    int
}

// Open implements Page.
func (v *Stats) Open() tea.Cmd {
	if v.running || v.counts.calls > 0 {
		return nil
	}
	return v.restart()
}

func (v *Stats) restart() tea.Cmd {
	v.seq++
	v.counts, v.running, v.stopped, v.short, v.agents = newCounts(), true, false, false, nil
	return v.readCalls("", desk.WalkPage)
}

// loadCount is load for what is being counted; what cannot be read ends that.
func loadCount[T any](v *Stats, read func(context.Context) (T, error), takeIn func(T) tea.Cmd) tea.Cmd {
	seq := v.seq
	return load(v.Env, read, func(value T, err error) tea.Cmd {
		switch {
		case seq != v.seq || v.stopped:
			return nil
		case err != nil:
			v.running, v.stopped = false, true
			v.FailRead("cannot count", err)
			return nil
		default:
			return takeIn(value)
		}
	})
}

func (v *Stats) readCalls(after string, size int) tea.Cmd {
	since := v.since()
	return loadCount(v, func(ctx context.Context) (counted[apitype.Call], error) {
		return countPage(after, size, func(p apitype.Paging) (apiclient.Page[apitype.Call], error) {
			return v.Day.Client.Calls.List(ctx, apitype.CallListOptions{Paging: p, RequestedAfter: since})
		})
	}, func(page counted[apitype.Call]) tea.Cmd {
		v.short = v.short || page.short
		for _, c := range page.records {
			v.counts.addCall(c, v.Day.Now())
		}
		if page.more {
			return v.readCalls(page.cursor, page.size)
		}
		return v.readPledges("", page.size)
	})
}

func (v *Stats) readPledges(after string, size int) tea.Cmd {
	return loadCount(v, func(ctx context.Context) (counted[apitype.Pledge], error) {
		return countPage(after, size, func(p apitype.Paging) (apiclient.Page[apitype.Pledge], error) {
			return v.Day.Client.Pledges.List(ctx, apitype.PledgeListOptions{Paging: p})
		})
	}, func(page counted[apitype.Pledge]) tea.Cmd {
		v.short = v.short || page.short
		since := v.period.since(v.Day.Now())
		for _, p := range page.records {
			if p.CreatedAt.Before(since) {
				return v.readAgents() // The newest come first.
			}
			v.counts.addPledge(p)
		}
		if page.more {
			return v.readPledges(page.cursor, page.size)
		}
		return v.readAgents()
	})
}

// since is the beginning of the period as a filter; nil for everything.
func (v *Stats) since() *apitype.Time {
	if since := v.period.since(v.Day.Now()); !since.IsZero() {
		return new(apitype.NewTime(since.Add(-time.Millisecond))) // The filter is strict.
	}
	return nil
}

// agentsKept is how far back a service tells what agents did.
const agentsKept = 92 * 24 * time.Hour

// readAgents asks what each agent has done, where the service has a queue.
func (v *Stats) readAgents() tea.Cmd {
	since := v.since()
	if since == nil {
		since = new(apitype.NewTime(v.Day.Now().Add(-agentsKept)))
	}
	return loadCount(v, func(ctx context.Context) ([]apitype.QueueAgent, error) {
		has, err := v.Day.Client.Has(ctx, apitype.ExtensionQueue)
		if err != nil || !has {
			return nil, err
		}
		answer, err := apiclient.Decoded(v.Day.Client.Queue.Agents(ctx, apitype.QueueAgentsOptions{Since: since}))
		return answer.Agents, err
	}, func(agents []apitype.QueueAgent) tea.Cmd {
		v.running, v.agents = false, agents
		return nil
	})
}

// countPage reads one page, smaller when the service refuses so many.
func countPage[T any](after string, size int, list func(apitype.Paging) (apiclient.Page[T], error)) (counted[T], error) {
	page, err := desk.OrFewer(&size, func(size int) (apiclient.Page[T], error) { return list(apitype.Paging{After: after, First: &size}) })
	if err != nil {
		return counted[T]{}, err
	}
	c := counted[T]{records: apiclient.Rows(page, itself), cursor: page.EndCursor, more: page.HasNextPage && page.EndCursor != "" && page.EndCursor != after, size: size}
	c.short = page.MayBeCut || page.HasNextPage && !c.more || page.Err() != nil || len(c.records) < len(page.Records)
	return c, nil
}

func (c *counts) addCall(call apitype.Call, now time.Time) {
	c.calls++
	switch call.Status {
	case apitype.CallRequested:
		age := int(now.Sub(call.RequestedAt.Time).Hours() / 24)
		for _, group := range ages {
			if age < group.days {
				c.requestedAge.add(group.title, call.Type)
				break
			}
		}
	case apitype.CallCompleted:
		c.attempts[apitype.AttemptsGroup(call.AttemptsCount)]++
	}
	result := call.Result.Value()
	if code := desk.Value(result.ResultCode); code != "" {
		c.results.add(code, call.Type)
	}
	if result.DonorRetentionRating != nil {
		r := c.ratings[call.Type]
		r.add(result.DonorRetentionRating.Float64())
		c.ratings[call.Type] = r
	}
	if call.Status == apitype.CallCompleted && call.CompletedAt != nil {
		c.addDay(call, result)
	}
}

func (c *counts) addDay(call apitype.Call, result apitype.CallResult) {
	key := call.CompletedAt.Local().Format(time.DateOnly)
	d := c.days[key]
	if d == nil {
		d = &day{kinds: map[apitype.CallType]int{}}
		c.days[key] = d
	}
	d.calls++
	d.kinds[call.Type]++
	if result.DonorRetentionRating != nil {
		d.ratings.add(result.DonorRetentionRating.Float64())
	}
}

func (c *counts) addPledge(p apitype.Pledge) {
	c.pledges++
	c.statuses[p.Status]++
	cents, whole := p.DonationAmount.Cents()
	times, known := inYear[p.DonationInterval]
	switch {
	case whole && p.DonationInterval == "once":
		c.once[p.Status] += cents
	case whole && known:
		c.yearly[p.Status] += cents * times
	default:
		c.unvalued++
	}
}

// Resize implements Page.
func (v *Stats) Resize(l Layout) { v.layout = l }

// Scopes implements Page.
func (v *Stats) Scopes() []Scope { return []Scope{ScopeStats, ScopeLists} }

// WhyNotStop says why there is nothing to stop.
func (v *Stats) WhyNotStop() string {
	if !v.running {
		return "nothing is being counted"
	}
	return ""
}

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
	if v.cursor >= len(v.bars) || v.bars[v.cursor].filter == "" {
		return "nothing can be listed behind this bar"
	}
	return ""
}

// OpenRecord implements Opener: it lists what is behind a bar.
func (v *Stats) OpenRecord() tea.Cmd {
	return v.Host.ShowList(v.bars[v.cursor].page, v.bars[v.cursor].filter)
}

// AskPeriod offers what is counted.
func (v *Stats) AskPeriod() tea.Cmd {
	var options []Option
	for _, p := range periods {
		options = append(options, Option{Label: "calls and pledges " + p.String(), Run: func() tea.Cmd {
			v.period = p
			return v.restart()
		}})
	}
	v.Dialog = NewChoice("Count", "by when a call was requested, and a pledge made", options)
	return nil
}
