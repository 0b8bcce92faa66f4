package sqlstore

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (r *reader) Kept(id apitype.UUID) (service.Kept, error) { return r.kept(id, ``) }

// LockPersonData does the work of Kept for a change: until this transaction ends, no other one changes these rows or
// adds to them.
func (t *tx) LockPersonData(id apitype.UUID) (service.Kept, error) {
	// A change that adds something locks the person, so that it is there when the person can be locked.
	if _, err := t.identifiers(
		`SELECT uuid FROM persons t WHERE uuid = $1`+t.engine.locking(`UPDATE OF t`),
		identifier(id),
	); err != nil {
		return service.Kept{}, err
	}
	return t.kept(id, t.engine.locking(`UPDATE OF t`))
}

func (r *reader) kept(id apitype.UUID, lock string) (service.Kept, error) {
	var number int64
	var k service.Kept
	err := r.row(`SELECT number, erased_at, `+personFields()+` FROM persons t WHERE uuid = $1`, identifier(id)).
		scan(append([]any{&number, nullTimeDest{&k.ErasedAt}}, personDest(&k.Person)...)...)
	if err != nil {
		return k, err
	}
	// Without columns after the document, such as the status: SQLite would read through the document.
	k.Calls, err = all(
		r.conn,
		`SELECT uuid, owner, requested_at, `+r.lastEvent()+`, external, rev, LENGTH(doc) + LENGTH(private)
			FROM calls t
		WHERE person_number = $1 ORDER BY requested_at DESC, uuid DESC`+lock,
		[]any{number},
		func(c *service.CallRow) []any {
			return []any{
				uuidDest{&c.UUID},
				uuidDest{&c.Owner},
				timeDest{&c.RequestedAt},
				timeDest{&c.UpdatedAt},
				&c.External,
				&c.Rev,
				&c.Bytes,
			}
		},
	)
	if err != nil {
		return k, err
	}
	k.Pledges, err = all(
		r.conn,
		`SELECT number, uuid, owner, recruiting, status, created_at, updated_at, has_signature, rev,
			LENGTH(doc) + LENGTH(private)
			FROM pledges t
		WHERE person_number = $1 ORDER BY created_at DESC, uuid DESC`+lock,
		[]any{number},
		func(p *service.PledgeRow) []any {
			return []any{
				&p.Number,
				uuidDest{&p.UUID},
				uuidDest{&p.Owner},
				uuidDest{&p.Recruiting},
				&p.Status,
				timeDest{&p.CreatedAt},
				timeDest{&p.UpdatedAt},
				&p.HasSignature,
				&p.Rev,
				&p.Bytes,
			}
		},
	)
	return k, errors.Join(
		err,
		r.keptOfPledges(&k),
		r.keptMarks(&k),
		r.keptOfQueue(&k),
		r.keptConsents(&k),
		r.keptBlocks(&k),
	)
}

func (r *reader) keptOfPledges(k *service.Kept) error {
	if len(k.Pledges) == 0 {
		return nil
	}
	var numbers []int64
	pledges := map[int64]apitype.UUID{}
	for _, pledge := range k.Pledges {
		numbers, pledges[pledge.Number] = append(numbers, pledge.Number), pledge.UUID
		if pledge.HasSignature {
			k.Signatures = append(k.Signatures, service.SignatureRow{Pledge: pledge.UUID})
		}
	}
	slices.SortFunc(k.Signatures, func(a, b service.SignatureRow) int { return a.Pledge.Compare(b.Pledge) })
	cond, arg := r.engine.amongNumbers("pledge_number", numbers)
	return r.each(
		`SELECT uuid, pledge_number, created_at, method, LENGTH(doc) FROM transactions WHERE `+cond+`
			ORDER BY created_at DESC, uuid DESC`,
		[]any{arg},
		func(rows *sql.Rows) error {
			var t service.TransactionRow
			var number int64
			err := rows.Scan(uuidDest{&t.UUID}, &number, timeDest{&t.CreatedAt}, &t.Method, &t.Bytes)
			t.Pledge = pledges[number]
			k.Transactions = append(k.Transactions, t)
			return err
		},
	)
}

// inOrder sorts rows in the order of identifiers, and drops missing ones.
func inOrder[T any](ids []apitype.UUID, rows []T, id func(T) apitype.UUID) []T {
	order := make(map[apitype.UUID]int, len(ids))
	for i, id := range ids {
		order[id] = i
	}
	slices.SortFunc(rows, func(a, b T) int { return order[id(a)] - order[id(b)] })
	return rows
}

func (r *reader) KeptCalls(ids []apitype.UUID) ([]service.CallRow, error) {
	return r.keptCalls(ids, ``)
}

