package sqlstore_test

import (
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestMaintain keeps every line of the audit when its months get partitions, and drops a partition when it is empty.
// Other engines than PostgreSQL have no partitions.
func TestMaintain(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	store := reopen(t, servicetest.PostgresDatabase(t))
	today := time.Now()
	days := []int{900, 400, 399, 40, 1, 0}
	err := store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		for _, n := range days {
			err := tx.Audit(service.AuditLine{At: apitype.NewTime(today.AddDate(0, 0, -n)), Operation: "test", RequestID: "r"})
			if err != nil {
				return err
			}
		}
		return nil
	})
	servicetest.Check(t, err)
	lines := func() (found []apitype.Time) {
		t.Helper()
		err := store.Read(t.Context(), service.ReadList, func(r service.Reader) error {
			all, err := r.AuditLines(service.AuditFilter{Limit: 1000})
			for _, line := range all {
				if line.Operation == "test" {
					found = append(found, line.At)
				}
			}
			return err
		})
		servicetest.Check(t, err)
		return found
	}
	before := lines()
	done, err := store.Maintain(t.Context(), today)
	servicetest.Check(t, err)
	month := func(days int) string { return today.UTC().AddDate(0, 0, -days).Format("audit_2006_01") }
	for _, table := range []string{month(900), month(400)} {
		if !slices.Contains(done.Made, table) {
			t.Errorf("got %v made, want %s", done.Made, table)
		}
	}
	if !slices.Contains(done.Rebuilt, "calls") || !slices.Contains(done.Rebuilt, month(900)) || len(done.Dropped) > 0 {
		t.Errorf("got %+v, want the indexes of all tables rebuilt", done)
	}
	servicetest.Same(t, "the lines", before, lines())

	err = store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		deleted, err := tx.PruneAudit(apitype.NewTime(today.AddDate(0, 0, -500)), 10)
		if deleted != 1 {
			t.Errorf("got %d deleted, want 1", deleted)
		}
		return err
	})
	servicetest.Check(t, err)
	done, err = store.Maintain(t.Context(), today)
	servicetest.Check(t, err)
	servicetest.Same(t, "dropped", []string{month(900)}, done.Dropped)
	servicetest.Same(t, "made again", []string{}, done.Made)
	servicetest.Same(t, "the lines", before[1:], lines())
}
