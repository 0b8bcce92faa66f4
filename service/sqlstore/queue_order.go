package sqlstore

import (
	"database/sql"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// queueParts makes the queries of the queue. Each part of one is a rank and a source of calls
// in order; they are disjoint.
type queueParts struct {
	listQuery
	query service.QueueQuery
	kinds []string // What is narrowed to, where that are few kinds; nil: look at the conditions.
	parts []string
}

// maxKinds is how many kinds are looked up one by one and merged.
const maxKinds = 32

// newQueueParts looks which kinds there are when the query is narrowed.
func (r *reader) newQueueParts(query service.QueueQuery) (*queueParts, error) {
	p := &queueParts{query: query}
	if query.Scope.All && len(query.Types) == 0 && len(query.Languages) == 0 {
		return p, nil
	}
	narrow := p.narrow()
	found := []string{}
	err := r.each(`WITH RECURSIVE k (kind) AS (
			SELECT MIN(kind) FROM queue_calls WHERE ready = 1 AND due_at IS NULL
			UNION ALL
			SELECT (SELECT MIN(q.kind) FROM queue_calls q WHERE q.ready = 1 AND q.due_at IS NULL AND q.kind > k.kind) FROM k WHERE k.kind IS NOT NULL
		) SELECT kind FROM k WHERE kind IS NOT NULL`, nil, func(rows *sql.Rows) error {
		var kind string
		err := rows.Scan(&kind)
		if narrow(kind) {
			found = append(found, kind)
		}
		return err
	})
	if len(found) <= maxKinds {
		p.kinds = found
	}
	return p, err
}

// narrow reports whether a kind is asked for.
func (p *queueParts) narrow() func(kind string) bool {
	owners := map[string]bool{}
	for _, id := range p.query.Scope.Organizations {
		owners[strings.ReplaceAll(id.String(), "-", "")] = true
	}
	return func(kind string) bool {
		owner, rest, _ := strings.Cut(kind, " ")
		callType, language, _ := strings.Cut(rest, " ")
		return (p.query.Scope.All || owners[owner]) &&
			(len(p.query.Types) == 0 || slices.Contains(p.query.Types, apitype.CallType(callType))) &&
			(len(p.query.Languages) == 0 || language == "" || slices.Contains(p.query.Languages, language))
	}
}

// narrowed are the conditions that the query is narrowed by.
func (p *queueParts) narrowed() (conds []string) {
	in := func(column string, values ...any) {
		places := make([]string, len(values))
		for i, value := range values {
			places[i] = p.arg(value)
		}
		conds = append(conds, column+` IN (`+strings.Join(places, `, `)+`)`)
	}
	if !p.query.Scope.All {
		values := []any{}
		for _, id := range p.query.Scope.Organizations {
			values = append(values, identifier(id))
		}
		in(`owner`, values...)
	}
	if len(p.query.Types) > 0 {
		values := []any{}
		for _, t := range p.query.Types {
			values = append(values, string(t))
		}
		in(`type`, values...)
	}
	if len(p.query.Languages) > 0 {
		values := []any{``}
		for _, language := range p.query.Languages {
			values = append(values, language)
		}
		in(`language`, values...)
	}
	return conds
}

// returned is the condition that the user gave a call back a moment ago.
func (p *queueParts) returned() string {
	return `call_uuid IN (SELECT r.call_uuid FROM queue_leases r WHERE r.user_uuid = ` + p.arg(identifier(*p.query.User)) +
		` AND r.ended_at > ` + p.arg(p.query.Returned.UnixMilli()) + ` AND r.ended_by = 'returned')`
}

// forUser is the condition that a deferral does not keep a call from the user.
func (p *queueParts) forUser(alone bool) string {
	if alone {
		return `kept_for = ` + p.arg(identifier(*p.query.User))
	}
	overdue := `due_at <= ` + p.arg(p.query.KeptUntil.UnixMilli())
	if p.query.User == nil {
		return `(kept_for IS NULL OR ` + overdue + `)`
	}
	return `(kept_for IS NULL OR (kept_for <> ` + p.arg(identifier(*p.query.User)) + ` AND ` + overdue + `))`
}

// add adds a part: a rank, sorted by a column, under conditions. They are made only when the
// part is not passed: PostgreSQL wants every argument to have a place.
func (p *queueParts) add(rank int, column string, under func() []string) {
	after := p.query.After
	if after != nil && rank < after.Rank {
		return
	}
	conds := append(under(), `eligible_at <= `+p.arg(p.query.Now.UnixMilli()))
	if after != nil && rank == after.Rank {
		conds = append(conds, `(`+column+`, call_uuid) > (`+p.arg(after.At.UnixMilli())+`, `+p.arg(identifier(after.UUID))+`)`)
	}
	p.parts = append(p.parts, `SELECT * FROM (SELECT `+string(rune('0'+rank))+` AS place_rank, `+column+` AS place_at, call_uuid FROM queue_calls WHERE `+
		strings.Join(conds, ` AND `)+` ORDER BY `+column+`, call_uuid LIMIT `+p.arg(p.query.Limit)+`) AS part`+string(rune('a'+len(p.parts)%26))+string(rune('a'+len(p.parts)/26)))
}

// The ranks of the queue.
const (
	rankKept = iota
	rankDue
	rankRequested
	rankReturned
)

// free adds to conditions that the user did not give the call back a moment ago.
func (p *queueParts) free(conds ...string) []string {
	if p.query.User == nil || !(p.query.Asleep || p.query.GaveBack) {
		return conds
	}
	return append(conds, `NOT `+p.returned())
}

// deferred adds what is due.
func (p *queueParts) deferred(state string) {
	under := func(alone bool) func() []string {
		return func() []string {
			return append(p.narrowed(), p.free(state, `due_at IS NOT NULL`, p.forUser(alone))...)
		}
	}
	if p.query.User != nil {
		p.add(rankKept, `due_at`, under(true))
	}
	p.add(rankDue, `due_at`, under(false))
}

// requested adds what was not deferred.
func (p *queueParts) requested(state string) {
	if p.kinds == nil || state == asleep {
		p.add(rankRequested, `requested_at`, func() []string { return append(p.narrowed(), p.free(state, `due_at IS NULL`)...) })
		return
	}
	for _, kind := range p.kinds {
		p.add(rankRequested, `requested_at`, func() []string { return p.free(`kind = `+p.arg(kind), state, `due_at IS NULL`) })
	}
}

// givenBack adds what the user gave back a moment ago.
func (p *queueParts) givenBack() {
	if p.query.User == nil {
		return
	}
	p.add(rankReturned, `requested_at`, func() []string {
		kept := `(kept_for IS NULL OR kept_for = ` + p.arg(identifier(*p.query.User)) + ` OR due_at <= ` + p.arg(p.query.KeptUntil.UnixMilli()) + `)`
		return append(p.narrowed(), kept, p.returned())
	})
}

// The states of what waits, as the indexes have them.
const (
	awake  = `ready = 1`
	asleep = `ready = 0`
)

// places reads the places that the parts give; then there are none.
func (r *reader) places(p *queueParts, limit int) (places []service.QueuePlace, err error) {
	if len(p.parts) == 0 {
		return nil, nil
	}
	text := `SELECT place_rank, place_at, call_uuid FROM (` + strings.Join(p.parts, ` UNION ALL `) +
		`) AS places ORDER BY place_rank, place_at, call_uuid LIMIT ` + p.arg(limit)
	err = r.each(text, p.args, func(rows *sql.Rows) error {
		var place service.QueuePlace
		err := rows.Scan(&place.Rank, timeDest{&place.At}, uuidDest{&place.UUID})
		places = append(places, place)
		return err
	})
	p.parts, p.args = nil, nil
	return places, err
}

// QueuePlaces are the calls that wait, in the order in which they are taken. What takes calls
// mostly needs those alone that were not deferred: they are read by themselves.
func (r *reader) QueuePlaces(query service.QueueQuery) (places []service.QueuePlace, err error) {
	p, err := r.newQueueParts(query)
	if err != nil || query.Limit == 0 {
		return nil, err
	}
	if query.Asleep {
		for _, state := range []string{awake, asleep} {
			p.deferred(state)
			p.requested(state)
		}
		p.givenBack()
		return r.places(p, query.Limit)
	}
	parts := []func(){func() { p.requested(awake) }}
	if query.GaveBack {
		parts = append(parts, p.givenBack)
	}
	if query.Due {
		parts = slices.Insert(parts, 0, func() { p.deferred(awake) })
	}
	for _, part := range parts {
		if len(places) >= query.Limit {
			break
		}
		part()
		more, err := r.places(p, query.Limit-len(places))
		if err != nil {
			return nil, err
		}
		places = append(places, more...)
	}
	return places, nil
}

// QueueRest is how many calls wait, up to the limit, and when the next deferred one is due. What
// a user gave back waits like the others.
func (r *reader) QueueRest(query service.QueueQuery) (waiting int, next *apitype.Time, err error) {
	p, err := r.newQueueParts(query)
	if err != nil {
		return 0, nil, err
	}
	var under []string
	switch {
	case p.kinds == nil:
		under = p.narrowed()
	case len(p.kinds) == 0:
		under = []string{`1 = 0`}
	default:
		places := make([]string, len(p.kinds))
		for i, kind := range p.kinds {
			places[i] = p.arg(kind)
		}
		under = []string{`kind IN (` + strings.Join(places, `, `) + `)`}
	}
	// In the order of an index: PostgreSQL would read the table, and pass over all that sleep.
	order := ` ORDER BY requested_at, call_uuid`
	if p.kinds != nil {
		order = ` ORDER BY kind, requested_at, call_uuid`
	}
	requested := `SELECT 1 FROM queue_calls WHERE ` + strings.Join(append(under, awake, `due_at IS NULL`), ` AND `) + order + ` LIMIT ` + p.arg(query.Limit)
	later := append(p.narrowed(), `due_at > `+p.arg(query.Now.UnixMilli()))
	if query.User != nil {
		later = append(later, `(kept_for IS NULL OR kept_for = `+p.arg(identifier(*query.User))+`)`)
	}
	text := `SELECT (SELECT COUNT(*) FROM (` + requested + `) AS counted), (SELECT MIN(due_at) FROM queue_calls WHERE ` + strings.Join(later, ` AND `) + `),
		(SELECT 1 FROM queue_calls WHERE due_at <= ` + p.arg(query.Now.UnixMilli()) + ` ORDER BY due_at, call_uuid LIMIT 1) IS NOT NULL`
	var due bool
	if err := r.row(text, p.args...).scan(&waiting, nullTimeDest{&next}, &due); err != nil || !due {
		return waiting, next, err
	}
	d := &queueParts{query: query}
	conds := append(d.narrowed(), awake, `due_at <= `+d.arg(query.Now.UnixMilli()))
	kept := `kept_for IS NULL OR due_at <= ` + d.arg(query.KeptUntil.UnixMilli())
	if query.User != nil {
		kept += ` OR kept_for = ` + d.arg(identifier(*query.User))
	}
	var overdue int
	err = r.row(`SELECT COUNT(*) FROM queue_calls WHERE `+strings.Join(conds, ` AND `)+` AND (`+kept+`)`, d.args...).scan(&overdue)
	return min(waiting+overdue, query.Limit), next, err
}

// QueueOldest is when the oldest call was requested that waits.
func (r *reader) QueueOldest(query service.QueueQuery) (oldest *apitype.Time, err error) {
	err = r.row(`SELECT MIN(requested_at) FROM (
			SELECT requested_at FROM (SELECT requested_at FROM queue_calls WHERE ready = 1 AND due_at IS NULL ORDER BY requested_at, call_uuid LIMIT 1) AS a
			UNION ALL SELECT MIN(requested_at) FROM queue_calls WHERE due_at <= $1 AND eligible_at <= $1
			UNION ALL SELECT MIN(requested_at) FROM queue_calls WHERE ready = 0 AND eligible_at <= $1
		) AS b`, query.Now.UnixMilli()).scan(nullTimeDest{&oldest})
	return oldest, err
}

// QueueState counts the calls that wait.
func (r *reader) QueueState(query service.QueueQuery) (s service.QueueState, err error) {
	p := &queueParts{query: query}
	now := p.arg(query.Now.UnixMilli())
	conds := p.narrowed()
	kept := `(due_at IS NULL OR ` + p.forUser(false)
	if query.User != nil {
		kept += ` OR ` + p.forUser(true)
	}
	kept += `)`
	s.ByType, s.ByLanguage = map[apitype.CallType]int{}, map[string]int{}
	where := ``
	if len(conds) > 0 {
		where = ` WHERE ` + strings.Join(conds, ` AND `)
	}
	text := `SELECT type, language, SUM(waits), SUM(CASE WHEN due_at IS NULL THEN 0 ELSE waits END), SUM(deferred), MIN(CASE WHEN waits = 1 THEN requested_at END) FROM (
			SELECT type, language, due_at, requested_at,
				CASE WHEN eligible_at <= ` + now + ` AND ` + kept + ` THEN 1 ELSE 0 END AS waits,
				CASE WHEN due_at > ` + now + ` THEN 1 ELSE 0 END AS deferred
			FROM queue_calls` + where + `
		) AS counted GROUP BY type, language`
	err = r.each(text, p.args, func(rows *sql.Rows) error {
		var callType apitype.CallType
		var language string
		var waits, due, deferred int
		var oldest *apitype.Time
		err := rows.Scan(&callType, &language, &waits, &due, &deferred, nullTimeDest{&oldest})
		s.Waiting, s.Due, s.Deferred = s.Waiting+waits, s.Due+due, s.Deferred+deferred
		if waits > 0 {
			s.ByType[callType] += waits
			s.ByLanguage[language] += waits
			if s.OldestRequestedAt == nil || oldest.Before(s.OldestRequestedAt.Time) {
				s.OldestRequestedAt = oldest
			}
		}
		return err
	})
	if err != nil {
		return s, err
	}
	l := &queueParts{query: query}
	leased := append(l.narrowed(), `ended_at IS NULL AND expires_at > `+l.arg(query.Now.UnixMilli()))
	err = r.row(`SELECT COUNT(*) FROM queue_leases WHERE `+strings.Join(leased, ` AND `), l.args...).scan(&s.Leased)
	return s, err
}

// CallNodes are some calls with their persons, as lists send them.
func (r *reader) CallNodes(ids []apitype.UUID) (map[apitype.UUID]service.CallRow, error) {
	calls := make(map[apitype.UUID]service.CallRow, len(ids))
	cond, arg := r.engine.among("t.uuid", ids)
	err := r.each(`SELECT t.uuid, t.doc, p.doc FROM calls t LEFT JOIN persons p ON p.number = t.person_number WHERE `+cond, []any{arg}, func(rows *sql.Rows) error {
		var call service.CallRow
		var person service.PersonRow
		err := rows.Scan(uuidDest{&call.UUID}, docDest{&call.Doc}, docDest{&person.Doc})
		if person.Doc != nil {
			call.PersonRow = &person
		}
		calls[call.UUID] = call
		return err
	})
	return calls, err
}
