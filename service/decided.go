package service

import (
	"context"
	"sync/atomic"

	"fundesk/apiclient/apitype"
)

// countingTx counts the calls about which a change decides anew when they may be given.
type countingTx struct {
	Tx
	calls *atomic.Int64
}

// QueueOfPerson counts what waits of a person.
func (t countingTx) QueueOfPerson(person apitype.UUID) ([]QueueRow, error) {
	rows, err := t.Tx.QueueOfPerson(person)
	t.calls.Add(int64(len(rows)))
	return rows, err
}

// counted is a change whose calls are counted, where somebody wants to know.
func counted(ctx context.Context, change func(Tx) error) func(Tx) error {
	if calls := RequestOf(ctx).Decided; calls != nil {
		return func(tx Tx) error { return change(countingTx{tx, calls}) }
	}
	return change
}
