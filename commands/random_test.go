package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/commands/cli"
	"fundesk/service/servicetest"
)

var (
	randomLines = flag.Int("random", 1500, "random command lines to run")
	randomSeed  = flag.Uint64("seed", 1, "seed of the random command lines; 0: another one each time")
)

// Whatever is typed, against a service that does whatever it likes: no panic, an exit
// code of the table, and an end.
func TestRandomCommandLines(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	seed := *randomSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	const workers = 4
	for worker := range workers {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			m := &monkey{T: t, Rand: rand.New(rand.NewPCG(seed, uint64(worker))), home: t.TempDir()}
			m.leaves = leavesOf(wholeTree(t))
			address := serving(t, faultyAnswers(rand.New(rand.NewPCG(seed, uint64(worker)+workers))).ServeHTTP)
			m.url = address
			for n := range *randomLines / workers {
				m.run(n)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// leavesOf returns the commands that do something. The terminal interface is left out: off a terminal it only explains
// itself.
func leavesOf(root *cobra.Command) []*cobra.Command {
	var leaves []*cobra.Command
	walkCommands(root, func(cmd *cobra.Command) {
		if !cmd.HasSubCommands() && cmd.Name() != "tui" && cmd.Name() != "demo" {
			leaves = append(leaves, cmd)
		}
	})
	return leaves
}

// monkey types command lines.
type monkey struct {
	*testing.T
	*rand.Rand
	leaves []*cobra.Command
	home   string
	url    string
}

func pick[T any](m *monkey, all ...T) T { return all[m.IntN(len(all))] }

func (m *monkey) run(n int) {
	args, stdin := m.line(), m.stdin()
	environment := map[string]string{
		"HOME": m.home, "FUNDESK_TOKEN": pick(m, "secret-token", "secret-token", "secret-token", "", "secret token\n"),
		"FUNDESK_BASE_URL": pick(m, m.url, m.url, m.url, ""), "FUNDESK_PROFILE": pick(m, "", "", "", "p1", "no/good"),
	}
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(m.Context(), 2*time.Second)
	defer cancel()
	code := -1
	func() {
		defer func() {
			if problem := recover(); problem != nil {
				m.Errorf("%d: %q panics: %v\n%s", n, args, problem, debug.Stack())
			}
		}()
		code = Run(ctx, args, cli.App{
			In:      strings.NewReader(stdin),
			Out:     &stdout,
			Err:     &stderr,
			Now:     time.Now,
			Version: func() string { return "test" },
			Getenv:  func(name string) string { return environment[name] },
			Sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
	}()
	if !slices.Contains(slices.Collect(maps.Values(cli.ExitCodes)), code) && code != 0 {
		m.Errorf("%d: %q: got exit code %d, want one of the table\n%s", n, args, code, stderr.String())
	}
	if code != 0 && stderr.Len() == 0 {
		m.Errorf("%d: %q: got exit code %d and nothing on stderr", n, args, code)
	}
	// The word behind its name may look like a flag.
	if code != 0 && cli.WantsJSON(args) && !slices.Contains(args, "--arg") {
		last := bytes.TrimSpace(stderr.Bytes())
		last = last[bytes.LastIndexByte(last, '\n')+1:]
		var line struct{ Error *cli.Report }
		if json.Unmarshal(last, &line) != nil || line.Error == nil || line.Error.Kind == "" {
			m.Errorf("%d: %q: got %q on stderr, want a JSON error at its end", n, args, stderr.String())
		}
	}
	shown := stdout.String() + stderr.String()
	// A guess prints the heads of a file, and here stdin is a token.
	asked := slices.Contains(args, "token") || slices.Contains(args, "--guess")
	if strings.Contains(shown, "secret-token") && !asked {
		m.Errorf("%d: %q shows the token:\n%s", n, args, shown)
	}
}

// line returns a command with some of its flags, mostly sensible ones.
func (m *monkey) line() []string {
	cmd := pick(m, m.leaves...)
	args := strings.Fields(cmd.CommandPath())[1:]
	if m.IntN(40) == 0 {
		args = append(args, m.word()) // A verb too many, or a wrong one.
	}
	var flags []*pflag.Flag
	collect := func(f *pflag.Flag) {
		if f.Name != "watch" && f.Name != "follow" { // They never end by themselves.
			flags = append(flags, f)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	for range m.IntN(5) {
		f := pick(m, flags...)
		switch value := m.value(f); {
		case f.Value.Type() == "bool" && m.IntN(4) > 0:
			args = append(args, "--"+f.Name)
		case m.IntN(30) == 0:
			args = append(args, "--"+f.Name) // Its value is missing.
		case m.IntN(2) == 0:
			args = append(args, "--"+f.Name+"="+value)
		default:
			args = append(args, "--"+f.Name, value)
		}
	}
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if m.IntN(15) > 0 {
			args = append(args, m.argument(cmd, word)...)
		}
	}
	if m.IntN(3) > 0 {
		args = append(args, "--yes")
		if cmd.Flags().Lookup("yes") == nil {
			args = args[:len(args)-1]
		}
	}
	return args
}

// argument returns a value for a word of a usage line.
func (m *monkey) argument(cmd *cobra.Command, word string) []string {
	switch {
	case strings.HasPrefix(word, "UUID"), strings.HasPrefix(word, "[UUID"):
		all := []string{pick(m, testID, testID, testID, "-", m.word())}
		for m.IntN(3) == 0 {
			all = append(all, testID)
		}
		return all
	case strings.Contains(word, "ENTITY"):
		return []string{pick(m, "person", "call", "pledge", "transaction", m.word())}
	case word == "ACTION":
		return []string{pick(m, "drop", "cancel", "activate", "start", m.word())}
	case word == "METHOD":
		return []string{pick(m, "GET", "get", "PUT", "POST", "DELETE", m.word())}
	case word == "PATH":
		return []string{pick(m, "/api/v1/calls", "/api/v1/calls?first=1", "/", "//x", m.word())}
	case word == "FILE":
		return []string{m.file()}
	case word == "NAME", word == "[NAME]":
		return []string{pick(m, "p1", "p2", "demo", m.word())}
	case strings.Contains(word, "bash"):
		return []string{pick(m, "bash", "zsh", "fish", "powershell", m.word())}
	case word == "|", word == "-", strings.HasPrefix(word, "["):
		return nil
	default:
		return []string{m.word()}
	}
}

// value returns a value for a flag, mostly of its kind. No address leads to another machine,
// and no file out of the home folder.
func (m *monkey) value(f *pflag.Flag) string {
	switch f.Name {
	case "base-url":
		return pick(m, m.url, m.url+"/", "http://127.0.0.1:1", "http://api.example.org", "nonsense", "embedded:demo",
			"")
	case "file", "input", "results", "state", "errors", "mapping":
		return m.file()
	case "profile":
		return pick(m, "p1", "p2", "nowhere", m.word())
	case "output":
		return pick(m, "json", "ndjson", "table", "csv", "tsv", "id", m.word())
	case "jq":
		return pick(m, ".", ".[]", ".uuid", ".[0].status", "length", "error", "[.[]|.a", "..", "input", "env",
			"halt_error", `"\(.)"`, "limit(3; repeat(1))")
	case "columns":
		return pick(m, "uuid", "uuid,status", m.word())
	case "token-command":
		return pick(m, "/nonexistent/program", "")
	case "timeout":
		return pick(m, "1s", "200ms", "0s", "-1s", m.word())
	case "clear":
		return pick(m, "iban", "name.initials", "endsAt", m.word())
	}
	switch f.Value.Type() {
	case "int":
		return pick(m, "1", "3", "0", "-1", "500", "99999999999999999999", m.word())
	case "bool":
		return pick(m, "true", "false", m.word())
	case "duration":
		return pick(m, "1s", "1ms", "0", "-3h", m.word())
	default:
		return pick(m, testID, "2026-11-20", "7d", "now", "12.50", "1e400", "true", "a@example.org", `{"a":1}`,
			m.word())
	}
}

func (m *monkey) file() string {
	return pick(m, "-", "-", filepath.Join(m.home, "a.ndjson"), filepath.Join(m.home, "b.csv"),
		filepath.Join(m.home, "missing", "c"), m.home)
}

// word returns a text that no user should type.
func (m *monkey) word() string {
	return pick(m, "", " ", "x", "-", "--", "-x", "--nonsense", "\x1b[31m", "\u202e", "\xff\xfe", "é", "%s%n", "../..",
		"'", `"`, "null", "0", strings.Repeat("long", 500), "a\nb", "NaN", "$(id)", "{}", "[")
}

// stdin returns the input of a pipe.
func (m *monkey) stdin() string {
	return pick(m, "", testID+"\n"+testID+"\n", `{"uuid":"`+testID+`"}`+"\n", "secret-token-of-stdin\n", "nonsense\n",
		"\x00\xff", `{"name":{"lastName":"A"}}`+"\n", "uuid,name.lastName\n"+testID+",A\n",
		`{"entityName":"call","entityUuid":"`+testID+`"}`+"\n", "[", strings.Repeat("{", 9000), "y\n")
}

// faultyAnswers returns a service that now and then answers as the interface allows.
func faultyAnswers(random *rand.Rand) http.Handler {
	record := `{"uuid":"` + testID + `","status":"requested","type":"winback","attempts":[],"attemptsCount":0,"notes":"a","donationAmount":12.345,"person":{"uuid":"` + testID + `","firstName":"\u001b[31m"}}`
	page := `{"pageInfo":{"hasNextPage":false,"endCursor":"c"},"edges":[{"cursor":"c","node":` + record + `}]}`
	bodies := []string{
		record, page, record, page, page, "[]", "{}", "null", "", "7", `"text"`, record[:40], page[:60], "<h1>no</h1>",
		strings.Repeat("[", 20000),
		`{"pageInfo":{"hasNextPage":true,"endCursor":"c"},"edges":[]}`, `{"edges":7}`, `{"edges":[7]}`,
		`{"a":[],"b":[]}`, "[" + record + "," + record + "]",
		`{"uuid":7,"status":[],"person":"x","attempts":{}}`,
		`{"errors":[{"entityName":"call","entityUuid":"` + testID + `","errorMessage":"no"}]}`, "\xff\xfe",
		`{"detail":{"detail":{"detail":[]}}}`,
	}
	statuses := []int{
		200, 200, 200, 200, 201, 204, 301, 400, 401, 403, 404, 408, 409, 412, 413, 422, 429, 500,
		502, 503, 599, 999,
	}
	types := []string{
		"application/json", "application/json", "application/json", "text/html",
		"application/problem+json", "", "x/y; charset=\"",
	}
	guard := make(chan struct{}, 1)
	choose := func(n int) int {
		guard <- struct{}{}
		defer func() { <-guard }()
		return random.IntN(n)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if choose(12) == 0 {
			reset(w, r)
			return
		}
		w.Header().Set("Content-Type", types[choose(len(types))])
		w.Header().Set("Retry-After", []string{"0", "1", "100000", "-1", "never"}[choose(5)])
		w.Header().Set("Date", []string{"", "nonsense", time.Now().UTC().Format(http.TimeFormat)}[choose(3)])
		w.WriteHeader(statuses[choose(len(statuses))])
		_, _ = io.WriteString(w, bodies[choose(len(bodies))])
	})
}
