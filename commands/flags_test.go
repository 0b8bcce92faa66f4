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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// flagsService answers lists with a few records, notes what it is asked, and takes every
// change for done.
type flagsService struct {
	*httptest.Server
	mutex sync.Mutex
	asked strings.Builder
}

// requests are those since the last time.
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

func (f *flagsService) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	fmt.Fprintf(&f.asked, "> %s %s %s\n", r.Method, r.URL.RequestURI(), body)
	if value := r.Header.Get("X-Night"); value != "" {
		fmt.Fprintf(&f.asked, "> X-Night: %s\n", value)
	}
	w.Header()["Date"] = nil
	w.Header().Set("Content-Type", "application/json")
	noun := filepath.Base(r.URL.Path)
	if r.URL.Query().Has("iban") { // A list without any sign of pages.
		noun = "bare"
	}
	if records, err := os.ReadFile(filepath.Join("testdata", "flags", noun+".json")); err == nil && r.Method == http.MethodGet {
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

// Each flag changes what is sent or printed: testdata/flags/*.txt are command lines, below each
// the requests that it made, what it printed, and its exit code. A line with # begins with
// another home folder:
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
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for story := range strings.SplitSeq(strings.TrimPrefix(string(want), "# "), "\n\n# ") {
				got = append(got, playFlags(t, "# "+story))
			}
			text := strings.Join(got, "\n") // Each ends with a line's end.
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want), text); diff != "" && !*update {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// chosen is what tells one request to the queue, or change in the outbox, from another.
var chosen = regexp.MustCompile(`("requestUuid":"|outbox as )[0-9a-f-]+`)

// playFlags runs the command lines of a story, and is what they did.
func playFlags(t *testing.T, story string) string {
	t.Helper()
	service, home := newFlagsService(t), t.TempDir()
	for name, text := range map[string]string{
		"body.json":    `{"notes":"of a file"}`,
		"rows.csv":     "uuid~Voornaam~name.lastName\n" + testID + "~Zo\xeb~Berg\n",
		"lines.ndjson": "uuid,phoneNumber,owningOrganizationUuid,recruitingOrganizationUuid\n" + testID + ",+31612345678," + testID + "," + testID + "\n",
		"phones.csv":   "uuid,phoneNumber,owningOrganizationUuid,recruitingOrganizationUuid\n" + testID + ",06-12345678," + testID + "," + testID + "\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environment := map[string]string{"HOME": home, "FUNDESK_BASE_URL": service.URL, "FUNDESK_TOKEN": "secret", "TZ": "UTC"}
	plain := strings.NewReplacer(service.URL, "$SERVICE", home, "$HOME")
	var did strings.Builder
	for line := range strings.Lines(story + "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if strings.HasPrefix(line, "#") {
			did.WriteString(line)
		}
		if !ok {
			continue
		}
		var out, errs bytes.Buffer
		code := Run(t.Context(), splitWords(strings.NewReplacer("$SERVICE", service.URL, "$HOME", home).Replace(command)), App{
			In: strings.NewReader(""), Out: &out, Err: &errs, Version: func() string { return "test" },
			Now:    func() time.Time { return time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC) },
			Getenv: func(name string) string { return environment[name] },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		text := service.requests() + out.String()
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if code != 0 {
			text += fmt.Sprintf("exit %d: ", code)
		}
		did.WriteString(line + chosen.ReplaceAllString(plain.Replace(text+errs.String()), "${1}…"))
	}
	return did.String()
}

// What a terminal shows is drawn and asked as the flags say.
func TestTerminalFlags(t *testing.T) {
	t.Parallel()
	// run runs a command line on a terminal where somebody types, and is what it shows.
	run := func(line string) (shown string, code int) {
		service, home := newFlagsService(t), t.TempDir()
		environment := map[string]string{"HOME": home, "FUNDESK_BASE_URL": service.URL, "FUNDESK_TOKEN": "secret", "FUNDESK_PAGER": "sed s/^/paged:/", "TERM": "xterm"}
		master, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		if _, err := io.WriteString(master, "n\n"); err != nil {
			t.Fatal(err)
		}
		all := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(master) // Ends with an error, when the terminal is closed.
			all <- string(text)
		}()
		code = Run(t.Context(), strings.Fields(line), App{
			In: terminal, Out: terminal, Err: terminal, Now: time.Now, Version: func() string { return "test" },
			Getenv: func(name string) string { return environment[name] },
		})
		terminal.Close()
		return <-all, code
	}
	for flag, paged := range map[string]bool{"": true, " --no-pager": false} {
		if shown, code := run("call list" + flag); strings.Contains(shown, "paged:") != paged || code != 0 {
			t.Errorf("call list%s: got exit code %d and %q, want a pager: %t", flag, code, shown, paged)
		}
	}
	if shown, code := run("call cancel " + testID + " --no-input"); code != 2 || strings.Contains(shown, "[y/N]") {
		t.Errorf("got exit code %d and %q, want no question", code, shown)
	}
}
