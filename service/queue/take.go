package queue

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Take gives a user the calls that are next, each in a lease.
// POST /fundesk/v1/queue/take
func (q *Queue) Take(ctx context.Context, c service.Caller, request apitype.TakeRequest) (service.Answer, error) {
	if err := Require(c); err != nil {
		return service.Answer{}, err
	}
	user, err := c.ActingUser(&request.UserUUID)
	if err != nil {
		return service.Answer{}, err
	}
	request.UserUUID = *user
	if err := service.NotValid(request.Validate()); err != nil {
		return service.Answer{}, err
	}
	query, ok := queryOf(c, request.QueueFilter, &request.UserUUID, apitype.Time{})
	t := &taking{
		c:       c,
		request: request,
		query:   query,
		nothing: !ok,
		parse:   q.rules.FloorRules,
	}
	err = q.rules.Write(ctx, service.WriteShared, "take calls", func(tx service.Tx) error {
		if err := ctx.Err(); err != nil { // A caller that went away is given nothing.
			return err
		}
		t.at(q.rules.TimeOf(tx))
		return t.give(tx)
	})
	if err != nil {
		return service.Answer{}, err
	}
	q.counted(Taken, len(t.leases)-t.repeated)
	q.counted(Expired, t.expired)
	answer, err := q.takeAnswer(ctx, t)
	if err != nil {
		return service.Answer{}, err
	}
	return answer, q.rules.NoteRead(ctx, t.shown()...)
}

// shown returns the audit lines of the persons in the answer.
func (t *taking) shown() []service.AuditLine {
	if !t.c.May(service.PersonsRead) {
		return nil
	}
	var lines []service.AuditLine
	for _, lease := range t.leases {
		lines = append(
			lines,
			t.c.Audited(service.AuditQueueTake, lease.CallUUID, t.now).Of(lease.Person).By(&lease.UserUUID),
		)
	}
	return lines
}

type taking struct {
	c       service.Caller
	request apitype.TakeRequest
	query   service.QueueQuery
	now     apitype.Time
	parse   service.ParseRules
	nothing bool // The filter matches no visible organization.
	pending bool // The lease of a chosen call is pending.
	expired int  // Claims that had expired and were replaced.

	// refused are calls that were next and may not be given. A call that comes again was changed during this take, and
	// is left to the next one.
	refused   map[apitype.UUID]bool
	leases    []service.LeaseRow
	repeated  int // The number of leases that the request was given before.
	ordinal   int // Of the next lease.
	want      int // How many more are looked for.
	nextDueAt *apitype.Time
	userName  *string
	blockKey  string // Of blocked numbers.
	erasures  bool   // Of some persons have begun.
}

// at begins a try of the transaction, at a time.
func (t *taking) at(now apitype.Time) {
	t.now, t.expired = now, 0
	setTime(&t.query, now)
}

// begin reads the earlier result of the request. It runs once for each try of the transaction.
func (t *taking) begin(before service.QueueRequest) {
	t.leases, t.ordinal, t.want, t.nextDueAt = nil, 0, t.request.Number(), before.NextDueAt
	t.query.Due, t.query.GaveBack, t.blockKey = before.Due, before.GaveBack, before.BlockKey
	t.erasures, t.userName = before.HasErasures, before.Name
	if t.nothing {
		t.want = 0
	}
	t.want = min(t.want, max(0, apitype.MaxLeases-before.Held))
	for _, lease := range before.Leases {
		t.ordinal = max(t.ordinal, lease.Ordinal+1)
		if lease.TakenAt.Add(requestLife).After(t.now.Time) {
			t.want = 0
			isSeen := t.c.Scope.Contains(lease.Owner)          // The account may have been narrowed since.
			if lease.Live(t.now) && isSeen && !lease.Pending { // Pending: its donor is called already.
				t.leases = append(t.leases, lease)
			}
		}
	}
	t.repeated = len(t.leases)
}

// give runs in a transaction, perhaps several times. It gives as many calls as are wanted, in the order
// of the queue. A call that is not given after all is found not to be eligible, and is not there the
// next time.
func (t *taking) give(tx service.Tx) error {
	before, rules, err := tx.OpenQueue(t.c.UUID, t.request.RequestUUID, t.query, t.parse)
	if err != nil {
		return err
	}
	if before.Pause != nil {
		return errPaused(*before.Pause)
	}
	t.begin(before)
	t.query.Rules = rules
	t.refused = map[apitype.UUID]bool{}
	for t.want > 0 {
		t.query.Limit = t.want
		rows, err := tx.NextInQueue(t.query)
		if err != nil {
			return err
		}
		isNew := func(row service.QueueRow) bool { return !t.refused[row.Call] }
		if !slices.ContainsFunc(rows, isNew) {
			break
		}
		for len(rows) > 0 && t.want > 0 {
			rows, err = t.lease(tx, rows)
			if err != nil {
				return err
			}
		}
	}
	return tx.CountWork(workOf(t.leases[t.repeated:]))
}

