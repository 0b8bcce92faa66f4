package page

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// Floor is the page of a supervisor: the agents on a call, since when, today's results, and the waiting calls. It has
// no data of donors.
type Floor struct {
	*Env
	table widget.Table[apitype.QueueAgent, apitype.QueueAgent]
	floorRead
	read    bool // Once at least.
	reading bool
}

// waitingType is the number of waiting calls of one type.
type waitingType struct {
	kind  apitype.CallType
	state apitype.QueueState
}

// floorRead is a reading of the floor.
type floorRead struct {
	noQueue bool
	agents  []apitype.QueueAgent
	waiting []waitingType
}

// NewFloor returns the page of the floor.
func NewFloor(s *Env) *Floor {
	return &Floor{Env: s, table: wholeTable(s, render.QueueAgentList(s.queueAgent), itself[apitype.QueueAgent])}
}

// knownAgent returns the name of an agent, or "".
func knownAgent(e *Env, id apitype.UUID) string {
	if e.Day.Agent != nil && *e.Day.Agent == id {
		return e.Say("you")
	}
	return Clean(e.Day.AgentName(id))
}

// queueAgent returns the name of an agent on the Floor. The service may know agents that are in no setting. Without a
// name it returns enough of the identifier to tell agents apart.
func (e *Env) queueAgent(a apitype.QueueAgent) string {
	return cmp.Or(knownAgent(e, a.UserUUID), Clean(desk.Value(a.Name)), desk.ShortID(a.UserUUID))
}

// view returns how values are shown here.
func (e *Env) view() render.View {
	now := e.Day.Now()
	return render.View{Now: now, Location: now.Location(), Locale: e.Day.Locale, Result: e.Day.Codes.Words}
}

// Open implements Page.
func (v *Floor) Open() tea.Cmd { return v.Refresh() }

// Resize implements Page.
func (v *Floor) Resize(Layout) {}

// Scopes implements Page.
func (v *Floor) Scopes() []Scope { return []Scope{ScopeFloor, ScopeLists} }

// Scroll implements Page.
func (v *Floor) Scroll(by Step) tea.Cmd {
	v.table.Move(rowsOf(by, v.table.Height(), len(v.agents)), len(v.agents))
	return nil
}

// Poll reads the floor as it is now.
func (v *Floor) Poll() tea.Cmd { return v.Refresh() }

// Refresh implements Page.
func (v *Floor) Refresh() tea.Cmd {
	if v.reading {
		return nil
	}
	v.reading = true
	now := v.Day.Now()
	return Load(
		v.Env,
		"floor read",
		func(ctx context.Context) (floorRead, error) { return readFloor(ctx, v.Day.Client, now) },
		v.takeIn,
	)
}

// readFloor reads the agents, and the waiting calls of each type.
func readFloor(ctx context.Context, client *apiclient.Client, now time.Time) (floorRead, error) {
	var read floorRead
	has, err := client.Has(ctx, apitype.ExtensionQueue)
	if err != nil || !has {
		read.noQueue = err == nil
		return read, err
	}
	answer, err := apiclient.Decoded(
		client.Queue.Agents(ctx, apitype.QueueAgentsOptions{Since: new(apitype.NewTime(period(1).since(now)))}),
	)
	read.agents = answer.Agents
	for _, kind := range apitype.CallTypes {
		if err != nil {
			break
		}
		options := apitype.QueueOptions{QueueFilter: apitype.QueueFilter{Types: []apitype.CallType{kind}}}
		waiting := waitingType{kind: kind}
		waiting.state, err = apiclient.Decoded(client.Queue.State(ctx, options))
		read.waiting = append(read.waiting, waiting)
	}
	return read, err
}

func (v *Floor) takeIn(read floorRead, err error) tea.Cmd {
	v.reading = false
	if err != nil {
		v.FailRead("cannot read the floor", err)
		return nil
	}
	v.Day.Changes.NoteConnection(nil)
	chosen := apitype.UUID{}
	if i := v.table.Cursor(); i < len(v.agents) {
		chosen = v.agents[i].UserUUID
	}
	v.read, v.floorRead = true, read
	// Agents on a call come first. The order among them does not change with the time.
	order := func(a apitype.QueueAgent) string { return strconv.FormatBool(a.CallUUID == nil) + v.queueAgent(a) }
	slices.SortStableFunc(v.agents, func(a, b apitype.QueueAgent) int { return strings.Compare(order(a), order(b)) })
	if i := slices.IndexFunc(v.agents, func(a apitype.QueueAgent) bool { return a.UserUUID == chosen }); i >= 0 {
		v.table.Place(i, len(v.agents))
	}
	return nil
}

