package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// copyTable is a table with its columns, the columns of its key first.
type copyTable struct {
	name    string
	key     int // How many columns are the key.
	columns []string
	batch   int    // Rows that are read at a time.
	where   string // The condition of the dumped rows. Empty dumps all.
}

// numbered tables are read in the order of their rows, so that neighbours stay neighbours.
func numbered(name string, columns []string) copyTable {
	return copyTable{name, 1, slices.Concat([]string{"number"}, columns), copyBatch, ``}
}

// copyBatch is the number of small rows in one read.
const copyBatch = 2000

// copyTables has all tables, each after the tables that it refers to.
func copyTables() []copyTable {
	return []copyTable{
		{
			"settings",
			1,
			[]string{"name", "value"},
			copyBatch,
			`name NOT IN ('` + signingKey + `', '` + servedBySetting + `', '` + firstSchemaSetting + `', '` +
				writableSetting + `', '` + epochSetting + `', '` + retiredSetting + `')
				AND name NOT LIKE '` + service.UncleanSetting + `%'`,
		},
		{"accounts", 1, accountColumns, copyBatch, ``},
		{"tokens", 1, tokenColumns, copyBatch, ``},
		{
			"organizations",
			1,
			[]string{"uuid", "name", "abbreviation", "max_call_attempts", "cooling_off", "settings"},
			copyBatch,
			``,
		},
		{"queue_rules", 1, []string{"organization", "rules"}, copyBatch, ``},
		{"users", 1, []string{"uuid", "organization", "subject", "ended_at", "doc"}, copyBatch, ``},
		{"focus_areas", 1, []string{"uuid", "organization", "doc"}, copyBatch, ``},
		numbered("persons", slices.Concat(personColumns, []string{"erased_at", "erased_owner"})),
		numbered("pledges", newPledgeColumns),
		{"signatures", 1, signatureColumns, 16, ``},
		numbered("calls", newCallColumns),
		{"transactions", 3, []string{"pledge_number", "created_at", "uuid", "method", "doc"}, copyBatch, ``},
		{"queue_calls", 1, slices.Concat([]string{"call_number"}, queueColumns, []string{"kind"}), copyBatch, ``},
		{"donors", 1, columnsOf(donorFields), copyBatch, ``},
		{"queue_numbers", 1, []string{"digest", "person_uuid", "contacted_at"}, copyBatch, ``},
		{"do_not_call", 3, blockColumns, copyBatch, ``},
		{"missing_checks", 1, missingColumns, copyBatch, ``},
		{"consents", 2, consentColumns, copyBatch, ``},
		{
			"ended_leases",
			1,
			slices.Concat([]string{"lease_uuid", "person_uuid"}, columnsOf(endedFields)[2:]),
			copyBatch,
			``,
		},
		{"queue_hours", 4, workColumns, copyBatch, ``},
		{"user_states", 1, userStateColumns, copyBatch, ``},
		{"queue_messages", 1, messageColumns, copyBatch, ``},
		{
			"processed",
			4,
			[]string{"account", "source", "entity_name", "entity", "processed_at", "consumer"},
			copyBatch,
			``,
		},
		{"retention", 1, []string{"organization", "calls", "leads", "persons", "audit"}, copyBatch, ``},
		{"audit", 2, auditColumns, copyBatch, ``},
	}
}

// Dump hands over everything that the database holds, as it is in one state: its key, accounts,
// records, marks and the audit, each after what it refers to.
func (s *Store) Dump(ctx context.Context, each func(service.LoadRecord) error) error {
	_, err := s.SigningSeed(ctx) // It makes the key of a new database.
	if err != nil {
		return err
	}
	return s.engine.read(ctx, service.ReadSnapshot, func(c *conn) error {
		seed, err := c.SigningSeed() // A key that was replaced since signs nothing in the loaded database.
		if err != nil {
			return err
		}
		err = each(service.LoadRecord{Kind: service.LoadKey, Data: service.LoadedKey{Seed: seed, HasEnd: true}})
		if err != nil {
			return err
		}
		for _, table := range copyTables() {
			if err := table.dump(ctx, c, each); err != nil {
				return fmt.Errorf("dump %s: %w", table.name, err)
			}
		}
		return each(service.LoadRecord{Kind: service.LoadEnd, Data: service.LoadedEnd{}})
	})
}

