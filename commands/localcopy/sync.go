package localcopy

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

// The feeds of a sync, in their order. Erasures come last, so that they find the records read before.
const (
	feedPersons = "persons"
	feedCalls   = "calls"
	feedPledges = "pledges"
	feedErased  = "erased"
)

var feeds = []string{feedPersons, feedCalls, feedPledges, feedErased}

// The details that a service without ExtensionDetails gives record by record.
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
	*pages
	client      *apiclient.Client
	seen        map[apitype.UUID]bool // In a first reading. Nil in later ones.
	hasConsents bool
	hasChecks   bool
	hasDetails  bool // Lists bring both.
}

// collectAt sets the garbage collector for a sync, in percent of the live memory. The default of 100 took an eighth of
// its processor time, and this takes 25 MB more.
const collectAt = 400

// Sync reads what is new, corrected and erased, in one transaction for each page. If the lists bring no details, it
// also reads those that are named, of the records that changed. A record that cannot be read ends it after all others.
func (c *Copy) Sync(
	ctx context.Context,
	client *apiclient.Client,
	details []string,
	now time.Time,
) (read Read, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	stored, err := newPages(ctx, c.db)
	if err != nil {
		return read, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	s := &syncing{Copy: c, pages: stored, client: client}
	var hasFilters bool
	for extension, has := range map[string]*bool{
		apitype.ExtensionFilters:  &hasFilters,
		apitype.ExtensionConsents: &s.hasConsents,
		apitype.ExtensionChecks:   &s.hasChecks,
		apitype.ExtensionDetails:  &s.hasDetails,
	} {
		if *has, err = client.Has(ctx, extension); err != nil {
			return read, err
		}
	}
	if read, err = s.records(ctx, hasFilters); err != nil {
		return read, err
	}
	for _, detail := range details {
		if err := s.fill(ctx, detail); err != nil {
			return read, err
		}
	}
	if err := s.add("DELETE FROM _synced"); err != nil {
		return read, err
	}
	if err := s.add("INSERT INTO _synced VALUES (?)", s.named(apitype.NewTime(now).String())...); err != nil {
		return read, err
	}
	return read, s.commit(ctx)
}

// records reads the feeds.
func (s *syncing) records(ctx context.Context, hasFilters bool) (read Read, err error) {
	client := s.client
	personsSince := "createdAfter" // The interface has no other filter of persons.
	if hasFilters {
		personsSince = "updatedAfter"
	}
	persons := client.Persons.Feed(apitype.PersonListOptions{Consents: s.hasDetails}, personsSince)
	if read.Persons, err = syncFeed(ctx, s, feedPersons, persons, s.person); err != nil {
		return read, err
	}
	calls := apitype.CallListOptions{Checks: s.hasDetails}
	pledges := apitype.PledgeListOptions{Include: []string{apitype.IncludeTransactions}}
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
	store func(apiclient.Record[T], T) error,
) (n int, err error) {
	from, err := position(ctx, s.conn, name)
	if err != nil {
		return 0, err
	}
	isFirst := from.After.IsZero() && name != feedErased
	if isFirst {
		if err := s.beginFirst(name); err != nil {
			return 0, err
		}
	}
	round := feed.From(from)
	var failed, unread error
	options := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Reuse: true, Decodes: true}
	options.Yielded = func() { failed = errors.Join(failed, s.commit(ctx)) }
	add := func(record apiclient.Record[T]) error {
		value, err := record.Decode()
		if errors.Is(err, apiclient.ErrUnreadable) {
			unread = errors.Join(unread, err)
			return nil
		}
		if err != nil {
			return err
		}
		n++
		return store(record, value)
	}
	defer s.forget() // Of a page that was not read to its end.
	for record, err := range apiclient.Changes[T](ctx, s.client, round, options) {
		if err == nil && failed == nil {
			err = add(record)
		}
		failed = errors.Join(failed, err)
		if failed != nil {
			return n, failed
		}
	}
	failed = errors.Join(failed, s.commit(ctx))
	if failed != nil || unread != nil {
		return n, errors.Join(failed, unread)
	}
	if isFirst {
		if err := s.endFirst(name); err != nil {
			return n, err
		}
	}
	if err := s.keep(name, round.Next()); err != nil {
		return n, err
	}
	return n, s.commit(ctx)
}

