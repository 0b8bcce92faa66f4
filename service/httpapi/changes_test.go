package httpapi_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// follower returns the right to read everything in the feed of changes.
func follower() servicetest.Right {
	return servicetest.May(append(slices.Clone(service.Permissions), service.PersonsErase, service.ChangesRead)...)
}

// changes returns a page of the feed.
func changes(t *testing.T, h *servicetest.Harness, token, query string) apitype.Changes {
	t.Helper()
	answer := h.Do(token, http.MethodGet, "/fundesk/v1/changes?"+query, "")
	// A process that has just begun does not know yet which changes are complete, and looks once a second.
	for deadline := time.Now().Add(20 * time.Second); answer.Status == http.StatusServiceUnavailable; {
		if time.Now().After(deadline) {
			break
		}
		answer = h.Do(token, http.MethodGet, "/fundesk/v1/changes?"+query, "")
	}
	if answer.Status != http.StatusOK {
		t.Fatalf("changes?%s: got %d %s", query, answer.Status, answer.Body)
	}
	var page apitype.Changes
	servicetest.Check(t, json.Unmarshal(answer.Body, &page))
	return page
}

// allChanges returns the changes after a position, when all of them are settled.
func (f *floor) allChanges(token, after string) []apitype.Change {
	f.t.Helper()
	f.Clock.Advance(3 * time.Second)
	f.settled(f.In(-2 * time.Second))
	query := url.Values{"first": {"7"}}
	var all []apitype.Change
	for {
		if after != "" {
			query.Set("after", after)
		}
		page := changes(f.t, f.Harness, token, query.Encode())
		if len(page.Changes) == 0 {
			return all
		}
		all, after = append(all, page.Changes...), page.Next
	}
}

func briefChanges(all []apitype.Change) []string {
	var texts []string
	for _, c := range all {
		texts = append(texts, fmt.Sprintf("%s %s %s", c.Entity, c.Operation, c.UUID.String()[:4]))
	}
	return texts
}

// TestChanges lists changes in their order, to accounts that may see the records, for 31 days of one epoch.
// Promise S87: the feed lists each change once, in order.
func TestChanges(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		token := f.Token(follower())
		start := changes(t, f.Harness, token, "").Next
		person := f.person("null")
		call := f.call(person, time.Hour, "winback")
		f.act(call, "add-attempt", `{}`)
		f.update(person, `{"name":{"firstName":"A"}}`)
		f.update(person, `{"name":{"firstName":"A"}}`)
		f.act(call, "complete", `{}`)
		f.erase(person)
		p, c := person.String()[:4], call.String()[:4]
		want := []string{
			"person create " + p, "call create " + c, "call add-attempt " + c, "person update " + p,
			"call complete " + c,
			"call blank " + c, "person erase " + p,
		}
		all := f.allChanges(token, start)
		servicetest.Same(t, "changes", want, briefChanges(all))
		servicetest.Same(t, "fields", []string{"firstName"}, all[3].Fields)
		for i, change := range all {
			servicetest.Same(t, "after "+change.Operation, want[i+1:],
				append([]string{}, briefChanges(f.allChanges(token, change.Position))...))
		}
		servicetest.Same(t, "to an account of the organization", want,
			briefChanges(f.allChanges(f.Token(follower(), servicetest.For(f.organization)), "")))
		servicetest.Same(t, "to an account of another one", []string(nil),
			briefChanges(f.allChanges(f.Token(follower(), servicetest.For(f.Organization("B"))), "")))
		calls := f.Token(servicetest.May(service.CallsRead, service.ChangesRead))
		for _, text := range briefChanges(f.allChanges(calls, "")) {
			if !strings.HasPrefix(text, "call ") {
				t.Errorf("got %s without persons:read", text)
			}
		}
		f.refusedChanges(token, start)
	})
}

// TestChangesShowNoDonor reads the changes of a donor with a value in each field. They name the fields and hold no
// value, so that the audit of the donor's readers needs no line. Promise S44: the audit answers which requests read a
// donor.
func TestChangesShowNoDonor(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		noted, err := service.New(t.Context(), service.Options{Store: f.Store, Now: f.Clock.Now, AuditReads: true})
		servicetest.Check(t, err)
		f.Serve(noted)
		token := f.Token(follower())
		start := changes(t, f.Harness, token, "").Next
		person := f.person(`"nl","email":"canary@example.org","mobilePhoneNumber":"+31600000123"`)
		f.update(person, `{"name":{"firstName":"Canary"},"iban":"NL91ABNA0417164300"}`)
		before := len(auditOf(t, f.Harness))
		all := f.allChanges(token, start)
		if len(all) != 2 || !slices.Contains(all[1].Fields, "iban") {
			t.Fatalf("got %+v, want the creation, and the update with the names of its fields", all)
		}
		text, err := json.Marshal(all)
		servicetest.Check(t, err)
		for _, value := range []string{"anary", "NL91", "316000"} {
			if strings.Contains(string(text), value) {
				t.Errorf("got %s, want no value of the donor", text)
			}
		}
		if after := len(auditOf(t, f.Harness)); after != before {
			t.Errorf("got %d lines of the audit for the feed, want none", after-before)
		}
	})
}