func (t copyTable) dump(ctx context.Context, c *conn, each func(service.LoadRecord) error) error {
	kind := service.KindOfTable(t.name)
	var after []any
	for {
		rows, err := t.read(c, after, t.batch)
		err = cmp.Or(err, ctx.Err())
		if err != nil {
			return err
		}
		for _, row := range rows {
			values := make(map[string]json.RawMessage, len(row))
			for i, column := range t.columns {
				values[column], err = dumped(column, row[i])
				if err != nil {
					return err
				}
			}
			row := service.LoadedRow{Table: t.name, Values: values}
			if err := each(service.LoadRecord{Kind: kind, Data: row}); err != nil {
				return err
			}
		}
		if len(rows) < t.batch {
			return nil
		}
		after = rows[len(rows)-1][:t.key]
	}
}

// documents are the columns with JSON as bytes, and files the columns with other bytes. All other columns of bytes are
// identifiers.
var (
	documents = []string{"doc", "private", "quality", "settings"}
	files     = []string{"content", "shown"}
)

func dumped(column string, value any) (json.RawMessage, error) {
	raw, isBytes := value.([]byte)
	if !isBytes || slices.Contains(files, column) {
		return json.Marshal(value)
	}
	if slices.Contains(documents, column) && (len(raw) == 0 || !json.Valid(raw)) { // Of an erased person.
		return json.Marshal(string(raw))
	}
	if slices.Contains(documents, column) {
		return raw, nil
	}
	var id *apitype.UUID
	if err := (nullUUIDDest{&id}).Scan(value); err != nil {
		return nil, err
	}
	return json.Marshal(id)
}

var identifierColumns = []string{
	"uuid",
	"owner",
	"recruiting",
	"recruiter",
	"organization",
	"account",
	"entity",
	"consumer",
	"kept_for",
	"pledge",
	"digest",
	"completed_by",
	"subject",
}

// loaded reads the value of a column of a dump, as it is bound.
func loaded(column string, text json.RawMessage) (any, error) {
	var err error
	if string(text) == "null" {
		return nil, nil
	}
	if slices.Contains(files, column) {
		var content []byte
		err = json.Unmarshal(text, &content)
		return content, err
	}
	if slices.Contains(documents, column) && text[0] == '"' {
		var content string
		err = json.Unmarshal(text, &content)
		return []byte(content), err
	}
	if slices.Contains(documents, column) {
		return []byte(text), nil
	}
	if slices.Contains(identifierColumns, column) ||
		strings.HasSuffix(column, "_uuid") ||
		strings.HasSuffix(column, "_owner") {
		var id apitype.UUID
		err = json.Unmarshal(text, &id)
		return identifier(id), err
	}
	if text[0] == '"' {
		var content string
		err = json.Unmarshal(text, &content)
		return content, err
	}
	var number int64
	err = json.Unmarshal(text, &number)
	return number, err
}

// errUnfinishedErasure refuses a dump from a program that left a tombstone before it had blanked all calls.
var errUnfinishedErasure = &service.Error{
	Kind: service.Invalid,
	Detail: "the dump holds an erasure that was not finished; run fundeskd clean of the program that wrote it, and " +
		"dump again",
}

// addedColumns are the columns that dumps from before the first release do not have.
var addedColumns = map[string][]string{
	"audit":       {"shown"},
	"users":       {"subject"},
	"queue_calls": {"blocked_by", "due_reason"},
	"donors":      {"contacted_before", "rested_at", "rested_until", "kept_for", "due_reason"},
}

// insertUnreleased reads what dumps from before the first release have in other tables and columns: contacts are kept,
// and leases and counts of work are left out. isKnown is false for a table of today.
func (t *tx) insertUnreleased(table string, rows []map[string]json.RawMessage) (saved int, isKnown bool, err error) {
	_, isWork := rows[0]["what"]
	_, hasContacts := rows[0]["rung_at"]
	isLeftOut := map[string]bool{
		"queue_leases":  true,
		"queue_work":    true,
		"queue_hours":   isWork,
		"queue_numbers": hasContacts,
	}
	if isLeftOut[table] {
		return 0, true, nil
	}
	for _, row := range rows {
		isUnfinished := table == "settings" && strings.HasPrefix(string(row["name"]), `"`+service.ErasingSetting) &&
			string(row["value"]) == `""`
		if isUnfinished {
			return 0, false, errUnfinishedErasure
		}
		if table == "tokens" {
			delete(row, "used_on")
		}
		for _, column := range addedColumns[table] {
			if _, isThere := row[column]; !isThere {
				row[column] = json.RawMessage("null")
			}
		}
	}
	if table != "queue_rings" {
		return 0, false, nil
	}
	for _, row := range rows {
		var person apitype.UUID
		if err := json.Unmarshal(row["person_uuid"], &person); err != nil {
			return saved, true, err
		}
		var at int64
		if err := json.Unmarshal(row["rung_at"], &at); err != nil {
			return saved, true, err
		}
		if err := t.RecordContact(person, apitype.TimeFromMilli(at), nil); err != nil {
			return saved, true, err
		}
		saved++
	}
	return saved, true, nil
}

