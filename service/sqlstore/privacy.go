package sqlstore

import (
	"database/sql"
	"errors"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Kept is everything that is kept of a person.
func (r *reader) Kept(id apitype.UUID) (service.Kept, error) { return r.kept(id, ``) }

// HoldKept is Kept for a change: nobody else changes any of it before the transaction ends, nor
// adds to it.
func (t *tx) HoldKept(id apitype.UUID) (service.Kept, error) {
	// Who adds something holds the person, so that it is there when the person can be had.
	if _, err := t.identifiers(`SELECT uuid FROM persons t WHERE uuid = $1`+t.engine.locking(`UPDATE OF t`), identifier(id)); err != nil {
		return service.Kept{}, err
	}
	return t.kept(id, t.engine.locking(`UPDATE OF t`))
}

func (r *reader) kept(id apitype.UUID, lock string) (k service.Kept, err error) {
	var number int64
	err = r.row(`SELECT number, erased_at, `+personFields()+` FROM persons t WHERE uuid = $1`, identifier(id)).
		scan(append([]any{&number, nullTimeDest{&k.ErasedAt}}, personDest(&k.Person)...)...)
	if err != nil {
		return k, err
	}
	k.Calls, err = all(r.conn, `SELECT `+callFields+` FROM calls t WHERE person_number = $1 ORDER BY requested_at DESC, uuid DESC`+lock, []any{number}, callDest)
	for i := range k.Calls {
		k.Calls[i].Person = id
	}
	if err != nil {
		return k, err
	}
	k.Pledges, err = all(r.conn, selectPledge+`t.person_number = $1 ORDER BY t.created_at DESC, t.uuid DESC`+lock, []any{number}, pledgeDest)
	return k, errors.Join(err, r.keptOfPledges(&k), r.keptMarks(&k), r.keptOfQueue(&k))
}

// keptOfPledges reads what belongs to the pledges of a person.
func (r *reader) keptOfPledges(k *service.Kept) (err error) {
	if len(k.Pledges) == 0 {
		return nil
	}
	var numbers []int64
	var ids []apitype.UUID
	for _, pledge := range k.Pledges {
		numbers, ids = append(numbers, pledge.Number), append(ids, pledge.UUID)
	}
	cond, arg := r.engine.amongNumbers("pledge_number", numbers)
	k.Transactions, err = all(r.conn, `SELECT uuid, created_at, method, doc FROM transactions WHERE `+cond+` ORDER BY created_at DESC, uuid DESC`, []any{arg},
		func(t *service.TransactionRow) []any {
			return []any{uuidDest{&t.UUID}, timeDest{&t.CreatedAt}, &t.Method, docDest{&t.Doc}}
		})
	if err != nil {
		return err
	}
	cond, arg = r.engine.among("pledge", ids)
	k.Signatures, err = all(r.conn, `SELECT pledge, content FROM signatures WHERE `+cond+` ORDER BY pledge`, []any{arg}, func(s *service.SignatureRow) []any {
		return []any{uuidDest{&s.Pledge}, &s.Content}
	})
	return err
}

// keptMarks reads who has marked what of a person.
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
	return r.each(`SELECT account, source, entity_name, entity, processed_at, consumer FROM processed WHERE `+cond+` ORDER BY processed_at, entity, account, source`, []any{arg}, func(rows *sql.Rows) error {
		var m service.MarkRow
		var source string
		err := rows.Scan(uuidDest{&m.Account}, &source, &m.EntityName, uuidDest{&m.EntityUUID}, timeDest{&m.ProcessedAt}, nullUUIDDest{&m.ConsumerIdentifier})
		if source != "" {
			m.ExternalSourceName = &source
		}
		k.Marks = append(k.Marks, m)
		return err
	})
}

