package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// private holds values of a donor, and of one with a call, that no other record has.
var private = map[string]string{
	"IBAN": "NL02ABNA0123456789", "social security number": "918273645", "name": "Kanarienvogel",
	"notes": "wants-to-be-rung-after-choir", "email": "kanarie@kooi.example", "phone": "+31699977755",
}

// Donors' data and tokens are only in the files that are made for them. No temporary file or shared memory holds them,
// even after a kill.
func TestPersonalDataStaysOutOfOtherFiles(t *testing.T) {
	t.Parallel()
	need(t, "bash", "tmux")
	h := newHome(t)
	began := time.Now()
	temporary, input := filepath.Join(h.dir, "temporary"), filepath.Join(h.dir, "input")
	for _, folder := range []string{temporary, input} {
		servicetest.Check(t, os.Mkdir(folder, 0o700))
	}
	url := h.serve(t)
	token := h.must(t, "fundeskd account add desk --all-organizations")
	h.env = append(h.env, "TMPDIR="+temporary, "FUNDESK_BASE_URL="+url, "FUNDESK_TOKEN="+token)
	organization := strings.Trim(h.must(t, "fundesk person list --limit 1 -q --jq '.[0].owningOrganization.uuid'"), `"`)
	person := `{"owningOrganizationUuid":"` + organization + `","recruitingOrganizationUuid":"` + organization +
		`","iban":"` + private["IBAN"] +
		`","socialSecurityNumber":"` + private["social security number"] + `","email":"` + private["email"] +
		`","mobilePhoneNumber":"` + private["phone"] +
		`","name":{"lastName":"` + private["name"] + `"}}`
	for name, text := range map[string]string{"person": person, "notes": private["notes"]} {
		servicetest.Check(t, os.WriteFile(filepath.Join(input, name), []byte(text+"\n"), 0o600))
	}
	for _, line := range []string{
		`cat input/person | fundesk person create --file - --debug`,
		`yes "$(cat input/person)" | head -50 | fundesk person import - --yes --results results -q`,
		`call=$(fundesk call create --person $(fundesk person list --limit 1 -q -o id) --requested-at now --type winback --notes "$(cat input/notes)" -o id) && fundesk call complete $call --result-code declined --notes - < input/notes`,
		`fundesk person list --all -o csv --debug; fundesk person list --all -o json --jq '.[].iban'; fundesk pull person; fundesk pull call`,
		`for n in 1 2 3 4 5; do (fundesk person list --all --page-size 5 -o ndjson & echo $! > pid; wait) | head -$n; kill -9 $(cat pid); done; true`,
		`cat input/person | FUNDESK_BASE_URL=http://127.0.0.1:1 fundesk person create --file - --outbox; test $? = 10`,
		`cat input/person | fundesk --profile demo person create --file -`,
		`fundesk __complete person get ''`,
	} {
		h.must(t, line)
	}
	term := h.openTerminal(t, 120, 36)
	term.write("fundesk tui")
	term.send("Enter")
	term.waitFor("take the next call")
	term.take()
	term.send("i")
	term.write(private["notes"])
	term.waitFor(private["notes"])
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); { // They are on disk soon.
		drafts, _ := filepath.Glob(filepath.Join(h.dir, ".local", "state", "fundesk", "outbox", "drafts", "*"))
		if len(drafts) > 0 {
			break
		}
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("got %v left in the temporary folder, %v, want nothing", left, err)
	}
	found := map[string]bool{}
	wantNoSecret := func(path string, d fs.DirEntry, err error) error {
		if path == os.TempDir() { // In shared memory, too: .ci/run has put it there.
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return nil // It ended in between: shared memory belongs to every process.
		}
		if info, err := d.Info(); err != nil || info.ModTime().Before(began) {
			return nil // Such as the folder of a run of the tests that was killed.
		}
		data, _ := os.ReadFile(path)
		for name, value := range private {
			if !strings.Contains(string(data), value) {
				continue
			}
			place := belongs(path)
			found[place] = true
			if place == "" {
				t.Errorf("got the %s in %s", name, path)
			}
		}
		if strings.Contains(string(data), token) {
			t.Errorf("got the token in %s", path)
		}
		return nil
	}
	for _, folder := range []string{h.dir, "/dev/shm"} {
		servicetest.Report(t, filepath.WalkDir(folder, wantNoSecret))
	}
	for _, place := range []string{"/state/fundesk/outbox/", "/fundesk/demo.db"} {
		if !found[place] {
			t.Errorf("got personal data in %v, want it in %s: nothing was looked for", found, place)
		}
	}
}

// belongs returns the place of a file that holds personal data on purpose: waiting changes and drafts, the databases of
// demo and service, and the test's own files. It is empty for others.
func belongs(path string) string {
	for _, place := range []string{"/state/fundesk/outbox/", "/fundesk/demo.db", "/fundesk/fundeskd.db", "/input/"} {
		if strings.Contains(path, place) {
			return place
		}
	}
	return ""
}
