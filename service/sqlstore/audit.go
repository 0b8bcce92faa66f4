package sqlstore

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// auditColumns are the columns of a line of the audit, in the order of Audit and AuditLines, and
// last the number of the person, by which the lines about a person are found: numbers of new
// persons grow, so that lines which are written together have their place in the index together.
var auditColumns = []string{
	"done_at", "line_uuid", "account_uuid", "user_uuid", "request_id", "operation", "record_uuid", "person_uuid",
	"fields", "records", "reason", "shown", "person_number",
}

// auditArguments is the number of columns that Audit fills. The database finds the number of the person.
const auditArguments = 12

func insertAuditLines(lines int, or string) string {
	rows := make([]string, lines)
	for line := range rows {
		row := placesFrom(line*auditArguments+1, auditArguments)
		rows[line] = `(` + strings.Join(row, `, `) + `, (SELECT number FROM persons WHERE uuid = ` +
			row[slices.Index(auditColumns, "person_uuid")] + `))`
	}
	return `INSERT` + or + ` INTO audit (` + strings.Join(auditColumns, `, `) + `) VALUES ` + strings.Join(rows, `, `)
}

var insertAuditLine = sync.OnceValue(func() string { return insertAuditLines(1, ``) })

// Audit adds a line to the audit, at the end of the transaction.
func (t *tx) Audit(l service.AuditLine) error {
	t.lines = append(t.lines, withUUID(l))
	return nil
}

// withUUID returns a new line with its identifier.
func withUUID(l service.AuditLine) service.AuditLine {
	l.UUID = newLineUUID()
	return l
}

// auditValues returns the arguments of insertAuditLine for each line.
func auditValues(lines []service.AuditLine) [][]any {
	values := make([][]any, len(lines))
	for i := range lines {
		values[i] = auditDest(&lines[i])
	}
	return values
}

func auditDest(l *service.AuditLine) []any {
	return []any{
		timeDest{&l.At},
		uuidDest{&l.UUID},
		nullUUIDDest{&l.Account},
		nullUUIDDest{&l.User},
		&l.RequestID,
		&l.Operation,
		nullUUIDDest{&l.Record},
		nullUUIDDest{&l.Person},
		&l.Fields,
		&l.Records,
		&l.Reason,
		uuidsDest{&l.Shown},
	}
}

// newLineUUID returns an increasing identifier, so that lines of the same time keep their order.
func newLineUUID() apitype.UUID {
	var id apitype.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(time.Now().UnixNano()))
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	return id
}

// addLines adds the audit lines of the changes that SQLite's writer is about to commit. If one fails, the whole commit
// fails, so the pages need not be copied for a rollback.
func (c *conn) addLines() error {
	return inGroups(c.lines, func(lines []service.AuditLine) error {
		text := insertAuditLine()
		if len(lines) > 1 {
			text = insertAuditLines(len(lines), ` OR ROLLBACK`)
		}
		_, err := c.exec(text, slices.Concat(auditValues(lines)...)...)
		return err
	})
}

func (r *reader) AuditLines(f service.AuditFilter) ([]service.AuditLine, error) {
	q := &listQuery{}
	if f.Person != nil {
		q.where(`person_number = (SELECT number FROM persons WHERE uuid = %s)`, identifier(*f.Person))
	}
	q.auditFilter(f)
	text := selectAudit() + q.condition("") + ` ORDER BY done_at, line_uuid LIMIT ` + q.arg(f.Limit)
	return all(r.conn, text, q.args, auditDest)
}

// AuditLists reads lines without a limit of their number, because lists that show one person are few among many.
func (r *reader) AuditLists(f service.AuditFilter) (lines []service.AuditLine, next *service.Position, err error) {
	q := &listQuery{conds: []string{`shown IS NOT NULL`}}
	q.auditFilter(f)
	var end service.Position
	text := `SELECT done_at, line_uuid FROM audit` + q.condition("") + ` ORDER BY done_at, line_uuid LIMIT 1 OFFSET `
	err = r.row(text+q.arg(f.Limit-1), q.args...).scan(timeDest{&end.At}, uuidDest{&end.UUID})
	q.args = q.args[:len(q.args)-1]
	switch {
	case errors.Is(err, service.ErrNoRow):
	case err != nil:
		return nil, nil, err
	default:
		next = &end
		q.conds = append(
			q.conds,
			`(done_at, line_uuid) <= (`+q.arg(end.At.UnixMilli())+`, `+q.arg(identifier(end.UUID))+`)`,
		)
	}
	q.conds = append(q.conds, r.engine.contains(`shown`, q.arg(f.Person[:])))
	lines, err = all(r.conn, selectAudit()+q.condition("")+` ORDER BY done_at, line_uuid`, q.args, auditDest)
	// Its bytes lay across two.
	isOther := func(l service.AuditLine) bool { return !slices.Contains(l.Shown, *f.Person) }
	return slices.DeleteFunc(lines, isOther), next, err
}

// auditFilter adds the conditions of a filter, except that of the person.
func (q *listQuery) auditFilter(f service.AuditFilter) {
	if f.After != nil {
		at, id := q.arg(f.After.At.UnixMilli()), q.arg(identifier(f.After.UUID))
		q.conds = append(q.conds, `(done_at, line_uuid) > (`+at+`, `+id+`)`)
	} else if f.Since != nil {
		q.where(`done_at >= %s`, f.Since.UnixMilli())
	}
	if f.Account != nil {
		q.where(`account_uuid = %s`, identifier(*f.Account))
	}
	if f.User != nil {
		q.where(`user_uuid = %s`, identifier(*f.User))
	}
}

// selectAudit reads lines, in the order of auditDest.
func selectAudit() string {
	return `SELECT ` + strings.Join(auditColumns[:auditArguments], `, `) + ` FROM audit`
}

func (r *reader) CountAudit(before apitype.Time) (int, error) {
	var lines int
	err := r.row(`SELECT COUNT(*) FROM audit WHERE done_at < $1`, before.UnixMilli()).scan(&lines)
	return lines, err
}

func (r *reader) CountChanges() (int, error) {
	var lines int
	err := r.row(`SELECT COUNT(*) FROM audit WHERE operation <> $1`, service.AuditLoad).scan(&lines)
	return lines, err
}

func (t *tx) PruneAudit(before apitype.Time, limit int) (int, error) {
	result, err := t.exec(`DELETE FROM audit WHERE (done_at, line_uuid) IN (
		SELECT done_at, line_uuid FROM audit WHERE done_at < $1 ORDER BY done_at, line_uuid
		LIMIT $2)`, before.UnixMilli(), limit)
	return int(result), err
}
