package bulk_test

import (
	"os"
	"path/filepath"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

const testID = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"

// The remains of a killed import, after any crash, are read again or refused as a whole. Later lines are read too, and
// no earlier one is lost.
func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"line":1,"uuid":"` + testID + `","sum":"00000000000000aa","state":"done","ok":true}` + "\n{"))
	f.Add([]byte(`{"line":-1,"uuid":""}`))
	f.Add([]byte(`{"line":1,"uuid":"` + testID + `","sum":"00000000000000aa","state":"planned"}` + "\n" +
		`{"line":1,"uuid":"`))
	f.Add([]byte(`{"line":1,"uuid":"00000000-0000-0000-0000-000000000000","sum":"00000000000000aa"}`))
	f.Add([]byte(`{"li`))
	f.Add([]byte("a donor's letter\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "results")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := bulk.ReadResults(path, "")
		if err != nil {
			return // It is reported, and not written to.
		}
		for sum, r := range before.Rows {
			if r.Line < 1 || !r.Started() {
				t.Errorf("%q: got %+v for %v", text, r, sum)
			}
		}
		results, err := bulk.OpenResults(path, before.Size)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		const added = 1 << 30
		row := bulk.Sum{7}
		for _, state := range []string{bulk.StatePlanned, bulk.StateDone} {
			result := bulk.Result{Line: added, UUID: testID, Sum: row, State: state, OK: new(state == bulk.StateDone)}
			if err := results.Write(result); err != nil {
				t.Fatal(err)
			}
		}
		if err := results.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := bulk.ReadResults(path, "")
		if err != nil || !after.Rows[row].Done {
			t.Errorf("%q: got %+v, %v, want the result that was added", text, after.Rows[row], err)
		}
		for sum, r := range before.Rows {
			if got := after.Rows[sum]; sum != row && got != r {
				t.Errorf("%q: got %+v, want %+v to stay", text, got, r)
			}
		}
	})
}

// A record that two lists name is changed once.
func TestDistinct(t *testing.T) {
	t.Parallel()
	a, b := apitype.NewUUID(), apitype.NewUUID()
	if got := bulk.Distinct([]apitype.UUID{a, b, a, a, b}); len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("got %v, want each once in its order", got)
	}
}
