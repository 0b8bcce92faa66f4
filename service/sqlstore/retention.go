package sqlstore

import "fundesk/service"

func (r *reader) Retentions() ([]service.Retention, error) {
	return all(r.conn, `SELECT organization, calls, leads, persons FROM retention ORDER BY organization`, nil, func(one *service.Retention) []any {
		return []any{uuidDest{&one.Organization}, &one.Calls, &one.Leads, &one.Persons}
	})
}

func (r *reader) RetentionFacts() (facts service.RetentionFacts, err error) {
	err = r.row(`SELECT
			(SELECT MAX(done_at) FROM audit),
			(SELECT COUNT(*) FROM persons WHERE erased_at IS NULL)`).
		scan(nullTimeDest{&facts.Newest}, &facts.Persons)
	return facts, err
}

func (t *tx) SetRetention(r service.Retention) error {
	_, err := t.exec(`INSERT INTO retention (organization, calls, leads, persons) VALUES ($1, $2, $3, $4)
		ON CONFLICT (organization) DO UPDATE SET calls = excluded.calls, leads = excluded.leads, persons = excluded.persons`,
		identifier(r.Organization), r.Calls, r.Leads, r.Persons)
	return err
}

func (t *tx) CallsToRetain(query service.RetainQuery) ([]service.CallRow, error) {
	q := &listQuery{table: "calls", time: "updated_at", branches: []string{unlinkedCalls, linkedCalls}}
	q.where(`t.updated_at < %s`, query.Before.UnixMilli())
	q.where(`t.owner = %s`, identifier(query.Organization))
	q.conds = append(q.conds, `t.status IN ('completed', 'cancelled', 'expired')`)
	if query.After != nil {
		at, id := q.arg(query.After.At.UnixMilli()), q.arg(identifier(query.After.UUID))
		q.conds = append(q.conds, `t.updated_at >= `+at, `(t.updated_at, t.uuid) > (`+at+`, `+id+`)`)
	}
	text := q.page(`t.uuid, t.updated_at, t.external_application, t.external_reference, t.external_status, t.private, t.rev, t.doc`, ``, service.Range{Backward: true, Limit: query.Limit})
	return all(t.conn, text, q.args, func(c *service.CallRow) []any {
		return []any{uuidDest{&c.UUID}, timeDest{&c.UpdatedAt}, &c.ExternalApplication, &c.ExternalReference, &c.ExternalStatus, &c.Private, &c.Rev, docDest{&c.Doc}}
	})
}

func (r *reader) PersonsToRetain(query service.RetainQuery) ([]service.PersonRow, error) {
	q := &listQuery{}
	before := q.arg(query.Before.UnixMilli())
	q.where(`t.owner = %s`, identifier(query.Organization))
	q.conds = append(q.conds, `t.erased_at IS NULL`, `t.created_at < `+before,
		`NOT EXISTS (SELECT 1 FROM calls c WHERE c.person_number = t.number AND (c.status = 'requested' OR c.requested_at >= `+before+` OR c.updated_at >= `+before+`))`)
	pledge := `EXISTS (SELECT 1 FROM pledges l WHERE l.person_number = t.number`
	if query.Leads {
		q.conds = append(q.conds, `NOT `+pledge+`)`)
	} else {
		q.conds = append(q.conds, pledge+`)`, `NOT `+pledge+` AND (l.status IN ('lead', 'active') OR l.updated_at >= `+before+`))`)
	}
	if query.After != nil {
		at, id := q.arg(query.After.At.UnixMilli()), q.arg(identifier(query.After.UUID))
		q.conds = append(q.conds, `(t.created_at, t.uuid) > (`+at+`, `+id+`)`)
	}
	text := `SELECT t.uuid, t.created_at FROM persons t` + q.condition("") + ` ORDER BY t.created_at, t.uuid LIMIT ` + q.arg(query.Limit)
	return all(r.conn, text, q.args, func(p *service.PersonRow) []any { return []any{uuidDest{&p.UUID}, timeDest{&p.CreatedAt}} })
}
