package httpapi_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/servicetest"
)

// old loads a person of some months ago, with an equally old pledge of a status, or none if it is empty, and a call of
// a status, or none.
func (w *world) old(
	organization apitype.UUID,
	months int,
	pledge apitype.PledgeStatus,
	call apitype.CallStatus,
) (person, called apitype.UUID) {
	at := apitype.NewTime(servicetest.Start.AddDate(0, -months, 0))
	donor := servicetest.NewPerson(organization, at)
	donor.LastName = new("Jansen")
	all := []any{donor}
	if pledge != "" {
		old := servicetest.NewPledge(donor.UUID, organization, at)
		old.Status = pledge
		all = append(all, old)
	}
	old := servicetest.NewCall(donor.UUID, at)
	if call != "" {
		old.Status, old.Notes = call, new("not in")
		all = append(all, old)
	}
	w.LoadAll(all...)
	return donor.UUID, old.UUID
}

// TestRetention blanks the old records of one organization, and of no other. It leaves persons with a waiting call.
// Promise S61: no person with a requested call is erased.
// Promise K2: the retention of calls takes their notes.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.Organization("Old")
	if _, err := w.Privacy.SetRetention(t.Context(), o, func(r *service.Retention) {
		r.Calls, r.Leads, r.Persons = new(24), new(12), new(84)
	}); err != nil {
		t.Fatal(err)
	}
	goes := map[apitype.UUID]bool{}
	person := func(gone bool, months int, pledge apitype.PledgeStatus, call apitype.CallStatus) (called apitype.UUID) {
		id, called := w.old(o, months, pledge, call)
		goes[id] = gone
		return called
	}
	person(true, 13, "", "")
	person(true, 13, "", apitype.CallCompleted)
	person(false, 13, "", apitype.CallRequested)
	person(false, 11, "", "")
	person(true, 85, apitype.PledgeCancelled, "")
	person(false, 85, apitype.PledgeActive, "")
	person(false, 85, apitype.PledgeLead, "")
	person(false, 83, apitype.PledgeFulfilled, "")
	person(false, 85, apitype.PledgeDropped, apitype.CallRequested)
	blanked := person(false, 25, apitype.PledgeActive, apitype.CallExpired)
	kept := []apitype.UUID{
		person(false, 23, apitype.PledgeActive, apitype.CallExpired),
		person(false, 25, apitype.PledgeActive, apitype.CallRequested),
	}
	other, _ := w.old(w.b.organization, 200, "", "")
	goes[other] = false

	noted := 0
	noting := privacy.New(w.Service, privacy.RecordFunc(func(service.ErasedPerson) error { noted++; return nil }))
	run := func(dry bool) privacy.Retired {
		t.Helper()
		done, _, err := noting.RunRetention(t.Context(), privacy.RetentionRun{Dry: dry, Sure: true})
		if err != nil || len(done) != 1 {
			t.Fatalf("got %v, %v, want one organization", done, err)
		}
		return done[0]
	}
	want := privacy.Retired{Organization: o, Calls: 1, Leads: 2, Persons: 1}
	if diff := cmp.Diff(want, run(true)); diff != "" || noted != 0 {
		t.Errorf("a dry run: %s, %d persons noted", diff, noted)
	}
	w.Clock.Advance(time.Second)
	since := w.Now()
	if diff := cmp.Diff(want, run(false)); diff != "" || noted != 3 {
		t.Errorf("a run: %s, %d persons noted", diff, noted)
	}
	for id, gone := range goes {
		if got := w.get(personPath(id)).Status; (got == 404) != gone {
			t.Errorf("person: got %d, want that it is gone: %t", got, gone)
		}
	}
	got := w.get(callPath(blanked)).Object()
	if got["notes"] != nil || got["status"] != "expired" || got["person"] == nil {
		t.Errorf("got %v, want the call without notes", got)
	}
	for _, id := range kept {
		if got := w.get(callPath(id)).Object(); got["notes"] != "not in" {
			t.Errorf("got %v, want the call as it was", got)
		}
	}
	lines := withoutBlanked(w.lines(t, service.AuditFilter{Since: &since}))
	if len(lines) != 4 || lines[0].Operation != service.AuditRetentionRun || lines[0].Records == nil ||
		*lines[0].Records != 1 || lines[1].Person == nil {
		t.Errorf("got %v, want a line for the calls and one for each person", brief(lines))
	}
	servicetest.Same(t, "again", privacy.Retired{Organization: o}, run(false))
}