// keptOfQueue reads what the queue keeps of a person.
func (r *reader) keptOfQueue(k *service.Kept) (err error) {
	id := identifier(k.Person.UUID)
	if k.Waiting, err = all(r.conn, queueFacts+` WHERE c.person_uuid = $1 ORDER BY c.requested_at, c.call_uuid`, []any{id}, queueDest); err != nil {
		return err
	}
	k.Leases, err = all(r.conn, selectLease+`person_uuid = $1 ORDER BY taken_at, lease_uuid`, []any{id}, leaseDest)
	var rung apitype.Time
	switch none := r.row(`SELECT rung_at FROM queue_rings WHERE person_uuid = $1`, id).scan(timeDest{&rung}); {
	case none == nil:
		k.ContactedAt = &rung
	case !errors.Is(none, service.ErrNoRow):
		err = errors.Join(err, none)
	}
	return err
}

// ErasePerson leaves of a person the identifier, and lets none of the person's calls wait.
func (t *tx) ErasePerson(id apitype.UUID, at apitype.Time) error {
	if err := t.change(`UPDATE persons SET owner = $2, recruiting = $2, iban = NULL, mandate_id = NULL, quality = NULL, doc = $3, erased_at = $4, rev = rev + 1
		WHERE uuid = $1 AND erased_at IS NULL`, identifier(id), identifier(apitype.UUID{}), []byte{}, at.UnixMilli()); err != nil {
		return err
	}
	for _, text := range []string{
		`DELETE FROM queue_calls WHERE person_uuid = $1`,
		`DELETE FROM queue_rings WHERE person_uuid = $1`,
		`DELETE FROM queue_numbers WHERE person_uuid = $1`,
	} {
		if _, err := t.exec(text, identifier(id)); err != nil {
			return err
		}
	}
	_, err := t.exec(`UPDATE queue_leases SET ended_at = $2, seen_at = $2, ended_by = $3 WHERE person_uuid = $1 AND ended_at IS NULL`,
		identifier(id), at.UnixMilli(), string(service.EndedByErasure))
	return err
}

// EraseUnknown leaves the identifier of a person that is not there, so that it is not used again.
func (t *tx) EraseUnknown(id apitype.UUID, at apitype.Time) error {
	nobody := apitype.UUID{}
	return t.insert(`INSERT INTO persons (uuid, owner, recruiting, created_at, rev, doc, erased_at) VALUES ($1, $2, $2, $3, 1, $4, $3)`,
		identifier(id), identifier(nobody), at.UnixMilli(), []byte{})
}

// RewriteCall saves a call with the columns that no operation changes.
func (t *tx) RewriteCall(c service.CallRow) error {
	return t.change(`UPDATE calls SET updated_at = $3, external_application = $4, external_reference = $5, external_status = $6, private = $7, doc = $8, rev = rev + 1
		WHERE uuid = $1 AND rev = $2`,
		identifier(c.UUID), c.Rev, c.UpdatedAt.UnixMilli(), c.ExternalApplication, c.ExternalReference, c.ExternalStatus, c.Private, c.Doc)
}

// RewritePledge saves a pledge with the columns that no operation changes, without its signature file.
func (t *tx) RewritePledge(l service.PledgeRow) error {
	if _, err := t.exec(`DELETE FROM signatures WHERE pledge = $1`, identifier(l.UUID)); err != nil {
		return err
	}
	return t.change(`UPDATE pledges SET updated_at = $3, has_signature = 0, private = $4, doc = $5, rev = rev + 1 WHERE uuid = $1 AND rev = $2`,
		identifier(l.UUID), l.Rev, l.UpdatedAt.UnixMilli(), l.Private, l.Doc)
}

// RewriteTransaction saves the document of a transaction.
func (t *tx) RewriteTransaction(x service.TransactionRow) error {
	return t.change(`UPDATE transactions SET doc = $2 WHERE uuid = $1`, identifier(x.UUID), x.Doc)
}

// PersonToRefer is a person that a new record is about: nobody erases them before the transaction
// ends, or the transaction is run again.
func (t *tx) PersonToRefer(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	return t.person(id, scope, t.engine.locking(`KEY SHARE`))
}

// LoadsAlone lets no load and no erasure run at one time: a load names persons long before it ends.
// ClockAhead is how far the store's clock was ahead of the system's when the transaction began.
func (t *tx) ClockAhead() time.Duration { return t.ahead }

func (t *tx) LoadsAlone(load bool) error { return t.engine.loadsAlone(t.conn, load) }
