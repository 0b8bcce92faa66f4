package sqlstore

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/service"
)

// TestCopyTables compares what is copied with the schema, so that a migration cannot
// add a table or column that a copy leaves behind.
func TestCopyTables(t *testing.T) {
	t.Parallel()
	store := openFile(t)
	want := map[string][]string{}
	err := store.engine.read(t.Context(), service.ReadSnapshot, func(c *conn) error {
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
	got := map[string][]string{"given_times": {"at"}} // A load gives the highest time of the dump.
	for _, table := range copyTables() {
		got[table.name] = slices.Sorted(slices.Values(table.columns))
	}
	delete(want, "search_persons") // What a load fills from the persons.
	delete(want, "search_terms")
	delete(want, "queue_counts") // Triggers fill it.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("copied and in the schema: %s", diff)
	}
}

// openFile returns a store in a new SQLite file.
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

// A schema that this program cannot serve is refused: a later one unless it allows this program, and an older one that
// must not be changed.
func TestPendingMigrations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		version, servedBy int // From the version of this program.
		noServedBy        bool
		refuse            bool
		pending, refused  bool
	}{
		{version: 0},
		{version: 0, refuse: true},
		{version: -1, pending: true},
		{version: -1, refuse: true, refused: true},
		{version: 1, noServedBy: true, refused: true},
		{version: 1, servedBy: 1, refused: true},
		{version: 1, servedBy: 0},
		{version: 2, servedBy: -1},
	} {
		o := Options{NoMigrate: test.refuse, next: make([]string, 2)}
		s := schema{
			version:  len(o.texts()) + test.version,
			servedBy: len(o.texts()) + test.servedBy,
			first:    firstSchema(),
		}
		if test.noServedBy {
			s.servedBy = 0
		}
		if pending, err := s.pending(o); pending != test.pending || (err != nil) != test.refused {
			t.Errorf("%+v: got %t, %v", test, pending, err)
		}
	}
}

// A file takes the place of another one, or its own if there is none. A missing one is named.
func TestFilesTakeTheirPlace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", filepath.Base(name), got, err, want)
		}
	}
	for _, put := range []func(from, to string) error{replace, publish} {
		if err := put(from, to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of no file: got %v", err)
		}
	}
	if err := absent(to); err != nil {
		t.Errorf("got %v where nothing is", err)
	}
	write(from, "a")
	if err := publish(from, to); err != nil {
		t.Error(err)
	}
	holds(to, "a")
	write(from, "b")
	for _, err := range []error{publish(from, to), absent(to)} {
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v where a file is, want that it is there", err)
		}
	}
	holds(to, "a")
	if err := replace(from, to); err != nil {
		t.Error(err)
	}
	holds(to, "b")
	if _, err := os.Stat(from); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the file under its new name alone", err)
	}
}