// TestRetentionOfACallIsAChange blanks a call: a copy that goes by times of changes learns of it. But nothing happened
// with the donor, who is erased no later for it, and who has not objected anew.
func TestRetentionOfACallIsAChange(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.setEffects()
		donor := f.person("null")
		f.act(f.call(donor, time.Hour, "happy_call"), "complete", `{"result":{"resultCode":"died","notes":"N"}}`)
		_, err := f.Privacy.SetRetention(
			t.Context(),
			f.organization,
			func(r *service.Retention) { r.Calls, r.Leads = new(6), new(24) },
		)
		servicetest.Check(t, err)
		const month = 31 * 24 * time.Hour
		ran := func(months int, want privacy.Retired) (changed int) {
			t.Helper()
			f.Clock.Advance(time.Duration(months) * month)
			before := f.In(-time.Second)
			done, _, err := f.Privacy.RunRetention(t.Context(), privacy.RetentionRun{Sure: true})
			servicetest.Check(t, err)
			want.Organization = f.organization
			servicetest.Same(t, "the run", []privacy.Retired{want}, done)
			return len(f.listed(f.token, "/api/v1/calls?updatedAfter="+before.String()))
		}
		servicetest.Same(t, "calls changed by the first run", 1, ran(7, privacy.Retired{Calls: 1}))
		servicetest.Same(t, "calls changed by the second run", 0, ran(1, privacy.Retired{}))
		servicetest.Same(t, "a consent after the call", 201, f.addConsent(donor, "email consent", -24))
		servicetest.Same(t, "the opt-in", true, f.get(personPath(donor)).Object()["optInEmail"] == true)
		ran(17, privacy.Retired{Leads: 1})
	})
}

// TestRetentionAtTheEndOfAMonth runs on a day that the month of the period does not have. What is of the first days
// after that month is not old enough yet.
func TestRetentionAtTheEndOfAMonth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Clock.Set(time.Date(2027, 3, 31, 9, 0, 0, 0, time.UTC))
	_, err := w.Privacy.SetRetention(t.Context(), w.a.organization, func(r *service.Retention) { r.Calls = new(1) })
	servicetest.Check(t, err)
	calls := map[string]bool{
		"2027-02-27":               true,
		"2027-02-28T08:59:59.999Z": true,
		"2027-02-28T09:00:00Z":     false,
		"2027-03-01":               false,
		"2027-03-02":               false,
	}
	blanked := 0
	for at, old := range calls {
		updated, err := apitype.ParseTime(at)
		servicetest.Check(t, err)
		call := servicetest.NewCall(w.a.person, updated)
		call.Status, call.Notes = apitype.CallExpired, new("not in")
		w.LoadAll(call)
		if old {
			blanked++
		}
	}
	done, _, err := w.Privacy.RunRetention(t.Context(), privacy.RetentionRun{Sure: true})
	if err != nil || done[0].Calls != blanked {
		t.Errorf("got %v, %v, want %d calls", done, err, blanked)
	}
}

