package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

const (
	longCall     = 10 * time.Minute // A call that needs a look.
	longPause    = 3 * time.Hour    // A time that is shown in hours.
	atWork       = time.Hour        // The time without a call after which an agent has probably gone.
	callBar      = 8                // Of the present call, in cells.
	paceStep     = 5 * time.Minute  // Of the line of calls.
	paceSteps    = 12
	leastForView = 14 // Rows of the page below which the table has them all.
	leastTable   = 4  // Lines of the table that all about the chosen agent leaves.
)

// agentCells returns the cells of an agent that depend on the Desk.
func (v *Floor) agentCells() render.AgentCells {
	return render.AgentCells{
		Name: v.queueAgent,
		Now: func(a apitype.QueueAgent) string {
			if a.State == apitype.UserPaused && a.Reason != nil {
				return v.Say(string(*a.Reason))
			}
			if a.CallUUID == nil {
				return v.Say("idle")
			}
			return v.Say(render.Words(string(*a.Type)))
		},
		Bar: func(a apitype.QueueAgent) string {
			if a.TakenAt == nil {
				return ""
			}
			return widget.Bar(int(v.since(a)), int(longCall), callBar, v.ASCII)
		},
		Since: func(a apitype.QueueAgent) string {
			text := strconv.Itoa(int(v.since(a)/time.Minute)) + " min"
			if v.since(a) >= longPause {
				text = strconv.Itoa(int(v.since(a)/time.Hour)) + " h"
			}
			if a.TakenAt != nil && v.since(a) >= longCall {
				text += " " + v.Styles.WarnSign
			}
			return text
		},
		LastHour: func(a apitype.QueueAgent) int { return v.lastHour[a.UserUUID] },
		Results:  v.results,
	}
}

// since returns how long the present call of an agent lasts, or else the pause, or else the time without a call.
func (v *Floor) since(a apitype.QueueAgent) time.Duration {
	at := cmp.Or(a.TakenAt, a.Since, &a.LastSeenAt)
	return max(v.Day.Now().Sub(at.Time), 0)
}

// notePace notes how many calls there were by now.
func (v *Floor) notePace() {
	total, now := 0, v.Day.Now()
	for _, a := range v.agents {
		total += a.Attempts + a.Completed
	}
	v.pace = append(v.pace, paceSample{now, total})
	v.pace = slices.DeleteFunc(v.pace, func(s paceSample) bool { return now.Sub(s.at) > (paceSteps+1)*paceStep })
}

// Lines implements Page.
func (v *Floor) Lines(l Layout) []string {
	s := v.Styles
	if !v.read {
		return []string{"", s.Dim(" " + v.Say("reading") + v.Spinner.Sign())}
	}
	if v.noQueue {
		none := v.Say(
			"The service has no queue, so it cannot show agents and waiting calls. %s counts what was done.",
			v.Host.KeyOf("page-stats"),
		)
		return append([]string{""}, widget.Wrap(" "+none, l.Width)...)
	}
	frame := s.frame(l, l.Width)
	p := v.partsOf(l, frame.Inner())
	lines := append([]string{frame.Top(v.summary())}, frame.Lines(p.look...)...)
	if v.hasDay(p.rows) {
		rows := len(v.agents) + 1 + len(v.chosenLines(frame.Inner())) // The head, and all about the chosen one.
		lines = append(lines, frame.Lines(v.tableLines(frame.Inner(), rows)...)...)
		lines = append(lines, v.dayLines(frame, p.rows-rows)...)
	} else {
		lines = append(lines, frame.Lines(v.tableLines(frame.Inner(), p.rows)...)...)
	}
	lines = append(append(lines, frame.Rule(s.bold(v.Say("Waiting")), "")), frame.Lines(p.waiting...)...)
	if len(p.today) > 0 {
		lines = append(append(lines, frame.Rule(s.bold(v.Say("Today")), "")), frame.Lines(p.today...)...)
	}
	return frame.Close(lines, l.Body)
}

