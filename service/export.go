package service

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Write writes the export as one JSON object, or as lines, one record each with its kind. That it is
// handed out is noted before its first byte is. A person who is erased meanwhile ends it.
func (e *Export) Write(ctx context.Context, w io.Writer, lines bool) error {
	ctx = withoutDeadline(ctx)
	err := e.s.Write(ctx, WriteIsolated, "note the export", func(tx Tx) error {
		e.line.At = e.s.TimeOf(tx)
		return tx.Audit(e.line.Of(*e.line.Record))
	})
	if err != nil {
		return err
	}
	out := &exportWriter{out: jsontext.NewEncoder(w, asStored), lines: lines, users: map[string]bool{}}
	out.open()
	person, err := e.person()
	out.fail(err)
	out.one("person", person)
	if e.kept.ErasedAt != nil && !lines {
		out.one("erasedAt", e.kept.ErasedAt)
	}
	e.records(ctx, out)
	e.queue(ctx, out)
	out.list("audit", "audit", func() error {
		return e.s.Audit(ctx, AuditFilter{Person: e.line.Record}, func(line AuditLine) error {
			if e.mayShow(line.Account) {
				out.item(line.Exported())
			}
			return out.err
		})
	})
	if len(out.users) > 0 {
		out.list("users", "user", func() error { return e.users(ctx, out) })
	}
	if len(e.elsewhere) > 0 && !lines {
		out.one("elsewhere", e.elsewhere)
	}
	out.close()
	return out.err
}

func (e *Export) users(ctx context.Context, out *exportWriter) error {
	scope := Scope{All: true}
	if e.caller != nil {
		scope = e.caller.Scope
	}
	named, err := View(ctx, e.s, "name the users", func(r Reader) ([]User, error) { return r.Users(scope) })
	for _, user := range named {
		if out.users[user.UUID.String()] {
			out.item(apitype.UserName{UUID: user.UUID, Name: user.Name})
		}
	}
	return err
}

// person is the person with what answers do not show, null where they were erased.
func (e *Export) person() (jsontext.Value, error) {
	if e.kept.ErasedAt != nil {
		return jsontext.Value("null"), nil
	}
	private, err := json.Marshal(struct {
		Recruiting apitype.UUID `json:"recruitingOrganizationUuid"`
		MandateID  *string      `json:"mandateId"`
	}{e.kept.Person.Recruiting, e.kept.Person.MandateID})
	return withPrivate(appendPerson(nil, e.kept.Person), private), err
}

func (e *Export) records(ctx context.Context, out *exportWriter) {
	exportRows(ctx, e, out, "call", e.kept.Calls, Reader.KeptCalls, func(c CallRow) jsontext.Value { return withPrivate(c.Doc, c.Private) })
	exportRows(ctx, e, out, "pledge", e.kept.Pledges, Reader.KeptPledges, func(p PledgeRow) jsontext.Value { return withPrivate(p.Doc, p.Private) })
	exportRows(ctx, e, out, "transaction", e.kept.Transactions, Reader.KeptTransactions, func(t TransactionRow) jsontext.Value { return t.Doc })
	out.list("signatures", "signature", func() error {
		return each(e.kept.Signatures, func(row SignatureRow) error {
			content, err := readKept(ctx, e, func(r Reader) ([]byte, error) { return r.Signature(row.Pledge) })
			out.item(ExportSignature{row.Pledge, content})
			return err
		})
	})
	out.list("marks", "mark", func() error {
		return each(e.kept.Marks, func(row MarkRow) error { out.item(row); return nil })
	})
}

func exportRows[T keptRow](ctx context.Context, e *Export, out *exportWriter, kind string, rows []T, read func(Reader, []apitype.UUID) ([]T, error), doc func(T) jsontext.Value) {
	out.list(kind+"s", kind, func() error {
		return inBatches(rows, 0, func(ids []apitype.UUID) error {
			found, err := readKept(ctx, e, func(r Reader) ([]T, error) { return read(r, ids) })
			for _, row := range found {
				out.item(doc(row))
			}
			return err
		})
	})
}

