package sqlstore

import (
	"database/sql"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// pledgeColumns has the columns of a pledge, in the order of pledgeDest. newPledgeColumns also has the columns of a
// new pledge, in the order of pledgeValues, with its person by identifier.
var (
	pledgeColumns = []string{
		"uuid",
		"owner",
		"recruiting",
		"recruiter",
		"status",
		"created_at",
		"updated_at",
		"released_at",
		"external",
		"payment_qr",
		"has_signature",
		"private",
		"rev",
		"doc",
		"ended_at",
	}
	newPledgeColumns = append(slices.Clip(pledgeColumns), "person_number")
	// selectPledge reads pledges with their recruiters, in the order of pledgeReadDest.
	selectPledge = `SELECT t.` + strings.Join(pledgeColumns, `, t.`) + `, t.number, p.uuid, u.doc
	FROM pledges t
	JOIN persons p ON p.number = t.person_number
	LEFT JOIN users u ON u.uuid = t.recruiter
	WHERE `
)

func pledgeDest(p *service.PledgeRow) []any {
	return []any{
		uuidDest{&p.UUID},
		uuidDest{&p.Owner},
		uuidDest{&p.Recruiting},
		uuidDest{&p.Recruiter},
		&p.Status,
		timeDest{&p.CreatedAt},
		timeDest{&p.UpdatedAt},
		nullTimeDest{&p.ReleasedAt},
		bitDest{&p.External},
		bitDest{&p.PaymentQR},
		bitDest{&p.HasSignature},
		docDest{&p.Private},
		&p.Rev,
		docDest{&p.Doc},
		nullTimeDest{&p.EndedAt},
	}
}

func pledgeReadDest(p *service.PledgeRow) []any {
	return append(pledgeDest(p), &p.Number, uuidDest{&p.Person}, docDest{&p.RecruiterUser})
}

func pledgeValues(p service.PledgeRow) []any { return append(pledgeDest(&p), identifier(p.Person)) }

func (r *reader) Pledge(id apitype.UUID, scope service.Scope) (service.PledgeRow, error) {
	cond, args := one(id, scope, `t.owner`, `t.recruiting`)
	var p service.PledgeRow
	err := r.row(selectPledge+cond, args...).scan(pledgeReadDest(&p)...)
	return p, err
}

// pledgeQuery filters pledges; an error is of the database.
func (r *reader) pledgeQuery(f service.PledgeFilter, part service.Range) (*listQuery, error) {
	q := &listQuery{table: "pledges", time: "created_at"}
	q.pledgeScope(f.Scope)
	if f.Person != nil {
		q.checkBranches()
		// The person has to be visible. Otherwise the filter would tell an organization whose pledge it recruited.
		person := `uuid = ` + q.arg(identifier(*f.Person)) + q.visible(f.Scope, `owner`, `erased_owner`)
		q.conds = append(q.conds, `t.person_number = (SELECT number FROM persons WHERE `+person+`)`)
	}
	for _, filter := range []struct {
		given  bool
		column string
		value  any
	}{
		{f.Status != "", `status`, string(f.Status)},
		{f.PaymentQR != nil, `payment_qr`, bit(f.PaymentQR != nil && *f.PaymentQR)},
	} {
		switch {
		case !filter.given:
		case len(q.branches)+len(q.conds) > 0: // Another condition has the index.
			q.check(`t.` + filter.column + ` = ` + q.arg(filter.value))
		default:
			q.where(`t.`+filter.column+` = %s`, filter.value)
		}
	}
	if f.ReleasedAfter != nil {
		q.check(`t.external = 1 OR t.released_at <= ` + q.arg(f.ReleasedBy.UnixMilli())) // Spec gap: G2
		if f.UpdatedAfter != nil {
			q.check(`t.updated_at > ` + q.arg(f.UpdatedAfter.UnixMilli()))
		}
		return q, r.filterByTime(q, timeFilter{column: `released_at`, after: *f.ReleasedAfter}, part)
	}
	if f.UpdatedAfter != nil {
		return q, r.filterByTime(q, timeFilter{column: `updated_at`, after: *f.UpdatedAfter}, part)
	}
	return q, nil
}

// pledgeScope limits pledges to the owning or recruiting organizations of a scope. Its branches are disjoint, so that
// a pledge comes once. Spec gap: A3.
func (q *listQuery) pledgeScope(scope service.Scope) {
	places, some := q.organizations(scope)
	if !some {
		return
	}
	all := `(` + strings.Join(places, `, `) + `)`
	if len(places) > maxBranches {
		q.check(`t.owner IN ` + all + ` OR t.recruiting IN ` + all)
		return
	}
	for _, place := range places {
		// Many are recruited by their owner: those are passed over by the index.
		recruited := `CASE WHEN t.recruiting <> t.owner THEN t.recruiting END = ` + place
		q.branches = append(q.branches, `t.owner = `+place, recruited+` AND (t.owner NOT IN `+all+`) IS TRUE`)
	}
}

func (r *reader) Pledges(f service.PledgeFilter, part service.Range) ([]service.PledgeRow, error) {
	q, err := r.pledgeQuery(f, part)
	if err != nil {
		return nil, err
	}
	owner, joins := `NULL, NULL`, ` LEFT JOIN users u ON u.uuid = t.recruiter`
	if f.WithPersonOwner || f.WithPerson {
		owner, joins = `p.owner, p.uuid`, joins+` LEFT JOIN persons p ON p.number = t.person_number`
	}
	columns := `t.number, t.uuid, t.created_at, t.released_at, t.external, t.has_signature, t.doc, u.doc, ` + owner
	if f.WithRev {
		columns += `, t.rev`
	}
	if f.WithPerson {
		columns += `, p.doc`
	}
	return readPage(
		r,
		q.page(columns, joins, part),
		q.args,
		part,
		func(result *sql.Rows) (p service.PledgeRow, err error) {
			var person service.PersonRow
			dest := []any{
				&p.Number,
				uuidDest{&p.UUID},
				timeDest{&p.CreatedAt},
				nullTimeDest{&p.ReleasedAt},
				&p.External,
				&p.HasSignature,
				docDest{&p.Doc},
				docDest{&p.RecruiterUser},
				uuidDest{&p.PersonOwner},
				uuidDest{&p.Person},
			}
			if f.WithRev {
				dest = append(dest, &p.Rev)
			}
			if f.WithPerson {
				dest = append(dest, docDest{&person.Doc})
				p.PersonRow = &person
			}
			err = result.Scan(dest...)
			person.Owner = p.PersonOwner
			return p, err
		},
	)
}

func (r *reader) Signature(pledge apitype.UUID) ([]byte, error) {
	var content []byte
	err := r.row(`SELECT content FROM signatures WHERE pledge = $1`, identifier(pledge)).scan(&content)
	return content, err
}

func (r *reader) Transactions(pledges []int64) (map[int64][]service.TransactionRow, error) {
	cond, arg := r.engine.amongNumbers("pledge_number", pledges)
	of := make(map[int64][]service.TransactionRow, len(pledges))
	// All descending, the index has them in order; else whole documents are sorted.
	err := r.each(`SELECT pledge_number, doc FROM transactions WHERE `+cond+`
		ORDER BY pledge_number DESC, created_at DESC, uuid DESC`, []any{arg}, func(result *sql.Rows) error {
		var pledge int64
		var t service.TransactionRow
		err := result.Scan(&pledge, docDest{&t.Doc})
		of[pledge] = append(of[pledge], t)
		return err
	})
	return of, err
}

func (r *reader) Transaction(id apitype.UUID, scope service.Scope) (service.TransactionRow, error) {
	cond, args := one(id, scope, `l.owner`, `l.recruiting`)
	var t service.TransactionRow
	err := r.row(`SELECT t.uuid, l.uuid, t.created_at, t.method, t.doc
		FROM transactions t JOIN pledges l ON l.number = t.pledge_number WHERE `+cond, args...).
		scan(uuidDest{&t.UUID}, uuidDest{&t.Pledge}, timeDest{&t.CreatedAt}, &t.Method, docDest{&t.Doc})
	return t, err
}

func (t *tx) InsertPledge(p service.PledgeRow) error {
	return t.insert(insertText("pledges", newPledgeColumns), pledgeValues(p)...)
}

func (t *tx) PersonsOfPledges(ids []apitype.UUID) (map[apitype.UUID]apitype.UUID, error) {
	return byIdentifier(
		t.conn,
		`SELECT t.uuid, p.uuid FROM pledges t JOIN persons p ON p.number = t.person_number AND p.erased_at IS NULL
			WHERE `,
		`t.uuid`,
		ids,
		identifierOf,
	)
}

func (t *tx) UpdatePledge(p service.PledgeRow) error {
	return t.change(`UPDATE pledges SET
			recruiter = $3,
			status = $4,
			updated_at = $5,
			released_at = $6,
			doc = $7,
			private = $8,
			ended_at = $9,
			rev = rev + 1
		WHERE uuid = $1 AND rev = $2`,
		identifier(p.UUID), p.Rev,
		identifier(p.Recruiter),
		string(p.Status),
		p.UpdatedAt.UnixMilli(),
		nullTime(p.ReleasedAt),
		p.Doc,
		p.Private,
		nullTime(p.EndedAt),
	)
}

// signatureColumns and transactionColumns are the columns of new rows, in the order of
// the functions below.
var (
	signatureColumns   = []string{"pledge", "content"}
	transactionColumns = []string{"uuid", "pledge_number", "created_at", "method", "doc"}
)

func signatureValues(s service.SignatureRow) []any { return []any{uuidDest{&s.Pledge}, s.Content} }

func transactionValues(t service.TransactionRow) []any {
	return []any{uuidDest{&t.UUID}, identifier(t.Pledge), t.CreatedAt.UnixMilli(), t.Method, t.Doc}
}
