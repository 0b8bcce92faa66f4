package sqlstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// CopiedTable is what was copied of one table.
type CopiedTable struct {
	Table    string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"` // SHA-256 of the rows in the order of their key; of the source and of the copy.
}

// copyTable is a table with its columns, those of its key first.
type copyTable struct {
	name    string
	key     int // How many columns are the key.
	columns []string
	batch   int    // Rows that are moved in one transaction.
	where   string // Rows that are moved; empty: all.
}

// numbered is a table that is moved in the order of its rows, so that neighbours stay
// neighbours.
func numbered(name string, columns []string) copyTable {
	return copyTable{name, 1, slices.Concat([]string{"number"}, columns), copyBatch, ``}
}

// copyBatch is how many rows are moved at a time where they are small.
const copyBatch = 2000

// copyTables are all tables, each after those that it refers to.
func copyTables() []copyTable {
	return []copyTable{
		{"settings", 1, []string{"name", "value"}, copyBatch, `name NOT IN ('` + signingKey + `', '` + copyMark + `', '` + servedBySetting + `', '` + writableSetting + `') AND name NOT LIKE '` + service.UncleanSetting + `%'`},
		{"accounts", 1, accountColumns, copyBatch, ``},
		{"tokens", 1, tokenColumns, copyBatch, ``},
		{"organizations", 1, []string{"uuid", "name", "abbreviation", "max_call_attempts", "cooling_off"}, copyBatch, ``},
		{"users", 1, []string{"uuid", "doc"}, copyBatch, ``},
		{"focus_areas", 1, []string{"uuid", "organization", "doc"}, copyBatch, ``},
		numbered("persons", slices.Concat(personColumns, []string{"erased_at"})),
		numbered("pledges", pledgeColumns),
		{"signatures", 1, signatureColumns, 16, ``},
		numbered("calls", callColumns),
		{"transactions", 3, []string{"pledge_number", "created_at", "uuid", "method", "doc"}, copyBatch, ``},
		{"queue_calls", 1, queueColumns, copyBatch, ``},
		{"queue_rings", 1, []string{"person_uuid", "rung_at"}, copyBatch, ``},
		{"queue_numbers", 1, []string{"digest", "person_uuid", "rung_at"}, copyBatch, ``},
		{"queue_leases", 1, leaseColumns, copyBatch, ``},
		{"queue_work", 2, []string{"done_at", "work_uuid", "user_uuid", "owner", "work", "code"}, copyBatch, ``},
		{"processed", 4, []string{"account", "source", "entity_name", "entity", "processed_at", "consumer"}, copyBatch, ``},
		{"retention", 1, []string{"organization", "calls", "leads", "persons"}, copyBatch, ``},
		{"audit", 2, auditColumns, copyBatch, ``},
	}
}

// copyMark is the setting of a database that is being copied into: the digest of the
// source's key. It is gone when the copy is whole.
const copyMark = "copy-of"

// ErrNotEmpty is said of a database that has records which no copy began.
var ErrNotEmpty = errors.New("the database to copy to is not empty, and holds no copy that was interrupted")

// ErrPartial is said of a database that a copy was begun into and has not ended.
var ErrPartial = errors.New("a copy into it has not ended, so that records are missing; run the same fundeskd copy again")

// Whole is ErrPartial for a database whose lists would be short without a word.
func (s *Store) Whole(ctx context.Context) error {
	return s.engine.view(ctx, func(c *conn) error {
		switch _, err := (&reader{c}).Setting(copyMark); {
		case err == nil:
			return ErrPartial
		case errors.Is(err, service.ErrNoRow):
			return nil
		default:
			return err
		}
	})
}