// queue writes what the queue keeps: as JSON an object, whose notes are written piece by piece.
func (e *Export) queue(ctx context.Context, out *exportWriter) {
	waiting := func(item func(QueueRow)) func() error {
		return func() error {
			if e.kept.Waiting == 0 {
				return nil
			}
			return inBatches(e.kept.Calls, keptBatch/4, func(ids []apitype.UUID) error {
				rows, err := readKept(ctx, e, func(r Reader) ([]QueueRow, error) { return r.KeptWaiting(ids) })
				for _, row := range rows {
					item(row)
				}
				return err
			})
		}
	}
	out.open("queue")
	out.one("lastRungAt", e.kept.ContactedAt)
	out.list("deferrals", "deferral", waiting(func(row QueueRow) {
		if row.DueAt != nil {
			out.item(ExportDeferral{row.Call, *row.DueAt, row.KeptFor})
		}
	}))
	out.list("notes", "note", waiting(func(row QueueRow) {
		if row.Note != nil {
			out.item(ExportNote{row.Call, *row.Note})
		}
	}))
	out.list("leases", "lease", func() error {
		return each(e.kept.Leases, func(row LeaseRow) error { out.item(leaseOf(row)); return nil })
	})
	out.close()
}

// readKept reads some of the records, unless the person was erased since the export began.
func readKept[T any](ctx context.Context, e *Export, read func(Reader) (T, error)) (found T, err error) {
	err = e.s.Read(ctx, ReadSnapshot, "export the person", func(r Reader) error {
		if e.kept.ErasedAt == nil {
			if _, err := r.Person(*e.line.Record, Scope{All: true}); err != nil {
				return OrNotFound(err, "person")
			}
		}
		found, err = read(r)
		return err
	})
	return found, err
}

// asStored lets documents be written as they are kept.
var asStored = json.JoinOptions(jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// exportWriter writes records as members of one object, or as lines. What fails first stays err, and
// ends it.
type exportWriter struct {
	out   *jsontext.Encoder
	lines bool
	err   error
	kind  string          // Of the list that is open.
	users map[string]bool // That were named so far.
}

func (o *exportWriter) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *exportWriter) tokens(tokens ...jsontext.Token) {
	for _, token := range tokens {
		if o.err == nil {
			o.err = o.out.WriteToken(token)
		}
	}
}

func (o *exportWriter) value(value any) {
	data, raw := value.(jsontext.Value)
	if !raw {
		var err error
		data, err = json.Marshal(value, json.Deterministic(true))
		o.fail(err)
	}
	const member = `"userUuid":"`
	for _, rest, found := bytes.Cut(data, []byte(member)); found; _, rest, found = bytes.Cut(rest, []byte(member)) {
		o.users[string(rest[:min(len(rest), len(apitype.ExampleUUID))])] = true
	}
	if o.err == nil {
		o.err = o.out.WriteValue(data)
	}
}

// one writes a member, or a line of its own kind.
func (o *exportWriter) one(name string, value any) {
	if o.lines {
		o.kind = name
		o.item(value)
		return
	}
	o.tokens(jsontext.String(name))
	o.value(value)
}

// open begins the object, or a member that is one, whose members follow until close. Lines have none.
func (o *exportWriter) open(names ...string) {
	if !o.lines {
		o.tokens(append(mapped(names, jsontext.String), jsontext.BeginObject)...)
	}
}

func (o *exportWriter) close() {
	if !o.lines {
		o.tokens(jsontext.EndObject)
	}
}

// list writes the items that each adds as a member, or as lines of a kind.
func (o *exportWriter) list(name, kind string, each func() error) {
	if o.kind = kind; !o.lines {
		o.tokens(jsontext.String(name), jsontext.BeginArray)
		defer o.tokens(jsontext.EndArray)
	}
	if o.err == nil {
		o.fail(each())
	}
}

func (o *exportWriter) item(value any) {
	if !o.lines {
		o.value(value)
		return
	}
	o.tokens(jsontext.BeginObject, jsontext.String("kind"), jsontext.String(o.kind), jsontext.String("data"))
	o.value(value)
	o.tokens(jsontext.EndObject)
}

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
	export, err := s.exportPerson(ctx, c.Audited(AuditPersonExport, id, apitype.Time{}), &c)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Stream: func(ctx context.Context, w io.Writer) error { return export.Write(ctx, w, false) }}, nil
}

func (s *Service) exportPerson(ctx context.Context, line AuditLine, c *Caller) (*Export, error) {
	id := *line.Record
	e := &Export{s: s, line: line, caller: c, mayShow: func(*apitype.UUID) bool { return true }}
	var accounts []Account
	err := s.ReadLong(ctx, "export the person", func(r Reader) (err error) {
		if c != nil {
			if _, err := VisiblePerson(r, *c, id); err != nil {
				return err
			}
			if accounts, err = r.Accounts(); err != nil {
				return err
			}
		}
		e.kept, err = r.Kept(id)
		return OrUnknown(err, "person", id)
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
