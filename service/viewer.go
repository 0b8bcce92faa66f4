package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// viewer writes records as one caller may see them at one moment. Spec gaps: A3, L14.
type viewer struct {
	caller Caller
	now    apitype.Time
	links  *links
}

func (s *Service) viewer(c Caller) viewer {
	now := s.Now()
	expires := strconv.FormatInt(now.Add(signatureLife).Unix(), 10)
	return viewer{caller: c, now: now, links: s.keys.known.Load().links(c.BaseURL, expires)}
}

// laterViewer returns a viewer with the highest settled time as its present, if the clock is behind it: a released
// pledge stays released.
func (s *Service) laterViewer(ctx context.Context, c Caller) (viewer, error) {
	v := s.viewer(c)
	clock, err := s.StoreTime(ctx)
	if err != nil {
		return v, err
	}
	if at := s.Settled(ctx); at != nil && at.After(clock.Time) {
		v.now = *at
	}
	return v, nil
}

// CallAnswer returns the answer with the parts of a call that the caller may see.
func (s *Service) CallAnswer(c Caller, row *WholeCall) (Answer, error) { return s.viewer(c).call(row) }

// wholeRecord reads a record with all that belongs to it. A heavy one is read when there is room for it.
func wholeRecord[T any](
	ctx context.Context,
	s *Service,
	what string,
	read func(Reader, Weight) (*T, error),
) (*T, error) {
	var found *T
	find := func(w Weight) error {
		return s.Read(ctx, ReadRecord, what, func(r Reader) (err error) {
			found, err = read(r, w)
			return err
		})
	}
	err := find(LightOnly)
	if err != nil || found != nil {
		return found, err
	}
	if room := RequestOf(ctx).Room; room != nil {
		if err := room(); err != nil {
			return nil, err
		}
	}
	err = find(AnyWeight)
	return found, err
}

func (s *Service) wholeCall(ctx context.Context, c Caller, what string, id apitype.UUID) (*WholeCall, error) {
	call, err := wholeRecord(
		ctx,
		s,
		what,
		func(r Reader, w Weight) (*WholeCall, error) { return r.WholeCall(id, c.Scope, w) },
	)
	return call, OrNotFound(err, "call")
}

func (s *Service) wholePledge(ctx context.Context, c Caller, what string, id apitype.UUID) (*WholePledge, error) {
	pledge, err := wholeRecord(
		ctx,
		s,
		what,
		func(r Reader, w Weight) (*WholePledge, error) { return r.WholePledge(id, c.Scope, w) },
	)
	return pledge, OrNotFound(err, "pledge")
}

// sentBack answers a change for an account that may not read the record, with its identifier and revision, the status
// that the change leads to, if any, and the values that were sent.
func sentBack(id apitype.UUID, rev int64, status string, sent any) (Answer, error) {
	head := struct {
		apitype.SentRecord
		Status string `json:"status,omitzero"`
	}{apitype.SentRecord{UUID: id, Revision: rev}, status}
	dst, err := json.Marshal(head)
	if err != nil {
		return Answer{}, err
	}
	body, err := json.Marshal(sent, json.Deterministic(true))
	if err != nil {
		return Answer{}, err
	}
	if len(body) > len(`{}`) {
		dst = append(append(dst[:len(dst)-1], ','), body[1:]...)
	}
	return Answer{JSON: dst, Rev: rev, IsSent: true}, nil
}

// committedCall returns a call as a change committed it, with the person, who may be included. What belongs to the call
// is read after the commit, so that no other change waits: it has this change and perhaps later ones. The call itself
// is shown as this change left it. If it cannot be read, the answer has only the result of the change. An error would
// be wrong, because the change was made. Spec gap: S32.
func (s *Service) committedCall(ctx context.Context, c Caller, row CallRow) (Answer, *PersonRow, error) {
	seen, err := s.wholeCall(ctx, c, "read what was committed", row.UUID)
	if err != nil {
		answer, err := sentBack(row.UUID, row.Rev, string(row.Status), struct{}{})
		return answer, nil, err
	}
	seen.Doc, seen.Rev = row.Doc, row.Rev
	answer, err := s.viewer(c).call(seen)
	return answer, seen.PersonRow, err
}

// committedPledge does the work of committedCall for a pledge.
func (s *Service) committedPledge(ctx context.Context, c Caller, row PledgeRow) (Answer, *PersonRow, error) {
	seen, err := s.wholePledge(ctx, c, "read what was committed", row.UUID)
	if err != nil {
		answer, err := sentBack(row.UUID, row.Rev, string(row.Status), struct{}{})
		return answer, nil, err
	}
	seen.Doc, seen.Rev = row.Doc, row.Rev
	answer, err := s.viewer(c).pledge(seen)
	return answer, seen.PersonRow, err
}