// CopyTo moves everything into another database: records with their identifiers, times
// and revisions, accounts, and the signing key, so that tokens and cursors hold. The
// source is read in one state. Each part is compared after it was written; a copy that
// was interrupted goes on where it differs. progress is told of each part.
func (s *Store) CopyTo(ctx context.Context, to *Store, progress func(table string, rows int64)) (tables []CopiedTable, err error) {
	if err := s.Whole(ctx); err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	seed, err := s.SigningSeed(ctx)
	if err != nil {
		return nil, err
	}
	if err := to.beginCopy(ctx, seed); err != nil {
		return nil, err
	}
	err = s.engine.view(ctx, func(c *conn) error {
		for _, table := range copyTables() {
			copied, err := table.move(ctx, c, to, progress)
			if err != nil {
				return fmt.Errorf("copy %s: %w", table.name, err)
			}
			tables = append(tables, copied)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = to.engine.update(ctx, func(c *conn) error {
		return (&tx{reader: reader{c}}).DeleteSetting(copyMark)
	})
	if err != nil {
		return nil, err
	}
	return tables, nil
}

// beginCopy marks a database that is empty, or recognises the mark, and gives it the key.
// One that was served before has a key already; without accounts and records nothing
// hangs on it. Spec gap: S24.
func (s *Store) beginCopy(ctx context.Context, seed []byte) error {
	sum := sha256.Sum256(seed)
	mark := hex.EncodeToString(sum[:])
	err := s.engine.update(ctx, func(c *conn) error {
		r := &tx{reader: reader{c}}
		switch found, err := r.Setting(copyMark); {
		case err == nil && found == mark:
			return nil
		case err != nil && !errors.Is(err, service.ErrNoRow):
			return err
		}
		for _, table := range copyTables() {
			var n int
			text := `SELECT COUNT(*) FROM (SELECT 1 FROM ` + table.name + table.whereClause("") + ` LIMIT 1) s`
			if err := c.row(text).scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return ErrNotEmpty
			}
		}
		return r.SetSetting(copyMark, mark)
	})
	if err != nil {
		return err
	}
	return s.setSeed(ctx, seed)
}

// setSeed gives a database the keys of another one.
func (s *Store) setSeed(ctx context.Context, seed []byte) error {
	return s.Update(ctx, func(t service.Tx) error {
		return t.ChangeSigningSeed(func([]byte) ([]byte, error) { return seed, nil })
	})
}

// whereClause limits a query to rows that are moved, and by one more condition.
func (t copyTable) whereClause(more string) string {
	conds := slices.DeleteFunc([]string{t.where, more}, func(cond string) bool { return cond == "" })
	if len(conds) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(conds, ` AND `)
}

// between limits a query to rows after a key, nil being the start, and up to another one.
func (t copyTable) between(after, until []any) (where string, args []any) {
	var conds []string
	key := strings.Join(t.columns[:t.key], `, `)
	for _, end := range []struct {
		key      []any
		operator string
	}{{after, ">"}, {until, "<="}} {
		if end.key != nil {
			conds = append(conds, `(`+key+`) `+end.operator+` (`+strings.Join(placesFrom(len(args)+1, t.key), `, `)+`)`)
			args = append(args, end.key...)
		}
	}
	return t.whereClause(strings.Join(conds, ` AND `)), args
}

// read is up to limit rows after a key, and up to another one.
func (t copyTable) read(c *conn, after, until []any, limit int) (rows [][]any, err error) {
	where, args := t.between(after, until)
	text := `SELECT ` + strings.Join(t.columns, `, `) + ` FROM ` + t.name + where + ` ORDER BY ` + strings.Join(t.columns[:t.key], `, `)
	if limit > 0 {
		text += ` LIMIT ` + strconv.Itoa(limit)
	}
	var types []*sql.ColumnType
	err = c.each(text, args, func(result *sql.Rows) (err error) {
		if types == nil {
			if types, err = result.ColumnTypes(); err != nil {
				return err
			}
		}
		row, dest := make([]any, len(t.columns)), make([]any, len(t.columns))
		for i := range row {
			dest[i] = &row[i]
			if types[i].DatabaseTypeName() == "UUID" {
				dest[i] = identifierDest{&row[i]}
			}
		}
		rows = append(rows, row)
		return result.Scan(dest...)
	})
	return rows, err
}

// An identifierDest reads an identifier column as it is bound, which is how SQLite has it.
type identifierDest struct{ value *any }

// Scan reads the text that PostgreSQL sends, or null.
func (d identifierDest) Scan(value any) error {
	var id *apitype.UUID
	err := nullUUIDDest{&id}.Scan(value)
	*d.value = nullUUID(id)
	return err
}

// move copies a table part by part.
func (t copyTable) move(ctx context.Context, from *conn, to *Store, progress func(string, int64)) (CopiedTable, error) {
	copied, whole := CopiedTable{Table: t.name}, sha256.New()
	var after []any
	for {
		if err := ctx.Err(); err != nil {
			return copied, err
		}
		rows, err := t.read(from, after, nil, t.batch)
		if err != nil {
			return copied, err
		}
		last := len(rows) < t.batch
		var until []any
		if !last {
			until = rows[len(rows)-1][:t.key]
		}
		if err := t.put(ctx, to, rows, after, until); err != nil {
			return copied, err
		}
		digest(whole, rows)
		copied.Rows += int64(len(rows))
		if progress != nil {
			progress(t.name, copied.Rows)
		}
		if last {
			copied.Checksum = hex.EncodeToString(whole.Sum(nil))
			return copied, nil
		}
		after = until
	}
}

// put makes a part of the copy equal to rows; one that is equal already is left alone.
func (t copyTable) put(ctx context.Context, to *Store, rows [][]any, after, until []any) error {
	want := sha256.New()
	digest(want, rows)
	same := func(c *conn) (bool, error) {
		there, err := t.read(c, after, until, 0)
		got := sha256.New()
		digest(got, there)
		return bytes.Equal(got.Sum(nil), want.Sum(nil)), err
	}
	var done bool
	err := to.engine.view(ctx, func(c *conn) (err error) {
		done, err = same(c)
		return err
	})
	if err != nil || done {
		return err
	}
	return to.engine.update(ctx, func(c *conn) error {
		where, args := t.between(after, until)
		if _, err := c.exec(`DELETE FROM `+t.name+where, args...); err != nil {
			return err
		}
		if err := to.engine.insertAll(c, t.name, t.columns, rows); err != nil {
			return err
		}
		if t.columns[0] == "number" {
			if err := to.engine.advanceNumbers(c, t.name); err != nil {
				return err
			}
		}
		if equal, err := same(c); err != nil || equal {
			return err
		}
		return errors.New("what was written does not read the same")
	})
}

// insertOneByOne writes rows by one statement.
func insertOneByOne(c *conn, table string, columns []string, rows [][]any) error {
	text := insertAsRead(table, columns)
	for _, row := range rows {
		if _, err := c.exec(text, row...); err != nil {
			return err
		}
	}
	return nil
}

// digest adds rows to a checksum. Engines must not differ in what they read: text and
// bytes count alike.
func digest(h hash.Hash, rows [][]any) {
	var size [9]byte
	field := func(kind byte, n uint64) {
		size[0] = kind
		binary.BigEndian.PutUint64(size[1:], n)
		h.Write(size[:])
	}
	for _, row := range rows {
		for _, value := range row {
			switch v := value.(type) {
			case nil:
				field('n', 0)
			case int64:
				field('i', uint64(v))
			case string:
				field('t', uint64(len(v)))
				h.Write([]byte(v))
			case []byte:
				field('t', uint64(len(v)))
				h.Write(v)
			default:
				panic(fmt.Sprintf("a column holds a %T", value))
			}
		}
	}
}
