package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// secret is in every value of the erased donor, and in no other record.
const secret = "Geheimnis"

// filesOf returns the files in which a database keeps what it keeps, but for PostgreSQL's WAL.
func (e environment) filesOf(t *testing.T) []string {
	t.Helper()
	if e.database == "" {
		database := filepath.Join(e.folder, "fundeskd.db")
		return []string{database, database + "-wal", database + "-shm"}
	}
	server, err := pgx.ParseConfig(e.database)
	servicetest.Check(t, err)
	connection, err := pgx.ConnectConfig(t.Context(), server)
	servicetest.Check(t, err)
	var folder string
	err = connection.QueryRow(t.Context(),
		`SELECT oid::TEXT FROM pg_database WHERE datname = current_database()`).Scan(&folder)
	servicetest.Check(t, errors.Join(err, connection.Close(t.Context())))
	var files []string
	err = filepath.WalkDir(filepath.Join(server.Host, "data", "base",
		folder), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, name)
		}
		return nil // Files go while they are looked for.
	})
	servicetest.Check(t, err)
	return files
}

// atServer runs a statement at the PostgreSQL server of the environment, if it has one.
func (e environment) atServer(t *testing.T, text string) {
	t.Helper()
	if e.database == "" {
		return
	}
	server, err := pgx.Connect(t.Context(), e.database)
	servicetest.Check(t, err)
	_, err = server.Exec(t.Context(), text)
	servicetest.Check(t, errors.Join(err, server.Close(t.Context())))
}

// holding returns the files that hold a secret, and where. PostgreSQL keeps in memory what it will write.
func (e environment) holding(t *testing.T, secret string) []string {
	t.Helper()
	e.atServer(t, `CHECKPOINT`)
	var found []string
	for _, name := range e.filesOf(t) {
		content, err := os.ReadFile(name)
		if err != nil {
			continue // The same.
		}
		if at := bytes.Index(content, []byte(secret)); at >= 0 {
			found = append(found,
				fmt.Sprintf("%s at %d: %q", filepath.Base(name), at, content[max(0, at-40):min(len(content), at+40)]))
		}
	}
	return found
}

// onEngines runs a test on SQLite and on PostgreSQL.
func onEngines(t *testing.T, test func(t *testing.T, e environment)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newFileEnvironment(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		e := newFileEnvironment(t)
		e.database = servicetest.EmptyDatabase(t)
		test(t, e)
	})
}

// donor has a waiting call, a completed one, a pledge and a transaction.
type donor struct {
	person, waiting, completed, pledge string
}

// charity is a service with an account.
type charity struct {
	e            environment
	t            *testing.T
	url, token   string
	organization string
}

func newCharity(t *testing.T, e environment) *charity {
	t.Helper()
	c := &charity{e: e, t: t}
	var made struct{ UUID, Token string }
	e.must(&made, "organization add --name 'Sea Rescue' --abbreviation SR")
	c.organization = made.UUID
	e.must(&made, "account add a --all-organizations --external-source crm")
	c.token = made.Token
	program := e.child() // A process of its own, which has the files open.
	t.Cleanup(func() {
		_ = program.command.Process.Kill()
		_ = program.command.Wait()
	})
	c.url = program.url
	return c
}

// ask sends a request, and is the answer.
func (c *charity) ask(method, path, body string) (int, map[string]any) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	servicetest.Check(c.t, err)
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(request)
	servicetest.Check(c.t, err)
	defer got.Body.Close()
	var answer map[string]any
	_ = json.NewDecoder(got.Body).Decode(&answer) // Some have none.
	return got.StatusCode, answer
}

// must is the identifier in the answer to a change that is made.
func (c *charity) must(method, path, body string) string {
	c.t.Helper()
	status, answer := c.ask(method, path, body)
	if status >= 300 {
		c.t.Fatalf("%s %s: got %d %v", method, path, status, answer)
	}
	id, _ := answer["uuid"].(string)
	return id
}

