package commands

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/creack/pty"

	"fundesk/service/servicetest"
)

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
			h := servicetest.New(t)
			c := &faultCase{T: t, service: h, token: h.Token(), owner: h.Organization("AID")}
			calls := make([]string, 3)
			for i := range calls {
				c.load()
				calls[i] = c.names.Replace("$CALL")
			}
			keyboard, terminal, err := pty.Open()
			servicetest.Check(t, err)
			defer func() { servicetest.Report(t, keyboard.Close()) }()
			defer func() { servicetest.Report(t, terminal.Close()) }()
			go func() { _, _ = io.Copy(io.Discard, keyboard) }() // The echo.
			types := func(lines ...string) func() {
				return func() {
					if len(lines) > 0 {
						_, err := io.WriteString(keyboard, lines[0])
						servicetest.Report(t, err)
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
			environment := homeAt(t, h.URL, c.token, "ACCESSIBLE", "1")
			workByLines(t, appOf(environment, terminal, &bytes.Buffer{}, said), 0)
			if !strings.Contains(said.String(), "several lines came at once: none of them counts") {
				t.Errorf("got:\n%s", said)
			}
			completed := 0
			for _, id := range calls {
				call := h.Do(c.token, http.MethodGet, "/api/v1/calls/"+id, "").Object()
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
		})
	}
}

// What was typed before a call was shown is no answer for it.
func TestLineDeskDropsWhatIsTypedBeforeACall(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	c := &faultCase{T: t, service: h, token: h.Token(), owner: h.Organization("AID")}
	calls := make([]string, 3)
	for i := range calls {
		c.load()
		calls[i] = c.names.Replace("$CALL")
	}
	keyboard, terminal, err := pty.Open()
	servicetest.Check(t, err)
	defer func() { servicetest.Report(t, keyboard.Close()) }()
	defer func() { servicetest.Report(t, terminal.Close()) }()
	go func() { _, _ = io.Copy(io.Discard, keyboard) }() // The echo.
	types := func(text string) {
		_, err := io.WriteString(keyboard, text)
		servicetest.Report(t, err)
	}
	calling, isDropped := 0, false
	said := &heard{on: map[string]func(){
		" call for ": func() {
			if calling++; calling == 2 {
				types("a\n") // Pressed twice: this one was meant for the first call.
			}
		},
		"before the call was shown": func() { isDropped = true },
		"q to end: ": func() {
			switch {
			case isDropped || calling == 3:
				types("q\n")
			case calling == 1:
				types("a\n")
			}
		},
	}}
	environment := map[string]string{
		"HOME":             t.TempDir(),
		"FUNDESK_BASE_URL": h.URL,
		"FUNDESK_TOKEN":    c.token,
		"ACCESSIBLE":       "1",
	}
	workByLines(t, appOf(environment, terminal, &bytes.Buffer{}, said), 0)
	attempts := 0
	for _, id := range calls {
		call := h.Do(c.token, http.MethodGet, "/api/v1/calls/"+id, "").Object()
		attempts += len(call["attempts"].([]any))
	}
	if attempts != 1 {
		t.Errorf("got %d attempts, want one:\n%s", attempts, said)
	}
}