// tableLines draws the agents, and all about the chosen one.
func (v *Floor) tableLines(width, height int) []string {
	chosen := v.chosenLines(width)
	chosen = chosen[:min(len(chosen), max(height-leastTable, 1))]
	v.table.SetHeight(max(height-1-max(len(chosen), 1), 1))
	lines := v.table.Lines(v.agents, width, v.Styles.head, func(_ apitype.QueueAgent, chosen bool, line string) string {
		if chosen {
			return v.Styles.chosen(line)
		}
		return line
	})
	if len(v.agents) == 0 {
		lines = append(lines, v.Styles.Dim(" "+v.Say("no agent has taken a call today")))
	}
	below := max(len(chosen), 1)
	return append(widget.Block(lines, width, max(height-below, 1)), widget.Block(chosen, width, below)...)
}

// lookLines returns what needs a look: long calls, agents without a call, due callbacks, the oldest call, and the
// message to all desks.
func (v *Floor) lookLines(width int) []string {
	var parts []string
	idle := 0
	for _, a := range v.agents {
		if a.TakenAt != nil && v.since(a) >= longCall {
			minutes := int(v.since(a) / time.Minute)
			parts = append(parts, v.Say("%s on one call for %d min", v.queueAgent(a), minutes))
		} else if a.TakenAt == nil && a.State != apitype.UserPaused && v.since(a) < atWork {
			idle++
		}
	}
	waiting, due, oldest := 0, 0, (*apitype.Time)(nil)
	for _, w := range v.waiting {
		waiting += w.state.Waiting
		due += w.state.Due
		if at := w.state.OldestRequestedAt; at != nil && (oldest == nil || at.Before(oldest.Time)) {
			oldest = at
		}
	}
	if waiting+due == 0 && idle > 0 {
		parts = append(parts, v.Say("no call is waiting for %s", v.Day.Count(idle, "idle agent", "idle agents")))
	}
	if due > 0 {
		parts = append(parts, v.Day.Count(due, "callback is overdue", "callbacks are overdue"))
	}
	if oldest != nil && v.Day.Now().Sub(oldest.Time) > overdue {
		parts = append(parts, v.Say("the oldest call was requested %s", v.ago(oldest.Time)))
	}
	var lines []string
	if len(parts) > 0 {
		for _, line := range widget.Wrap(v.Styles.WarnSign+" "+strings.Join(parts, " · "), width) {
			lines = append(lines, v.Styles.Warn(line))
		}
	}
	var told []string // A line for several organizations is one line.
	for _, m := range v.messages {
		if !slices.Contains(told, m.Text) {
			told = append(told, m.Text)
			lines = append(lines, widget.Wrap(v.Say("to all desks")+": "+Clean(m.Text), width)...)
		}
	}
	return lines
}

// summary returns the counts of agents and of waiting calls.
func (v *Floor) summary() (agents, waiting string) {
	onCall, paused := 0, 0
	for _, a := range v.agents {
		if a.CallUUID != nil {
			onCall++
		} else if a.State == apitype.UserPaused {
			paused++
		}
	}
	var all apitype.QueueState
	for _, w := range v.waiting {
		all.Waiting += w.state.Waiting
		all.Due += w.state.Due
		all.Deferred += w.state.Deferred
		all.Closed += w.state.Closed
	}
	agents = v.Say(
		"%s · %s, %d on a call",
		v.Day.Now().Format("15:04"),
		v.Day.Count(len(v.agents), "agent", "agents"),
		onCall,
	)
	if paused > 0 {
		agents += ", " + v.Say("%d paused", paused)
	}
	waiting = v.Say("waiting %d · due %d · later %d", all.Waiting, all.Due, all.Deferred)
	if all.Closed > 0 {
		waiting += " · " + v.Say("outside hours %d", all.Closed)
	}
	return v.Styles.bold(agents), waiting
}

// chosenLines returns all that came of the calls of the agent under the cursor.
func (v *Floor) chosenLines(width int) []string {
	if v.table.Cursor() >= len(v.agents) {
		return nil
	}
	a := v.agents[v.table.Cursor()]
	parts := []string{v.queueAgent(a), v.Say("seen %s", v.ago(a.LastSeenAt.Time))}
	if a.Cancelled+a.Expired > 0 {
		parts = append(parts, v.Say("cancelled %d, expired %d", a.Cancelled, a.Expired))
	}
	if a.Deferred > 0 { // Narrow terminals have no room for the column.
		parts = append(parts, v.Say("later")+" "+strconv.Itoa(a.Deferred))
	}
	if len(a.ByResult) > 0 {
		parts = append(parts, v.results(a))
	}
	var lines []string
	for i, line := range widget.Wrap(strings.Join(parts, " · "), width-1) {
		lines = append(lines, " "+[]string{"", " "}[min(i, 1)]+line)
	}
	return lines
}

