package sqlstore

import (
	"database/sql"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// insertText is the statement that inserts a row of some columns.
func insertText(table string, columns []string) string {
	places := make([]string, len(columns))
	for i := range places {
		places[i] = "$" + strconv.Itoa(i+1)
	}
	return `INSERT INTO ` + table + ` (` + strings.Join(columns, `, `) + `) VALUES (` + strings.Join(places, `, `) + `)`
}

// links reads pairs of identifiers for many at once. text ends where its condition
// begins.
func (r *reader) links(text string, ids []apitype.UUID) (map[apitype.UUID]apitype.UUID, error) {
	found := make(map[apitype.UUID]apitype.UUID, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	cond, arg := r.engine.among("uuid", ids)
	err := r.each(text+cond, []any{arg}, func(result *sql.Rows) error {
		var id, linked apitype.UUID
		err := result.Scan(uuidDest{&id}, uuidDest{&linked})
		found[id] = linked
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
	elsewhere := markPaymentQR(rows)
	for _, n := range []newRows{
		collect(service.LoadPerson, "persons", personColumns, rows.Persons, personValues, func(r service.PersonRow) apitype.UUID { return r.UUID }),
		collect(service.LoadPledge, "pledges", pledgeColumns, rows.Pledges, pledgeValues, func(r service.PledgeRow) apitype.UUID { return r.UUID }),
		collect("", "signatures", signatureColumns, rows.Signatures, signatureValues, func(r service.SignatureRow) apitype.UUID { return r.Pledge }),
		collect(service.LoadCall, "calls", callColumns, rows.Calls, callValues, func(r service.CallRow) apitype.UUID { return r.UUID }),
		collect(service.LoadTransaction, "transactions", transactionColumns, rows.Transactions, transactionValues, func(r service.TransactionRow) apitype.UUID { return r.UUID }),
	} {
		if len(n.values) == 0 || (n.kind == "" && len(taken) > 0) {
			continue
		}
		found, err := t.engine.insertNew(t.conn, n)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			taken = append(taken, service.Taken{Kind: n.kind, UUID: id})
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

// texts are identifiers as text.
func texts(ids []apitype.UUID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}
