package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// The feed of changes reads the audit, which has a line for each change in its transaction. So a change costs nothing
// more. A line has the time that the database gave to its change, and a page ends before the settled time: no line can
// come any more before the position that a consumer has read, whichever process writes it. Spec gap: S87.

// ChangesKept is the age of the oldest change in the feed.
const ChangesKept = 31 * 24 * time.Hour

// firstPageMargin is the time that a consumer has to read the first page before its changes leave the feed.
const firstPageMargin = time.Hour

// maxScanned limits the lines that one page reads for an account that sees few of them.
const maxScanned = 20_000

// changesOf are the operations of the audit that change a record, by the kind of the record.
var changesOf = map[apitype.EntityName][]AuditOperation{
	apitype.EntityPerson: {
		AuditPersonCreate, AuditPersonUpdate, AuditPersonOptOut, AuditPersonNoContact, AuditPersonConsent,
		AuditPersonErase, AuditRetentionRun,
	},
	apitype.EntityCall: {
		AuditCallCreate, AuditCallAttempt, AuditCallComplete, AuditCallCancel, AuditCallExpire, AuditCallChecks,
		AuditCallReason, AuditCallBlank,
	},
	apitype.EntityPledge: pledgeChanges(),
}

func pledgeChanges() []AuditOperation {
	all := []AuditOperation{AuditPledgeCreate, AuditPledgeUpdate, AuditPledgeBlank}
	for _, action := range apitype.PledgeActions {
		all = append(all, pledgeOperation(action))
	}
	return all
}

// ChangeQuery chooses lines of the audit for the feed.
type ChangeQuery struct {
	Operations []AuditOperation
	After      Position
	Before     apitype.Time
	Limit      int
}

// ListChanges returns a page of the feed of changes.
// GET /fundesk/v1/changes
func (s *Service) ListChanges(ctx context.Context, c Caller, o apitype.ChangeListOptions) (Answer, error) {
	if err := c.Require(ChangesRead); err != nil {
		return Answer{}, err
	}
	now, err := s.StoreTime(ctx)
	if err != nil {
		return Answer{}, err
	}
	f := changeFeed{epoch: epochOf(c.Account), scope: c.Scope, operations: readableChanges(c.Account)}
	after, err := f.begin(o.After, now)
	if err != nil {
		return Answer{}, err
	}
	settled := s.Settled(ctx) // Before the page is read.
	if settled == nil {
		return Answer{}, &Error{Kind: Unavailable, Detail: "it is not known yet which changes are complete"}
	}
	size := apitype.DefaultPageSize
	if o.First != nil {
		size = *o.First
	}
	page, err := f.page(ctx, s, after, *settled, size)
	if err != nil {
		return Answer{}, err
	}
	answer, err := Answered(page, nil)
	answer.Settled, answer.Epoch = settled, f.epoch
	return answer, err
}

// readableChanges returns the operations on records that an account may read.
func readableChanges(a Account) []AuditOperation {
	var operations []AuditOperation
	for entity, permission := range map[apitype.EntityName]Permission{
		apitype.EntityPerson: PersonsRead,
		apitype.EntityCall:   CallsRead,
		apitype.EntityPledge: PledgesRead,
	} {
		if a.May(permission) {
			operations = append(operations, changesOf[entity]...)
		}
	}
	slices.Sort(operations)
	return operations
}

// changeFeed is the feed as one account sees it.
type changeFeed struct {
	epoch      string
	scope      Scope
	operations []AuditOperation
}

// begin reads the position of a request.
func (f changeFeed) begin(text string, now apitype.Time) (Position, error) {
	oldest := now.Add(-ChangesKept)
	if text == "" {
		return Position{At: apitype.NewTime(oldest.Add(firstPageMargin))}, nil
	}
	after, mark, ok := parseChangePosition(text)
	if !ok {
		return after, NotValid(apitype.Violations{{Parameter: "after", Message: "is not a position of the changes"}})
	}
	if mark != epochMark(f.epoch) {
		return after, &Error{
			Kind: Gone,
			Detail: "the service was restored or reloaded, or this account may see other records now: " +
				"read all records again, and begin without after",
		}
	}
	if after.At.Before(oldest) {
		return after, &Error{
			Kind:   Gone,
			Detail: "the position is older than 31 days: read all records again, and begin without after",
		}
	}
	return after, nil
}

