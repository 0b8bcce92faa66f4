package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// serve starts fundeskd with sample data on a free port and returns its address.
//
// It is on PostgreSQL if the services of tests are.
func (h *home) serve(t *testing.T) string {
	t.Helper()
	if servicetest.OnPostgres() {
		h.env = append(h.env, "FUNDESKD_DATABASE="+servicetest.PostgresDatabase(t))
	}
	h.must(t, "fundeskd sample --persons 60")
	return nextLine(t, h.start(t, "serve", "--listen", "127.0.0.1:0"))
}

// start starts fundeskd and returns what it prints; it is asked to end with the test, and
// must end cleanly.
func (h *home) start(t *testing.T, args ...string) *bufio.Reader {
	t.Helper()
	cmd := exec.Command(programs+"/fundeskd", args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	log, err := os.OpenFile(h.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	servicetest.Check(t, err)
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, cmd.Start())
	servicetest.Check(t, log.Close())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("fundeskd %s: %v\n%s", strings.Join(args, " "), err, h.log(t))
		}
	})
	return bufio.NewReader(out)
}

// logFile is what the services of this home write to stderr.
func (h *home) logFile() string { return filepath.Join(h.dir, "fundeskd.log") }

// log returns what the services of this home have written so far.
func (h *home) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(h.logFile())
	servicetest.Check(t, err)
	return string(text)
}

// nextLine returns the next line of what a program prints.
func nextLine(t *testing.T, out *bufio.Reader) string {
	t.Helper()
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatalf("got no line on stdout: %v", err)
	}
	return strings.TrimSpace(line)
}

// unlockKeyring unlocks the keyring of a session's bus and waits until it answers. The daemon goes on with that after
// its command has ended. An earlier question would reach another, locked one.
const unlockKeyring = `printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null; ` +
	`until dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true; do :; done; ` +
	`until dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service.ReadAlias string:default | grep -q /collection/; do :; done`

func TestEveryCommandThroughHTTPWithATokenFromTheKeyring(t *testing.T) {
	t.Parallel()
	need(t, "bash", "dbus-run-session", "gnome-keyring-daemon")
	h := newHome(t)
	url := h.serve(t)
	h.env = append(h.env, "URL="+url, "TOKEN="+h.must(t, "fundeskd account add desk --all-organizations"))

	// One session bus with an unlocked keyring; the daemon ends with the bus.
	session := func(script string) string {
		t.Helper()
		h.env = append(h.env, "SCRIPT=set -euo pipefail; "+unlockKeyring+"; "+script)
		return h.must(t, `dbus-run-session -- bash -c "$SCRIPT" 2>&1`)
	}
	out := session(`
		printf %s "$TOKEN" | env -u TOKEN fundesk auth login --profile prod --base-url "$URL" --with-token
		unset TOKEN
		fundesk auth status -o json
		person=$(fundesk person create --owning-organization $(fundesk person list -o json --limit 1 -q --jq '.[0].owningOrganization.uuid' | tr -d '"') \
			--recruiting-organization $(fundesk person list -o json --limit 1 -q --jq '.[0].owningOrganization.uuid' | tr -d '"') --first-name Anneke --last-name Meer -o id)
		fundesk person update $person --email anneke@example.org --clear name.initials -o json --jq .email
		call=$(fundesk call create --person $person --requested-at now --type happy_call -o id)
		fundesk call attempt $call
		fundesk call complete $call --result-code thanked --notes "was glad" --rating 9 -o json --jq '[.status, .result.resultCode, .attemptsCount]'
		fundesk call cancel $(fundesk call create --person $person --requested-at now --type winback -o id) --yes -o json --jq .status
		fundesk call expire $(fundesk call create --person $person --requested-at now --type winback -o id) --yes -o json --jq .status
		fundesk processed mark call $call
		fundesk pledge list --status lead --limit 1 -q -o id | fundesk pledge action nonsense - --yes || echo "exit $?"
		fundesk api GET /api/v1/persons/$person --jq .firstName
		fundesk auth logout
		fundesk call list || echo "exit $?"
	`)
	for _, want := range []string{
		"the token is in the keyring", `"tokenSource":"keyring"`, `"accepted":true`, `"anneke@example.org"`,
		`["completed","thanked",1]`, `"cancelled"`, `"expired"`, `"Anneke"`, "exit 9", "exit 4",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the session never printed %s:\n%s", want, out)
		}
	}
	// Without a bus, or with a dead one, no daemon may be started for it.
	for _, bus := range []string{"", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere"} {
		line := `fundesk profile add pinned --base-url "$URL" --set token_storage=keyring && env -u FUNDESK_TOKEN ` +
			bus + ` fundesk auth status --profile pinned`
		if out, errs, code := h.run(t, line); code != 4 {
			t.Errorf("auth status with %q: got exit %d, %s%s, want 4", bus, code, out, errs)
		}
	}
	h.wantNoDaemon(t)
	token := h.env[len(h.env)-2][len("TOKEN="):]
	if files, _, _ := h.run(t, "grep -rlF -- "+token+" .config .local/state .cache 2>/dev/null"); files != "" {
		t.Errorf("the token was written to %s", files)
	}
}

