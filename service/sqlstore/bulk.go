package sqlstore

import (
	"database/sql"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// references are the columns that name a row of another table, by its number.
var references = map[string]string{"person_number": "persons", "pledge_number": "pledges"}

// insertText is the statement that inserts a row of some columns. What it names it is given
// by identifier.
func insertText(table string, columns []string) string {
	places := placesFrom(1, len(columns))
	for i, column := range columns {
		if named := references[column]; named != "" {
			places[i] = `(SELECT number FROM ` + named + ` WHERE uuid = ` + places[i] + `)`
		}
	}
	return insertRow(table, columns, places)
}

// insertAsRead is the statement that inserts a row of some columns as it was read.
func insertAsRead(table string, columns []string) string {
	return insertRow(table, columns, placesFrom(1, len(columns)))
}

// placesFrom are the places of n values of a statement, from the first's on.
func placesFrom(first, n int) []string {
	places := make([]string, n)
	for i := range places {
		places[i] = "$" + strconv.Itoa(first+i)
	}
	return places
}

func insertRow(table string, columns, places []string) string {
	return `INSERT INTO ` + table + ` (` + strings.Join(columns, `, `) + `) VALUES (` + strings.Join(places, `, `) + `)`
}

// links reads pairs of identifiers of a table for many at once, and keeps the numbers that
// come with them. text ends where its condition begins.
func (t *tx) links(table, text string, ids []apitype.UUID) (map[apitype.UUID]apitype.UUID, error) {
	found := make(map[apitype.UUID]apitype.UUID, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	known := t.numbersOf(table)
	cond, arg := t.engine.among("t.uuid", ids)
	err := t.each(text+cond, []any{arg}, func(result *sql.Rows) error {
		var id, linked apitype.UUID
		var number int64
		err := result.Scan(uuidDest{&id}, &number, uuidDest{&linked})
		found[id], known[id] = linked, number
		return err
	})
	return found, err
}

// newRows are the rows of one kind that are saved together.
type newRows struct {
	kind    service.LoadKind // Empty: rows without an identifier of their own.
	table   string
	columns []string
	values  [][]any
	ids     []apitype.UUID
}

func collect[T any](kind service.LoadKind, table string, columns []string, rows []T, values func(T) []any, id func(T) apitype.UUID) newRows {
	n := newRows{kind: kind, table: table, columns: columns, values: make([][]any, len(rows)), ids: make([]apitype.UUID, len(rows))}
	for i, row := range rows {
		n.values[i], n.ids[i] = values(row), id(row)
	}
	return n
}

// InsertRows saves many rows.
func (t *tx) InsertRows(rows service.Rows) (taken []service.Taken, err error) {
	t.forgetNumbers()
	elsewhere := markPaymentQR(rows)
	for _, n := range []newRows{
		collect(service.LoadPerson, "persons", personColumns, rows.Persons, personValues, func(r service.PersonRow) apitype.UUID { return r.UUID }),
		collect(service.LoadPledge, "pledges", pledgeColumns, rows.Pledges, pledgeValues, func(r service.PledgeRow) apitype.UUID { return r.UUID }),
		collect("", "signatures", signatureColumns, rows.Signatures, signatureValues, func(r service.SignatureRow) apitype.UUID { return r.Pledge }),
		collect(service.LoadCall, "calls", callColumns, rows.Calls, callValues, func(r service.CallRow) apitype.UUID { return r.UUID }),
		collect("", "queue_calls", queueColumns, rows.Queue, queueValues, func(r service.QueueRow) apitype.UUID { return r.Call }),
		collect(service.LoadTransaction, "transactions", transactionColumns, rows.Transactions, transactionValues, func(r service.TransactionRow) apitype.UUID { return r.UUID }),
	} {
		if len(n.values) == 0 || (n.kind == "" && len(taken) > 0) {
			continue
		}
		if named(n.table) {
			if err := t.number(&n); err != nil {
				return nil, err
			}
		}
		if err := t.resolveReferences(n); err != nil {
			return nil, err
		}
		found, err := t.engine.insertNew(t.conn, n)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			taken = append(taken, service.Taken{Kind: n.kind, UUID: id})
		}
	}
	for _, ring := range rows.Contacts {
		if err := t.RecordContact(ring.Person, ring.At, nil); err != nil {
			return nil, err
		}
	}
	if len(elsewhere) == 0 {
		return taken, nil
	}
	cond, arg := t.engine.among("uuid", elsewhere)
	_, err = t.exec(`UPDATE pledges SET payment_qr = 1 WHERE payment_qr = 0 AND `+cond, arg)
	return taken, err
}

// markPaymentQR notes on the new pledges which of them a payment QR began, and is those
// that are not new.
func markPaymentQR(rows service.Rows) (elsewhere []apitype.UUID) {
	began := map[apitype.UUID]bool{}
	for _, t := range rows.Transactions {
		if t.Method == apitype.PaymentQRMethod {
			began[t.Pledge] = true
		}
	}
	for i := range rows.Pledges {
		if id := rows.Pledges[i].UUID; began[id] {
			rows.Pledges[i].PaymentQR = true
			delete(began, id)
		}
	}
	for id := range began {
		elsewhere = append(elsewhere, id)
	}
	return elsewhere
}

// joined are numbers as text, with commas between them.
func joined(numbers []int64) string {
	text := make([]byte, 0, 12*len(numbers))
	for i, number := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, number, 10)
	}
	return string(text)
}

// texts are identifiers as text.
func texts(ids []apitype.UUID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}
