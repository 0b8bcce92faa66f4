package render

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
)

// QueueStateColumns returns the columns of the queue's state.
func QueueStateColumns() []Column[apitype.QueueState] {
	type state = apitype.QueueState
	return []Column[state]{
		numberColumn("waiting", func(s state) int { return s.Waiting }),
		numberColumn("due", func(s state) int { return s.Due }),
		numberColumn("deferred", func(s state) int { return s.Deferred }),
		numberColumn("dueNextHour", func(s state) int { return s.DueNextHour }),
		numberColumn("leased", func(s state) int { return s.Leased }),
		shown(
			timeColumn("oldestRequestedAt", "", func(s state) *apitype.Time { return s.OldestRequestedAt }),
			"oldest",
		),
		numberColumn("closed", func(s state) int { return s.Closed }),
		shown(timeColumn("opensAt", "", func(s state) *apitype.Time { return s.OpensAt }), "opens"),
	}
}

// LeaseColumns returns the columns of leases.
func LeaseColumns() []Column[apitype.Lease] {
	type lease = apitype.Lease
	return []Column[lease]{
		shown(column("leaseUuid", func(l lease) string { return uuidText(l.LeaseUUID) }), "lease"),
		shown(column("callUuid", func(l lease) string { return uuidText(l.CallUUID) }), "call"),
		shown(column("call.type", func(l lease) string { return string(l.Call.Value().Type) }), "type"),
		shown(column("person", func(l lease) string { return PersonName(l.Call.Value().Person.Value()) }), ""),
		shown(timeColumn("expiresAt", "", func(l lease) *apitype.Time { return &l.ExpiresAt }), "expires"),
		timeColumn("takenAt", "taken", func(l lease) *apitype.Time { return &l.TakenAt }),
		timeColumn("dueAt", "due", func(l lease) *apitype.Time { return l.DueAt }),
		column("userUuid", func(l lease) string { return uuidText(l.UserUUID) }),
		titled(userColumn(func(l lease) (*string, *apitype.UUID) { return l.Name, &l.UserUUID }), "user"),
		column("ahead", func(l lease) string { return strconv.FormatBool(l.Ahead) }),
	}
}

// HeldColumns returns the columns of leases in the list of all users, which shows no call.
func HeldColumns() []Column[apitype.Lease] {
	columns := slices.DeleteFunc(
		LeaseColumns(),
		func(c Column[apitype.Lease]) bool { return c.Name == "call.type" || c.Name == "person" },
	)
	for i, c := range columns {
		columns[i].Default = slices.Contains([]string{"name", "takenAt", "expiresAt", "ahead"}, c.Name)
	}
	return columns
}

// ReleasedColumns returns the columns of a user's released leases.
func ReleasedColumns() []Column[apitype.ReleasedUser] {
	type released = apitype.ReleasedUser
	return []Column[released]{
		numberColumn("leases", func(r released) int { return r.Leases }),
		numberColumn("deferrals", func(r released) int { return r.Deferrals }),
	}
}

// UserStateColumns returns the columns of the state of a user.
func UserStateColumns() []Column[apitype.UserState] {
	type state = apitype.UserState
	return []Column[state]{
		titled(column("userUuid", func(s state) string { return uuidText(s.UserUUID) }), "user"),
		shown(column("state", func(s state) string { return string(s.State) }), "state"),
		shown(column("reason", func(s state) string { return text(s.Reason) }), "reason"),
		shown(timeColumn("since", "", func(s state) *apitype.Time { return &s.Since }), "since"),
		titled(numberColumn("released", func(s state) int { return s.Released }), "given back"),
	}
}

// MessageColumns returns the columns of the lines to all desks.
func MessageColumns() []Column[apitype.QueueMessage] {
	type message = apitype.QueueMessage
	return []Column[message]{
		shown(column("text", func(m message) string { return m.Text }), "text"),
		shown(timeColumn("at", "", func(m message) *apitype.Time { return &m.At }), "sent"),
		column("organizationUuid", func(m message) string { return uuidText(m.OrganizationUUID) }),
		column("userUuid", func(m message) string { return text(m.UserUUID) }),
	}
}

// DeferralColumns returns the columns of callbacks.
func DeferralColumns() []Column[apitype.Deferral] {
	type deferral = apitype.Deferral
	return []Column[deferral]{
		titled(column("callUuid", func(d deferral) string { return uuidText(d.CallUUID) }), "call"),
		shown(timeColumn("notBefore", "", func(d deferral) *apitype.Time { return &d.NotBefore }), "due"),
		shown(column("personName", func(d deferral) string { return text(d.PersonName) }), "person"),
		shown(column("type", func(d deferral) string { return string(d.Type) }), "type"),
		shown(userColumn(func(d deferral) (*string, *apitype.UUID) { return d.Name, d.UserUUID }), "user"),
		column("userUuid", func(d deferral) string { return text(d.UserUUID) }),
		column("personUuid", func(d deferral) string { return uuidText(d.PersonUUID) }),
		column("reason", func(d deferral) string { return text(d.Reason) }),
	}
}

// userColumn returns the name of a user, or the identifier if the service does not know the name.
func userColumn[T any](of func(T) (name *string, id *apitype.UUID)) Column[T] {
	return column("name", func(value T) string {
		name, id := of(value)
		return cmp.Or(text(name), text(id))
	})
}

