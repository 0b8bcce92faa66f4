package sqlstore

import (
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// queueParts makes the queries of the queue. Each part of a query is a rank and a sorted source of calls, and the
// parts are disjoint. testdata/queue.sql shows the query of a user's queue, and the queries of a take, one for each
// part. TestQuestionsOfTheQueue compares it.
type queueParts struct {
	listQuery
	engine engine
	query  service.QueueQuery
	// The kinds that the query is narrowed to, if they are few. Nil checks the conditions on each call.
	kinds  []string
	ruled  bool             // The rules limit what is asked for: only the kinds below are given.
	open   []string         // The kinds of calls that were not deferred.
	due    []string         // The kinds of callbacks.
	lapsed []service.Lapsed // What ended before is not given.
	parts  []string
}

// maxKinds limits the kinds that are looked up one by one and merged.
const maxKinds = 128

// readyKinds looks each kind up in the order of an index. Of MIN, PostgreSQL walks over all calls if few were ready
// when it made its statistics.
const readyKinds = `WITH RECURSIVE k (kind) AS (
		SELECT (` + firstReady + ` ORDER BY q.kind, q.requested_at, q.call_uuid LIMIT 1)
		UNION ALL
		SELECT (` + firstReady + ` AND q.kind > k.kind ORDER BY q.kind, q.requested_at, q.call_uuid LIMIT 1)
		FROM k WHERE k.kind IS NOT NULL
	) SELECT kind FROM k WHERE kind IS NOT NULL`

const firstReady = `SELECT q.kind FROM queue_calls q WHERE q.ready = 1 AND q.due_at IS NULL`

// The kinds that are read. Kinds of callbacks, and of calls that no take has marked yet, take longer.
type whichKinds struct{ due, waking bool }

// newQueueParts reads the kinds if the query is narrowed, or if rules limit it.
func (r *reader) newQueueParts(query service.QueueQuery, which whichKinds) (*queueParts, error) {
	p := &queueParts{engine: r.engine, query: query, ruled: query.Rules.Limit(query.Scope)}
	isNarrow := !query.Scope.All || len(query.Types) > 0 || len(query.Languages) > 0
	if !isNarrow && !p.ruled {
		return p, nil
	}
	found, err := all(r.conn, readyKinds, nil, textDest)
	if err != nil {
		return nil, err
	}
	asked := slices.DeleteFunc(slices.Clone(found), func(kind string) bool { return !p.isAsked(kind) })
	isLimited := isNarrow || len(asked) < len(found)
	if isLimited && len(asked) <= maxKinds {
		p.kinds = append([]string{}, asked...)
	}
	if !p.ruled {
		return p, nil
	}
	p.lapsed = query.Rules.Lapsed(query.Scope, query.Now)
	return p, r.ruledKinds(p, asked, which)
}

// ruledKinds adds the kinds of callbacks, and of calls that no take has marked, to the kinds that may be offered.
func (r *reader) ruledKinds(p *queueParts, asked []string, which whichKinds) error {
	now := p.query.Now.UnixMilli()
	p.open = asked
	if which.waking {
		const text = `SELECT DISTINCT kind FROM queue_calls WHERE ready = 0 AND eligible_at <= $1 AND due_at IS NULL`
		waking, err := all(r.conn, text, []any{now}, textDest)
		if err != nil {
			return err
		}
		waking = slices.DeleteFunc(waking, func(kind string) bool { return !p.isAsked(kind) })
		p.open = append(slices.Clip(p.open), waking...)
	}
	if !which.due {
		return nil
	}
	due, err := all(r.conn, `SELECT DISTINCT kind FROM queue_calls WHERE due_at <= $1`, []any{now}, textDest)
	p.due = slices.DeleteFunc(due, func(kind string) bool {
		return !p.query.Rules.Permits(service.ParseQueueKind(kind))
	})
	return err
}

// isAsked reports whether calls of a kind that were not deferred are asked for, and are given now.
func (p *queueParts) isAsked(text string) bool {
	kind, rules := service.ParseQueueKind(text), p.query.Rules
	return p.isOfQuery(kind) && rules.Permits(kind) && rules.IsOpen(kind, p.query.Now)
}

// isOfQuery reports whether calls of a kind pass the query's filters.
func (p *queueParts) isOfQuery(kind service.QueueKind) bool {
	q := p.query
	isOfType := len(q.Types) == 0 || slices.Contains(q.Types, kind.Type)
	isOfLanguage := len(q.Languages) == 0 || kind.Language == "" || slices.Contains(q.Languages, kind.Language)
	return q.Scope.Contains(kind.Owner) && isOfType && isOfLanguage
}

// ofKinds returns the condition that a call is of one of some kinds, by the column kind or an expression with its
// value.
func (p *queueParts) ofKinds(column string, kinds []string) string {
	place := p.arg(nil)
	cond, arg := p.engine.amongTexts(column, place, kinds)
	p.args[len(p.args)-1] = arg
	return cond
}

// kindOfRow has the value of the column kind, and no index: a part is read in the order of its own index.
const kindOfRow = `(kind || '')`

// given returns the conditions of the rules for calls without a deferral, or for callbacks.
func (p *queueParts) given(kinds []string) []string {
	if !p.ruled {
		return nil
	}
	return append(p.notLapsed(), p.ofKinds(kindOfRow, kinds))
}

// notLapsed returns the conditions that the last pledge of the person did not end too long ago.
func (p *queueParts) notLapsed() []string {
	var conds []string
	for _, lapsed := range p.lapsed {
		conds = append(conds, `(ended_at IS NULL OR ended_at >= `+p.arg(lapsed.Before.UnixMilli())+
			` OR owner NOT`+isOne(bind(&p.listQuery, lapsed.Owners, identifier))+`)`)
	}
	return conds
}

// narrowed returns the conditions of the query's filters.
func (p *queueParts) narrowed() []string {
	var conds []string
	if placeholders, some := p.organizations(p.query.Scope); some {
		conds = append(conds, `owner`+isOne(placeholders))
	} else if !p.query.Scope.All {
		conds = append(conds, `1 = 0`)
	}
	if len(p.query.Types) > 0 {
		conds = append(
			conds,
			`type`+isOne(bind(&p.listQuery, p.query.Types, func(t apitype.CallType) any { return string(t) })),
		)
	}
	if len(p.query.Languages) > 0 {
		languages := append([]string{``}, p.query.Languages...)
		conds = append(
			conds,
			`language`+isOne(bind(&p.listQuery, languages, func(language string) any { return language })),
		)
	}
	return conds
}

// returned returns the condition that the user gave a call back a moment ago.
func (p *queueParts) returned() string {
	return `call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = ` + p.arg(identifier(*p.query.User)) + `
		AND r.ended_at > ` + p.arg(p.query.Returned.UnixMilli()) + ` AND r.ended_by = 'returned')`
}

// forUser returns the condition that no deferral reserves a call for another user.
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

// queuePart is a part of the queue: a rank, the column of its order, and conditions. The conditions are made on
// demand, because PostgreSQL refuses arguments that a statement does not use.
type queuePart struct {
	rank   int
	column string
	under  func() []string
}

func (p *queueParts) add(part queuePart) {
	after := p.query.After
	if after != nil && part.rank < after.Rank {
		return
	}
	conds := append(part.under(), p.eligible())
	if after != nil && part.rank == after.Rank {
		conds = append(
			conds,
			`(`+part.column+`, call_uuid) > (`+p.arg(after.At.UnixMilli())+`, `+p.arg(identifier(after.UUID))+`)`,
		)
	}
	positions := strconv.Itoa(part.rank) + ` AS position_rank, ` + part.column + ` AS position_at, call_uuid`
	rows := `SELECT ` + positions + ` FROM queue_calls WHERE ` + strings.Join(conds, ` AND `) + `
		ORDER BY ` + part.column + `, call_uuid LIMIT ` + p.arg(p.query.Limit)
	p.parts = append(p.parts, `SELECT * FROM (`+rows+`) AS part`+strconv.Itoa(len(p.parts)))
}

// eligible returns the condition that a call may be offered by now.
func (p *queueParts) eligible() string { return `eligible_at <= ` + p.arg(p.query.Now.UnixMilli()) }

const (
	rankKept = iota
	rankDue
	rankRequested
	rankReturned
)

// free adds to conditions that the user did not give the call back a moment ago.
func (p *queueParts) free(conds ...string) []string {
	if p.query.User == nil || !p.query.GaveBack {
		return conds
	}
	return append(conds, `NOT `+p.returned())
}

// deferred returns the part with the due deferrals.
func (p *queueParts) deferred(state string) []queuePart {
	under := func(alone bool) func() []string {
		return func() []string {
			conds := append(p.narrowed(), p.free(state, `due_at IS NOT NULL`, p.forUser(alone))...)
			return append(conds, p.given(p.due)...)
		}
	}
	var parts []queuePart
	if p.query.User != nil {
		parts = append(parts, queuePart{rankKept, `due_at`, under(true)})
	}
	return append(parts, queuePart{rankDue, `due_at`, under(false)})
}

// requested returns the part with calls without a deferral.
func (p *queueParts) requested(state string) queuePart {
	return queuePart{rankRequested, `requested_at`, func() []string {
		conds := append(p.narrowed(), p.free(state, `due_at IS NULL`)...)
		return append(conds, p.given(p.open)...)
	}}
}

// requestedOf returns the part with calls of a kind without a deferral.
func (p *queueParts) requestedOf(kind string) queuePart {
	return queuePart{rankRequested, `requested_at`, func() []string {
		return append(p.free(`kind = `+p.arg(kind), isReady, `due_at IS NULL`), p.notLapsed()...)
	}}
}

// givenBack returns the part with calls that the user gave back a moment ago.
func (p *queueParts) givenBack() queuePart {
	return queuePart{rankReturned, `requested_at`, func() []string {
		user, until := p.arg(identifier(*p.query.User)), p.arg(p.query.KeptUntil.UnixMilli())
		kept := `(kept_for IS NULL OR kept_for = ` + user + ` OR due_at <= ` + until + `)`
		conds := append(p.narrowed(), kept, p.returned())
		if !p.ruled {
			return conds
		}
		open := p.ofKinds(kindOfRow, p.open)
		due := p.ofKinds(kindOfRow, p.due)
		return append(
			append(conds, `(due_at IS NULL AND `+open+` OR due_at IS NOT NULL AND `+due+`)`),
			p.notLapsed()...)
	}}
}

// The states of what waits, as the indexes have them.
const (
	isReady  = `ready = 1`
	notReady = `ready = 0`
)

// positions reads the rows of the parts, which are used up then.
func (r *reader) positions(p *queueParts) ([]service.Position, error) {
	if len(p.parts) == 0 {
		return nil, nil
	}
	text := `SELECT position_rank, position_at, call_uuid FROM (` + strings.Join(p.parts, ` UNION ALL `) +
		`) AS positions ORDER BY position_rank, position_at, call_uuid LIMIT ` + p.arg(p.query.Limit)
	positions, err := all(
		r.conn,
		text,
		p.args,
		func(p *service.Position) []any { return []any{&p.Rank, timeDest{&p.At}, uuidDest{&p.UUID}} },
	)
	p.parts, p.args = nil, nil
	return positions, err
}

// QueuePositions returns the waiting calls in the order of takes. A read cannot mark calls that have become eligible,
// so it reads them, too.
func (r *reader) QueuePositions(query service.QueueQuery) ([]service.Position, error) {
	p, err := r.newQueueParts(query, whichKinds{due: true, waking: true})
	if err != nil || query.Limit == 0 {
		return nil, err
	}
	for _, state := range []string{isReady, notReady} {
		for _, part := range p.deferred(state) {
			p.add(part)
		}
	}
	if p.kinds == nil {
		p.add(p.requested(isReady))
	}
	for _, kind := range p.kinds {
		p.add(p.requestedOf(kind))
	}
	p.add(p.requested(notReady))
	if query.User != nil {
		p.add(p.givenBack())
	}
	return r.positions(p)
}

// NextInQueue returns the first waiting calls in the order of takes, up to the query's limit. No other take gets them
// before the transaction ends. It skips calls that others have locked. Most calls have no deferral, so the parts are
// read one by one.
func (t *tx) NextInQueue(query service.QueueQuery) ([]service.QueueRow, error) {
	p, err := t.newQueueParts(query, whichKinds{due: query.Due || query.GaveBack})
	if err != nil {
		return nil, err
	}
	var parts []queuePart
	if query.Due {
		parts = p.deferred(isReady)
	}
	switch len(p.kinds) {
	case 0:
		if p.kinds == nil {
			parts = append(parts, p.requested(isReady))
		}
	case 1:
		parts = append(parts, p.requestedOf(p.kinds[0]))
	default:
		parts = append(parts, queuePart{rank: rankRequested, column: `requested_at`})
	}
	if query.GaveBack {
		parts = append(parts, p.givenBack())
	}
	var rows []service.QueueRow
	for _, part := range parts {
		limit := query.Limit - len(rows)
		if limit == 0 {
			break
		}
		lock := t.lockPart
		if part.under == nil {
			lock = t.lockKinds
		}
		more, err := lock(p, part, limit)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// lockPart returns the first calls of a part, with their persons. It reads facts only of the calls that it got: others
// have many of the first.
func (t *tx) lockPart(p *queueParts, part queuePart, limit int) ([]service.QueueRow, error) {
	order := ` ORDER BY ` + part.column + `, call_uuid`
	conds := append(part.under(), p.eligible())
	locked := `SELECT * FROM queue_calls WHERE ` + strings.Join(conds, ` AND `) + order +
		` LIMIT ` + strconv.Itoa(limit) + t.engine.locking(`UPDATE SKIP LOCKED`)
	source := `, (SELECT p.doc FROM persons p WHERE p.uuid = c.person_uuid) FROM (` + locked + `) AS c`
	text := strings.Replace(queueFacts, `FROM queue_calls c`, source, 1) + order
	rows, err := all(
		t.conn,
		text,
		p.args,
		func(q *service.QueueRow) []any { return append(factsDest(q), docDest{&q.PersonDoc}) },
	)
	p.args = nil
	return rows, err
}

// spareOfKinds is the number of calls that are read beyond the needed ones, leastSpare the least of each kind: others
// may have locked the first ones.
const (
	spareOfKinds = 512
	leastSpare   = 8
)

// lockKinds returns the first calls of several kinds. It merges the first of each kind before it locks them, so that
// it locks no more calls than it returns.
func (t *tx) lockKinds(p *queueParts, part queuePart, limit int) ([]service.QueueRow, error) {
	spare := max(spareOfKinds/len(p.kinds), leastSpare)
	for p.query.Limit = limit + spare; ; p.query.Limit *= 4 {
		for _, kind := range p.kinds {
			p.add(p.requestedOf(kind))
		}
		positions, err := t.positions(p)
		if err != nil {
			return nil, err
		}
		ids := make([]apitype.UUID, len(positions))
		for i, position := range positions {
			ids[i] = position.UUID
		}
		cond, arg := t.amongWaiting(ids)
		p.arg(arg) // It is the first one.
		part.under = func() []string { return append([]string{cond, isReady, `due_at IS NULL`}, p.given(p.open)...) }
		rows, err := t.lockPart(p, part, limit)
		if err != nil || len(rows) == limit || len(positions) < p.query.Limit {
			return rows, err
		}
	}
}

// QueueWaiting counts the waiting calls: those without a deferral, up to the query's limit, and the due deferrals. A
// call that a user gave back counts like the others.
func (r *reader) QueueWaiting(query service.QueueQuery) (requested, due int, err error) {
	p, err := r.newQueueParts(query, whichKinds{due: true})
	if err != nil {
		return requested, due, err
	}
	// In the order of an index: PostgreSQL would read the table, and pass over all that are not eligible yet.
	order := ` ORDER BY requested_at, call_uuid`
	conds := []string{isReady, `due_at IS NULL`}
	switch {
	case p.ruled:
		order = ` ORDER BY kind, requested_at, call_uuid`
		conds = append(append(conds, p.ofKinds(`kind`, p.open)), p.notLapsed()...)
	case p.kinds == nil:
		conds = append(conds, p.narrowed()...)
	case len(p.kinds) == 0:
		conds = append(conds, `1 = 0`)
	default:
		kinds := bind(&p.listQuery, p.kinds, func(kind string) any { return kind })
		conds, order = append(conds, `kind`+isOne(kinds)), ` ORDER BY kind, requested_at, call_uuid`
	}
	overdue := append(
		p.narrowed(),
		isReady,
		`due_at <= `+p.arg(query.Now.UnixMilli()),
		`(kept_for IS NULL OR due_at <= `+p.arg(query.KeptUntil.UnixMilli())+
			` OR kept_for = `+p.arg(nullUUID(query.User))+`)`,
	)
	overdue = append(overdue, p.given(p.due)...)
	err = r.row(`SELECT
			(SELECT COUNT(*) FROM (SELECT 1 FROM queue_calls WHERE `+strings.Join(conds, ` AND `)+order+`
				LIMIT `+strconv.Itoa(query.Limit)+`) AS counted),
			(SELECT COUNT(*) FROM queue_calls WHERE `+strings.Join(overdue, `
				AND `)+`)`, p.args...).scan(&requested, &due)
	return requested, due, err
}

func (r *reader) QueueOldest(query service.QueueQuery) (*apitype.Time, error) {
	p, err := r.newQueueParts(query, whichKinds{due: true, waking: true})
	if err != nil {
		return nil, err
	}
	now := p.arg(query.Now.UnixMilli())
	where := func(kinds []string, conds ...string) string {
		return ` FROM queue_calls WHERE ` + strings.Join(append(conds, p.given(kinds)...), ` AND `)
	}
	first := where(p.open, isReady, `due_at IS NULL`) + ` ORDER BY requested_at, call_uuid LIMIT 1`
	due := where(p.due, `due_at <= `+now, `eligible_at <= `+now)
	waking := where(p.open, notReady, `due_at IS NULL`, `eligible_at <= `+now)
	text := `SELECT MIN(requested_at) FROM (
			SELECT requested_at FROM (SELECT requested_at` + first + `) AS a
			UNION ALL SELECT MIN(requested_at)` + due + `
			UNION ALL SELECT MIN(requested_at)` + waking + `
		) AS b`
	var oldest *apitype.Time
	err = r.row(text, p.args...).scan(nullTimeDest{&oldest})
	return oldest, err
}

func (r *reader) CallNodes(ids []apitype.UUID) (map[apitype.UUID]service.CallRow, error) {
	calls, bytes := make(map[apitype.UUID]service.CallRow, len(ids)), 0
	for some := range slices.Chunk(ids, 50) {
		cond, arg := r.engine.among("t.uuid", some)
		err := r.each(
			`SELECT t.uuid, t.doc, p.doc FROM calls t LEFT JOIN persons p ON p.number = t.person_number WHERE `+cond,
			[]any{arg},
			func(rows *sql.Rows) error {
				var call service.CallRow
				var person service.PersonRow
				err := rows.Scan(uuidDest{&call.UUID}, docDest{&call.Doc}, docDest{&person.Doc})
				if len(person.Doc) > 0 {
					call.PersonRow = &person
				}
				calls[call.UUID], bytes = call, bytes+len(call.Doc)
				return err
			},
		)
		if err != nil || bytes > service.PageBytes {
			return calls, err
		}
	}
	return calls, nil
}
