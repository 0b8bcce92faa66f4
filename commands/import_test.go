package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/service/servicetest"
)

// importing is one import that is run again and again.
type importing struct {
	*testing.T
	service *servicetest.Harness
	token   string
	owner   apitype.UUID
	home    string
	file    string
	results string
	random  *rand.Rand
	url     string // The address of the service in all runs.
	sent    func() // Called after each creation.
}

// newImporting writes a file of that many persons.
func newImporting(t *testing.T, format string, total int) *importing {
	t.Helper()
	h := plain(t)
	dir := t.TempDir()
	i := &importing{
		T: t, service: h, token: h.Token(), owner: h.Organization("AID"), home: dir,
		file: filepath.Join(dir, "persons."+format), results: filepath.Join(dir, "results.ndjson"),
		random: rand.New(rand.NewPCG(uint64(total), 4)),
	}
	i.sent = func() {}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		i.service.Handler.ServeHTTP(w, r)
		if r.Method == http.MethodPost {
			i.sent()
		}
	})
	i.url = address
	var text strings.Builder
	if format == "csv" {
		text.WriteString("owningOrganizationUuid,recruitingOrganizationUuid,name.lastName,name.firstName\n")
	}
	for n := range total {
		line := `{"owningOrganizationUuid":"%[1]s","recruitingOrganizationUuid":"%[1]s","name":{"lastName":"%[2]s"}}` +
			"\n"
		if format == "csv" {
			line = "%[1]s,%[1]s,%[2]s,\"in two\nlines\"\n"
		}
		fmt.Fprintf(&text, line, i.owner, nameOf(n))
	}
	i.write(i.file, text.String())
	return i
}

func (i *importing) write(path, text string) {
	i.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		i.Fatal(err)
	}
}

// edit changes the first of some text in the file.
func (i *importing) edit(was, is string) {
	i.Helper()
	text, err := os.ReadFile(i.file)
	if err != nil {
		i.Fatal(err)
	}
	i.write(i.file, strings.Replace(string(text), was, is, 1))
}

// run imports; after that many creations it is interrupted, or never with 0.
func (i *importing) run(stopAfter int64, args ...string) (string, int) {
	i.Helper()
	ctx, cancel := context.WithCancel(i.Context())
	defer cancel()
	var seen atomic.Int64
	i.sent = func() {
		if seen.Add(1) == stopAfter {
			cancel() // After the record was saved, before its answer is read.
		}
	}
	var stderr bytes.Buffer
	code := Run(
		ctx,
		append([]string{"person", "import", i.file, "--results", i.results, "--yes"}, args...),
		hasty(appOf(i.line().environment, strings.NewReader(""), &bytes.Buffer{}, &stderr)),
	)
	return stderr.String(), code
}

// names returns the last names that are saved, with how often.
func (i *importing) names() map[string]int {
	i.Helper()
	out, errs, code := against(i.T, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+i.token)
		i.service.Handler.ServeHTTP(w, r)
	}, "person list --all --columns lastName -o tsv")
	if code != 0 {
		i.Fatalf("person list: %s", errs)
	}
	names := map[string]int{}
	for name := range strings.Lines(out) {
		names[strings.TrimSpace(name)]++
	}
	return names
}

// loseTail cuts the results file as a power cut may: what was synced stays, which is
// the plan of every line; of the rest some bytes.
func (i *importing) loseTail() {
	i.Helper()
	data, err := os.ReadFile(i.results)
	if err != nil {
		i.Fatal(err)
	}
	synced := bytes.LastIndex(data, []byte(`"planned"`))
	synced += bytes.IndexByte(data[synced:], '\n') + 1
	i.write(i.results, string(data[:synced+i.random.IntN(len(data)-synced+1)]))
}