// QueueAgentColumns returns the columns of the agents of the queue.
func QueueAgentColumns() []Column[apitype.QueueAgent] {
	type agent = apitype.QueueAgent
	return []Column[agent]{
		shown(userColumn(func(a agent) (*string, *apitype.UUID) { return a.Name, &a.UserUUID }), "agent"),
		{
			Name:    "type",
			Title:   "now",
			Default: true,
			Value:   func(a agent) string { return text(a.Type) },
			Cell: func(a agent, _ View) Text {
				if a.State == apitype.UserPaused {
					return Text{Text: "paused (" + text(a.Reason) + ")", Role: Waiting}
				}
				if a.CallUUID == nil {
					return Text{Text: "idle", Role: Waiting}
				}
				return Text{Text: Words(text(a.Type))}
			},
		},
		shown(timeColumn("takenAt", "", func(a agent) *apitype.Time { return a.TakenAt }), "since"),
		column("state", func(a agent) string { return string(a.State) }),
		column("reason", func(a agent) string { return text(a.Reason) }),
		titled(timeColumn("since", "", func(a agent) *apitype.Time { return a.Since }), "state since"),
		shown(timeColumn("lastSeenAt", "", func(a agent) *apitype.Time { return &a.LastSeenAt }), "seen"),
		numberColumn("taken", func(a agent) int { return a.Taken }),
		numberColumn("attempts", func(a agent) int { return a.Attempts }),
		titled(numberColumn("completed", func(a agent) int { return a.Completed }), "reached"),
		numberColumn("cancelled", func(a agent) int { return a.Cancelled }),
		numberColumn("expired", func(a agent) int { return a.Expired }),
		titled(numberColumn("released", func(a agent) int { return a.Released }), "given back"),
		titled(numberColumn("deferred", func(a agent) int { return a.Deferred }), "later"),
		column("callUuid", func(a agent) string { return text(a.CallUUID) }),
		column("userUuid", func(a agent) string { return uuidText(a.UserUUID) }),
		{
			Name:     "byResult",
			Title:    "results",
			Flexible: true,
			Value:    func(a agent) string { return Counted(a.ByResult, "=", " ") },
			Cell:     func(a agent, _ View) Text { return Text{Text: Results(a.ByResult)} },
		},
	}
}

// Results returns counts by result code in words, the most frequent first.
func Results(counts map[string]int) string { return Words(Counted(counts, " ", ", ")) }

// ResultsNamed returns counts by result with the names that agents see, the most frequent first.
func ResultsNamed(counts map[string]int, name func(code string) string) string {
	named := map[string]int{}
	for code, n := range counts {
		named[name(code)] += n
	}
	return Counted(named, " ", ", ")
}

// Counted returns counts by name, the most frequent first.
func Counted(counts map[string]int, is, and string) string {
	codes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, code := range codes {
		codes[i] = code + is + strconv.Itoa(counts[code])
	}
	return strings.Join(codes, and)
}

func titled[T any](c Column[T], title string) Column[T] {
	c.Title = title
	return c
}

// numberColumn returns a count of a record.
func numberColumn[T any](name string, value func(T) int) Column[T] {
	return Column[T]{
		Name:    name,
		Default: true,
		Right:   true,
		Value:   func(record T) string { return strconv.Itoa(value(record)) },
		Number:  func(record T) int64 { return int64(value(record)) },
	}
}

// AgentCells are the cells of agents in a list on the screen that depend on the Desk.
type AgentCells struct {
	Name     func(apitype.QueueAgent) string // From the profile or the service.
	Now      func(apitype.QueueAgent) string // The type of the present call, or the reason of a pause.
	Bar      func(apitype.QueueAgent) string // Of the present call.
	Since    func(apitype.QueueAgent) string // How long the call or the pause lasts.
	LastHour func(apitype.QueueAgent) int    // The calls of the last hour.
	Results  func(apitype.QueueAgent) string // With the names that agents see.
}

// QueueAgentList returns the columns of agents in a list on the screen, in their order.
func QueueAgentList(cells AgentCells) []Column[apitype.QueueAgent] {
	type agent = apitype.QueueAgent
	says := func(text func(agent) string) func(agent, View) Text {
		return func(a agent, _ View) Text { return Text{Text: text(a)} }
	}
	return onScreen(QueueAgentColumns(), []Column[agent]{
		{Name: "name", Width: 22, Cell: says(cells.Name)},
		{Name: "type", Width: 12, Cell: says(cells.Now)},
		{Name: "takenAt", Width: 8, Cell: says(cells.Since)},
		{Name: "taken", Width: 5},
		{Name: "completed", Width: 7},
		{
			Name:  "share",
			Title: "%",
			Width: 4,
			Right: true,
			Cell:  says(reachedShare),
		},
		{Name: "attempts", Width: 8},
		{
			Name:  "lastHour",
			Title: "1 h",
			Width: 4,
			Right: true,
			Cell: says(func(a agent) string {
				return strconv.Itoa(cells.LastHour(a))
			}),
		},
		{Name: "deferred", Title: "Later", Width: 5},
		{
			Name:  "bar",
			Title: "Call",
			Width: 9,
			Cell:  says(cells.Bar),
		},
		{
			Name:  "byResult",
			Width: 12,
			Grow:  true,
			Items: true,
			Cell:  says(cells.Results),
		},
	})
}

// reachedShare returns how many of an agent's calls reached the donor, in percent, or an empty text without a call.
func reachedShare(a apitype.QueueAgent) string {
	calls := a.Attempts + a.Completed
	if calls == 0 {
		return ""
	}
	return strconv.Itoa(a.Completed * 100 / calls)
}
