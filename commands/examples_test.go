package commands

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/service/servicetest"
)

// matching is how many records each example finds: three pages of a default list.
const matching = 110

// Every example that changes what a list finds changes all of it: a script that is copied from
// the help must not leave the 51st record for ever.
func TestExamplesReachEveryRecord(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for _, example := range pipedExamples(t) {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			e := newExample(t, strings.Fields(example)[1])
			stages := splitStages(
				strings.NewReplacer("3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11", e.person).Replace(example),
			)
			in := ""
			for i, stage := range stages {
				args := servicetest.Words(stage)[1:]
				out, errs, code := e.run(in, args...)
				if code != 0 {
					t.Fatalf("%s: got exit code %d and %s", stage, code, errs)
				}
				if limit := regexp.MustCompile(`--limit (\d+)`).FindStringSubmatch(example); limit == nil &&
					strings.Count(out, "\n") != matching {
					t.Errorf("%s: got %d lines and %q, want %d", stage, strings.Count(out, "\n"), errs, matching)
				} else if limit != nil && fmt.Sprint(strings.Count(out, "\n")) != limit[1] && i == len(stages)-1 {
					t.Errorf("%s: got %d lines, want %s", stage, strings.Count(out, "\n"), limit[1])
				}
				in = out
			}
		})
	}
}

// pipedExamples returns the examples of the help, its topics and the pages in which one fundesk
// reads what another one listed.
func pipedExamples(t *testing.T) []string {
	t.Helper()
	text := text("scripting")()
	for _, page := range []string{
		"../README.md",
		"../docs/back-office.md",
		"../docs/integrator/tutorial.md",
		"../docs/supervisor.md",
	} {
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
			return fmt.Sprintf(`{"uuid":"%s","owningOrganizationUuid":"%s","recruitingOrganizationUuid":"%[2]s"}`,
				nameOf(n), owner)
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
		In:     strings.NewReader(in),
		Out:    &stdout,
		Err:    &stderr,
		Now:    e.service.Clock.Now,
		Getenv: func(name string) string { return environment[name] },
	})
	return stdout.String(), stderr.String(), code
}

// splitStages returns the commands of a pipeline. A bar in quotes does not divide.
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
