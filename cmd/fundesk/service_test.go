package main

import (
	"bufio"
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
// It is on PostgreSQL where the tests are told of a server.
func (h *home) serve(t *testing.T) string {
	t.Helper()
	if server := os.Getenv(servicetest.PostgresVariable); server != "" {
		h.env = append(h.env, "FUNDESKD_DATABASE="+servicetest.PostgresDatabase(t, server))
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
	var logs strings.Builder
	cmd.Stderr = &logs
	out, err := cmd.StdoutPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("fundeskd %s: %v\n%s", strings.Join(args, " "), err, logs.String())
		}
	})
	return bufio.NewReader(out)
}

// nextLine is the next line of what a program prints.
func nextLine(t *testing.T, out *bufio.Reader) string {
	t.Helper()
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatalf("got no line on stdout: %v", err)
	}
	return strings.TrimSpace(line)
}

// unlockKeyring is what unlocks the keyring of a session's bus and waits until it can be
// asked: the daemon goes on with that after its command has ended, and who asks before gets
// another one, which is locked.
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
	// Without a bus, and with one that nobody serves, no daemon may be started for it.
	for _, bus := range []string{"", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere"} {
		line := `fundesk profile add pinned --base-url "$URL" --token-storage keyring && env -u FUNDESK_TOKEN ` + bus + ` fundesk auth status --profile pinned`
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
			// A process that ended meanwhile has neither.
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
