package main

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// stranger starts a service that somebody else wrote from the interface alone.
func (h *home) stranger(t *testing.T) {
	t.Helper()
	need(t, "python3")
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/stranger/service.py")
	out, err := cmd.StdoutPipe()
	servicetest.Check(t, err)
	var logs strings.Builder
	cmd.Stderr = &logs
	servicetest.Check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if logs.Len() > 0 {
			t.Errorf("the other service: %s", logs.String())
		}
	})
	h.env = append(h.env, "FUNDESK_BASE_URL="+nextLine(t, bufio.NewReader(out)), "FUNDESK_TOKEN=stranger")
}

// The interface, read by another pair of eyes: what it leaves open is decided otherwise,
// and everything works all the same, or says why not.
func TestServiceOfAStranger(t *testing.T) {
	t.Parallel()
	need(t, "jq", "tmux")
	h := newHome(t)
	h.stranger(t)
	const one = "00000000-0000-4002-8000-000000000001"
	tests := []struct {
		line   string
		code   int
		out    string
		stderr string
	}{
		{"fundesk person list --all -o id | wc -l", 0, "135", ""},
		{"fundesk call list --all -o ndjson | jq -r .uuid | sort -u | wc -l", 0, "135", ""},
		{"fundesk call list --all --include person,pledge --columns uuid,person.lastName,pledgeCase.status -o csv --no-header | grep -c 'Number [0-9]*,lead'", 0, "135", "135 embedded objects could not be read and left out, the first of them pledgeCase.calls.0 of the record 0000"},
		{"fundesk call list --last 50 -o id | wc -l", 0, "50", "there may be more before these"},
		{"fundesk call stats -o tsv | grep total", 0, "total\tcalls\t135", ""},
		{"fundesk pull call -q | wc -l", 0, "135", ""},
		{"fundesk pull call -q | wc -l", 0, "0", ""},
		{"set -o pipefail; fundesk pledge list --all -o id | wc -l", 8, "50", "--accept-unpaged"},
		{"fundesk pledge list --all -o json 2>/dev/null | jq length", 0, "50", ""},
		{"fundesk pledge list --all --accept-unpaged -o id | wc -l", 0, "50", ""},
		{"fundesk pull pledge >/dev/null", 8, "", "nothing tells whether these are all"},
		{"ls $HOME/.local/state/fundesk/pull | grep -c pledge", 1, "0", ""},
		{"fundesk call get " + one + " --jq '.pledgeCase.calls[0], .pledgeCase.donationAmount' -o ndjson", 0, "\"[Circular]\"\n10.0", ""},
		{"fundesk pledge list --limit 1 -q --columns donationAmount,initialDonationInterval", 0, "10\tMONTH", ""},
		{"fundesk call attempt " + one + " --jq .attemptsCount", 0, "1", ""},
		{"fundesk call complete " + one + " --result-code reached --rating 8 --jq .status", 0, `"completed"`, ""},
		{"fundesk call cancel " + one + " --yes", 7, "", "That call has ended."},
		{"fundesk call get " + strings.Replace(one, "4002", "4009", 1), 3, "", "No such record."},
		{"fundesk person update 00000000-0000-4001-8000-000000000002 --email a@example.org --jq .email", 0, `"a@example.org"`, ""},
		{"fundesk person update 00000000-0000-4001-8000-000000000002 --clear email --jq .email", 0, "null", ""},
		{"fundesk person create --first-name Bo --owning-organization " + one + " --recruiting-organization " + one + " -o id | wc -l", 0, "1", ""},
		{"fundesk processed mark call " + one + " --jq .[0].ok", 0, "true", ""},
		{"FUNDESK_TOKEN=other fundesk call list", 4, "", "Who are you?"},
		{"fundesk doctor --interface -o json --jq 'map(select(.ok | not) | .point) | join(\", \")'", 0, `"person times, call times, pledge list, pledge pages, pledge times, refusals, queue"`, ""},
		{"fundesk doctor -o json --jq 'all(.ok)'", 0, "true", ""},
	}
	for _, test := range tests {
		out, errs, code := h.run(t, test.line)
		if out = strings.TrimSpace(out); code != test.code || out != test.out || !strings.Contains(errs, test.stderr) {
			t.Errorf("%s: got exit %d, %q and %q, want %d, %q and %q", test.line, code, out, errs, test.code, test.out, test.stderr)
		}
	}
	term := h.openTerminal(t, 120, 36)
	term.send("fundesk tui", "Enter")
	term.waitFor("requested calls so far") // Though the first page says that nothing stands before it.
	term.send("n")
	term.waitFor("y copies") // One of the oldest of 135: agents are spread over those.
}
