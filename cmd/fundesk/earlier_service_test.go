package main

import (
	"bufio"
	"flag"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"fundesk/service/servicetest"
)

var earlierService = flag.String("earlier-service", "",
	"a fundeskd from before the extensions of 0.3.0, for TestEarlierService")

// earlier starts the sandbox of an earlier fundeskd.
func (h *home) earlier(t *testing.T, path string) {
	t.Helper()
	cmd := exec.Command(path, "serve", "--sandbox", "--persons", "60", "--seed", "7", "--listen", "127.0.0.1:0")
	cmd.Env, cmd.Dir = h.env, h.dir
	out, err := cmd.StdoutPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		servicetest.Report(t, cmd.Wait())
	})
	lines := bufio.NewReader(out)
	h.env = append(h.env, "FUNDESK_BASE_URL="+nextLine(t, lines), "FUNDESK_TOKEN="+nextLine(t, lines))
}

var sentObjection = regexp.MustCompile(`✓ .*\(opt-out\): .*, sent`)

// TestEarlierService runs this client with fundeskd 0.2.0, which refuses unknown parameters. Its features work; the
// rest is left out, or refused with a hint. .ci/nightly builds that service.
func TestEarlierService(t *testing.T) {
	if *earlierService == "" {
		t.Skip("no -earlier-service: .ci/nightly builds one")
	}
	t.Parallel()
	need(t, "tmux", "jq")
	h := newHome(t)
	h.earlier(t, *earlierService)
	set := func(name, line string) {
		h.env = append(h.env, name+"="+strings.Trim(h.must(t, line), `"`))
	}
	set(
		"AGENT",
		"fundesk call list --status completed --limit 1 -q --jq '.[0].result.userUuid // .[0].attempts[0].userUuid' -o json",
	)
	set("PERSON", "fundesk person list --limit 1 -q -o id")
	set("ORG", "fundesk person get $PERSON --jq .owningOrganization.uuid")
	set("LEASED", "fundesk queue take --user $AGENT -o json --jq '.[0].callUuid'")
	set(
		"PLEDGE",
		"fundesk pledge list --all -q -o ndjson | jq -r 'select(.status == \"active\" and .externalSource == null) | .uuid' | head -1",
	)
	tests := []struct {
		line   string
		code   int
		out    string
		stderr string
	}{
		// A dialer.
		{"fundesk queue leases -o json | jq length", 0, "1", ""},
		{"fundesk call attempt $LEASED --jq .status", 0, `"requested"`, ""},
		{"fundesk queue leases -o json | jq length", 0, "0", ""},
		{
			line: "fundesk call complete $LEASED --result-code anything --any-result --rating 8 --jq .status",
			out:  `"completed"`,
		},
		{
			line: "fundesk call complete $(fundesk call create --person $PERSON --requested-at now --type winback -o id) --result-code declined --jq .result.resultCode",
			out:  `"declined"`,
		},
		{
			line: "fundesk call cancel $(fundesk call create --person $PERSON --requested-at now --type winback -o id) --yes --jq .status",
			out:  `"cancelled"`,
		},
		{
			line: "fundesk call list --status completed --person $PERSON -q -o json | jq -r 'map(.status) | unique[]'",
			out:  "completed",
		},
		{"fundesk queue list -o id | head -1 | fundesk queue later - --at tomorrow --yes >/dev/null", 0, "", ""},
		{"fundesk queue callbacks -o json | jq 'length > 0'", 0, "true", ""},
		{"fundesk queue agents --jq length", 0, "1", ""},
		{"fundesk queue take --user $AGENT -o json | jq length", 0, "1", ""},
		{"fundesk queue release --user $AGENT --yes >/dev/null", 0, "", ""},

		// A script of the back office.
		{
			line: "fundesk person update $PERSON --email a@example.org --opt-in-phone=false --jq '.optInPhone, .email' -o ndjson",
			out:  "false\n\"a@example.org\"",
		},
		{"fundesk pledge update $PLEDGE --donation-amount 12.50 --jq .donationAmount", 0, "12.5", ""},
		{"fundesk processed mark pledge $PLEDGE --jq .[0].ok", 0, "true", ""},
		{"fundesk pull person -q | wc -l", 0, "60", ""},
		{"fundesk pull person -q | wc -l", 0, "0", ""},
		{"fundesk pull person --updated -q | wc -l", 0, "60", ""},
		{"fundesk person update $PERSON --email b@example.org -o id", 0, "$PERSON", ""},
		{"fundesk pull person --updated -q -o id", 0, "$PERSON", ""},
		{"fundesk call stats --by agent -o tsv | grep -c ^agent", 0, "9", ""},
		{"fundesk doctor -o json --jq 'all(.ok)'", 0, "true", ""},

		// What followed.
		{"fundesk person list --search dijk", 2, "", "--all --name"},
		{"fundesk call list --completed-by $AGENT", 2, "", "--attempt-by"},
		{"fundesk pledge list --include person", 2, "", "fundesk pledge get -"},
		{"fundesk person list --for-edit", 7, "", "leave --for-edit out"},
		{"fundesk person list --for-excel -o csv | head -1 | grep -c rev", 1, "0", ""},
		{"fundesk call checks $LEASED", 7, "", "announces checks"},
		{"fundesk call stats --by check", 7, "", "announces checks"},
		{"fundesk person consent list $PERSON", 7, "", "announces consents"},
		{
			line:   "fundesk person consent add $PERSON --channel phone --basis consent --source form --yes",
			code:   7,
			stderr: "announces consents",
		},
		{
			line:   "printf 'lastName,consents.phone.source,consents.phone.basis,consents.phone.at\\nA,form,consent,2026-01-01\\n' | fundesk person import - --default owningOrganizationUuid=$ORG --default recruitingOrganizationUuid=$ORG --yes",
			code:   7,
			stderr: "leaves a column out",
		},
		{
			line:   "printf 'country = \"NL\"\\n' > s.toml; fundesk queue settings set s.toml --yes --organization $ORG",
			code:   7,
			stderr: "announces rules",
		},
	}
	for _, test := range tests {
		out, errs, code := h.run(t, test.line)
		want := strings.ReplaceAll(test.out, "$PERSON", h.value("PERSON"))
		out = strings.TrimSpace(out)
		if code != test.code || out != want || !strings.Contains(errs, test.stderr) {
			t.Errorf("%s: got exit %d, %q and %q, want %d, %q and %q",
				test.line, code, out, errs, test.code, want, test.stderr)
		}
	}

	h.env = append(h.env, "FUNDESK_AGENT="+h.value("AGENT"))
	term := h.openTerminal(t, 120, 36)
	term.send("fundesk tui", "Enter")
	term.waitFor("take the next call")
	card := term.take()
	term.send("c")
	screen := term.waitFor("/ another")
	// The service keeps no effect of a result: the Desk sends the objection itself.
	before, _, _ := strings.Cut(screen, "(opt-out)")
	term.send(before[strings.LastIndexAny(before, "0123456789"):][:1])
	term.waitFor("0 to 9")
	term.send("-")
	term.waitFor("may not be phoned any")
	term.lookAtCall()
	term.send("C-s")
	term.call(card)
	term.wait("the objection", sentObjection.MatchString)
	term.send("/")
	term.waitFor("this service cannot search")
	term.send("Escape", "7")
	term.waitFor("waiting")
	term.send("6")
	term.waitFor("Results by type")
	term.send("q")
	h.must(t, "fundesk outbox list -o json | jq -e 'length == 0'")
	h.must(t, "fundesk person list --all -o json -q | jq -e '[.[] | select(.optInPhone == false)] | length > 1'")
}

// value returns a variable of the home's environment.
func (h *home) value(name string) string {
	for _, line := range h.env {
		if value, has := strings.CutPrefix(line, name+"="); has {
			return value
		}
	}
	return ""
}
