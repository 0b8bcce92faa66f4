// Package privacy is what a donor, or the law, may ask of the service: everything that is kept of a
// person, its erasure, the retention periods, and the audit. A [Service] works on the rules of a
// [service.Service], which does not know it.
//
//	p := privacy.New(rules, nil)
//	erasure, err := p.Erase(ctx, id, apitype.EraseRequest{Reason: "request 2026-17"})
package privacy

import (
	"context"
	"encoding/json"
	"errors"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Service erases and exports persons. It is safe for concurrent use.
type Service struct {
	rules  *service.Service
	record func(service.ErasedPerson) error
}

// New is the service on its rules. It tells record, which may be nil, of each erasure before that is made,
// perhaps more than once: what record refuses is not erased.
func New(rules *service.Service, record func(service.ErasedPerson) error) *Service {
	if record == nil {
		record = func(service.ErasedPerson) error { return nil }
	}
	return &Service{rules, record}
}

// settingOf reads a setting that holds JSON; nil: there is none.
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

// batchBytes is how many bytes of documents are in memory at one time, or one record.
const batchBytes = 256 << 10

// What a row of Kept is read by later, and how long its documents are.
func callSize(c service.CallRow) (apitype.UUID, int)               { return c.UUID, c.Bytes }
func pledgeSize(p service.PledgeRow) (apitype.UUID, int)           { return p.UUID, p.Bytes }
func transactionSize(t service.TransactionRow) (apitype.UUID, int) { return t.UUID, t.Bytes }

// inBatches hands the identifiers of rows on, so many at a time as a batch has bytes; each row counts as least
// bytes at least.
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

// withoutDeadline is a context for many questions, each with a deadline of its own.
func withoutDeadline(ctx context.Context) context.Context {
	r := service.RequestOf(ctx)
	r.Spent = nil
	return service.WithRequest(ctx, r)
}