// results returns what came of the calls of an agent, by the names of the results.
func (v *Floor) results(a apitype.QueueAgent) string {
	return Clean(render.ResultsNamed(a.ByResult, v.resultName))
}

// resultName returns a result as the Desk of an agent names it.
func (v *Floor) resultName(code string) string { return v.Say(v.Day.Codes.Name(code)) }

// todayLines returns the day of all agents in words, its pace, and the most frequent results as bars.
func (v *Floor) todayLines(width int) []string {
	var attempts, completed, later, hour int
	results := map[string]int{}
	for _, a := range v.agents {
		attempts, completed, later = attempts+a.Attempts, completed+a.Completed, later+a.Deferred
		hour += v.lastHour[a.UserUUID]
		for code, n := range a.ByResult {
			results[code] += n
		}
	}
	calls := attempts + completed
	if calls == 0 {
		return nil
	}
	share := completed * 100 / calls
	text := " " +
		v.Say("%d called · %d reached (%d %%) · %d an hour · %d callbacks", calls, completed, share, hour, later)
	if line := v.paceLine(); line != "" {
		text += "  " + line
	}
	return append([]string{widget.Fit(text, width)}, v.resultBars(results, width)...)
}

// paceLine draws the calls of each few minutes since the page was opened, or nothing before there are two.
func (v *Floor) paceLine() string {
	if len(v.pace) == 0 {
		return ""
	}
	now := v.pace[len(v.pace)-1].at
	var counts []int
	for _, s := range v.pace {
		step := int(now.Sub(s.at) / paceStep)
		for len(counts) <= step {
			counts = append(counts, 0)
		}
	}
	for i := 1; i < len(v.pace); i++ {
		counts[int(now.Sub(v.pace[i].at)/paceStep)] += max(v.pace[i].calls-v.pace[i-1].calls, 0)
	}
	if len(counts) < 2 {
		return ""
	}
	slices.Reverse(counts)
	return sparkline(v.Styles, counts)
}

// The bars of results, in cells.
const (
	resultLabel = 24
	resultBar   = 24
	mostResults = 5
)

// resultBars draws the most frequent results, two beside each other if there is room.
func (v *Floor) resultBars(results map[string]int, width int) []string {
	codes := slices.SortedFunc(maps.Keys(results), func(a, b string) int {
		return cmp.Or(cmp.Compare(results[b], results[a]), strings.Compare(a, b))
	})
	if len(codes) == 0 {
		return nil
	}
	highest, columns := results[codes[0]], max(width/(resultLabel+resultBar+6), 1)
	var lines []string
	for i, code := range codes[:min(len(codes), mostResults*columns)] {
		label := widget.Fit(" "+Clean(v.resultName(code)), resultLabel)
		bar := strings.Repeat(v.Styles.bars[0], max(results[code]*resultBar/highest, 1))
		cell := widget.Fit(label+widget.FitRight(fmt.Sprint(results[code]), 4)+" "+v.Styles.accent(bar), width/columns)
		if i%columns == 0 {
			lines = append(lines, "")
		}
		lines[len(lines)-1] += cell
	}
	return lines
}

// The columns of what waits, in cells.
const (
	waitingName   = 14
	waitingNumber = 10
	mostLanguages = 4
	leastBar      = 10
)

// waitingTable is the layout of what waits: columns for languages, three for ages and callbacks, and bars.
type waitingTable struct {
	languages []string
	hasOthers bool // The last column counts the languages without room.
	number    int  // Cells of a column.
	bar       int  // Cells of the longest bar. 0 draws none.
}

