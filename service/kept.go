package service

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Kept is everything that is kept of a person.
type Kept struct {
	Person       PersonRow // Without a document when they were erased.
	ErasedAt     *apitype.Time
	Calls        []CallRow
	Pledges      []PledgeRow
	Transactions []TransactionRow
	Signatures   []SignatureRow
	Marks        []MarkRow
	Waiting      []QueueRow // Calls in the queue.
	Leases       []LeaseRow // Also those that have ended.
	ContactedAt  *apitype.Time
}

// MarkRow is a mark with the account that made it.
type MarkRow struct {
	Account apitype.UUID `json:"account"`
	apitype.ProcessedEntry
}

// Export is everything that is kept of a person, as it is handed out.
type Export struct {
	Person       jsontext.Value    `json:"person"`
	ErasedAt     *apitype.Time     `json:"erasedAt,omitzero"`
	Calls        []jsontext.Value  `json:"calls"`
	Pledges      []jsontext.Value  `json:"pledges"`
	Transactions []jsontext.Value  `json:"transactions"`
	Signatures   []ExportSignature `json:"signatures"`
	Marks        []MarkRow         `json:"marks"`
	Queue        ExportQueue       `json:"queue"`
	Audit        []ExportAudit     `json:"audit"`
	// Elsewhere counts what belongs to organizations that the caller may not see.
	Elsewhere map[apitype.UUID]int `json:"elsewhere,omitzero"`
}

// ExportSignature is the signature file of a pledge.
type ExportSignature struct {
	PledgeUUID apitype.UUID `json:"pledgeUuid"`
	Content    []byte       `json:"content"` // Base64 in JSON.
}

// ExportQueue is what the queue keeps of a person.
type ExportQueue struct {
	LastRungAt *apitype.Time    `json:"lastRungAt"`
	Deferrals  []ExportDeferral `json:"deferrals"`
	Notes      []ExportNote     `json:"notes"`
	Leases     []apitype.Lease  `json:"leases"`
}

// ExportDeferral is a call that is put off.
type ExportDeferral struct {
	CallUUID  apitype.UUID  `json:"callUuid"`
	NotBefore apitype.Time  `json:"notBefore"`
	UserUUID  *apitype.UUID `json:"userUuid"`
}

// ExportNote is what agents left for whoever makes a call.
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

// ExportPerson is everything that is kept of a person. That it was handed out is noted.
func (s *Service) ExportPerson(ctx context.Context, id apitype.UUID) (Export, error) {
	return s.exportPerson(ctx, AuditLine{Operation: AuditPersonExport, Record: &id}, nil)
}

// ExportPersonFor is ExportPerson for a caller, who must see the person.
// GET /fundesk/v1/persons/{uuid}/export
func (s *Service) ExportPersonFor(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(PersonsErase); err != nil {
		return Answer{}, err
	}
	export, err := s.exportPerson(ctx, c.audited(AuditPersonExport, id, apitype.Time{}), &c)
	if err != nil {
		return Answer{}, err
	}
	return answered(export)
}

func (s *Service) exportPerson(ctx context.Context, line AuditLine, c *Caller) (export Export, err error) {
	id := *line.Record
	err = s.update(ctx, "note the export", func(tx Tx) (err error) {
		if c != nil {
			_, err = visiblePerson(tx, *c, id)
		} else {
			_, err = tx.Kept(id)
		}
		if err != nil {
			return orUnknown(err, "person", id)
		}
		line.At = s.timeOf(tx)
		return tx.Audit(line.of(id))
	})
	if err != nil {
		return export, err
	}
	kept, err := viewed(ctx, s, "export the person", func(r Reader) (Kept, error) { return r.Kept(id) })
	if err != nil {
		return export, err
	}
	mayShow := func(*apitype.UUID) bool { return true } // What an account has done.
	var elsewhere map[apitype.UUID]int
	if c != nil && !c.Scope.All {
		accounts, err := viewed(ctx, s, "read the accounts", Reader.Accounts)
		if err != nil {
			return export, err
		}
		mayShow = c.Scope.accounts(accounts)
		elsewhere = kept.narrow(c.Scope, mayShow)
	}
	if export, err = kept.export(); err != nil {
		return export, err
	}
	export.Audit, export.Elsewhere = []ExportAudit{}, elsewhere
	err = s.Audit(ctx, AuditFilter{Person: &id}, func(line AuditLine) error {
		if mayShow(line.Account) {
			export.Audit = append(export.Audit, line.Exported())
		}
		return nil
	})
	return export, err
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

// export puts rows into the form in which they are handed out: documents with what answers
// do not show.
func (k Kept) export() (e Export, err error) {
	e = Export{
		Person: jsontext.Value("null"), ErasedAt: k.ErasedAt,
		Calls:        mapped(k.Calls, func(row CallRow) jsontext.Value { return withPrivate(row.Doc, row.Private) }),
		Pledges:      mapped(k.Pledges, func(row PledgeRow) jsontext.Value { return withPrivate(row.Doc, row.Private) }),
		Transactions: mapped(k.Transactions, func(row TransactionRow) jsontext.Value { return row.Doc }),
		Signatures:   mapped(k.Signatures, func(row SignatureRow) ExportSignature { return ExportSignature{row.Pledge, row.Content} }),
		Marks:        append([]MarkRow{}, k.Marks...),
		Queue:        ExportQueue{LastRungAt: k.ContactedAt, Deferrals: []ExportDeferral{}, Notes: []ExportNote{}, Leases: mapped(k.Leases, leaseOf)},
	}
	if k.ErasedAt == nil {
		beside, err := json.Marshal(struct {
			Recruiting apitype.UUID `json:"recruitingOrganizationUuid"`
			MandateID  *string      `json:"mandateId"`
		}{k.Person.Recruiting, k.Person.MandateID})
		if err != nil {
			return e, err
		}
		e.Person = withPrivate(appendPerson(nil, k.Person), beside)
	}
	for _, row := range k.Waiting {
		if row.DueAt != nil {
			e.Queue.Deferrals = append(e.Queue.Deferrals, ExportDeferral{row.Call, *row.DueAt, row.KeptFor})
		}
		if row.Note != nil {
			e.Queue.Notes = append(e.Queue.Notes, ExportNote{row.Call, *row.Note})
		}
	}
	return e, nil
}

// withPrivate is a document with what no answer shows, as a member of its own.
func withPrivate(doc, private []byte) jsontext.Value {
	return append(member(open(nil, doc), "notAnswered", private), '}')
}

// Exported is the line as it is printed.
func (l AuditLine) Exported() ExportAudit {
	e := ExportAudit{l.At, l.Account, l.User, l.RequestID, l.Operation, l.Record, l.Person, []string{}, l.Records, l.Reason}
	if l.Fields != "" {
		e.Fields = strings.Split(l.Fields, ",")
	}
	return e
}
