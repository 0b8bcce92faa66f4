package page

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/say"
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
	pace    []paceSample // Since the page was opened, the oldest first.
	day     agentDay     // Of the chosen agent.
	moves   int          // Of the cursor, and readings of a day.
	sent    string       // The line to all desks that was sent last, perhaps. The next reading may not show it.
	layout  Layout
}

// paceSample is how many calls all agents had made today at a time.
type paceSample struct {
	at    time.Time
	calls int
}

// waitingType is the number of waiting calls of one type.
type waitingType struct {
	kind  apitype.CallType
	state apitype.QueueState
}

// floorRead is a reading of the floor.
type floorRead struct {
	noQueue  bool
	agents   []apitype.QueueAgent
	lastHour map[apitype.UUID]int // The calls of each agent.
	waiting  []waitingType
	messages []apitype.QueueMessage
}

// NewFloor returns the page of the floor.
func NewFloor(s *Env) *Floor {
	v := &Floor{Env: s}
	v.table = wholeTable(s, render.QueueAgentList(v.agentCells()), itself[apitype.QueueAgent])
	return v
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
	return cmp.Or(knownAgent(e, a.UserUUID), Clean(apitype.TextOf(a.Name)), render.ShortID(a.UserUUID))
}

// view returns how values are shown here.
func (e *Env) view() render.View {
	now := e.Day.Now()
	return render.View{
		Now:      now,
		Location: now.Location(),
		Locale:   e.Day.Locale,
		Result:   e.Day.Codes.Words,
	}
}

// Open implements Page.
func (v *Floor) Open() tea.Cmd { return v.Refresh() }

// Resize implements Page.
func (v *Floor) Resize(l Layout) { v.layout = l }

// Scopes implements Page.
func (v *Floor) Scopes() []Scope { return []Scope{ScopeFloor, ScopeLists} }

// Scroll implements Page.
func (v *Floor) Scroll(by Step) tea.Cmd {
	v.table.Move(rowsOf(by, v.table.Height(), len(v.agents)), len(v.agents))
	return v.cursorMoved()
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
	if err == nil {
		read.lastHour, err = readLastHour(ctx, client, now)
	}
	for _, kind := range apitype.CallTypes {
		if err != nil {
			break
		}
		options := apitype.QueueOptions{QueueFilter: apitype.QueueFilter{Types: []apitype.CallType{kind}}}
		waiting := waitingType{kind: kind}
		waiting.state, err = apiclient.Decoded(client.Queue.State(ctx, options))
		read.messages = waiting.state.Messages
		read.waiting = append(read.waiting, waiting)
	}
	return read, err
}

// readLastHour reads how many calls each agent made in the last hour.
func readLastHour(ctx context.Context, client *apiclient.Client, now time.Time) (map[apitype.UUID]int, error) {
	since := apitype.NewTime(now.Add(-time.Hour))
	answer, err := apiclient.Decoded(client.Queue.Agents(ctx, apitype.QueueAgentsOptions{Since: &since}))
	calls := map[apitype.UUID]int{}
	for _, a := range answer.Agents {
		calls[a.UserUUID] = a.Attempts + a.Completed
	}
	return calls, err
}

func (v *Floor) takeIn(read floorRead, err error) tea.Cmd {
	v.reading = false
	if err != nil {
		v.FailRead("cannot read the floor", err)
		return nil
	}
	v.Day.NoteConnection(nil)
	chosen := apitype.UUID{}
	if i := v.table.Cursor(); i < len(v.agents) {
		chosen = v.agents[i].UserUUID
	}
	v.read, v.floorRead = true, read
	v.notePace()
	// Agents on a call come first. The order among them does not change with the time.
	order := func(a apitype.QueueAgent) string { return strconv.FormatBool(a.CallUUID == nil) + v.queueAgent(a) }
	slices.SortStableFunc(v.agents, func(a, b apitype.QueueAgent) int { return strings.Compare(order(a), order(b)) })
	if i := slices.IndexFunc(v.agents, func(a apitype.QueueAgent) bool { return a.UserUUID == chosen }); i >= 0 {
		v.table.Place(i, len(v.agents))
	}
	return v.readDay()
}

// Waits implements Waiter.
func (v *Floor) Waits() bool { return v.reading && !v.read }

