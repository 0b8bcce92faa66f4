package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// fence is a block of a page. "sh" means that it runs as it is.
var fence = regexp.MustCompile("(?s)\n```([a-z]*)\n(.*?)```")

// inline is a command within the text, with the words that name it.
var inline = regexp.MustCompile("`(?:[A-Z]+=\\S+ )?(fundeskd?(?: [a-z][a-z-]*)*)(?: [^`]*)?`")

// pageBlock returns the lines, without their comments, of the block of a page that begins with first.
func pageBlock(t *testing.T, page, first string) []string {
	t.Helper()
	for _, block := range fence.FindAllStringSubmatch(documents(t)[page], -1) {
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
	t.Fatalf("%s has no block that begins with %s", page, first)
	return nil
}

// documents returns the docs that the packages install, by their paths in the tree.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	root := filepath.Join("..", "..")
	for _, pattern := range []string{
		"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "service/*.md",
		"cmd/fundeskd/deploy/*.md",
	} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		servicetest.Check(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			servicetest.Check(t, err)
			name, _ := filepath.Rel(root, file)
			texts[filepath.ToSlash(name)] = string(text)
		}
	}
	if len(texts) < 20 {
		t.Fatalf("got %d docs, want 20 at least", len(texts))
	}
	return texts
}

// runs names what runs the blocks of each page: pages of one group share a home and a shell. What is
// not for sh is console (typed at a terminal), text (the operator's page on a booted machine), a
// file that is read, or output.
var runs = [][]string{
	{"docs/agent.md", "docs/back-office.md", "docs/supervisor.md", "docs/floor-setup.md"},
	{"docs/integrator/tutorial.md"},
	{"docs/integrator/sandbox.md"},
	{"docs/integrator/errors-and-retries.md"},
	{"docs/operator.md"},
	{"docs/contributing/debugging.md"},
}

// TestPagesRunWithTheRolesThatTheyName runs the commands of pages that are written for people at a server, with an
// account that has the role of the page's reader and no more.
func TestPagesRunWithTheRolesThatTheyName(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "jq")
	server := newHome(t)
	url := server.serve(t)
	organization := server.must(t, "fundeskd organization list -o json | jq -r '.[0].uuid'")
	for page, role := range map[string]string{
		"docs/agent.md":       "agent",
		"docs/back-office.md": "back-office",
		"docs/supervisor.md":  "supervisor",
		"docs/floor-setup.md": "supervisor",
	} {
		t.Run(page, func(t *testing.T) {
			h := newHome(t)
			account := fmt.Sprintf("fundeskd account add %s --organization %s --role %s",
				filepath.Base(page), organization, role)
			h.env = append(h.env, "URL="+url, "TOKEN="+server.must(t, account))
			h.must(
				t,
				`printf %s "$TOKEN" | fundesk auth login --profile mine --base-url "$URL" --with-token --insecure-storage`,
			)
			var script strings.Builder
			for _, block := range fence.FindAllStringSubmatch(documents(t)[page], -1) {
				if block[1] == "sh" {
					script.WriteString(block[2])
				}
			}
			text := strings.ReplaceAll(script.String(), "FUNDESK_PROFILE=demo", "FUNDESK_PROFILE=mine")
			h.must(t, "set -euo pipefail\nexport FUNDESK_PROFILE=mine\n"+text)
		})
	}
}

// TestTutorialRunsWithItsRoles runs the commands of the tutorial with accounts of the roles that it names: those that
// create records as an importer, and all others as a consumer.
func TestTutorialRunsWithItsRoles(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "curl", "jq")
	const page = "docs/integrator/tutorial.md"
	h := newHome(t)
	var script strings.Builder
	for _, role := range []string{"importer", "consumer"} {
		if !strings.Contains(documents(t)[page], "`"+role+"`") {
			t.Errorf("the page does not name the role %s", role)
		}
		named, _ := service.RoleNamed(role)
		permissions, err := json.Marshal(named.Permissions)
		servicetest.Check(t, err)
		fmt.Fprintf(&script,
			`%s() { FUNDESK_TOKEN=$(curl -sS --fail-with-body -X POST "$FUNDESK_BASE_URL/sandbox/token" `+
				`-d '{"permissions":%s}' | jq -r .token); printf 'header = "Authorization: Bearer %%s"\n' "$FUNDESK_TOKEN" > curlrc; }`+"\n",
			role, permissions)
	}
	for i, block := range fence.FindAllStringSubmatch(documents(t)[page], -1) {
		if block[1] != "sh" {
			continue
		}
		creates := "/api/v1/persons\" -d"
		if strings.Contains(block[2], creates) {
			block[2] = "importer\n" + block[2]
		} else if i > 0 {
			block[2] = "consumer\n" + block[2]
		}
		script.WriteString(strings.ReplaceAll(block[2], "\nfundesk call import", "\nimporter\nfundesk call import"))
	}
	if n := strings.Count(script.String(), "\nimporter\n"); n != 2 {
		t.Errorf("got %d commands that create records, want 2", n)
	}
	h.must(t, "set -euo pipefail\n"+script.String())
}

func TestCommandsOfThePagesRun(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "jq", "curl")
	scripts := map[string]string{}
	for name, text := range documents(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if block[1] == "sh" {
				scripts[name] += block[2]
			}
		}
	}
	for name := range scripts {
		if !slices.ContainsFunc(runs, func(group []string) bool { return slices.Contains(group, name) }) {
			t.Errorf("nothing runs the commands of %s", name)
		}
	}
	for _, group := range runs {
		t.Run(strings.Join(group, " "), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			for _, name := range group {
				if scripts[name] == "" {
					t.Errorf("%s has no commands", name)
				}
				h.must(t, "set -euo pipefail\n"+scripts[name])
			}
		})
	}
}

// The programs of docs/integrator/examples do the same day against a sandbox. All persons are pulled in the
// first night, and none in the second.
func TestExamplesOfPrograms(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "curl", "jq", "python3")
	folder, err := filepath.Abs(filepath.Join("..", "..", "docs", "integrator", "examples"))
	servicetest.Check(t, err)
	h := newHome(t)
	// Its records are older than the two minutes that a night looks back, at midnight too.
	out := h.start(t, "serve", "--sandbox", "--persons", "520", "--start-time", "2026-11-20T12:00:00Z", "--listen",
		"127.0.0.1:0")
	h.env = append(h.env, "FUNDESK_BASE_URL="+nextLine(t, out), "FUNDESK_TOKEN="+nextLine(t, out))
	for _, program := range []string{
		filepath.Join(folder, "day.sh"),
		filepath.Join(folder, "day.py"),
		build(t, "fundesk/docs/integrator/examples/go"),
	} {
		name := filepath.Base(program)
		for _, persons := range []string{"520", "0"} {
			printed, errs, code := h.run(t, "mkdir -p "+name+".day && cd "+name+".day && "+shellQuote(program))
			if code != 0 ||
				printed != persons+" persons\ncall completed\nrefused\n" ||
				!strings.Contains(errs, "/email: must be one e-mail address") {
				t.Errorf("%s: got exit code %d, %q and %q, want %s persons and a refusal that names the field",
					name, code, printed, errs, persons)
			}
		}
		lines := h.must(t, "jq -r .uuid "+name+".day/persons.ndjson | sort -u | wc -l")
		if strings.TrimSpace(lines) != "520" {
			t.Errorf("%s: got %s persons in its file, want each of 520", name, lines)
		}
	}
	h.followByExample(t, filepath.Join(folder, "follow.py"))
}

// followByExample has a program of the examples keep a copy of a person who is created, corrected and erased.
func (h home) followByExample(t *testing.T, program string) {
	t.Helper()
	const read = `import sqlite3; print(*sqlite3.connect("persons.db").execute("SELECT record FROM persons"))`
	follow := func(until string) {
		t.Helper()
		pull := "fundesk pull changes -q --exec " + shellQuote("python3 "+program)
		h.must(t, "until "+pull+" || exit 1; test -e persons.db && python3 -c '"+read+"' | "+until+"; do :; done")
	}
	owner := strings.TrimSpace(h.must(t,
		"fundesk person list --limit 1 -q -o json --jq '.[0].owningOrganization.uuid' | tr -d '\"'"))
	create := "fundesk person create --last-name Before --owning-organization O --recruiting-organization O -o id"
	id := strings.TrimSpace(h.must(t, strings.ReplaceAll(create, "-organization O", "-organization "+owner)))
	follow("grep -q Before")
	h.must(t, "fundesk person update "+id+" --last-name After")
	follow("grep -q After")
	const eraser = `curl -sS --fail-with-body -X POST "$FUNDESK_BASE_URL/sandbox/token" -d '{"permissions":["persons:read","persons:erase"]}'`
	h.must(t, "FUNDESK_TOKEN=$("+eraser+" | jq -r .token) fundesk person erase "+id+" --reason asked --yes")
	follow("grep -v " + id + " > /dev/null")
}

// The files in docs/configuration.md are read as they are.
func TestFilesOfTheConfigurationPage(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	blocks := map[string]string{} // The first of each kind.
	for _, block := range fence.FindAllStringSubmatch(documents(t)["docs/configuration.md"], -1) {
		if blocks[block[1]] == "" {
			blocks[block[1]] = block[2]
		}
	}
	config := filepath.Join(h.dir, ".config", "fundesk")
	servicetest.Check(t, os.MkdirAll(config, 0o700))
	for path, text := range map[string]string{
		filepath.Join(config, "config.toml"):   blocks["toml"],
		filepath.Join(h.dir, "records.ndjson"): blocks["json"],
	} {
		servicetest.Check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	out := h.must(t, "fundesk profile show -o json")
	if !strings.Contains(out, `"effect":"opt-out"`) || !strings.Contains(out, `"weekday":"09:00-21:00"`) {
		t.Errorf("got the profile %s, want what the page shows", out)
	}
	h.must(t, "fundeskd load records.ndjson && fundeskd check")
}

// link is a link of a page to a file.
var link = regexp.MustCompile(`\]\(([^):#]+)(?:#([^)]*))?\)`)

// anchors returns the headings of a page as links name them.
func anchors(text string) []string {
	var names []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\pL\d _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

func TestWhatThePagesNameIsThere(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	var names []string
	for page, text := range documents(t) {
		folder := filepath.Join("..", "..", filepath.Dir(filepath.FromSlash(page)))
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			linked, err := os.ReadFile(filepath.Join(folder, match[1]))
			if errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s leads nowhere: %v", page, err)
			}
			if match[2] != "" && !slices.Contains(anchors(string(linked)), match[2]) {
				t.Errorf("%s leads to no heading: %s#%s", page, match[1], match[2])
			}
		}
		for _, match := range inline.FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
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
		// Help for an unknown command shows that of the command above it.
		if out := h.must(t, name+" --help"); !strings.Contains(out, "\n  "+name) {
			t.Errorf("%s --help: got\n%s\nwant a usage line of that command", name, out)
		}
	}
}

var number = regexp.MustCompile(`\d+`)

// The README shows what its command prints. Its numbers are of the day: the sample data ends at the present time.
func TestOutputOfTheReadme(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	_, shown, _ := strings.Cut(documents(t)["README.md"], "```text\n$ ")
	shown, _, _ = strings.Cut(shown, "```")
	command, want, _ := strings.Cut(shown, "\n")
	words := func(table string) []string { return strings.Fields(number.ReplaceAllString(table, "N")) }
	if got := newHome(t).must(t, command+" -o table"); !slices.Equal(words(got), words(want)) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The first lines of the README run in a fresh clone.
func TestReadmeFromTheSources(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "go", "git")
	h := newHome(t)
	checkout, err := filepath.Abs(filepath.Join("..", ".."))
	servicetest.Check(t, err)
	if err := exec.Command("git", "-C", checkout, "rev-parse", "--verify", "-q", "HEAD").Run(); err != nil {
		t.Skip("this is not a checkout of git")
	}
	// What is downloaded and built already may be used.
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOTOOLCHAIN"} {
		out := h.must(t, "HOME="+shellQuote(os.Getenv("HOME"))+" go env "+name)
		h.env = append(h.env, name+"="+out)
	}
	// These are a release's flags: .ci/release finds compiled what this test compiles, in whichever folder.
	h.env = append(h.env, "GOFLAGS=-trimpath -ldflags=-w", "CGO_ENABLED=0", "GOBIN="+filepath.Join(h.dir, "bin"))
	if !strings.Contains(documents(t)["README.md"], "`go install ./cmd/...`") {
		t.Error("the README has no go install ./cmd/...")
	}
	lines := pageBlock(t, "README.md", "git clone https://fundesk.example/fundesk")
	if len(lines) != 2 || lines[1] != "go run ./cmd/fundesk demo" {
		t.Fatalf("got %q, want a clone and go run ./cmd/fundesk demo", lines)
	}
	clone := strings.Replace(lines[0], "https://fundesk.example/fundesk", "-q "+shellQuote(checkout)+" fundesk", 1)
	h.must(t, clone+" && go install ./cmd/...")
	h.must(t, "bin/fundesk version && bin/fundeskd --version")
	term := h.openTerminal(t, 120, 36)
	term.write("cd fundesk && " + lines[1])
	term.send("Enter")
	term.waitFor("take the next call")
	term.take()
	term.send("q")
	term.wait("the shell", func(screen string) bool { return !strings.Contains(screen, "Desk") })
}

// shellQuote keeps a shell from reading anything into a text.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func TestAgentsPageAgainstAService(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "dbus-run-session", "gnome-keyring-daemon")
	h := newHome(t)
	url := h.serve(t)
	token := h.must(t, "fundeskd user add Anneke > /dev/null && fundeskd account add desk --all-organizations")
	term := h.openTerminal(t, 120, 36)
	entered := 0
	// A screen of one line must not pass for that of the next.
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
	for _, line := range pageBlock(t, "docs/agent.md", "fundesk auth login --profile work") {
		line = strings.ReplaceAll(line, "https://service.example", url)
		switch verb, _, _ := strings.Cut(line, " --"); verb {
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