func (t *tx) KeptCalls(ids []apitype.UUID) ([]service.CallRow, error) {
	return t.keptCalls(ids, t.engine.locking(`UPDATE OF t`))
}

func (r *reader) keptCalls(ids []apitype.UUID, lock string) ([]service.CallRow, error) {
	cond, arg := r.engine.among("uuid", ids)
	rows, err := all(r.conn, selectCall+cond+lock, []any{arg}, callDest)
	return inOrder(ids, rows, func(c service.CallRow) apitype.UUID { return c.UUID }), err
}

func (r *reader) KeptPledges(ids []apitype.UUID) ([]service.PledgeRow, error) {
	cond, arg := r.engine.among("t.uuid", ids)
	rows, err := all(r.conn, selectPledge+cond, []any{arg}, pledgeReadDest)
	return inOrder(ids, rows, func(p service.PledgeRow) apitype.UUID { return p.UUID }), err
}

func (r *reader) KeptTransactions(ids []apitype.UUID) ([]service.TransactionRow, error) {
	cond, arg := r.engine.among("uuid", ids)
	rows, err := all(
		r.conn,
		`SELECT uuid, created_at, method, doc FROM transactions WHERE `+cond,
		[]any{arg},
		func(t *service.TransactionRow) []any {
			return []any{uuidDest{&t.UUID}, timeDest{&t.CreatedAt}, &t.Method, docDest{&t.Doc}}
		},
	)
	return inOrder(ids, rows, func(t service.TransactionRow) apitype.UUID { return t.UUID }), err
}

func (r *reader) KeptWaiting(calls []apitype.UUID) ([]service.QueueRow, error) {
	cond, arg := r.amongWaiting(calls)
	rows, err := all(r.conn, queueFacts+` WHERE c.`+cond, []any{arg}, factsDest)
	return inOrder(calls, rows, func(q service.QueueRow) apitype.UUID { return q.Call }), err
}

func (r *reader) Erasing() ([]apitype.UUID, error) {
	names, err := all(r.conn, `SELECT name FROM settings WHERE `+isErasing, nil, textDest)
	persons := make([]apitype.UUID, len(names))
	for i, name := range names {
		persons[i], err = apitype.ParseUUID(strings.TrimPrefix(name, service.ErasingSetting))
		if err != nil {
			break
		}
	}
	return persons, err
}

// isErasing selects the settings of erasures that were begun, by a range of the table's index.
const isErasing = `name > '` + service.ErasingSetting + `' AND name < 'erasing.'`

func (r *reader) keptBlocks(k *service.Kept) error {
	var err error
	k.Blocks, err = all(
		r.conn,
		`SELECT `+strings.Join(blockColumns, `, `)+` FROM do_not_call
			WHERE person_uuid = $1
			ORDER BY blocked_at, digest`,
		[]any{identifier(k.Person.UUID)},
		func(b *service.Block) []any {
			return []any{
				uuidDest{&b.Organization},
				uuidDest{&b.Number},
				uuidDest{&b.Person},
				timeDest{&b.At},
				nullUUIDDest{&b.Call},
				nullUUIDDest{&b.User},
			}
		},
	)
	return err
}

func (r *reader) keptMarks(k *service.Kept) error {
	ids := []apitype.UUID{k.Person.UUID}
	for _, c := range k.Calls {
		ids = append(ids, c.UUID)
	}
	for _, l := range k.Pledges {
		ids = append(ids, l.UUID)
	}
	for _, t := range k.Transactions {
		ids = append(ids, t.UUID)
	}
	cond, arg := r.engine.among("entity", ids)
	return r.each(
		`SELECT account, source, entity_name, entity, processed_at, consumer FROM processed WHERE `+cond+`
			ORDER BY processed_at, entity, account, source`,
		[]any{arg},
		func(rows *sql.Rows) error {
			var m service.MarkRow
			var source string
			err := rows.Scan(
				uuidDest{&m.Account},
				&source,
				&m.EntityName,
				uuidDest{&m.EntityUUID},
				timeDest{&m.ProcessedAt},
				nullUUIDDest{&m.ConsumerIdentifier},
			)
			if source != "" {
				m.ExternalSourceName = &source
			}
			k.Marks = append(k.Marks, m)
			return err
		},
	)
}

