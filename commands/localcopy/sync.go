package localcopy

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

// The feeds of a sync, in its order. Erasures come last, so that they find what was read before.
const (
	feedPersons = "persons"
	feedCalls   = "calls"
	feedPledges = "pledges"
	feedErased  = "erased"
)

var feeds = []string{feedPersons, feedCalls, feedPledges, feedErased}

// The details that are read record by record.
const (
	Consents = "consents"
	Checks   = "checks"
)

// Details returns all details.
func Details() []string { return []string{Consents, Checks} }

// Read has how many records a sync read.
type Read struct {
	Persons int `json:"persons"`
	Calls   int `json:"calls"`
	Pledges int `json:"pledges"`
	Erased  int `json:"erased"`
}

// syncing is one sync of a copy.
type syncing struct {
	*Copy
	client      *apiclient.Client
	hasConsents bool
	hasChecks   bool
}

// Sync reads what is new, corrected and erased, in one transaction for each page. It also reads the details that are
// named, of the records that changed. A record that cannot be read ends it after all others.
func (c *Copy) Sync(ctx context.Context, client *apiclient.Client, details []string, now time.Time) (read Read, err error) {
	s := &syncing{Copy: c, client: client}
	hasFilters, err := client.Has(ctx, apitype.ExtensionFilters)
	if err != nil {
		return read, err
	}
	if s.hasConsents, err = client.Has(ctx, apitype.ExtensionConsents); err != nil {
		return read, err
	}
	if s.hasChecks, err = client.Has(ctx, apitype.ExtensionChecks); err != nil {
		return read, err
	}
	if read, err = s.records(ctx, hasFilters); err != nil {
		return read, err
	}
	for _, detail := range details {
		if err := s.fill(ctx, detail); err != nil {
			return read, err
		}
	}
	return read, c.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM _synced"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO _synced VALUES (?)", apitype.NewTime(now).String())
		return err
	})
}

// records reads the feeds.
func (s *syncing) records(ctx context.Context, hasFilters bool) (read Read, err error) {
	client := s.client
	personsSince := "createdAfter" // The interface has no other filter of persons.
	if hasFilters {
		personsSince = "updatedAfter"
	}
	persons := client.Persons.Feed(apitype.PersonListOptions{}, personsSince)
	if read.Persons, err = syncFeed(ctx, s, feedPersons, persons, s.person); err != nil {
		return read, err
	}
	calls, pledges := apitype.CallListOptions{}, apitype.PledgeListOptions{Include: []string{apitype.IncludeTransactions}}
	if calls.Completers, err = client.Has(ctx, apitype.ExtensionCompleters); err != nil {
		return read, err
	}
	hasPersons, err := client.Has(ctx, apitype.ExtensionSearch)
	if err != nil {
		return read, err
	}
	if hasPersons {
		pledges.Include = append(pledges.Include, apitype.IncludePerson)
	}
	if read.Calls, err = syncFeed(ctx, s, feedCalls, client.Calls.Feed(calls, "updatedAfter"), s.call); err != nil {
		return read, err
	}
	read.Pledges, err = syncFeed(ctx, s, feedPledges, client.Pledges.Feed(pledges, "updatedAfter"), s.pledge)
	if err != nil || !hasFilters {
		return read, err
	}
	erased := apiclient.Feed{Path: "/fundesk/v1/erasures"}
	read.Erased, err = syncFeed(ctx, s, feedErased, erased, s.erased)
	return read, err
}

// syncFeed reads a feed from its position. Each page is one transaction, and the position moves with the last.
func syncFeed[T any](
	ctx context.Context,
	s *syncing,
	name string,
	feed apiclient.Feed,
	store func(context.Context, *sql.Tx, apiclient.Record[T], T) error,
) (n int, err error) {
	var from apiclient.Position
	err = s.change(ctx, func(tx *sql.Tx) (err error) {
		from, err = position(ctx, tx, name)
		return err
	})
	if err != nil {
		return 0, err
	}
	round := feed.From(from)
	var page *sql.Tx
	var failed, unread error
	options := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Reuse: true}
	options.Yielded = func() {
		if page != nil && failed == nil {
			failed, page = page.Commit(), nil
		}
	}
	add := func(record apiclient.Record[T]) error {
		value, err := record.Decode()
		if errors.Is(err, apiclient.ErrUnreadable) {
			unread = errors.Join(unread, err)
			return nil
		}
		if err != nil {
			return err
		}
		if page == nil {
			if page, err = s.db.BeginTx(ctx, nil); err != nil {
				return err
			}
			if begun, ok := round.Begun(); ok && n == 0 { // A sync that is cut short has records of this epoch.
				if err := keep(ctx, page, name, begun); err != nil {
					return err
				}
			}
		}
		n++
		return store(ctx, page, record, value)
	}
	for record, err := range apiclient.Changes[T](ctx, s.client, round, options) {
		if err == nil && failed == nil {
			err = add(record)
		}
		if failed == nil {
			failed = err
		}
		if failed != nil {
			break
		}
	}
	if page != nil && failed == nil {
		failed, page = page.Commit(), nil
	}
	if page != nil {
		_ = page.Rollback()
	}
	if failed != nil {
		return n, failed
	}
	if unread != nil {
		return n, unread
	}
	return n, s.change(ctx, func(tx *sql.Tx) error { return keep(ctx, tx, name, round.Next()) })
}

// put stores a row.
func (s *syncing) put(ctx context.Context, tx *sql.Tx, table string, row []any) error {
	//nolint:sqlclosecheck // The end of the transaction closes it.
	_, err := tx.StmtContext(ctx, s.insert[table]).ExecContext(ctx, row...)
	return err
}

