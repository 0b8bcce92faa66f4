package privacy

import (
	"context"
	"iter"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// auditPage is the number of lines in one read. A whole audit does not fit into memory.
const auditPage = 500

// listsAtOnce is the number of lists that one statement searches for a person.
const listsAtOnce = 2000

// Audit hands the lines that pass a filter to do, the oldest first. Those of a person include the lists that showed the
// person.
func (s *Service) Audit(ctx context.Context, f service.AuditFilter, do func(service.AuditLine) error) error {
	lines := s.auditLines(ctx, f)
	if f.Person != nil {
		lines = merged(lines, s.auditLists(ctx, f))
	}
	for line, err := range lines {
		if err != nil {
			return err
		}
		err = do(line)
		if err != nil {
			return err
		}
	}
	return nil
}

// auditLines reads lines page by page. An error ends them.
func (s *Service) auditLines(ctx context.Context, f service.AuditFilter) iter.Seq2[service.AuditLine, error] {
	f.Limit = auditPage
	return inPages(f, func(f service.AuditFilter) (lines []service.AuditLine, next *service.Position, err error) {
		err = s.rules.Read(ctx, service.ReadList, "read the audit", func(r service.Reader) (err error) {
			lines, err = r.AuditLines(f)
			return err
		})
		if len(lines) == f.Limit {
			last := lines[len(lines)-1]
			next = &service.Position{At: last.At, UUID: last.UUID}
		}
		return lines, next, err
	})
}

// auditLists reads the lists that showed a person.
func (s *Service) auditLists(ctx context.Context, f service.AuditFilter) iter.Seq2[service.AuditLine, error] {
	f.Limit = listsAtOnce
	return inPages(f, func(f service.AuditFilter) (lines []service.AuditLine, next *service.Position, err error) {
		err = s.rules.Read(ctx, service.ReadSnapshot, "search the lists", func(r service.Reader) (err error) {
			lines, next, err = r.AuditLists(f)
			return err
		})
		return lines, next, err
	})
}

// inPages walks the lines of pages. A page without a next position is the last one.
func inPages(
	f service.AuditFilter,
	page func(service.AuditFilter) (lines []service.AuditLine, next *service.Position, err error),
) iter.Seq2[service.AuditLine, error] {
	return func(yield func(service.AuditLine, error) bool) {
		for hasMore := true; hasMore; hasMore = f.After != nil {
			lines, next, err := page(f)
			if err != nil {
				yield(service.AuditLine{}, err)
				return
			}
			for _, line := range lines {
				if !yield(line, nil) {
					return
				}
			}
			f.After = next
		}
	}
}

// merged walks two sequences of lines by their time. An error ends them.
func merged(a, b iter.Seq2[service.AuditLine, error]) iter.Seq2[service.AuditLine, error] {
	return func(yield func(service.AuditLine, error) bool) {
		next, stop := iter.Pull2(b)
		defer stop()
		other, failed, has := next()
		for line, err := range a {
			for has && (failed != nil || other.IsBefore(line)) {
				if !yield(other, failed) {
					return
				}
				other, failed, has = next()
			}
			if !yield(line, err) {
				return
			}
		}
		for has {
			if !yield(other, failed) {
				return
			}
			other, failed, has = next()
		}
	}
}

// minAuditAge is the age below which no line is deleted: the change feed reads the audit. The last hour is for a page
// whose position was just young enough, and for clocks that differ.
const minAuditAge = service.ChangesKept + time.Hour

// prunedAtOnce is the number of lines that a transaction deletes. It is small, so that no request waits long.
const prunedAtOnce = 1000

// prunable returns the time before which lines may be deleted. It is never later than the given one.
func (s *Service) prunable(before apitype.Time) apitype.Time {
	latest := apitype.NewTime(s.rules.Now().Add(-minAuditAge))
	if before.After(latest.Time) {
		return latest
	}
	return before
}

// CountPrunable returns how many lines PruneAudit would delete.
func (s *Service) CountPrunable(ctx context.Context, before apitype.Time) (int, error) {
	return service.View(ctx, s.rules, "count lines of the audit", func(r service.Reader) (int, error) {
		return r.CountAudit(s.prunable(before))
	})
}

// PruneAudit deletes the lines of the audit from before a time, in small steps. Each step adds a line about itself, so
// that an interrupted prune is in the audit too. Lines of the last 31 days always stay.
func (s *Service) PruneAudit(ctx context.Context, before apitype.Time, reason string) (int, error) {
	before = s.prunable(before)
	var deleted int
	for {
		var batch int
		err := s.rules.Write(ctx, service.WriteIsolated, "prune the audit", func(tx service.Tx) (err error) {
			batch, err = tx.PruneAudit(before, prunedAtOnce)
			if err != nil || batch == 0 {
				return err
			}
			return tx.Audit(service.AuditLine{
				At:        s.rules.TimeOf(tx),
				Operation: service.AuditPrune,
				Records:   &batch,
				Reason:    reason,
			})
		})
		if err != nil {
			return deleted, err
		}
		deleted += batch
		if batch < prunedAtOnce {
			return deleted, nil
		}
	}
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
	// Shown are the persons that a list showed. An export of a person does not name the others.
	Shown []apitype.UUID `json:"shown,omitzero"`
}

// ExportedAudit returns a line of the audit in its printed form.
func ExportedAudit(l service.AuditLine) ExportAudit {
	e := ExportAudit{
		Time:      l.At,
		Account:   l.Account,
		User:      l.User,
		RequestID: l.RequestID,
		Operation: l.Operation,
		Record:    l.Record,
		Person:    l.Person,
		Fields:    []string{},
		Count:     l.Records,
		Reason:    l.Reason,
	}
	if l.Fields != "" {
		e.Fields = strings.Split(l.Fields, ",")
	}
	return e
}