func (r *reader) keptOfQueue(k *service.Kept) error {
	id := identifier(k.Person.UUID)
	err := r.row(`SELECT COUNT(*) FROM queue_calls WHERE `+ofPerson, id).scan(&k.Waiting)
	if err != nil {
		return err
	}
	text := selectClaim + `person_uuid = $1 UNION ALL ` + selectEnded + `person_uuid = $1 ORDER BY taken_at, lease_uuid`
	k.Leases, err = all(r.conn, text, []any{id}, leaseNotedDest)
	if err != nil {
		return err
	}
	err = r.row(`SELECT contacted_at FROM donors WHERE person_uuid = $1`, id).scan(nullTimeDest{&k.ContactedAt})
	if errors.Is(err, service.ErrNoRow) {
		return nil
	}
	return err
}

func (r *reader) keptConsents(k *service.Kept) error {
	var err error
	k.Consents, err = r.Consents(k.Person.UUID)
	return err
}

// ErasePerson leaves of a person the identifier, and lets none of the person's calls wait.
func (t *tx) ErasePerson(id apitype.UUID, at apitype.Time) error {
	if err := t.eraseSearched(id); err != nil {
		return err
	}
	if err := t.change(
		`UPDATE persons SET owner = $2, erased_owner = owner, recruiting = $2, iban = NULL, mandate_id = NULL,
			quality = NULL, doc = $3, erased_at = $4, rev = rev + 1
		WHERE uuid = $1 AND erased_at IS NULL`,
		identifier(id),
		identifier(apitype.UUID{}),
		[]byte{},
		at.UnixMilli(),
	); err != nil {
		return err
	}
	return t.ForgetPerson(id, at)
}

