package service

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"strconv"

	"fundesk/apiclient/apitype"
)

// ListPledges returns a page of the pledges in the caller's scope.
// GET /api/v1/pledges (interface: Pledges)
func (s *Service) ListPledges(ctx context.Context, c Caller, o apitype.PledgeListOptions) (Answer, error) {
	parts := pledgeParts(o.Include)
	if err := cmp.Or(c.Require(PledgesRead), parts.allowed(c)); err != nil {
		return Answer{}, err
	}
	viewer, err := s.laterViewer(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	filter := PledgeFilter{
		Scope:         c.Scope,
		Person:        o.PersonUUID,
		PaymentQR:     o.WithPaymentQR,
		UpdatedAfter:  o.UpdatedAfter,
		ReleasedAfter: o.ReleasedAfter,
		ReleasedBy:    viewer.now,
		WithRev:       o.Revisions,
	}
	if o.Status != nil {
		filter.Status = *o.Status
	}
	filter.WithPersonOwner, filter.WithPerson = parts.transactions, parts.person
	var transactions map[int64][]TransactionRow
	l := listing[PledgeRow]{
		what:   "list pledges",
		kind:   pledgeCursor,
		paging: o.Paging,
		rows:   func(r Reader, part Range) ([]PledgeRow, error) { return r.Pledges(filter, part) },
		size:   func(row PledgeRow) int { return row.Size() + len(c.BaseURL) + sizeOf(transactions[row.Number]) },
		node: func(dst []byte, row PledgeRow) []byte {
			return viewer.appendListedPledge(dst, row, parts, transactions)
		},
	}
	if o.Revisions {
		l.rev = func(row PledgeRow) int64 { return row.Rev }
	}
	if parts.transactions {
		l.more = func(r Reader, rows []PledgeRow) (err error) {
			transactions, err = transactionsOf(r, rows, func(row PledgeRow) *PledgeRow { return &row },
				func(row PledgeRow) bool { return viewer.mayReadPerson(row.PersonOwner) })
			return err
		}
	}
	if parts.person || (parts.transactions && c.May(PersonsRead)) { // They name payers and their bank accounts.
		l.note, l.filters = AuditPledgeList, o.Query
		l.shown = func(persons []apitype.UUID, row PledgeRow) []apitype.UUID {
			isPayerShown := viewer.mayReadPerson(row.PersonOwner) && len(transactions[row.Number]) > 0
			if !c.shown(row.PersonRow) && !isPayerShown {
				return persons
			}
			return append(persons, row.Person)
		}
	}
	answer, err := answerList(ctx, s, c, l)
	if at := answer.Settled; at != nil && at.After(viewer.now.Time) { // What is released since is not in the page.
		answer.Settled = &viewer.now
	}
	return answer, err
}

func (p PledgeRow) position() Position { return Position{At: p.CreatedAt, UUID: p.UUID} }

// GetPledge returns one pledge with all its details.
// GET /api/v1/pledges/{uuid} (interface: Pledges)
func (s *Service) GetPledge(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(PledgesRead); err != nil {
		return Answer{}, err
	}
	row, err := s.wholePledge(ctx, c, "read the pledge", id)
	if err != nil {
		return Answer{}, err
	}
	answer, err := s.viewer(c).pledge(row)
	if err != nil {
		return answer, err
	}
	err = s.notePerson(ctx, c, c.Audited(AuditPledgeGet, id, s.Now()), row.PersonRow)
	return answer, err
}

// visiblePledge returns a pledge if its owning or recruiting organization is in the caller's scope. Spec gap: A3.
func visiblePledge(r Reader, c Caller, id apitype.UUID) (PledgeRow, error) {
	row, err := r.Pledge(id, c.Scope)
	return row, OrNotFound(err, "pledge")
}

// CreatePledge saves a new pledge.
// POST /api/v1/pledges (interface: Pledges)
func (s *Service) CreatePledge(
	ctx context.Context,
	c Caller,
	request apitype.CreatePledgeRequest,
) (Answer, error) {
	if err := c.Require(PledgesCreate); err != nil {
		return Answer{}, err
	}
	if err := NotValid(append(request.Validate(s.clock()), sizesOfPledge(request)...)); err != nil {
		return Answer{}, err
	}
	id := chosenUUID(request.UUID)
	var row PledgeRow
	err := s.Write(ctx, WriteIsolated, "create the pledge", func(tx Tx) error {
		now, err := s.ChangeTime(tx)
		if err != nil {
			return err
		}
		refs, err := pledgeReferences(tx, c, request)
		if err != nil {
			return err
		}
		row = PledgeRow{
			Person:     request.PersonUUID,
			External:   request.IsExternal(),
			Rev:        1,
			ReleasedAt: request.ReleasedAt,
		}
		if !row.External {
			row.ReleasedAt = new(apitype.NewTime(now.Add(refs.owner.CoolingOff))) // Spec gap: G2
		}
		row.Private, err = encode(
			"pledge",
			pledgePrivate{CancelledAt: request.CancelledAt, DroppedAt: request.DroppedAt},
		)
		if err != nil {
			return err
		}
		if err := row.write(newPledge(id, request, refs, now)); err != nil {
			return err
		}
		if err := tx.InsertPledge(row); err != nil {
			return orTaken(err, "pledge")
		}
		if err := recordAudited(tx, c.Audited(AuditPledgeCreate, id, now).Of(row.Person), nil, row.Doc); err != nil {
			return err
		}
		return pledgesChangedFor(tx, row, s.TimeOf(tx))
	})
	if err != nil {
		return Answer{}, err
	}
	answer, _, err := s.committedPledge(ctx, c, row)
	return answer, err
}

// pledgeRefs are the references of a creation.
type pledgeRefs struct {
	owner, recruiter Organization
	focusAreas       []apitype.FocusArea
}

// pledgeReferences checks the records that a creation names. Spec gaps: R2, G6, G9.
func pledgeReferences(r Tx, c Caller, request apitype.CreatePledgeRequest) (pledgeRefs, error) {
	var v apitype.Violations
	var refs pledgeRefs
	refs.focusAreas = []apitype.FocusArea{}
	var err error
	refs.owner, refs.recruiter, err = organizations(
		r,
		c,
		request.OwningOrganizationUUID,
		request.RecruitingOrganizationUUID,
	)
	if refused, ok := errors.AsType[*Error](err); ok {
		v = append(v, refused.Violations...)
	} else if err != nil {
		return refs, err
	}
	if _, err := personToRefer(r, c, request.PersonUUID); KindOf(err) == NotFound {
		v.Add("/personUuid", "names no person that the account may see")
	} else if err != nil {
		return refs, err
	}
	isOwn := func(area FocusArea) bool {
		return area.Organization == request.OwningOrganizationUUID && c.Scope.Contains(area.Organization)
	}
	for i, id := range request.FocusAreaUUIDs {
		area, err := r.FocusArea(id)
		switch {
		case errors.Is(err, ErrNoRow) || err == nil && !isOwn(area):
			v.Add("/focusAreaUuids/"+strconv.Itoa(i), "names no focus area of the owning organization")
		case err != nil:
			return refs, err
		case !slices.ContainsFunc(refs.focusAreas, func(known apitype.FocusArea) bool { return known.UUID == id }):
			refs.focusAreas = append(refs.focusAreas, area.FocusArea)
		}
	}
	return refs, NotValid(v)
}

// pledgePrivate has the parts of a pledge that answers do not show.
type pledgePrivate struct {
	CancelledAt *apitype.Time `json:"cancelledAt,omitzero"`
	DroppedAt   *apitype.Time `json:"droppedAt,omitzero"`
	FulfilledAt *apitype.Time `json:"fulfilledAt,omitzero"`
	StatusAt    *apitype.Time `json:"statusAt,omitzero"` // The last change of the status. Nil means the last update.
	ErasedAt    *apitype.Time `json:"erasedAt,omitzero"` // The person was.
}

// storedPledge is the document of a pledge: the type writes the link always, the
// document never.
type storedPledge struct {
	apitype.Pledge
	SignatureSignedURL *string `json:"signatureSignedUrl,omitzero"`
}

// write puts a pledge into its row: the document and the columns that lists filter by.
func (p *PledgeRow) write(pledge apitype.Pledge) error {
	p.UUID, p.Recruiter, p.Status = pledge.UUID, pledge.RecruiterUserUUID, pledge.Status
	p.Owner, p.Recruiting = pledge.OwningOrganizationUUID, pledge.RecruitingOrganizationUUID
	p.CreatedAt, p.UpdatedAt = pledge.CreatedAt, pledge.UpdatedAt
	var private pledgePrivate
	if len(p.Private) > 0 {
		if err := decode("pledge", p.Private, &private); err != nil {
			return err
		}
	}
	p.EndedAt = private.end(pledge)
	var err error
	p.Doc, err = encode("pledge", storedPledge{Pledge: pledge})
	return err
}

// UpdatePledge changes the named fields of a pledge.
// PUT /api/v1/pledges/{uuid}/actions/update (interface: Pledges)
func (s *Service) UpdatePledge(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	request apitype.UpdatePledgeRequest,
) (Answer, error) {
	if err := c.Require(PledgesUpdate); err != nil {
		return Answer{}, err
	}
	violations := request.Validate()
	if metadata, ok := request.ExternalMetadata.Value(); ok {
		sizeOfMetadata(&violations, metadata)
	}
	if err := NotValid(violations); err != nil {
		return Answer{}, err
	}
	return s.changePledge(
		ctx,
		c,
		c.Audited(AuditPledgeUpdate, id, apitype.Time{}),
		request,
		func(row *PledgeRow, pledge *apitype.Pledge, now apitype.Time) error {
			if err := NotValid(request.ValidateFor(*pledge, row.External)); err != nil {
				return err
			}
			if err := m.check(row.Rev); err != nil {
				return err
			}
			before, err := encode("pledge", pledge)
			if err != nil {
				return err
			}
			patchPledge(pledge, request)
			after, err := encode("pledge", pledge)
			if !bytes.Equal(before, after) {
				pledge.UpdatedAt = now
			}
			return err
		},
	)
}

// ActOnPledge executes a status action.
// PUT /api/v1/pledges/{uuid}/actions/{statusUpdateAction} (interface: Pledges)
func (s *Service) ActOnPledge(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	action apitype.PledgeAction,
) (Answer, error) {
	if err := c.Require(PledgesAct); err != nil {
		return Answer{}, err
	}
	if !slices.Contains(apitype.PledgeActions, action) { // Spec gap: G1
		return Answer{}, &Error{
			Kind:   NotFound,
			Detail: "there is no such action; there are " + joined(apitype.PledgeActions),
		}
	}
	return s.changePledge(
		ctx,
		c,
		c.Audited(pledgeOperation(action), id, apitype.Time{}),
		struct{}{},
		func(row *PledgeRow, pledge *apitype.Pledge, now apitype.Time) error {
			if err := m.check(row.Rev); err != nil {
				return err
			}
			return actOnPledge(row, pledge, action, now)
		},
	)
}

func pledgeOperation(action apitype.PledgeAction) AuditOperation {
	return "pledge." + AuditOperation(action)
}

// changePledge applies a rule to a pledge, and saves the changed pledge and the line of the change. Only accounts of
// the owning organization may change a pledge. Spec gap: A3.
func (s *Service) changePledge(ctx context.Context, c Caller, line AuditLine, sent any,
	rule func(row *PledgeRow, pledge *apitype.Pledge, now apitype.Time) error,
) (Answer, error) {
	var row PledgeRow
	var changed bool
	err := s.Write(ctx, WriteIsolated, string(line.Operation), func(tx Tx) (err error) {
		row, err = visiblePledge(tx, c, *line.Record)
		if err != nil {
			return err
		}
		if !c.Scope.Contains(row.Owner) {
			return &Error{Kind: Forbidden, Detail: "only accounts of the owning organization may change a pledge"}
		}
		if err := erased("pledge", row.Private); err != nil {
			return err
		}
		var pledge apitype.Pledge
		if err := decode("pledge", row.Doc, &pledge); err != nil {
			return err
		}
		before := row
		line.At, err = s.ChangeTime(tx)
		if err != nil {
			return err
		}
		if err := row.keepStatusTime(pledge); err != nil {
			return err
		}
		if err := rule(&row, &pledge, line.At); err != nil {
			return err
		}
		if err := row.write(pledge); err != nil {
			return err
		}
		changed = !bytes.Equal(before.Doc, row.Doc)
		if changed {
			if err := errors.Join(
				tx.UpdatePledge(row),
				recordAudited(tx, line.Of(row.Person), before.Doc, row.Doc),
			); err != nil {
				return err
			}
			if err := endChanged(tx, before, row, s.TimeOf(tx)); err != nil {
				return err
			}
			row.Rev++
		}
		return nil
	})
	if err != nil {
		return Answer{}, err
	}
	if !c.May(PledgesRead) {
		return sentBack(row.UUID, row.Rev, string(row.Status), sent)
	}
	answer, shown, err := s.committedPledge(ctx, c, row)
	if err == nil && !changed { // It was a read.
		err = s.notePerson(ctx, c, c.Audited(AuditPledgeGet, row.UUID, s.Now()), shown)
	}
	return answer, err
}

// endChanged carries over to the queue that a pledge ended, or goes on.
func endChanged(tx Tx, before, after PledgeRow, now apitype.Time) error {
	if equalTimes(before.EndedAt, after.EndedAt) {
		return nil
	}
	return pledgesChangedFor(tx, after, now)
}

// Signature returns the signature file of a pledge to the holder of a link that this service signed. Spec gap: G10.
func (s *Service) Signature(
	ctx context.Context,
	pledge apitype.UUID,
	expires, signature string,
) ([]byte, error) {
	const noSignature = "signature file, or the link to it is no longer valid"
	seconds, err := strconv.ParseInt(expires, 10, 64)
	if err != nil || seconds < s.clock().Unix() {
		return nil, notFound(noSignature)
	}
	known, err := s.keys.fresh(ctx)
	if err != nil {
		return nil, err
	}
	want := known.links("", expires).sign(nil, pledge)
	if subtle.ConstantTimeCompare([]byte(signature), want) != 1 {
		return nil, notFound(noSignature)
	}
	content, err := View(
		ctx,
		s,
		"read the signature file",
		func(r Reader) ([]byte, error) { return r.Signature(pledge) },
	)
	return content, OrNotFound(err, noSignature)
}

func sizesOfPledge(r apitype.CreatePledgeRequest) apitype.Violations {
	var v apitype.Violations
	if len(r.FocusAreaUUIDs) > apitype.MaxFocusAreas {
		v.Add("/focusAreaUuids", "must have %d items at most", apitype.MaxFocusAreas)
	}
	if r.ExternalMetadata != nil {
		sizeOfMetadata(&v, *r.ExternalMetadata)
	}
	return v
}

func sizeOfMetadata(v *apitype.Violations, o apitype.Object) {
	if len(o) > apitype.MaxObject {
		v.Add("/externalMetadata", "must have %d bytes at most", apitype.MaxObject)
	}
}
