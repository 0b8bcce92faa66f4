package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/render/counts"
	"fundesk/tui/widget"
)

// Waits implements Waiter.
func (v *Stats) Waits() bool { return v.running }

// Lines draws the counts so far.
func (v *Stats) Lines(l Layout) []string {
	calls := v.Day.Count(v.Calls.Total.Records, "call", "calls")
	pledges := v.Day.Count(v.Pledges.Total.Records, "pledge", "pledges")
	state := " " + v.Say("counted %s and %s %s", calls, pledges, v.period.in(v.Say))
	again := v.Say("%s refreshes", v.Host.KeyOf(ActRefresh))
	v.bars, v.chosen = v.bars[:0], nil
	switch {
	case v.running:
		state += v.Spinner.Sign() + "  " + v.Say("%s stops", v.Host.KeyOf(ActStop))
	case v.stopped:
		state += v.Say(", stopped; these numbers are not complete. ") + again
	case v.short:
		state += v.Say("; there may be more, and these numbers are not complete. ") + again
	default:
		state += ", " + v.Say("at %s", v.done.Format("15:04")) + ", " + again
	}
	var all, top, bottom []string
	width, room := l.Width, l.Body-2
	if l.Panes > 1 {
		left, right := v.Styles.frame(l, (width-ruleWidth)/2), v.Styles.frame(l, (width-ruleWidth)/2)
		if l.Framed {
			left.Width, right.Width, room = width/2, width-width/2, room-2
			top = v.Styles.panes(
				l,
				[]string{left.Top(v.Styles.bold(v.Say("Calls")), "")},
				[]string{right.Top(v.Styles.bold(v.Say("Results and pledges")), "")},
			)
			bottom = v.Styles.panes(l, left.Close(nil, 1), right.Close(nil, 1))
		}
		calls, others := v.callTables(left.Inner()), v.otherTables(right.Inner())
		height := max(len(calls), len(others), room)
		all = v.Styles.panes(
			l,
			left.Lines(widget.Block(calls, left.Inner(), height)...),
			right.Lines(widget.Block(others, right.Inner(), height)...),
		)
	} else {
		all = append(v.callTables(width), v.otherTables(width)...)
	}
	v.view.Set(all, room)
	at := slices.IndexFunc(all, func(line string) bool { return strings.Contains(line, v.Styles.mark) })
	if at >= 0 && len(v.bars) > 0 {
		v.view.Keep(at-1, at+2)
	}
	more := ""
	if below := v.view.Below(); below > 0 {
		more = v.Styles.Dim(v.Say("%s, j scrolls ", v.Day.Count(below, "more line", "more lines")))
	}
	legend := widget.Fit(v.legend(), max(width-render.Width(more), 0)) + more
	lines := append([]string{v.Styles.Dim(widget.Fit(state, width)), legend}, top...)
	lines = widget.Block(append(lines, v.view.Lines()...), width, l.Body-len(bottom))
	return append(lines, bottom...)
}

// legend explains the parts of the bars, with the numbers of the chosen bar.
func (v *Stats) legend() string {
	var parts []string
	for i, kind := range typesOf(v.chosen) {
		part := v.Styles.kind(kind)(v.fill(i)) + " " + v.Say(Clean(render.Words(string(kind))))
		if v.chosen != nil {
			part += " " + v.Day.Locale.Count(v.chosen[kind])
		}
		parts = append(parts, part)
	}
	return " " + strings.Join(parts, "   ")
}

