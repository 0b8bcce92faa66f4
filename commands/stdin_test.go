package commands

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"fundesk/service/servicetest"
)

// silentInput is a stdin without a writer. reading reports its first read.
type silentInput struct {
	once    sync.Once
	reading func()
}

func (s *silentInput) Read([]byte) (int, error) {
	s.once.Do(s.reading)
	select {}
}

// interruptible runs a command line against a service that answers nothing.
func interruptible(t *testing.T, ctx context.Context, line string, in io.Reader, errs io.Writer) int {
	t.Helper()
	address := serving(t, http.NotFoundHandler().ServeHTTP)
	environment := homeAt(t, address, "token")
	return Run(ctx, strings.Fields(line), appOf(environment, in, &bytes.Buffer{}, errs))
}

// An interrupt ends a command that waits for its stdin.
func TestInterruptWhileReading(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"call get -",
		"call attempt - --yes",
		"call complete " + testID + " --notes -",
		"person create --file -",
		"person update " + testID + " --file -",
		"person import - --yes",
		"processed mark call - --yes",
		"processed mark --file - --yes",
		"api POST /api/v1/calls --input -",
		"auth login --with-token",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			var errs bytes.Buffer
			if code := interruptible(t, ctx, line, &silentInput{reading: cancel}, &errs); code != 130 {
				t.Errorf("got exit code %d and %q, want 130", code, errs.String())
			}
		})
	}
}

// An interrupt during a request is reported as one, with the warning that a change may have arrived.
func TestInterruptWhileSending(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"call list":                     "interrupted",
		"call attempt " + testID:        "interrupted; the change may have reached the service\nhint: see: fundesk call get " + testID,
		"api POST /api/v1/calls":        "interrupted; the change may have reached the service",
		"processed mark call " + testID: "interrupted; the change may have reached the service",
		"outbox send":                   "interrupted; 1 waiting",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var held atomic.Bool
			ctx, cancel := context.WithCancel(t.Context())
			address := serving(t, func(w http.ResponseWriter, r *http.Request) {
				if held.Load() {
					_, _ = io.Copy(io.Discard, r.Body)
					cancel()
					<-r.Context().Done()
					return
				}
				reset(w, r)
			})
			environment := homeAt(t, address, "token")
			var errs bytes.Buffer
			run := func(ctx context.Context, line string) int {
				errs.Reset()
				return Run(ctx, strings.Fields(line),
					hasty(appOf(environment, strings.NewReader(""), &bytes.Buffer{}, &errs)))
			}
			if line == "outbox send" {
				run(t.Context(), "call attempt "+testID+" --outbox")
			}
			held.Store(true)
			if code := run(ctx, line); code != 130 || !strings.Contains(errs.String(), want+"\n") {
				t.Errorf("got exit code %d and %q, want 130 and that it was %s", code, errs.String(), want)
			}
		})
	}
}

// A typed token is not shown, and a long one is not cut.
func TestTypedToken(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typed, want string
		code              int
	}{
		{"a token", "secret-typed\r", "404", 8}, // It is tried at the service, which knows no calls.
		{"ctrl+c", "secret\x03", "interrupted", 130},
		{"one that is too long", strings.Repeat("secret", 1000) + "\r", "too long", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			master, terminal, err := pty.Open()
			servicetest.Check(t, err)
			defer master.Close()
			said := make(chan string, 1)
			go func() {
				var text []byte
				buffer := make([]byte, 256)
				for typed := false; ; {
					n, err := master.Read(buffer)
					text = append(text, buffer[:n]...)
					if err != nil {
						break
					}
					if !typed && strings.Contains(string(text), "Token: ") {
						typed = true
						_, _ = io.WriteString(master, test.typed)
					}
				}
				said <- string(text)
			}()
			code := interruptible(t, t.Context(), "auth login --profile typed", terminal, terminal)
			terminal.Close()
			text := <-said
			if code != test.code || !strings.Contains(text, test.want) || strings.Contains(text, "secret") {
				t.Errorf("got exit code %d and %q, want %d, %q and nothing of what was typed",
					code, text, test.code, test.want)
			}
		})
	}
}

// Notes that were typed are in the outbox when they could not be sent, and are not asked
// for when all else is wrong.
func TestTypedNotes(t *testing.T) {
	t.Parallel()
	l := lineAt(t, nowhere, "token")
	master, terminal, err := pty.Open()
	servicetest.Check(t, err)
	defer master.Close()
	defer terminal.Close()
	l.in = terminal
	l.try(t, "call complete "+testID+" --rating 11 --notes -").Ends(2)
	_, err = io.WriteString(master, "rings back\n\x04")
	servicetest.Check(t, err)
	queued := l.try(t, "call complete "+testID+" --result-code reached --notes -").MustEnd(10, "waits in the outbox")
	_, id, _ := strings.Cut(queued.Stderr, "waits in the outbox as ")
	id, _, _ = strings.Cut(id, ":")
	l.try(t, "outbox show -o json", id).Ends(0).Prints("rings back")
}

