package localcopy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

// The feeds of a sync, in their order. A pledge is released without being updated, and so has a feed for that. Persons
// follow the calls and pledges that name them, so that the copy has these persons. Erasures come last, so that they
// find the records read before.
const (
	feedPledges  = "pledges"
	feedReleased = "released"
	feedCalls    = "calls"
	feedPersons  = "persons"
	feedErased   = "erased"
)

var feeds = []string{feedPledges, feedReleased, feedCalls, feedPersons, feedErased}

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
	*writer
	client      *apiclient.Client
	from        map[string]apiclient.Position // Where the feeds begin.
	seen        map[apitype.UUID]bool         // In a first reading. Nil in later ones.
	hasConsents bool
	hasChecks   bool
	hasDetails  bool // Lists bring both.
}

// Sync reads what is new, corrected and erased, in transactions of whole pages. If the lists bring no details, it
// also reads those that are named, of the records that changed. A record that cannot be read ends it after all others.
func (c *Copy) Sync(
	ctx context.Context,
	client *apiclient.Client,
	details []string,
	now time.Time,
) (read Read, err error) {
	s := &syncing{Copy: c, client: client, from: map[string]apiclient.Position{}}
	for _, feed := range feeds { // Before the writer begins.
		s.from[feed], err = position(ctx, c.db, feed)
		if err != nil {
			return read, err
		}
	}
	s.writer, err = newWriter(c.path)
	if err != nil {
		return read, err
	}
	defer func() {
		if failed := s.writer.Close(); !errors.Is(err, failed) {
			err = errors.Join(err, failed)
		}
	}()
	var hasFilters bool
	for extension, has := range map[string]*bool{
		apitype.ExtensionFilters:  &hasFilters,
		apitype.ExtensionConsents: &s.hasConsents,
		apitype.ExtensionChecks:   &s.hasChecks,
		apitype.ExtensionDetails:  &s.hasDetails,
	} {
		*has, err = client.Has(ctx, extension)
		if err != nil {
			return read, err
		}
	}
	read, err = s.records(ctx, hasFilters)
	if err != nil {
		return read, err
	}
	for _, detail := range details {
		if err := s.fill(ctx, detail); err != nil {
			return read, err
		}
	}
	s.do("DELETE FROM _synced")
	s.do("INSERT INTO _synced VALUES (?)", apitype.NewTime(now).String())
	return read, s.flush(ctx)
}

// records reads the feeds.
func (s *syncing) records(ctx context.Context, hasFilters bool) (Read, error) {
	client := s.client
	var read Read
	var err error
	read.Pledges, err = s.readPledges(ctx)
	if err != nil {
		return read, err
	}
	calls := apitype.CallListOptions{Checks: s.hasDetails}
	calls.Completers, err = client.Has(ctx, apitype.ExtensionCompleters)
	if err != nil {
		return read, err
	}
	read.Calls, err = syncFeed(ctx, s, s.calls(client.Calls.Feed(calls, "updatedAfter")))
	if err != nil {
		return read, err
	}
	personsSince := "createdAfter" // The interface has no other filter of persons.
	if hasFilters {
		personsSince = "updatedAfter"
	}
	persons := client.Persons.Feed(apitype.PersonListOptions{Consents: s.hasDetails}, personsSince)
	read.Persons, err = syncFeed(ctx, s, s.persons(persons))
	if err != nil || !hasFilters {
		return read, err
	}
	read.Erased, err = syncFeed(ctx, s, s.erasures())
	return read, err
}

