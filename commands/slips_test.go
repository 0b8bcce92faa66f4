package commands

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"fundesk/commands/cli"
	"fundesk/render"
)

// What people type who know other programs is answered with the word here.
func TestSlipsAreAnswered(t *testing.T) {
	t.Parallel()
	l := line{environment: map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": "http://127.0.0.1:1", "FUNDESK_TOKEN": "t"}}
	for args, want := range map[string]string{
		"persons --limit 1":              `a verb is missing before "--limit"`,
		"queue --at 2h":                  "verbs: agents,",
		"call ls -o id":                  "did you mean list?",
		"calls show x -o id":             "did you mean get?",
		"call delete x":                  "did you mean cancel?",
		"person delete x":                "did you mean erase?",
		"pledge cancel x":                "did you mean action?",
		"call new":                       "did you mean create?",
		"profile ls":                     "did you mean list?",
		"auth whoami":                    "did you mean status?",
		"login":                          "did you mean fundesk auth login?",
		"list -o json":                   "did you mean fundesk call list?",
		"call list --format json":        "did you mean --output?",
		"call list --json":               "did you mean --output json?",
		"call list -n 1":                 "did you mean --limit?",
		"call list -L 1":                 "did you mean --limit?",
		"person list --since 1d":         "did you mean --created-after?",
		"person create -f x.json":        "did you mean --file?",
		"call attempt " + testID + " -y": "did you mean --yes?",
		"person update " + testID + " --email= --yes":               "hint: --clear email ",
		"person create --first-name A":                              "--owning-organization is required; --recruiting-organization is required",
		"person create --last-name A":                               "hint: add --owning-organization UUID; add --recruiting-organization UUID",
		"call complete " + testID + " --rating ten --result-code x": `--rating must be a number, not "ten"`,
	} {
		if out, errs, code := l.run(t, strings.Fields(args)...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: got exit code %d, %q and %s, want %s", args, code, out, errs, want)
		}
	}
	for word, command := range cli.CommandsFor {
		if _, errs, _ := l.run(t, append(strings.Fields(command), "--help")...); strings.Contains(errs, "unknown") {
			t.Errorf("%s: got %s for %s", word, errs, command)
		}
	}
}

// A 401 for a token that has ended says so.
func TestAnExpiredTokenIsToldAsExpired(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_TOKEN": text(`{"alg":"none"}`) + "." + text(`{"exp":1700000000}`) + "."}
	h := plain(t)
	environment["FUNDESK_BASE_URL"] = h.URL
	if _, errs, code := (line{environment: environment}).run(t, "call", "list"); code != 4 || !strings.Contains(errs, "the token from FUNDESK_TOKEN expired 20") {
		t.Errorf("got exit code %d and %s, want that the token expired", code, errs)
	}
}

// Help fits a terminal of 80 columns; what is typed, in usage and examples, stays on its line. That of the
// program fits one screen.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	l := line{environment: map[string]string{"HOME": t.TempDir()}}
	pages := [][]string{{"--help"}, {"help", "options"}, {"help", "changes"}, {"help", "lists"}, {"help", "settings"}}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		pages = append(pages, append(strings.Fields(cmd.CommandPath())[1:], "--help"))
	})
	for name := range topics() {
		pages = append(pages, []string{"help", name})
	}
	for _, page := range pages {
		out, errs, code := l.run(t, page...)
		if code != 0 || out == "" {
			t.Errorf("%v: got exit code %d and %q", page, code, errs)
		}
		isTyped := false
		for text := range strings.Lines(out) {
			text = strings.TrimRight(text, "\n")
			if text != "" && text[0] != ' ' {
				isTyped = text == "Usage:" || text == "Examples:"
			}
			if width := render.Width(text); width > helpWidth && !isTyped && page[len(page)-1] == "--help" {
				t.Errorf("%v: got %d columns: %s", page, width, text)
			}
		}
		if lines := strings.Count(out, "\n"); page[0] == "--help" && lines > 45 {
			t.Errorf("got %d lines of help, want one screen", lines)
		}
	}
}

// A line is taken apart by the flags that every command has.
func TestPartsOfALine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line, names, joined string
	}{
		{"", "", ""},
		{"call list", "call list", "call list"},
		{"--profile p call -q list --retry 3 x", "call list x", "--profile p call -q list --retry 3 x"},
		{"-o json --arg a open - 1", "open - 1", "-o json --arg=a=open - 1"},
		{"--quiet open 1", "open 1", "--quiet open 1"},
		{"call -- -q x", "call -q x", "call -- -q x"},
		{"call --", "call", "call --"},
		{"--", "", "--"},
		{"-q help", "help", "-q help"},
		{"__complete x", "__complete x", "__complete x"},
		{"calls", "calls", "calls"},
		{"open --profile", "open", "open --profile"},
		{"x --opt-in-sms false y --opt-in-mail true", "x false y true", "x --opt-in-sms=false y --opt-in-mail=true"},
		{"x --opt-in-sms maybe --opt-in-sms", "x maybe", "x --opt-in-sms maybe --opt-in-sms"},
		{"x --arg a b c", "x b c", "x --arg=a=b c"},
		{"x --arg a=b c", "x c", "x --arg a=b c"},
		{"x --arg a", "x", "x --arg a"},
		{"x -- --arg a b", "x --arg a b", "x -- --arg a b"},
	} {
		args := strings.Fields(test.line)
		if got := strings.Join(cli.Positional(args), " "); got != test.names {
			t.Errorf("%s: got the names %q, want %q", test.line, got, test.names)
		}
		if got := strings.Join(joinValues(args), " "); got != test.joined {
			t.Errorf("%s: got %q, want %q", test.line, got, test.joined)
		}
	}
}

