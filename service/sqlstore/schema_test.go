package sqlstore

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCopyTables compares what is copied with the schema, so that a migration cannot
// add a table or column that a copy leaves behind.
func TestCopyTables(t *testing.T) {
	t.Parallel()
	store := openFile(t)
	want := map[string][]string{}
	err := store.engine.view(t.Context(), func(c *conn) error {
		return c.each(`SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2`, nil, func(rows *sql.Rows) error {
			var table, column string
			err := rows.Scan(&table, &column)
			want[table] = append(want[table], column)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, table := range copyTables {
		got[table.name] = slices.Sorted(slices.Values(table.columns))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("copied and in the schema: %s", diff)
	}
}

// openFile is a store in a new SQLite file.
func openFile(t *testing.T) *Store {
	t.Helper()
	store, err := Open(t.Context(), Options{Database: "sqlite:" + filepath.Join(t.TempDir(), "a.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}
