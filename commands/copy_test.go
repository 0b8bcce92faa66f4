package commands

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/commands/localcopy"
	"fundesk/service/servicetest"
)

// copyHome returns a service with sample data, and a computer that has no copy yet.
func copyHome(t *testing.T) (*servicetest.Harness, line) {
	t.Helper()
	h := plain(t)
	h.Sample(30)
	return h, lineAt(t, h.URL, h.Token())
}

// copyFile returns the file of the only copy.
func (l line) copyFile(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(l.environment["HOME"], ".local/state/fundesk/copy/*.db"))
	servicetest.Check(t, err)
	if len(files) != 1 {
		t.Fatalf("got the copies %v, want one", files)
	}
	return files[0]
}

// A question is answered in each format, and sees what changed since the last one.
func TestQueryAnswers(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	servicetest.Same(t, "output", "n\r\n30\r\n", l.must(t, "query 'SELECT count(*) AS n FROM persons' -o csv"))
	id := strings.TrimSpace(l.must(t, "person list --limit 1 -q -o id"))
	l.must(t, "person update", id, "--first-name", "Zuzana")
	question := "SELECT firstName, uuid FROM persons WHERE firstName = 'Zuzana'"
	for format, want := range map[string]string{
		"csv":    "firstName,uuid\r\nZuzana," + id + "\r\n",
		"json":   "[\n" + `{"firstName":"Zuzana","uuid":"` + id + `"}` + "\n]\n",
		"ndjson": `{"firstName":"Zuzana","uuid":"` + id + `"}` + "\n",
		"tsv":    "Zuzana\t" + id + "\n",
	} {
		servicetest.Same(t, format, want, l.must(t, "query", question, "-o", format))
	}
	if got := l.must(t, "query", question, "-o", "table"); !strings.Contains(got, "Zuzana") {
		t.Errorf("got the table %q", got)
	}
	l.must(t, "person update", id, "--first-name", "Yara")
	if got := l.must(t, "query", question, "--offline", "-o", "ndjson"); !strings.Contains(got, "Zuzana") {
		t.Errorf("got %q offline, want the copy as it was", got)
	}
	servicetest.Same(
		t,
		"output",
		`{"column1":1,"column2":null,"column3":1.5,"column4":"00ff"}`+"\n"+
			`{"column1":2,"column2":3,"column3":"a","column4":""}`+"\n",
		l.must(t, "query", "VALUES (1, NULL, 1.5, x'00ff'), (2, 3, 'a', '')", "-o", "ndjson"),
	)
	info, err := os.Stat(l.copyFile(t))
	servicetest.Check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("got the mode %o, want 600", info.Mode().Perm())
	}
}

// Amounts are compared, sorted and added up as numbers. Texts would put 7.50 above 100.
func TestAmountsOfTheCopyAreNumbers(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	for table, amount := range map[string]string{"pledges": "donationAmount", "transactions": "amount"} {
		question := func(text string) string { return strings.NewReplacer("$a", amount, "$t", table).Replace(text) }
		l.try(t, "query -o tsv", question("SELECT count(*) > 0 FROM $t")).Ends(0).PrintsOnly("1\n")
		l.try(t, "query -o tsv", question("SELECT count(*) FROM $t WHERE $a > 9999999")).Ends(0).PrintsOnly("0\n")
		l.try(t, "query -o tsv", question(
			"SELECT count(*) FROM $t WHERE $a <> $a_cents / 100.0 OR typeof($a) NOT IN ('integer', 'real')",
		)).Ends(0).PrintsOnly("0\n")
	}
}