// donor makes a donor with a text in all values. Other records come in between and after, so that pages are split
// between them.
func (c *charity) donor(text string) donor {
	c.t.Helper()
	long := strings.Repeat(text+" rang at noon, and was not in; ", 450)
	var d donor
	d.person = c.must("POST", "/api/v1/persons", fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q,
		"name":{"firstName":"%[2]s","lastName":"%[2]s"},"academicTitle":"%[2]s","email":"%[2]s@example.org","iban":"NL91ABNA0417164300",
		"address":{"street":"%[2]s","houseNumber":"1","zipCode":"%[2]s","city":"%[2]s","country":"NL"},"mandate":{"id":"%[2]s"},"language":"nl"}`, c.organization, text))
	c.others(30)
	d.pledge = c.must("POST", "/api/v1/pledges", fmt.Sprintf(`{"personUuid":%[1]q,"createdAt":"2026-11-20","owningOrganizationUuid":%[2]q,"recruitingOrganizationUuid":%[2]q,
		"initialDonationInterval":"monthly","initialDonationAmount":12.5,"recruiterUserUuid":%[2]q,"startsAt":"2026-12-01","externalMetadata":{"%[3]s":"%[3]s"}}`, d.person, c.organization, text))
	d.waiting = c.must(
		"POST",
		"/api/v1/calls",
		fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20","externalMetadata":{"applicationName":"a","referenceId":%q,"statusCode":"S"},"notes":%q}`, d.person, text, long),
	)
	d.completed = c.must(
		"POST",
		"/api/v1/calls",
		fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-19","type":"winback","notes":%q}`,
			d.person, d.pledge, long),
	)
	c.must(
		"PUT",
		"/api/v1/calls/"+d.completed+"/actions/complete",
		fmt.Sprintf(`{"result":{"completedAt":"2026-11-19","resultCode":"1","donorRetentionRating":7,"notes":%q}}`,
			long),
	)
	for i := range 5 { // Each makes a copy of the document, that lies elsewhere.
		c.must("PUT", "/api/v1/persons/"+d.person+"/actions/update",
			fmt.Sprintf(`{"name":{"initials":"%s%s"}}`, text, strings.Repeat("x", 150*i)))
		c.others(20)
	}
	c.e.reading(fmt.Sprintf(`{"kind":"transaction","data":{"uuid":"7b1c0a52-3d7e-4b5e-9d51-1f0a6c7e2d10",`+
		`"pledgeUuid":%q,"personUuid":%q,"amount":12.5,`+
		`"name":%[3]q,"iban":"NL91ABNA0417164300","description":%[3]q,"method":"sepa","status":"paid",`+
		`"createdAt":"2026-11-20","updatedAt":"2026-11-20"}}`,
		d.pledge, d.person, text)).try("load -").Prints("1 transaction")
	// Last in its page: what is left of it lies under no record that moves when the page is cleared up.
	c.must("PUT", "/api/v1/persons/"+d.person+"/actions/update",
		fmt.Sprintf(`{"name":{"initials":"%s"}}`, strings.Repeat(text, 30)))
	return d
}