// workOf returns the work that new leases count for their user, by organization.
func workOf(leases []service.LeaseRow) []service.Work {
	var all []service.Work
	for _, lease := range leases {
		i := slices.IndexFunc(all, func(w service.Work) bool { return w.Owner == lease.Owner })
		if i < 0 {
			i = len(all)
			all = append(all, service.Work{User: lease.UserUUID, Owner: lease.Owner, SeenAt: lease.TakenAt})
		}
		if lease.ShownAt != nil {
			all[i].Taken++
		}
	}
	return all
}

// lease claims the donors of calls, one call of each. It skips donors that opted out, and those with a claim that could
// not be read. It saves the first lease before the others: by its ordinal the same request in another process meets
// this one, even if some of the others are refused.
func (t *taking) lease(tx service.Tx, rows []service.QueueRow) ([]service.QueueRow, error) {
	var leases []service.LeaseRow
	ordinal, n := t.ordinal, t.want
	if len(t.leases) == 0 {
		n = min(n, 1)
	}
	for ; n > 0 && len(rows) > 0; rows = rows[1:] {
		row := rows[0]
		isOfOther := func(l service.LeaseRow) bool { return l.Person == row.Person }
		if slices.ContainsFunc(leases, isOfOther) || slices.ContainsFunc(t.leases, isOfOther) {
			t.refused[row.Call] = true
			continue
		}
		ready, err := t.mayGive(tx, row)
		if err != nil {
			return nil, err
		}
		t.refused[row.Call] = !ready
		if ready {
			leases = append(leases, t.newLease(row, ordinal))
			ordinal, n = ordinal+1, n-1
		}
	}
	saved, expired, err := tx.Claim(leases)
	if err != nil {
		return nil, err
	}
	t.expired += expired
	for _, lease := range leases {
		if !slices.Contains(saved, lease.LeaseUUID) { // A refused first lease leaves its ordinal to the next one.
			if err := service.RefreshEligibility(tx, lease.Person, t.now, nil); err != nil {
				return nil, err
			}
			continue
		}
		t.leases, t.ordinal = append(t.leases, lease), lease.Ordinal+1
		t.want--
	}
	return rows, nil
}

// mayGive reports whether a call that is next may be given as its person is by now.
func (t *taking) mayGive(tx service.Tx, row service.QueueRow) (bool, error) {
	if t.erasures {
		isDropped, err := row.DropErasing(tx)
		if err != nil || isDropped {
			return false, err
		}
	}
	return row.StillEligible(tx, t.query.Rules, t.blockKey, t.now)
}

func (t *taking) newLease(row service.QueueRow, ordinal int) service.LeaseRow {
	lease := service.LeaseRow{
		Lease: apitype.Lease{
			LeaseUUID: apitype.NewUUID(),
			CallUUID:  row.Call,
			UserUUID:  t.request.UserUUID,
			Name:      t.userName,
			TakenAt:   t.now,
			ExpiresAt: apitype.NewTime(t.now.Add(t.request.Lease())),
			DueAt:     row.DueAt,
			Note:      row.Note,
			Reason:    row.DueReason,
		},
		Account:     t.c.UUID,
		Request:     t.request.RequestUUID,
		Ordinal:     ordinal,
		Person:      row.Person,
		Owner:       row.Owner,
		Type:        row.Type,
		Language:    row.Language,
		KeptFor:     row.KeptFor,
		IsReplacing: row.LeasedUntil != nil,
	}
	if !t.request.Ahead {
		lease.ShownAt = &t.now
	}
	return lease
}

