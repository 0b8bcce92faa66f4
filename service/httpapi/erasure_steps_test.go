package httpapi_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
	"fundesk/service/servicetest"
)

var errCut = errors.New("the process was killed")

// killedAt returns a hook that kills the process before one of its changes, counted from 0. Other processes go on.
func killedAt(change int) func(point string) error {
	return func(point string) error {
		if point != "before Write" {
			return nil
		}
		change--
		if change < 0 {
			return errCut
		}
		return nil
	}
}

// TestErasureInSteps erases a donor with many calls, and kills the process before each of its steps. From the first
// step on, no agent gets the donor. Until the last step the donor is shown, without the blanked notes, and changes of
// blanked calls are refused. Another process completes the erasure, with calls that came in between.
func TestErasureInSteps(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		for step := 1; ; step++ {
			donor := f.person("null")
			for range 60 {
				f.secretCall(donor)
			}
			recorded := 0
			on := func(store service.Store) *privacy.Service {
				return privacy.New(f.On(store), privacy.RecordFunc(func(service.ErasedPerson) error {
					recorded++
					return nil
				}))
			}
			path := personPath(donor)
			isShown := func() bool { return f.get(path).Status == 200 }
			addCall := func() {
				if isShown() {
					f.secretCall(donor)
				}
			}
			_, err := on(hooked{f.Store, killedAt(step)}).Erase(t.Context(), donor, apitype.EraseRequest{Reason: "r"})
			wasCut := errors.Is(err, errCut)
			if !wasCut {
				servicetest.Check(t, err)
			}
			if taken := f.take(f.users[0], ""); len(taken.Leases) > 0 {
				t.Fatalf("step %d: an agent is given the donor: %v", step, taken.Leases[0].CallUUID)
			}
			if wasCut {
				f.refusesWork(donor)
			}
			if got := isShown(); got != wasCut {
				t.Errorf("step %d: the donor is shown: %t, want %t", step, got, wasCut)
			}
			f.Clock.Advance(time.Minute)
			servicetest.Check(t, on(hooked{f.Store, at("before Write", addCall)}).FinishErasures(t.Context()))
			if isShown() {
				t.Errorf("step %d: the donor is shown in the end", step)
			}
			calls := f.get("/api/v1/calls?first=100")
			if strings.Contains(string(calls.Body), "secret") {
				t.Errorf("step %d: a note of the donor is shown", step)
			}
			lines := 0
			for _, line := range f.linesAbout(donor) {
				if line.Operation == service.AuditPersonErase {
					lines++
				}
			}
			if lines != 1 || recorded != 1 {
				t.Errorf("step %d: got %d lines of the audit and %d records, want one each", step, lines, recorded)
			}
			if !wasCut {
				if step < 3 {
					t.Errorf("the erasure took %d steps, want some: it has many calls", step)
				}
				return
			}
		}
	})
}

// TestNewCallOfAnErasure creates a call of a donor whose erasure has begun. No agent gets it, and the next call of the
// queue is given.
func TestNewCallOfAnErasure(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		donor := f.person("null")
		for range 60 {
			f.secretCall(donor)
		}
		_, err := privacy.New(f.On(hooked{f.Store, killedAt(1)}), nil).Erase(
			t.Context(),
			donor,
			apitype.EraseRequest{Reason: "r"},
		)
		if !errors.Is(err, errCut) {
			t.Fatalf("got %v, want the erasure begun", err)
		}
		f.call(donor, 2*time.Hour, "winback")
		next := f.call(f.person("null"), time.Hour, "winback")
		servicetest.Same(t, "taken", []apitype.UUID{next}, callsOf(f.take(f.users[0], "")))
		servicetest.Same(t, "the list", []apitype.UUID(nil), f.order(""))
	})
}

// TestReplayInSteps repeats an erasure that a database lacks, kills the process before each of its steps, and repeats
// it again. Copies begin again in any case, because the database was put back.
func TestReplayInSteps(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		epoch := func() string {
			return f.get("/api/v1/persons?first=1").Header.Get(apitype.EpochHeader)
		}
		wasCut := true
		for step := 0; wasCut; step++ {
			before := epoch()
			lost := []service.ErasedPerson{{UUID: f.person("null"), ErasedAt: f.Now()}}
			_, err := privacy.New(f.On(hooked{f.Store, killedAt(step)}), nil).ReplayErasures(t.Context(), lost)
			wasCut = errors.Is(err, errCut)
			if !wasCut {
				servicetest.Check(t, err)
			}
			_, err = f.Privacy.ReplayErasures(t.Context(), lost)
			servicetest.Check(t, err)
			if epoch() == before {
				t.Errorf("step %d: the epoch is the same, want another one", step)
			}
		}
	})
}

// refusesWork asks for a lease and a deferral of calls of a donor with a begun erasure, before and after their notes
// are gone.
func (f *floor) refusesWork(donor apitype.UUID) {
	f.t.Helper()
	calls := page(f.t, f.get("/api/v1/calls?first=100&personUuid="+donor.String())).Edges
	for _, edge := range []int{0, len(calls) - 1} {
		path := "/fundesk/v1/queue/calls/" + calls[edge].Node["uuid"].(string)
		lease := leaseFor(f.users[1])
		f.want(404, "PUT", path+"/lease", lease)
		f.want(404, "PUT", path+"/later", fmt.Sprintf(`{"notBefore":%q}`, f.In(time.Hour)))
	}
}

// secretCall adds a call with a note.
func (f *floor) secretCall(person apitype.UUID) {
	f.t.Helper()
	f.created("/api/v1/calls", fmt.Sprintf(`{"personUuid":%q,"requestedAt":%q,"type":"winback","notes":"secret"}`,
		person, f.Now()))
}

// linesAbout returns the lines of the audit about a person.
func (f *floor) linesAbout(person apitype.UUID) []service.AuditLine {
	f.t.Helper()
	var lines []service.AuditLine
	err := f.Privacy.Audit(f.t.Context(), service.AuditFilter{Person: &person}, func(line service.AuditLine) error {
		lines = append(lines, line)
		return nil
	})
	servicetest.Check(f.t, err)
	return lines
}

// TestCleaningBesideAnOldReader cleans while a transaction can still see the donor, though it reads another table:
// PostgreSQL keeps the rows for it. The cleaning names the tables, and they wait for the next one.
func TestCleaningBesideAnOldReader(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	f := postgresFloor(t)
	donor := f.person("null")
	db, err := sql.Open("pgx", f.Database)
	servicetest.Check(t, err)
	defer func() { _ = db.Close() }()
	reader, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	servicetest.Check(t, err)
	var organizations int
	servicetest.Check(t, reader.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM organizations`).Scan(&organizations))
	_, err = f.Privacy.Erase(t.Context(), donor, apitype.EraseRequest{Reason: "r"})
	servicetest.Check(t, err)

	patience, end := context.WithTimeout(t.Context(), 2*time.Second)
	defer end()
	_, _ = f.Privacy.Clean(patience) // It gives up when its time is over.
	waiting, err := f.Store.Unclean(t.Context())
	if err != nil || len(waiting) != 1 {
		t.Errorf("got %v, %v, want that the erasure waits to be cleaned", waiting, err)
	}
	servicetest.Check(t, reader.Rollback())
	_, err = f.Privacy.Clean(t.Context())
	servicetest.Check(t, err)
	waiting, err = f.Store.Unclean(t.Context())
	if err != nil || len(waiting) != 0 {
		t.Errorf("got %v, %v, want everything clean", waiting, err)
	}
}