// tablesOf are the tables that a feed fills.
var tablesOf = map[string][]string{
	feedPersons: {"persons", Consents},
	feedCalls:   {"calls", "attempts", "results", Checks},
	feedPledges: {"pledges", "transactions"},
}

// beginFirst begins the first reading of a feed: it empties the tables, which a sync that was cut short may have
// filled, and drops their indexes.
func (s *syncing) beginFirst(feed string) error {
	s.seen = map[apitype.UUID]bool{}
	for _, t := range s.fields.tables() {
		if !slices.Contains(tablesOf[feed], t.name) {
			continue
		}
		for name := range t.indexes() {
			if err := s.add("DROP INDEX IF EXISTS " + name); err != nil {
				return err
			}
		}
		if err := s.add("DELETE FROM " + t.name); err != nil {
			return err
		}
	}
	return nil
}

// endFirst makes the indexes after a first reading.
func (s *syncing) endFirst(feed string) error {
	s.seen = nil
	for _, t := range s.fields.tables() {
		if !slices.Contains(tablesOf[feed], t.name) {
			continue
		}
		for _, create := range t.indexes() {
			if err := s.add(create); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxSeen limits the memory for the records of a first reading, which has the indexes from then on.
var maxSeen = 1_000_000

// mayHave reports whether the copy may have rows of a record. In a first reading it has none, except for a record that
// came twice because the pages moved.
func (s *syncing) mayHave(feed string, id apitype.UUID) (bool, error) {
	if s.seen == nil || s.seen[id] {
		return true, nil
	}
	s.seen[id] = true
	if len(s.seen) > maxSeen {
		return false, s.endFirst(feed)
	}
	return false, nil
}

// dropped lists the columns by which the rows of a record are found. Details have their own.
var dropped = map[string][]string{
	feedPersons: {"persons.uuid"},
	feedCalls:   {"calls.uuid", "attempts.callUuid", "results.callUuid"},
	feedPledges: {"pledges.uuid", "transactions.pledgeUuid"},
}

// dropRecord deletes the rows of a record that is stored again.
func (s *syncing) dropRecord(feed string, id apitype.UUID) (hadRows bool, err error) {
	hadRows, err = s.mayHave(feed, id)
	if err != nil || !hadRows {
		return hadRows, err
	}
	for _, place := range dropped[feed] {
		if err := s.drop(place, id); err != nil {
			return hadRows, err
		}
	}
	return hadRows, nil
}

// put stores a row.
func (s *syncing) put(table string, row []driver.NamedValue) error {
	return s.add(s.inserts[table], row...)
}

// drop deletes rows by a column, which is named with its table.
func (s *syncing) drop(place string, id apitype.UUID) error {
	table, column, _ := strings.Cut(place, ".")
	return s.add("DELETE FROM "+table+" WHERE "+column+" = ?", s.named(id.String())...)
}

// keep stores the place to continue a feed.
func (s *syncing) keep(feed string, p apiclient.Position) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.add(keepPosition, s.named(feed, string(text))...)
}

// due stores that a detail of a record is to be read.
func (s *syncing) due(detail string, id apitype.UUID) error {
	return s.add("INSERT OR IGNORE INTO _due VALUES (?, ?)", s.named(detail, id.String())...)
}

func (s *syncing) person(r apiclient.Record[apitype.Person], p apitype.Person) error {
	hadRows, err := s.dropRecord(feedPersons, p.UUID)
	if err != nil {
		return err
	}
	if err := s.put("persons", s.fields.persons.row(s.pages, p)); err != nil || !s.hasConsents {
		return err
	}
	if !s.hasDetails {
		return s.due(Consents, p.UUID)
	}
	return s.replace(Consents, p.UUID, s.consentRows(p.UUID, r.Consents), hadRows)
}

func (s *syncing) call(r apiclient.Record[apitype.Call], c apitype.Call) error {
	hadRows, err := s.dropRecord(feedCalls, c.UUID)
	if err != nil {
		return err
	}
	if err := s.put("calls", s.fields.calls.row(s.pages, c)); err != nil {
		return err
	}
	for i, a := range c.Attempts.Value() {
		if err := s.put("attempts", s.fields.attempts.row(s.pages, attempt{c.UUID, i + 1, a})); err != nil {
			return err
		}
	}
	if found := c.Result.Pointer(); found != nil {
		if err := s.put("results", s.fields.results.row(s.pages, result{c.UUID, r.CompletedBy, *found})); err != nil {
			return err
		}
	}
	if !s.hasChecks {
		return nil
	}
	if !s.hasDetails {
		return s.due(Checks, c.UUID)
	}
	var checks apitype.CallChecks
	if r.Checks != nil {
		checks = *r.Checks
	}
	return s.replace(Checks, c.UUID, s.checkRows(c.UUID, checks), hadRows)
}

// detailPlaces are the columns that name the record of a detail.
var detailPlaces = map[string]string{Consents: "consents.personUuid", Checks: "checks.callUuid"}

// replace stores the rows of a record's detail instead of its earlier ones, if it may have some.
func (s *syncing) replace(detail string, id apitype.UUID, rows [][]driver.NamedValue, hadRows bool) error {
	if hadRows {
		if err := s.drop(detailPlaces[detail], id); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := s.put(detail, row); err != nil {
			return err
		}
	}
	return nil
}

func (s *syncing) pledge(_ apiclient.Record[apitype.Pledge], p apitype.Pledge) error {
	if _, err := s.dropRecord(feedPledges, p.UUID); err != nil {
		return err
	}
	if err := s.put("pledges", s.fields.pledges.row(s.pages, p)); err != nil {
		return err
	}
	for _, t := range p.Transactions.Value() {
		if err := s.put("transactions", s.fields.transactions.row(s.pages, payment{p.UUID, t})); err != nil {
			return err
		}
	}
	return nil
}

// erased deletes a person. Its calls and pledges stay, as the service keeps them: they were read again without what
// named the person.
func (s *syncing) erased(_ apiclient.Record[apitype.ErasedPerson], p apitype.ErasedPerson) error {
	for _, place := range []string{"persons.uuid", "consents.personUuid", "_due.uuid"} {
		if err := s.drop(place, p.UUID); err != nil {
			return err
		}
	}
	return nil
}

// fillAtOnce is the number of records that get their details in one transaction.
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
	rows, err := s.conn.QueryContext(ctx, "SELECT uuid FROM _due WHERE detail = ? LIMIT ?", detail, fillAtOnce)
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
	read := s.readConsents
	if detail == Checks {
		read = s.readChecks
	}
	defer s.forget() // After an error.
	for outcome := range bulk.InOrder(ctx, bulk.DefaultConcurrency, slices.Values(ids), read) {
		isGone := apiclient.KindOf(outcome.Err) == apiclient.KindNotFound // It was erased in the meantime.
		if outcome.Err != nil && !isGone {
			return outcome.Err
		}
		if err := s.replace(detail, outcome.Item, outcome.Value, true); err != nil {
			return err
		}
		statement := "DELETE FROM _due WHERE detail = ? AND uuid = ?"
		if err := s.add(statement, s.named(detail, outcome.Item.String())...); err != nil {
			return err
		}
	}
	return s.commit(ctx)
}

// readConsents reads the rows of a person's consents.
func (s *syncing) readConsents(ctx context.Context, id apitype.UUID) ([][]driver.NamedValue, error) {
	record, err := s.client.Consents(ctx, id)
	consents, err := apiclient.Decoded(record, err)
	return s.consentRows(id, consents.Consents), err
}

// consentRows returns the rows of consents, which come newest first.
func (s *syncing) consentRows(person apitype.UUID, consents []apitype.Consent) (rows [][]driver.NamedValue) {
	for i, c := range consents {
		rows = append(rows, s.fields.consents.row(s.pages, consent{person, len(consents) - i, c}))
	}
	return rows
}

// readChecks reads the rows of a call's checks.
func (s *syncing) readChecks(ctx context.Context, id apitype.UUID) ([][]driver.NamedValue, error) {
	record, err := s.client.Checks(ctx, id)
	checks, err := apiclient.Decoded(record, err)
	return s.checkRows(id, checks), err
}

func (s *syncing) checkRows(call apitype.UUID, checks apitype.CallChecks) (rows [][]driver.NamedValue) {
	for _, item := range checks.Items {
		rows = append(rows, s.fields.checks.row(s.pages, check{call, checks.UserUUID, item}))
	}
	return rows
}
