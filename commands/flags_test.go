package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/service/servicetest"
)

// flagsService answers lists with a few records, notes what it is asked, and takes every
// change for done.
type flagsService struct {
	*httptest.Server
	mutex sync.Mutex
	asked strings.Builder
}

// requests returns the requests since the last call.
func (f *flagsService) requests() string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	defer f.asked.Reset()
	return f.asked.String()
}

func newFlagsService(t *testing.T) *flagsService {
	f := &flagsService{}
	f.Server = httptest.NewServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.Close)
	return f
}

// refusal is the status that a path asks for: /503/api/v1/calls, or a record 00000404-….
// 000 is not an answer at all.
var refusal = regexp.MustCompile(`/(?:00000)?(000|[45]\d\d)[-/]`)

func (f *flagsService) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	fmt.Fprintf(&f.asked, "> %s %s %s\n", r.Method, r.URL.RequestURI(), body)
	if value := r.Header.Get("X-Night"); value != "" {
		fmt.Fprintf(&f.asked, "> X-Night: %s\n", value)
	}
	w.Header()["Date"] = nil
	if asked := refusal.FindStringSubmatch(r.URL.Path); asked != nil {
		f.refuse(w, r, asked[1])
		return
	}
	w.Header().Set("Content-Type", "application/json")
	noun := filepath.Base(r.URL.Path)
	if r.URL.Query().Has("iban") { // A list without any sign of pages.
		noun = "bare"
	}
	if r.Method == http.MethodPut { // The record as it is afterwards.
		noun = filepath.Base(filepath.Dir(filepath.Dir(r.URL.Path)))
	}
	// A folder of other answers is mounted before the path of the interface.
	folder := strings.Trim(
		r.URL.Path[:max(strings.Index(r.URL.Path, "/api/v1"), strings.Index(r.URL.Path, "/fundesk/v1"), 0)],
		"/",
	)
	records, err := os.ReadFile(filepath.Join("testdata", "flags", folder, noun+".json"))
	if err == nil && (r.Method != http.MethodPost || folder != "") {
		w.Write(records)
		return
	}
	switch {
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusNotFound)
	case noun == "mark-processed":
		w.WriteHeader(http.StatusNoContent)
		return
	}
	io.WriteString(w, `{}`)
}

func (f *flagsService) refuse(w http.ResponseWriter, r *http.Request, code string) {
	if code == "000" {
		reset(w, r)
		return
	}
	w.Header().Set("X-Request-Id", "r"+code)
	n, _ := strconv.Atoi(code)
	status(n, "application/problem+json", `{"title":"no","detail":"refused with `+code+`"}`)(w, r)
}

