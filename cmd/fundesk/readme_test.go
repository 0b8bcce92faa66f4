package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fence is a block of a page: "sh" says that it can be run as it stands.
var fence = regexp.MustCompile("(?s)\n```([a-z]*)\n(.*?)```")

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

// documents are the README and the pages of docs, by their names.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(files) < 5 {
		t.Fatalf("got the pages %q, %v, want five at least", files, err)
	}
	texts := map[string]string{"README.md": readme(t)}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}

// The commands of a page run as they stand, one after the other in one shell. Pages that work
// on the demo share it.
func TestCommandsOfThePagesRun(t *testing.T) {
	t.Parallel()
	need(t, "bash", "jq", "curl")
	texts := documents(t)
	scripts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, block := range fence.FindAllStringSubmatch(texts[name], -1) {
			if block[1] == "sh" {
				scripts[name] += block[2]
			}
		}
	}
	for _, group := range [][]string{{"README.md", "agent.md", "back-office.md", "supervisor.md"}, {"integrator.md"}, {"operator.md"}} {
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
	for name := range scripts {
		if !slices.Contains([]string{"README.md", "agent.md", "back-office.md", "supervisor.md", "integrator.md", "operator.md"}, name) {
			t.Errorf("nothing runs the commands of %s", name)
		}
	}
}

// The programs of docs/examples do the same day against a sandbox. All persons are pulled in the
// first night, and none in the second.
func TestExamplesOfPrograms(t *testing.T) {
	t.Parallel()
	need(t, "bash", "curl", "jq", "python3")
	folder, err := filepath.Abs(filepath.Join("..", "..", "docs", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	// Its records are older than the two minutes that a night looks back, at midnight too.
	out := h.start(t, "serve", "--sandbox", "--persons", "520", "--start-time", "2026-11-20T12:00:00Z", "--listen", "127.0.0.1:0")
	h.env = append(h.env, "FUNDESK_BASE_URL="+nextLine(t, out), "FUNDESK_TOKEN="+nextLine(t, out))
	for _, program := range []string{filepath.Join(folder, "day.sh"), filepath.Join(folder, "day.py"), build(t, "fundesk/docs/examples/go")} {
		name := filepath.Base(program)
		for _, persons := range []string{"520", "0"} {
			printed, errs, code := h.run(t, "mkdir -p "+name+".day && cd "+name+".day && "+shellQuote(program))
			if code != 0 || printed != persons+" persons\ncall completed\nrefused\n" || !strings.Contains(errs, "/email: must be one e-mail address") {
				t.Errorf("%s: got exit code %d, %q and %q, want %s persons and a refusal that names the field", name, code, printed, errs, persons)
			}
		}
		if lines := h.must(t, "jq -r .uuid "+name+".day/persons.ndjson | sort -u | wc -l"); strings.TrimSpace(lines) != "520" {
			t.Errorf("%s: got %s persons in its file, want each of 520", name, lines)
		}
	}
}

// The files that docs/configuration.md shows are read as they stand.
func TestFilesOfTheConfigurationPage(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	blocks := map[string]string{} // The first of each kind.
	for _, block := range fence.FindAllStringSubmatch(documents(t)["configuration.md"], -1) {
		if blocks[block[1]] == "" {
			blocks[block[1]] = block[2]
		}
	}
	config := filepath.Join(h.dir, ".config", "fundesk")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(config, "config.toml"): blocks["toml"], filepath.Join(h.dir, "records.ndjson"): blocks["json"]} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := h.must(t, "fundesk profile show -o json"); !strings.Contains(out, `"effect":"opt-out"`) || !strings.Contains(out, `"weekday":"09:00-21:00"`) {
		t.Errorf("got the profile %s, want what the page shows", out)
	}
	h.must(t, "fundeskd load records.ndjson && fundeskd check")
}

// link is a link of a page to a file.
var link = regexp.MustCompile(`\]\(([^):#]+)\)`)

func TestWhatThePagesNameIsThere(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	var names []string
	for page, text := range documents(t) {
		folder := filepath.Join("..", "..", "docs")
		if page == "README.md" {
			folder = filepath.Dir(folder)
		}
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(folder, match[1])); err != nil {
				t.Errorf("%s leads nowhere: %v", page, err)
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
