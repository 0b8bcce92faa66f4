package sqlstore

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// one has the condition of a record in a scope, which is in one of some columns, and its arguments.
func one(id apitype.UUID, scope service.Scope, columns ...string) (string, []any) {
	q := &listQuery{}
	q.where(`t.uuid = %s`, identifier(id))
	if places, some := q.organizations(scope); some {
		among := isOne(places)
		q.conds = append(q.conds, `(`+strings.Join(columns, among+` OR `)+among+`)`)
	}
	return strings.Join(q.conds, ` AND `), q.args
}

// A whole record is one statement, since each costs a round trip on PostgreSQL: a row of
// the record with its person and its pledge, then one of each transaction and of each call
// of the pledge, which leave the rest empty.
const (
	wholeTransaction = 1 + iota
	wholeCall
)

// The row of the record: the time by which its list is sorted, and its pledge, which is the record itself or belongs to
// it.
var (
	wholeOfCall = sync.OnceValue(func() string {
		return fmt.Sprintf(
			wholeRecordText,
			`calls`,
			`requested_at`,
			`l`,
			`l.doc`,
			`LEFT JOIN pledges l ON l.number = t.pledge_number`,
		)
	})
	wholeOfPledge = sync.OnceValue(func() string {
		return fmt.Sprintf(wholeRecordText, `pledges`, `created_at`, `t`, `NULL`, ``)
	})
)

const (
	wholeRecordText = `SELECT
			0,
			t.uuid,
			t.owner,
			t.%[2]s,
			t.doc,
			t.rev,
			p.owner,
			p.quality,
			p.doc,
			%[3]s.uuid,
			%[3]s.owner,
			%[3]s.recruiting,
			%[3]s.released_at,
			%[3]s.external,
			%[3]s.has_signature,
			u.doc,
			%[4]s
		FROM %[1]s t
		LEFT JOIN persons p ON p.number = t.person_number
		%[5]s
		LEFT JOIN users u ON u.uuid = %[3]s.recruiter`
	nothingElse = `NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`
)

// lightAnswer is the largest size of the documents of a record that is read without a turn, in bytes.
const lightAnswer = 64 << 10

// The size of the documents in the record's own row, in bytes. Finding it does not read them.
const (
	bytesOfPledge = `LENGTH(t.doc) + COALESCE(LENGTH(p.doc), 0) + COALESCE(LENGTH(p.quality), 0)`
	bytesOfCall   = bytesOfPledge + ` + COALESCE(LENGTH(l.doc), 0)`
)

// wholeText returns the statement of a whole record of a table. A column has the number of its pledge, and own is the
// condition of its own row.
func wholeText(record, table, pledge, cond, own string) string {
	return record + ` WHERE ` + own + `
		UNION ALL SELECT 1, x.uuid, t.uuid, x.created_at, x.doc, ` + nothingElse + `
		FROM ` + table + ` t JOIN transactions x ON x.pledge_number = t.` + pledge + ` WHERE ` + cond + `
		UNION ALL SELECT 2, k.uuid, k.owner, k.requested_at, k.doc, ` + nothingElse + `
		FROM (
			SELECT n.number, n.requested_at
			FROM calls n
			WHERE n.pledge_number = (SELECT t.` + pledge + ` FROM ` + table + ` t WHERE ` + cond + `)
			ORDER BY n.requested_at DESC, n.uuid DESC
			LIMIT ` + strconv.Itoa(apitype.MaxPledgeCalls) + `
		) f JOIN calls k ON k.number = f.number AND k.requested_at = f.requested_at`
}

