package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

// Lines draws what was counted so far.
func (v *Stats) Lines(l Layout) []string {
	state := fmt.Sprintf(" counted %d calls and %d pledges %s", v.counts.calls, v.counts.pledges, v.period)
	v.bars = v.bars[:0]
	switch {
	case v.running:
		state += "…  " + v.KeyOf(ActStop) + " stops"
	case v.stopped:
		state += ", stopped; these numbers are not complete. " + v.KeyOf(ActRefresh) + " counts anew"
	default:
		state += ", " + v.KeyOf(ActRefresh) + " counts anew"
	}
	var all []string
	width := l.Width
	if l.Panes > 1 {
		half := (l.Width - ruleWidth) / 2
		left, right := v.callTables(half), v.otherTables(half)
		height := max(len(left), len(right))
		all = widget.Beside("   ", widget.Block(left, half, height), widget.Block(right, half, height))
	} else {
		all = append(v.callTables(width), v.otherTables(width)...)
	}
	room := l.Body - 1
	if at := slices.IndexFunc(all, func(line string) bool { return strings.Contains(line, v.Styles.mark) }); at >= 0 && len(v.bars) > 0 {
		v.top = max(min(v.top, at-1), at+2-room)
	}
	v.top = max(min(v.top, len(all)-room), 0)
	if below := len(all) - room - v.top; below > 0 {
		state += fmt.Sprintf("  (%d more lines, j scrolls)", below)
	}
	return widget.Block(append([]string{v.Styles.Dim(widget.Fit(state, width))}, all[v.top:]...), width, l.Body)
}

// The columns of a chart, in cells.
const (
	barLabel  = 16
	barNumber = 7
)

// bar is one line of a chart: a label, the number, a bar, and what it is made of. What is behind
// it is opened with Enter; the chosen one is marked.
func (v *Stats) bar(label string, n, most, width int, more string, what listing) string {
	sign := " "
	if len(v.bars) == v.cursor {
		sign = v.Styles.mark
	}
	if n == 0 {
		what = listing{}
	}
	v.bars = append(v.bars, what)
	if most := max(width-barLabel-barNumber-2, 0); render.Width(more) > most {
		more = widget.Fit(more, most)
	}
	room := max(width-barLabel-barNumber-1-render.Width(more)-2, 0)
	length := 0
	if most > 0 {
		length = (n*room + most - 1) / most
	}
	line := widget.Fit(sign+Clean(label), barLabel) + widget.FitRight(fmt.Sprint(n), barNumber) + " " + v.Styles.accent(strings.Repeat(v.Styles.bar, length))
	if more != "" {
		line = widget.Fit(line, width-render.Width(more)-1) + " " + v.Styles.Dim(more)
	}
	return line
}

// kinds says how many of each type, in the room that there is.
func kinds(counts map[apitype.CallType]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", kindLabel(kind, kindLetters), counts[kind]))
	}
	return strings.Join(parts, " ")
}

func sum[K comparable](counts map[K]int) int {
	n := 0
	for _, count := range counts {
		n += count
	}
	return n
}

func (v *Stats) callTables(width int) []string {
	c := v.counts
	lines := []string{v.Styles.bold("Requested calls by age and type")}
	most, widest := 0, 0
	for _, byKind := range c.requestedAge {
		most, widest = max(most, sum(byKind)), max(widest, len(kinds(byKind)))
	}
	newest := v.Now()
	for _, group := range ages {
		byKind := c.requestedAge[group.title]
		oldest := v.Now().Add(-time.Duration(min(group.days, mostDays)) * 24 * time.Hour)
		from := latest(oldest, v.period.since(v.Now()))
		what := listing{CallsPage, "status=requested requestedFrom=" + apitype.NewTime(from).String() + " requestedUntil=" + apitype.NewTime(newest).String()}
		lines = append(lines, v.bar(group.title, sum(byKind), most, width, widget.Fit(kinds(byKind), widest), what))
		newest = oldest
	}
	lines = append(lines, "", v.Styles.bold("Attempts before a result"))
	most = 0
	for _, n := range c.attempts {
		most = max(most, n)
	}
	for _, group := range apitype.AttemptsGroups() {
		if c.attempts[group] == 0 {
			continue
		}
		lines = append(lines, v.bar(group, c.attempts[group], most, width, "", v.callsBehind("status=completed attempts="+group)))
	}
	return append(append(lines, ""), v.dayLines(width)...)
}

// statsDays is how many days are shown.
const statsDays = 14

// dayLines are the completions of the last days: a line over them, and a bar for each
// with its types and its mean rating.
func (v *Stats) dayLines(width int) []string {
	today := v.Now().Local()
	days := make([]day, statsDays)
	most, widest := 0, 0
	counts, ratings := make([]float64, statsDays), make([]float64, statsDays)
	for i := range days {
		if d := v.counts.days[today.AddDate(0, 0, i-statsDays+1).Format(time.DateOnly)]; d != nil {
			days[i] = *d
		}
		counts[i], ratings[i] = float64(days[i].calls), days[i].ratings.mean()
		most, widest = max(most, days[i].calls), max(widest, len(kinds(days[i].kinds)))
	}
	lines := []string{
		v.Styles.bold("Completed by day and type, mean rating"),
		v.line("calls a day", counts, fmt.Sprintf("up to %d", most)),
		v.line("mean rating", ratings, fmt.Sprintf("up to %.1f", slices.Max(ratings))),
	}
	for i := statsDays - 1; i >= 0; i-- {
		mean := "   -"
		if days[i].ratings.n > 0 {
			mean = fmt.Sprintf("%4.1f", days[i].ratings.mean())
		}
		more := mean + " " + widget.Fit(kinds(days[i].kinds), widest)
		date := today.AddDate(0, 0, i-statsDays+1)
		what := v.callsBehind("status=completed completedOn=" + date.Format(time.DateOnly))
		lines = append(lines, v.bar(date.Format("Mon 2 Jan"), days[i].calls, most, width, more, what))
	}
	return append(lines, "")
}