// TestRetentionKeepsTheKindOfACall takes notes and metadata from an external call that has ended. It stays external for
// every client, and is found by its reference. Only an erasure removes that.
func TestRetentionKeepsTheKindOfACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Privacy.SetRetention(t.Context(), w.a.organization, func(r *service.Retention) { r.Calls = new(24) })
	servicetest.Check(t, err)
	call := w.create("/api/v1/calls", w.externalCallBody(w.a, `,"status":"completed","notes":"not in"`)).String()
	w.Clock.Advance(25 * 31 * 24 * time.Hour)
	for _, want := range []int{1, 0} {
		done, _, err := w.Privacy.RunRetention(t.Context(), privacy.RetentionRun{Sure: true})
		if err != nil || done[0].Calls != want {
			t.Errorf("got %v, %v, want %d calls", done, err, want)
		}
	}
	byReference := func(application, reference string) int {
		return len(page(
			t,
			w.get("/api/v1/calls?externalApplicationName="+application+"&externalReferenceId="+reference),
		).Edges)
	}
	got := w.get("/api/v1/calls/" + call).Object()
	want := map[string]any{
		"applicationName":      "dialler",
		"referenceId":          "7",
		"agentReferenceId":     nil,
		"statusCode":           nil,
		"statusDescription":    nil,
		"additionalProperties": map[string]any{},
	}
	servicetest.Same(t, "the metadata", want, got["externalMetadata"].(map[string]any))
	found, managed := byReference("dialler", "7"), byReference("null", "null")
	if got["notes"] != nil || found != 1 || managed != 2 {
		t.Errorf("got notes %v, %d calls by the reference and %d without one, want none, 1 and 2",
			got["notes"], found, managed)
	}
	if _, err := w.Privacy.Erase(t.Context(), w.a.person, apitype.EraseRequest{Reason: "r"}); err != nil ||
		byReference("dialler", "7") != 0 {
		t.Errorf("got %v, or the call by its reference after an erasure", err)
	}
}

// TestRetentionIsDatedAsItErases lets a run of the retention take minutes: each person is erased at the time of
// their own erasure, and so are their calls. A program that keeps a copy, and reads while the run goes on,
// would miss what is dated before that.
func TestRetentionIsDatedAsItErases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.Organization("Old")
	_, err := w.Privacy.SetRetention(t.Context(), o, func(r *service.Retention) { r.Leads = new(12) })
	servicetest.Check(t, err)
	for range 3 {
		w.old(o, 13, "", apitype.CallCompleted)
	}
	var read apitype.Time
	slow := privacy.New(w.Service, privacy.RecordFunc(func(erased service.ErasedPerson) error {
		if now := w.Now(); !erased.ErasedAt.Equal(now) {
			t.Errorf("got an erasure of %s, want %s", erased.ErasedAt, now)
		}
		read = w.In(-time.Millisecond)
		w.Clock.Advance(time.Minute)
		return nil
	}))
	_, _, err = slow.RunRetention(t.Context(), privacy.RetentionRun{Sure: true})
	servicetest.Check(t, err)
	if got := page(t, w.get("/api/v1/calls?updatedAfter="+read.String())).Edges; len(got) != 1 {
		t.Errorf("got %d calls changed by the last erasure, want 1", len(got))
	}
	if lines := withoutBlanked(w.lines(t, service.AuditFilter{Since: &read})); len(lines) != 1 {
		t.Errorf("got %v, want the line of the last erasure", brief(lines))
	}
}

// TestEraseOverHTTP exports and erases by an account with the permission. Other accounts do not see the extension.
// Promise S64: who may not erase is not told of it.
// Promise K1: an erasure takes the person's name, address and contacts.
func TestEraseOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	may := w.Token(servicetest.For(w.a.organization), servicetest.May(service.PersonsErase, service.PersonsRead))
	person := "/fundesk/v1/persons/" + w.a.person.String()
	for _, test := range []struct {
		token, method, path, body string
		want                      int
	}{
		{may, "GET", "/fundesk/v1/persons/" + w.b.person.String() + "/export", "", 404},
		{may, "POST", "/fundesk/v1/persons/" + w.b.person.String() + "/erase", `{"reason":"r"}`, 404},
		{may, "POST", person + "/erase", `{}`, 400},
		{may, "POST", person + "/erase", `{"reason":" "}`, 400},
		{may, "POST", person + "/erase", `{"reason":"r","dryRun":true}`, 200},
		{may, "GET", person + "/export", "", 200},
		{may, "POST", person + "/erase", `{"reason":"r"}`, 200},
		{may, "GET", person + "/export", "", 404},
		{w.all, "GET", personPath(w.a.person), "", 404},
	} {
		w.Want(test.want, test.token, test.method, test.path, test.body)
	}
	for token, want := range map[string]string{w.all: httpapi.Announced, may: httpapi.Announced + ", erase"} {
		for _, path := range []string{"/fundesk/v1", "/api/v1/calls"} {
			servicetest.Same(t, path+": announced", want, w.Do(token, "GET", path, "").Header.Get("Fundesk-Extensions"))
		}
	}
	lines := w.lines(t, service.AuditFilter{Person: &w.a.person})
	last := lines[len(lines)-1]
	if last.Operation != service.AuditPersonErase || last.Account == nil || last.Reason != "r" {
		t.Errorf("got %+v, want the erasure by the account", last)
	}
	if got := w.get("/api/v1/persons?first=10"); len(page(t, got).Edges) != 1 {
		t.Errorf("got %s, want the other person alone", got.Body)
	}
}