// Everything but one SELECT is refused, and the copy and other files stay as they were.
func TestQueryOnlyReads(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	l.must(t, "copy sync -q")
	before, err := os.ReadFile(l.copyFile(t))
	servicetest.Check(t, err)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, query := range []string{
		"", "  ; ", "-- nothing", "DELETE FROM persons", "WITH x AS (SELECT 1) DELETE FROM persons",
		"with x(a) as (select 1) insert into marks select a,a,a,a,a from x",
		"ATTACH '" + other + "' AS o", "SELECT 1; ATTACH '" + other + "' AS o", "SELECT 1; PRAGMA query_only = 0",
		"SELECT ';' /* ; */; DELETE FROM calls",
		"PRAGMA user_version", "EXPLAIN SELECT 1", "VACUUM INTO '" + other + "'", "CREATE TABLE x (a)",
		"REPLACE INTO marks VALUES (1,2,3,4,5)", "BEGIN",
		"SELECT nothing FROM persons", "SELECT * FROM no_table", "SELECT 'open", "SELECT load_extension('x')",
		"SELECT 1 WHERE", "SELECT \x00",
		"SELECT writefile('" + other + "', 'x')", "SELECT ?1", "SELECT @a", "SELECT $a('); DELETE FROM persons; --')",
		"\ufeffDELETE FROM persons", "SELECT [;]; DELETE FROM persons --]", "/*/ SELECT 1; */ DELETE FROM persons --*/",
		"WITH x AS (SELECT 1) UPDATE sqlite_dbpage SET data = zeroblob(4096)", "SELECT * FROM pragma_query_only(0)",
		"WITH x AS (SELECT 1) DELETE FROM persons RETURNING uuid", "SELECT * FROM pragma_optimize",
		"VACUUM", "EXPLAIN QUERY PLAN SELECT 1", "ANALYZE", "REINDEX", "DETACH main", "SAVEPOINT a", "COMMIT",
		"SELECT 1;;SELECT 2", "SELECT 1; nonsense",
		"SELECT Load_Extension('x', 'y')", "SELECT fts3_tokenizer('a', x'00')",
		"SELECT * FROM (DELETE FROM persons RETURNING uuid)",
		"CREATE TEMP TABLE t AS SELECT * FROM persons", "CREATE VIEW v AS SELECT 1", "PRAGMA writable_schema = 1",
		"SELECT 1 INTO x", "SELECT zeroblob(100000000)",
		"INSERT INTO marks SELECT 1,2,3,4,5 RETURNING *", "SELECT readfile('/etc/passwd')", "SELECT edit('x')",
		"ATTACH ':memory:' AS \"main;SELECT 1\"",
	} {
		out, errs, code := l.run(t, "query", query, "--offline")
		if code != 2 || out != "" || len(errs) < 20 {
			t.Errorf("%q: got exit code %d, %q and %q, want 2 with a sentence", query, code, out, errs)
		}
	}
	for _, query := range []string{
		"SELECT ';'", "SELECT 1; -- end", "/* a */ SELECT 1", "WITH x AS (SELECT 1) SELECT * FROM x;",
		"VALUES (1), (2)",
		"SELECT 1 UNION SELECT 2; ; /* end", "SELECT (SELECT max(uuid) FROM calls)",
		"SELECT count(*) FROM json_each('[1,2]')", "SELECT DISTINCT status FROM calls -- ; DELETE",
	} {
		l.must(t, "query", query, "--offline")
	}
	after, err := os.ReadFile(l.copyFile(t))
	servicetest.Check(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the copy changed")
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("another file was made")
	}
}

// Wrong SQL is refused before the service is asked, and a copy that does not exist is named.
func TestQueryAsksNothingForWrongSQL(t *testing.T) {
	t.Parallel()
	l := lineAt(t, nowhere, "t")
	l.try(t, "query 'SELECT a FROM persons'").Ends(2, "no such column: a")
	l.try(t, "query 'SELECT 1' --offline").Ends(1, "fundesk copy sync")
	var report struct{ Error struct{ Kind string } }
	_, errs, _ := l.run(t, "query 'DROP TABLE persons' -o json")
	if json.Unmarshal([]byte(errs), &report) != nil || report.Error.Kind != "usage" {
		t.Errorf("got %s, want one line of kind usage", errs)
	}
}

