package httpapi_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestRetentionDoubts runs the retention with a clock that is wrong, and where it would erase many
// persons: it erases nothing before the operator is sure, and every run has a number of its own.
// Promise S61: a doubtful run of the retention erases nothing.
func TestRetentionDoubts(t *testing.T) { onEngines(t, testRetentionDoubts) }

func testRetentionDoubts(t *testing.T, f *floor) {
	organization := f.Organization("Old")
	leads := func(n int, created time.Time) {
		t.Helper()
		var records []service.LoadRecord
		for range n {
			id := apitype.NewUUID()
			records = append(records, service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
				Person:                 apitype.Person{UUID: id, PersonUUID: id, CreatedAt: apitype.NewTime(created)},
				OwningOrganizationUUID: organization, RecruitingOrganizationUUID: organization,
			}})
		}
		f.Load(records...)
	}
	if _, err := f.Service.SetRetention(t.Context(), organization, func(r *service.Retention) { r.Leads = new(12) }); err != nil {
		t.Fatal(err)
	}
	erased := 0
	run := func(o service.RetentionRun) (number int, doubt string) {
		t.Helper()
		o.Record = func(e service.ErasedPerson) error {
			if e.Run == 0 {
				t.Error("the erasure has no number of a run")
			}
			erased++
			return nil
		}
		done, _, err := f.Service.RunRetention(t.Context(), o)
		switch {
		case errors.Is(err, service.ErrDoubt):
			return 0, err.Error()
		case err != nil || len(done) != 1:
			t.Fatalf("got %v, %v", done, err)
		}
		return done[0].Run, ""
	}
	wants := func(o service.RetentionRun, number, persons int, doubt string) {
		t.Helper()
		erased = 0
		if got, told := run(o); got != number || erased != persons || !strings.Contains(told, doubt) || (told == "") != (doubt == "") {
			t.Errorf("got run %d, %d erased, %q; want run %d, %d erased, %q", got, erased, told, number, persons, doubt)
		}
	}
	now, old := servicetest.Start, servicetest.Start.AddDate(-2, 0, 0)
	leads(900, now)
	leads(49, old)
	wants(service.RetentionRun{}, 1, 49, "")
	leads(50, old)
	wants(service.RetentionRun{}, 0, 0, "would erase 50 of ")
	wants(service.RetentionRun{Sure: true}, 2, 50, "")

	f.Clock.Advance(24 * time.Hour)
	wants(service.RetentionRun{}, 3, 0, "")
	f.Clock.Advance(24*time.Hour + time.Minute)
	wants(service.RetentionRun{}, 0, 0, "the newest change is of")
	f.person("null") // A change at this time is a sign that the clock is right.
	wants(service.RetentionRun{After: 8}, 9, 0, "")
	f.Clock.Advance(10 * 365 * 24 * time.Hour)
	wants(service.RetentionRun{}, 0, 0, "correct the clock")
}
