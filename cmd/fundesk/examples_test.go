package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// runElsewhere matches the examples that other tests run, in a terminal or with an identity provider.
var runElsewhere = regexp.MustCompile(`^fundesk (demo|tui|queue agents --watch)|fundesk auth login`)

// beforeExamples has what a reader does before the examples that match: CALL and LEASE are then known.
var beforeExamples = map[string]string{
	`LEASE`:                  `LEASE=$(fundesk queue take --jq '.[].leaseUuid' -o tsv)`,
	`outbox (show|drop) 01k`: `fundesk call cancel $CALL --yes; fundesk call attempt $CALL --outbox; ENTRY=$(fundesk outbox list -o id)`,
	`"rejected"`:             `fundesk call cancel $CALL --yes; fundesk call attempt $CALL --outbox`,
	`queue callbacks -o id`:  `fundesk queue later $CALL --at 'in 2 days'`,
	`--attempts 3`:           `for hour in 1 2 3; do fundesk call attempt $CALL --attempted-at ${hour}h; done`,
	`--offline`:              `fundesk copy sync`,
	`--follow`:               `fundesk person update $PERSON --language de`,
}

// onlyReads matches examples that leave the records of the service as they are.
var onlyReads = regexp.MustCompile(
	`^fundesk (auth|doctor|profile|query|version|\S+ (get|list|stats|status|checks))\b[^|&]*$`,
)

// TestExamplesOfHelp runs each example that the help of fundesk prints, in a home and on records of its own. What asks
// on a terminal is run with --yes, too.
func TestExamplesOfHelp(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "curl", "jq", "python3")
	ready := newHome(t)
	files := filepath.Join("testdata", "examples")
	servicetest.Check(t, os.CopyFS(ready.dir, os.DirFS(files)))
	ready.must(
		t,
		"sed -i s/NOW/"+time.Now().Add(-time.Hour).UTC().Format(
			"2006-01-02T15:04:05.000Z",
		)+"/g records.ndjson; head -n 1 records.ndjson > organization.ndjson",
	)
	out := ready.start(t, "serve", "--sandbox", "--load", "records.ndjson", "--listen", "127.0.0.1:0")
	url := nextLine(t, out)
	elsewhere := ready.start(t, "serve", "--sandbox", "--load", "organization.ndjson", "--listen", "127.0.0.1:0")
	services := []string{"URL=" + url, "OTHER=" + nextLine(t, elsewhere), "OTHER_TOKEN=" + nextLine(t, elsewhere)}
	ready.env = append(ready.env, services...)
	signIn := "export FUNDESK_TOKEN=" + sandboxToken(t, url) + "\n"
	ready.must(t, signIn+". ./ready.sh")
	run, changed := 0, true
	for _, example := range helpExamples(t, ready, "fundesk") {
		if runElsewhere.MatchString(example) {
			continue
		}
		run++
		h := newHome(t)
		h.env = append(h.env, services...)
		servicetest.Check(t, os.CopyFS(h.dir, os.DirFS(ready.dir)))
		line := strings.NewReplacer(
			"https://api.example.org", url,
			"queue extend 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b", "queue extend $LEASE",
			"queue release 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b", "queue release $LEASE",
			"2026-12-01T10:00:00Z", time.Now().Add(24*time.Hour).Format(time.RFC3339),
		).Replace(example)
		if changed {
			askSandbox(t, url, "/sandbox/reset", "{}")
		}
		changed = !onlyReads.MatchString(example)
		before := "export FUNDESK_TOKEN=" + sandboxToken(t, url) + "\n. ./example.sh " + strings.Fields(example)[1] +
			"\n"
		for pattern, lines := range beforeExamples {
			if regexp.MustCompile(pattern).MatchString(line) {
				before += "{ " + lines + "; } > before.log 2>&1\n"
				changed = true
			}
		}
		line = strings.ReplaceAll(line, "01k3f9c2", "$ENTRY")
		_, errs, code := h.run(t, before+"set -eo pipefail\n"+line)
		if code == 2 && strings.Contains(errs, "--yes") {
			_, errs, code = h.run(t, before+"set -eo pipefail\n"+line+" --yes")
		}
		if ended := strings.Contains(line, "--follow") && code == 143; code != 0 && !ended {
			t.Errorf("%s: exit %d\n%s", example, code, errs)
		}
	}
	if run < 170 {
		t.Errorf("ran %d examples, want those of every command", run)
	}
}