// waitingTable returns the columns that have room, and bars in the rest.
func (v *Floor) waitingTable(width int) waitingTable {
	t := waitingTable{languages: v.languages(), number: waitingNumber}
	for _, language := range t.languages {
		t.number = max(t.number, render.Width(v.Say(Clean(render.Language(language))))+3) // A sign precedes it.
	}
	room := min((width-waitingName)/t.number-3, mostLanguages) // Three columns follow them.
	t.hasOthers = len(t.languages) > room
	if t.hasOthers {
		t.languages = t.languages[:max(room-1, 0)]
	}
	columns := len(t.languages) + 3
	if t.hasOthers {
		columns++
	}
	if rest := width - waitingName - t.number*columns - 2; rest >= leastBar {
		t.bar = rest
	}
	return t
}

// line returns a line of the table without its bar.
func (t waitingTable) line(name string, cells ...string) string {
	var text strings.Builder
	text.WriteString(widget.Fit(" "+name, waitingName))
	for _, cell := range cells {
		text.WriteString(widget.FitRight(cell, t.number))
	}
	return text.String()
}

// waitingLines returns the waiting calls by type and language, with their age and the due callbacks. The rest of a line
// is a bar with a part for each language.
func (v *Floor) waitingLines(width int) []string {
	table := v.waitingTable(width)
	lines := []string{v.Styles.head(widget.Fit(table.line(v.Say("Type"), v.waitingTitles(table)...), width))}
	most := v.mostWaiting()
	for _, w := range v.waiting {
		oldest := ""
		if at := w.state.OldestRequestedAt; at != nil {
			oldest = v.Day.Count(int(v.Day.Now().Sub(at.Time).Hours()/24), "day", "days")
		}
		counts := table.counts(w)
		var cells []string
		for _, n := range counts {
			cells = append(cells, v.Day.Locale.Count(n))
		}
		cells = append(cells, oldest, v.Day.Locale.Count(w.state.Due), v.Day.Locale.Count(w.state.DueNextHour))
		text := table.line(v.Say(render.Words(string(w.kind))), cells...)
		if table.bar > 0 {
			text += "  " + v.waitingBar(counts, most, table.bar)
		}
		lines = append(lines, widget.Fit(text, width))
	}
	return lines
}

// waitingTitles returns the titles of the columns. A language has the sign of its part of a bar.
func (v *Floor) waitingTitles(table waitingTable) []string {
	var titles []string
	for _, language := range table.languages {
		titles = append(titles, v.Say(cmp.Or(Clean(render.Language(language)), "not known")))
	}
	if table.hasOthers {
		titles = append(titles, v.Say("others"))
	}
	if isSigned := table.bar > 0 && len(titles) > 1; isSigned {
		for i := range titles {
			titles[i] = v.languageSign(i) + " " + titles[i]
		}
	}
	return append(titles, v.Say("oldest"), v.Say("due"), v.Say("next hour"))
}

// counts returns how many calls of a type wait, by the columns of languages.
func (t waitingTable) counts(w waitingType) []int {
	var counts []int
	left := w.state.Waiting
	for _, language := range t.languages {
		n := w.state.ByLanguage[language]
		counts = append(counts, n)
		left -= n
	}
	if t.hasOthers {
		counts = append(counts, left)
	}
	return counts
}

// mostWaiting returns the number of waiting calls of the type that has most of them.
func (v *Floor) mostWaiting() int {
	most := 1
	for _, w := range v.waiting {
		most = max(most, w.state.Waiting)
	}
	return most
}

// languageSign marks a language in the bars of what waits.
func (v *Floor) languageSign(i int) string { return v.Styles.bars[i%len(v.Styles.bars)] }

// waitingBar draws a part for each number, in width cells for most.
func (v *Floor) waitingBar(counts []int, most, width int) string {
	bar, sum, drawn := "", 0, 0
	for i, n := range counts {
		sum += n
		cells := max(sum*width/most-drawn, 0) // A part that was drawn as one cell may be less.
		if n > 0 && cells == 0 && drawn < width {
			cells = 1
		}
		drawn += cells
		bar += strings.Repeat(v.languageSign(i), cells)
	}
	return v.Styles.accent(bar)
}

// languages returns the languages of the calls that wait, the most frequent first.
func (v *Floor) languages() []string {
	counts := map[string]int{}
	for _, w := range v.waiting {
		for language, n := range w.state.ByLanguage {
			counts[language] += n
		}
	}
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}
