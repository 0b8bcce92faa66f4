package sqlstore

import (
	"slices"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// queueColumns are the columns of a call that waits, in the order of queueDest, and newQueueColumns also what it
// is found by.
var (
	queueColumns = []string{
		"call_uuid",
		"person_uuid",
		"owner",
		"type",
		"language",
		"requested_at",
		"attempts",
		"external",
		"opted_out",
		"due_at",
		"kept_for",
		"eligible_at",
		"ready",
		"note",
		"opted_in",
		"country",
		"ended_at",
		"blocked_by",
		"due_reason",
	}
	newQueueColumns = append(slices.Clip(queueColumns), "kind", "call_number")
)

// ofCall and ofPerson choose what waits by the identifier $1 of a call, or of a person.
const (
	ofCall   = `call_number = (SELECT number FROM calls WHERE uuid = $1)`
	ofPerson = `call_number IN (SELECT number FROM calls WHERE person_number = (SELECT number FROM persons
		WHERE uuid = $1))`
)

func queueDest(q *service.QueueRow) []any {
	return []any{
		uuidDest{&q.Call},
		uuidDest{&q.Person},
		uuidDest{&q.Owner},
		&q.Type,
		&q.Language,
		timeDest{&q.RequestedAt},
		&q.Attempts,
		bitDest{&q.External},
		bitDest{&q.OptedOut},
		nullTimeDest{&q.DueAt},
		nullUUIDDest{&q.KeptFor},
		nullTimeDest{&q.EligibleAt},
		bitDest{&q.Ready},
		&q.Note,
		bitDest{&q.OptedIn},
		&q.Country,
		nullTimeDest{&q.EndedAt},
		nullUUIDDest{&q.BlockedBy},
		&q.DueReason,
	}
}

func queueValues(q service.QueueRow) []any {
	// The kind of a call combines all values of filters and rules. So the calls of a kind are read in order, without
	// skipping others.
	return append(queueDest(&q), q.Kind().String(), identifier(q.Call))
}

var insertQueueRow = sync.OnceValue(func() string { return insertText("queue_calls", newQueueColumns) })

func (t *tx) InsertQueueRow(q service.QueueRow) error {
	return t.insert(insertQueueRow(), queueValues(q)...)
}

func (t *tx) DeleteQueueRow(call apitype.UUID) error {
	_, err := t.exec(`DELETE FROM queue_calls WHERE `+ofCall, identifier(call))
	return err
}

func (t *tx) UpdateQueueRow(q service.QueueRow) error {
	return t.change(`UPDATE queue_calls SET
			language = $2,
			kind = $3,
			attempts = $4,
			opted_out = $5,
			due_at = $6,
			kept_for = $7,
			eligible_at = $8,
			ready = $9,
			note = $10,
			opted_in = $11,
			country = $12,
			ended_at = $13,
			blocked_by = $14,
			due_reason = $15
		WHERE `+ofCall,
		identifier(q.Call),
		q.Language,
		q.Kind().String(),
		int64(q.Attempts),
		bit(q.OptedOut),
		nullTime(q.DueAt),
		nullUUID(q.KeptFor),
		nullTime(q.EligibleAt),
		bit(q.Ready),
		q.Note,
		bit(q.OptedIn),
		q.Country,
		nullTime(q.EndedAt),
		nullUUID(q.BlockedBy),
		q.DueReason,
	)
}

// queueFacts reads calls that wait with what decides from when they may be given, in the order of factsDest.
var queueFacts = `SELECT c.` + strings.Join(queueColumns, `, c.`) + `,` + otherFacts + `
	FROM queue_calls c`

// otherFacts are the columns of other tables that decide whether a call may be given.
const otherFacts = `
		(SELECT CASE WHEN d.contacted_at = d.rested_at THEN d.contacted_before ELSE d.contacted_at END
			FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT d.rested_until FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT o.max_call_attempts FROM organizations o WHERE o.uuid = c.owner),
		(SELECT d.expires_at FROM donors d WHERE d.person_uuid = c.person_uuid AND d.lease_uuid IS NOT NULL)`

// pledgesEnded selects the end of the last pledge of the person $1 for the organization $2. It is null if a pledge is a
// lead or active, if there is none, or if a later consent for phone lifts the end. No other query decides it.
const pledgesEnded = `(SELECT CASE WHEN e.going_on = 0 AND NOT EXISTS (` + consentAfter + `) THEN e.at END
		FROM (
			SELECT
				COUNT(CASE WHEN l.status IN ('lead', 'active') THEN 1 END) AS going_on,
				MAX(l.ended_at) AS at
			FROM pledges l WHERE l.person_number = (SELECT number FROM persons WHERE uuid = $1) AND l.owner = $2
		) AS e)`

// consentAfter finds the consent for phone of the person $1 that came after the end e.at and was not withdrawn.
const consentAfter = `SELECT 1 FROM consents c
			WHERE c.person_uuid = $1 AND c.channel = 'phone' AND c.basis = 'consent' AND c.at > e.at AND NOT EXISTS (
				SELECT 1 FROM consents w
				WHERE w.person_uuid = $1 AND w.channel = 'phone' AND w.basis = 'withdrawn'
				AND (w.at, w.ordinal) > (c.at, c.ordinal))`

var factsOfNew = sync.OnceValue(func() string {
	facts := strings.NewReplacer(`c.person_uuid`, `$1`, `c.owner`, `$2`).Replace(otherFacts)
	return `SELECT ` + facts + `, ` + pledgesEnded + `, (SELECT rules FROM queue_rules WHERE organization = $2)`
})

func (r *reader) QueueFacts(q *service.QueueRow) error {
	return r.row(factsOfNew(), identifier(q.Person), identifier(q.Owner)).
		scan(append(otherDest(q), nullTimeDest{&q.EndedAt}, &q.OwnRules)...)
}

func factsDest(q *service.QueueRow) []any {
	return append(queueDest(q), otherDest(q)...)
}

// otherDest returns the destinations of otherFacts.
func otherDest(q *service.QueueRow) []any {
	return []any{
		nullTimeDest{&q.ContactedAt},
		nullTimeDest{&q.RestedUntil},
		&q.MaxAttempts,
		nullTimeDest{&q.LeasedUntil},
	}
}

// QueueOfPerson returns and locks the waiting calls of a person: without the lock, two changes of a call at one time
// would miss each other's result. A transaction that sees commits of others reads again when it has the lock, because
// other tables decide as well. It leaves out rows that others have locked, because those decide after it.
func (t *tx) QueueOfPerson(person apitype.UUID) ([]service.QueueRow, error) {
	if !t.shared {
		return all(
			t.conn,
			queueFacts+` WHERE c.`+ofPerson+t.engine.locking(`UPDATE OF c`),
			[]any{identifier(person)},
			factsDest,
		)
	}
	return t.lockedRows(
		`SELECT call_uuid FROM queue_calls WHERE `+ofPerson+t.engine.locking(`UPDATE SKIP LOCKED`),
		identifier(person),
	)
}

// QueueOfAttempts returns an organization's waiting service-managed calls with a least number of attempts, locked and
// read like QueueOfPerson. It waits for their locks.
func (t *tx) QueueOfAttempts(organization apitype.UUID, least int) ([]service.QueueRow, error) {
	return t.lockedRows(
		`SELECT call_uuid FROM queue_calls WHERE owner = $1 AND external = 0 AND attempts >= $2
			ORDER BY call_uuid`+t.engine.locking(`UPDATE`),
		identifier(organization),
		least,
	)
}

// lockedRows reads calls that wait when the query that finds them has locked them.
func (t *tx) lockedRows(query string, args ...any) ([]service.QueueRow, error) {
	ids, err := t.identifiers(query, args...)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	cond, arg := t.amongWaiting(ids)
	return all(t.conn, queueFacts+` WHERE c.`+cond, []any{arg}, factsDest)
}

// amongWaiting returns the condition that a waiting call is in a list, given as $1.
func (r *reader) amongWaiting(calls []apitype.UUID) (string, any) {
	cond, arg := r.engine.among("uuid", calls)
	return `call_number IN (SELECT number FROM calls WHERE ` + cond + `)`, arg
}

// mostMarked limits the calls that one take marks as eligible, so that no take waits long. TendQueue marks the others,
// and so does the next take.
const mostMarked = 500

func (t *tx) MarkEligible(now apitype.Time, limit int) (int, error) {
	n, err := t.exec(`UPDATE queue_calls SET ready = 1 WHERE call_number IN (
			SELECT call_number FROM queue_calls WHERE ready = 0 AND eligible_at <= $1
			ORDER BY eligible_at LIMIT $2`+t.engine.locking(`UPDATE SKIP LOCKED`)+`)`,
		now.UnixMilli(), limit)
	return int(n), err
}

// A contact is not before an earlier one of the number, or of the person.
const (
	contactNumber = `INSERT INTO queue_numbers (digest, person_uuid, contacted_at) `
	laterOfNumber = ` ON CONFLICT (digest)
		DO UPDATE SET person_uuid = excluded.person_uuid, contacted_at = excluded.contacted_at
		WHERE queue_numbers.contacted_at < excluded.contacted_at`
	contactPerson = `INSERT INTO donors (person_uuid, contacted_at) VALUES ($1, $2)
		ON CONFLICT (person_uuid) DO UPDATE SET
			contacted_at = excluded.contacted_at,
			contacted_before = CASE
				WHEN donors.contacted_at = donors.rested_at THEN donors.contacted_before
				ELSE donors.contacted_at END
		WHERE donors.contacted_at IS NULL OR donors.contacted_at < excluded.contacted_at`
	// contactNumbers saves a contact with one statement, because each statement costs a round trip.
	contactNumbers = `WITH numbers AS (` + contactNumber +
		`SELECT digest, $1, $2 FROM unnest($3::uuid[]) AS digest` + laterOfNumber + `) ` + contactPerson
)

func (t *tx) RecordContact(person apitype.UUID, at apitype.Time, numbers []apitype.UUID) error {
	if t.engine.sharesQueue() && len(numbers) > 0 {
		list := `{` + strings.Join(texts(numbers), `,`) + `}`
		_, err := t.exec(contactNumbers, identifier(person), at.UnixMilli(), list)
		return err
	}
	for _, number := range numbers {
		_, err := t.exec(contactNumber+`VALUES ($1, $2, $3)`+laterOfNumber,
			identifier(number), identifier(person), at.UnixMilli())
		if err != nil {
			return err
		}
	}
	_, err := t.exec(contactPerson, identifier(person), at.UnixMilli())
	return err
}

// restDonor gives the contact $2 of the person $1 a rest until $3. The longest rest counts.
const restDonor = `INSERT INTO donors (person_uuid, contacted_at, rested_at, rested_until) VALUES ($1, $2, $2, $3)
	ON CONFLICT (person_uuid) DO UPDATE SET
		contacted_before = CASE WHEN donors.contacted_before = $2 THEN NULL ELSE donors.contacted_before END,
		rested_at = CASE WHEN donors.rested_at > $2 THEN donors.rested_at ELSE $2 END,
		rested_until = CASE
			WHEN donors.rested_at <> $2 AND donors.rested_until > $3 THEN donors.rested_until
			ELSE $3 END`

func (t *tx) RestDonor(person apitype.UUID, contact apitype.Time, until *apitype.Time) error {
	var err error
	if until == nil {
		_, err = t.exec(
			`UPDATE donors SET rested_at = NULL, rested_until = NULL WHERE person_uuid = $1 AND rested_at = $2`,
			identifier(person),
			contact.UnixMilli(),
		)
		return err
	}
	_, err = t.exec(restDonor, identifier(person), contact.UnixMilli(), until.UnixMilli())
	return err
}

func (r *reader) AttemptedLease(person, call apitype.UUID, after, until apitype.Time) (*apitype.Time, error) {
	var taken *apitype.Time
	err := r.row(
		`SELECT MAX(taken_at) FROM ended_leases
			WHERE person_uuid = $1 AND call_uuid = $2 AND ended_by = $3 AND ended_at > $4 AND ended_at <= $5`,
		identifier(person),
		identifier(call),
		string(service.EndedByAttempt),
		after.UnixMilli(),
		until.UnixMilli(),
	).scan(nullTimeDest{&taken})
	return taken, err
}

func (r *reader) NumbersContacted(numbers []apitype.UUID, since apitype.Time) (*apitype.Time, error) {
	q := &listQuery{}
	q.where(`contacted_at > %s`, since.UnixMilli())
	places := make([]string, len(numbers))
	for i, number := range numbers {
		places[i] = q.arg(identifier(number))
	}
	var at *apitype.Time
	err := r.row(`SELECT MAX(contacted_at) FROM queue_numbers WHERE digest IN (`+strings.Join(places, `, `)+`)
		AND `+strings.Join(q.conds, ` AND `), q.args...).
		scan(nullTimeDest{&at})
	return at, err
}

func (t *tx) BusyPersons(ids []apitype.UUID) ([]apitype.UUID, error) {
	cond, arg := t.engine.among("person_uuid", ids)
	return t.identifiers(`SELECT person_uuid FROM donors WHERE `+cond, arg)
}

func (c *conn) identifiers(text string, args ...any) ([]apitype.UUID, error) {
	return all(c, text, args, func(id *apitype.UUID) []any { return []any{uuidDest{id}} })
}
