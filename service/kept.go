package service

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Kept is everything that is kept of a person, without the documents: Bytes of each row says how long
// they are, and the reader has them for some rows at a time.
type Kept struct {
	Person       PersonRow // Without a document when they were erased.
	ErasedAt     *apitype.Time
	Calls        []CallRow
	Pledges      []PledgeRow
	Transactions []TransactionRow
	Signatures   []SignatureRow
	Marks        []MarkRow
	Waiting      int        // Calls in the queue.
	Leases       []LeaseRow // Also those that have ended.
	ContactedAt  *apitype.Time
}

// keptBatch is how many bytes of documents are in memory at one time, or one record.
const keptBatch = 256 << 10

// keptRow is a row whose documents are read later.
type keptRow interface {
	kept() (id apitype.UUID, bytes int)
}

func (c CallRow) kept() (apitype.UUID, int)        { return c.UUID, c.Bytes }
func (p PledgeRow) kept() (apitype.UUID, int)      { return p.UUID, p.Bytes }
func (t TransactionRow) kept() (apitype.UUID, int) { return t.UUID, t.Bytes }

// inBatches hands the identifiers of rows on, so many at a time as a batch has bytes; each row counts as least
// bytes at least.
func inBatches[T keptRow](rows []T, least int, do func(ids []apitype.UUID) error) error {
	var ids []apitype.UUID
	size := 0
	for _, row := range rows {
		id, bytes := row.kept()
		bytes = max(bytes, least)
		if len(ids) > 0 && size+bytes > keptBatch {
			if err := do(ids); err != nil {
				return err
			}
			ids, size = nil, 0
		}
		ids, size = append(ids, id), size+bytes+1<<10
	}
	if len(ids) == 0 {
		return nil
	}
	return do(ids)
}

// MarkRow is a mark with the account that made it.
type MarkRow struct {
	Account apitype.UUID `json:"account"`
	apitype.ProcessedEntry
}

// ExportSignature is the signature file of a pledge.
type ExportSignature struct {
	PledgeUUID apitype.UUID `json:"pledgeUuid"`
	Content    []byte       `json:"content"` // Base64 in JSON.
}

// ExportDeferral is a call that is put off.
type ExportDeferral struct {
	CallUUID  apitype.UUID  `json:"callUuid"`
	NotBefore apitype.Time  `json:"notBefore"`
	UserUUID  *apitype.UUID `json:"userUuid"`
}

// ExportNote is what agents left for the next one.
type ExportNote struct {
	CallUUID apitype.UUID `json:"callUuid"`
	Text     string       `json:"text"`
}

// ExportAudit is a line of the audit.
type ExportAudit struct {
	Time      apitype.Time   `json:"time"`
	Account   *apitype.UUID  `json:"account"`
	User      *apitype.UUID  `json:"user"`
	RequestID string         `json:"requestId"`
	Operation AuditOperation `json:"operation"`
	Record    *apitype.UUID  `json:"record"`
	Person    *apitype.UUID  `json:"person"`
	Fields    []string       `json:"fields"`
	Count     *int           `json:"count,omitzero"`
	Reason    string         `json:"reason,omitzero"`
}

// An Export hands out everything that is kept of a person, piece by piece.
type Export struct {
	s       *Service
	line    AuditLine
	caller  *Caller // Nil: an operator.
	kept    Kept
	mayShow func(account *apitype.UUID) bool // What an account has done.
	// elsewhere counts what belongs to organizations that the caller may not see.
	elsewhere map[apitype.UUID]int
}

// ExportPerson exports a person for an operator.
func (s *Service) ExportPerson(ctx context.Context, id apitype.UUID) (*Export, error) {
	if err := s.finishErasure(ctx, id); err != nil { // Of what was erased nothing is handed out.
		return nil, err
	}
	return s.exportPerson(ctx, AuditLine{Operation: AuditPersonExport, Record: &id}, nil)
}

// ExportPersonFor is ExportPerson for a caller that may see the person.
// GET /fundesk/v1/persons/{uuid}/export
func (s *Service) ExportPersonFor(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(PersonsErase); err != nil {
		return Answer{}, err
	}
	export, err := s.exportPerson(ctx, c.audited(AuditPersonExport, id, apitype.Time{}), &c)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Stream: func(ctx context.Context, w io.Writer) error { return export.Write(ctx, w, false) }}, nil
}

func (s *Service) exportPerson(ctx context.Context, line AuditLine, c *Caller) (*Export, error) {
	id := *line.Record
	e := &Export{s: s, line: line, caller: c, mayShow: func(*apitype.UUID) bool { return true }}
	var accounts []Account
	err := s.readLong(ctx, "export the person", func(r Reader) (err error) {
		if c != nil {
			if _, err := visiblePerson(r, *c, id); err != nil {
				return err
			}
			if accounts, err = r.Accounts(); err != nil {
				return err
			}
		}
		e.kept, err = r.Kept(id)
		return orUnknown(err, "person", id)
	})
	if err == nil && c != nil && !c.Scope.All {
		e.mayShow = c.Scope.accounts(accounts)
		e.elsewhere = e.kept.narrow(c.Scope, e.mayShow)
	}
	return e, err
}

// accounts reports of an account whether it works within the scope alone; nil is an operator's command.
func (s Scope) accounts(all []Account) func(*apitype.UUID) bool {
	within := map[apitype.UUID]bool{}
	for _, a := range all {
		within[a.UUID] = !a.Scope.All && !slices.ContainsFunc(a.Scope.Organizations, func(id apitype.UUID) bool { return !s.Contains(id) })
	}
	return func(account *apitype.UUID) bool { return account == nil || within[*account] }
}

// foreign counts the pledges that belong to organizations outside a scope.
func (k Kept) foreign(scope Scope) map[apitype.UUID]int {
	counts := map[apitype.UUID]int{}
	for _, pledge := range k.Pledges {
		if !scope.Contains(pledge.Owner) {
			counts[pledge.Owner]++
		}
	}
	return counts
}

// narrow leaves what an account may see, and counts the pledges of other organizations.
func (k *Kept) narrow(scope Scope, mayShow func(*apitype.UUID) bool) map[apitype.UUID]int {
	hidden := map[apitype.UUID]bool{}
	elsewhere := map[apitype.UUID]int{}
	k.Pledges = slices.DeleteFunc(k.Pledges, func(p PledgeRow) bool {
		if scope.Contains(p.Owner) || scope.Contains(p.Recruiting) {
			return false
		}
		hidden[p.UUID] = true
		elsewhere[p.Owner]++
		return true
	})
	k.Transactions = slices.DeleteFunc(k.Transactions, func(t TransactionRow) bool { return hidden[t.Pledge] })
	k.Signatures = slices.DeleteFunc(k.Signatures, func(s SignatureRow) bool { return hidden[s.Pledge] })
	k.Marks = slices.DeleteFunc(k.Marks, func(m MarkRow) bool { return hidden[m.EntityUUID] || !mayShow(&m.Account) })
	return elsewhere
}

// withPrivate is a document with what no answer shows, as a member of its own.
func withPrivate(doc, private []byte) jsontext.Value {
	return append(member(open(make([]byte, 0, len(doc)+len(private)+32), doc), "notAnswered", private), '}')
}

// Exported is the line as it is printed.
func (l AuditLine) Exported() ExportAudit {
	e := ExportAudit{l.At, l.Account, l.User, l.RequestID, l.Operation, l.Record, l.Person, []string{}, l.Records, l.Reason}
	if l.Fields != "" {
		e.Fields = strings.Split(l.Fields, ",")
	}
	return e
}
