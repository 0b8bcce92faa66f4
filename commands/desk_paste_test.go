package commands

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"

	"fundesk/service/servicetest"
)

// typist works on three calls at the line Desk, in a terminal.
type typist struct {
	*servicetest.Harness
	t                  *testing.T
	token              string
	calls              []string
	keyboard, terminal *os.File
}

func newTypist(t *testing.T) typist {
	t.Helper()
	h := servicetest.New(t)
	c := &faultCase{T: t, service: h, token: h.Token(), owner: h.Organization("AID")}
	a := typist{Harness: h, t: t, token: c.token}
	for range 3 {
		c.load()
		a.calls = append(a.calls, c.names.Replace("$CALL"))
	}
	var err error
	a.keyboard, a.terminal, err = pty.Open()
	servicetest.Check(t, err)
	t.Cleanup(func() {
		servicetest.Report(t, a.keyboard.Close())
		servicetest.Report(t, a.terminal.Close())
	})
	go func() { _, _ = io.Copy(io.Discard, a.keyboard) }() // The echo.
	return a
}

func (a typist) types(text string) {
	_, err := io.WriteString(a.keyboard, text)
	servicetest.Report(a.t, err)
}

// work runs the Desk until it ends, and returns the calls as they are then.
func (a typist) work(said *heard) []map[string]any {
	a.t.Helper()
	environment := homeAt(a.t, a.URL, a.token, "ACCESSIBLE", "1")
	workByLines(a.t, appOf(environment, a.terminal, &bytes.Buffer{}, said), 0)
	var calls []map[string]any
	for _, id := range a.calls {
		calls = append(calls, a.Do(a.token, http.MethodGet, "/api/v1/calls/"+id, "").Object())
	}
	return calls
}

// A paste of several lines is one answer: its lines are no answers to the questions that follow, and no keys.
func TestLineDeskTakesAPasteWhole(t *testing.T) {
	t.Parallel()
	const notes = "Spoke with her husband.\n\na\nX\ny"
	for name, paste := range map[string]string{
		"marked":                   "\x1b[200~" + notes + "\x1b[201~\n",
		"marked, with another end": "\x1b[200~\x1b[31m" + strings.ReplaceAll(notes, "\n", "\r") + "\r\x1b[201~\r",
		"without marks":            notes + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTypist(t)
			types := func(lines ...string) func() {
				return func() {
					if len(lines) > 0 {
						a.types(lines[0])
						lines = lines[1:]
					}
				}
			}
			said := &heard{on: map[string]func(){
				"q to end: ":                 types("c\n", paste, "q\n"),
				"result code: ":              types("reached\n"),
				"rating from 0 to 10, empty": types("8\n"),
				"notes, empty for none":      types(paste),
			}}
			completed := 0
			for _, call := range a.work(said) {
				if attempts := call["attempts"].([]any); len(attempts) > 0 {
					t.Errorf("got the attempts %v, want none", attempts)
				}
				switch call["status"] {
				case "completed":
					completed++
					if got := call["result"].(map[string]any)["notes"]; got != notes {
						t.Errorf("got the notes %q, want %q", got, notes)
					}
				case "requested":
				default:
					t.Errorf("got a call that is %s", call["status"])
				}
			}
			servicetest.Same(t, "completed calls", 1, completed)
			if !strings.Contains(said.String(), "several lines came at once: none of them counts") {
				t.Errorf("got:\n%s", said)
			}
		})
	}
}

// A terminal drops the end of a line that is too long, also the mark behind a paste. Such a line is asked for again,
// and what is typed next is no part of it.
func TestLineDeskAsksAgainForALineThatWasCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	for name, typed := range map[string]string{"typed": long + "\n", "pasted": "\x1b[200~" + long + "\x1b[201~\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTypist(t)
			notes := []string{typed, "short\n"}
			isDone := false
			said := &heard{on: map[string]func(){
				"q to end: ": func() {
					if isDone {
						a.types("q\n")
						return
					}
					isDone = true
					a.types("c\n")
				},
				"result code: ":              func() { a.types("reached\n") },
				"rating from 0 to 10, empty": func() { a.types("8\n") },
				"notes, empty for none": func() {
					a.types(notes[0])
					notes = notes[1:]
				},
			}}
			var got []any
			for _, call := range a.work(said) {
				if call["status"] == "completed" {
					got = append(got, call["result"].(map[string]any)["notes"])
				}
			}
			servicetest.Same(t, "notes", []any{"short"}, got)
		})
	}
}

// What was typed before a call was shown is no answer for it.
func TestLineDeskDropsWhatIsTypedBeforeACall(t *testing.T) {
	t.Parallel()
	a := newTypist(t)
	calling, isDropped := 0, false
	said := &heard{on: map[string]func(){
		" call for ": func() {
			if calling++; calling == 2 {
				a.types("a\n") // Pressed twice: this one was meant for the first call.
			}
		},
		"before the call was shown": func() { isDropped = true },
		"q to end: ": func() {
			switch {
			case isDropped || calling == 3:
				a.types("q\n")
			case calling == 1:
				a.types("a\n")
			}
		},
	}}
	attempts := 0
	for _, call := range a.work(said) {
		attempts += len(call["attempts"].([]any))
	}
	if attempts != 1 {
		t.Errorf("got %d attempts, want one:\n%s", attempts, said)
	}
}
