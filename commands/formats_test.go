package commands

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/service/servicetest"
)

// Every leaf prints each format that the table gives it, as that format, and refuses all
// others before anything is done.
func TestEveryLeafHasItsFormats(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	home := t.TempDir()
	if err := CopyDemo(home); err != nil {
		t.Fatal(err)
	}
	ids := demoIDs(t, home)
	leaves := map[string]bool{}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		leaves[name], leaves[cmd.Name()] = true, true
		if cmd.HasSubCommands() || name == "tui" || name == "demo" {
			return
		}
		args := leafCommand(name, ids)
		for _, format := range render.Formats {
			has := slices.Contains(outputOf(cmd).formats, format)
			out, errs, code := runIn(t, home, "", "", append(args, "-o", string(format))...)
			switch {
			case !has && (code != 2 || out != "" || !strings.Contains(errs, "-o "+string(format))):
				t.Errorf("%s -o %s: got exit code %d, %q and %q, want 2 and what there is",
					name, format, code, out, errs)
			case has && strings.Contains(errs, "this command has no -o"):
				t.Errorf("%s -o %s: got %q, want it printed", name, format, errs)
			case has && code != 0 && format == render.JSON:
				var line struct{ Error *cli.Report }
				if strings.Count(errs, "\n") != 1 ||
					json.Unmarshal([]byte(errs), &line) != nil ||
					line.Error == nil ||
					line.Error.Kind == "" {
					t.Errorf("%s -o json: got exit code %d and %q on stderr, want one JSON line", name, code, errs)
				}
			case has && code == 0 && out != "" && !slices.Contains(quiet, name):
				checkFormat(t, name, format, out)
			}
		}
		if _, errs, code := runIn(t, home, "", "", append(args, "--columns", "nonsense")...); code != 2 {
			t.Errorf("%s --columns nonsense: got exit code %d and %q, want 2", name, code, errs)
		}
	})
	for name := range outputs {
		if !leaves[name] {
			t.Errorf("the table of formats names %q, want a command", name)
		}
	}
}

// checkFormat wants an output to be what its format promises.
func checkFormat(t *testing.T, name string, format render.Format, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	for i, line := range lines {
		good := true
		switch format {
		case render.NDJSON:
			good = json.Valid([]byte(line))
		case render.ID:
			good = !strings.ContainsAny(strings.TrimSpace(line), " \t,{")
		case render.CSV:
			good = i > 0 || strings.HasSuffix(line, "\r")
		}
		if !good {
			t.Errorf("%s -o %s: got the line %q", name, format, line)
			return
		}
	}
	if format == render.JSON && !json.Valid([]byte(out)) {
		t.Errorf("%s -o json: got %q", name, out)
	}
}
