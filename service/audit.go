package service

import (
	"bytes"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// The audit has one line for each change of a record. The line is written in the transaction of the change, so neither
// exists without the other. A line names the account and the record, and contains no value of the record. Spec gap:
// S44.

// AuditLine is one line of the audit.
type AuditLine struct {
	UUID      apitype.UUID // Chosen by the store.
	At        apitype.Time
	Account   *apitype.UUID // Nil means a command of an operator.
	User      *apitype.UUID // The agent of the account, if the request names one.
	RequestID string        // Empty for a command.
	Operation AuditOperation
	Record    *apitype.UUID  // Nil if there are several records, or none.
	Person    *apitype.UUID  // The person of the record, if there is exactly one.
	Fields    string         // The names of the changed fields, or of the filters of a list, separated by commas.
	Records   *int           // The number of records, if it is not one.
	Shown     []apitype.UUID // The persons that a list showed, each once, in the order of their identifiers.
	Reason    string         // The operator's reason.
}

// AuditOperation names a change or a reading of a kind of record.
type AuditOperation string

// The operations of the audit: the record, and the operation's name in paths and commands. An action on a pledge and a
// mark have the names of the action and the entity.
const (
	AuditPersonCreate    AuditOperation = "person.create"
	AuditPersonUpdate    AuditOperation = "person.update"
	AuditPersonOptOut    AuditOperation = "person.opt-out"    // By the result of a call, which is the record.
	AuditPersonNoContact AuditOperation = "person.no-contact" // The same.
	AuditPersonConsent   AuditOperation = "person.consent"
	AuditCallCreate      AuditOperation = "call.create"
	AuditCallAttempt     AuditOperation = "call.add-attempt"
	AuditCallComplete    AuditOperation = "call.complete"
	AuditCallCancel      AuditOperation = "call.cancel"
	AuditCallExpire      AuditOperation = "call.expire"
	AuditCallLater       AuditOperation = "call.later"
	AuditCallNote        AuditOperation = "call.note"
	AuditCallChecks      AuditOperation = "call.checks"
	AuditCallReason      AuditOperation = "call.attempts"
	AuditCallBlank       AuditOperation = "call.blank" // By the retention, or an erasure of the person.
	AuditPledgeCreate    AuditOperation = "pledge.create"
	AuditPledgeUpdate    AuditOperation = "pledge.update"
	AuditPledgeBlank     AuditOperation = "pledge.blank" // By an erasure of the person.
	AuditPersonExport    AuditOperation = "person.export"
	AuditPersonErase     AuditOperation = "person.erase"
	AuditRetentionSet    AuditOperation = "retention.set"
	AuditRetentionRun    AuditOperation = "retention.run"
	AuditPrune           AuditOperation = "audit.prune"
	AuditLoad            AuditOperation = "load"
	AuditAccountAdd      AuditOperation = "account.add"
	AuditAccountSet      AuditOperation = "account.set"
	AuditAccountRevoke   AuditOperation = "account.revoke"
	AuditTokenIssue      AuditOperation = "token.issue"
	AuditTokenReplace    AuditOperation = "token.replace"
	AuditKeyRotate       AuditOperation = "key.rotate"
	AuditClockReset      AuditOperation = "clock.reset"
	AuditOrganizationAdd AuditOperation = "organization.add"
	AuditOrganizationSet AuditOperation = "organization.set"
	AuditUserAdd         AuditOperation = "user.add"
	AuditUserSet         AuditOperation = "user.set"
	AuditUserState       AuditOperation = "user.state"
	AuditQueueMessage    AuditOperation = "queue.message" // The record is the organization.
	AuditNumberBlock     AuditOperation = "do-not-call.add"
	AuditNumberUnblock   AuditOperation = "do-not-call.remove"

	// Reads are recorded only with --audit-reads.
	AuditPersonGet  AuditOperation = "person.get"
	AuditPersonList AuditOperation = "person.list"
	AuditCallGet    AuditOperation = "call.get"
	AuditCallList   AuditOperation = "call.list"
	AuditPledgeGet  AuditOperation = "pledge.get"
	AuditPledgeList AuditOperation = "pledge.list"
	AuditQueueTake  AuditOperation = "queue.take"
	AuditQueueList  AuditOperation = "queue.list"
)

// AuditFilter chooses lines. Zero values do not filter.
type AuditFilter struct {
	Person  *apitype.UUID
	Account *apitype.UUID
	User    *apitype.UUID
	Since   *apitype.Time
	After   *Position // Of the line before.
	Limit   int
}

// NoteRead adds the audit lines of a read that shows persons, if reads are audited. If it fails, nothing is shown.
func (s *Service) NoteRead(ctx context.Context, lines ...AuditLine) error {
	if !s.auditReads || len(lines) == 0 {
		return nil
	}
	return s.Write(ctx, WriteIsolated, "note what is read", func(tx Tx) error {
		for _, line := range lines {
			if err := tx.Audit(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// notePerson notes the reading of a record and of the person in its answer, if any.
func (s *Service) notePerson(ctx context.Context, c Caller, line AuditLine, person *PersonRow) error {
	if !s.auditReads || !c.shown(person) {
		return nil
	}
	var shown struct {
		UUID apitype.UUID `json:"uuid"`
	}
	if err := decode("person", person.Doc, &shown); err != nil {
		return err
	}
	return s.NoteRead(ctx, line.Of(shown.UUID))
}

// noteList notes the reading of the rows of a list.
func noteList[T any](
	ctx context.Context,
	s *Service,
	line AuditLine,
	rows []T,
	shown func(persons []apitype.UUID, row T) []apitype.UUID,
) error {
	if !s.auditReads {
		return nil
	}
	persons := make([]apitype.UUID, 0, len(rows))
	for _, row := range rows {
		persons = shown(persons, row)
	}
	slices.SortFunc(persons, apitype.UUID.Compare)
	line.Shown = slices.Compact(persons)
	return s.NoteRead(ctx, line)
}

// AppendPersonOf appends the person of a call, which its document names. Within a text the quotes would be escaped.
func AppendPersonOf(persons []apitype.UUID, call CallRow) []apitype.UUID {
	_, value, found := bytes.Cut(call.Doc, []byte(`"personUuid":"`))
	text, _, _ := bytes.Cut(value, []byte(`"`))
	id, err := apitype.ParseUUID(string(text))
	if !found || err != nil {
		return persons
	}
	return append(persons, id)
}

// listed returns the line of a list that shows persons: the names of its filters, and the number of records.
func (c Caller) listed(operation AuditOperation, query url.Values, records int, now apitype.Time) AuditLine {
	filters := strings.Join(slices.Sorted(maps.Keys(query)), ",")
	return AuditLine{
		At:        now,
		Account:   &c.UUID,
		User:      c.user(),
		RequestID: c.RequestID,
		Operation: operation,
		Fields:    filters,
		Records:   &records,
	}
}

// Audited returns the line of a caller's change.
func (c Caller) Audited(operation AuditOperation, record apitype.UUID, now apitype.Time) AuditLine {
	return AuditLine{
		At:        now,
		Account:   &c.UUID,
		User:      c.user(),
		RequestID: c.RequestID,
		Operation: operation,
		Record:    &record,
	}
}

// user returns the user of a signed-in person, or nil for a program.
func (c Caller) user() *apitype.UUID {
	if c.Person == nil {
		return nil
	}
	return &c.Person.UUID
}

// Of returns a line about a record of a person.
func (l AuditLine) Of(person apitype.UUID) AuditLine {
	l.Person = &person
	return l
}

// By returns a line about a change for a user, or for an unknown one if it is nil. The line of a signed-in person stays
// theirs.
func (l AuditLine) By(user *apitype.UUID) AuditLine {
	if l.User != nil {
		return l
	}
	l.User = user
	return l
}

// recordAudited adds an audit line that names the fields that differ. before is nil for a new record.
func recordAudited(tx Tx, line AuditLine, before, after []byte) error {
	line.Fields = changed(before, after)
	return tx.Audit(line)
}

// changed returns the names of the members that differ, separated by commas. For a new document these are the members
// that are not null. It leaves out the record's own identifier.
func changed(before, after []byte) string {
	old := appendMembers(make([]docMember, 0, 48), "", before)
	names := make([]string, 0, 48)
	for _, m := range appendMembers(make([]docMember, 0, 48), "", after) {
		i := slices.IndexFunc(old, func(o docMember) bool { return o.name == m.name })
		was := jsonNull
		if i >= 0 {
			was, old[i].value = old[i].value, jsonNull // It is still there.
		}
		if !bytes.Equal(was, m.value) && m.name != "uuid" && m.name != "personUuid" {
			names = append(names, m.name)
		}
	}
	for _, m := range old {
		if !bytes.Equal(m.value, jsonNull) {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ",")
}

var jsonNull = []byte("null")

// docMember is a member of a document, or of an object in it: then its name has the object's before a dot.
type docMember struct {
	name  string
	value []byte
}

// insideObjects are the objects with members that a line names one by one, because the interface defines them. Members
// of other objects have names that the caller chose, which may be personal data.
var insideObjects = []string{"address", "mandate", "result"}

// appendMembers appends the members of an object, in their order.
func appendMembers(members []docMember, prefix string, doc []byte) []docMember {
	d := jsontext.NewDecoder(bytes.NewBuffer(doc))
	if token, err := d.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginObject {
		return members
	}
	for d.PeekKind() == jsontext.KindString {
		token, _ := d.ReadToken() // The document is our own: it is not cut.
		name := prefix + token.String()
		value, _ := d.ReadValue()
		end := d.InputOffset()
		value = doc[end-int64(len(value)) : end] // What was read is overwritten.
		if value.Kind() == jsontext.KindBeginObject && slices.Contains(insideObjects, name) {
			members = appendMembers(members, name+".", value)
			continue
		}
		members = append(members, docMember{name, value})
	}
	return members
}