// typesOf returns the types of calls in the order of the bars' parts: the interface's types, then any others.
func typesOf(counts map[apitype.CallType]int) []apitype.CallType {
	all := slices.Clone(apitype.CallTypes)
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// fill returns the character of a part of a bar.
func (v *Stats) fill(part int) string { return v.Styles.bars[min(part, len(v.Styles.bars)-1)] }

// The columns of a chart, in cells.
const (
	barLabel  = 13
	barNumber = 7
)

// bar is one line of a chart.
type bar struct {
	label string
	n     int
	kinds map[apitype.CallType]int // Its parts. Nil if it has none.
	more  string                   // What else there is to it.
	list  listing                  // What Enter opens.
}

// drawBar draws a bar of a length in eighths of a cell.
func (v *Stats) drawBar(b bar, eighths int) string {
	length, rest := eighths/8, v.Styles.eighth(eighths%8)
	if length == 0 && rest == "" && b.n > 0 {
		rest = v.Styles.eighth(1)
	}
	if b.kinds == nil {
		return v.Styles.accent(strings.Repeat(v.fill(0), length) + rest)
	}
	var line strings.Builder
	counted, drawn := 0, 0
	if length == 0 {
		return v.Styles.Dim(rest)
	}
	for i, kind := range typesOf(b.kinds) {
		counted += b.kinds[kind]
		end := counted * length / max(b.n, 1)
		line.WriteString(v.Styles.kind(kind)(strings.Repeat(v.fill(i), end-drawn)))
		drawn = end
	}
	return line.String() + v.Styles.Dim(rest)
}

// chart returns bars below a title, the longest as long as there is room. The chosen one is marked.
func (v *Stats) chart(title string, bars []bar, width int) []string {
	var lines []string
	for _, part := range widget.Wrap(v.Say(title), width) {
		lines = append(lines, v.Styles.bold(part))
	}
	most, widest, label := 1, 0, barLabel
	for _, b := range bars {
		most, widest, label = max(most, b.n), max(widest, render.Width(b.more)), max(label, render.Width(b.label)+3)
	}
	label = min(label, max(width/2, barLabel))
	widest = min(widest, max(width-label-barNumber-2, 0))
	for _, b := range bars {
		sign := " "
		if len(v.bars) == v.cursor {
			sign, v.chosen = v.Styles.mark, b.kinds
		}
		v.bars = append(v.bars, b.list)
		room := max(width-label-barNumber-1-widest-2, 0)
		eighths := b.n * room * 8 / most
		line := widget.Fit(sign+" "+Clean(b.label), label) +
			widget.FitRight(v.Day.Locale.Count(b.n), barNumber) +
			" " + v.drawBar(b, eighths)
		if widest > 0 {
			line = widget.Fit(line, width-widest-1) + " " + v.Styles.Dim(widget.Fit(b.more, widest))
		}
		lines = append(lines, line)
	}
	return lines
}

func (v *Stats) callTables(width int) []string {
	var requested, attempts []bar
	newest := v.Day.Now()
	for _, group := range counts.Ages {
		oldest := v.Day.Now().Add(-time.Duration(min(group.Days, mostDays)) * 24 * time.Hour)
		b := bar{label: v.Say(group.Title), kinds: map[apitype.CallType]int{}}
		if c := v.Calls.Of("age")[group.Title]; c != nil {
			from := slices.MaxFunc([]time.Time{oldest, v.begins}, time.Time.Compare)
			b.n, b.kinds = c.Records, c.Types
			b.list = listing{
				CallsPage,
				"status=requested requestedFrom=" + apitype.NewTime(from).
					String() +
					" requestedUntil=" + apitype.NewTime(newest).
					String(),
			}
		}
		requested = append(requested, b)
		newest = oldest
	}
	grouped := map[string]int{}
	for number, c := range v.Calls.Of("attempts") {
		n, _ := strconv.Atoi(number)
		grouped[apitype.AttemptsGroup(n)] += c.Records
	}
	for _, group := range apitype.AttemptsGroups() {
		if n := grouped[group]; n > 0 {
			attempts = append(
				attempts,
				bar{label: group, n: n, list: v.callsBehind("attempts="+group, "requestedAfter")},
			)
		}
	}
	return slices.Concat(
		v.chart("Requested calls by age and type", requested, width), []string{""},
		v.chart("Calls by attempts", attempts, width), []string{""},
		v.dayLines(width))
}

// statsDays is the number of days shown.
const statsDays = 14

// dayLines returns the completions of the last days: a line over them, and a bar for each
// with its types and its mean rating.
func (v *Stats) dayLines(width int) []string {
	today := v.Day.Now().Local()
	bars := make([]bar, statsDays)
	totals, ratings := make([]float64, statsDays), make([]float64, statsDays)
	for i := range statsDays { // The latest day first; the lines go the other way.
		date := today.AddDate(0, 0, -i)
		d, mean := counts.Count{}, "   -"
		if known := v.Calls.Of("completed")[date.Format(time.DateOnly)]; known != nil {
			d = *known
		}
		if d.Rating.N > 0 {
			mean = v.Day.Locale.Decimal(fmt.Sprintf("%4.1f", d.Rating.Value()))
		}
		totals[statsDays-1-i], ratings[statsDays-1-i] = float64(d.Records), d.Rating.Value()
		bars[i] = bar{
			label: v.Day.Date(date.Format("Mon 2 Jan")),
			n:     d.Records,
			kinds: d.Types,
			more:  mean,
		}
		if d.Records > 0 {
			bars[i].list = v.callsBehind("status=completed completedOn="+date.Format(time.DateOnly), "requestedAfter")
		}
	}
	lines := v.chart("Completed by day and type, mean rating", bars, width)
	return slices.Concat(lines[:1], []string{
		v.line("calls a day", totals, v.Say("up to %s", v.Day.Locale.Count(int(slices.Max(totals))))),
		v.line(
			"mean rating",
			ratings,
			v.Say("up to %s", v.Day.Locale.Decimal(fmt.Sprintf("%.1f", slices.Max(ratings)))),
		),
	}, lines[1:], []string{""})
}

// line draws values as one line of steps, the oldest first.
func (v *Stats) line(label string, values []float64, more string) string {
	steps := cmp.Or(sparkline(v.Styles, values), strings.Repeat(v.Styles.steps[0], len(values)))
	return widget.Fit("  "+v.Say(label), barLabel+barNumber) + " " + v.Styles.accent(steps) + " " + v.Styles.Dim(more)
}

func (v *Stats) otherTables(width int) []string {
	byCode := v.Calls.Of("result")
	var results []bar
	for _, code := range slices.SortedFunc(maps.Keys(byCode), func(a, b string) int {
		return cmp.Or(cmp.Compare(byCode[b].Records, byCode[a].Records), strings.Compare(a, b))
	}) {
		list := v.callsBehind("resultCode="+code, "requestedAfter")
		if strings.ContainsFunc(code, unicode.IsSpace) {
			list = listing{} // A blank ends a filter's value.
		}
		types := byCode[code].Types
		most := slices.MaxFunc(typesOf(types), func(a, b apitype.CallType) int { return types[a] - types[b] })
		results = append(
			results,
			bar{
				label: v.Say(v.Day.Codes.Words(most, code)),
				n:     byCode[code].Records,
				kinds: byCode[code].Types,
				list:  list,
			},
		)
	}
	lines := append(v.chart("Results by type", results, width), "", v.Styles.bold(v.Say("Retention rating by type")))
	for _, kind := range slices.Sorted(maps.Keys(v.Calls.Of("type"))) {
		if r := v.Calls.Of("type")[kind].Rating; r.N > 0 {
			lines = append(
				lines,
				widget.Fit("  "+v.Say(Clean(render.Words(kind))), barLabel+2)+
					v.Day.Locale.Decimal(fmt.Sprintf("%*.1f  ", barNumber, r.Value()))+
					v.Say("of %s", v.Day.Count(r.N, "call", "calls")),
			)
		}
	}
	return slices.Concat(lines, v.pledgeLines(width), v.agentLines(width), []string{""})
}

// mostDays is the number of days for which requested calls are listed.
const mostDays = 20 * 365

// callsBehind returns the calls of a filter in the period; after is the filter of the time that counts for that.
func (v *Stats) callsBehind(filter, after string) listing {
	if since := v.since(); since != nil {
		filter += " " + after + "=" + since.String()
	}
	return listing{CallsPage, filter}
}

// pledgeLines returns the pledges by status with what they bring in a year, and once: what is given
// each month is never added to what is given each year.
func (v *Stats) pledgeLines(width int) []string {
	var bars []bar
	var yearly, once []string
	for _, status := range slices.Sorted(maps.Keys(v.Pledges.Of("status"))) {
		c := v.Pledges.Of("status")[status]
		yearly, once = append(yearly, v.euros(apitype.Cents(c.Yearly))), append(once, "")
		if c.Once > 0 {
			once[len(once)-1] = v.euros(apitype.Cents(c.Once))
		}
		bars = append(
			bars,
			bar{
				label: v.Styles.pledgeText(apitype.PledgeStatus(status)),
				n:     c.Records,
				list:  listing{PledgesPage, "status=" + status},
			},
		)
	}
	for i := range bars { // Amounts end below each other.
		bars[i].more = widget.FitRight(yearly[i], widest(yearly))
		if once[i] != "" {
			bars[i].more += " + " + v.Say("once") + " " + widget.FitRight(once[i], widest(once))
		}
	}
	lines := append([]string{""}, v.chart("Pledges by status, and what they give in a year", bars, width)...)
	if n := v.Pledges.Total.Unvalued; n > 0 {
		lines = append(
			lines,
			v.Styles.Dim(
				widget.Fit(
					" "+v.Say("without %s of an interval that is not known", v.Day.Count(n, "pledge", "pledges")),
					width,
				),
			),
		)
	}
	return lines
}

func widest(texts []string) int {
	var cells int
	for _, text := range texts {
		cells = max(cells, render.Width(text))
	}
	return cells
}

// agentLines returns the work of each agent, the busiest first. A bar lists what it counts, if the service can list it.
func (v *Stats) agentLines(width int) []string {
	agents := slices.SortedStableFunc(slices.Values(v.agents), func(a, b apitype.QueueAgent) int {
		return cmp.Or(cmp.Compare(b.Completed, a.Completed), cmp.Compare(b.Attempts, a.Attempts))
	})
	canList := v.Day.Client != nil && v.Day.Client.Announces(apitype.ExtensionCompletedBy)
	var completed, attempts []bar
	for _, a := range agents {
		name, user := v.queueAgent(a), a.UserUUID.String()
		done := bar{label: name, n: a.Completed}
		if canList {
			// A completion is an update, as an attempt is.
			done.list = v.callsBehind("completedBy="+user, "updatedAfter")
		}
		if a.Completed > 0 {
			completed = append(completed, done)
		}
		if a.Attempts > 0 {
			tried := v.callsBehind("attemptBy="+user, "updatedAfter")
			attempts = append(attempts, bar{label: name, n: a.Attempts, list: tried})
		}
	}
	within := ""
	if v.begins.Before(v.Day.Now().Add(-apitype.MaxAgents)) { // The service reports no earlier hours.
		within = v.Say(" in %d days", apitype.MaxAgents/(24*time.Hour))
	}
	var lines []string
	if len(completed) > 0 {
		lines = append([]string{""}, v.chart(v.Say("Completed by agent%s", within), completed, width)...)
	}
	if len(attempts) > 0 {
		slices.SortStableFunc(attempts, func(a, b bar) int { return cmp.Compare(b.n, a.n) })
		lines = append(lines, "")
		lines = append(lines, v.chart(v.Say("Attempts by agent%s", within), attempts, width)...)
	}
	return lines
}