// whole reads a whole record. It returns nil for a record that is not light enough, which the size of its own row
// shows first.
func (r *reader) whole(
	record, table, pledge, cond string,
	args []any,
	bytes string,
	weight service.Weight,
) (*service.WholeCall, error) {
	row, size, most, w := newWholeRow(), 0, math.MaxInt, &service.WholeCall{Pledge: &service.WholePledge{}}
	own, isLight := cond, weight == service.LightOnly
	if isLight {
		most, args = lightAnswer, append(args, lightAnswer)
		own += ` AND ` + bytes + ` <= $` + strconv.Itoa(len(args))
	}
	err := r.each(wholeText(record, table, pledge, cond, own), args, func(result *sql.Rows) error {
		if err := result.Scan(row.dest...); err != nil {
			return err
		}
		if size += len(row.doc); size > most {
			w.Doc = nil
			return errFull
		}
		row.addTo(w)
		return nil
	})
	if err == nil && w.Doc == nil && isLight {
		return nil, nil //nolint:nilnil // A heavy record is ordinary.
	}
	if err == nil && w.Doc == nil {
		err = service.ErrNoRow
	}
	// The engines agree on no order without sorting whole documents.
	slices.SortFunc(w.Pledge.Transactions, func(a, b service.TransactionRow) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt.Time), b.UUID.Compare(a.UUID))
	})
	slices.SortFunc(w.Pledge.Calls, func(a, b service.CallRow) int {
		return cmp.Or(b.RequestedAt.Compare(a.RequestedAt.Time), b.UUID.Compare(a.UUID))
	})
	return w, err
}

// wholeRow is the row of the statement that is being read. One serves for all of them.
type wholeRow struct {
	part        int64
	uuid, owner apitype.UUID
	at          apitype.Time
	doc         []byte
	rev         sql.NullInt64
	person      service.PersonRow // Its owner is zero without one.
	pledge      service.PledgeRow // The same holds for its identifier.

	external, hasSignature sql.NullBool // Of the pledge.
	dest                   []any
}

func newWholeRow() *wholeRow {
	r := &wholeRow{}
	r.dest = []any{
		&r.part,
		uuidDest{&r.uuid},
		uuidDest{&r.owner},
		timeDest{&r.at},
		docDest{&r.doc},
		&r.rev,
		uuidDest{&r.person.Owner},
		docDest{&r.person.Quality},
		docDest{&r.person.Doc},
		uuidDest{&r.pledge.UUID},
		uuidDest{&r.pledge.Owner},
		uuidDest{&r.pledge.Recruiting},
		nullTimeDest{&r.pledge.ReleasedAt},
		&r.external, &r.hasSignature,
		docDest{&r.pledge.RecruiterUser},
		docDest{&r.pledge.Doc},
	}
	return r
}

// addTo adds what one row of the statement holds.
func (r *wholeRow) addTo(w *service.WholeCall) {
	switch pledge := w.Pledge; r.part {
	case wholeTransaction:
		pledge.Transactions = append(
			pledge.Transactions,
			service.TransactionRow{UUID: r.uuid, CreatedAt: r.at, Doc: r.doc},
		)
	case wholeCall:
		pledge.Calls = append(
			pledge.Calls,
			service.CallRow{
				UUID:        r.uuid,
				Owner:       r.owner,
				RequestedAt: r.at,
				Doc:         r.doc,
			},
		)
	default:
		w.CallRow = service.CallRow{
			UUID:        r.uuid,
			Owner:       r.owner,
			RequestedAt: r.at,
			Doc:         r.doc,
			Rev:         r.rev.Int64,
		}
		if !r.person.Owner.IsZero() {
			person := r.person
			w.PersonRow, pledge.PersonRow = &person, &person
		}
		pledge.PledgeRow = r.pledge
		pledge.External, pledge.HasSignature = r.external.Bool, r.hasSignature.Bool
	}
}

func (r *reader) WholeCall(id apitype.UUID, scope service.Scope, weight service.Weight) (*service.WholeCall, error) {
	cond, args := one(id, scope, `t.owner`)
	w, err := r.whole(wholeOfCall(), `calls`, `pledge_number`, cond, args, bytesOfCall, weight)
	if err != nil || w == nil {
		return nil, err
	}
	if w.Pledge.UUID.IsZero() {
		w.Pledge = nil
	}
	return w, nil
}

func (r *reader) WholePledge(
	id apitype.UUID,
	scope service.Scope,
	weight service.Weight,
) (*service.WholePledge, error) {
	cond, args := one(id, scope, `t.owner`, `t.recruiting`)
	w, err := r.whole(wholeOfPledge(), `pledges`, `number`, cond, args, bytesOfPledge, weight)
	if err != nil || w == nil {
		return nil, err
	}
	w.Pledge.Doc, w.Pledge.Rev = w.Doc, w.Rev
	return w.Pledge, nil
}