// page returns the changes after a position and before a time.
func (f changeFeed) page(
	ctx context.Context,
	s *Service,
	after Position,
	before apitype.Time,
	size int,
) (apitype.Changes, error) {
	page := apitype.Changes{Changes: []apitype.Change{}}
	q := ChangeQuery{Operations: f.operations, After: after, Before: before}
	hasMore := size > 0 && len(f.operations) > 0
	for scanned := 0; hasMore && len(page.Changes) < size && scanned < maxScanned; {
		q.Limit = max(size-len(page.Changes), apitype.DefaultPageSize)
		lines, visible, err := f.lines(ctx, s, q)
		if err != nil {
			return page, err
		}
		scanned += len(lines)
		hasMore = len(lines) == q.Limit
		if hasMore {
			q.After = lines[len(lines)-1].position()
		}
		if room := size - len(page.Changes); len(visible) > room {
			visible, hasMore = visible[:room], true
			q.After = visible[room-1].position()
		}
		for _, line := range visible {
			page.Changes = append(page.Changes, f.change(line))
		}
	}
	isAtEnd := !hasMore && size > 0
	if end := (Position{At: before}); isAtEnd && end.compare(q.After) > 0 {
		q.After = end
	}
	page.Next, page.HasMore = f.position(q.After), !isAtEnd
	return page, nil
}

// lines reads lines, and those of them that the account may see. The lines are read by a statement of its own: in a
// transaction that began before the month of some got a partition, they would be in neither table.
func (f changeFeed) lines(ctx context.Context, s *Service, q ChangeQuery) (lines, visible []AuditLine, err error) {
	err = s.Read(ctx, ReadList, "list changes", func(r Reader) (err error) {
		lines, err = r.ChangeLines(q)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	err = s.Read(ctx, ReadList, "look for the records of changes", func(r Reader) (err error) {
		visible, err = f.visible(r, lines)
		return err
	})
	return lines, visible, err
}

// visible returns the lines about one record in the scope of the account. The summary of a run of the retention is
// about several.
func (f changeFeed) visible(r Reader, lines []AuditLine) ([]AuditLine, error) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l AuditLine) bool { return l.Records != nil })
	if f.scope.All {
		return lines, nil
	}
	ids := map[apitype.EntityName][]apitype.UUID{}
	for _, line := range lines {
		entity, id := line.changed()
		ids[entity] = append(ids[entity], id)
	}
	seen := map[apitype.UUID]bool{}
	for entity, all := range ids {
		some, err := r.RecordsInScope(entity, all, f.scope)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			seen[id] = true
		}
	}
	return slices.DeleteFunc(lines, func(l AuditLine) bool {
		_, id := l.changed()
		return !seen[id]
	}), nil
}

func (f changeFeed) change(line AuditLine) apitype.Change {
	entity, id := line.changed()
	_, operation, _ := strings.Cut(string(line.Operation), ".")
	isErasure := line.Operation == AuditPersonErase || line.Operation == AuditRetentionRun
	if isErasure {
		operation = "erase"
	}
	fields := []string{}
	if line.Fields != "" && !isErasure {
		fields = strings.Split(line.Fields, ",")
	}
	return apitype.Change{
		Position:  f.position(line.position()),
		Time:      line.At,
		Entity:    entity,
		UUID:      id,
		Operation: operation,
		Fields:    fields,
	}
}

func (l AuditLine) position() Position { return Position{At: l.At, UUID: l.UUID} }

// IsBefore reports whether a line is before another one in the audit.
func (l AuditLine) IsBefore(other AuditLine) bool { return l.position().compare(other.position()) < 0 }

// changed returns the record that the line of a change is about. The effect of a call's result changes the person.
func (l AuditLine) changed() (apitype.EntityName, apitype.UUID) {
	if slices.Contains(changesOf[apitype.EntityPerson], l.Operation) {
		return apitype.EntityPerson, *cmp.Or(l.Person, l.Record)
	}
	kind, _, _ := strings.Cut(string(l.Operation), ".")
	return apitype.EntityName(kind), *l.Record
}

// A position is the beginning of a digest of the epoch, milliseconds and the identifier of a line.
const (
	epochMarkSize      = 6
	changePositionSize = epochMarkSize + 8 + 16
)

func epochMark(epoch string) [epochMarkSize]byte {
	sum := sha256.Sum256([]byte(epoch))
	return [epochMarkSize]byte(sum[:])
}

func (f changeFeed) position(p Position) string {
	mark := epochMark(f.epoch)
	raw := binary.BigEndian.AppendUint64(mark[:], uint64(p.At.UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(append(raw, p.UUID[:]...))
}

func parseChangePosition(text string) (p Position, mark [epochMarkSize]byte, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != changePositionSize {
		return p, mark, false
	}
	mark = [epochMarkSize]byte(raw)
	p.At = apitype.TimeFromMilli(int64(binary.BigEndian.Uint64(raw[epochMarkSize:])))
	p.UUID = apitype.UUID(raw[epochMarkSize+8:])
	return p, mark, true
}
