package tui

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/render"
	"fundesk/service/servicetest"
)

// The title of the window appears in screen shots, task bars and logs. It has the profile, never a person.
func TestWindowTitleTellsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Profile = "prod\x1b]0;x\a\u202e"
	d := newDriver(t, w.options)
	d.size(120, 36)
	const want = `fundesk prod␛]0;x␇\u202e`
	for _, key := range []string{"", "n", "i", "A", "esc", "o", "2", "enter", "3", "enter", "4", "5", "6"} {
		if key != "" {
			d.press(key)
		}
		if got := d.app.View().WindowTitle; got != want {
			t.Errorf("after %q: got title %q, want %q", key, got, want)
		}
	}
}

// commandString is text that a terminal obeys instead of drawing: titles, the clipboard, links.
var commandString = regexp.MustCompile("(?s)\x1b[\\]P_^X](.*?)(?:\a|\x1b\\\\)")

// Everything that a session sends to the terminal, byte by byte: personal data is drawn
// and nothing else, what is masked is not sent before it is asked for, and the token never
// is.
func TestTerminalGetsNoMoreThanItDraws(t *testing.T) {
	t.Parallel()
	const note, iban, number = "she told me her secret", "NL91ABNA0417164300", "123456789"
	w := newWorld(t)
	m := start(t, w.options, 120, 36)
	m.press("n")
	m.see(onCard(1), "Anna Jansen")
	m.press("i")
	m.see("leave notes")
	m.press(note)
	m.see(note)
	m.press("esc")
	m.gone("leave notes")
	m.press("3")
	m.see("Opgegeven")
	m.press("enter")
	m.see("IBAN", "social security number") // Of the page alone; names are in the list, too.
	m.press("6")
	m.see("Fri 13 Nov")
	m.press("q")
	m.see("Quit?")
	m.press("y")
	m.ended()
	raw := m.after.String()
	for what, text := range map[string]string{
		"token":                         w.token,
		"IBAN":                          iban,
		"social security number":        number,
		"name with a control character": "evil\x1b[31m",
	} {
		if strings.Contains(raw, text) {
			t.Errorf("the %s was sent to the terminal", what)
		}
	}
	commands := commandString.FindAllStringSubmatch(raw, -1)
	if !slices.ContainsFunc(commands, func(c []string) bool { return strings.HasSuffix(c[1], "fundesk test") }) {
		t.Errorf("got %q, want the title among them", commands)
	}
	link := regexp.MustCompile(`^8;;(tel:\+[0-9]+)?$`)
	for _, command := range commands {
		if link.MatchString(command[1]) { // The number to dial, which the screen shows.
			continue
		}
		for _, text := range []string{
			"Anna", "Jansen", "Opgegeven", note, iban[:8], "+31612345671", onCard(1),
			"a@example.org",
		} {
			if strings.Contains(command[1], text) {
				t.Errorf("the terminal was told %q in a command string, not on the screen", text)
			}
		}
	}
}

// Amounts, dates and numbers are shown as at home.
func TestLocaleIsForTheEye(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Locale = render.LocaleFrom(func(name string) string {
		return map[string]string{"LANG": "nl_NL.UTF-8"}[name]
	})
	d := newDriver(t, w.options)
	d.size(160, 50)
	see := func(texts ...string) {
		t.Helper()
		screen := strings.Join(d.app.screen(), "\n")
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				t.Errorf("screen: got no %q:\n%s", text, screen)
			}
		}
	}
	d.press("n")
	see("06 12 34 56 71", "€ 12,50 monthly", "17-05-1980")
	d.press("4")
	see("12,50")
	d.press("3")
	see("06 12 34 56 71")
}

// answering is a service that answers everything the same way.
type answering func() (*http.Response, error)

func (a answering) RoundTrip(*http.Request) (*http.Response, error) { return a() }

func answer(status int, kind, body string) answering {
	return func() (*http.Response, error) {
		return &http.Response{
			StatusCode: status,
			Header:     http.Header{"Content-Type": {kind}},
			Body:       io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

// The corner explains why nothing comes. A lasting reason is an error.
func TestCornerSaysWhyNothingComes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		service answering
		corner  string
		failed  string // Of the shown error. Empty if there is none.
	}{
		{
			name:    "no connection",
			service: func() (*http.Response, error) { return nil, errors.New("connection refused") },
			corner:  "offline",
		},
		{
			name:    "an answer of somebody on the way",
			service: answer(http.StatusBadGateway, "text/html", "<h1>502</h1>"),
			corner:  "service 502",
		},
		{"too many requests", answer(http.StatusTooManyRequests, "application/json", "{}"), "service 429", ""},
		{
			name:    "a page in place of data",
			service: answer(http.StatusOK, "text/html", "<h1>Log in</h1>"),
			corner:  "wrong answers",
			failed:  "not what the interface promises",
		},
		{"a redirect", answer(http.StatusFound, "text/html", ""), "wrong answers", "redirects"},
		{
			"a list of something else", answer(http.StatusOK, "application/json", `{"edges":[7],"pageInfo":{}}`),
			"wrong answers", "an element of the list is not a record",
		},
		{"no token", answer(http.StatusUnauthorized, "application/json", "{}"), "not logged in", "401"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			client, err := apiclient.New(apiclient.Options{
				BaseURL: w.URL, Token: staticToken(w.token), Transport: test.service, Now: w.Clock.Now,
				Sleep: func(context.Context, time.Duration) error { return nil },
			})
			servicetest.Check(t, err)
			w.options.Client = client
			d := newDriver(t, w.options)
			d.press("2")
			servicetest.Same(t, "corner", test.corner, d.app.Day.Offline)
			got := d.app.Messages.Errors
			if (len(got) > 0) != (test.failed != "") || len(got) > 0 && !strings.Contains(got[0].Text, test.failed) {
				t.Errorf("errors: got %q, want %q", got, test.failed)
			}
			d.check(test.name)
		})
	}
}