// WhyNotOpen implements Opener.
func (v *Floor) WhyNotOpen() string {
	return say.When(v.table.Cursor() >= len(v.agents), "there is no agent here")
}

// floorActions returns the actions of the floor.
func floorActions() []Action {
	return []Action{
		{
			ID:    "free",
			Scope: ScopeFloor,
			Keys:  "X",
			Help:  "release the calls of the agent…",
			Word:  "release",
			Run:   on((*Floor).AskFree),
			Why:   onWhy((*Floor).WhyNotOpen),
		},
		{
			ID:     "message",
			Scope:  ScopeFloor,
			Keys:   "t",
			Help:   "send a message to all desks…",
			Word:   "tell all",
			Run:    on((*Floor).AskMessage),
			Why:    onWhy((*Floor).WhyNoMessage),
			Traits: OpensLine,
		},
	}
}

// agentToday has an agent's leases and work of today.
type agentToday struct {
	leases []apitype.Lease
	work   apitype.AgentWork
	isKept bool // The service keeps what agents did.
}

// OpenRecord shows the leases of the agent under the cursor, and the work of today. It names no donor.
func (v *Floor) OpenRecord() tea.Cmd {
	a, now := v.agents[v.table.Cursor()], v.Day.Now()
	read := func(ctx context.Context) (agentToday, error) { return readAgent(ctx, v.Day.Client, a.UserUUID, now) }
	return LoadFront(v.Env, "day of an agent read", read, func(is agentToday, err error) tea.Cmd {
		if err != nil {
			v.FailRead("cannot read what the agent did", err)
			return nil
		}
		lines := v.heldLines(is.leases)
		if is.isKept {
			lines = append(append(lines, "", v.Styles.bold(v.Say("Today"))), v.workLines(is.work)...)
		}
		v.Dialog = &Text{Title: v.queueAgent(a), Lines: lines, late: openedLate(v.Day.Now)}
		return nil
	})
}

func readAgent(
	ctx context.Context,
	client *apiclient.Client,
	user apitype.UUID,
	now time.Time,
) (agentToday, error) {
	held, err := apiclient.Decoded(client.Queue.Leases(ctx, apitype.QueueLeaseListOptions{UserUUID: &user}))
	var is agentToday
	for _, l := range held.Leases {
		if l.UserUUID == user {
			is.leases = append(is.leases, l)
		}
	}
	is.isKept = client.Announces(apitype.ExtensionAttempts)
	if err != nil || !is.isKept {
		return is, err
	}
	options := apitype.AgentWorkOptions{Since: new(apitype.NewTime(period(1).since(now)))}
	is.work, err = apiclient.Decoded(client.Queue.Work(ctx, user, options))
	return is, err
}

// heldLines returns what an agent holds.
func (v *Floor) heldLines(leases []apitype.Lease) []string {
	lines := []string{v.Styles.bold(v.Say("Now"))}
	for _, l := range leases {
		what := "on the screen"
		if l.Pending {
			what = "not sent yet"
		} else if l.Ahead {
			what = "read ahead"
		}
		until := l.ExpiresAt.In(v.Day.Now().Location()).Format("15:04")
		lines = append(lines, v.Say("call %s · %s · taken %s, until %s",
			render.ShortID(l.CallUUID), v.Say(what), v.ago(l.TakenAt.Time), until))
	}
	if len(leases) == 0 {
		lines = append(lines, v.Say("no call"))
	}
	return lines
}

// workWord returns an operation of an agent in words.
func workWord(operation string) string {
	switch operation {
	case apitype.WorkAttempt:
		return "not reached"
	case apitype.WorkComplete:
		return "completed"
	case apitype.WorkCancel:
		return "cancelled"
	case apitype.WorkExpire:
		return "expired"
	case apitype.WorkDefer:
		return "later"
	case apitype.WorkRelease:
		return "given back"
	default:
		return ""
	}
}

// workLines returns what an agent did, the newest first.
func (v *Floor) workLines(work apitype.AgentWork) []string {
	var lines []string
	for _, w := range work.Work {
		at := w.Time.In(v.Day.Now().Location()).Format("15:04")
		text := at + "  " + widget.Fit(v.Say(render.Words(string(w.Type))), queueType+2) + v.Say(workWord(w.Operation))
		if w.Reason != nil {
			text += ", " + v.Say(card.ReasonWords(*w.Reason))
		} else if w.ResultCode != nil {
			text += ", " + Clean(v.Say(v.Day.Codes.Words(w.Type, *w.ResultCode)))
		}
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		lines = []string{v.Say("nothing yet")}
	} else if work.HasMore {
		lines = append(lines, v.Say("what was done before is too much to list"))
	}
	return lines
}

