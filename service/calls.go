package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
)

// ListCalls returns a page of the calls in the caller's scope.
// GET /api/v1/calls (interface: Calls)
func (s *Service) ListCalls(ctx context.Context, c Caller, o apitype.CallListOptions) (Answer, error) {
	parts := callParts(o.Include)
	if err := errors.Join(c.Require(CallsRead), parts.allowed(c)); err != nil {
		return Answer{}, err
	}
	filter, ok := callFilter(c, o, parts)
	var transactions map[int64][]TransactionRow
	viewer := s.viewer(c)
	l := listing[CallRow]{
		what:    "list calls",
		kind:    callCursor,
		paging:  o.Paging,
		isEmpty: !ok, // Spec gap: L8
		rows:    func(r Reader, part Range) ([]CallRow, error) { return r.Calls(filter, part) },
		size: func(row CallRow) int {
			size := row.Size()
			if o.Checks {
				size += len(row.Private)
			}
			if row.PledgeRow == nil {
				return size
			}
			return size + len(c.BaseURL) + 2*sizeOf(transactions[row.PledgeRow.Number])
		},
		node:    func(dst []byte, row CallRow) []byte { return viewer.appendCallNode(dst, row, parts, transactions) },
		filters: o.Query,
	}
	if o.Revisions {
		l.rev = func(row CallRow) int64 { return row.Rev }
	}
	if o.Completers {
		l.node = withCompleter(l.node)
	}
	if o.AttemptReasons {
		l.node = withReasons(l.node)
	}
	if o.Checks {
		l.node = withChecks(l.node)
	}
	if parts.transactions {
		l.more = func(r Reader, rows []CallRow) (err error) {
			transactions, err = transactionsOf(
				r,
				rows,
				func(row CallRow) *PledgeRow { return row.PledgeRow },
				// An account that may see the call may see its person.
				func(CallRow) bool { return c.May(PersonsRead) },
			)
			return err
		}
	}
	if parts.person || (parts.transactions && c.May(PersonsRead)) { // They name payers and their bank accounts.
		l.note = AuditCallList
		l.shown = func(persons []apitype.UUID, row CallRow) []apitype.UUID {
			isPayerShown := row.PledgeRow != nil && c.May(PersonsRead) && len(transactions[row.PledgeRow.Number]) > 0
			if row.PersonRow == nil && !isPayerShown {
				return persons
			}
			return AppendPersonOf(persons, row)
		}
	}
	return answerList(ctx, s, c, l)
}

// withCompleter appends the user of a call's completion after its node, as a member of the edge.
func withCompleter(node func(dst []byte, row CallRow) []byte) func(dst []byte, row CallRow) []byte {
	return func(dst []byte, row CallRow) []byte {
		dst = node(dst, row)
		if row.CompletedBy == nil {
			return dst
		}
		dst = append(dst, `,"completedByUserUuid":"`...)
		return append(append(dst, row.CompletedBy.String()...), '"')
	}
}

func (c CallRow) position() Position { return Position{At: c.RequestedAt, UUID: c.UUID} }

// callFilter puts the options into the caller's scope; ok is false when no call can
// pass.
func callFilter(c Caller, o apitype.CallListOptions, parts includes) (f CallFilter, ok bool) {
	f = CallFilter{
		Viewer: c.Scope,
		// Each once: the store merges a list of each.
		Statuses:         slices.Compact(slices.Sorted(slices.Values(o.Statuses))),
		ExternalStatus:   o.ExternalStatusCode,
		RequestedFrom:    o.RequestedFrom,
		RequestedUntil:   o.RequestedUntil,
		RequestedAfter:   o.RequestedAfter,
		UpdatedAfter:     o.UpdatedAfter,
		Person:           o.PersonUUID,
		CompletedBy:      o.CompletedByUserUUID,
		WithPerson:       parts.person,
		WithQuality:      parts.quality,
		WithPledge:       parts.pledge,
		WithPledgeNumber: parts.transactions,
		WithRev:          o.Revisions,
		WithCompletedBy:  o.Completers,
		WithPrivate:      o.AttemptReasons || o.Checks,
	}
	if o.ExternalReferenceID == apitype.NoExternalReference {
		f.NoExternalReference = true
	} else {
		f.ExternalApplication, f.ExternalReference = o.ExternalApplicationName, o.ExternalReferenceID
	}
	var owners []apitype.UUID
	if o.OwningOrganizationUUID != nil {
		owners = []apitype.UUID{*o.OwningOrganizationUUID}
	}
	f.Scope, ok = c.Scope.Narrow(owners)
	return f, ok
}