func (t *tx) ForgetPerson(id apitype.UUID, at apitype.Time) error {
	_, err := t.exec(logDonors+`$2, $3 FROM donors WHERE person_uuid = $1 AND `+isClaimed,
		identifier(id), at.UnixMilli(), string(service.EndedByErasure))
	if err != nil {
		return err
	}
	for _, text := range []string{
		`DELETE FROM queue_calls WHERE ` + ofPerson,
		`DELETE FROM donors WHERE person_uuid = $1`,
		`DELETE FROM queue_numbers WHERE person_uuid = $1`,
		`DELETE FROM consents WHERE person_uuid = $1`,
		`DELETE FROM missing_checks WHERE person_uuid = $1`,
	} {
		if _, err := t.exec(text, identifier(id)); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) EraseUnknown(id apitype.UUID, at apitype.Time) error {
	nobody := apitype.UUID{}
	return t.insert(
		`INSERT INTO persons (uuid, owner, recruiting, created_at, updated_at, rev, doc, erased_at)
		VALUES ($1, $2, $2, $3, $3, 1, $4, $3)`,
		identifier(id),
		identifier(nobody),
		at.UnixMilli(),
		[]byte{},
	)
}

func (t *tx) RewriteCall(c service.CallRow) error {
	return t.change(
		`UPDATE calls SET
			updated_at = $3,
			external_application = $4,
			external_reference = $5,
			external_status = $6,
			private = $7,
			doc = $8,
			rev = rev + 1
		WHERE uuid = $1 AND rev = $2`,
		identifier(c.UUID),
		c.Rev,
		c.UpdatedAt.UnixMilli(),
		c.ExternalApplication,
		c.ExternalReference,
		c.ExternalStatus,
		c.Private,
		c.Doc,
	)
}

// RewritePledge saves a pledge with the columns that no operation changes, without its signature file.
func (t *tx) RewritePledge(l service.PledgeRow) error {
	if _, err := t.exec(`DELETE FROM signatures WHERE pledge = $1`, identifier(l.UUID)); err != nil {
		return err
	}
	return t.change(`UPDATE pledges SET
			updated_at = $3,
			has_signature = 0,
			private = $4,
			doc = $5,
			ended_at = $6,
			rev = rev + 1
		WHERE uuid = $1 AND rev = $2`,
		identifier(l.UUID), l.Rev, l.UpdatedAt.UnixMilli(), l.Private, l.Doc, nullTime(l.EndedAt))
}

func (t *tx) RewriteTransaction(x service.TransactionRow) error {
	return t.change(`UPDATE transactions SET doc = $2 WHERE uuid = $1`, identifier(x.UUID), x.Doc)
}

// PersonToRefer returns the person of a new record. An erasure waits until the transaction ends, or else the
// transaction runs again.
func (t *tx) PersonToRefer(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	return t.person(id, scope, t.engine.locking(`KEY SHARE`))
}

// holdPerson writes the person again as it is: of two isolated transactions that write one row, the later one runs
// again. SQLite runs one transaction at a time.
const holdPerson = `UPDATE persons SET rev = rev WHERE uuid = $1`

func (t *tx) HoldPerson(id apitype.UUID) error {
	if !t.engine.sharesQueue() {
		return nil
	}
	_, err := t.exec(holdPerson, identifier(id))
	return err
}

func (t *tx) HoldEnded(person, owner apitype.UUID) error {
	if !t.engine.sharesQueue() {
		return nil
	}
	_, err := t.exec(holdPerson+` AND EXISTS (SELECT 1 FROM pledges l
		WHERE l.person_number = persons.number AND l.owner = $2 AND l.ended_at IS NOT NULL)`,
		identifier(person), identifier(owner))
	return err
}

func (t *tx) ClockAhead() time.Duration { return t.ahead }

func (t *tx) ExcludeErasure(load bool) error { return t.engine.excludeErasure(t.conn, load) }

func (r *reader) Retentions() ([]service.Retention, error) {
	return all(
		r.conn,
		`SELECT organization, calls, leads, persons, audit FROM retention ORDER BY organization`,
		nil,
		func(one *service.Retention) []any {
			return []any{uuidDest{&one.Organization}, &one.Calls, &one.Leads, &one.Persons, &one.Audit}
		},
	)
}

func (r *reader) RetentionFacts() (service.RetentionFacts, error) {
	var facts service.RetentionFacts
	err := r.row(`SELECT
			(SELECT MAX(done_at) FROM audit),
			(SELECT COUNT(*) FROM persons WHERE erased_at IS NULL)`).
		scan(nullTimeDest{&facts.Newest}, &facts.Persons)
	return facts, err
}

func (t *tx) SetRetention(r service.Retention) error {
	_, err := t.exec(`INSERT INTO retention (organization, calls, leads, persons, audit) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (organization) DO UPDATE SET
			calls = excluded.calls,
			leads = excluded.leads,
			persons = excluded.persons,
			audit = excluded.audit`,
		identifier(r.Organization), r.Calls, r.Leads, r.Persons, r.Audit)
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
	text := q.page(
		`t.uuid, t.updated_at, t.external_application, t.external_reference, `+
			`t.external_status, t.private, t.rev, t.doc`,
		``,
		service.Range{Backward: true, Limit: query.Limit},
	)
	return all(t.conn, text, q.args, func(c *service.CallRow) []any {
		return []any{
			uuidDest{&c.UUID},
			timeDest{&c.UpdatedAt},
			&c.ExternalApplication,
			&c.ExternalReference,
			&c.ExternalStatus,
			&c.Private,
			&c.Rev,
			docDest{&c.Doc},
		}
	})
}

// lastEvent returns an expression for the time of a call's last event: that of its last change, unless this was the
// blanking by the retention.
func (r *reader) lastEvent() string {
	blanked := r.engine.json(`private`) + ` -> 'blanked' ->> `
	return `COALESCE(CASE WHEN ` + r.engine.contains(`private`, `'"blanked"'`) + ` THEN
		CASE WHEN CAST(` + blanked + `'at' AS BIGINT) = updated_at THEN CAST(` + blanked + `'lastEvent' AS BIGINT) END
		END, updated_at)`
}

func (r *reader) PersonsToRetain(query service.RetainQuery) ([]service.PersonRow, error) {
	q := &listQuery{}
	before := q.arg(query.Before.UnixMilli())
	q.where(`t.owner = %s`, identifier(query.Organization))
	q.conds = append(
		q.conds,
		`t.erased_at IS NULL`,
		`t.created_at < `+before,
		`NOT EXISTS (SELECT 1 FROM calls c WHERE c.person_number = t.number AND (c.status = 'requested'
			OR c.requested_at >= `+before+` OR c.updated_at >= `+before+` AND `+r.lastEvent()+` >= `+before+`))`,
	)
	pledge := `EXISTS (SELECT 1 FROM pledges l WHERE l.person_number = t.number`
	if query.Leads {
		q.conds = append(q.conds, `NOT `+pledge+`)`)
	} else {
		q.conds = append(
			q.conds,
			pledge+`)`,
			`NOT `+pledge+` AND (l.status IN ('lead', 'active') OR l.updated_at >= `+before+`))`,
		)
	}
	if query.After != nil {
		at, id := q.arg(query.After.At.UnixMilli()), q.arg(identifier(query.After.UUID))
		q.conds = append(q.conds, `(t.created_at, t.uuid) > (`+at+`, `+id+`)`)
	}
	text := `SELECT t.uuid, t.created_at FROM persons t` + q.condition("") + `
		ORDER BY t.created_at, t.uuid LIMIT ` + q.arg(query.Limit)
	return all(
		r.conn,
		text,
		q.args,
		func(p *service.PersonRow) []any { return []any{uuidDest{&p.UUID}, timeDest{&p.CreatedAt}} },
	)
}