// wantNoDaemon waits for the daemons of the session bus and the keyring that were started
// in this home to end: nothing may be left behind.
func (h *home) wantNoDaemon(t *testing.T) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left = nil
		folders, err := filepath.Glob("/proc/[0-9]*")
		servicetest.Check(t, err)
		for _, folder := range folders {
			// A process that ended in between has neither.
			name, _ := os.ReadFile(folder + "/comm")
			environment, _ := os.ReadFile(folder + "/environ")
			isDaemon := strings.HasPrefix(string(name), "dbus-") || strings.HasPrefix(string(name), "gnome-keyring")
			if isDaemon && strings.Contains(string(environment), "HOME="+h.dir+"\x00") {
				left = append(left, strings.TrimSpace(string(name)))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("got %v left behind, want no daemon", left)
}

func TestErrorsAreOneLineForMachines(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	for line, kind := range map[string]string{
		"fundesk call list -o json": "unauthenticated",
		"fundesk call frob -o json": "usage",
		"fundesk --profile demo call get 6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10 -o json":            "not_found",
		"fundesk --profile demo call list --after x -o ndjson":                                    "rejected",
		"FUNDESK_TOKEN=x fundesk --base-url http://127.0.0.1:9 call list -o json --timeout 500ms": "unavailable",
	} {
		stdout, stderr, code := h.run(t, line)
		var body struct {
			Error struct {
				Kind, Message, Hint string
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(stderr), &body); err != nil || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: stderr is not one JSON line: %v\n%s", line, err, stderr)
		}
		if body.Error.Kind != kind || body.Error.Message == "" || code == 0 || stdout != "" {
			t.Errorf("%s: got kind %q, exit %d, stdout %q, want kind %q", line, body.Error.Kind, code, stdout, kind)
		}
	}
}

// stranger starts a service that another author wrote from the interface alone.
func (h *home) stranger(t *testing.T) {
	t.Helper()
	need(t, "python3")
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/stranger/service.py")
	out, err := cmd.StdoutPipe()
	servicetest.Check(t, err)
	var logs strings.Builder
	cmd.Stderr = &logs
	servicetest.Check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if logs.Len() > 0 {
			t.Errorf("the other service: %s", logs.String())
		}
	})
	h.env = append(h.env, "FUNDESK_BASE_URL="+nextLine(t, bufio.NewReader(out)), "FUNDESK_TOKEN=stranger")
}

