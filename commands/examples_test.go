package commands

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/account"
	"fundesk/commands/cli"
	"fundesk/service/servicetest"
)

// matching is how many records each example finds: several pages of a default list.
const matching = 200

// Every example that changes what a list finds changes all of it: a script that is copied from
// the help must not leave the 51st record for ever.
func TestExamplesReachEveryRecord(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for _, example := range pipedExamples(t) {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			e := newExample(t, strings.Fields(example)[1])
			stages := splitStages(strings.NewReplacer("3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11", e.person).Replace(example))
			in := ""
			for i, stage := range stages {
				args := splitWords(stage)[1:]
				out, errs, code := e.run(in, args...)
				if code != 0 {
					t.Fatalf("%s: got exit code %d and %s", stage, code, errs)
				}
				if limit := regexp.MustCompile(`--limit (\d+)`).FindStringSubmatch(example); limit == nil && strings.Count(out, "\n") != matching {
					t.Errorf("%s: got %d lines and %q, want %d", stage, strings.Count(out, "\n"), errs, matching)
				} else if limit != nil && fmt.Sprint(strings.Count(out, "\n")) != limit[1] && i == len(stages)-1 {
					t.Errorf("%s: got %d lines, want %s", stage, strings.Count(out, "\n"), limit[1])
				}
				in = out
			}
		})
	}
}

// pipedExamples are the examples of the help, its topics and the pages in which one fundesk
// reads what another one listed.
func pipedExamples(t *testing.T) []string {
	t.Helper()
	text := text("scripting")()
	for _, page := range []string{"../README.md", "../docs/back-office.md", "../docs/integrator/tutorial.md", "../docs/supervisor.md"} {
		read, err := os.ReadFile(page)
		servicetest.Check(t, err)
		text += string(read)
	}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) { text += cmd.Example + "\n" })
	piped := regexp.MustCompile(`(?m)^[ $]*(fundesk (?:call|person|pledge) list [^|'\n]*(?:'[^'\n]*'[^|\n]*)?\| fundesk [^|>\n]*)`)
	var all []string
	for _, found := range piped.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(found[1], "--profile demo") {
			all = append(all, strings.TrimSpace(found[1]))
		}
	}
	if len(all) < 6 {
		t.Fatalf("found only the examples %q", all)
	}
	return all
}

// example is a service on which an example is run.
type example struct {
	*testing.T
	service *servicetest.Harness
	token   string
	person  string
}

// newExample makes as many records of a noun, all of one person.
func newExample(t *testing.T, noun string) *example {
	t.Helper()
	h := plain(t)
	e := &example{T: t, service: h, token: h.Token()}
	owner := h.Organization("AID")
	now := apitype.NewTime(h.Clock.Now())
	attempts := strings.TrimSuffix(strings.Repeat(`{"createdAt":"`+now.String()+`"},`, 6), ",")
	line := func(noun string, n int) string {
		switch noun {
		case "call":
			return fmt.Sprintf(`{"personUuid":"%s","requestedAt":"%s","externalMetadata":{"applicationName":"dialler"},"attempts":[%s]}`, e.person, now, attempts)
		case "pledge":
			return fmt.Sprintf(`{"personUuid":"%s","owningOrganizationUuid":"%s","recruitingOrganizationUuid":"%[2]s","initialDonationAmount":10,`+
				`"initialDonationInterval":"monthly","startsAt":"%s","recruiterUserUuid":"%[1]s","releasedAt":"%[3]s","externalSource":{"name":"crm","identifier":"1"}}`, e.person, owner, now)
		default:
			return fmt.Sprintf(`{"uuid":"%s","owningOrganizationUuid":"%s","recruitingOrganizationUuid":"%[2]s"}`, nameOf(n), owner)
		}
	}
	h.Clock.Advance(time.Minute)
	e.load("person", line("person", 0))
	e.person = nameOf(0)
	var text strings.Builder
	for n := range matching {
		if noun != "person" || n > 0 {
			text.WriteString(line(noun, n) + "\n")
		}
	}
	e.load(noun, text.String())
	return e
}

// load imports records.
func (e *example) load(noun, text string) {
	e.Helper()
	if _, errs, code := e.run(text, noun, "import", "-", "--yes", "--concurrency", "8"); code != 0 {
		e.Fatalf("import %ss: %s", noun, errs)
	}
}

func (e *example) run(in string, args ...string) (out, errs string, code int) {
	environment := map[string]string{"HOME": e.TempDir(), "FUNDESK_BASE_URL": e.service.URL, "FUNDESK_TOKEN": e.token}
	var stdout, stderr bytes.Buffer
	code = Run(e.Context(), args, cli.App{
		In: strings.NewReader(in), Out: &stdout, Err: &stderr, Now: e.service.Clock.Now, Getenv: func(name string) string { return environment[name] },
	})
	return stdout.String(), stderr.String(), code
}

