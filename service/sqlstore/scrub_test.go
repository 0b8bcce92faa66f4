package sqlstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// TestScrub erases donors whose rows have moved from page to page as others came in between and grew:
// SQLite overwrites where a row was last, and not where it was before its page was divided.
func TestScrub(t *testing.T) {
	t.Parallel()
	const secret, rows = "Geheimnis", 600
	store := openFile(t)
	path := store.engine.(*sqliteEngine).path
	random := rand.New(rand.NewPCG(1, 2))
	nobody := service.Scope{All: true}
	update := func(change func(tx service.Tx) error) {
		t.Helper()
		if err := store.Update(t.Context(), change); err != nil {
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
		row := service.PersonRow{UUID: id, Owner: apitype.NewUUID(), CreatedAt: apitype.NewTime(time.Now()), Rev: 1, Doc: doc(secretly)}
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
	var traces [][]byte
	for _, id := range donors {
		update(func(tx service.Tx) error {
			row, err := tx.Person(id, nobody)
			if err != nil {
				return err
			}
			traces = append(traces, row.Doc, []byte(*row.IBAN))
			return tx.ErasePerson(id, apitype.NewTime(time.Now()))
		})
	}
	engine := store.engine.(*sqliteEngine)
	if err := engine.emptyLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if holding() == 0 {
		t.Error("nothing was left to clean: the test does not divide pages")
	}
	if done, err := store.Scrub(t.Context(), traces, false); err != nil || len(done.Rewritten) > 0 {
		t.Errorf("got %+v, %v, want that pages were cleaned", done, err)
	}
	if n := holding(); n > 0 {
		t.Errorf("got %d places with erased values", n)
	}
	if found, err := engine.integrity(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("got %v, %v, want a sound file", found, err)
	}
}