// Each flag changes what is sent or printed: testdata/flags/*.txt are command lines, below each
// the requests that it made, what it printed, and its exit code. A line with # begins with
// another home folder. Before a command may stand variables (NAME=value) and tty, which runs it on
// a terminal of 60 cells, full, where its output goes to a full disk, and desk, the desk by questions;
// after it < and what comes through stdin. write FILE TEXT and cat FILE are
// no commands of fundesk, and $ID is the entry of the outbox that was named last:
//
//	go test ./commands -run TestFlags -update
func TestFlags(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/flags/*.txt")
	if err != nil || files == nil {
		t.Fatalf("got %v, %v, want files", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			servicetest.Check(t, err)
			var got []string
			for story := range strings.SplitSeq(strings.TrimPrefix(string(want), "# "), "\n\n# ") {
				got = append(got, playFlags(t, "# "+story))
			}
			text := strings.Join(got, "\n") // Each ends with a line's end.
			if *update {
				writeFile(t, file, text)
			}
			if diff := cmp.Diff(string(want), text); diff != "" && !*update {
				t.Errorf("%s (-want +got); go test ./commands -run TestFlags -update rewrites it:\n%s", file, diff)
			}
		})
	}
}

// chosen matches the random parts of requests to the queue, changes in the outbox, and unknown records.
var chosen = regexp.MustCompile(`("requestUuid":")[0-9a-f-]+|\b(\d+-[0-9a-f]{8})\b|(api/v1/calls/)[0-9a-f-]{36}( \n> GET \S*fundesk/v1 )|(-)[0-9a-f]{12}(\.json)`)

var variable = regexp.MustCompile(`^[A-Z_]+=`)

// playFlags runs the command lines of a story, and returns the transcript.
func playFlags(t *testing.T, story string) string {
	t.Helper()
	p := &flagsPlay{T: t, service: newFlagsService(t), home: t.TempDir()}
	p.plain = strings.NewReplacer(p.service.URL, "$SERVICE", strings.TrimPrefix(p.service.URL, "http://"), "$HOST",
		p.home, "$HOME")
	for name, text := range map[string]string{
		"body.json": `{"notes":"of a file"}`,
		"rows.csv":  "uuid~Voornaam~name.lastName\n" + testID + "~Zo\xeb~Berg\n",
		"lines.ndjson": "uuid,phoneNumber,owningOrganizationUuid,recruitingOrganizationUuid\n" + testID +
			",+31612345678," + testID + "," + testID + "\n",
		"phones.csv": "uuid,phoneNumber,owningOrganizationUuid,recruitingOrganizationUuid\n" + testID +
			",06-12345678," + testID + "," + testID + "\n",
	} {
		p.write(name, text)
	}
	var did strings.Builder
	for line := range strings.Lines(story + "\n") {
		if strings.HasPrefix(line, "#") {
			did.WriteString(line)
		}
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			did.WriteString(line + p.run(command))
		}
	}
	return did.String()
}

// flagsPlay is a story while it is played.
type flagsPlay struct {
	*testing.T
	service *flagsService
	home    string
	entry   string // Of the outbox.
	plain   *strings.Replacer
}

func (p *flagsPlay) write(name, text string) {
	p.Helper()
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text)
	if err := os.WriteFile(filepath.Join(p.home, name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

// run runs one line, and returns its transcript.
func (p *flagsPlay) run(line string) string {
	p.Helper()
	words := servicetest.Words(
		strings.NewReplacer("$SERVICE", p.service.URL, "$HOME", p.home, "$ID", p.entry).Replace(line),
	)
	switch words[0] {
	case "write":
		p.write(words[1], words[2])
		return ""
	case "cat":
		text, err := os.ReadFile(filepath.Join(p.home, words[1]))
		if err != nil {
			return "there is none\n"
		}
		return p.plain.Replace(strings.TrimSuffix(string(text), "\n") + "\n")
	}
	environment := homeAt(p.T, p.service.URL, "secret", "HOME", p.home, "TERM", "xterm")
	for ; variable.MatchString(words[0]); words = words[1:] {
		name, value, _ := strings.Cut(words[0], "=")
		environment[name] = value
	}
	stdin := ""
	if n := len(words) - 2; n > 0 && words[n] == "<" {
		words, stdin = words[:n], strings.ReplaceAll(words[n+1], `\n`, "\n")
	}
	app := cli.App{
		Version: func() string { return "test" },
		Now:     func() time.Time { return time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC) },
		Getenv:  func(name string) string { return environment[name] },
		Sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },

		CompletionPatience: time.Minute, // A busy machine is not what is tested.
	}
	out, errs, code := p.on(app, words, stdin)
	text := p.service.requests() + out
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if code != 0 {
		text += fmt.Sprintf("exit %d: ", code)
	}
	if text += errs; !strings.HasSuffix(text, "\n") && text != "" {
		text += "\n"
	}
	text = p.plain.Replace(text)
	if named := chosen.FindAllStringSubmatch(text, -1); named != nil {
		p.entry = named[len(named)-1][2]
	}
	return chosen.ReplaceAllString(text, "${1}${3}${5}…${4}${6}")
}

// on runs a command line in a pipe, or on a terminal.
func (p *flagsPlay) on(app cli.App, words []string, stdin string) (out, errs string, code int) {
	p.Helper()
	if words[0] == "tty" {
		return p.onTerminal(app, words[1:], stdin)
	}
	var stdout, stderr bytes.Buffer
	app.In, app.Out, app.Err = strings.NewReader(stdin), &stdout, &stderr
	if words[0] == "full" {
		app.Out, words = fullDisk{}, words[1:]
	}
	if words[0] == "desk" {
		s := cli.NewSession(app, words[1:])
		s.Flags.Timeout = time.Minute
		if err := desk.ByLines(p.Context(), s, 0); err != nil {
			code = s.Finish(nil, err)
		}
		reads := regexp.MustCompile(`(?m)^> GET .*\n`) // They come as they like.
		return reads.ReplaceAllString(p.service.requests(), ""), stderr.String(), code
	}
	code = Run(p.Context(), words, app)
	return stdout.String(), stderr.String(), code
}

// fullDisk is an output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// onTerminal runs a command line on a terminal, where stdin was typed before.
func (p *flagsPlay) onTerminal(app cli.App, words []string, stdin string) (shown, none string, code int) {
	p.Helper()
	master, terminal, err := pty.Open()
	if err != nil {
		p.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 12, Cols: 60}); err != nil {
		p.Fatal(err)
	}
	if _, err := io.WriteString(master, stdin); err != nil {
		p.Fatal(err)
	}
	all := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(master) // Ends with an error, when the terminal is closed.
		all <- string(text)
	}()
	app.In, app.Out, app.Err = terminal, terminal, terminal
	code = Run(p.Context(), words, app)
	terminal.Close()
	// The echo of what was typed comes before or within what is printed.
	text := strings.Replace(strings.ReplaceAll(<-all, "\r\n", "\n"), stdin, "", 1)
	return strings.ReplaceAll(text, "\x1b", "␛"), "", code
}