// TestChangesAmongManyOthers follows the feed with an account that sees few of its changes: a page may end without one,
// and says that there may be more.
// Promise S87: the feed lists each change once, in order.
func TestChangesAmongManyOthers(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, func(t *testing.T, f *floor) {
		token := f.Token(follower(), servicetest.For(f.organization))
		after := changes(t, f.Harness, token, "").Next
		for range 22 {
			servicetest.Check(t, f.Service.Write(t.Context(), service.WriteIsolated, "change", func(tx service.Tx) error {
				at, err := f.Service.ChangeTime(tx)
				for range 1000 {
					id := apitype.NewUUID()
					err = errors.Join(err, tx.Audit(service.AuditLine{
						At:        at,
						Operation: service.AuditCallComplete,
						Record:    &id,
					}))
				}
				return err
			}))
		}
		person := f.person("null")
		f.Clock.Advance(3 * time.Second)
		f.settled(f.In(-2 * time.Second))
		var all []apitype.Change
		pages := 0
		for hasMore := true; hasMore; pages++ {
			page := changes(t, f.Harness, token, "after="+after)
			all, after, hasMore = append(all, page.Changes...), page.Next, page.HasMore
		}
		servicetest.Same(t, "changes", []string{"person create " + person.String()[:4]}, briefChanges(all))
		if pages < 2 {
			t.Errorf("got %d page, want a second one after %d lines", pages, 20_000)
		}
	})
}

// refusedChanges refuses positions from which changes may be missing.
func (f *floor) refusedChanges(token, start string) {
	f.t.Helper()
	want := func(what string, status int, token, query string) {
		f.t.Helper()
		if got := f.Do(token, http.MethodGet, "/fundesk/v1/changes?"+query, ""); got.Status != status {
			f.t.Errorf("%s: got %d %s, want %d", what, got.Status, got.Body, status)
		}
	}
	want("no position", 400, token, "after=x")
	want("a page that is too long", 400, token, "first=501")
	want("an account that sees other records", 410, f.Token(follower(), servicetest.For(f.organization)),
		"after="+start)
	if got := changes(f.t, f.Harness, token, "first=0&after="+start); got.Next != start || len(got.Changes) != 0 {
		f.t.Errorf("first=0: got %+v, want an empty page that goes on from %s", got, start)
	}
	f.Clock.Advance(service.ChangesKept - time.Hour)
	want("almost 31 days", 200, token, "after="+start)
	f.Clock.Advance(2 * time.Hour)
	want("more than 31 days", 410, token, "after="+start)
	now := changes(f.t, f.Harness, token, "").Next
	want("the end", 200, token, "after="+now)
	f.LoadForChanges(f.organization)
	want("after a load", 410, token, "after="+now)
}

// TestPruneBesideAPage prunes the audit after a consumer has asked for a page, and before it is read. The position was
// not too old, so the page has the changes.
// Promise S87: the feed lists each change once, in order.
func TestPruneBesideAPage(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		token := f.Token(follower())
		start := changes(t, f.Harness, token, "").Next
		person := f.person("null")
		f.allChanges(token, start)
		f.Clock.Set(f.base.Add(service.ChangesKept - time.Second))
		f.Serve(f.On(hooked{f.Store, once("before Read", func() {
			f.Clock.Advance(time.Minute)
			_, err := f.Privacy.PruneAudit(t.Context(), f.Now(), "test")
			servicetest.Report(t, err)
		})}))
		page := changes(t, f.Harness, token, "after="+start)
		servicetest.Same(t, "changes", []string{"person create " + person.String()[:4]}, briefChanges(page.Changes))
	})
}