// Waits implements Waiter.
func (v *Floor) Waits() bool { return v.reading && !v.read }

// Lines implements Page.
func (v *Floor) Lines(l Layout) []string {
	s := v.Styles
	switch {
	case !v.read:
		return []string{"", s.Dim(" " + v.Say("reading") + v.Spinner.Sign())}
	case v.noQueue:
		return append(
			[]string{""},
			widget.Wrap(
				" "+v.Say(
					"The service has no queue, so it cannot show agents and waiting calls. %s counts what was done.",
					v.Host.KeyOf("page-stats"),
				),
				l.Width,
			)...)
	}
	frame := s.frame(l, l.Width)
	waiting := v.waitingLines(frame.Inner())
	rows := l.Rows() - len(waiting) - 2
	v.table.SetHeight(max(rows, 1))
	lines := v.table.Lines(
		v.agents,
		frame.Inner(),
		s.head,
		func(_ apitype.QueueAgent, chosen bool, line string) string {
			if chosen {
				return s.chosen(line)
			}
			return line
		},
	)
	if len(v.agents) == 0 {
		lines = append(lines, s.Dim(" "+v.Say("no agent has taken a call today")))
	}
	lines = append(widget.Block(lines, frame.Inner(), rows+1), v.chosenLine(frame.Inner()))
	lines = append([]string{frame.Top(v.summary())}, frame.Lines(lines...)...)
	lines = append(append(lines, frame.Rule(s.bold(v.Say("Waiting")), "")), frame.Lines(waiting...)...)
	return frame.Close(lines, l.Body)
}

// summary returns the counts of agents and of waiting calls.
func (v *Floor) summary() (agents, waiting string) {
	onCall := 0
	for _, a := range v.agents {
		if a.CallUUID != nil {
			onCall++
		}
	}
	var all apitype.QueueState
	for _, w := range v.waiting {
		all.Waiting, all.Due, all.Deferred = all.Waiting+w.state.Waiting, all.Due+w.state.Due, all.Deferred+w.state.Deferred
		all.Closed += w.state.Closed
	}
	agents = v.Say(
		"%s · %s, %d on a call",
		v.Day.Now().Format("15:04"),
		v.Day.Count(len(v.agents), "agent", "agents"),
		onCall,
	)
	waiting = v.Say("waiting %d · due %d · later %d", all.Waiting, all.Due, all.Deferred)
	if all.Closed > 0 {
		waiting += " · " + v.Say("outside hours %d", all.Closed)
	}
	return v.Styles.bold(agents), waiting
}

// chosenLine returns all that came of the calls of the agent under the cursor.
func (v *Floor) chosenLine(width int) string {
	if v.table.Cursor() >= len(v.agents) {
		return ""
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
		parts = append(parts, Clean(render.Results(a.ByResult)))
	}
	return " " + widget.Fit(strings.Join(parts, " · "), width-1)
}

// WhyNotOpen implements Opener.
func (v *Floor) WhyNotOpen() string {
	return desk.When(v.table.Cursor() >= len(v.agents), "there is no agent here")
}

// floorActions returns the actions of the floor.
func floorActions() []Action {
	return []Action{
		{
			ID: "free", Scope: ScopeFloor, Keys: "X",
			Help: "free what the agent holds…", Word: "free",
			Run: on((*Floor).AskFree), Why: onWhy((*Floor).WhyNotOpen),
		},
	}
}

