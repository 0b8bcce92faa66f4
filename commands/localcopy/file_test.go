package localcopy

import (
	"errors"
	"path/filepath"
	"testing"

	"fundesk/service/servicetest"
)

// A question that begins while another program empties the copy gets no short answer.
func TestQueryOfACopyThatIsEmptied(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	c, err := Open(t.Context(), path)
	servicetest.Check(t, err)
	_, err = c.db.ExecContext(t.Context(), "INSERT INTO _synced VALUES ('2026-11-30T09:00:00.000Z')")
	servicetest.Check(t, err)
	servicetest.Check(t, c.Close())
	servicetest.Check(t, ready(t.Context(), path))

	other, err := Open(t.Context(), path)
	servicetest.Check(t, err)
	servicetest.Check(t, other.Reset(t.Context()))
	servicetest.Check(t, other.Close())

	begin := func([]string) error { return nil }
	row := func([]any) error { return nil }
	err = answer(t.Context(), path, "SELECT count(*) FROM persons", begin, row)
	if !errors.Is(err, ErrNeverSynced) {
		t.Errorf("got %v, want that the copy is not complete", err)
	}
}
