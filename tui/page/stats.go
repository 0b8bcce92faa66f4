package page

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// Stats is the page of what a supervisor asks: it walks all calls and pledges, shows
// what it has counted so far, and can be stopped.
type Stats struct {
	*Env
	counts  counts
	seq     int
	running bool
	stopped bool
	started time.Time
	top     int // The first line in sight.
	layout  Layout
}

// counts are what was counted so far.
type counts struct {
	calls, pledges int
	requestedAge   map[string]map[apitype.CallType]int // By age, then type.
	attempts       map[int]int                         // Attempts before a result: calls.
	results        map[string]map[apitype.CallType]int // By code, then type.
	ratings        map[apitype.CallType]rating
	days           map[string]*day // By local day of the completion.
	statuses       map[apitype.PledgeStatus]int
	amounts        map[apitype.PledgeStatus]int64 // Euro cents of the current donation.
}

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
		requestedAge: map[string]map[apitype.CallType]int{}, attempts: map[int]int{}, results: map[string]map[apitype.CallType]int{},
		ratings: map[apitype.CallType]rating{}, days: map[string]*day{}, statuses: map[apitype.PledgeStatus]int{},
		amounts: map[apitype.PledgeStatus]int64{},
	}
}

// NewStats is the page of statistics.
func NewStats(s *Env) *Stats {
	return &Stats{Env: s, counts: newCounts(), layout: NewLayout(80, 24)}
}

// How many records are asked for at a time, and how many where the service refuses that.
const (
	statsPageSize  = 500
	statsPageSmall = 100
)

// counted is one page of the walk.
type counted struct {
	calls   []apitype.Call
	pledges []apitype.Pledge
	cursor  string
	more    bool
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
	v.counts, v.running, v.stopped, v.started = newCounts(), true, false, v.Now()
	return v.readCalls("", statsPageSize)
}

func (v *Stats) readCalls(after string, size int) tea.Cmd {
	return v.load(StatsPage, v.seq, func(ctx context.Context) (any, error) {
		return countPage(after, size, func(p apitype.Paging) (apiclient.Page[apitype.Call], error) {
			return v.Client.Calls.List(ctx, apitype.CallListOptions{Paging: p})
		}, func(c *counted, all []apitype.Call) { c.calls = all })
	})
}

func (v *Stats) readPledges(after string, size int) tea.Cmd {
	return v.load(StatsPage, v.seq, func(ctx context.Context) (any, error) {
		return countPage(after, size, func(p apitype.Paging) (apiclient.Page[apitype.Pledge], error) {
			return v.Client.Pledges.List(ctx, apitype.PledgeListOptions{Paging: p})
		}, func(c *counted, all []apitype.Pledge) { c.pledges = all })
	})
}

// countPage reads one page, smaller when the service refuses so many.
func countPage[T any](after string, size int, list func(apitype.Paging) (apiclient.Page[T], error), into func(*counted, []T)) (counted, error) {
	page, err := list(apitype.Paging{After: after, First: new(size)})
	if apiclient.KindOf(err) == apiclient.KindRejected && size > statsPageSmall {
		size = statsPageSmall
		page, err = list(apitype.Paging{After: after, First: new(size)})
	}
	if err != nil {
		return counted{}, err
	}
	all, err := apiclient.Rows(page.Records, itself)
	c := counted{cursor: page.EndCursor, more: page.HasNextPage && page.EndCursor != "" && page.EndCursor != after, size: size}
	into(&c, all)
	return c, err
}

// Receive implements Page.
func (v *Stats) Receive(r Result) tea.Cmd {
	if r.seq != v.seq || v.stopped {
		return nil
	}
	page, ok := r.value.(counted)
	if r.err != nil || !ok {
		v.running, v.stopped = false, true
		v.FailRead("cannot count", r.err)
		return nil
	}
	for _, c := range page.calls {
		v.counts.addCall(c, v.Now())
	}
	for _, p := range page.pledges {
		v.counts.addPledge(p)
	}
	inPledges := page.pledges != nil
	switch {
	case page.more && !inPledges:
		return v.readCalls(page.cursor, page.size)
	case page.more:
		return v.readPledges(page.cursor, page.size)
	case !inPledges:
		return v.readPledges("", page.size)
	}
	v.running = false
	return nil
}

func (c *counts) addCall(call apitype.Call, now time.Time) {
	c.calls++
	switch call.Status {
	case apitype.CallRequested:
		age := int(now.Sub(call.RequestedAt.Time).Hours() / 24)
		for _, group := range ages {
			if age < group.days {
				if c.requestedAge[group.title] == nil {
					c.requestedAge[group.title] = map[apitype.CallType]int{}
				}
				c.requestedAge[group.title][call.Type]++
				break
			}
		}
	case apitype.CallCompleted:
		c.attempts[min(call.AttemptsCount, 10)]++
	}
	result := call.Result.Value()
	if code := value(result.ResultCode); code != "" {
		if c.results[code] == nil {
			c.results[code] = map[apitype.CallType]int{}
		}
		c.results[code][call.Type]++
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
	if cents, whole := p.DonationAmount.Cents(); whole {
		c.amounts[p.Status] += cents
	}
}

// Resize implements Page.
func (v *Stats) Resize(l Layout) { v.layout = l }

// Scopes implements Page.
func (v *Stats) Scopes() []Scope { return []Scope{ScopeStats, ScopeLists} }

// Typing implements Page.
func (v *Stats) Typing() bool { return false }

// Text implements Page.
func (v *Stats) Text(tea.Msg) tea.Cmd { return nil }

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

// Scroll implements Page.
func (v *Stats) Scroll(by Step) tea.Cmd {
	v.top += rowsOf(by, v.layout.Body/2, 1<<20)
	return nil
}