// TestEveryChangeIsInTheFeed makes every change of a record, and compares the rows that were saved with the feed.
// Promise S87: the feed lists each change once, in order.
func TestEveryChangeIsInTheFeed(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		token := f.Token(follower())
		operations := f.Changes(f.organization)
		f.setEffects()
		spy := &spyStore{Store: f.Store}
		rules := f.On(spy)
		private := privacy.New(rules, nil)
		f.Serve(rules)
		start := changes(t, f.Harness, token, "").Next
		for _, change := range operations {
			f.Clock.Advance(time.Second)
			if got := f.Do(token, change.Method, change.Path, change.Body); got.Status >= 500 {
				t.Errorf("%s: got %d %s", change.Op, got.Status, got.Body)
			}
		}
		person := f.person("null")
		call := f.call(person, time.Hour, "happy_call")
		attempt := f.attempt(call, f.users[0])
		if got := f.describe(call, attempt, `{"reason":"busy"}`); got.Status != http.StatusOK {
			t.Errorf("a reason: got %d %s", got.Status, got.Body)
		}
		f.want(http.StatusOK, "PUT", "/fundesk/v1/calls/"+call.String()+"/checks", `{"items":[]}`)
		f.act(call, "complete", `{"result":{"resultCode":"stop"}}`)
		servicetest.Same(t, "a consent", http.StatusCreated, f.addConsent(person, "email consent", 1))
		_, err := private.SetRetention(
			t.Context(),
			f.organization,
			func(r *service.Retention) { r.Calls, r.Leads, r.Persons = new(1), new(1), new(1) },
		)
		servicetest.Check(t, err)
		ended := f.call(f.person("null"), time.Hour, "winback")
		f.act(ended, "complete", `{"result":{"notes":"N"}}`)
		f.Clock.Advance(20 * 24 * time.Hour)
		cmpNext(t, f, token, start, spy)
		f.Clock.Advance(20 * 24 * time.Hour)
		start = changes(t, f.Harness, token, "").Next
		start = skip(t, f, token, start)
		_, _, err = private.RunRetention(t.Context(), privacy.RetentionRun{Sure: true})
		servicetest.Check(t, err)
		cmpNext(t, f, token, start, spy)
	})
}

// skip returns the position at the end of the feed.
func skip(t *testing.T, f *floor, token, after string) string {
	t.Helper()
	for {
		page := changes(t, f.Harness, token, "first=500&after="+after)
		after = page.Next
		if len(page.Changes) == 0 {
			return after
		}
	}
}

// cmpNext compares the rows that were saved with the changes after a position, and returns the end of the feed.
func cmpNext(t *testing.T, f *floor, token, after string, spy *spyStore) string {
	t.Helper()
	listed := map[string]int{}
	all := f.allChanges(token, after)
	for _, change := range all {
		listed[string(change.Entity)+" "+change.UUID.String()]++
	}
	if len(all) == 0 {
		t.Error("got no change")
	}
	servicetest.Same(t, "changes of each record", spy.take(), listed)
	return skip(t, f, token, after)
}

// spyStore counts the transactions that save a record, by its kind and identifier.
type spyStore struct {
	service.Store
	mu    sync.Mutex
	saved map[string]int
}

func (s *spyStore) take() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved := s.saved
	s.saved = nil
	return saved
}

func (s *spyStore) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	var spy *spyTx
	err := s.Store.Write(ctx, mode, func(tx service.Tx) error {
		spy = &spyTx{Tx: tx, saved: map[string]bool{}}
		return change(spy)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		for record := range spy.saved {
			if s.saved == nil {
				s.saved = map[string]int{}
			}
			s.saved[record]++
		}
	}
	return err
}

type spyTx struct {
	service.Tx
	saved map[string]bool
}

func (s *spyTx) note(kind string, id apitype.UUID) { s.saved[kind+" "+id.String()] = true }

func (s *spyTx) InsertPerson(p service.PersonRow, line *service.AuditLine) error {
	s.note("person", p.UUID)
	return s.Tx.InsertPerson(p, line)
}

func (s *spyTx) UpdatePerson(p service.PersonRow) error {
	s.note("person", p.UUID)
	return s.Tx.UpdatePerson(p)
}

func (s *spyTx) ErasePerson(id apitype.UUID, at apitype.Time) error {
	s.note("person", id)
	return s.Tx.ErasePerson(id, at)
}

func (s *spyTx) InsertCall(c service.CallRow) error {
	s.note("call", c.UUID)
	return s.Tx.InsertCall(c)
}

func (s *spyTx) UpdateCall(c service.CallRow, moved bool) error {
	s.note("call", c.UUID)
	return s.Tx.UpdateCall(c, moved)
}

func (s *spyTx) RewriteCall(c service.CallRow) error {
	s.note("call", c.UUID)
	return s.Tx.RewriteCall(c)
}

func (s *spyTx) InsertPledge(p service.PledgeRow) error {
	s.note("pledge", p.UUID)
	return s.Tx.InsertPledge(p)
}

func (s *spyTx) UpdatePledge(p service.PledgeRow) error {
	s.note("pledge", p.UUID)
	return s.Tx.UpdatePledge(p)
}

func (s *spyTx) RewritePledge(p service.PledgeRow) error {
	s.note("pledge", p.UUID)
	return s.Tx.RewritePledge(p)
}

