//go:build unix

package main

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/service/servicetest"
)

// importLines is how many lines the import of TestImportOfMessyLines has; by night 5,000.
var importLines = flag.Int("import-lines", 250, "lines of the import of TestImportOfMessyLines")

// importJourney is the network between an import and the service, and the ledger.
type importJourney struct {
	*testing.T
	home    home
	service *servicetest.Harness

	mu       sync.Mutex
	creates  int
	killings []int     // After so many creations the import is killed before it hears of the last one.
	running  *exec.Cmd // The import; nil: none.
}

// ServeHTTP is the network: it loses the answer to every 97th creation, too.
func (j *importJourney) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	j.service.Handler.ServeHTTP(w, r)
	if r.Method != http.MethodPost {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.creates++
	if len(j.killings) > 0 && j.creates >= j.killings[0] && j.running != nil {
		j.killings = j.killings[1:]
		_ = j.running.Process.Signal(syscall.SIGKILL)
	} else if j.creates%97 != 0 {
		return
	}
	panic(http.ErrAbortHandler)
}

// messyLine is a line as Excel saves it on a Dutch machine, and the donor that it means; right is
// false for one that somebody has mistyped.
func messyLine(n int, right bool) (line string, donor map[string]any) {
	first := []string{"Ann\xe9", "J\xf6rg", "Mary-Jane", "O'Neil", "de"}[n%5]
	phone := fmt.Sprintf([]string{"06-12%06d", "0612%06d", "+31 6 12 %06d", "06 12 %06d"}[n%4], n)
	iban := []string{"NL91 ABNA 0417 1643 00", "nl91abna0417164300", " NL91ABNA0417164300 "}[n%3]
	born, email := fmt.Sprintf("%d-%d-19%02d", 1+n%28, 1+n%12, 30+n%60), fmt.Sprintf("donor%d@example.org", n)
	donor = map[string]any{
		"email": email, "firstName": []string{"Anné", "Jörg", "Mary-Jane", "O'Neil", "de"}[n%5], "lastName": fmt.Sprintf(`Van "%d"; en Zonen`, n),
		"dateOfBirth": fmt.Sprintf("19%02d-%02d-%02d", 30+n%60, 1+n%12, 1+n%28), "mobilePhoneNumber": fmt.Sprintf("+31612%06d", n), "iban": "NL91ABNA0417164300",
	}
	if !right {
		switch n / 13 % 4 {
		case 0:
			born = "31-02-1990"
		case 1:
			iban = "NL00ABNA0417164300"
		case 2:
			phone = "12"
		default:
			email = "donor at example"
		}
	}
	remark := []string{"", "belt\r\nliever \"s avonds", "x;y"}[n%3]
	line = fmt.Sprintf("%s;\"Van \"\"%d\"\"; en Zonen\";%s;%s;%s;%s;\"%s\"\r\n", first, n, born, phone, iban, email, strings.ReplaceAll(remark, `"`, `""`))
	if n%17 == 0 {
		line += "\r\n" // An empty line.
	}
	return line, donor
}

// TestImportOfMessyLines plays a day of the back office: a file as Excel saves it, in which each
// thirteenth line is wrong; nothing is sent before these are corrected; then the import is killed
// twice and loses answers, and goes on each time it is asked again. Each donor is there once, as
// the file means them.
func TestImportOfMessyLines(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	j := &importJourney{T: t, home: newHome(t), service: servicetest.New(t)}
	server := httptest.NewServer(j)
	t.Cleanup(server.Close)
	owner := j.service.Organization("Sea Rescue").String()
	j.home.env = append(j.home.env, "FUNDESK_BASE_URL="+server.URL, "FUNDESK_TOKEN="+j.service.Token())
	file := filepath.Join(j.home.dir, "donors.csv")
	write := func(isRight func(n int) bool) (donors []map[string]any) {
		text := "Voornaam;Achternaam;Geboren;Mobiel;IBAN;E-mail;Opmerking\r\n"
		for n := range *importLines {
			line, donor := messyLine(n, isRight(n))
			text += line
			donors = append(donors, donor)
		}
		servicetest.Check(t, os.WriteFile(file, []byte(text), 0o600))
		return donors
	}
	arguments := []string{
		"person", "import", file, "--encoding", "cp1252", "--country", "NL", "--yes", "--results", file + ".results", "--errors", file + ".wrong.csv",
		"--default", "owningOrganizationUuid=" + owner, "--default", "recruitingOrganizationUuid=" + owner,
		"--map", "Voornaam=name.firstName", "--map", "Achternaam=name.lastName", "--map", "Geboren=dateOfBirth", "--map", "Mobiel=mobilePhoneNumber",
		"--map", "IBAN=iban", "--map", "E-mail=email", "--map", "Opmerking=-",
	}

	write(func(n int) bool { return n%13 != 12 })
	if code := j.run(arguments); code != 2 || j.creates != 0 {
		t.Fatalf("with wrong lines: got exit code %d and %d creations, want 2 and none", code, j.creates)
	}
	content, err := os.ReadFile(file + ".wrong.csv")
	servicetest.Check(t, err)
	wrong, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
	if err != nil || len(wrong) != 1+*importLines/13 {
		t.Fatalf("got %d wrong lines (%v), want %d and a header", len(wrong), err, *importLines/13)
	}
	want := write(func(int) bool { return true })
	j.killings = []int{*importLines / 3, *importLines * 2 / 3}
	runs := 1
	for ; j.run(arguments) != 0 && runs < 10; runs++ {
	}
	if runs != 3 || len(j.killings) > 0 {
		t.Errorf("got %d runs with %d killings to come, want 3 and none", runs, len(j.killings))
	}
	j.judge(want)
}

// run runs the import, and is its exit code; -1: it was killed.
func (j *importJourney) run(arguments []string) int {
	j.Helper()
	command := j.home.program(j.T, arguments...)
	j.mu.Lock()
	err := command.Start()
	j.running = command
	j.mu.Unlock()
	if err != nil {
		j.Fatal(err)
	}
	_ = command.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running = nil
	return command.ProcessState.ExitCode()
}

// judge holds the donors of the service against those that the file means.
func (j *importJourney) judge(want []map[string]any) {
	j.Helper()
	got := map[string]map[string]any{}
	lines := strings.Split(j.home.must(j.T, "fundesk person list --all -o ndjson"), "\n")
	for _, line := range lines {
		var donor map[string]any
		if err := json.Unmarshal([]byte(line), &donor); err != nil {
			j.Fatal(err)
		}
		got[donor["email"].(string)] = donor
	}
	if len(lines) != len(want) {
		j.Errorf("got %d donors, want %d", len(lines), len(want))
	}
	for _, donor := range want {
		known := map[string]any{}
		for field := range donor {
			known[field] = got[donor["email"].(string)][field]
		}
		if diff := cmp.Diff(donor, known); diff != "" {
			j.Errorf("%s: %s", donor["email"], diff)
		}
	}
}
