package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/widget"
)

// stats is the page of what a supervisor asks: it walks all calls and pledges, shows
// what it has counted so far, and can be stopped.
type stats struct {
	*shell
	counts  counts
	seq     int
	running bool
	stopped bool
	started time.Time
	scroll  int
	layout  layout
}

// counts are what was counted so far.
type counts struct {
	calls, pledges int
	requestedAge   map[string]map[apitype.CallType]int // By age, then type.
	attempts       map[int]int                         // Attempts before a result: calls.
	results        map[string]int                      // By code.
	ratings        map[apitype.CallType]rating
	days           map[string]int // Completions by local day.
	statuses       map[apitype.PledgeStatus]int
	amounts        map[apitype.PledgeStatus]int64 // Euro cents of the current donation.
}

type rating struct {
	n   int
	sum float64
}

// ages are the groups of requested calls, in days.
var ages = []struct {
	title string
	days  int
}{{"today", 1}, {"2-3 days", 3}, {"4-7 days", 7}, {"8-30 days", 30}, {"older", 1 << 20}}

func newCounts() counts {
	return counts{
		requestedAge: map[string]map[apitype.CallType]int{}, attempts: map[int]int{}, results: map[string]int{},
		ratings: map[apitype.CallType]rating{}, days: map[string]int{}, statuses: map[apitype.PledgeStatus]int{},
		amounts: map[apitype.PledgeStatus]int64{},
	}
}

func newStatsPage(s *shell) *stats {
	return &stats{shell: s, counts: newCounts(), layout: newLayout(80, 24)}
}

// counted is one page of the walk.
type counted struct {
	calls   []apitype.Call
	pledges []apitype.Pledge
	cursor  string
	more    bool
	size    int
}

func (v *stats) open() tea.Cmd {
	if v.running || v.counts.calls > 0 {
		return nil
	}
	return v.restart()
}

func (v *stats) restart() tea.Cmd {
	v.seq++
	v.counts, v.running, v.stopped, v.started = newCounts(), true, false, v.Now()
	return v.readCalls("", queuePage)
}

func (v *stats) readCalls(after string, size int) tea.Cmd {
	return v.load(statsPage, v.seq, func(ctx context.Context) (any, error) {
		return countPage(after, size, func(p apitype.Paging) (apiclient.Page[apitype.Call], error) {
			return v.Client.Calls.List(ctx, apitype.CallListOptions{Paging: p})
		}, func(c *counted, all []apitype.Call) { c.calls = all })
	})
}

func (v *stats) readPledges(after string, size int) tea.Cmd {
	return v.load(statsPage, v.seq, func(ctx context.Context) (any, error) {
		return countPage(after, size, func(p apitype.Paging) (apiclient.Page[apitype.Pledge], error) {
			return v.Client.Pledges.List(ctx, apitype.PledgeListOptions{Paging: p})
		}, func(c *counted, all []apitype.Pledge) { c.pledges = all })
	})
}

// countPage reads one page, smaller when the service refuses so many.
func countPage[T any](after string, size int, list func(apitype.Paging) (apiclient.Page[T], error), into func(*counted, []T)) (counted, error) {
	page, err := list(apitype.Paging{After: after, First: new(size)})
	if apiclient.KindOf(err) == apiclient.KindRejected && size > queueSmall {
		size = queueSmall
		page, err = list(apitype.Paging{After: after, First: new(size)})
	}
	if err != nil {
		return counted{}, err
	}
	all, err := decodeAll(page.Records)
	c := counted{cursor: page.EndCursor, more: page.HasNextPage && page.EndCursor != "" && page.EndCursor != after, size: size}
	into(&c, all)
	return c, err
}

func (v *stats) receive(r result) tea.Cmd {
	if r.seq != v.seq || v.stopped {
		return nil
	}
	page, ok := r.value.(counted)
	if r.err != nil || !ok {
		v.running, v.stopped = false, true
		v.failRead("cannot count", r.err)
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
		if call.CompletedAt != nil {
			c.days[call.CompletedAt.Local().Format(time.DateOnly)]++
		}
	}
	result := call.Result.Pointer()
	if result == nil {
		return
	}
	if code := value(result.ResultCode); code != "" {
		c.results[code]++
	}
	if result.DonorRetentionRating != nil {
		r := c.ratings[call.Type]
		r.n++
		r.sum += result.DonorRetentionRating.Float64()
		c.ratings[call.Type] = r
	}
}

func (c *counts) addPledge(p apitype.Pledge) {
	c.pledges++
	c.statuses[p.Status]++
	if cents, whole := p.DonationAmount.Cents(); whole {
		c.amounts[p.Status] += cents
	}
}

func (v *stats) resize(l layout) { v.layout = l }

func (v *stats) scopes() []scope { return []scope{scopeStats, scopeLists} }

func (v *stats) typing() bool { return false }

func (v *stats) text(string, string) tea.Cmd { return nil }

func (v *stats) why(act action) string {
	switch act {
	case actStop:
		if !v.running {
			return "nothing is being counted"
		}
	case actOpen, actCopy, actMark, actBulk, actFilter, actBack:
		return "not on this page"
	}
	return ""
}

