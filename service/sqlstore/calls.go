package sqlstore

import (
	"database/sql"
	"slices"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// callColumns has the columns of a call, in the order of callDest. newCallColumns also has the columns of a new call,
// in the order of callValues, with references by identifier.
var (
	callColumns = []string{
		"uuid",
		"owner",
		"requested_at",
		"updated_at",
		"external",
		"external_application",
		"external_reference",
		"external_status",
		"private",
		"rev",
		"doc",
		"status",
		"completed_by",
	}
	newCallColumns = append(slices.Clip(callColumns), "person_number", "pledge_number")
	selectCall     = `SELECT ` + strings.Join(callColumns, `, `) + ` FROM calls t WHERE `
)

func callDest(c *service.CallRow) []any {
	return []any{
		uuidDest{&c.UUID},
		uuidDest{&c.Owner},
		timeDest{&c.RequestedAt},
		timeDest{&c.UpdatedAt},
		bitDest{&c.External},
		&c.ExternalApplication,
		&c.ExternalReference,
		&c.ExternalStatus,
		docDest{&c.Private},
		&c.Rev,
		docDest{&c.Doc},
		&c.Status,
		nullUUIDDest{&c.CompletedBy},
	}
}

func callValues(c service.CallRow) []any {
	return append(callDest(&c), identifier(c.Person), nullUUID(c.Case))
}

func (r *reader) Call(id apitype.UUID, scope service.Scope) (service.CallRow, error) {
	cond, args := one(id, scope, `t.owner`)
	var c service.CallRow
	err := r.row(selectCall+cond, args...).scan(callDest(&c)...)
	return c, err
}

// Calls with and without a reference of another program have separate indexes.
const (
	unlinkedCalls = `t.external_application IS NULL AND t.external_reference IS NULL`
	linkedCalls   = `(t.external_application IS NOT NULL OR t.external_reference IS NOT NULL)`
)

// callQuery filters calls; an error is of the database.
func (r *reader) callQuery(f service.CallFilter, part service.Range) (*listQuery, error) {
	q := &listQuery{table: "calls", time: "requested_at"}
	q.scope(f.Scope, `t.owner`)
	byTime := timeFilter{column: `updated_at`, parts: []string{unlinkedCalls, linkedCalls}}
	if f.ExternalReference != "" {
		q.checkBranches()
		q.conds = append(
			q.conds,
			q.text(`t.external_application`, f.ExternalApplication),
			q.text(`t.external_reference`, f.ExternalReference),
		)
		byTime.parts = byTime.parts[1:]
	} else if f.NoExternalReference {
		q.checkBranches()
		q.conds = append(q.conds, unlinkedCalls)
		byTime.parts = byTime.parts[:1]
	}
	q.statuses(f)
	if f.CompletedBy != nil && f.Person == nil {
		q.completedBy(f)
	}
	if f.RequestedFrom != nil {
		q.where(`t.requested_at >= %s`, f.RequestedFrom.UnixMilli())
	}
	if f.RequestedUntil != nil {
		q.where(`t.requested_at <= %s`, f.RequestedUntil.UnixMilli())
	}
	if f.RequestedAfter != nil {
		q.where(`t.requested_at > %s`, f.RequestedAfter.UnixMilli())
	}
	if f.CompletedBy != nil && f.Person == nil {
		return q, nil
	}
	if f.Person != nil { // A person has few calls, so the other filters check each of them.
		if f.CompletedBy != nil {
			q.where(`t.completed_by = %s`, identifier(*f.CompletedBy))
		}
		if f.UpdatedAfter != nil {
			q.where(`t.updated_at > %s`, f.UpdatedAfter.UnixMilli())
		}
		for _, cond := range q.conds {
			q.check(cond)
		}
		q.conds = nil
		q.checkBranches()
		q.where(`t.person_number = (SELECT number FROM persons WHERE uuid = %s)`, identifier(*f.Person))
		return q, nil
	}
	if f.UpdatedAfter != nil {
		byTime.after = *f.UpdatedAfter
		return q, r.filterByTime(q, byTime, part)
	}
	return q, nil
}

// completedBy uses the index by completing user, which has the columns of the other filters.
func (q *listQuery) completedBy(f service.CallFilter) {
	if f.UpdatedAfter != nil {
		q.where(`t.updated_at > %s`, f.UpdatedAfter.UnixMilli())
	}
	for _, cond := range q.conds {
		q.check(cond)
	}
	q.conds = nil
	q.checkBranches()
	q.where(`t.completed_by = %s`, identifier(*f.CompletedBy))
}

func (q *listQuery) text(column, text string) string {
	return column + ` = ` + q.arg(service.IndexedText(text))
}

// statuses filters calls by their own status, and by the status that another program gave them.
func (q *listQuery) statuses(f service.CallFilter) {
	byReference := f.ExternalReference != "" || f.NoExternalReference
	if f.ExternalStatus != "" {
		cond := q.text(`t.external_status`, f.ExternalStatus)
		if byReference {
			q.check(cond)
		} else {
			q.conds = append(q.conds, cond)
		}
	}
	var among []string
	for _, status := range f.Statuses {
		among = append(among, `t.status = `+q.arg(string(status)))
	}
	switch {
	case len(among) == 0:
	case byReference || f.ExternalStatus != "":
		q.check(strings.Join(among, ` OR `))
	default:
		q.checkBranches()
		q.branches = among
	}
}

func (r *reader) Calls(f service.CallFilter, part service.Range) ([]service.CallRow, error) {
	q, err := r.callQuery(f, part)
	if err != nil {
		return nil, err
	}
	columns, joins := q.included(f)
	text := q.page(columns, joins, part)
	return readPage(r, text, q.args, part, newCallNode(f).scan)
}

// included returns the columns of a page of calls for a filter's parts, and their joins, in the order of newCallNode.
func (q *listQuery) included(f service.CallFilter) (columns, joins string) {
	columns = `t.uuid, t.requested_at, t.doc`
	if f.WithRev {
		columns += `, t.rev`
	}
	if f.WithCompletedBy {
		columns += `, t.completed_by`
	}
	if f.WithPrivate {
		columns += `, t.private`
	}
	if f.WithPerson {
		columns += `, p.doc`
		joins += ` LEFT JOIN persons p ON p.number = t.person_number`
	}
	if f.WithQuality {
		columns += `, p.quality`
	}
	if f.WithPledge || (f.WithPledgeNumber && !f.Viewer.All) {
		columns += `, l.number`
		joins += ` LEFT JOIN pledges l ON l.number = t.pledge_number` + q.visible(f.Viewer, `l.owner`, `l.recruiting`)
	} else if f.WithPledgeNumber {
		columns += `, t.pledge_number` // Nothing of the pledge itself is read.
	}
	if f.WithPledge {
		columns += `, l.uuid, l.released_at, l.external, l.has_signature, l.doc, u.doc`
		joins += ` LEFT JOIN users u ON u.uuid = l.recruiter`
	}
	return columns, joins
}

// callNode is the present row of a list, with its joined rows. One callNode serves a whole page.
type callNode struct {
	call   service.CallRow
	person service.PersonRow
	pledge service.PledgeRow

	number                 sql.NullInt64 // Of the pledge. Null without one.
	external, hasSignature sql.NullBool  // Of the pledge.
	dest                   []any
}

func newCallNode(f service.CallFilter) *callNode {
	n := &callNode{}
	n.dest = []any{uuidDest{&n.call.UUID}, timeDest{&n.call.RequestedAt}, docDest{&n.call.Doc}}
	if f.WithRev {
		n.dest = append(n.dest, &n.call.Rev)
	}
	if f.WithCompletedBy {
		n.dest = append(n.dest, nullUUIDDest{&n.call.CompletedBy})
	}
	if f.WithPrivate {
		n.dest = append(n.dest, docDest{&n.call.Private})
	}
	if f.WithPerson {
		n.dest = append(n.dest, docDest{&n.person.Doc})
	}
	if f.WithQuality {
		n.dest = append(n.dest, docDest{&n.person.Quality})
	}
	if f.WithPledge || f.WithPledgeNumber {
		n.dest = append(n.dest, &n.number)
	}
	if f.WithPledge {
		n.dest = append(
			n.dest,
			uuidDest{&n.pledge.UUID},
			nullTimeDest{&n.pledge.ReleasedAt},
			&n.external,
			&n.hasSignature,
			docDest{&n.pledge.Doc},
			docDest{&n.pledge.RecruiterUser},
		)
	}
	return n
}

// scan reads a row. It copies the joined rows that exist.
func (n *callNode) scan(result *sql.Rows) (service.CallRow, error) {
	var c service.CallRow
	if err := result.Scan(n.dest...); err != nil {
		return c, err
	}
	c = n.call
	if len(n.person.Doc) > 0 {
		p := n.person
		c.PersonRow = &p
	}
	if n.number.Valid {
		l := n.pledge
		l.Number, l.External, l.HasSignature = n.number.Int64, n.external.Bool, n.hasSignature.Bool
		c.PledgeRow = &l
	}
	return c, nil
}

var insertCall = sync.OnceValue(func() string { return insertText("calls", newCallColumns) })

func (t *tx) InsertCall(c service.CallRow) error {
	return t.insert(insertCall(), callValues(c)...)
}

// UpdateCall saves a changed call. moved means that its status or the user of its completion changed. SQLite writes
// every index of a column that is set, even to the same value.
func (t *tx) UpdateCall(c service.CallRow, moved bool) error {
	set, args := ``, []any{identifier(c.UUID), c.Rev, c.UpdatedAt.UnixMilli(), c.Private, c.Doc}
	if moved {
		set, args = `, status = $6, completed_by = $7`, append(args, string(c.Status), nullUUID(c.CompletedBy))
	}
	return t.change(
		`UPDATE calls SET updated_at = $3, private = $4, doc = $5, rev = rev + 1`+set+` WHERE uuid = $1 AND rev = $2`,
		args...)
}
