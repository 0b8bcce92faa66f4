package sqlstore

import (
	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// ChangeLines walks the audit in the order of its key.
func (r *reader) ChangeLines(query service.ChangeQuery) ([]service.AuditLine, error) {
	q := &listQuery{}
	at, id := q.arg(query.After.At.UnixMilli()), q.arg(identifier(query.After.UUID))
	q.conds = append(q.conds, `done_at >= `+at, `(done_at, line_uuid) > (`+at+`, `+id+`)`)
	q.where(`done_at < %s`, query.Before.UnixMilli())
	places := bind(q, query.Operations, func(o service.AuditOperation) any { return string(o) })
	q.conds = append(q.conds, `operation`+isOne(places))
	text := selectAudit() + q.condition("") + ` ORDER BY done_at, line_uuid LIMIT ` + q.arg(query.Limit)
	return all(r.conn, text, q.args, auditDest)
}

// scopeColumns are the columns with the organizations that see a record.
var scopeColumns = map[apitype.EntityName][]string{
	apitype.EntityPerson: {"owner", "erased_owner"},
	apitype.EntityCall:   {"owner"},
	apitype.EntityPledge: {"owner", "recruiting"},
}

func (r *reader) RecordsInScope(
	entity apitype.EntityName,
	ids []apitype.UUID,
	scope service.Scope,
) ([]apitype.UUID, error) {
	cond, arg := r.engine.among("uuid", ids)
	q := &listQuery{args: []any{arg}}
	text := `SELECT uuid FROM ` + string(entity) + `s WHERE ` + cond + q.visible(scope, scopeColumns[entity]...)
	return all(r.conn, text, q.args, func(id *apitype.UUID) []any { return []any{uuidDest{id}} })
}