func (v *stats) do(act action) tea.Cmd {
	switch act {
	case actStop:
		v.seq++
		v.running, v.stopped = false, true
	case actRefresh:
		return v.restart()
	case actDown:
		v.scroll++
	case actUp:
		v.scroll--
	case actPageDown:
		v.scroll += v.layout.body / 2
	case actPageUp:
		v.scroll -= v.layout.body / 2
	case actTop:
		v.scroll = 0
	case actBottom:
		v.scroll = 1 << 20
	}
	return nil
}

func (v *stats) lines(l layout) []string {
	state := fmt.Sprintf(" counted %d calls and %d pledges", v.counts.calls, v.counts.pledges)
	switch {
	case v.running:
		state += "…  " + v.keyOf(actStop) + " stops"
	case v.stopped:
		state += ", stopped; these numbers are not complete. " + v.keyOf(actRefresh) + " counts anew"
	default:
		state += ", " + v.keyOf(actRefresh) + " counts anew"
	}
	var all []string
	width := l.width
	if l.panes > 1 {
		half := (l.width - ruleWidth) / 2
		left, right := v.callTables(half), v.otherTables(half)
		height := max(len(left), len(right))
		all = widget.Beside("   ", widget.Block(left, half, height), widget.Block(right, half, height))
	} else {
		all = append(v.callTables(width), v.otherTables(width)...)
	}
	room := l.body - 1
	v.scroll = max(min(v.scroll, len(all)-room), 0)
	return widget.Block(append([]string{v.styles.dim(widget.Fit(state, width))}, all[v.scroll:]...), width, l.body)
}

// blankLabel stands in place of the label and the number of a bar.
const blankLabel = "                        "

// bar is one line of a chart: a label, a bar, and the number beside it.
func (v *stats) bar(label string, n, most, width int, more string) string {
	room := max(width-16-8-widget.Width(more)-2, 0)
	length := 0
	if most > 0 {
		length = (n*room + most - 1) / most
	}
	line := widget.Fit(" "+clean(label), 16) + widget.FitRight(fmt.Sprint(n), 7) + " " + v.styles.accent(strings.Repeat(v.styles.bar, length))
	if more != "" {
		line = widget.Fit(line, width-widget.Width(more)-1) + " " + v.styles.dim(more)
	}
	return line
}

func (v *stats) callTables(width int) []string {
	c := v.counts
	lines := []string{v.styles.bold("Requested calls by age")}
	most := 0
	sums := map[string]int{}
	for title, kinds := range c.requestedAge {
		for _, n := range kinds {
			sums[title] += n
		}
		most = max(most, sums[title])
	}
	for _, group := range ages {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(c.requestedAge[group.title])) {
			kinds = append(kinds, fmt.Sprintf("%s %d", clean(string(kind)), c.requestedAge[group.title][kind]))
		}
		lines = append(lines, v.bar(group.title, sums[group.title], most, width, ""))
		if len(kinds) > 0 {
			lines = append(lines, v.styles.dim(widget.Fit(blankLabel+strings.Join(kinds, ", "), width)))
		}
	}
	lines = append(lines, "", v.styles.bold("Attempts before a result"))
	most = 0
	for _, n := range c.attempts {
		most = max(most, n)
	}
	for _, n := range slices.Sorted(maps.Keys(c.attempts)) {
		label := fmt.Sprint(n)
		if n == 10 {
			label = "10 or more"
		}
		lines = append(lines, v.bar(label, c.attempts[n], most, width, ""))
	}
	return append(append(lines, ""), v.dayLines(width)...)
}

// dayLines are the completions of the last 14 days.
func (v *stats) dayLines(width int) []string {
	lines := []string{v.styles.bold("Completed by day")}
	most := 0
	today := v.Now().Local()
	for i := range 14 {
		most = max(most, v.counts.days[today.AddDate(0, 0, -i).Format(time.DateOnly)])
	}
	for i := 13; i >= 0; i-- {
		day := today.AddDate(0, 0, -i)
		lines = append(lines, v.bar(day.Format("Mon 2 Jan"), v.counts.days[day.Format(time.DateOnly)], most, width, ""))
	}
	return append(lines, "")
}

func (v *stats) otherTables(width int) []string {
	c := v.counts
	lines := []string{v.styles.bold("Results")}
	codes := slices.SortedFunc(maps.Keys(c.results), func(a, b string) int {
		if n := c.results[b] - c.results[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for _, code := range codes {
		lines = append(lines, v.bar(code, c.results[code], c.results[codes[0]], width, ""))
	}
	lines = append(lines, "", v.styles.bold("Retention rating by type"))
	for _, kind := range slices.Sorted(maps.Keys(c.ratings)) {
		r := c.ratings[kind]
		lines = append(lines, widget.Fit(" "+clean(string(kind)), 16)+fmt.Sprintf("%7.1f  of %d calls", r.sum/float64(r.n), r.n))
	}
	lines = append(lines, "", v.styles.bold("Pledges by status"))
	most := 0
	for _, n := range c.statuses {
		most = max(most, n)
	}
	for _, status := range slices.Sorted(maps.Keys(c.statuses)) {
		lines = append(lines, v.bar(string(status), c.statuses[status], most, width, v.euros(apitype.Cents(c.amounts[status]))))
	}
	return append(lines, "")
}
