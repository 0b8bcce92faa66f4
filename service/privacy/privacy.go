// Package privacy answers the requests of donors and the law: the export of all data of a person, its
// erasure, retention periods, and the audit. A [Service] works on the rules of a
// [service.Service], which does not know it.
//
//	p := privacy.New(rules, nil)
//	erasure, err := p.Erase(ctx, id, apitype.EraseRequest{Reason: "request 2026-17"})
package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Service erases and exports persons. It is safe for concurrent use.
type Service struct {
	rules  *service.Service
	record Record

	mu      sync.Mutex
	refused []service.ErasedPerson // Erasures that are still to be taken back from the record.
}

// Record keeps erasures outside the database, which may be restored to a time before them.
type Record interface {
	// Add is called before each erasure, perhaps more than once. An error prevents the erasure.
	Add(service.ErasedPerson) error
	// TakeBack removes what one call of Add has added, if it is there: the erasure was refused.
	TakeBack(service.ErasedPerson) error
}

// RecordFunc adds to a record that takes nothing back.
type RecordFunc func(service.ErasedPerson) error

// Add calls the function.
func (f RecordFunc) Add(person service.ErasedPerson) error { return f(person) }

// TakeBack does nothing.
func (f RecordFunc) TakeBack(service.ErasedPerson) error { return nil }

// New returns the service on its rules. The record may be nil.
func New(rules *service.Service, record Record) *Service {
	if record == nil {
		record = RecordFunc(func(service.ErasedPerson) error { return nil })
	}
	return &Service{rules: rules, record: record}
}

// settingOf reads a setting that contains JSON, or returns nil if there is none.
func settingOf[T any](r service.Reader, name string) (*T, error) {
	text, err := r.Setting(name)
	if err != nil || text == "" {
		return nil, err
	}
	value := new(T)
	return value, json.Unmarshal([]byte(text), value)
}

func setJSON(tx service.Tx, name string, value any) error {
	text, err := json.Marshal(value)
	return errors.Join(err, tx.SetSetting(name, string(text)))
}

func each[T any](rows []T, do func(T) error) error {
	for _, row := range rows {
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// batchBytes is the largest size of the documents in memory at one time, unless one record is larger.
const batchBytes = 256 << 10

// The key of a row of Kept, and the length of its documents.
func callSize(c service.CallRow) (apitype.UUID, int)               { return c.UUID, c.Bytes }
func pledgeSize(p service.PledgeRow) (apitype.UUID, int)           { return p.UUID, p.Bytes }
func transactionSize(t service.TransactionRow) (apitype.UUID, int) { return t.UUID, t.Bytes }

// inBatches passes on the identifiers of rows, as many at a time as a batch has bytes for. Each row counts as at least
// least bytes.
func inBatches[T any](rows []T, size func(T) (apitype.UUID, int), least int, do func(ids []apitype.UUID) error) error {
	var ids []apitype.UUID
	total := 0
	for _, row := range rows {
		id, bytes := size(row)
		bytes = max(bytes, least)
		if len(ids) > 0 && total+bytes > batchBytes {
			if err := do(ids); err != nil {
				return err
			}
			ids, total = nil, 0
		}
		ids, total = append(ids, id), total+bytes+1<<10
	}
	if len(ids) == 0 {
		return nil
	}
	return do(ids)
}

// withoutDeadline returns a context in which each of many statements has a deadline of its own.
func withoutDeadline(ctx context.Context) context.Context {
	r := service.RequestOf(ctx)
	r.Spent = nil
	return service.WithRequest(ctx, r)
}