// The reason why nothing comes is in the agent's language, with what the agent can do.
func TestConnectionIsSaidInTheAgentsLanguage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		language, want string
		service        http.RoundTripper // Nil if there is none.
	}{
		{"nl", "is niet te bereiken: verbinding geweigerd.", nil},
		{"de", "ist nicht zu erreichen: Verbindung abgelehnt.", nil},
		{
			language: "nl",
			want:     "is verlopen: niet ingelogd. De token_command van profiel werk moet een ander token geven.",
			service:  answer(http.StatusUnauthorized, "application/json", "{}"),
		},
		{
			language: "de",
			want:     "passt nicht zur Schnittstelle: nicht alles in der Liste ist ein Datensatz",
			service:  answer(http.StatusOK, "application/json", `{"edges":[7],"pageInfo":{}}`),
		},
	}
	for _, test := range tests {
		w := newWorld(t)
		address := w.URL
		if test.service == nil {
			address = "http://127.0.0.1:1"
		}
		client, err := apiclient.New(apiclient.Options{
			BaseURL:   address,
			Token:     staticToken(w.token),
			Transport: test.service,
			Now:       w.Clock.Now,
			Sleep:     func(context.Context, time.Duration) error { return nil },
		})
		servicetest.Check(t, err)
		w.options.Client, w.options.Language = client, test.language
		w.options.Login = "The token_command of profile werk must print another token"
		d := newDriver(t, w.options)
		d.size(200, 40)
		d.press("2")
		if text := strings.Join(strings.Fields(d.text()), " "); !strings.Contains(text, test.want) {
			t.Errorf("%s: got %q, want %q", test.language, text, test.want)
		}
	}
}

// A record that cannot be read is named, and hides no other: neither in a list, nor from the
// agent, nor from what is counted.
func TestOneRecordHidesNoOther(t *testing.T) {
	t.Parallel()
	const good = `{"uuid":"c0010000-0000-4000-8000-000000000001","personUuid":"a0010000-0000-4000-8000-000000000001","status":"requested","type":"winback","requestedAt":"2026-11-19T09:15:00Z"}`
	list := answer(
		http.StatusOK,
		"application/json",
		`{"edges":[{"cursor":"1","node":{"uuid":"c0010000-0000-4000-8000-000000000002","requestedAt":5}},{"cursor":"2","node":null},{"cursor":"3","node":`+good+`}],"pageInfo":{"hasNextPage":false}}`,
	)
	w := newWorld(t)
	var told []string
	client, err := apiclient.New(apiclient.Options{
		BaseURL: w.URL,
		Token:   staticToken(w.token),
		Now:     w.Clock.Now,
		Sleep:   func(context.Context, time.Duration) error { return nil },
		Omitted: func(record, _ string) { told = append(told, record) },
		Transport: byPath(func(path string) answering {
			switch {
			case strings.HasSuffix(path, "/fundesk/v1"):
				return answer(http.StatusNotFound, "application/json", "{}")
			case strings.HasSuffix(path, "000000000001"):
				return answer(http.StatusOK, "application/json", good)
			default:
				return list
			}
		}),
	})
	servicetest.Check(t, err)
	w.options.Client = client
	w.options.Omitted = func() (int, string) { return len(told), strings.Join(told, "; ") }
	d := newDriver(t, w.options)
	for _, test := range []struct{ keys, want string }{{"2", "1 call"}, {"6", "counted 1 call "}, {"1n", "WIN-BACK"}} {
		d.enter(strings.Split(test.keys, "")...)
		d.sees(test.want)
		servicetest.Same(t, test.keys, "", d.app.Day.Offline)
	}
	for _, want := range []string{
		"c0010000-0000-4000-8000-000000000002",
		`the element at the cursor "2" is not a record`,
	} {
		if !strings.Contains(strings.Join(told, "\n"), want) {
			t.Errorf("got %q told, want %q", told, want)
		}
	}
}

// byPath is a service that answers by the path.
type byPath func(path string) answering

func (b byPath) RoundTrip(r *http.Request) (*http.Response, error) { return b(r.URL.Path)() }