// onePage is a page of two records that no other page has.
func onePage(n int, info string) string {
	record := func(i int) string {
		return fmt.Sprintf(`{"cursor":"c%d","node":{"uuid":"00000000-0000-4000-8000-%012d","status":"requested","type":"winback","requestedAt":"2026-11-20T09:15:00.000Z","createdAt":"2026-11-20T09:15:00.000Z","lastUpdatedAt":"2026-11-20T09:15:00.000Z"}}`, i, i)
	}
	return `{"pageInfo":` + info + `,"edges":[` + record(2*n) + "," + record(2*n+1) + `]}`
}

// brokenLists are services whose lists end before they are complete, or never; page
// counts from 0.
var brokenLists = map[string]func(w http.ResponseWriter, r *http.Request, page int){
	"a page that fails": func(w http.ResponseWriter, r *http.Request, page int) {
		if page > 0 {
			status(500, "application/json", `{"detail":"no"}`)(w, r)
			return
		}
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"a"}`))
	},
	"a page that is refused": func(w http.ResponseWriter, r *http.Request, page int) {
		if page > 0 {
			status(302, "text/html", "")(w, r)
			return
		}
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"a"}`))
	},
	"a cursor that stands still": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"a"}`))
	},
	"cursors in a circle": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, onePage(page, `{"hasNextPage":true,"endCursor":"`+strconv.Itoa(page%3)+`"}`))
	},
	"the same page for ever": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, onePage(0, `{"hasNextPage":true,"endCursor":"`+strconv.Itoa(page)+`"}`))
	},
	"empty pages for ever": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, `{"pageInfo":{"hasNextPage":true,"endCursor":"`+strconv.Itoa(page)+`"},"edges":[]}`)
	},
	"another page without a cursor": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, strings.ReplaceAll(onePage(page, `{"hasNextPage":true}`), `"cursor"`, `"place"`))
	},
	"a body that is cut": func(w http.ResponseWriter, _ *http.Request, page int) {
		text := onePage(page, `{"hasNextPage":`+strconv.FormatBool(page == 0)+`,"endCursor":"a"}`)
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if page > 0 {
			text = text[:len(text)/2]
		}
		io.WriteString(w, text)
	},
	"a body that is cut and says it is whole": func(w http.ResponseWriter, _ *http.Request, page int) {
		text := onePage(page, `{"hasNextPage":`+strconv.FormatBool(page == 0)+`,"endCursor":"a"}`)
		if page > 0 {
			text = text[:len(text)-9]
		}
		io.WriteString(w, text)
	},
	"another kind of answer": func(w http.ResponseWriter, _ *http.Request, page int) {
		io.WriteString(w, []string{onePage(page, `{"hasNextPage":true,"endCursor":"a"}`), `{"edges":7}`, `{}`, `"text"`, `7`}[min(page, 4)])
	},
}

// A list that is not complete never looks like one that is: in every format, and in
// everything that walks lists.
func TestNeverSilentlyShort(t *testing.T) {
	t.Parallel()
	lines := []string{
		"call list --all --jq length", "call list --all --jq .uuid -o ndjson", "call list --limit 9 -o json", "call list --status requested --limit 9 -o id",
		"call stats", "call stats -o json", "pull call", "pull person --mark-processed", "api GET /api/v1/calls --paginate", "person list --limit 100 --page-size 2",
	}
	for _, noun := range []string{"person", "call", "pledge"} {
		for _, format := range []string{"table", "tsv", "csv", "json", "ndjson", "id"} {
			lines = append(lines, noun+" list --all -o "+format)
		}
	}
	for name, list := range brokenLists {
		for _, line := range lines {
			t.Run(name+"/"+line, func(t *testing.T) {
				t.Parallel()
				walkBroken(t, list, line)
			})
		}
	}
}

func walkBroken(t *testing.T, list func(http.ResponseWriter, *http.Request, int), line string) {
	t.Helper()
	var pages atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		page := int(pages.Add(1)) - 1
		if r.URL.Query().Get("after") != "" {
			page = max(page, 1)
		}
		list(w, r, page)
	}))
	defer server.Close()
	home := t.TempDir()
	environment := map[string]string{"HOME": home, "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "token"}
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), strings.Fields(line), hasty(appOf(environment, strings.NewReader(""), &stdout, &stderr)))
	if code != 8 || stderr.Len() == 0 {
		t.Errorf("got exit code %d and %q, want 8 and the reason\n%s", code, stderr.String(), stdout.String())
	}
	if strings.Contains(line, "-o json") && json.Valid(stdout.Bytes()) {
		t.Errorf("got %q, want nothing that is taken for a whole list", stdout.String())
	}
	if strings.Contains(line, "--jq length") && stdout.Len() > 0 {
		t.Errorf("got %q, want no length of a part", stdout.String())
	}
	if kept, err := os.ReadDir(filepath.Join(home, ".local", "state", "fundesk", "pull")); err == nil && len(kept) > 0 {
		t.Errorf("got a position %v after a pull that failed", kept)
	}
	if got := pages.Load(); got > 60 {
		t.Errorf("got %d requests, want an end", got)
	}
}