// OpenRecord shows what the agent under the cursor holds. It names no donor.
func (v *Floor) OpenRecord() tea.Cmd {
	a := v.agents[v.table.Cursor()]
	read := func(ctx context.Context) (apitype.Leases, error) {
		return apiclient.Decoded(v.Day.Client.Queue.Leases(ctx, apitype.QueueLeaseListOptions{}))
	}
	return Load(v.Env, "leases of an agent read", read, func(held apitype.Leases, err error) tea.Cmd {
		if err != nil {
			v.FailRead("cannot read what agents hold", err)
			return nil
		}
		var lines []string
		for _, l := range held.Leases {
			if l.UserUUID != a.UserUUID {
				continue
			}
			what := "on the screen"
			if l.Ahead {
				what = "read ahead"
			}
			lines = append(lines, v.Say("call %s · %s · taken %s, until %s", desk.ShortID(l.CallUUID), v.Say(what),
				v.ago(l.TakenAt.Time), l.ExpiresAt.In(v.Day.Now().Location()).Format("15:04")))
		}
		if len(lines) == 0 {
			lines = []string{"No call."}
		}
		v.Dialog = &Text{Title: v.Say("Held by %s", v.queueAgent(a)), Lines: lines}
		return nil
	})
}

// AskFree asks before what the agent under the cursor holds goes back to the queue.
func (v *Floor) AskFree() tea.Cmd {
	a := v.agents[v.table.Cursor()]
	name := v.queueAgent(a)
	free := func(ctx context.Context) (apitype.ReleasedUser, error) {
		return apiclient.Decoded(v.Day.Client.Queue.ReleaseUser(ctx, apitype.ReleaseUserRequest{UserUUID: a.UserUUID}))
	}
	v.Dialog = &Confirm{
		Title: v.Say("Free what %s holds?", name),
		Lines: []string{
			v.Say("The calls go back to the queue, and other agents get them. Callbacks stay with %s.", name),
		},
		Yes: func() tea.Cmd {
			return Load(v.Env, "leases of an agent ended", free, func(freed apitype.ReleasedUser, err error) tea.Cmd {
				if err != nil {
					v.FailRead(v.Say("cannot free what %s holds", name), err)
					return nil
				}
				v.Messages.Say(v.Say("freed: %s of %s", v.Day.Count(freed.Leases, "call", "calls"), name))
				return v.Refresh()
			})
		},
	}
	return nil
}

// The columns of what waits, in cells.
const (
	waitingName   = 14
	waitingNumber = 10
	mostLanguages = 4
)

// waitingLines returns what waits by type and language, with its age and the callbacks that
// are due: as many languages as there is room for, and the others together.
func (v *Floor) waitingLines(width int) []string {
	languages, number := v.languages(), waitingNumber
	for _, language := range languages {
		number = max(number, render.Width(v.Say(Clean(render.Language(language))))+1)
	}
	room := min((width-waitingName)/number-3, mostLanguages) // Three columns follow them.
	hasOthers := len(languages) > room
	if hasOthers {
		languages = languages[:max(room-1, 0)]
	}
	line := func(name string, cells ...string) string {
		for i, cell := range cells {
			cells[i] = widget.FitRight(cell, number)
		}
		return widget.Fit(widget.Fit(" "+name, waitingName)+strings.Join(cells, ""), width)
	}
	var titles []string
	for _, language := range languages {
		titles = append(titles, v.Say(cmp.Or(Clean(render.Language(language)), "not known")))
	}
	if hasOthers {
		titles = append(titles, v.Say("others"))
	}
	lines := []string{
		v.Styles.head(line(v.Say("Type"), append(titles, v.Say("oldest"), v.Say("due"), v.Say("next hour"))...)),
	}
	for _, w := range v.waiting {
		left, oldest := w.state.Waiting, ""
		var numbers []string
		for _, language := range languages {
			numbers = append(numbers, fmt.Sprint(w.state.ByLanguage[language]))
			left -= w.state.ByLanguage[language]
		}
		if hasOthers {
			numbers = append(numbers, fmt.Sprint(left))
		}
		if w.state.OldestRequestedAt != nil {
			oldest = v.Day.Count(int(v.Day.Now().Sub(w.state.OldestRequestedAt.Time).Hours()/24), "day", "days")
		}
		lines = append(
			lines,
			line(
				v.Say(render.Words(string(w.kind))),
				append(numbers, oldest, fmt.Sprint(w.state.Due), fmt.Sprint(w.state.DueNextHour))...),
		)
	}
	return lines
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
