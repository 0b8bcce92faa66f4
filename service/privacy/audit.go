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
	e := ExportAudit{l.At, l.Account, l.User, l.RequestID, l.Operation, l.Record, l.Person, []string{}, l.Records, l.Reason}
	if l.Fields != "" {
		e.Fields = strings.Split(l.Fields, ",")
	}
	return e
}
