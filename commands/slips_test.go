package commands

import (
	"encoding/base64"
	"strings"
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