// An import that is interrupted at any moment goes on with its results file, even when
// a power cut took what was not synced: no line is created twice, and none is lost.
func TestImportGoesOn(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for format, total := range map[string]int{"ndjson": 600, "csv": 400} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			i := newImporting(t, format, total)
			for round := range 6 {
				stopAfter := 1 + i.random.Int64N(50)
				errs, code := i.run(stopAfter, "--concurrency", "8")
				if code != 130 || !strings.Contains(errs, "interrupted after") {
					t.Fatalf("got exit code %d and %q after %d creations, want 130", code, errs, stopAfter)
				}
				if round%2 == 0 {
					i.loseTail()
				}
			}
			if errs, code := i.run(0, "--concurrency", "8"); code != 0 {
				t.Fatalf("got exit code %d and %q, want 0", code, errs)
			}
			names := i.names()
			for n := range total {
				if got := names[nameOf(n)]; got != 1 {
					t.Errorf("line %d: got %d persons, want 1", n+1, got)
				}
			}
			errs, code := i.run(0)
			if code != 0 || !strings.Contains(errs, fmt.Sprintf("already done: %[1]d of %[1]d lines", total)) {
				t.Errorf("got exit code %d and %q, want nothing left to do", code, errs)
			}
		})
	}
}

// The uuids of all lines are kept before the first request.
func TestImportPlansFirst(t *testing.T) {
	t.Parallel()
	i := newImporting(t, "ndjson", 50)
	if _, code := i.run(1, "--concurrency", "1"); code != 130 {
		t.Fatalf("got exit code %d, want 130", code)
	}
	data, err := os.ReadFile(i.results)
	servicetest.Check(t, err)
	servicetest.Same(t, "planned lines", 50, bytes.Count(data, []byte(`"state":"planned"`)))
	for line := range bytes.Lines(data) {
		var r bulk.Result
		if err := json.Unmarshal(line, &r); err != nil || r.UUID == "" {
			t.Errorf("got %q, want a result: %v", line, err)
		}
	}
}

// A line that the service refused is corrected in the file, and sent with the next run.
func TestImportOfACorrectedLine(t *testing.T) {
	t.Parallel()
	i := newImporting(t, "ndjson", 3)
	good := i.service.Handler
	i.service.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(nameOf(1))) {
			status(http.StatusUnprocessableEntity, "application/json", `{"detail":"no such name"}`)(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		good.ServeHTTP(w, r)
	})
	if errs, code := i.run(0); code != 9 {
		t.Fatalf("got exit code %d and %q, want one line refused", code, errs)
	}
	i.edit(nameOf(1), nameOf(7))
	if errs, code := i.run(0); code != 0 {
		t.Errorf("got exit code %d and %q, want the corrected line imported", code, errs)
	}
	servicetest.Same(t, "names", map[string]int{nameOf(0): 1, nameOf(7): 1, nameOf(2): 1}, i.names())
}

// A line that was created and edited since is not passed over in silence.
func TestImportOfAnEditedFile(t *testing.T) {
	t.Parallel()
	i := newImporting(t, "ndjson", 3)
	if errs, code := i.run(0); code != 0 {
		t.Fatalf("got exit code %d and %q, want 0", code, errs)
	}
	i.edit(nameOf(1), nameOf(7))
	if errs, code := i.run(0); code != 2 || !strings.Contains(errs, "line 2: was created with other values") {
		t.Errorf("got exit code %d and %q, want line 2 refused", code, errs)
	}
}

// Results of one service do not count for another one. It gets every row, and a message explains it.
func TestImportToAnotherService(t *testing.T) {
	t.Parallel()
	i := newImporting(t, "ndjson", 3)
	if errs, code := i.run(0); code != 0 || strings.Contains(errs, "anew") {
		t.Fatalf("got exit code %d and %q, want 0 without a word about another service", code, errs)
	}
	first := i.url
	other := newImporting(t, "ndjson", 3)
	i.url, i.token, i.owner = other.url, other.token, other.owner
	text, err := os.ReadFile(other.file)
	servicetest.Check(t, err)
	i.write(i.file, string(text))
	errs, code := i.run(0)
	if code != 0 || !strings.Contains(errs, "has the results of "+first) || !strings.Contains(errs, "3 created") {
		t.Errorf("got exit code %d and %q, want three created anew", code, errs)
	}
	errs, code = i.run(0)
	if code != 0 || !strings.Contains(errs, "already done: 3 of 3 lines") {
		t.Errorf("got exit code %d and %q, want nothing left to do", code, errs)
	}
}

