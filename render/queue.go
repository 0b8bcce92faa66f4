package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
)

// QueueStateColumns are the columns of what waits in the queue.
func QueueStateColumns() []Column[apitype.QueueState] {
	type state = apitype.QueueState
	return []Column[state]{
		numberColumn("waiting", func(s state) int { return s.Waiting }),
		numberColumn("due", func(s state) int { return s.Due }),
		numberColumn("deferred", func(s state) int { return s.Deferred }),
		numberColumn("leased", func(s state) int { return s.Leased }),
		shown(timeColumn("oldestRequestedAt", "", func(s state) *apitype.Time { return s.OldestRequestedAt }), "oldest"),
	}
}

// LeaseColumns are the columns of leases.
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
	}
}

// QueueAgentColumns are the columns of the agents of the queue.
func QueueAgentColumns() []Column[apitype.QueueAgent] {
	type agent = apitype.QueueAgent
	return []Column[agent]{
		shown(column("userUuid", func(a agent) string { return uuidText(a.UserUUID) }), "agent"),
		shown(column("type", func(a agent) string { return text(a.Type) }), ""),
		shown(timeColumn("takenAt", "", func(a agent) *apitype.Time { return a.TakenAt }), "since"),
		shown(timeColumn("lastSeenAt", "", func(a agent) *apitype.Time { return &a.LastSeenAt }), "seen"),
		numberColumn("taken", func(a agent) int { return a.Taken }),
		numberColumn("attempts", func(a agent) int { return a.Attempts }),
		numberColumn("completed", func(a agent) int { return a.Completed }),
		numberColumn("cancelled", func(a agent) int { return a.Cancelled }),
		numberColumn("expired", func(a agent) int { return a.Expired }),
		numberColumn("released", func(a agent) int { return a.Released }),
		column("callUuid", func(a agent) string { return text(a.CallUUID) }),
		column("byResult", func(a agent) string {
			var parts []string
			for _, code := range slices.Sorted(maps.Keys(a.ByResult)) {
				parts = append(parts, code+"="+strconv.Itoa(a.ByResult[code]))
			}
			return strings.Join(parts, " ")
		}),
	}
}

// numberColumn is a count of a record.
func numberColumn[T any](name string, value func(T) int) Column[T] {
	return Column[T]{Name: name, Default: true, Right: true, Value: func(record T) string { return strconv.Itoa(value(record)) }}
}
