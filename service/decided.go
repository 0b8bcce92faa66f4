package service

import (
	"context"
	"sync/atomic"

	"fundesk/apiclient/apitype"
)

type decidedKey struct{}

// WithDecided carries a counter of the calls about which the changes of a request decide anew when
// they may be given: all that wait of a person, while no other change is made on SQLite.
func WithDecided(ctx context.Context, calls *atomic.Int64) context.Context {
	return context.WithValue(ctx, decidedKey{}, calls)
}

// countingTx counts them.
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
	calls, ok := ctx.Value(decidedKey{}).(*atomic.Int64)
	if !ok {
		return change
	}
	return func(tx Tx) error { return change(countingTx{tx, calls}) }
}