// others makes persons with values of many lengths.
func (c *charity) others(n int) {
	c.t.Helper()
	for i := range n {
		c.must("POST", "/api/v1/persons", fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q,"name":{"lastName":%[2]q},"mandate":{"id":%[2]q}}`,
			c.organization, strings.Repeat("abc ", 1+i*7%40)))
	}
}

// TestErasedBytes erases a donor while the database is served. No byte of the donor is left in its files or answers, no
// record of the donor can be changed, and the queue gives none of the calls.
// Promise S60: what an erasure takes from a call is gone.
// Promise K2: an erasure takes the external metadata of calls.
// Promise K3: an erasure takes the external metadata of pledges.
// Promise K4: an erasure takes from transactions who paid, from which account.
// Promise K8: cleaning empties the log of SQLite.
func TestErasedBytes(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		c := newCharity(t, e)
		d := c.donor(secret)
		e.atServer(t, `ANALYZE`) // As it does by itself, sooner or later: what it finds is kept, too.
		if len(e.holding(t, secret)) == 0 {
			t.Fatal("the donor is in no file: the test finds nothing")
		}
		var lease struct {
			Leases []struct{ LeaseUUID, CallUUID string }
		}
		_, taken := c.ask("POST", "/fundesk/v1/queue/take",
			`{"requestUuid":"5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b11","userUuid":"5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b12"}`)
		text, _ := json.Marshal(taken)
		_ = json.Unmarshal(text, &lease)
		if len(lease.Leases) != 1 {
			t.Fatalf("got %s, want the donor's call", text)
		}
		var counted, erased struct {
			Calls, Pledges, Transactions, Leases, Waiting int
			Repeated                                      bool
		}
		e.must(&counted, "person erase", d.person, "--reason", "request 17", "--dry-run")
		if c.must("GET", "/api/v1/persons/"+d.person, "") == "" {
			t.Error("a dry run erased the person")
		}
		e.try(
			"person erase", d.person, "--reason", "request 17", "--dry-run",
		).Prints(": 2 calls, 1 pledge, 1 transaction, ")
		e.try("person erase", d.person, "--reason", "request 17").Ends(exitUsage, "--yes")
		e.must(&erased, "person erase", d.person, "--reason", "request 17", "--yes")
		if counted != erased || erased.Calls != 2 || erased.Pledges != 1 || erased.Transactions != 1 ||
			erased.Leases != 1 || erased.Waiting != 1 {
			t.Errorf("got %+v, after a dry run that counted %+v", erased, counted)
		}
		var cleaned service.Scrubbed
		for range 10 { // A transaction that sees the rows, such as one of autovacuum, leaves a table to the next run.
			cleaned = service.Scrubbed{}
			if e.must(&cleaned, "clean"); len(cleaned.Later) == 0 {
				break
			}
		}
		if len(cleaned.Later) > 0 {
			t.Errorf("got %+v, want everything cleaned", cleaned)
		}
		if found := e.holding(t, secret); len(found) > 0 {
			t.Errorf("left in %s", strings.Join(found, "\nand in "))
		}
		c.checkErased(d, lease.Leases[0].LeaseUUID)
		c.checkRetention()
		e.must(&erased, "person erase", d.person, "--reason", "request 17", "--yes")
		var problems struct{ OK bool }
		if e.must(&problems, "check"); !erased.Repeated || !problems.OK {
			t.Errorf("again: got %+v, a sound database: %t", erased, problems.OK)
		}
	})
}

// checkRetention takes the notes of a call back that ended long ago: no byte of them is left in the
// files, while the donor stays.
func (c *charity) checkRetention() {
	c.t.Helper()
	const notes = "Altertum"
	person := c.must("POST", "/api/v1/persons",
		fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
	call, later := "7b1c0a52-3d7e-4b5e-9d51-1f0a6c7e2d11", "7b1c0a52-3d7e-4b5e-9d51-1f0a6c7e2d12"
	load := func(call string) {
		code, _, errs := c.e.reading(fmt.Sprintf(`{"kind":"call","data":{"uuid":%q,"personUuid":%q,`+
			`"status":"completed","type":"winback","requestedAt":"2020-11-20","completedAt":"2020-11-21",`+
			`"lastUpdatedAt":"2020-11-21","notes":%q}}`,
			call, person, strings.Repeat(notes+" was not in ", 40))).run("load -")
		if code != exitDone || len(c.e.holding(c.t, notes)) == 0 {
			c.t.Fatalf("the notes are in no file: got code %d, %s", code, errs)
		}
	}
	load(call)
	var set struct{}
	c.e.must(&set, "retention set --organization", c.organization, "--calls", "24mo")
	var done []struct{ Calls int }
	if c.e.must(&done, "retention run"); len(done) != 1 || done[0].Calls != 1 {
		c.t.Errorf("got %+v, want that one call lost its notes", done)
	}
	if found := c.e.holding(c.t, notes); len(found) > 0 {
		c.t.Errorf("retention left notes in %s", strings.Join(found, "\nand in "))
	}
	if _, got := c.ask("GET", "/api/v1/calls/"+call, ""); got["notes"] != nil || got["personUuid"] != person {
		c.t.Errorf("got %v, want the call without notes", got)
	}
	for range 2 { // Without anything to take back, and with something.
		c.e.try("retention run").Ends(exitDone).SaysOnly("")
		load(later)
		later = "7b1c0a52-3d7e-4b5e-9d51-1f0a6c7e2d13"
	}
}

// checkErased looks what is left of a donor.
func (c *charity) checkErased(d donor, lease string) {
	c.t.Helper()
	again := fmt.Sprintf(`{"notBefore":%q}`, time.Now().AddDate(0, 0, 7).UTC().Format(time.RFC3339))
	for _, test := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/v1/persons/" + d.person, "", 404},
		{"PUT", "/api/v1/persons/" + d.person + "/actions/update", `{"name":{"lastName":"A"}}`, 404},
		{
			method: "POST",
			path:   "/api/v1/persons",
			body: fmt.Sprintf(`{"uuid":%[1]q,"owningOrganizationUuid":%[2]q,"recruitingOrganizationUuid":%[2]q}`,
				d.person, c.organization),
			want: 409,
		},
		{
			method: "POST",
			path:   "/api/v1/calls",
			body:   fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, d.person),
			want:   400,
		},
		{"PUT", "/api/v1/calls/" + d.waiting + "/actions/add-attempt", "", 404},
		{"PUT", "/api/v1/calls/" + d.waiting + "/actions/complete", `{"result":{"notes":"A"}}`, 404},
		{"PUT", "/api/v1/pledges/" + d.pledge + "/actions/update", `{"donationAmount":1}`, 404},
		{"PUT", "/fundesk/v1/queue/calls/" + d.waiting + "/later", again, 404},
		{"POST", "/fundesk/v1/queue/leases/" + lease + "/extend", `{"leaseSeconds":60}`, 404},
		{"POST", "/fundesk/v1/queue/leases/" + lease + "/release", again, 204},
	} {
		if got, answer := c.ask(test.method, test.path, test.body); got != test.want {
			c.t.Errorf("%s %s: got %d %v, want %d", test.method, test.path, got, answer, test.want)
		}
	}
	_, answer := c.ask("PUT", "/api/v1/calls/"+d.waiting+"/actions/complete", `{}`)
	if !strings.Contains(answer["detail"].(string), "was erased") {
		c.t.Errorf("got %v, want that it says so", answer)
	}
	c.e.reading(
		fmt.Sprintf(`{"kind":"person","data":{"uuid":%[1]q,"personUuid":%[1]q,"createdAt":"2026-11-20",`+
			`"owningOrganizationUuid":%[2]q,"recruitingOrganizationUuid":%[2]q}}`, d.person, c.organization),
	).try("load -").Ends(exitFailure, "already exists")
	_, call := c.ask("GET", "/api/v1/calls/"+d.completed, "")
	result, _ := call["result"].(map[string]any)
	if call["person"] != nil || call["notes"] != nil || result["notes"] != nil || result["resultCode"] != "1" ||
		call["personUuid"] != d.person || call["status"] != "completed" {
		c.t.Errorf("got %v, want the call without the donor and with its codes and links", call)
	}
	transactions, _ := call["transactions"].([]any)
	if len(transactions) != 1 ||
		transactions[0].(map[string]any)["amount"] != 12.5 ||
		transactions[0].(map[string]any)["name"] != nil {
		c.t.Errorf("got %v, want the amount of a transaction without a name", transactions)
	}
	_, taken := c.ask("POST", "/fundesk/v1/queue/take",
		`{"requestUuid":"5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b21","userUuid":"5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b12"}`)
	if leases, _ := taken["leases"].([]any); len(leases) != 0 {
		c.t.Errorf("the queue gave %v", leases)
	}
	var lines []struct{ Operation, Reason string }
	c.e.must(&lines, "audit list --person", d.person)
	if last := lines[len(lines)-1]; last.Operation != "person.erase" || last.Reason != "request 17" {
		c.t.Errorf("got the last line %+v, want the erasure with its reason", last)
	}
}

// TestErasuresReplay restores a backup of before an erasure: the donor is back, and is erased again.
// Promise K9: the file of erasures has the uuid and time of each, nothing else.
func TestErasuresReplay(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	c := newCharity(t, e)
	d := c.donor(secret)
	backup := filepath.Join(t.TempDir(), "backup.db")
	e.done("backup", backup)
	later := c.must("POST", "/api/v1/persons",
		fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
	for _, person := range []string{d.person, later} {
		e.done("person erase", person, "--reason", "r", "--yes")
	}
	log := filepath.Join(e.folder, "fundeskd.db.erasures")
	noted, err := os.ReadFile(log)
	if err != nil || bytes.Count(noted, []byte("\n")) != 2 || bytes.Contains(noted, []byte(secret)) {
		t.Errorf("got %s, %v, want two persons and nothing of them", noted, err)
	}
	restored := newFileEnvironment(t)
	write(t, filepath.Join(restored.folder, "fundeskd.db"), readFile(t, backup))
	restored.try("erasures replay").Ends(exitFailure, ".erasures does not exist", "--none-expected")
	restored.try("erasures replay --none-expected").Ends(exitDone)
	garbled := filepath.Join(t.TempDir(), "garbled")
	write(t, garbled, "{\n")
	for _, name := range []string{log + "x", garbled, t.TempDir()} {
		restored.try("erasures replay --from", name).Ends(exitFailure, name)
	}
	for _, want := range []int{2, 0} {
		var done struct{ Noted, Replayed int }
		if restored.must(&done, "erasures replay --from", log); done.Noted != 2 || done.Replayed != want {
			t.Errorf("got %+v, want two, and %d that were erased again", done, want)
		}
	}
	if found := restored.holding(t, secret); len(found) > 0 {
		t.Errorf("left in %v", found)
	}
	var export struct {
		Person   any
		ErasedAt string
	}
	restored.must(&export, "person export", later)
	if export.Person != nil || export.ErasedAt == "" {
		t.Errorf("got %+v of a person who was made after the backup, want that they are erased", export)
	}
}

// TestPersonExport prints all that is kept of a person, as one object and line by line.
func TestPersonExport(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		c := newCharity(t, e)
		d := c.donor("Jansen")
		c.must(
			"POST",
			"/api/v1/entity-access/actions/mark-processed",
			fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20","externalSourceName":"crm"}]}`, d.completed),
		)
		anneke, bram := apitype.NewUUID().String(), apitype.NewUUID().String()
		e.done("user add Anneke --uuid", anneke)
		e.done("user add Bram --uuid", bram)
		c.must("POST", "/fundesk/v1/queue/take",
			fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q}`, apitype.NewUUID(), anneke))
		var export struct {
			Person                                   map[string]any
			Users                                    []map[string]string
			Calls, Pledges, Transactions, Signatures []any
			Marks, Audit                             []map[string]any
			Queue                                    map[string]any
		}
		e.must(&export, "person export", d.person)
		private, _ := export.Person["notAnswered"].(map[string]any)
		if export.Person["lastName"] != "Jansen" || private["mandateId"] != "Jansen" || len(export.Calls) != 2 ||
			len(export.Pledges) != 1 ||
			len(export.Transactions) != 1 || len(export.Marks) != 1 || export.Marks[0]["externalSourceName"] != "crm" {
			t.Errorf("got %+v, want all of the donor", export)
		}
		if len(export.Users) != 1 || export.Users[0]["uuid"] != anneke || export.Users[0]["name"] != "Anneke" {
			t.Errorf("got the users %v, want the one who held a call", export.Users)
		}
		n := len(export.Audit)
		if n < 10 ||
			export.Audit[0]["operation"] != "person.create" ||
			export.Audit[n-1]["operation"] != "person.export" {
			t.Errorf("got %d lines of audit, want those of the donor until the export", n)
		}
		_, lines, errs := e.run("person export", d.person, "-o", "ndjson")
		if n := strings.Count(lines, "\n"); n != 1+2+1+1+1+1+len(export.Audit)+3 ||
			!strings.HasPrefix(lines, `{"kind":"person","data":{`) {
			t.Errorf("got %d lines: %s%s", n, lines, errs)
		}
		e.try("person export", c.organization).Ends(exitFailure, "no person "+c.organization)
	})
}