// Marks of this computer, consents and checks are in the copy. An erasure at the service takes the consents with it.
func TestCopyHasMarksAndDetails(t *testing.T) {
	t.Parallel()
	h, l := copyHome(t)
	l.must(t, "copy sync")
	person := strings.TrimSpace(l.must(t, "person list --limit 1 -q -o id"))
	l.must(
		t,
		"person consent add",
		person,
		"--channel",
		"mail",
		"--basis",
		"consent",
		"--source",
		"web form",
		"--at",
		"2026-11-01",
	)
	l.must(t, "processed mark person", person)
	if got := l.must(t, "query 'SELECT entityName, entityUuid FROM marks' -o tsv"); got != "person\t"+person+"\n" {
		t.Errorf("got the marks %q", got)
	}
	if got := l.must(
		t, "query 'SELECT personUuid, channel, source FROM consents' -o tsv",
	); got != person+"\tmail\tweb form\n" {
		t.Errorf("got the consents %q", got)
	}
	l.must(t, "copy sync --anew")
	servicetest.Same(t, "marks after --anew", "1\n", l.must(t, "query 'SELECT count(*) FROM marks' -o tsv"))
	_, err := h.Privacy.Erase(t.Context(), apitype.MustParseUUID(person), apitype.EraseRequest{Reason: "request 17"})
	servicetest.Check(t, err)
	for _, table := range []string{"persons WHERE uuid", "consents WHERE personUuid"} {
		if got := l.must(t, "query", "SELECT count(*) FROM "+table+" = '"+person+"'", "-o", "tsv"); got != "0\n" {
			t.Errorf("got %q of %s after the service erased the person, want none", got, table)
		}
	}
}

// person erase --local deletes the rows of a person and their bytes.
func TestEraseLocalReachesTheCopy(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	person := strings.TrimSpace(l.must(t, "person list --limit 1 -q -o id"))
	l.must(t, "person update", person, "--last-name", "Quetzalcoatl", "--email", "quetzal@example.org")
	l.must(t, "copy sync")
	path := l.copyFile(t)
	if held := l.must(t, "person export", person, "--local", "-o", "json"); !strings.Contains(held, path) {
		t.Errorf("got %s, want the copy named", held)
	}
	l.must(t, "person erase", person, "--local", "--yes")
	content, err := os.ReadFile(path)
	servicetest.Check(t, err)
	for _, secret := range []string{"Quetzalcoatl", "quetzal@example.org", person} {
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("the file still has %s", secret)
		}
	}
	if held := l.must(t, "person export", person, "--local", "-o", "json"); strings.Contains(held, path) {
		t.Errorf("got %s after the erasure", held)
	}
}

// The file goes with the login, with the last profile, and by copy remove.
func TestCopyEnds(t *testing.T) {
	t.Parallel()
	h, _ := copyHome(t)
	token := h.Token()
	fresh := func(profiles ...string) line {
		l := line{environment: map[string]string{"HOME": t.TempDir()}}
		for _, name := range profiles {
			l.stdin = token
			l.must(t, "auth login --profile", name, "--base-url", h.URL, "--with-token", "--insecure-storage")
			l.stdin = ""
			l.must(t, "copy sync --profile", name)
		}
		return l
	}
	isThere := func(l line) bool {
		files, _ := filepath.Glob(filepath.Join(l.environment["HOME"], ".local/state/fundesk/copy/*"))
		return len(files) > 0
	}
	l := fresh("one")
	l.must(t, "auth logout --profile one")
	if isThere(l) {
		t.Error("the copy outlives the logout")
	}
	l = fresh("one", "two")
	l.must(t, "profile remove one --yes")
	if !isThere(l) {
		t.Error("the copy is gone, and another profile of the account uses it")
	}
	l.must(t, "profile remove two --yes")
	if isThere(l) {
		t.Error("the copy outlives the last profile")
	}
	l = fresh("one")
	l.must(t, "copy remove --yes --profile one")
	if isThere(l) {
		t.Error("the copy outlives copy remove")
	}
	l.must(t, "copy remove --yes --profile one")
}