// An export shows which objections of the person keep numbers from being called, and none of another person's.
func TestExportShowsObjections(t *testing.T) {
	const mobile, home = "+31612345678", "+31201234567"
	onEngines(t, func(t *testing.T, f *floor) {
		person := f.donorWith(f.organization, fmt.Sprintf(`,"mobilePhoneNumber":%q,"phoneNumber":%q`, mobile, home))
		other := f.donor(mobile)
		f.want(201, "POST", consentsPath(person), fmt.Sprintf(
			`{"channel":"phone","basis":"withdrawn","at":%q,"userUuid":%q}`, f.In(0), f.users[0]))
		blocked := func(id apitype.UUID) []any {
			t.Helper()
			numbers, _ := f.Do(f.officer(), "GET", officePath(id)+"/export", "").Object()["blockedNumbers"].([]any)
			return numbers
		}
		numbers := blocked(person)
		if len(numbers) != 2 || len(blocked(other)) > 0 {
			t.Fatalf("got %v and %v, want two numbers of the objector alone", numbers, blocked(other))
		}
		first := numbers[0].(map[string]any)
		servicetest.Same(t, "the organization", any(f.organization.String()), first["organizationUuid"])
		servicetest.Same(t, "the user", any(f.users[0].String()), first["userUuid"])
		if first["since"] == nil {
			t.Errorf("got %v, want a time", first)
		}
	})
}

// TestErasureWaitsForNoCleaning erases while the files cannot be cleaned: the answer names what holds the
// bytes, is the same one until the files were cleaned, and they wait for that after a failure, too.
func TestErasureWaitsForNoCleaning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inUse, cleaned := true, 0
	w.Service = w.On(hooked{w.Store, func(point string) error {
		switch {
		case point == "before Scrub" && inUse:
			return errors.New("the log is in use")
		case point == "after Scrub":
			cleaned++
		}
		return nil
	}})
	w.Serve(w.Service)
	p := privacy.New(w.Service, nil)
	may := w.Token(servicetest.For(w.a.organization), servicetest.May(service.PersonsErase, service.PersonsRead))
	other := w.Token(servicetest.For(w.b.organization), servicetest.May(service.PersonsErase))
	erase := func(token string, want int) string {
		t.Helper()
		got := w.Do(token, "POST", "/fundesk/v1/persons/"+w.a.person.String()+"/erase", `{"reason":"r"}`)
		if got.Status != want {
			t.Errorf("got %d %s, want %d", got.Status, got.Body, want)
		}
		return string(got.Body)
	}
	waits := func(want ...string) {
		t.Helper()
		waiting, err := w.Store.Unclean(t.Context())
		if err != nil || !slices.Equal(slices.Collect(maps.Keys(waiting)), want) {
			t.Errorf("got %v, %v, want that %v waits to be cleaned", waiting, err, want)
		}
	}
	first := erase(may, 200)
	if !strings.Contains(first, `"rewritten":[]`) || strings.Contains(first, `"later":[]`) {
		t.Errorf("got %s, want what still holds the bytes", first)
	}
	erase(other, 404)
	w.Clock.Advance(time.Hour)
	if again := erase(may, 200); again != first {
		t.Errorf("got %s, want %s as the first time", again, first)
	}
	if _, err := p.Clean(t.Context()); err == nil {
		t.Error("the files were not cleaned, and nobody is told")
	}
	waits(w.a.person.String())
	inUse = false
	clean := func() error { _, err := p.Clean(t.Context()); return err }
	if err := errors.Join(clean(), clean()); err != nil || cleaned != 1 {
		t.Errorf("got %v, cleaned %d times, want once", err, cleaned)
	}
	waits()
	erase(may, 404)
	done, err := p.Erase(t.Context(), w.a.person, apitype.EraseRequest{Reason: "r"})
	if err != nil || !done.Repeated || len(done.Scrubbed.Later) > 0 {
		t.Errorf("got %+v, %v, want that nothing holds the bytes any more", done, err)
	}

	inUse = true
	o := w.Organization("Old")
	w.old(o, 13, "", "")
	if _, err := p.SetRetention(t.Context(), o, func(r *service.Retention) { r.Leads = new(12) }); err != nil {
		t.Fatal(err)
	}
	run := func() error {
		_, _, err := p.RunRetention(t.Context(), privacy.RetentionRun{})
		return err
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "the periods are applied, but ") {
		t.Errorf("got %v, want that the periods are applied, and the files were not cleaned", err)
	}
	waits("retention")
	inUse = false
	if err := errors.Join(run(), run()); err != nil || cleaned != 2 {
		t.Errorf("got %v, cleaned %d times, want once more", err, cleaned)
	}
	waits()
}