// Notes are not asked for when the command is refused in any case.
func TestNotesAreTypedLast(t *testing.T) {
	t.Parallel()
	other := "6" + testID[1:]
	for wrong, want := range map[string]string{
		"--rating 11":                           "--rating",
		"--hold 2h":                             "--hold",
		"--columns nothing":                     "nothing",
		"-o nothing":                            "nothing",
		"--concurrency 0":                       "--concurrency",
		"--result-code backk":                   "did you mean back?",
		other:                                   "add --yes", // Off a terminal, for several calls.
		other + " --yes --columns personUuid":   "personUuid",
		other + " --yes --sort-by requestedAt":  "requestedAt",
		"--result-code back --without-checks=x": "without-checks",
	} {
		t.Run(wrong, func(t *testing.T) {
			t.Parallel()
			f := newSettingsService(t)
			master, terminal, err := pty.Open()
			servicetest.Check(t, err)
			defer master.Close()
			defer terminal.Close()
			_, err = io.WriteString(master, "rings back\n\x04")
			servicetest.Check(t, err)
			l := lineAt(t, f.URL, "token")
			l.in = terminal
			l.try(t, "call complete "+testID+" --notes - "+wrong).Ends(2, want).Hides("type the notes")
		})
	}
}

// An interrupt ends a question, too, and a hidden one leaves the terminal as it was.
func TestInterruptWhileAsking(t *testing.T) {
	t.Parallel()
	for line, prompt := range map[string]string{
		"call cancel " + testID:       "? [y/N] ",
		"auth login --profile prompt": "Token: ",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			master, terminal, err := pty.Open()
			servicetest.Check(t, err)
			defer master.Close()
			defer terminal.Close()
			before, err := term.GetState(int(terminal.Fd()))
			servicetest.Check(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			said := make(chan string, 1)
			go func() {
				var text []byte
				buffer := make([]byte, 256)
				for !strings.Contains(string(text), prompt) {
					n, err := master.Read(buffer)
					if err != nil {
						break
					}
					text = append(text, buffer[:n]...)
				}
				said <- string(text)
				cancel()
				_, _ = io.Copy(io.Discard, master) // A full terminal would stop the program.
			}()
			if code := interruptible(t, ctx, line, terminal, terminal); code != 130 {
				t.Errorf("got exit code %d after %q, want 130", code, <-said)
			}
			after, err := term.GetState(int(terminal.Fd()))
			if err != nil || *after != *before {
				t.Errorf("got the terminal in another state than before: %v", err)
			}
		})
	}
}

// Programs of Windows begin a file with an invisible mark.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for line, stdin := range map[string]string{
		"call attempt - --dry-run":          testID,
		"call attempt - --dry-run -q":       `{"uuid":"` + testID + `"}`,
		"processed mark --file - --dry-run": `{"entityName":"call","entityUuid":"` + testID + `"}`,
	} {
		var errs bytes.Buffer
		servicetest.Same(t, line, 0, interruptible(t, t.Context(), line, strings.NewReader("\ufeff"+stdin+"\n"), &errs))
	}
}

// The error for a line that is too long is in our own words.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"call attempt - --yes", "processed mark --file - --yes", "person import - --yes"} {
		l := lineAt(t, nowhere, "token")
		l.stdin = strings.Repeat("a", 16<<20+1)
		l.try(t, line).Ends(2, "a line is longer than 16 MiB")
	}
}

// A text in another encoding, as from a spreadsheet, is refused: encoding it as JSON would
// put other letters into a donor's name.
func TestTextOfAnotherEncoding(t *testing.T) {
	t.Parallel()
	const zoe = "Zo\xeb"
	owner := "--owning-organization " + testID + " --recruiting-organization " + testID
	for line, stdin := range map[string]string{
		"person create " + owner + " --last-name " + zoe + " --dry-run": "",
		"person create --dry-run --file -": `{"name":{"lastName":"` +
			zoe + `"}}`,
		"person import - --dry-run": "owningOrganizationUuid,recruitingOrganizationUuid,name.lastName\n" + testID +
			"," + testID + "," + zoe + "\n",
		"person import - --dry-run -q": `{"name":{"lastName":"` +
			zoe + `"}}`,
		"call create --person " + testID + " --type winback --notes " + zoe + " --dry-run": "",
		"call complete " + testID + " --notes - --dry-run":                                 zoe,
		"call complete " + testID + " --dry-run --result-code " + zoe:                      "",
		"processed mark call " + testID + " --dry-run --external-source-name " + zoe:       "",
		"api POST /api/v1/persons --field academicTitle=" + zoe:                            "",
	} {
		var errs bytes.Buffer
		code := interruptible(t, t.Context(), line, strings.NewReader(stdin), &errs)
		if code != 2 || !strings.Contains(errs.String(), "UTF-8") && !strings.Contains(errs.String(), "printable") {
			t.Errorf("%s: got exit code %d and %s, want 2 and what is wrong with the text", line, code, errs.String())
		}
	}
}