// splitStages are the commands of a pipeline; a bar in quotes is none.
func splitStages(line string) []string {
	var stages []string
	quoted, begin := false, 0
	for i, r := range line {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == '|' && !quoted:
			stages = append(stages, strings.TrimSpace(line[begin:i]))
			begin = i + 1
		}
	}
	return append(stages, strings.TrimSpace(line[begin:]))
}

// splitWords are the words of a command, as a shell has them.
func splitWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

func TestWelcome(t *testing.T) {
	t.Parallel()
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	expired := part(`{"alg":"EdDSA"}`) + "." + part(`{"sub":"a","exp":`+strconv.FormatInt(time.Now().Add(-49*time.Hour).Unix(), 10)+`}`) + ".c2ln"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/other"):
			http.NotFound(w, r)
			return
		case strings.HasPrefix(r.URL.Path, "/page"):
			status(200, "text/html", "<h1>Welcome</h1>")(w, r)
			return
		}
		if r.Header.Get("Authorization") != "Bearer good" {
			status(401, "application/json", `{}`)(w, r)
			return
		}
		status(200, "application/json", `{"edges":[]}`)(w, r)
	}))
	t.Cleanup(server.Close)
	tests := []struct {
		name        string
		environment map[string]string
		want        string
		next        string
	}{
		{"nothing is set up", nil, "No service is set up yet.", "fundesk auth login --profile NAME"},
		{"a profile that is not there", map[string]string{"FUNDESK_PROFILE": "nowhere"}, "", "fundesk demo"},
		{"the demo", map[string]string{"FUNDESK_PROFILE": "demo"}, "nothing needs to be set up", "fundesk tui --profile demo"},
		{"no token", map[string]string{"FUNDESK_BASE_URL": server.URL}, "no token", "fundesk auth login"},
		{"an expired token", map[string]string{"FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": expired}, "expired 2d ago", "unset FUNDESK_TOKEN"},
		{"a refused token", map[string]string{"FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "bad"}, "does not accept", "unset FUNDESK_TOKEN"},
		{"another interface", map[string]string{"FUNDESK_BASE_URL": server.URL + "/other", "FUNDESK_TOKEN": "good"}, "not with version 1", "fundesk profile show"},
		{"a page of somebody else", map[string]string{"FUNDESK_BASE_URL": server.URL + "/page", "FUNDESK_TOKEN": "good"}, "not with version 1", "fundesk doctor"},
		{"offline", map[string]string{"FUNDESK_BASE_URL": "http://127.0.0.1:1", "FUNDESK_TOKEN": "good"}, "not in reach: cannot reach 127.0.0.1:1: connect: ", "fundesk outbox list"},
		{"ready", map[string]string{"FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "good"}, "the service answers", "fundesk tui"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			var out bytes.Buffer
			s := cli.NewSession(cli.App{In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now, Getenv: func(name string) string {
				if name == "HOME" {
					return home
				}
				return test.environment[name]
			}}, nil)
			s.Flags.Timeout = time.Minute // A busy machine is not what is tested.
			if test.name != "ready" && test.name != "the demo" && test.environment["FUNDESK_PROFILE"] == "" {
				code := Run(t.Context(), []string{"doctor", "--timeout", "1m"}, s.App)
				if code == 0 || !strings.Contains(out.String(), "wrong") || !strings.Contains(out.String(), "hint: ") || strings.Contains(out.String(), expired) {
					t.Errorf("doctor: got exit code %d and %q, want what is wrong and the way out", code, out.String())
				}
				out.Reset()
			}
			if err := account.Welcome(t.Context(), s); err != nil {
				t.Fatalf("welcome: %v", err)
			}
			if got := out.String(); !strings.Contains(got, test.want) || !strings.Contains(got, test.next) || strings.Contains(got, expired) {
				t.Errorf("got %q, want %q and %q", got, test.want, test.next)
			}
		})
	}
}

// tokenOf is what a token looks like that ends after a time.
func tokenOf(left time.Duration) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"EdDSA"}`) + "." + part(`{"sub":"a","exp":`+strconv.FormatInt(time.Now().Add(left).Unix(), 10)+`}`) + ".c2ln"
}

// A token is told of in its last 14 days, by every command that used it, and by none with
// --quiet.
func TestTokenEndsSoon(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[]}`))
	t.Cleanup(server.Close)
	const day = 24 * time.Hour
	for _, test := range []struct {
		left time.Duration
		args string
		want string
	}{
		{13*day + day/2, "call list", " ends in 13 days, on 20"},
		{day + day/2, "call list -o json", " ends in 1 day, on 20"},
		{5*time.Hour + time.Minute, "call list", " ends in 5h, at 20"},
		{15 * day, "call list", ""},
		{day + day/2, "call list --quiet", ""},
	} {
		token := tokenOf(test.left)
		_, errs, code := line{environment: map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": token}}.run(t, strings.Fields(test.args)...)
		if told := strings.Contains(errs, " ends in "); code != 0 || told != (test.want != "") || !strings.Contains(errs, test.want) {
			t.Errorf("%s with %s left: got exit code %d and %q, want %q", test.args, test.left, code, errs, test.want)
		}
	}
}