// TestErasureThatCannotBeNoted erases no person while the file of the erasures cannot be written, as on a full disk,
// and asks the caller to come again.
func TestErasureThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full := privacy.RecordFunc(func(service.ErasedPerson) error { return errors.New("no space left on device") })
	erasing := privacy.New(w.Service, full)
	w.Handler = httpapi.New(httpapi.Options{Service: w.Service, Now: w.Clock.Now, Privacy: erasing})
	may := w.Token(servicetest.May(service.PersonsErase))
	answer := w.Do(may, "POST", "/fundesk/v1/persons/"+w.a.person.String()+"/erase", `{"reason":"r"}`)
	if answer.Status != 503 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %s, want 503", answer.Status, answer.Body)
	}
	w.Want(200, w.all, "GET", personPath(w.a.person), "")
}

// TestCleaningGivesWay erases and cleans during a long read, like that of pg_dump. No request waits for it, and
// afterwards the files are cleaned.
func TestCleaningGivesWay(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	f := postgresFloor(t)
	db, err := sql.Open("pgx", f.Database)
	servicetest.Check(t, err)
	defer func() { _ = db.Close() }()
	dump, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	servicetest.Check(t, err)
	for _, table := range []string{"persons", "calls"} {
		if _, err := dump.ExecContext(t.Context(), `SELECT COUNT(*) FROM `+table); err != nil {
			t.Fatal(err)
		}
	}
	erased := f.person("null")
	f.call(f.person("null"), time.Hour, "winback")
	done, err := f.Privacy.Erase(t.Context(), erased, apitype.EraseRequest{Reason: "r"}) // Before the reader ends.
	if err != nil || done.Scrubbed == nil || len(done.Scrubbed.Later) == 0 {
		t.Fatalf("got %+v, %v, want the erasure, and the tables that still hold it", done.Scrubbed, err)
	}
	cleaning, enough := context.WithTimeout(t.Context(), 3*time.Second)
	defer enough()
	cleaned := make(chan service.Scrubbed, 1)
	go func() {
		done, err := f.Privacy.Clean(cleaning)
		if err != nil && cleaning.Err() == nil {
			t.Error(err)
		}
		cleaned <- done
	}()
	slowest := time.Duration(0)
	for cleaning.Err() == nil {
		begun := time.Now()
		f.person("null")
		f.take(apitype.NewUUID(), "")
		slowest = max(slowest, time.Since(begun))
	}
	<-cleaned
	if slowest > 3*time.Second { // Each of the two may wait for one lock of a second.
		t.Errorf("a creation and a take waited for %s beside the cleaning", slowest)
	}
	if waiting, err := f.Store.Unclean(t.Context()); err != nil || len(waiting) != 1 {
		t.Errorf("got %v, %v, want that the erasure still waits to be cleaned", waiting, err)
	}
	servicetest.Check(t, dump.Rollback())
	all, err := f.Privacy.Clean(t.Context())
	waiting, unclean := f.Store.Unclean(t.Context())
	if err != nil || unclean != nil || len(waiting) > 0 || len(all.Rewritten) < 7 {
		t.Errorf("got %+v, %v, still waiting %v, want every table written anew", all, err, waiting)
	}
	if again, err := f.Privacy.Clean(t.Context()); err != nil || len(again.Rewritten) > 0 {
		t.Errorf("got %+v, %v with nothing to clean", again, err)
	}
}

