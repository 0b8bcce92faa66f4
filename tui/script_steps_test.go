package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// steppedScript has four paragraphs. The answer to the second decides about the third.
const steppedScript = `# Verification

Good evening, this is the charity.

## wants a letter
Shall we send a letter?
- [ ] yes -> address
- [ ] no -> goodbye
- [ ] not now -> end

## address
Is the address still right?

## goodbye
Thank you.
`

func newScriptedDesk(t *testing.T, width, height int) *driver {
	t.Helper()
	return newDeskWithScript(t, steppedScript, width, height)
}

func newDeskWithScript(t *testing.T, script string, width, height int) *driver {
	t.Helper()
	w := newWorld(t)
	w.options.ConfigDir = t.TempDir()
	folder := filepath.Join(w.options.ConfigDir, "scripts")
	servicetest.Check(t, os.Mkdir(folder, 0o700))
	writeFile(t, filepath.Join(folder, "verification.md"), script)
	d := newDriver(t, w.options)
	d.size(width, height)
	d.press("n")
	return d
}

// The period ticks a step and goes on. An answer goes into the notes, and leads to its heading. The comma goes back,
// and another answer replaces the first.
func TestScriptInSteps(t *testing.T) {
	t.Parallel()
	d := newScriptedDesk(t, 120, 36)
	d.sees("▸ Verification", "step 1 of 4", "1 yes", "2 no")
	d.press(".")
	d.sees("✓ Verification", "step 2 of 4")
	d.press(".")
	d.sees("Shall we send a letter?", "2 no")
	d.press("2")
	if got, want := d.app.Day.Form().Notes, "wants a letter: no"; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
	d.sees("step 4 of 4", "▸ goodbye")
	for _, key := range []string{",", ".", "1"} {
		d.press(key)
	}
	if got, want := d.app.Day.Form().Notes, "wants a letter: yes"; got != want {
		t.Errorf("notes after another answer: got %q, want %q", got, want)
	}
	d.sees("step 3 of 4")
	for range 3 {
		d.press(".")
	}
	d.sees("the script is at its end")
	for range 4 {
		d.press(",")
	}
	d.press(",")
	d.sees("this is the first step of the script")
}

// An answer is added below what the agent typed, and leaves it as it is.
func TestScriptAnswerKeepsNotes(t *testing.T) {
	t.Parallel()
	d := newScriptedDesk(t, 120, 36)
	d.enter("i", "h", "i", "esc", ".", ".", "3")
	if got, want := d.app.Day.Form().Notes, "hi\nwants a letter: not now"; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
	d.sees("the script is at its end")
}

// A quotation is read aloud, like the sentences of the scripts that each service has: it is a step of its own.
func TestQuotationIsAStep(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		d := newDeskWithScript(t, "Good evening.\n\n> Is this a good moment?\n\n- the address\n- the number", size[0],
			size[1])
		d.enter(".", ".")
		d.sees("Is this a good moment?")
		if size[0] == 80 {
			d.lacks("- the address")
			d.press(".")
			if line := lineWith(d.text(), "- the address"); !strings.Contains(line, "script") {
				t.Errorf("got the step in the line %q, want no empty line above it", line)
			}
			continue
		}
		d.sees("step 3 of 3", "✓ Is this a good moment?", "▸ - the address")
	}
}

// lineWith returns the first line with a text.
func lineWith(screen, text string) string {
	for line := range strings.Lines(screen) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// At 80×24 the script has no pane: the first period shows its first step above the notes.
func TestScriptAboveTheNotes(t *testing.T) {
	t.Parallel()
	d := newScriptedDesk(t, 80, 24)
	d.lacks("Good evening")
	d.press(".")
	d.sees("Good evening, this is the charity.")
	d.press(".")
	d.sees("Shall we send a letter?", "1 yes   2 no   3 not now")
	lines := strings.Split(d.text(), "\n")
	above := 0
	for i, line := range lines {
		switch {
		case strings.Contains(line, "Shall we send a letter?"):
			above = i
		case strings.Contains(line, "i notes") && (above == 0 || i < above):
			t.Errorf("the step is not above the notes:\n%s", d.text())
		}
	}
}

// A step that is too long for the space above the notes ends in dots.
func TestLongStepAboveTheNotes(t *testing.T) {
	t.Parallel()
	d := newDeskWithScript(t, "Good evening. "+strings.Repeat("We call about your gift to the sea. ", 10)+"Goodbye.\n",
		80, 24)
	d.press(".")
	d.sees("Good evening.")
	d.lacks("Goodbye.")
	said := 0
	for line := range strings.Lines(d.text()) {
		if !strings.Contains(line, "gift to the sea") {
			continue
		}
		if said++; said == 3 && !strings.Contains(line, "…") {
			t.Errorf("the last line of the step does not end in dots:\n%s", d.text())
		}
	}
	servicetest.Same(t, "lines of the step", 3, said)
}