// readPledges reads the pledges that were updated or released. A first reading of all finds both.
func (s *syncing) readPledges(ctx context.Context) (int, error) {
	options := apitype.PledgeListOptions{Include: []string{apitype.IncludeTransactions}}
	hasPersons, err := s.client.Has(ctx, apitype.ExtensionSearch)
	if err != nil {
		return 0, err
	}
	if hasPersons {
		options.Include = append(options.Include, apitype.IncludePerson)
	}
	isFirst := s.from[feedPledges].After.IsZero()
	n, err := syncFeed(ctx, s, s.pledges(feedPledges, s.client.Pledges.Feed(options, "updatedAfter")))
	if err != nil {
		return n, err
	}
	if isFirst {
		begin := s.from[feedPledges]
		begin.Given = map[string]apiclient.Stamp{} // They have the times of the updates.
		return n, s.keep(feedReleased, begin)
	}
	released, err := syncFeed(ctx, s, s.pledges(feedReleased, s.client.Pledges.Feed(options, "releasedAfter")))
	return n + released, err
}

// syncFeed reads a feed from its position. Each page is stored as a whole, and the position moves after the last.
func syncFeed[T any](ctx context.Context, s *syncing, of source[T]) (int, error) {
	from := s.from[of.name]
	isFirst := from.After.IsZero() && tablesOf[of.name] != nil
	if isFirst {
		s.beginFirst(of.name)
	}
	round := of.feed.From(from)
	var failed, unread error
	options := apiclient.AllOptions{
		PageSize: apitype.MaxPageSize,
		Reuse:    true,
		Yielded:  func() { failed = s.commit(ctx) },
		Identify: func(raw json.RawMessage) (apitype.UUID, apitype.Time, bool) { return of.identify(raw, s.batch) },
		Decodes:  true,
	}
	defer func() { s.clear() }() // A page that was not read to its end.
	var n int
	for record, err := range apiclient.Changes[T](ctx, s.client, round, options) {
		failed = errors.Join(failed, err)
		if failed != nil {
			return n, failed
		}
		read, err := of.read(record, s.batch)
		if err != nil { // The others are stored.
			unread = errors.Join(unread, err)
			continue
		}
		n++
		of.store(record, read)
	}
	failed = errors.Join(failed, s.commit(ctx))
	if failed != nil || unread != nil {
		return n, errors.Join(failed, unread)
	}
	if isFirst {
		s.endFirst(of.name)
	}
	s.from[of.name] = round.Next()
	if err := s.keep(of.name, s.from[of.name]); err != nil {
		return n, err
	}
	if err := s.commit(ctx); err != nil {
		return n, err
	}
	// A restore between two feeds of a first sync: the copy has records of both states.
	return n, apiclient.CheckEpoch(s.from[feeds[0]], s.from[of.name])
}

// tablesOf are the tables that a first reading of a feed fills. The other feeds have none.
var tablesOf = map[string][]string{
	feedPersons: {"persons", Consents},
	feedCalls:   {"calls", "attempts", "results", Checks},
	feedPledges: {"pledges", "transactions"},
}

// beginFirst begins the first reading of a feed: it empties the tables, which a sync that was cut short may have
// filled, and drops their indexes.
func (s *syncing) beginFirst(feed string) {
	s.seen = map[apitype.UUID]bool{}
	for _, t := range s.fields.tables() {
		if !slices.Contains(tablesOf[feed], t.name) {
			continue
		}
		for name := range t.indexes() {
			s.do("DROP INDEX IF EXISTS " + name)
		}
		s.do("DELETE FROM " + t.name)
	}
}

// endFirst makes the indexes after a first reading.
func (s *syncing) endFirst(feed string) {
	s.seen = nil
	for _, t := range s.fields.tables() {
		if !slices.Contains(tablesOf[feed], t.name) {
			continue
		}
		for _, create := range t.indexes() {
			s.do(create)
		}
	}
}

// maxSeen limits the memory for the records of a first reading, which has the indexes from then on.
var maxSeen = 1_000_000

// mayHave reports whether the copy may have rows of a record. In a first reading it has none, except for a record that
// came twice because the pages moved.
func (s *syncing) mayHave(feed string, id apitype.UUID) bool {
	if s.seen == nil || s.seen[id] {
		return true
	}
	s.seen[id] = true
	if len(s.seen) > maxSeen {
		s.endFirst(feed)
	}
	return false
}