// GetCall returns one call with all its details.
// GET /api/v1/calls/{uuid} (interface: Calls)
func (s *Service) GetCall(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	row, err := s.wholeCall(ctx, c, "read the call", id)
	if err != nil {
		return Answer{}, err
	}
	answer, err := s.viewer(c).call(row)
	if err != nil {
		return answer, err
	}
	err = s.notePerson(ctx, c, c.Audited(AuditCallGet, id, s.Now()), row.PersonRow)
	return answer, err
}

// visibleCall returns a call if its person is in the caller's scope. Spec gap: A3.
func visibleCall(r Reader, c Caller, id apitype.UUID) (CallRow, error) {
	row, err := r.Call(id, c.Scope)
	return row, OrNotFound(err, "call")
}

// changeableCall returns a call that the caller may see and change. Spec gap: S60.
func changeableCall(r Reader, c Caller, id apitype.UUID) (CallRow, error) {
	row, err := visibleCall(r, c, id)
	if err != nil {
		return row, err
	}
	err = erased("call", row.Private)
	return row, err
}

// WaitingCall returns the person of a waiting call that the caller may change. It finds no call of a person whose
// erasure has begun.
func WaitingCall(tx Tx, c Caller, id apitype.UUID) (apitype.UUID, error) {
	row, err := changeableCall(tx, c, id)
	if err != nil {
		return apitype.UUID{}, err
	}
	var call apitype.Call
	if err := decode("call", row.Doc, &call); err != nil {
		return apitype.UUID{}, err
	}
	if call.Status != apitype.CallRequested {
		return apitype.UUID{}, conflict("the call is %s and waits no more", call.Status)
	}
	erasing, err := tx.Setting(ErasingSetting + call.PersonUUID.String())
	if err != nil {
		return apitype.UUID{}, err
	}
	if erasing != "" {
		return apitype.UUID{}, &Error{
			Kind:   NotFound,
			Detail: "the person of this call is being erased; nothing of this was kept",
		}
	}
	return call.PersonUUID, nil
}

// CreateCall saves a new call.
// POST /api/v1/calls (interface: Calls)
func (s *Service) CreateCall(ctx context.Context, c Caller, request apitype.CreateCallRequest) (Answer, error) {
	return s.CreateCallAnd(ctx, c, request, func(Tx, apitype.UUID) error { return nil })
}

// CreateCallAnd saves a new call. If the call waits, also runs at the end of its transaction, perhaps several times.
func (s *Service) CreateCallAnd(
	ctx context.Context,
	c Caller,
	request apitype.CreateCallRequest,
	also func(tx Tx, call apitype.UUID) error,
) (Answer, error) {
	if err := c.Require(CallsCreate); err != nil {
		return Answer{}, err
	}
	if err := NotValid(violationsOfCall(request)); err != nil {
		return Answer{}, err
	}
	id := chosenUUID(request.UUID)
	var row CallRow
	var effect apitype.ResultEffect
	err := s.Write(ctx, WriteIsolated, "create the call", func(tx Tx) error {
		now, err := s.ChangeTime(tx)
		if err != nil {
			return err
		}
		call := newCall(id, request, now)
		isReported := call.Status == apitype.CallCompleted && c.May(CallsComplete)
		row, effect, err = s.insertCall(tx, c, request, &call, isReported)
		if err != nil {
			return err
		}
		line := c.Audited(AuditCallCreate, id, now)
		err = recordAudited(tx, line.Of(call.PersonUUID).By(request.RequestedByUserUUID), nil, row.Doc)
		if err != nil {
			return err
		}
		if call.Status == apitype.CallRequested {
			return also(tx, id)
		}
		if !isReported {
			return nil
		}
		if err := markMissing(tx, row, call); err != nil {
			return err
		}
		return applyEffect(tx, line, &row, effect, s.TimeOf(tx))
	})
	if err != nil {
		return Answer{}, err
	}
	var answer Answer
	if row.Case == nil && row.PersonRow != nil { // The person is everything.
		answer, err = s.viewer(c).call(&WholeCall{CallRow: row})
	} else {
		answer, _, err = s.committedCall(ctx, c, row)
	}
	answer.Effect = effect
	return answer, err
}

