package sqlstore

import (
	"database/sql"
	"errors"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (r *reader) Person(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	return r.person(id, scope, ``)
}

func (r *reader) person(id apitype.UUID, scope service.Scope, lock string) (service.PersonRow, error) {
	cond, args := one(id, scope, `t.owner`)
	var p service.PersonRow
	err := r.row(`SELECT `+personFields()+` FROM persons t WHERE t.erased_at IS NULL AND `+cond+lock, args...).
		scan(personDest(&p)...)
	return p, err
}

// personQuery filters persons; an error is of the database.
func (r *reader) personQuery(f service.PersonFilter, part service.Range) (*listQuery, error) {
	if len(f.Search) > 0 || f.IBAN != "" {
		return r.searchQuery(f, part)
	}
	q := &listQuery{table: "persons", time: "created_at"}
	q.persons(f)
	if f.UpdatedAfter != nil {
		return q, r.filterByTime(
			q,
			timeFilter{column: `updated_at`, after: *f.UpdatedAfter, parts: []string{notErased}},
			part,
		)
	}
	return q, nil
}

// persons filters persons by what their own row holds, but for the time of the last change.
func (q *listQuery) persons(f service.PersonFilter) {
	q.scope(f.Scope, `t.owner`)
	if len(q.branches) == 0 { // An erased person belongs to no organization.
		q.conds = append(q.conds, notErased)
	}
	if f.CreatedAfter != nil {
		q.where(`t.created_at > %s`, f.CreatedAfter.UnixMilli())
	}
}

const notErased = `t.erased_at IS NULL`

func (r *reader) Persons(f service.PersonFilter, part service.Range) ([]service.PersonRow, error) {
	q, err := r.personQuery(f, part)
	if err != nil {
		return nil, err
	}
	columns := `t.uuid, t.created_at, t.doc`
	if f.WithRev {
		columns += `, t.rev`
	}
	return readPage(
		r,
		q.page(columns, ``, part),
		q.args,
		part,
		func(result *sql.Rows) (p service.PersonRow, err error) {
			dest := []any{uuidDest{&p.UUID}, timeDest{&p.CreatedAt}, docDest{&p.Doc}}
			if f.WithRev {
				dest = append(dest, &p.Rev)
			}
			err = result.Scan(dest...)
			return p, err
		},
	)
}

func (r *reader) Erasures(scope service.Scope, part service.Range) ([]service.ErasedPerson, error) {
	q := &listQuery{table: "persons", time: "erased_at", conds: []string{`t.erased_at IS NOT NULL`}}
	q.scope(scope, `t.erased_owner`)
	text := q.page(`t.uuid, t.erased_at`, ``, part)
	return readPage(r, text, q.args, part, func(result *sql.Rows) (p service.ErasedPerson, err error) {
		err = result.Scan(uuidDest{&p.UUID}, timeDest{&p.ErasedAt})
		return p, err
	})
}

// personColumns are the columns of a person, in the order of personDest.
var personColumns = []string{
	"uuid",
	"owner",
	"recruiting",
	"created_at",
	"iban",
	"mandate_id",
	"quality",
	"rev",
	"doc",
	"updated_at",
}

var (
	personFields = sync.OnceValue(func() string { return strings.Join(personColumns, `, `) })
	insertPerson = sync.OnceValue(func() string { return insertText("persons", personColumns) })
)

func personDest(p *service.PersonRow) []any {
	return []any{
		uuidDest{&p.UUID},
		uuidDest{&p.Owner},
		uuidDest{&p.Recruiting},
		timeDest{&p.CreatedAt},
		&p.IBAN,
		&p.MandateID,
		docDest{&p.Quality},
		&p.Rev,
		docDest{&p.Doc},
		timeDest{&p.UpdatedAt},
	}
}

func (t *tx) InsertPerson(p service.PersonRow, line *service.AuditLine) error {
	if line != nil {
		return t.engine.insertPerson(t.conn, p, withUUID(*line))
	}
	if err := t.insert(insertPerson(), personDest(&p)...); err != nil {
		return err
	}
	return t.insertSearched([]searched{searchedRow(p)})
}

func (t *tx) PersonsToLoad(ids []apitype.UUID) (map[apitype.UUID]service.PersonRow, error) {
	return byIdentifier(
		t.conn,
		`SELECT uuid, owner, doc FROM persons WHERE erased_at IS NULL AND `,
		`uuid`,
		ids,
		func(p *service.PersonRow) []any {
			return []any{uuidDest{&p.Owner}, docDest{&p.Doc}}
		},
	)
}

func (t *tx) UpdatePerson(p service.PersonRow) error {
	before, err := t.searchedPerson(p.UUID)
	if errors.Is(err, service.ErrNoRow) {
		before = searched{person: p.UUID, owner: p.Owner, createdAt: p.CreatedAt}
		err = nil
	}
	if err != nil {
		return err
	}
	err = t.change(
		`UPDATE persons SET iban = $3, mandate_id = $4, doc = $5, updated_at = $6, created_at = $7, rev = rev + 1
			WHERE uuid = $1 AND rev = $2`,
		identifier(p.UUID),
		p.Rev,
		p.IBAN,
		p.MandateID,
		p.Doc,
		p.UpdatedAt.UnixMilli(),
		p.CreatedAt.UnixMilli(),
	)
	if err != nil {
		return err
	}
	return t.updateSearched(before, p)
}
