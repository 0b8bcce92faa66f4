package privacy

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Write writes the export as one JSON object, or as lines of one record with its kind. The export is recorded in the
// audit before its first byte is written. An erasure of the person ends it.
func (e *Export) Write(ctx context.Context, w io.Writer, lines bool) error {
	ctx = withoutDeadline(ctx)
	err := e.s.rules.Write(ctx, service.WriteIsolated, "note the export", func(tx service.Tx) error {
		e.line.At = e.s.rules.TimeOf(tx)
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
	out.list("consents", "consent", func() error {
		return each(e.kept.Consents, func(c apitype.Consent) error { out.item(c); return nil })
	})
	e.records(ctx, out)
	e.queue(ctx, out)
	out.list("blockedNumbers", "blockedNumber", func() error {
		return each(e.kept.Blocks, func(b service.Block) error {
			out.item(exportBlock{b.Organization, b.At, b.Call, b.User})
			return nil
		})
	})
	out.list("audit", "audit", func() error {
		return e.s.Audit(ctx, service.AuditFilter{Person: e.line.Record}, func(line service.AuditLine) error {
			if e.mayShow(line.Account) {
				out.item(ExportedAudit(line))
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
	scope := service.Scope{All: true}
	if e.caller != nil {
		scope = e.caller.Scope
	}
	named, err := service.View(
		ctx,
		e.s.rules,
		"name the users",
		func(r service.Reader) ([]service.User, error) { return r.Users(scope) },
	)
	for _, user := range named {
		if out.users[user.UUID.String()] {
			out.item(apitype.UserName{UUID: user.UUID, Name: user.Name})
		}
	}
	return err
}

// person writes the person with the parts that answers do not show, or null after an erasure.
func (e *Export) person() (jsontext.Value, error) {
	if e.kept.ErasedAt != nil {
		return jsontext.Value("null"), nil
	}
	private, err := json.Marshal(struct {
		Recruiting apitype.UUID `json:"recruitingOrganizationUuid"`
		MandateID  *string      `json:"mandateId"`
	}{e.kept.Person.Recruiting, e.kept.Person.MandateID})
	return withPrivate(service.AppendPerson(nil, e.kept.Person), private), err
}

func (e *Export) records(ctx context.Context, out *exportWriter) {
	exportRows(
		ctx,
		e,
		out,
		"call",
		e.kept.Calls,
		callSize,
		service.Reader.KeptCalls,
		func(c service.CallRow) jsontext.Value { return withPrivate(c.Doc, c.Private) },
	)
	exportRows(
		ctx,
		e,
		out,
		"pledge",
		e.kept.Pledges,
		pledgeSize,
		service.Reader.KeptPledges,
		func(p service.PledgeRow) jsontext.Value { return withPrivate(p.Doc, p.Private) },
	)
	exportRows(
		ctx,
		e,
		out,
		"transaction",
		e.kept.Transactions,
		transactionSize,
		service.Reader.KeptTransactions,
		func(t service.TransactionRow) jsontext.Value { return t.Doc },
	)
	out.list("signatures", "signature", func() error {
		return each(e.kept.Signatures, func(row service.SignatureRow) error {
			content, err := readKept(ctx, e, func(r service.Reader) ([]byte, error) { return r.Signature(row.Pledge) })
			out.item(exportSignature{row.Pledge, content})
			return err
		})
	})
	out.list("marks", "mark", func() error {
		return each(e.kept.Marks, func(row service.MarkRow) error { out.item(row); return nil })
	})
}

func exportRows[T any](
	ctx context.Context, e *Export, out *exportWriter, kind string, rows []T, size func(T) (apitype.UUID, int),
	read func(service.Reader, []apitype.UUID) ([]T, error), doc func(T) jsontext.Value,
) {
	out.list(kind+"s", kind, func() error {
		return inBatches(rows, size, 0, func(ids []apitype.UUID) error {
			found, err := readKept(ctx, e, func(r service.Reader) ([]T, error) { return read(r, ids) })
			for _, row := range found {
				out.item(doc(row))
			}
			return err
		})
	})
}

// queue writes the rows of the queue. In JSON they are one object. Its notes are written one by one.
func (e *Export) queue(ctx context.Context, out *exportWriter) {
	waiting := func(item func(service.QueueRow)) func() error {
		return func() error {
			if e.kept.Waiting == 0 {
				return nil
			}
			return inBatches(e.kept.Calls, callSize, batchBytes/4, func(ids []apitype.UUID) error {
				rows, err := readKept(
					ctx,
					e,
					func(r service.Reader) ([]service.QueueRow, error) { return r.KeptWaiting(ids) },
				)
				for _, row := range rows {
					item(row)
				}
				return err
			})
		}
	}
	out.open(jsontext.String("queue"))
	out.one("lastContactAt", e.kept.ContactedAt)
	out.list("deferrals", "deferral", func() error {
		for _, lease := range e.kept.Leases { // A pause restores the deferral of a claim.
			if lease.EndedAt == nil && lease.UsesDeferral() {
				out.item(exportDeferral{lease.CallUUID, *lease.DueAt, lease.KeptFor, lease.Reason})
			}
		}
		return waiting(func(row service.QueueRow) {
			if row.DueAt != nil {
				out.item(exportDeferral{row.Call, *row.DueAt, row.KeptFor, row.DueReason})
			}
		})()
	})
	out.list("notes", "note", waiting(func(row service.QueueRow) {
		if row.Note != nil {
			out.item(exportNote{row.Call, *row.Note})
		}
	}))
	out.list("leases", "lease", func() error {
		return each(e.kept.Leases, func(row service.LeaseRow) error { out.item(row.Sent()); return nil })
	})
	out.close()
}

// readKept reads some of the records, unless the person was erased since the export began.
func readKept[T any](ctx context.Context, e *Export, read func(service.Reader) (T, error)) (T, error) {
	var found T
	var err error
	err = e.s.rules.Read(ctx, service.ReadSnapshot, "export the person", func(r service.Reader) error {
		if e.kept.ErasedAt == nil {
			if _, err := r.Person(*e.line.Record, service.Scope{All: true}); err != nil {
				return service.OrNotFound(err, "person")
			}
		}
		found, err = read(r)
		return err
	})
	return found, err
}

// asStored lets documents be written as they are kept.
var asStored = json.JoinOptions(
	jsontext.PreserveRawStrings(true),
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
)

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

// open begins the object, or an object in it, whose members follow until close. Lines have none.
func (o *exportWriter) open(name ...jsontext.Token) {
	if !o.lines {
		o.tokens(append(name, jsontext.BeginObject)...)
	}
}

func (o *exportWriter) close() {
	if !o.lines {
		o.tokens(jsontext.EndObject)
	}
}

// list writes the items that each adds as a member, or as lines of a kind.
func (o *exportWriter) list(name, kind string, each func() error) {
	o.kind = kind
	if !o.lines {
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

// exportSignature is the signature file of a pledge.
type exportSignature struct {
	PledgeUUID apitype.UUID `json:"pledgeUuid"`
	Content    []byte       `json:"content"` // Base64 in JSON.
}

// exportDeferral is a deferred call.
type exportDeferral struct {
	CallUUID  apitype.UUID  `json:"callUuid"`
	NotBefore apitype.Time  `json:"notBefore"`
	UserUUID  *apitype.UUID `json:"userUuid"`
	Reason    *string       `json:"reason"`
}

// exportBlock is a number that is not called because the person objected. The number itself is not kept.
type exportBlock struct {
	OrganizationUUID apitype.UUID  `json:"organizationUuid"`
	Since            apitype.Time  `json:"since"`
	CallUUID         *apitype.UUID `json:"callUuid"`
	UserUUID         *apitype.UUID `json:"userUuid"`
}

// exportNote is a note for the next agent.
type exportNote struct {
	CallUUID apitype.UUID `json:"callUuid"`
	Text     string       `json:"text"`
}

// An Export hands out everything that is kept of a person, piece by piece.
type Export struct {
	s       *Service
	line    service.AuditLine
	caller  *service.Caller // Nil for an operator.
	kept    service.Kept
	mayShow func(account *apitype.UUID) bool // What an account has done.
	// elsewhere counts what belongs to organizations that the caller may not see.
	elsewhere map[apitype.UUID]int
}

// Export exports a person for an operator.
func (s *Service) Export(ctx context.Context, id apitype.UUID) (*Export, error) {
	err := s.finish(ctx, id) // An erasure that was begun comes first.
	if err != nil {
		return nil, err
	}
	return s.export(ctx, service.AuditLine{Operation: service.AuditPersonExport, Record: &id}, nil)
}

// ExportFor exports for a caller with the person in its scope.
// GET /fundesk/v1/persons/{uuid}/export
func (s *Service) ExportFor(ctx context.Context, c service.Caller, id apitype.UUID) (service.Answer, error) {
	if err := cmp.Or(c.Require(service.PersonsErase), c.Require(service.PersonsRead)); err != nil {
		return service.Answer{}, err
	}
	export, err := s.export(ctx, c.Audited(service.AuditPersonExport, id, apitype.Time{}), &c)
	if err != nil {
		return service.Answer{}, err
	}
	return service.Answer{
		Stream: func(ctx context.Context, w io.Writer) error { return export.Write(ctx, w, false) },
	}, nil
}

func (s *Service) export(ctx context.Context, line service.AuditLine, c *service.Caller) (*Export, error) {
	id := *line.Record
	e := &Export{
		s:       s,
		line:    line,
		caller:  c,
		mayShow: func(*apitype.UUID) bool { return true },
	}
	var accounts []service.Account
	err := s.rules.ReadLong(ctx, "export the person", func(r service.Reader) (err error) {
		if c != nil {
			if _, err := service.VisiblePerson(r, *c, id); err != nil {
				return err
			}
			accounts, err = r.Accounts()
			if err != nil {
				return err
			}
		}
		e.kept, err = r.Kept(id)
		return service.OrUnknown(err, "person", id)
	})
	if err == nil && c != nil && !c.Scope.All {
		e.mayShow = accountsWithin(c.Scope, accounts)
		e.elsewhere = narrow(&e.kept, c.Scope, e.mayShow)
	}
	return e, err
}

// accountsWithin reports of an account whether it works within the scope alone; nil is an operator's command.
func accountsWithin(scope service.Scope, all []service.Account) func(*apitype.UUID) bool {
	within := map[apitype.UUID]bool{}
	for _, a := range all {
		within[a.UUID] = !a.Scope.All &&
			!slices.ContainsFunc(a.Scope.Organizations, func(id apitype.UUID) bool { return !scope.Contains(id) })
	}
	return func(account *apitype.UUID) bool { return account == nil || within[*account] }
}

// narrow leaves what an account may see, and counts the pledges of other organizations.
func narrow(k *service.Kept, scope service.Scope, mayShow func(*apitype.UUID) bool) map[apitype.UUID]int {
	hidden := map[apitype.UUID]bool{}
	elsewhere := map[apitype.UUID]int{}
	k.Pledges = slices.DeleteFunc(k.Pledges, func(p service.PledgeRow) bool {
		if scope.Contains(p.Owner) || scope.Contains(p.Recruiting) {
			return false
		}
		hidden[p.UUID] = true
		elsewhere[p.Owner]++
		return true
	})
	k.Transactions = slices.DeleteFunc(k.Transactions, func(t service.TransactionRow) bool { return hidden[t.Pledge] })
	k.Signatures = slices.DeleteFunc(k.Signatures, func(s service.SignatureRow) bool { return hidden[s.Pledge] })
	k.Marks = slices.DeleteFunc(
		k.Marks,
		func(m service.MarkRow) bool { return hidden[m.EntityUUID] || !mayShow(&m.Account) },
	)
	return elsewhere
}

// withPrivate returns a document with one more member for the parts that answers do not show.
func withPrivate(doc, private []byte) jsontext.Value {
	return service.AppendWith(nil, doc, "notAnswered", private)
}
