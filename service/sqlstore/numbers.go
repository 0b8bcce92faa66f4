package sqlstore

import (
	"database/sql"
	"maps"
	"slices"

	"fundesk/apiclient/apitype"
)

// maxNumbers is how many numbers of rows a transaction keeps of a table: what some batches
// of a load name and make. One that was forgotten is looked up.
const maxNumbers = 100_000

// numbersOf are the numbers that a transaction knows of rows of a table.
func (t *tx) numbersOf(table string) map[apitype.UUID]int64 {
	if t.numbers == nil {
		t.numbers = map[string]map[apitype.UUID]int64{}
	}
	if t.numbers[table] == nil {
		t.numbers[table] = map[apitype.UUID]int64{}
	}
	return t.numbers[table]
}

// forgetNumbers bounds what a long transaction keeps.
func (t *tx) forgetNumbers() {
	for _, known := range t.numbers {
		if len(known) > maxNumbers {
			clear(known)
		}
	}
}

// named reports whether rows of a table are named by others.
func named(table string) bool { return slices.Contains(slices.Collect(maps.Values(references)), table) }

// number gives new rows that others may name their numbers, so that those can be saved
// without looking.
func (t *tx) number(rows *newRows) error {
	numbers, err := t.engine.reserve(t.conn, rows.table, len(rows.values))
	if err != nil {
		return err
	}
	known := t.numbersOf(rows.table)
	rows.columns = append(slices.Clip(rows.columns), "number")
	for i, number := range numbers {
		rows.values[i] = append(rows.values[i], number)
		known[rows.ids[i]] = number
	}
	return nil
}

// resolveReferences puts numbers in the place of the identifiers by which new rows name others.
func (t *tx) resolveReferences(rows newRows) error {
	for k, column := range rows.columns {
		table := references[column]
		if table == "" {
			continue
		}
		if err := t.findNumbers(table, rows, k); err != nil {
			return err
		}
		known := t.numbersOf(table)
		for _, row := range rows.values {
			id, ok := row[k].([]byte)
			if !ok {
				continue // It names none.
			}
			row[k] = nil
			if number, ok := known[apitype.UUID(id)]; ok {
				row[k] = number
			}
		}
	}
	return nil
}

// findNumbers looks up the numbers that are not known of what a column of new rows names.
func (t *tx) findNumbers(table string, rows newRows, column int) error {
	known := t.numbersOf(table)
	var ids []apitype.UUID
	for _, row := range rows.values {
		if id, ok := row[column].([]byte); ok {
			if _, ok := known[apitype.UUID(id)]; !ok {
				ids = append(ids, apitype.UUID(id))
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	cond, arg := t.engine.among("uuid", ids)
	return t.each(`SELECT uuid, number FROM `+table+` WHERE `+cond, []any{arg}, func(result *sql.Rows) error {
		var id apitype.UUID
		var number int64
		err := result.Scan(uuidDest{&id}, &number)
		known[id] = number
		return err
	})
}