// TestChangesMissNothing reads the feed all the time while two processes write. Some transactions stay open over
// several pages, some fail, the clocks of the processes differ, and one writer is killed. The consumer sees each change
// once, and nothing that was taken back.
// Promise S87: the feed lists each change once, in order.
func TestChangesMissNothing(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		file := servicetest.NewFile(t)
		testChangesMissNothing(t, file)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		testChangesMissNothing(t, servicetest.PostgresDatabase(t))
	})
}

var errTakenBack = errors.New("taken back")

func testChangesMissNothing(t *testing.T, database string) {
	h := servicetest.NewOn(t, database)
	token := h.Token(follower())
	other, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
	servicetest.Check(t, err)
	defer func() { servicetest.Report(t, other.Close()) }()
	slow, err := service.New(t.Context(), service.Options{
		Store: other,
		Now:   func() time.Time { return h.Clock.Now().Add(-1500 * time.Millisecond) },
	})
	servicetest.Check(t, err)
	after := changes(t, h, token, "").Next

	pages := newTicker()
	var mu sync.Mutex
	want := map[apitype.UUID]bool{}
	var writers sync.WaitGroup
	for n := range 4 {
		random := rand.New(rand.NewPCG(uint64(n), 7))
		rules := h.Service
		if n%2 == 1 {
			rules = slow
		}
		writers.Go(func() {
			for range servicetest.Times(30, 100) {
				id, isKept := apitype.NewUUID(), random.IntN(5) > 0
				held := random.IntN(8) / 5 * random.IntN(3)
				err := rules.Write(t.Context(), service.WriteIsolated, "change", func(tx service.Tx) error {
					at, err := rules.ChangeTime(tx)
					if err != nil {
						return err
					}
					h.Clock.Advance(time.Duration(random.IntN(700)) * time.Millisecond)
					pages.wait(held)
					line := service.AuditLine{At: at, Operation: service.AuditCallComplete, Record: &id}
					if err := tx.Audit(line); err != nil || isKept {
						return err
					}
					return errTakenBack
				})
				if err != nil && !errors.Is(err, errTakenBack) {
					t.Error(err)
				}
				mu.Lock()
				want[id] = isKept && err == nil
				mu.Unlock()
			}
		})
	}
	if strings.HasPrefix(database, "postgres") {
		writers.Go(func() { killedWriter(t, database, pages) })
	}
	written := make(chan struct{})
	go func() {
		writers.Wait()
		close(written)
	}()

	seen := map[apitype.UUID]int{}
	var last apitype.Time
	read := func() (n int) {
		answer := h.Do(token, http.MethodGet, "/fundesk/v1/changes?first=3&after="+after, "")
		defer pages.tick()
		if answer.Status == http.StatusServiceUnavailable {
			return 0
		}
		var page apitype.Changes
		if err := json.Unmarshal(answer.Body, &page); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("got %d %s", answer.Status, answer.Body)
		}
		for _, change := range page.Changes {
			seen[change.UUID]++
			if change.Time.Before(last.Time) {
				t.Errorf("got a change of %s after one of %s", change.Time, last)
			}
			last = change.Time
		}
		after = page.Next
		return len(page.Changes)
	}
	for isWritten := false; !isWritten; {
		select {
		case <-written:
			isWritten = true
		default:
			read()
		}
	}
	h.Clock.Advance(5 * time.Second)
	(&floor{Harness: h, t: t, token: token}).settled(h.In(-3 * time.Second))
	for read() > 0 {
	}
	for id, isKept := range want {
		if got := seen[id]; (got == 1) != isKept || got > 1 {
			t.Errorf("got the change %s %d times, want it once: %t", id, got, isKept)
		}
		delete(seen, id)
	}
	if len(seen) > 0 {
		t.Errorf("got %d changes of no writer", len(seen))
	}
}

// killedWriter gets a time for a change, and loses its connection before the commit.
func killedWriter(t *testing.T, database string, pages *ticker) {
	db, err := pgdriver.Driver{}.Open(database, 0, 0)
	if err != nil {
		t.Error(err)
		return
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	for _, text := range []string{
		`SET application_name = 'fundeskd'`,
		`BEGIN`,
		`SELECT setval('given_times', last_value) FROM given_times`,
		`INSERT INTO audit (done_at, line_uuid, request_id, operation, record_uuid, fields, reason)
			SELECT last_value, gen_random_uuid(), '', 'call.complete', gen_random_uuid(), '', '' FROM given_times`,
	} {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	pages.wait(5)
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // Which closes the connection.
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// ticker lets writers wait for pages of the consumer.
type ticker struct {
	mu   sync.Mutex
	next chan struct{}
}

func newTicker() *ticker { return &ticker{next: make(chan struct{})} }

func (p *ticker) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.next)
	p.next = make(chan struct{})
}

func (p *ticker) wait(pages int) {
	for range pages {
		p.mu.Lock()
		next := p.next
		p.mu.Unlock()
		<-next
	}
}