// beforeOperator has what an operator does before the examples that match.
var beforeOperator = map[string]string{
	`fundeskd restore`:       `SUM=$(fundeskd backup fundeskd-2026-11-20.db | cut -d ' ' -f 1)`,
	`fundeskd load|zcat`:     `rm -r .local; fundeskd migrate; gzip --keep records.ndjson`,
	`fundeskd erasures`:      `fundeskd person erase $PERSON --reason 'request 2026-17' --yes`,
	`--subject`:              `export FUNDESKD_OIDC_ISSUER=https://login.example`,
	`ACCOUNT`:                `fundeskd account add desk --all-organizations; ACCOUNT=$(fundeskd account list -o json | jq -r '.[0].uuid')`,
	`--settings floor\.toml`: `echo 'max_attempts = 8' > floor.toml`,
}

// TestExamplesOfOperator runs each example that the help of fundeskd prints, on a database of its own.
func TestExamplesOfOperator(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "jq", "gzip")
	ready := newHome(t)
	servicetest.Check(t, os.CopyFS(ready.dir, os.DirFS(filepath.Join("testdata", "examples"))))
	ready.must(t, "sed -i s/NOW/2026-11-20T09:00:00.000Z/g records.ndjson && fundeskd load records.ndjson")
	run := 0
	for _, example := range helpExamples(t, ready, "fundeskd") {
		if operatedElsewhere.MatchString(example) {
			continue
		}
		run++
		h := newHome(t)
		servicetest.Check(t, os.CopyFS(h.dir, os.DirFS(ready.dir)))
		line := accountArgument.ReplaceAllString(example, "$1 $$ACCOUNT")
		line = strings.NewReplacer(
			"sudo -u fundeskd ", "",
			"/srv/backup/", "",
			"/backup/", "",
			"/var/lib/fundesk/", h.dir+"/.local/share/fundesk/",
		).Replace(line)
		before := "umask 077; chmod -R go= .local; PERSON=3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11\n"
		for pattern, lines := range beforeOperator {
			if regexp.MustCompile(pattern).MatchString(line) {
				before += "{ " + lines + "; } > before.log 2>&1\n"
			}
		}
		_, errs, code := h.run(t, before+"set -eo pipefail\n"+line)
		if code != 0 && strings.Contains(errs, "--yes") {
			_, errs, code = h.run(t, before+"set -eo pipefail\n"+line+" --yes")
		}
		if code != 0 {
			t.Errorf("%s: exit %d\n%s", example, code, errs)
		}
	}
	if run < 45 {
		t.Errorf("ran %d examples, want those of every command", run)
	}
}

var (
	// operatedElsewhere matches the examples that other tests run.
	operatedElsewhere = regexp.MustCompile(`^fundeskd (serve|oidc check)|restore -$`)
	// accountArgument matches the argument of an account in an example.
	accountArgument = regexp.MustCompile(`(account set|account revoke|token issue) [0-9a-f-]{36}`)
)

// sandboxToken returns a token that may do everything.
func sandboxToken(t *testing.T, url string) string {
	t.Helper()
	var asked struct{ Token string }
	all, err := os.ReadFile(filepath.Join("testdata", "examples", "all.json"))
	servicetest.Check(t, err)
	servicetest.Check(t, json.Unmarshal(askSandbox(t, url, "/sandbox/token", string(all)), &asked))
	return asked.Token
}

func askSandbox(t *testing.T, url, path, body string) []byte {
	t.Helper()
	answer, err := http.Post(url+path, "application/json", strings.NewReader(body))
	servicetest.Check(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	servicetest.Check(t, err)
	if answer.StatusCode >= 300 {
		t.Fatalf("%s: %d %s", path, answer.StatusCode, text)
	}
	return text
}

// helpExamples returns the examples in the help of a program and of its commands. One shell prints the help of all
// commands of a level.
func helpExamples(t *testing.T, h home, program string) []string {
	t.Helper()
	var examples []string
	for level := []string{program}; len(level) > 0; {
		printed := h.must(t, "for command in '"+strings.Join(level, "' '")+"'; do $command --help; printf '\\0'; done")
		helps := strings.Split(strings.TrimSuffix(printed, "\x00"), "\x00")
		if len(helps) != len(level) {
			t.Fatalf("got %d texts of help of %d commands", len(helps), len(level))
		}
		var below []string
		for i, help := range helps {
			examples = append(examples, examplesIn(help)...)
			for _, child := range childCommand.FindAllStringSubmatch(help, -1) {
				if child[1] != "completion" && child[1] != "help" {
					below = append(below, level[i]+" "+child[1])
				}
			}
		}
		level = below
	}
	return examples
}

// examplesIn returns the examples of one help, each on one line.
func examplesIn(help string) []string {
	_, text, found := strings.Cut(help, "\nExamples:\n")
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.NewReplacer("\\\n", "", "&&\n", "&& ", "|\n", "| ").Replace(text)
	var examples []string
	for line := range strings.Lines(text) {
		examples = append(examples, strings.TrimSpace(line))
	}
	return examples
}

// childCommand matches the line of a command in the help of the one above it.
var childCommand = regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}[A-Z]`)