// dropped lists the columns by which the rows of a record are found. Details have their own.
var dropped = map[string][]string{
	feedPersons: {"persons.uuid"},
	feedCalls:   {"calls.uuid", "attempts.callUuid", "results.callUuid"},
	feedPledges: {"pledges.uuid", "transactions.pledgeUuid"}, // Also for those that were released.
}

// dropRecord deletes the rows of a record that is stored again.
func (s *syncing) dropRecord(feed string, id apitype.UUID) bool {
	hadRows := s.mayHave(feed, id)
	if hadRows {
		for _, place := range dropped[feed] {
			s.drop(place, id)
		}
	}
	return hadRows
}

// put stores a row.
func (s *syncing) put(table string, row []cell) { s.add(s.insert(table), row) }

// insert returns the statement that stores a row of a table.
func (s *syncing) insert(table string) *statement { return s.statement(s.inserts[table]) }

// drop deletes rows by a column, which is named with its table.
func (s *syncing) drop(place string, id apitype.UUID) {
	table, column, _ := strings.Cut(place, ".")
	s.do("DELETE FROM "+table+" WHERE "+column+" = ?", id.String())
}

// keep stores the place to continue a feed.
func (s *syncing) keep(feed string, p apiclient.Position) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	s.do(keepPosition, feed, string(text))
	return nil
}

// due stores that a detail of a record is to be read.
func (s *syncing) due(detail string, id apitype.UUID) {
	s.do("INSERT OR IGNORE INTO _due VALUES (?, ?)", detail, id.String())
}

// fillAtOnce is the number of records that get their details in one transaction.
const fillAtOnce = 500

// fill reads a detail of the records that changed.
func (s *syncing) fill(ctx context.Context, detail string) error {
	for {
		if err := s.flush(ctx); err != nil {
			return err
		}
		ids, err := s.dueOf(ctx, detail)
		if err != nil || len(ids) == 0 {
			return err
		}
		if detail == Checks {
			err = fillSome(ctx, s, detail, ids, s.readChecks, s.replaceChecks)
		} else {
			err = fillSome(ctx, s, detail, ids, s.readConsents, s.replaceConsents)
		}
		if err != nil {
			return err
		}
	}
}

// dueOf returns some records whose detail is to be read.
func (s *syncing) dueOf(ctx context.Context, detail string) ([]apitype.UUID, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT uuid FROM _due WHERE detail = ? LIMIT ?", detail, fillAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []apitype.UUID
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
func fillSome[D any](
	ctx context.Context,
	s *syncing,
	detail string,
	ids []apitype.UUID,
	read func(context.Context, apitype.UUID) (D, error),
	replace func(id apitype.UUID, found D, hadRows bool),
) error {
	defer func() { s.clear() }() // After an error.
	for outcome := range bulk.InOrder(ctx, bulk.DefaultConcurrency, slices.Values(ids), read) {
		isGone := apiclient.KindOf(outcome.Err) == apiclient.KindNotFound // It was erased in the meantime.
		if outcome.Err != nil && !isGone {
			return outcome.Err
		}
		replace(outcome.Item, outcome.Value, true)
		s.do("DELETE FROM _due WHERE detail = ? AND uuid = ?", detail, outcome.Item.String())
	}
	return s.commit(ctx)
}

func (s *syncing) readConsents(ctx context.Context, id apitype.UUID) ([]apitype.Consent, error) {
	record, err := s.client.Consents(ctx, id)
	consents, err := apiclient.Decoded(record, err)
	return consents.Consents, err
}

func (s *syncing) readChecks(ctx context.Context, id apitype.UUID) (apitype.CallChecks, error) {
	record, err := s.client.Checks(ctx, id)
	return apiclient.Decoded(record, err)
}
