package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// TestScrub erases donors with rows that moved from page to page as others came in between and grew. SQLite overwrites
// a row's last place, but not that before its page was divided.
// Promise S62: no byte of what is erased stays in the files.
func TestScrub(t *testing.T) {
	t.Parallel()
	const secret, rows = "Geheimnis", 600
	store := openFile(t)
	path := store.engine.(*sqliteEngine).path
	random := rand.New(rand.NewPCG(1, 3))
	nobody := service.Scope{All: true}
	update := func(change func(tx service.Tx) error) {
		t.Helper()
		if err := store.Write(t.Context(), service.WriteIsolated, change); err != nil {
			t.Fatal(err)
		}
	}
	var donors []apitype.UUID
	doc := func(secretly bool) []byte {
		word := "abcdefgh"
		if secretly {
			word = secret
		}
		return fmt.Appendf(nil, `{"a":%q}`, bytes.Repeat([]byte(word+" "), 1+random.IntN(120)))
	}
	for i := range rows {
		var id apitype.UUID
		for k := range id {
			id[k] = byte(random.UintN(256))
		}
		secretly := i%3 == 0
		row := service.PersonRow{
			UUID:      id,
			Owner:     apitype.NewUUID(),
			CreatedAt: apitype.NewTime(time.Now()),
			Rev:       1,
			Doc:       doc(secretly),
		}
		if secretly {
			donors = append(donors, id)
			row.IBAN = new(fmt.Sprintf("NL%08x%s%d", random.Uint32(), secret, i))
		} else {
			row.IBAN = new(fmt.Sprintf("NL%08xabcdefghi%d", random.Uint32(), i))
		}
		update(func(tx service.Tx) error { return tx.InsertPerson(row, nil) })
		if i%5 == 0 { // A donor grows or shrinks.
			one := donors[random.IntN(len(donors))]
			update(func(tx service.Tx) error {
				row, err := tx.Person(one, nobody)
				if err != nil {
					return err
				}
				row.Doc = doc(true)
				return tx.UpdatePerson(row)
			})
		}
	}
	holding := func() (n int) {
		for _, name := range []string{path, path + "-wal"} {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(content, []byte(secret))
		}
		return n
	}
	for _, id := range donors {
		update(func(tx service.Tx) error { return tx.ErasePerson(id, apitype.NewTime(time.Now())) })
	}
	engine := store.engine.(*sqliteEngine)
	if err := engine.emptyLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if holding() == 0 {
		t.Error("nothing was left to clean: the test does not divide pages")
	}
	if done, err := store.Scrub(t.Context()); err != nil || len(done.Rewritten) == 0 || len(done.Later) > 0 {
		t.Errorf("got %+v, %v, want that the file was written anew", done, err)
	}
	if n := holding(); n > 0 {
		t.Errorf("got %d places with erased values", n)
	}
	if found, err := engine.integrity(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("got %v, %v, want a sound file", found, err)
	}
}

// TestLogThatIsRead scrubs while another program reads an older state. It warns, as erased values may still be in the
// log, and succeeds when that program has ended its read.
func TestLogThatIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes more than two seconds")
	}
	t.Parallel()
	store := openFile(t)
	path := store.engine.(*sqliteEngine).path
	other, err := sql.Open("sqlite", sqliteName(path, "mode=ro"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	reading, err := other.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reading.Rollback() }()
	var n int
	if err := reading.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM persons`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	row := service.PersonRow{
		UUID:      apitype.NewUUID(),
		Owner:     apitype.NewUUID(),
		CreatedAt: apitype.NewTime(time.Now()),
		Rev:       1,
		Doc:       []byte(`{}`),
	}
	if err := store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		return tx.InsertPerson(row, nil)
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := store.engine.(*sqliteEngine).emptyLog(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want no more tries after an interruption", err)
	}
	_, err = store.Scrub(t.Context())
	refused, ok := errors.AsType[*service.Error](err)
	if !ok ||
		refused.Kind != service.Unavailable ||
		!strings.Contains(refused.Detail, "in use by a program that reads") {
		t.Errorf("got %v, want that the log is in use", err)
	}
	if err := reading.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() > 0 {
		t.Errorf("got a log of %d bytes, %v, want none", log.Size(), err)
	}
}
