package sqlstore

import (
	"database/sql"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Call is one call.
func (r *reader) Call(id apitype.UUID, scope service.Scope) (c service.CallRow, err error) {
	cond, args := one(id, scope, `t.owner`)
	err = r.row(`SELECT
			uuid,
			owner,
			person,
			pledge,
			requested_at,
			updated_at,
			external,
			external_application,
			external_reference,
			external_status,
			private,
			rev,
			doc
		FROM calls t WHERE `+cond, args...,
	).scan(
		uuidDest{&c.UUID},
		uuidDest{&c.Owner},
		uuidDest{&c.Person},
		nullUUIDDest{&c.Case},
		timeDest{&c.RequestedAt},
		timeDest{&c.UpdatedAt},
		&c.External,
		&c.ExternalApplication,
		&c.ExternalReference,
		&c.ExternalStatus,
		&c.Private,
		&c.Rev,
		docDest{&c.Doc},
	)
	return c, err
}

// callQuery filters calls; an error is of the database.
func (r *reader) callQuery(f service.CallFilter) (*listQuery, error) {
	q := &listQuery{table: "calls", time: "requested_at"}
	q.scope(f.Scope, `t.owner`)
	if f.ExternalStatus != "" {
		q.where(`t.external_status = %s`, f.ExternalStatus)
	}
	if f.ExternalReference != "" {
		q.where(`t.external_application = %s`, f.ExternalApplication)
		q.where(`t.external_reference = %s`, f.ExternalReference)
	}
	if f.NoExternalReference {
		q.conds = append(q.conds, `t.external_application IS NULL`, `t.external_reference IS NULL`)
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
	if f.UpdatedAfter != nil {
		return q, r.sortIfFew(q, `updated_at`, *f.UpdatedAfter)
	}
	return q, nil
}

// Calls is a part of the call list.
func (r *reader) Calls(f service.CallFilter, part service.Range) (rows []service.CallRow, beyond bool, err error) {
	q, err := r.callQuery(f)
	if err != nil {
		return nil, false, err
	}
	columns, joins := `t.uuid, t.requested_at, t.doc`, ``
	if f.WithPerson {
		columns += `, p.owner, p.doc`
		joins += ` LEFT JOIN persons p ON p.uuid = t.person`
	}
	if f.WithQuality {
		columns += `, p.quality`
	}
	if f.WithPledge {
		columns += `, l.uuid, l.owner, l.recruiting, l.released_at, l.external, l.has_signature, l.doc, u.doc`
		joins += ` LEFT JOIN pledges l ON l.uuid = t.pledge LEFT JOIN users u ON u.uuid = l.recruiter`
	}
	text := q.page(columns, joins, part)
	err = r.each(text, q.args, func(result *sql.Rows) error {
		c, err := scanCall(result, f, &beyond)
		rows = append(rows, c)
		return err
	})
	return rows, beyond, err
}

// scanCall reads a row of the list with the rows that were joined to it.
func scanCall(result *sql.Rows, f service.CallFilter, beyond *bool) (c service.CallRow, err error) {
	dest := []any{beyond, uuidDest{&c.UUID}, timeDest{&c.RequestedAt}, docDest{&c.Doc}}
	var personOwner, pledge, owner, recruiting *apitype.UUID
	var p service.PersonRow
	var l service.PledgeRow
	var external, hasSignature sql.NullBool
	if f.WithPerson {
		dest = append(dest, nullUUIDDest{&personOwner}, docDest{&p.Doc})
	}
	if f.WithQuality {
		dest = append(dest, docDest{&p.Quality})
	}
	if f.WithPledge {
		dest = append(dest, nullUUIDDest{&pledge}, nullUUIDDest{&owner}, nullUUIDDest{&recruiting},
			nullTimeDest{&l.ReleasedAt}, &external, &hasSignature, docDest{&l.Doc}, docDest{&l.RecruiterUser})
	}
	if err := result.Scan(dest...); err != nil {
		return c, err
	}
	if personOwner != nil {
		p.Owner = *personOwner
		c.PersonRow = &p
	}
	if pledge != nil {
		l.UUID, l.Owner, l.Recruiting = *pledge, *owner, *recruiting
		l.External, l.HasSignature = external.Bool, hasSignature.Bool
		c.PledgeRow = &l
	}
	return c, nil
}

// AnyCall reports whether a part of the call list has a row.
func (r *reader) AnyCall(f service.CallFilter, part service.Range) (bool, error) {
	q, err := r.callQuery(f)
	if err != nil {
		return false, err
	}
	return r.any(q, part)
}

// callColumns are the columns of a new call, in the order of callValues.
var callColumns = []string{
	"uuid", "owner", "person", "pledge", "requested_at", "updated_at", "external", "external_application",
	"external_reference", "external_status", "private", "rev", "doc",
}

var insertCall = insertText("calls", callColumns)

func callValues(c service.CallRow) []any {
	return []any{
		c.UUID.String(),
		c.Owner.String(),
		c.Person.String(),
		nullUUID(c.Case),
		c.RequestedAt.UnixMilli(),
		c.UpdatedAt.UnixMilli(),
		bit(c.External),
		c.ExternalApplication,
		c.ExternalReference,
		c.ExternalStatus,
		c.Private,
		c.Rev,
		c.Doc,
	}
}

// InsertCall saves a new call.
func (t *tx) InsertCall(c service.CallRow) error {
	return t.insert(insertCall, callValues(c)...)
}

// UpdateCall saves a changed call.
func (t *tx) UpdateCall(c service.CallRow) error {
	return t.change(`UPDATE calls SET updated_at = $3, private = $4, doc = $5, rev = rev + 1 WHERE uuid = $1 AND rev = $2`,
		c.UUID.String(), c.Rev, c.UpdatedAt.UnixMilli(), c.Private, c.Doc)
}