// A service has one copy and one position of a pull, however its address is spelled, and a logout ends the copy.
func TestAnAddressIsOneServiceHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	h, _ := copyHome(t)
	home := t.TempDir()
	l := line{environment: map[string]string{"HOME": home}, stdin: h.Token()}
	l.must(t, "auth login --profile one --with-token --insecure-storage --base-url", strings.ToUpper(h.URL)+"//")
	l.stdin = ""
	pulled, _, _ := l.run(t, "pull call --profile one")
	if pulled == "" {
		t.Fatal("the first pull printed nothing")
	}
	config := filepath.Join(home, ".config/fundesk/config.toml")
	text, err := os.ReadFile(config)
	servicetest.Check(t, err)
	writeFile(t, config, strings.ReplaceAll(string(text), h.URL, h.URL+"/")) // By hand.
	for _, spelled := range []string{h.URL, h.URL + "/", strings.ToUpper(h.URL)} {
		l.must(t, "copy sync --profile one --base-url", spelled)
		if pulled, _, _ := l.run(t, "pull call --profile one --base-url", spelled); pulled != "" {
			t.Errorf("%s: got %.99s again", spelled, pulled)
		}
	}
	files, err := filepath.Glob(filepath.Join(home, ".local/state/fundesk/copy/*.db"))
	if err != nil || len(files) != 1 {
		t.Errorf("got %v, %v, want one copy", files, err)
	}
	l.must(t, "auth logout --profile one")
	if files, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/copy/*")); len(files) > 0 {
		t.Errorf("got %v after the logout, want nothing", files)
	}
	l.stdin = h.Token()
	l.must(t, "auth login --profile one --with-token --insecure-storage --base-url", h.URL)
}

// A copy of another epoch ends with 8, and --anew begins again.
func TestCopyOfAnotherEpoch(t *testing.T) {
	t.Parallel()
	h, l := copyHome(t)
	l.must(t, "copy sync")
	servicetest.Check(t, h.Service.ChangeEpoch(t.Context()))
	for _, args := range []string{"copy sync", "query 'SELECT 1'"} {
		l.try(t, args).Ends(8, "fundesk copy sync --anew")
	}
	l.must(t, "copy sync --anew")
	servicetest.Same(t, "persons", "30\n", l.must(t, "query 'SELECT count(*) FROM persons' -o tsv"))
}

// The copy has no social security numbers.
func TestCopyWithoutSocialSecurityNumbers(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	person := strings.TrimSpace(l.must(t, "person list --limit 1 -q -o id"))
	l.must(t, "person update", person, "--social-security-number", "829417365")
	l.must(t, "copy sync")
	content, err := os.ReadFile(l.copyFile(t))
	servicetest.Check(t, err)
	if bytes.Contains(content, []byte("829417365")) {
		t.Error("the file has the number")
	}
	l.try(t, "query 'SELECT socialSecurityNumber FROM persons'").Ends(2)
	if help := l.must(t, "query --help"); !strings.Contains(help, "socialSecurityNumber is left out") {
		t.Errorf("the help does not say so: %s", help)
	}
}

// Marks of the outbox are in the copy once the service accepted them, also while a sync has the copy.
func TestMarksOfTheOutboxReachTheCopy(t *testing.T) {
	t.Parallel()
	h, l := copyHome(t)
	var isDown atomic.Bool
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if isDown.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		h.Handler.ServeHTTP(w, r)
	})
	l.environment["FUNDESK_BASE_URL"] = address
	l.must(t, "copy sync")
	persons := strings.Fields(l.must(t, "person list --limit 3 -q -o id"))
	marks := func() string { return l.must(t, "query 'SELECT entityUuid FROM marks' --offline -o tsv") }
	l.must(t, "processed mark person", persons[0], "--outbox")
	if got := marks(); got != persons[0]+"\n" {
		t.Errorf("got the marks %q", got)
	}

	isDown.Store(true)
	l.try(t, "processed mark person", persons[1], "--outbox").MustEnd(10)
	if got := marks(); strings.Contains(got, persons[1]) {
		t.Errorf("got the marks %q before the service has them", got)
	}
	isDown.Store(false)
	l.must(t, "outbox send")
	if got := marks(); !strings.Contains(got, persons[1]) {
		t.Errorf("got the marks %q after outbox send", got)
	}

	syncing, err := localcopy.Open(t.Context(), l.copyFile(t))
	servicetest.Check(t, err)
	l.must(t, "processed mark person", persons[2])
	servicetest.Check(t, syncing.Close())
	if got := marks(); !strings.Contains(got, persons[2]) {
		t.Errorf("got the marks %q after a mark beside a sync", got)
	}
}

// A mark of the outbox that the service refuses keeps no other mark of its request out of the copy.
func TestMarksRefusedInPartReachTheCopy(t *testing.T) {
	t.Parallel()
	for _, allOrNothing := range []bool{false, true} {
		h, l := copyHome(t)
		address := serving(t, h.As(servicetest.Personality{AllOrNothing: allOrNothing}).ServeHTTP)
		l.environment["FUNDESK_BASE_URL"] = address
		l.must(t, "copy sync")
		person := strings.TrimSpace(l.must(t, "person list --limit 1 -q -o id"))
		l.try(t, "processed mark person", person, testID, "--outbox", "--yes").Ends(7)
		if got := l.must(t, "query 'SELECT entityUuid FROM marks' --offline -o tsv"); got != person+"\n" {
			t.Errorf("all or nothing %t: got the marks %q, want the one that was not refused", allOrNothing, got)
		}
	}
}

// The status of a copy says whether it is there, how old it is and what it has.
func TestCopyStatus(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	type status struct {
		File, SyncedAt string
		Bytes, Persons int
	}
	read := func() (s status) {
		t.Helper()
		servicetest.Check(t, json.Unmarshal([]byte(l.must(t, "copy status -o json")), &s))
		return s
	}
	none := read()
	if none.SyncedAt != "" || none.Bytes != 0 || !strings.HasSuffix(none.File, ".db") {
		t.Errorf("got %+v before the first sync, want its file alone", none)
	}
	if text := l.must(t, "copy status"); !strings.Contains(text, "never") {
		t.Errorf("got %q, want never", text)
	}
	l.must(t, "copy sync")
	got := read()
	if got.File != l.copyFile(t) || got.SyncedAt == "" || got.Bytes == 0 || got.Persons != 30 {
		t.Errorf("got %+v, want 30 persons and a time", got)
	}
}

// A question whose answer cannot be written names the reason once.
func TestQueryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	var stderr bytes.Buffer
	code := Run(t.Context(), []string{"query", "VALUES (1)"},
		hasty(appOf(l.environment, strings.NewReader(""), fullDisk{}, &stderr)))
	if got, want := stderr.String(), "fundesk: query: no space left on device\n"; code != 1 || got != want {
		t.Errorf("got exit code %d and %q, want 1 and %q", code, got, want)
	}
}

// A folder that cannot be made is named with the variable for another one, and no damage.
func TestFolderOfTheCopyThatCannotBeMade(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	file := filepath.Join(l.environment["HOME"], ".local") // It stands in the way of the folder.
	writeFile(t, file, "")
	_, errs, code := l.run(t, "copy sync")
	const want = "hint: FUNDESK_STATE_DIR names another folder for it"
	if code != 1 || !strings.Contains(errs, want) {
		t.Errorf("got exit code %d and %s, want 1 and %q", code, errs, want)
	}
}

// A first sync ends with 8 if the service is restored between two of its feeds, and so does a question: the copy has
// records of both states.
func TestCopyOfTwoEpochs(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"copy sync", "query 'SELECT count(*) FROM persons'"} {
		h, l := copyHome(t)
		restore := sync.OnceFunc(func() { servicetest.Check(t, h.Service.ChangeEpoch(t.Context())) })
		address := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/v1/persons" {
				restore()
			}
			h.Handler.ServeHTTP(w, r)
		})
		l.environment["FUNDESK_BASE_URL"] = address
		l.try(t, args).Ends(8, "fundesk copy sync --anew")
		l.must(t, "copy sync --anew")
	}
}