// line draws values as one line of steps, the oldest first.
func (v *Stats) line(label string, values []float64, more string) string {
	highest := max(slices.Max(values), 1e-9)
	var b strings.Builder
	for _, value := range values {
		Step := int(value/highest*float64(len(v.Styles.steps)-1) + 0.5)
		b.WriteString(v.Styles.steps[Step])
	}
	return widget.Fit(" "+label, barLabel+barNumber) + " " + v.Styles.accent(b.String()) + " " + v.Styles.Dim(more)
}

func (v *Stats) otherTables(width int) []string {
	c := v.counts
	lines := []string{v.Styles.bold("Results by type")}
	codes := slices.SortedFunc(maps.Keys(c.results), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum(c.results[b]), sum(c.results[a])), strings.Compare(a, b))
	})
	most, widest := 0, 0
	for _, code := range codes {
		most, widest = max(most, sum(c.results[code])), max(widest, len(kinds(c.results[code])))
	}
	for _, code := range codes {
		what := v.callsBehind("resultCode=" + code)
		if strings.ContainsFunc(code, unicode.IsSpace) {
			what = listing{} // A blank ends a filter's value.
		}
		lines = append(lines, v.bar(code, sum(c.results[code]), most, width, widget.Fit(kinds(c.results[code]), widest), what))
	}
	lines = append(lines, "", v.Styles.bold("Retention rating by type"))
	for _, kind := range slices.Sorted(maps.Keys(c.ratings)) {
		r := c.ratings[kind]
		lines = append(lines, widget.Fit(" "+Clean(string(kind)), barLabel)+fmt.Sprintf("%*.1f  of %s", barNumber, r.mean(), render.Plural(r.n, "call", "calls")))
	}
	return slices.Concat(lines, v.pledgeLines(width), v.agentLines(width), []string{""})
}

// mostDays is how far back requested calls are listed.
const mostDays = 20 * 365

// latest is the later one of two times.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// callsBehind are the calls of a filter that were requested in the period.
func (v *Stats) callsBehind(filter string) listing {
	if since := v.since(); since != nil {
		filter += " requestedAfter=" + since.String()
	}
	return listing{CallsPage, filter}
}

// pledgeLines are the pledges by status with what they bring in a year, and once: what is given
// each month is never added to what is given each year.
func (v *Stats) pledgeLines(width int) []string {
	c := v.counts
	lines := []string{"", v.Styles.bold("Pledges by status, and what they give in a year")}
	most, widest := 0, 0
	gives := map[apitype.PledgeStatus]string{}
	for status, n := range c.statuses {
		gives[status] = v.euros(apitype.Cents(c.yearly[status]))
		if c.once[status] > 0 {
			gives[status] += " + once " + v.euros(apitype.Cents(c.once[status]))
		}
		most, widest = max(most, n), max(widest, render.Width(gives[status]))
	}
	for _, status := range slices.Sorted(maps.Keys(c.statuses)) {
		lines = append(lines, v.bar(string(status), c.statuses[status], most, width, widget.Fit(gives[status], widest), listing{PledgesPage, "status=" + string(status)}))
	}
	if c.unvalued > 0 {
		lines = append(lines, v.Styles.Dim(widget.Fit(" without "+render.Plural(c.unvalued, "pledge", "pledges")+" of an interval that is not known", width)))
	}
	return lines
}

// agentLines are what each agent has done, the busiest first. Who has completed a call is not
// in the interface's answers: behind the bar of an agent are the calls that they have tried.
func (v *Stats) agentLines(width int) []string {
	lines := []string{"", v.Styles.bold("Completed by agent, and attempts; Enter lists what they tried")}
	agents := slices.SortedStableFunc(slices.Values(v.agents), func(a, b apitype.QueueAgent) int {
		return cmp.Or(cmp.Compare(b.Completed, a.Completed), cmp.Compare(b.Attempts, a.Attempts))
	})
	if len(agents) == 0 || agents[0].Completed+agents[0].Attempts == 0 {
		return nil
	}
	for _, a := range agents {
		if a.Completed+a.Attempts == 0 {
			continue
		}
		what := listing{CallsPage, "attemptBy=" + a.UserUUID.String()}
		if since := v.since(); since != nil {
			what.filter += " updatedAfter=" + since.String() // An attempt is an update.
		}
		lines = append(lines, v.bar(v.agentName(a.UserUUID), a.Completed, agents[0].Completed, width, fmt.Sprint(a.Attempts), what))
		v.bars[len(v.bars)-1] = what // Where the number is 0, too: they may have tried.
	}
	return lines
}
