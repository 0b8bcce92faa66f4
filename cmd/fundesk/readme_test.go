package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fence is a block of the README: "sh" says that it can be run as it stands.
var fence = regexp.MustCompile("(?s)\n```(sh)?\n(.*?)```")

// inline is a command within the text, with the words that name it.
var inline = regexp.MustCompile("`(?:[A-Z]+=\\S+ )?(fundeskd?(?: [a-z][a-z-]*)*)[^`]*`")

// readme is the text of the README.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readmeBlock is the lines, without their comments, of the block that begins like that.
func readmeBlock(t *testing.T, first string) []string {
	t.Helper()
	for _, block := range fence.FindAllStringSubmatch(readme(t), -1) {
		if !strings.HasPrefix(block[2], first) {
			continue
		}
		lines := strings.Split(strings.TrimSpace(block[2]), "\n")
		for i, line := range lines {
			line, _, _ = strings.Cut(line, " #")
			lines[i] = strings.TrimSpace(line)
		}
		return lines
	}
	t.Fatalf("the README has no block that begins with %s", first)
	return nil
}

func TestEveryCommandOfTheReadmeRuns(t *testing.T) {
	t.Parallel()
	need(t, "bash", "jq")
	h := newHome(t)
	first := func(list string) string { return h.must(t, "fundesk --profile demo -q "+list+" --limit 1 -o id") }
	h.env = append(
		h.env,
		"FUNDESK_PROFILE=demo",
		"PERSON="+first("person list"),
		"CALL="+first("call list --status requested"),
		"PLEDGE="+first("pledge list --status active"),
		"ORGANIZATION="+strings.Trim(h.must(t, "fundesk --profile demo -q person list --limit 1 --jq '.[0].owningOrganization.uuid'"), `"`),
	)
	h.must(t, `printf '{"personUuid":"%s","requestedAt":"2026-11-20","type":"happy_call"}\n' $PERSON > new-calls.ndjson`)
	var others []string
	for _, block := range fence.FindAllStringSubmatch(readme(t), -1) {
		if block[1] == "sh" {
			h.must(t, "set -euo pipefail\n"+block[2])
			continue
		}
		line, _, _ := strings.Cut(block[2], "\n")
		others = append(others, line)
	}
	// The tests below run these, with other addresses.
	for _, begins := range []string{"go run ./cmd/fundesk demo", "fundesk demo", "fundesk profile add prod", "fundeskd serve --sandbox"} {
		i := slices.IndexFunc(others, func(line string) bool { return strings.HasPrefix(line, begins) })
		if i < 0 {
			t.Errorf("the README has no block that begins with %s", begins)
			continue
		}
		others = slices.Delete(others, i, i+1)
	}
	if len(others) > 0 {
		t.Errorf("no test runs the blocks of the README that begin with %q", others)
	}
}

func TestEveryCommandThatTheReadmeNamesIsThere(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	var names []string
	for _, match := range inline.FindAllStringSubmatch(readme(t), -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 15 {
		t.Fatalf("got %q, want at least 15 commands", names)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "fundesk help ") {
			h.must(t, name)
			continue
		}
		// Help of a command that is not there is that of the one above it.
		if out := h.must(t, name+" --help"); !strings.Contains(out, "\n  "+name) {
			t.Errorf("%s --help: got\n%s\nwant a usage line of that command", name, out)
		}
	}
}

// The first lines of the README, in a checkout: go test is what runs this.
func TestReadmeFromTheSources(t *testing.T) {
	t.Parallel()
	need(t, "bash", "go")
	h := newHome(t)
	checkout, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	// What is downloaded and built already may be used.
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN"} {
		out := h.must(t, "HOME="+shellQuote(os.Getenv("HOME"))+" go env "+name)
		h.env = append(h.env, name+"="+out)
	}
	h.env = append(h.env, "GOBIN="+filepath.Join(h.dir, "bin"))
	if !strings.Contains(readme(t), "`go install ./cmd/...`") {
		t.Error("the README has no go install ./cmd/...")
	}
	h.must(t, "cd "+shellQuote(checkout)+" && go install ./cmd/...")
	h.must(t, "bin/fundesk version && bin/fundeskd --version")

	lines := readmeBlock(t, "go run ./cmd/fundesk demo")
	if len(lines) != 2 || lines[1] != "go test ./..." {
		t.Fatalf("got %q, want two lines, and the second is go test ./...", lines)
	}
	term := h.openTerminal(t, 120, 36)
	term.write("cd " + shellQuote(checkout) + " && " + lines[0])
	term.send("Enter")
	term.waitFor("take the next call")
	term.take()
	term.send("q")
	term.wait("the shell", func(screen string) bool { return !strings.Contains(screen, "Desk") })
}

// shellQuote keeps a shell from reading anything into a text.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func TestReadmeAgainstAService(t *testing.T) {
	t.Parallel()
	need(t, "bash", "dbus-run-session", "gnome-keyring-daemon")
	h := newHome(t)
	url := h.serve(t)
	token := h.must(t, "fundeskd account add desk --all-organizations")
	term := h.openTerminal(t, 120, 36)
	entered := 0
	// The screen of the line before must not be taken for that of the next.
	enter := func(line, want string) {
		t.Helper()
		entered++
		term.write(fmt.Sprintf("clear; echo line '%d'; %s", entered, line))
		term.send("Enter")
		begun := fmt.Sprintf("line %d\n", entered)
		term.wait(want, func(screen string) bool {
			_, after, found := strings.Cut(screen, begun)
			return found && strings.Contains(after, want)
		})
	}
	enter("PS1='with '' a bus> ' dbus-run-session -- bash --norc --noprofile", "with  a bus>")
	enter(unlockKeyring+"; echo unlocked $?", "unlocked 0")
	for _, line := range readmeBlock(t, "fundesk profile add prod") {
		line = strings.ReplaceAll(line, "https://service.example", url)
		switch line {
		case "fundesk auth login":
			enter(line, "Token")
			term.write(token)
			term.send("Enter")
			term.waitFor("the token is in the keyring")
		case "fundesk tui":
			term.write(line)
			term.send("Enter")
			term.waitFor("take the next call")
			term.send("q")
			term.wait("the shell", func(screen string) bool { return !strings.Contains(screen, "Desk") })
		default:
			enter(line+"; echo ended $?", "ended 0")
		}
	}
	term.write("exit")
	term.send("Enter")
	h.wantNoDaemon(t)
}

func TestReadmeSandbox(t *testing.T) {
	t.Parallel()
	need(t, "bash", "curl")
	h := newHome(t)
	lines := readmeBlock(t, "fundeskd serve --sandbox")
	out := h.start(t, append(strings.Fields(lines[0])[1:], "--listen", "127.0.0.1:0")...)
	url, token := nextLine(t, out), nextLine(t, out)
	for _, line := range lines[1:] {
		if !strings.Contains(line, "localhost:8080") {
			t.Errorf("got %s, want a request to localhost:8080, where fundeskd serve listens", line)
		}
		h.must(t, strings.Replace(line, "localhost:8080", url, 1)+" --fail-with-body -sS")
	}
	h.env = append(h.env, "FUNDESK_BASE_URL="+url, "FUNDESK_TOKEN="+token)
	h.must(t, "test $(fundesk person list --limit 5 -o id | wc -l) = 5")
}