// takeAnswer writes the leases with their calls, and how many calls wait. It ends like a page before it gets
// too long, with one lease at least; the other calls wait again. Spec gap: S32. If the user has paused by now, it gives
// all calls back.
func (q *Queue) takeAnswer(ctx context.Context, t *taking) (service.Answer, error) {
	given := 0
	var pause *apitype.PauseReason
	var answer service.Answer
	err := q.rules.Read(ctx, service.ReadRecord, "read what was taken", func(r service.Reader) (err error) {
		given, pause = 0, nil // An earlier try may have failed.
		if len(t.leases) > 0 {
			pause, err = pauseOf(r, t.request.UserUUID, t.now)
		}
		if err != nil || pause != nil {
			return err
		}
		dst := []byte(`{"leases":[`)
		for given = 0; given < len(t.leases); given++ {
			size := len(dst)
			if given > 0 {
				dst = append(dst, ',')
			}
			dst, err = q.appendLease(dst, t, r, sent(t.c, t.leases[given]))
			if err != nil {
				return err
			}
			if given > 0 && len(dst) > service.PageBytes {
				dst = dst[:size]
				break
			}
		}
		rest := queueRest{NextDueAt: t.nextDueAt}
		rest.Waiting, err = q.waiting(r, t.query)
		if err != nil {
			return err
		}
		rest.Waiting = min(rest.Waiting+len(t.leases)-given, apitype.MaxWaiting)
		tail, err := json.Marshal(rest)
		answer.JSON = append(append(dst, `],`...), tail[1:]...)
		return err
	})
	if err == nil && pause != nil {
		return q.refusePaused(ctx, t)
	}
	if err != nil || given == len(t.leases) {
		return answer, err
	}
	over := t.leases[given:]
	t.leases = t.leases[:given]
	err = q.rules.Write(ctx, service.WriteIsolated, "give calls back", func(tx service.Tx) error {
		return giveBack(tx, over, t.now)
	})
	return answer, err
}

// giveBack ends leases of calls that were not shown to their user. The calls keep their deferrals.
func giveBack(tx service.Tx, leases []service.LeaseRow, now apitype.Time) error {
	for _, l := range leases {
		err := service.EndLease(tx, l, now, service.EndedByMove, deferralOf(l))
		if err != nil {
			return err
		}
	}
	return nil
}

// refusePaused gives the calls of a take back, because its user paused, and refuses the take. The request may be used
// again, like every refused one. If the pause has ended by now, a repeat of the take may have given these calls: then
// this take is answered like a repeat.
func (q *Queue) refusePaused(ctx context.Context, t *taking) (service.Answer, error) {
	ids := make([]apitype.UUID, len(t.leases))
	for i, lease := range t.leases {
		ids[i] = lease.LeaseUUID
	}
	t.leases = nil
	var pause *apitype.PauseReason
	err := q.rules.Write(ctx, service.WriteIsolated, "give calls back", func(tx service.Tx) (err error) {
		now := q.rules.TimeOf(tx)
		pause, err = keptPause(tx, t.request.UserUUID, now)
		if err != nil || pause == nil {
			return err
		}
		held, err := tx.Leases(service.LeaseQuery{Scope: t.c.Scope, User: &t.request.UserUUID, Now: now})
		if err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(l service.LeaseRow) bool {
			return l.Pending || !slices.Contains(ids, l.LeaseUUID)
		})
		if err := giveBack(tx, held, now); err != nil {
			return err
		}
		return tx.ForgetTakes(ids)
	})
	if err != nil {
		return service.Answer{}, err
	}
	if pause != nil {
		return service.Answer{}, errPaused(*pause)
	}
	return q.Take(ctx, t.c, t.request)
}

func (q *Queue) appendLease(dst []byte, t *taking, r service.Reader, lease apitype.Lease) ([]byte, error) {
	row, err := r.WholeCall(lease.CallUUID, t.c.Scope, service.AnyWeight)
	if err != nil {
		return nil, service.OrNotFound(err, "call")
	}
	if t.c.May(service.PersonsRead) && t.c.Scope.Contains(row.Owner) {
		lease.NumberContactedAt, err = q.rules.NumberContacted(r, row.PersonRow, lease.TakenAt)
		if err != nil {
			return nil, err
		}
		lease.NumberBlocked, err = service.NumberBlockedByKey(r, t.blockKey, *row.PersonRow)
		if err != nil {
			return nil, err
		}
	}
	call, err := q.rules.CallAnswer(t.c, row)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(lease)
	return service.AppendWith(dst, head, "call", call.JSON), err
}

// sent returns a lease as a caller gets it.
func sent(c service.Caller, row service.LeaseRow) apitype.Lease {
	lease := row.Sent()
	if !c.May(service.PersonsRead) {
		lease.Reason = nil
	}
	return lease
}

type queueRest struct {
	Waiting   int           `json:"waiting"`
	NextDueAt *apitype.Time `json:"nextDueAt"`
}

// waiting returns how many calls wait, up to the most that is counted. A full count for any user is cached for a
// moment, because counting costs more than the take. Smaller counts are never cached, since other processes change
// them.
func (q *Queue) waiting(r service.Reader, query service.QueueQuery) (int, error) {
	const life = 100 * time.Millisecond
	asked := narrowing(query)
	if n, ok := q.waited.get(asked, query.Now); ok {
		return n, nil
	}
	query.Limit = apitype.MaxWaiting
	requested, due, err := r.QueueWaiting(query)
	if requested == apitype.MaxWaiting {
		q.waited.put(asked, requested, query.Now, life)
	}
	return min(requested+due, apitype.MaxWaiting), err
}