// violationsOfCall returns what a new call breaks.
func violationsOfCall(request apitype.CreateCallRequest) apitype.Violations {
	violations := append(request.Validate(), sizesOfCall(request)...)
	if !request.IsExternal() {
		return violations
	}
	const place = "/externalMetadata/additionalProperties"
	properties := request.ExternalMetadata.AdditionalProperties
	if hasNUL(properties) {
		violations.Add(place, "must not contain a NUL character")
	}
	if hasBeyondDouble(properties) {
		violations.Add(place, "%s", beyondDouble)
	}
	return violations
}

// insertCall saves a new call and lets it wait. A call that is reported by a caller who may complete calls is completed
// by the rules of its result.
func (s *Service) insertCall(
	tx Tx,
	c Caller,
	request apitype.CreateCallRequest,
	call *apitype.Call,
	isReported bool,
) (row CallRow, effect apitype.ResultEffect, err error) {
	person, err := callReferences(tx, c, request)
	if err != nil {
		return row, "", err
	}
	row = CallRow{Owner: person.Owner, External: request.IsExternal(), Rev: 1}
	private := callPrivate{RequestedBy: request.RequestedByUserUUID, ExternalSource: request.ExternalSource}
	row.Private, err = encode("call", private)
	if err != nil {
		return row, "", err
	}
	if isReported {
		effect, _, err = noteCompletion(tx, &row, call, nil)
		if err != nil {
			return row, "", err
		}
	}
	if err := row.write(*call); err != nil {
		return row, "", err
	}
	if err := tx.InsertCall(row); err != nil {
		return row, "", orTaken(err, "call")
	}
	err = s.enqueue(tx, row, *call, person, s.TimeOf(tx))
	row.PersonRow = &person
	return row, effect, err
}

// callReferences checks the records that a creation names, and returns the person. An unknown record is refused like an
// invisible one. Spec gaps: R2, C10, C11.
func callReferences(r Tx, c Caller, request apitype.CreateCallRequest) (PersonRow, error) {
	var v apitype.Violations
	person, err := personToRefer(r, c, request.PersonUUID)
	if KindOf(err) == NotFound {
		v.Add("/personUuid", "names no person that the account may see")
	} else if err != nil {
		return person, err
	}
	if request.RelatedCaseUUID != nil {
		pledge, err := visiblePledge(r, c, *request.RelatedCaseUUID)
		isUnknown := KindOf(err) == NotFound
		if err != nil && !isUnknown {
			return person, err
		}
		// The pledge would reveal whether an invisible person has it.
		isOfPerson := len(v) == 0 && pledge.Person == request.PersonUUID
		if isUnknown || !isOfPerson {
			v.Add("/relatedCaseUuid", "names no pledge of this person that the account may see")
		}
	}
	if request.CallingOrganizationUUID != nil {
		_, err := r.Organization(*request.CallingOrganizationUUID)
		if errors.Is(err, ErrNoRow) {
			v.Add("/callingOrganizationUuid", "names no organization")
		} else if err != nil {
			return person, err
		}
	}
	return person, NotValid(v)
}

// callPrivate has the parts of a call that answers do not show.
type callPrivate struct {
	RequestedBy    *apitype.UUID           `json:"requestedByUserUuid,omitzero"`
	CompletedBy    *apitype.UUID           `json:"completedByUserUuid,omitzero"`
	Effect         apitype.ResultEffect    `json:"effect,omitzero"` // That the completion had on the person.
	Checks         *apitype.CallChecks     `json:"checks,omitzero"`
	Attempts       []attemptReason         `json:"attempts,omitzero"`
	RequiredChecks []string                `json:"requiredChecks,omitzero"` // Of the organization, at the completion.
	ExternalSource *apitype.ExternalSource `json:"externalSource,omitzero"`
	ErasedAt       *apitype.Time           `json:"erasedAt,omitzero"` // The person was.
	Blanked        *blanking               `json:"blanked,omitzero"`  // By the retention.
}

// write puts a call into its row: the document and the columns that lists filter by.
func (c *CallRow) write(call apitype.Call) error {
	c.UUID, c.Person, c.Case = call.UUID, call.PersonUUID, call.RelatedCaseUUID
	c.Status, c.RequestedAt, c.UpdatedAt = call.Status, call.RequestedAt, call.LastUpdatedAt
	c.ExternalApplication, c.ExternalReference, c.ExternalStatus = nil, nil, nil
	if m := call.ExternalMetadata.Pointer(); m != nil {
		c.ExternalApplication = indexedText(m.ApplicationName)
		c.ExternalReference = indexedText(m.ReferenceID)
		c.ExternalStatus = indexedText(m.StatusCode)
	}
	var err error
	c.Doc, err = encode("call", call)
	return err
}