// A second author's reading of the interface: its gaps are filled differently. Everything still works, or an error
// explains why not.
func TestServiceOfAStranger(t *testing.T) {
	t.Parallel()
	need(t, "jq", "tmux")
	h := newHome(t)
	h.stranger(t)
	const one = "00000000-0000-4002-8000-000000000001"
	tests := []struct {
		line   string
		code   int
		out    string
		stderr string
	}{
		{"fundesk person list --all -o id | wc -l", 0, "135", ""},
		{"fundesk call list --all -o ndjson | jq -r .uuid | sort -u | wc -l", 0, "135", ""},
		{
			line: "fundesk call list --all --include person,pledge --columns uuid,person.lastName,pledgeCase.status -o tsv 2>&1 | grep -Pc 'Number [0-9]*\tlead|left out'",
			out:  "135",
		},
		{"fundesk call stats -o tsv | grep total", 0, "total\tcalls\t135", ""},
		{"fundesk pull call -q | wc -l", 0, "135", ""},
		{"fundesk pull call -q | wc -l", 0, "0", ""},
		{"set -o pipefail; fundesk pledge list --all -o id | wc -l", 8, "50", "--accept-unpaged"},
		{"fundesk pledge list --all -o json 2>/dev/null | jq length", 0, "50", ""},
		{"fundesk pledge list --all --accept-unpaged -o id | wc -l", 0, "50", ""},
		{"fundesk pull pledge >/dev/null", 8, "", "nothing tells whether these are all"},
		{"ls $HOME/.local/state/fundesk/pull | grep -c pledge", 1, "0", ""},
		{
			line: "fundesk call get " + one + " --jq '.pledgeCase.calls[0], .pledgeCase.donationAmount' -o ndjson",
			out:  "\"[Circular]\"\n10.0",
		},
		{"fundesk pledge list --limit 1 -q --columns donationAmount,initialDonationInterval", 0, "10\tMONTH", ""},
		{"fundesk call attempt " + one + " --jq .attemptsCount", 0, "1", ""},
		{"fundesk call complete " + one + " --result-code reached --rating 8 --jq .status", 0, `"completed"`, ""},
		{"fundesk call cancel " + one + " --yes", 7, "", "That call has ended."},
		{"fundesk call get " + strings.Replace(one, "4002", "4009", 1), 3, "", "No such record."},
		{
			line: "fundesk person update 00000000-0000-4001-8000-000000000002 --email a@example.org --jq .email",
			out:  `"a@example.org"`,
		},
		{"fundesk person update 00000000-0000-4001-8000-000000000002 --clear email --jq .email", 0, "null", ""},
		{
			line: "fundesk person create --first-name Bo --owning-organization " + one +
				" --recruiting-organization " + one + " -o id | wc -l",
			out: "1",
		},
		{"fundesk processed mark call " + one + " --jq .[0].ok", 0, "true", ""},
		{"fundesk person list --search number", 2, "", "--all --name"},
		{"fundesk pledge list --columns person.lastName", 2, "", "fundesk pledge get -"},
		{"FUNDESK_TOKEN=other fundesk call list", 4, "", "Who are you?"},
		{"fundesk doctor -o json --jq 'all(.ok)'", 0, "true", ""},
	}
	for _, test := range tests {
		out, errs, code := h.run(t, test.line)
		out = strings.TrimSpace(out)
		if code != test.code || out != test.out || !strings.Contains(errs, test.stderr) {
			t.Errorf("%s: got exit %d, %q and %q, want %d, %q and %q",
				test.line, code, out, errs, test.code, test.out, test.stderr)
		}
	}
	term := h.openTerminal(t, 120, 36)
	term.send("fundesk tui", "Enter")
	term.waitFor("requested calls so far") // Although the first page claims that there is nothing before it.
	term.send("n")
	term.waitFor("y copies") // One of the oldest of 135: agents are spread over those.
	term.send("/number 7")
	term.waitFor("Anna Number 7 ")
	term.waitFor("only the donors of the newest 50 calls: this service cannot search")
	term.send("Escape")
	term.send("4")
	term.waitFor("this service lists no donors here")
	term.send("3")
	term.send("/number 13", "Enter")
	term.waitFor("Anna Number 13")
	term.waitFor("local: words")
}

// program returns fundesk with its arguments, as it runs on this machine.
func (h home) program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, filepath.Join(programs, "fundesk"), args...)
	command.Env, command.Dir = h.env, h.dir
	return command
}