// TestRetentionDoubts runs the retention with a wrong clock, and with many persons to erase. It erases nothing before
// the operator confirms.
// Promise S61: a doubtful run of the retention erases nothing.
func TestRetentionDoubts(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, testRetentionDoubts)
}

func testRetentionDoubts(t *testing.T, f *floor) {
	organization := f.Organization("Old")
	leads := func(n int, created time.Time) {
		t.Helper()
		var all []any
		for range n {
			all = append(all, servicetest.NewPerson(organization, apitype.NewTime(created)))
		}
		f.LoadAll(all...)
	}
	if _, err := f.Privacy.SetRetention(t.Context(), organization, func(r *service.Retention) {
		r.Leads = new(12)
	}); err != nil {
		t.Fatal(err)
	}
	erased := 0
	noting := privacy.New(f.Service, privacy.RecordFunc(func(service.ErasedPerson) error {
		erased++
		return nil
	}))
	run := func(o privacy.RetentionRun) (doubt string) {
		t.Helper()
		done, _, err := noting.RunRetention(t.Context(), o)
		switch {
		case errors.Is(err, privacy.ErrDoubt):
			return err.Error()
		case err != nil || len(done) != 1:
			t.Fatalf("got %v, %v", done, err)
		}
		return ""
	}
	wants := func(o privacy.RetentionRun, persons int, doubt string) {
		t.Helper()
		erased = 0
		if got := run(o); erased != persons || !strings.Contains(got, doubt) || (got == "") != (doubt == "") {
			t.Errorf("got %d erased, %q; want %d erased, %q", erased, got, persons, doubt)
		}
	}
	now, old := servicetest.Start, servicetest.Start.AddDate(-2, 0, 0)
	leads(900, now)
	leads(49, old)
	wants(privacy.RetentionRun{}, 49, "")
	leads(50, old)
	wants(privacy.RetentionRun{}, 0, "would erase 50 of ")
	wants(privacy.RetentionRun{Sure: true}, 50, "")

	f.Clock.Advance(24 * time.Hour)
	wants(privacy.RetentionRun{}, 0, "")
	f.Clock.Advance(24*time.Hour + time.Minute)
	wants(privacy.RetentionRun{}, 0, "the newest change is of")
	f.person("null") // A change at this time is a sign that the clock is right.
	wants(privacy.RetentionRun{}, 0, "")
	f.Clock.Advance(10 * 365 * 24 * time.Hour)
	wants(privacy.RetentionRun{}, 0, "correct the clock")
}

// TestErasureDuringCleaning erases persons by their age while a cleaning runs: the next cleaning is for them.
func TestErasureDuringCleaning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.Organization("Old")
	_, err := w.Privacy.SetRetention(t.Context(), o, func(r *service.Retention) { r.Leads = new(12) })
	servicetest.Check(t, err)
	errUncleaned := errors.New("not cleaned")
	on := func(hook func(string) error) *privacy.Service { return privacy.New(w.On(hooked{w.Store, hook}), nil) }
	erase := func() {
		w.old(o, 13, "", "")
		w.Clock.Advance(time.Second)
		all, _, err := on(failAt("before Unclean", errUncleaned)).RunRetention(t.Context(),
			privacy.RetentionRun{Sure: true})
		if !errors.Is(err, errUncleaned) || all[0].Leads != 1 {
			t.Errorf("got %v, %v, want one person, and no cleaning", all, err)
		}
	}
	erase()
	for _, want := range []int{1, 0} {
		during := func() {}
		if want > 0 {
			during = erase
		}
		_, err := on(at("after Scrub", during)).Clean(t.Context())
		servicetest.Check(t, err)
		if left, err := w.Store.Unclean(t.Context()); len(left) != want || err != nil {
			t.Errorf("got %v, %v left to be cleaned, want %d", left, err, want)
		}
	}
}

// withoutBlanked returns lines without blanked calls and pledges.
func withoutBlanked(lines []service.AuditLine) []service.AuditLine {
	return slices.DeleteFunc(lines, func(l service.AuditLine) bool {
		return l.Operation == service.AuditCallBlank || l.Operation == service.AuditPledgeBlank
	})
}
