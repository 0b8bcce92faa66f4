package privacy

import (
	"context"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// auditPage is how many lines are read at one time, because a whole audit does not fit into memory.
const auditPage = 500

// Audit hands the lines that pass a filter to do, the oldest first.
func (s *Service) Audit(ctx context.Context, f service.AuditFilter, do func(service.AuditLine) error) error {
	f.Limit = auditPage
	for {
		var lines []service.AuditLine
		err := s.rules.Read(ctx, service.ReadList, "read the audit", func(r service.Reader) (err error) {
			lines, err = r.AuditLines(f)
			return err
		})
		if err == nil {
			err = each(lines, do)
		}
		if err != nil || len(lines) < f.Limit {
			return err
		}
		last := lines[len(lines)-1]
		f.After = &service.Position{At: last.At, UUID: last.UUID}
	}
}

// minAuditAge is how long every line stays, because the change feed reads the audit.
const minAuditAge = service.ChangesKept

// prunedAtOnce is how many lines a transaction deletes, so that no request waits long for it.
const prunedAtOnce = 1000

// prunable returns the latest time before which lines may be deleted, at most the one that is given.
func (s *Service) prunable(before apitype.Time) apitype.Time {
	latest := apitype.NewTime(s.rules.Now().Add(-minAuditAge))
	if before.After(latest.Time) {
		return latest
	}
	return before
}

// CountPrunable returns how many lines PruneAudit would delete.
func (s *Service) CountPrunable(ctx context.Context, before apitype.Time) (lines int, err error) {
	return service.View(ctx, s.rules, "count lines of the audit", func(r service.Reader) (int, error) {
		return r.CountAudit(s.prunable(before))
	})
}

// PruneAudit deletes the lines of the audit from before a time. Lines of the last 31 days always stay.
func (s *Service) PruneAudit(ctx context.Context, before apitype.Time, reason string) (deleted int, err error) {
	before = s.prunable(before)
	for isDone := false; !isDone; {
		var batch int
		err := s.rules.Write(ctx, service.WriteIsolated, "prune the audit", func(tx service.Tx) (err error) {
			batch, err = tx.PruneAudit(before, prunedAtOnce)
			if err != nil {
				return err
			}
			total := deleted + batch
			isDone = batch < prunedAtOnce
			if !isDone || total == 0 {
				return nil
			}
			return tx.Audit(service.AuditLine{
				At:        s.rules.TimeOf(tx),
				Operation: service.AuditPrune,
				Records:   &total,
				Reason:    reason,
			})
		})
		if err != nil {
			return deleted, err
		}
		deleted += batch
	}
	return deleted, nil
}

// ExportAudit is a line of the audit.
type ExportAudit struct {
	Time      apitype.Time           `json:"time"`
	Account   *apitype.UUID          `json:"account"`
	User      *apitype.UUID          `json:"user"`
	RequestID string                 `json:"requestId"`
	Operation service.AuditOperation `json:"operation"`
	Record    *apitype.UUID          `json:"record"`
	Person    *apitype.UUID          `json:"person"`
	Fields    []string               `json:"fields"`
	Count     *int                   `json:"count,omitzero"`
	Reason    string                 `json:"reason,omitzero"`
}

// ExportedAudit is a line of the audit in its printed form.
func ExportedAudit(l service.AuditLine) ExportAudit {
	e := ExportAudit{
		l.At,
		l.Account,
		l.User,
		l.RequestID,
		l.Operation,
		l.Record,
		l.Person,
		[]string{},
		l.Records,
		l.Reason,
	}
	if l.Fields != "" {
		e.Fields = strings.Split(l.Fields, ",")
	}
	return e
}