// mayReadPledge reports whether the caller may read a pledge within a call.
func (v viewer) mayReadPledge(pledge *WholePledge) bool {
	scope := v.caller.Scope
	return v.caller.May(PledgesRead) && (scope.Contains(pledge.Owner) || scope.Contains(pledge.Recruiting))
}

func (v viewer) call(row *WholeCall) (Answer, error) {
	pledge := row.Pledge
	if pledge != nil && !v.mayReadPledge(pledge) {
		pledge = nil
	}
	if pledge != nil && !v.mayReadPerson(row.Owner) {
		if err := redactPayers(pledge.Transactions); err != nil {
			return Answer{}, err
		}
	}
	size := len(row.Doc) + row.PersonRow.size() + 128
	if pledge != nil {
		size += pledge.size() + sizeOf(pledge.Transactions)
	}
	dst := open(make([]byte, 0, size), row.Doc)
	if pledge == nil {
		dst = member(dst, "pledgeCase", nil)
	} else {
		dst = v.appendWholePledge(append(dst, `,"pledgeCase":`...), *pledge)
	}
	dst = v.personMember(dst, row.PersonRow)
	switch {
	case !v.caller.May(PledgesRead):
		dst = member(dst, "transactions", nil)
	case pledge == nil:
		dst = array(dst, "transactions", nil, appendTransaction)
	default:
		dst = array(dst, "transactions", pledge.Transactions, appendTransaction)
	}
	return Answer{JSON: append(dst, '}'), Rev: row.Rev}, nil
}

func (v viewer) pledge(row *WholePledge) (Answer, error) {
	if row.PersonRow == nil || !v.mayReadPerson(row.PersonRow.Owner) {
		if err := redactPayers(row.Transactions); err != nil {
			return Answer{}, err
		}
	}
	return Answer{JSON: v.appendWholePledge(make([]byte, 0, row.size()), *row), Rev: row.Rev}, nil
}

// appendWholePledge writes a pledge with its person, transactions and calls; the calls
// carry no pledge.
func (v viewer) appendWholePledge(dst []byte, row WholePledge) []byte {
	dst = v.personMember(v.openPledge(dst, row.PledgeRow), row.PersonRow)
	dst = array(dst, "transactions", row.Transactions, appendTransaction)
	if !v.caller.May(CallsRead) {
		return append(member(dst, "calls", nil), '}')
	}
	visible := make([]CallRow, 0, len(row.Calls))
	for _, call := range row.Calls {
		if v.caller.Scope.Contains(call.Owner) {
			visible = append(visible, call)
		}
	}
	dst = array(dst, "calls", visible, func(dst []byte, call CallRow) []byte { return append(dst, call.Doc...) })
	return append(dst, '}')
}

// personMember writes the person of a call or a pledge, null when the caller may not see
// it.
func (v viewer) personMember(dst []byte, person *PersonRow) []byte {
	if !v.caller.shown(person) {
		return member(dst, "person", nil)
	}
	return AppendPerson(append(dst, `,"person":`...), *person)
}

// openPledge writes the members that every answer with a pledge carries.
func (v viewer) openPledge(dst []byte, row PledgeRow) []byte {
	dst = open(dst, row.Doc)
	dst = append(dst, `,"releasedAt":`...)
	if row.ReleasedAt != nil && (row.External || released(row, v.now)) { // Spec gap: G2
		dst = append(append(append(dst, '"'), row.ReleasedAt.String()...), '"')
	} else {
		dst = append(dst, `null`...)
	}
	dst = append(dst, `,"signatureSignedUrl":`...)
	if row.HasSignature {
		dst = append(v.links.append(append(dst, '"'), row.UUID), '"')
	} else {
		dst = append(dst, `null`...)
	}
	return member(dst, "recruiterUser", row.RecruiterUser)
}