// maxIndexed is the longest text in an index, in bytes: PostgreSQL takes 2,704 for an entry.
const maxIndexed = 500

// IndexedText returns a text as an indexed column holds it. If the text is too long for an index, that is its
// beginning and a digest of all of it, which equals no shorter text.
func IndexedText(text string) string {
	if len(text) <= maxIndexed {
		return text
	}
	end := maxIndexed
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + fmt.Sprintf("…%x", sha256.Sum256([]byte(text)))
}

func indexedText(text *string) *string {
	if text == nil {
		return nil
	}
	return new(IndexedText(*text))
}

// changeCall applies a rule to a call, and saves the changed call and the line of the change.
func (s *Service) changeCall(ctx context.Context, c Caller, line AuditLine, m Match, sent any,
	rule func(tx Tx, row *CallRow, call *apitype.Call, now apitype.Time) (changed bool, err error),
	queue func(tx Tx, row *CallRow, call apitype.Call, now apitype.Time) error,
) (Answer, error) {
	var row CallRow
	var changed bool
	err := s.Write(ctx, WriteIsolated, string(line.Operation), func(tx Tx) (err error) {
		row, err = changeableCall(tx, c, *line.Record)
		if err != nil {
			return err
		}
		if err := m.check(row.Rev); err != nil {
			return err
		}
		var call apitype.Call
		if err := decode("call", row.Doc, &call); err != nil {
			return err
		}
		from, by := call.Status, row.CompletedBy
		line.At, err = s.ChangeTime(tx)
		if err != nil {
			return err
		}
		changed, err = rule(tx, &row, &call, line.At)
		if err != nil {
			return err
		}
		if changed {
			before := row.Doc
			if err := row.write(call); err != nil {
				return err
			}
			moved := call.Status != from || !equal(row.CompletedBy, by)
			if err := errors.Join(
				tx.UpdateCall(row, moved),
				queue(tx, &row, call, s.TimeOf(tx)),
				recordAudited(tx, line.Of(call.PersonUUID), before, row.Doc),
			); err != nil {
				return err
			}
			row.Rev++
		}
		row.Status = call.Status
		return nil
	})
	if err != nil {
		return Answer{}, err
	}
	if !c.May(CallsRead) {
		return sentBack(row.UUID, row.Rev, string(row.Status), sent)
	}
	if row.Case == nil && row.PersonRow != nil { // The transaction has read all that belongs to it.
		return s.viewer(c).call(&WholeCall{CallRow: row})
	}
	answer, shown, err := s.committedCall(ctx, c, row)
	if err == nil && !changed { // It was a read.
		err = s.notePerson(ctx, c, c.Audited(AuditCallGet, row.UUID, s.Now()), shown)
	}
	return answer, err
}

// AddAttempt records an attempt to call the person.
// PUT /api/v1/calls/{uuid}/actions/add-attempt (interface: Calls)
func (s *Service) AddAttempt(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	request apitype.AddAttemptRequest,
) (Answer, error) {
	if err := c.Require(CallsAttempt); err != nil {
		return Answer{}, err
	}
	user, err := c.ActingUser(request.UserUUID)
	if err != nil {
		return Answer{}, err
	}
	request.UserUUID = user
	if err := NotValid(request.Validate()); err != nil {
		return Answer{}, err
	}
	line := c.Audited(AuditCallAttempt, id, apitype.Time{}).By(request.UserUUID)
	return s.changeCall(
		ctx,
		c,
		line,
		m,
		request,
		func(tx Tx, row *CallRow, call *apitype.Call, now apitype.Time) (bool, error) {
			organization, err := tx.OrganizationForShare(row.Owner)
			if err != nil {
				return false, err
			}
			return true, attemptCall(call, row.External, organization.MaxCallAttempts, request, now)
		},
		func(tx Tx, row *CallRow, call apitype.Call, now apitype.Time) error {
			return s.onAttempt(tx, row, call, request.UserUUID, now)
		},
	)
}

func sizesOfCall(r apitype.CreateCallRequest) apitype.Violations {
	var v apitype.Violations
	if m := r.ExternalMetadata; m != nil && len(m.AdditionalProperties) > apitype.MaxObject {
		v.Add("/externalMetadata/additionalProperties", "must have %d bytes at most", apitype.MaxObject)
	}
	if len(r.Attempts) > apitype.MaxCallAttempts {
		v.Add("/attempts", "must have %d items at most", apitype.MaxCallAttempts)
	}
	return v
}