// An import stops when the service takes nothing any more, and goes on later.
func TestImportStopsEarly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		after  int64
		code   int
		asked  int64 // At most.
	}{
		{"not authenticated from the beginning", 401, 0, 4, 8},
		{"a token that ends on the way", 401, 50, 9, 70},
		{"forbidden", 403, 0, 5, 8},
		{"a service that goes away", 503, 50, 9, 50 + maxTriesOfClient*(2*20+8)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			i := newImporting(t, "ndjson", 300)
			var asked atomic.Int64
			good := i.service.Handler
			i.service.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && asked.Add(1) > test.after {
					status(test.status, "application/json", `{"detail":"no"}`)(w, r)
					return
				}
				good.ServeHTTP(w, r)
			})
			errs, code := i.run(0)
			if code != test.code ||
				asked.Load() > test.asked ||
				!strings.Contains(errs, "go on with the same command") {
				t.Errorf("got exit code %d after %d creations and %q, want %d after at most %d",
					code, asked.Load(), errs, test.code, test.asked)
			}
			i.service.Handler = good
			if errs, code := i.run(0); code != 0 {
				t.Fatalf("got exit code %d and %q, want 0", code, errs)
			}
			if names := i.names(); len(names) != 300 || names[nameOf(0)] != 1 {
				t.Errorf("got %d persons, want 300", len(names))
			}
		})
	}
}

// maxTriesOfClient is the highest number of times that the client sends one change.
const maxTriesOfClient = 4

