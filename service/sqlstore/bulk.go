package sqlstore

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// references are the columns that name a row of another table, by its number.
var references = map[string]string{"person_number": "persons", "pledge_number": "pledges", "call_number": "calls"}

// insertText returns the statement that inserts a row of some columns. Its references are identifiers.
func insertText(table string, columns []string) string { return insertRows(table, columns, 1, true) }

// insertRows returns the statement that inserts a number of rows. named means that references are identifiers instead
// of numbers.
func insertRows(table string, columns []string, rows int, named bool) string {
	values := make([]string, rows)
	for row := range values {
		places := placesFrom(row*len(columns)+1, len(columns))
		for i, column := range columns {
			if other := references[column]; named && other != "" {
				places[i] = `(SELECT number FROM ` + other + ` WHERE uuid = ` + places[i] + `)`
			}
		}
		values[row] = `(` + strings.Join(places, `, `) + `)`
	}
	return `INSERT INTO ` + table + ` (` + strings.Join(columns, `, `) + `) VALUES ` + strings.Join(values, `, `)
}

// placesFrom returns the placeholders of n values of a statement, from first on.
func placesFrom(first, n int) []string {
	places := make([]string, n)
	for i := range places {
		places[i] = "$" + strconv.Itoa(first+i)
	}
	return places
}

// inGroups passes rows on in groups of few different sizes, so that there are few statements. A statement for several
// rows costs less than one for each.
func inGroups[T any](rows []T, insert func(rows []T) error) error {
	for _, size := range []int{64, 16, 4, 1} {
		for ; len(rows) >= size; rows = rows[size:] {
			if err := insert(rows[:size]); err != nil {
				return err
			}
		}
	}
	return nil
}

// byIdentifier reads a value for each of many identifiers. text reads the identifier first, then the columns of dest,
// and ends with the name of the column to compare.
func byIdentifier[V any](
	c *conn,
	text, column string,
	ids []apitype.UUID,
	dest func(*V) []any,
) (map[apitype.UUID]V, error) {
	found := make(map[apitype.UUID]V, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	cond, arg := c.engine.among(column, ids)
	err := c.each(text+cond, []any{arg}, func(rows *sql.Rows) error {
		var id apitype.UUID
		var value V
		err := rows.Scan(append([]any{uuidDest{&id}}, dest(&value)...)...)
		found[id] = value
		return err
	})
	return found, err
}

func identifierOf(id *apitype.UUID) []any { return []any{uuidDest{id}} }

// insertNew saves rows and returns the identifiers that are already stored. The first column identifies a row.
func insertNew[T any](
	t *tx,
	table string,
	columns []string,
	rows []T,
	values func(T) []any,
) ([]apitype.UUID, error) {
	var taken []apitype.UUID
	err := inGroups(rows, func(group []T) error {
		var args []any
		for _, row := range group {
			args = append(args, values(row)...)
		}
		saved, err := t.identifiers(
			insertRows(table, columns, len(group), true)+` ON CONFLICT DO NOTHING RETURNING `+columns[0],
			args...)
		if err != nil || len(saved) == len(group) {
			return err
		}
		for i := range group {
			if id := *args[i*len(columns)].(uuidDest).id; !slices.Contains(saved, id) {
				taken = append(taken, id)
			}
		}
		return nil
	})
	return taken, err
}

func (t *tx) InsertRows(rows service.Rows) ([]service.Taken, error) {
	var taken []service.Taken
	var err error
	// Rows that belong to others are taken if these are.
	note := func(kind service.LoadKind) func([]apitype.UUID, error) {
		return func(ids []apitype.UUID, problem error) {
			err = cmp.Or(err, problem)
			for _, id := range ids {
				taken = append(taken, service.Taken{Kind: kind, UUID: id})
			}
		}
	}
	persons := func(p service.PersonRow) []any { return personDest(&p) }
	note(service.LoadPerson)(insertNew(t, "persons", personColumns, rows.Persons, persons))
	note(service.LoadPledge)(insertNew(t, "pledges", newPledgeColumns, rows.Pledges, pledgeValues))
	note(service.LoadPledge)(insertNew(t, "signatures", signatureColumns, rows.Signatures, signatureValues))
	note(service.LoadCall)(insertNew(t, "calls", newCallColumns, rows.Calls, callValues))
	note(service.LoadCall)(insertNew(t, "queue_calls", newQueueColumns, rows.Queue, queueValues))
	paid := rows.Transactions
	note(service.LoadTransaction)(insertNew(t, "transactions", transactionColumns, paid, transactionValues))
	if err != nil || len(taken) > 0 {
		return taken, err
	}
	if err := t.insertLoaded(rows); err != nil {
		return nil, err
	}
	for _, contact := range rows.Contacts {
		if err := t.RecordContact(contact.Person, contact.At, nil); err != nil {
			return nil, err
		}
	}
	var began []apitype.UUID
	for _, x := range rows.Transactions {
		if x.Method == apitype.PaymentQRMethod {
			began = append(began, x.Pledge)
		}
	}
	if len(began) == 0 {
		return taken, nil
	}
	cond, arg := t.engine.among("uuid", began)
	_, err = t.exec(`UPDATE pledges SET payment_qr = 1 WHERE payment_qr = 0 AND `+cond, arg)
	return taken, err
}

func texts(ids []apitype.UUID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}