func (t *tx) InsertDumped(table string, rows []map[string]json.RawMessage, skip bool) (int, error) {
	saved, isKnown, err := t.insertUnreleased(table, rows)
	if isKnown || err != nil {
		return saved, err
	}
	at := slices.IndexFunc(copyTables(), func(t copyTable) bool { return t.name == table })
	if at < 0 {
		return 0, fmt.Errorf("there is no table %q", table)
	}
	known := copyTables()[at]
	err = inGroups(rows, func(group []map[string]json.RawMessage) error {
		var args []any
		for _, row := range group {
			values, err := known.values(row)
			if err != nil {
				return err
			}
			args = append(args, values...)
		}
		n, err := t.exec(insertRows(table, known.columns, len(group), false)+` ON CONFLICT DO NOTHING`, args...)
		if err == nil && int(n) < len(group) && !skip {
			err = service.ErrExists
		}
		saved += int(n)
		return err
	})
	if err != nil {
		return saved, err
	}
	if err := t.searchDumped(table, rows); err != nil {
		return saved, err
	}
	if known.columns[0] != "number" {
		return saved, err
	}
	return saved, t.engine.advanceNumbers(t.conn, table)
}

func (t copyTable) values(row map[string]json.RawMessage) ([]any, error) {
	values := make([]any, len(t.columns))
	for i, column := range t.columns {
		text, there := row[column]
		if !there {
			return nil, fmt.Errorf("%s lacks %s", t.name, column)
		}
		var err error
		values[i], err = loaded(column, bytes.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", column, t.name, err)
		}
	}
	if len(row) > len(t.columns) {
		return nil, fmt.Errorf("%s has columns that this fundeskd does not know", t.name)
	}
	return values, nil
}

func (t *tx) ThereAlready(table string, ids []apitype.UUID) ([]apitype.UUID, error) {
	cond, arg := t.engine.among("uuid", ids)
	return t.identifiers(`SELECT uuid FROM `+table+` WHERE `+cond, arg)
}

func (r *reader) HasRecords() (bool, error) {
	var there bool
	err := r.row(`SELECT EXISTS (SELECT 1 FROM accounts) OR EXISTS (SELECT 1 FROM persons)`).scan(&there)
	return there, err
}

// read returns up to limit rows after a key. A nil key starts at the beginning.
func (t copyTable) read(c *conn, after []any, limit int) ([][]any, error) {
	q := &listQuery{}
	if t.where != "" {
		q.conds = append(q.conds, t.where)
	}
	key := strings.Join(t.columns[:t.key], `, `)
	if after != nil {
		q.conds = append(q.conds, `(`+key+`) > (`+strings.Join(placesFrom(1, t.key), `, `)+`)`)
	}
	text := `SELECT ` + strings.Join(t.columns, `, `) + ` FROM ` + t.name + q.condition("") + ` ORDER BY ` + key
	if limit > 0 {
		text += ` LIMIT ` + strconv.Itoa(limit)
	}
	var types []*sql.ColumnType
	var rows [][]any
	err := c.each(text, after, func(result *sql.Rows) (err error) {
		if types == nil {
			types, err = result.ColumnTypes()
			if err != nil {
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

// An identifierDest reads an identifier column in SQLite's form, as it is bound.
type identifierDest struct{ value *any }

// Scan reads the text that PostgreSQL sends, or null.
func (d identifierDest) Scan(value any) error {
	var id *apitype.UUID
	err := nullUUIDDest{&id}.Scan(value)
	*d.value = nullUUID(id)
	return err
}