// nameOf returns the last name of a line. It looks like an identifier, so that the harness
// need not hold each request against the description of the service.
func nameOf(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// Two imports on one results file would give a line two uuids.
func TestImportRefusesAResultsFileInUse(t *testing.T) {
	t.Parallel()
	i := newImporting(t, "ndjson", 3)
	i.run(1, "--concurrency", "1") // Side by side, all three may be sent before the first ends the run.
	known, err := bulk.ReadResults(i.results, "")
	servicetest.Check(t, err)
	first, err := bulk.OpenResults(i.results, known.Size)
	servicetest.Check(t, err)
	before := len(i.names())
	errs, code := i.run(0)
	if code != 2 || !strings.Contains(errs, "another run is using") || len(i.names()) != before {
		t.Errorf("beside another import: got exit code %d, %q and %d records, want 2, why, and %d",
			code, errs, len(i.names()), before)
	}
	servicetest.Check(t, first.Close())
	if second, err := bulk.OpenResults(i.results, known.Size-1); err == nil {
		t.Errorf("a file that grew since it was read: got %v, want a refusal", second)
	}
	if errs, code := i.run(0); code != 0 || len(i.names()) != 3 {
		t.Errorf("afterwards: got exit code %d, %q and %d records, want 0 and 3", code, errs, len(i.names()))
	}
}

// --errors replaces and removes only a file that an earlier run has written.
func TestImportKeepsAnotherFileOfErrors(t *testing.T) {
	t.Parallel()
	l := line{
		environment: homeAt(t, nowhere, "t"),
		stdin: `{"name":{"lastName":"A"},"owningOrganizationUuid":"` + testID +
			`","recruitingOrganizationUuid":"` + testID + `"}`,
	}
	for text, isOurs := range map[string]bool{
		"name;phone\nA;1\n": false, "line": false, "": true, "line,mistakes,row\n1,wrong,{}\n": true,
		"\ufeffline;mistakes;row\r\n": true,
	} {
		file := filepath.Join(t.TempDir(), "wrong.csv")
		writeFile(t, file, text)
		_, errs, code := l.run(t, "person import - --dry-run --errors", file)
		kept, err := os.ReadFile(file)
		if isOurs && (code != 0 || !os.IsNotExist(err)) {
			t.Errorf("%q: got %d %q and %q left, want it removed", text, code, errs, kept)
		}
		if !isOurs && (code != 2 || string(kept) != text || !strings.Contains(errs, "holds no mistakes")) {
			t.Errorf("%q: got %d %q and %q left, want it kept", text, code, errs, kept)
		}
	}
}

// A file creates each of its rows once, whatever its order, and without a flag.
func TestImportOfAFileAgain(t *testing.T) {
	t.Parallel()
	i := newImporting(t, "csv", 4)
	again := func(what string, lines ...int) {
		t.Helper()
		text := "recruitingOrganizationUuid,name.lastName,owningOrganizationUuid\n"
		for _, n := range lines {
			text += fmt.Sprintf("%[1]s,%[2]s,%[1]s\n", i.owner, nameOf(n))
		}
		i.write(i.file, text)
		i.try("person import", i.file, "--yes").MustEnd(0)
		for _, n := range lines {
			servicetest.Same(t, what, 1, i.names()[nameOf(n)])
		}
	}
	again("first", 0, 1, 2, 3)
	again("twice", 0, 1, 2, 3)
	again("sorted", 3, 1, 0, 2)
	again("with rows added", 5, 3, 1, 4, 0, 2)
	again("with rows left out", 3, 2)
	again("with other rows", 7, 8)
	moved := filepath.Join(t.TempDir(), "moved.csv")
	servicetest.Check(t, os.Rename(i.file, moved))
	servicetest.Check(t, os.Rename(i.file+".results.ndjson", moved+".results.ndjson"))
	i.file = moved
	again("moved with its results", 0, 7, 8)
	// Two equal rows are two persons, once.
	i.file = filepath.Join(t.TempDir(), "equal.csv")
	for range 2 {
		row := fmt.Sprintf("%[1]s,%[1]s,Equal\n", i.owner)
		i.write(i.file, "owningOrganizationUuid,recruitingOrganizationUuid,name.lastName\n"+row+row)
		i.try("person import", i.file, "--yes").Ends(0)
		servicetest.Same(t, `i.names()["Equal"]`, 2, i.names()["Equal"])
	}
}

// A line that failed because of the service is not wrong, and --skip-wrong would not help after the others were sent.
func TestImportHintsAtTheCause(t *testing.T) {
	t.Parallel()
	const row = testID + "," + testID + ","
	for _, test := range []struct {
		name, last string
		hint       string
	}{
		{"a service that failed", "E500", "the failed lines are not wrong; go on with the same command"},
		{"a refused line", "E400", "--errors FILE.csv keeps the wrong lines and their mistakes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := serving(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var person struct{ UUID string }
				switch text := string(body); {
				case r.Method != http.MethodPost:
					status(404, "application/json", `{}`)(w, r)
				case strings.Contains(text, "E500"):
					status(500, "application/json", `{}`)(w, r)
				case strings.Contains(text, "E400"):
					status(400, "application/json", `{}`)(w, r)
				default:
					servicetest.Check(t, json.Unmarshal(body, &person))
					status(201, "application/json", `{"uuid":"`+person.UUID+`"}`)(w, r)
				}
			})
			file := filepath.Join(t.TempDir(), "persons.csv")
			writeFile(t, file,
				"owningOrganizationUuid,recruitingOrganizationUuid,name.lastName\n"+row+"Berg\n"+row+test.last+"\n")
			ran := lineAt(t, address, "token").try(t, "person import", file, "--yes", "--retry", "0").MustEnd(9)
			if want := "hint: " + test.hint + "\n"; !strings.Contains(ran.Stderr, want) {
				t.Errorf("%s, want %q", ran, want)
			}
		})
	}
}

// A folder that cannot be written is refused with the flag before anything is sent.
func TestImportFromAFolderThatIsReadOnly(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	i := newImporting(t, "ndjson", 1)
	servicetest.Check(t, os.Chmod(filepath.Dir(i.file), 0o500))
	defer os.Chmod(filepath.Dir(i.file), 0o700)
	i.try("person import", i.file, "--yes").Ends(2, "--results FILE")
	servicetest.Same(t, "persons", 0, len(i.names()))
}

// fundesk runs a command against the service of the import.
func (i *importing) fundesk(words string, more ...string) (out, errs string, code int) {
	i.Helper()
	return i.line().run(i.T, words, more...)
}

// try runs a command. What it returns says what the test wants of it.
func (i *importing) try(words string, more ...string) servicetest.Ran {
	i.Helper()
	return i.line().try(i.T, words, more...)
}

func (i *importing) line() line {
	return line{environment: homeAt(i.T, i.url, i.token, "HOME", i.home)}
}