// appendCallNode writes a call as lists send it, with the parts asked for.
func (v viewer) appendCallNode(
	dst []byte,
	row CallRow,
	parts includes,
	transactions map[int64][]TransactionRow,
) []byte {
	if parts == (includes{}) {
		return append(dst, row.Doc...)
	}
	dst = open(dst, row.Doc)
	if parts.person {
		switch p := row.PersonRow; {
		case p == nil:
			dst = member(dst, "person", nil)
		case parts.quality:
			dst = AppendPerson(append(dst, `,"person":`...), *p)
		default:
			dst = member(dst, "person", p.Doc)
		}
	}
	pledge := row.PledgeRow
	if parts.pledge {
		if pledge == nil {
			dst = member(dst, "pledgeCase", nil)
		} else {
			dst = v.appendPledgeNode(append(dst, `,"pledgeCase":`...), *pledge, parts, transactions)
		}
	}
	if parts.transactions {
		var of []TransactionRow
		if pledge != nil {
			of = transactions[pledge.Number]
		}
		dst = array(dst, "transactions", of, appendTransaction)
	}
	return append(dst, '}')
}

// appendPledgeNode writes a pledge as lists send it.
func (v viewer) appendPledgeNode(
	dst []byte,
	row PledgeRow,
	parts includes,
	transactions map[int64][]TransactionRow,
) []byte {
	dst = v.openPledge(dst, row)
	if parts.transactions {
		dst = array(dst, "transactions", transactions[row.Number], appendTransaction)
	}
	return append(dst, '}')
}

// appendListedPledge writes a pledge as the list of pledges sends it.
func (v viewer) appendListedPledge(
	dst []byte,
	row PledgeRow,
	parts includes,
	transactions map[int64][]TransactionRow,
) []byte {
	dst = v.appendPledgeNode(dst, row, parts, transactions)
	if !parts.person {
		return dst
	}
	var person []byte
	if v.caller.shown(row.PersonRow) {
		person = row.PersonRow.Doc
	}
	return append(member(dst[:len(dst)-1], "person", person), '}')
}

func appendTransaction(dst []byte, t TransactionRow) []byte { return append(dst, t.Doc...) }

// transactionsOf reads the transactions of a page of rows by pledge. It redacts the transactions of persons that the
// caller may not read.
func transactionsOf[T any](
	r Reader,
	rows []T,
	pledge func(T) *PledgeRow,
	mayReadPerson func(T) bool,
) (map[int64][]TransactionRow, error) {
	var numbers []int64
	covered := map[int64]bool{}
	for _, row := range rows {
		if p := pledge(row); p != nil {
			numbers = append(numbers, p.Number)
			covered[p.Number] = !mayReadPerson(row)
		}
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	transactions, err := r.Transactions(numbers)
	for number, cover := range covered {
		if cover {
			err = errors.Join(err, redactPayers(transactions[number]))
		}
	}
	return transactions, err
}

// redactPayers removes the payers from transactions of a person that the caller may not see
// or read. Spec gaps: A3, S30.
func redactPayers(rows []TransactionRow) error {
	for i := range rows {
		err := revise("transaction", &rows[i].Doc, func(t *apitype.Transaction) {
			t.PersonUUID = nil
			redactPayer(t)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mayReadPerson reports whether the caller may see and read the persons of an organization.
func (v viewer) mayReadPerson(owner apitype.UUID) bool {
	return v.caller.May(PersonsRead) && v.caller.Scope.Contains(owner)
}

// shown reports whether an answer shows a caller the person of a record.
func (c Caller) shown(p *PersonRow) bool {
	return p != nil && len(p.Doc) > 0 && c.May(PersonsRead) && c.Scope.Contains(p.Owner)
}

// signatureLife is the time for which a link to a signature file is valid. (interface: Limits).
const signatureLife = time.Hour

// links writes the links of one answer to the signature files of pledges, which need no
// token. The hash is kept between links, as it is between cursors. Spec gap: G10.
type links struct {
	base    string // Of the service, without a slash at the end.
	expires string // Seconds since 1970.
	mac     hash.Hash
	signed  []byte // A buffer for the authenticated text, reused for the next link.
}

func (k keys) links(base, expires string) *links {
	return &links{base: base, expires: expires, mac: hmac.New(sha256.New, k.link)}
}

func (l *links) append(dst []byte, pledge apitype.UUID) []byte {
	dst = append(append(append(dst, l.base...), "/signatures/"...), pledge.String()...)
	dst = append(append(append(dst, "?expires="...), l.expires...), "&signature="...)
	return l.sign(dst, pledge)
}

// sign writes what proves that a link is of this service.
func (l *links) sign(dst []byte, pledge apitype.UUID) []byte {
	l.signed = append(append(l.signed[:0], pledge[:]...), l.expires...)
	l.mac.Reset()
	l.mac.Write(l.signed)
	return base64.RawURLEncoding.AppendEncode(dst, l.mac.Sum(l.signed[:0]))
}