// WhyNoMessage returns why no line can be sent to all desks.
func (v *Floor) WhyNoMessage() string {
	return say.When(
		v.Day.Client == nil || !v.Day.Client.Announces(apitype.ExtensionMessage),
		"this service cannot send a message to all desks",
	)
}

// messageToAll owns the errors about the latest message to all desks.
const messageToAll = "message to all desks"

// keptMessage returns the message to all desks that was typed and not sent, or "".
func (v *Floor) keptMessage() string { return v.Day.Changes.Drafts.Lines[drafts.MessageLine] }

func (v *Floor) keepMessage(text string) { v.Day.Changes.Drafts.KeepLine(drafts.MessageLine, text) }

// AskMessage asks for the message to all desks. An empty one ends it.
func (v *Floor) AskMessage() tea.Cmd {
	known := []string{v.sent}
	for _, m := range v.messages {
		known = append(known, m.Text)
	}
	p := &Prompt{Title: v.Say("Message to all desks, empty to remove it"), done: func(text string) (string, tea.Cmd) {
		text = strings.TrimSpace(text)
		if n := utf8.RuneCountInString(text); n > apitype.MaxMessage {
			return v.Say("it has %d characters, 200 at most", n), nil
		}
		v.keepMessage(text) // Until it is sent.
		return "", Load(
			v.Env,
			"message to all desks sent",
			floor.SetMessage(v.Day.Client, floor.Message{User: v.Day.Agent, Text: text, Known: known}),
			func(_ int, err error) tea.Cmd {
				v.Messages.Over(messageToAll)
				if err == nil {
					v.sent = text
				}
				if err == nil && v.keptMessage() == text {
					v.keepMessage("")
				}
				switch {
				case errors.Is(err, floor.ErrOtherMessage):
					v.Messages.FailOf(messageToAll, "not sent: another message was sent meanwhile")
				case err != nil:
					what := "the message was not sent to all desks"
					if apiclient.KindOf(err) == apiclient.KindUnknownOutcome {
						what = "look at the message to all desks, then send it again"
						v.sent = text
					}
					v.Day.NoteConnection(err)
					v.Messages.FailOf(messageToAll, event.ErrorText(v.Say(what), err))
				case text == "":
					v.Messages.Say(v.Say("the message to all desks was removed"))
				default:
					v.Messages.Say(v.Say("sent to all desks"))
				}
				return v.Refresh()
			},
		)
	}}
	p.keep = v.keepMessage
	for _, m := range v.messages {
		p.Editor.SetValue(m.Text)
	}
	if kept := v.keptMessage(); kept != "" {
		p.Editor.SetValue(kept)
	}
	v.Dialog = p
	return nil
}

// AskFree asks before it releases the leases of the agent under the cursor.
func (v *Floor) AskFree() tea.Cmd {
	a := v.agents[v.table.Cursor()]
	name := v.queueAgent(a)
	free := func(ctx context.Context) (apitype.ReleasedUser, error) {
		return apiclient.Decoded(v.Day.Client.Queue.ReleaseUser(ctx, apitype.ReleaseUserRequest{UserUUID: a.UserUUID}))
	}
	v.Dialog = &Confirm{
		Title: v.Say("Release the calls of %s?", name),
		Lines: []string{
			v.Say("The calls go back to the queue, and other agents get them. Callbacks stay with %s.", name),
		},
		Yes: func() tea.Cmd {
			return Load(v.Env, "leases of an agent ended", free, func(freed apitype.ReleasedUser, err error) tea.Cmd {
				if apiclient.KindOf(err) == apiclient.KindUnknownOutcome {
					v.FailChange(v.Say("look at what %s has, then release it again", name), err)
					return v.Refresh()
				}
				if err != nil {
					v.FailChange(v.Say("cannot release the calls of %s", name), err)
					return nil
				}
				v.Messages.Say(v.Say("released: %s of %s", v.Day.Count(freed.Leases, "call", "calls"), name))
				return v.Refresh()
			})
		},
	}
	return nil
}