// drop deletes rows by a column.
func (s *syncing) drop(ctx context.Context, tx *sql.Tx, place string, id apitype.UUID) error {
	//nolint:sqlclosecheck // The end of the transaction closes it.
	_, err := tx.StmtContext(ctx, s.remove[place]).ExecContext(ctx, id.String())
	return err
}

// due stores that a detail of a record is to be read.
func (s *syncing) due(ctx context.Context, tx *sql.Tx, detail string, id apitype.UUID) error {
	_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO _due VALUES (?, ?)", detail, id.String())
	return err
}

func (s *syncing) person(ctx context.Context, tx *sql.Tx, _ apiclient.Record[apitype.Person], p apitype.Person) error {
	if err := s.put(ctx, tx, "persons", s.fields.persons.row(p)); err != nil || !s.hasConsents {
		return err
	}
	return s.due(ctx, tx, Consents, p.UUID)
}

func (s *syncing) call(ctx context.Context, tx *sql.Tx, r apiclient.Record[apitype.Call], c apitype.Call) error {
	if err := s.put(ctx, tx, "calls", s.fields.calls.row(c)); err != nil {
		return err
	}
	for _, place := range []string{"attempts.callUuid", "results.callUuid"} {
		if err := s.drop(ctx, tx, place, c.UUID); err != nil {
			return err
		}
	}
	for i, a := range c.Attempts.Value() {
		if err := s.put(ctx, tx, "attempts", s.fields.attempts.row(attempt{c.UUID, i + 1, a})); err != nil {
			return err
		}
	}
	if found := c.Result.Pointer(); found != nil {
		row := s.fields.results.row(result{c.UUID, r.CompletedBy, *found})
		if err := s.put(ctx, tx, "results", row); err != nil {
			return err
		}
	}
	if !s.hasChecks {
		return nil
	}
	return s.due(ctx, tx, Checks, c.UUID)
}

func (s *syncing) pledge(ctx context.Context, tx *sql.Tx, _ apiclient.Record[apitype.Pledge], p apitype.Pledge) error {
	if err := s.put(ctx, tx, "pledges", s.fields.pledges.row(p)); err != nil {
		return err
	}
	if err := s.drop(ctx, tx, "transactions.pledgeUuid", p.UUID); err != nil {
		return err
	}
	for _, t := range p.Transactions.Value() {
		if err := s.put(ctx, tx, "transactions", s.fields.transactions.row(payment{p.UUID, t})); err != nil {
			return err
		}
	}
	return nil
}

// erased deletes a person. Its calls and pledges stay, as the service keeps them: they were read again without what
// named the person.
func (s *syncing) erased(
	ctx context.Context,
	tx *sql.Tx,
	_ apiclient.Record[apitype.ErasedPerson],
	p apitype.ErasedPerson,
) error {
	for _, place := range []string{"persons.uuid", "consents.personUuid"} {
		if err := s.drop(ctx, tx, place, p.UUID); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM _due WHERE uuid = ?", p.UUID.String())
	return err
}

// fillAtOnce is how many records get their details in one transaction.
const fillAtOnce = 500

// fill reads a detail of the records that changed.
func (s *syncing) fill(ctx context.Context, detail string) error {
	for {
		ids, err := s.dueOf(ctx, detail)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := s.fillSome(ctx, detail, ids); err != nil {
			return err
		}
	}
}

// dueOf returns some records whose detail is to be read.
func (s *syncing) dueOf(ctx context.Context, detail string) (ids []apitype.UUID, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT uuid FROM _due WHERE detail = ? LIMIT ?", detail, fillAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		id, err := apitype.ParseUUID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// fillSome reads a detail of some records, and stores it in one transaction.
func (s *syncing) fillSome(ctx context.Context, detail string, ids []apitype.UUID) error {
	read, place := s.readConsents, "consents.personUuid"
	if detail == Checks {
		read, place = s.readChecks, "checks.callUuid"
	}
	found := map[apitype.UUID][][]any{}
	for outcome := range bulk.InOrder(ctx, bulk.DefaultConcurrency, slices.Values(ids), read) {
		isGone := apiclient.KindOf(outcome.Err) == apiclient.KindNotFound // It was erased in the meantime.
		if outcome.Err != nil && !isGone {
			return outcome.Err
		}
		found[outcome.Item] = outcome.Value
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		for id, rows := range found {
			if err := s.drop(ctx, tx, place, id); err != nil {
				return err
			}
			for _, row := range rows {
				if err := s.put(ctx, tx, detail, row); err != nil {
					return err
				}
			}
			_, err := tx.ExecContext(ctx, "DELETE FROM _due WHERE detail = ? AND uuid = ?", detail, id.String())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// readConsents reads the rows of a person's consents.
func (s *syncing) readConsents(ctx context.Context, id apitype.UUID) (rows [][]any, err error) {
	record, err := s.client.Consents(ctx, id)
	consents, err := apiclient.Decoded(record, err)
	for i, c := range consents.Consents {
		rows = append(rows, s.fields.consents.row(consent{id, len(consents.Consents) - i, c}))
	}
	return rows, err
}

// readChecks reads the rows of a call's checks.
func (s *syncing) readChecks(ctx context.Context, id apitype.UUID) (rows [][]any, err error) {
	record, err := s.client.Checks(ctx, id)
	checks, err := apiclient.Decoded(record, err)
	for _, item := range checks.Items {
		rows = append(rows, s.fields.checks.row(check{id, checks.UserUUID, item}))
	}
	return rows, err
}
