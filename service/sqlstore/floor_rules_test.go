package sqlstore_test

import (
	"os"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// A database of an earlier program gets the ends of its pledges, as a change of each would save them.
func TestEndsOfEarlierPledges(t *testing.T) { each(t, testEndsOfEarlierPledges) }

func testEndsOfEarlierPledges(t *testing.T, database string) {
	store := reopen(t, database)
	copied(t, filled(t, 60), store)
	want := dump(t, store)
	if !strings.Contains(want, `"ended_at":1`) {
		t.Fatal("no pledge of the sample has ended")
	}
	migration, err := os.ReadFile("migrations/0006_floor_rules.sql")
	servicetest.Check(t, err)
	engine := "--sqlite "
	if strings.HasPrefix(database, "postgres") {
		engine = "--postgres "
	}
	servicetest.Check(t, store.Execute(t.Context(), `UPDATE pledges SET ended_at = NULL`))
	done := 0
	for line := range strings.Lines(string(migration)) {
		if text, isOfEngine := strings.CutPrefix(line, engine); isOfEngine {
			servicetest.Check(t, store.Execute(t.Context(), strings.TrimSuffix(strings.TrimSpace(text), ";")))
			done++
		}
	}
	if got := dump(t, store); done != 1 || got != want {
		t.Errorf("after %d statements the ends of pledges are others", done)
	}
}
