package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// callOnScreen is the identifier of the call among what the Desk copies, and cardOnScreen the
// number to dial on its card.
var (
	callOnScreen = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	cardOnScreen = regexp.MustCompile(`\S[0-9 +]+(mobile|home) +d dials`)
)

// getCall reads a call of the demo through the command line.
func (h home) getCall(t *testing.T, id string) apitype.Call {
	t.Helper()
	var call apitype.Call
	if err := json.Unmarshal([]byte(h.must(t, "fundesk --profile demo call get "+id+" -o json")), &call); err != nil {
		t.Fatal(err)
	}
	return call
}

// take takes the next call and returns its identifier.
func (term *terminal) take() string {
	term.t.Helper()
	term.send("n")
	return term.call("")
}

// lookAtCall looks at a call for longer than a key that ends it waits for.
func (term *terminal) lookAtCall() { time.Sleep(time.Second) }

// call is the identifier of the call on the Desk, once its card is another one than before.
func (term *terminal) call(before string) string {
	term.t.Helper()
	term.wait("a card", func(screen string) bool {
		card := cardOnScreen.FindString(screen)
		return card != "" && card != before
	})
	term.send("Y")
	id := callOnScreen.FindString(term.wait("identifiers", callOnScreen.MatchString))
	term.send("Escape")
	term.wait("the card alone", func(screen string) bool { return !callOnScreen.MatchString(screen) })
	return id
}

func TestDemoWorksACallInTheTerminal(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := newHome(t)
	term := h.openTerminal(t, 120, 36)
	term.write("fundesk demo")
	term.send("Enter")
	term.waitFor("take the next call")

	first := term.take()
	term.send("c")
	term.waitFor("/ another")
	term.send("1")
	term.waitFor("0 to 9")
	term.send("4", "i")
	term.write("Größe geprüft, 木村さん war erfreut.")
	term.waitFor("war erfreut")
	card := cardOnScreen.FindString(term.waitFor("y copies"))
	term.lookAtCall()
	term.send("C-s")
	second := term.call(card)

	before := len(h.getCall(t, second).Attempts.Value())
	card = cardOnScreen.FindString(term.waitFor("y copies"))
	term.lookAtCall()
	term.send("a") // Not reached: one key, and the next call is there.
	term.wait("a third call", func(screen string) bool {
		next := cardOnScreen.FindString(screen)
		return next != "" && next != card
	})
	term.send("q")
	term.wait("the shell", func(screen string) bool { return !strings.Contains(screen, "Desk") })
	h.must(t, "fundesk --profile demo outbox send") // What quitting did not wait for.

	done := h.getCall(t, first)
	result := done.Result.Pointer()
	if done.Status != apitype.CallCompleted || result == nil || result.ResultCode == nil {
		t.Fatalf("got status %s and result %+v, want completed with a result code", done.Status, result)
	}
	if got, want := *result.Notes, "Größe geprüft, 木村さん war erfreut."; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
	if got := result.DonorRetentionRating.String(); got != "4" {
		t.Errorf("rating: got %s, want 4", got)
	}
	if got := len(h.getCall(t, second).Attempts.Value()); got != before+1 {
		t.Errorf("attempts of the call not reached: got %d, want %d", got, before+1)
	}

	term.send("C-l")
	term.write("fundesk demo")
	term.send("Enter")
	term.waitFor("take the next call")
	if again := term.take(); again == first {
		t.Error("the demo began anew: the completed call is offered again")
	}
	if got := h.getCall(t, first).Status; got != apitype.CallCompleted {
		t.Errorf("after a second demo: got %s, want completed", got)
	}
}

func TestDemoTakesBackAHeldSend(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := newHome(t)
	term := h.openTerminal(t, 80, 24)
	term.write("fundesk demo")
	term.send("Enter")
	term.waitFor("take the next call")
	var id string
	var before int
	for taken := false; !taken; {
		id = term.take()
		before = h.getCall(t, id).AttemptsCount
		card := cardOnScreen.FindString(term.waitFor("y copies"))
		term.lookAtCall()
		term.send("a")
		term.waitFor("undoes it")
		term.send("u")
		// It is held for five seconds. The machine may stall for longer, and send it.
		term.wait("what became of it", func(screen string) bool {
			taken = strings.Contains(screen, "undone: not reached") && strings.Contains(screen, card)
			return taken || strings.Contains(screen, "nothing to undo") || strings.Contains(screen, "cannot undo")
		})
		term.send("x") // Dismisses the message.
	}
	term.send("q")
	term.wait("the shell", func(screen string) bool { return !strings.Contains(screen, "Desk") })
	h.must(t, "fundesk --profile demo outbox send")
	if got := h.getCall(t, id).AttemptsCount; got != before {
		t.Errorf("attempts: got %d, want %d", got, before)
	}
}

func TestPipelineRecordsThreeAttempts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	need(t, "bash")
	list := "fundesk --profile demo -q call list --status requested --limit 3 -o "
	requested := strings.Fields(h.must(t, list+"id"))
	out := h.must(t, list+"ndjson | fundesk --profile demo call attempt - --yes")
	if got := len(strings.Split(out, "\n")); got != 3 || len(requested) != 3 {
		t.Fatalf("got %d lines for %d calls, want 3\n%s", got, len(requested), out)
	}
	for _, id := range requested {
		if attempts := h.getCall(t, id).Attempts.Value(); len(attempts) == 0 {
			t.Errorf("call %s: no attempt was recorded", id)
		}
	}
}

// clockOfWarning is the part of a warning that another minute words otherwise.
var clockOfWarning = regexp.MustCompile(`it is \d\d:\d\d on \w+day`)

// The desk of ACCESSIBLE=1 offers the same calls as the drawn one, in the same order, with the same warnings.
func TestBothFacesOfTheDeskOfferTheSame(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	const calls = 8
	h := newHome(t)
	h.must(t, "fundesk --profile demo call list --limit 1") // The sample data.
	// Every hour is outside calling hours, or the two faces could differ at a bound. Opened by its path, the database
	// has no colleagues that would take calls between the two.
	h.must(
		t,
		"fundesk profile add faces --base-url embedded:$HOME/.local/share/fundesk/demo.db --set calling_hours=NL=-,-,- --set calling_hours=DE=-,-,-",
	)
	timeless := func(text string) string { return clockOfWarning.ReplaceAllString(text, "it is now") }
	lines := h.openTerminal(t, 300, 200)
	lines.write("ACCESSIBLE=1 fundesk tui --profile faces")
	lines.send("Enter")
	asked := func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "q to end:") }
	var told []string
	for n := range calls {
		screen := lines.wait("a question", func(screen string) bool {
			return asked(screen) && strings.Count(screen, " call for ") == n+1
		})
		_, last, _ := strings.Cut(screen[strings.LastIndex(screen, " call for "):], " call for ")
		name, rest, _ := strings.Cut(last, ", requested")
		var warnings []string
		for line := range strings.SplitSeq(rest, "\n") {
			if text, isWarning := strings.CutPrefix(line, "warning: "); isWarning {
				warnings = append(warnings, timeless(strings.TrimSpace(text)))
			}
		}
		told = append(told, name+": "+strings.Join(warnings, "; "))
		lines.send("Enter")
	}
	if !strings.Contains(strings.Join(told, "\n"), "it is now in NL: no calls on that day") {
		t.Errorf("got %q, want a warning of the hours", told)
	}
	drawn := h.openTerminal(t, 200, 60)
	drawn.write("fundesk tui --profile faces")
	drawn.send("Enter")
	drawn.waitFor("take the next call")
	for i, before := 0, ""; i < calls; i++ {
		name, warnings, _ := strings.Cut(told[i], ": ")
		drawn.send("n")
		screen := drawn.wait("the call of "+name, func(screen string) bool {
			card := cardOnScreen.FindString(screen)
			isRead := !strings.Contains(screen, "checking…")
			return card != "" && card != before && isRead && strings.Contains(screen, "│ "+name+" ")
		})
		before = cardOnScreen.FindString(screen)
		if len(warnings) > 0 {
			drawn.send("W")
			screen = drawn.waitFor("Before you dial")
			drawn.send("Escape")
			drawn.wait("the call alone", func(screen string) bool {
				return !strings.Contains(screen, "Before you dial")
			})
		}
		for warning := range strings.SplitSeq(warnings, "; ") {
			if warning != "" && !strings.Contains(timeless(screen), warning) {
				t.Errorf("call %d: got the warning %q, want that of the screen:\n%s", i+1, warning, screen)
			}
		}
		if signs := strings.Count(screen, "▲"); warnings == "" && signs > 0 {
			t.Errorf("call %d: got no warning, want those of the screen:\n%s", i+1, screen)
		}
	}
}

// The output of --debug goes into a file, and is refused if it would be written over the screen.
func TestDebugNeedsAFileBesideTheScreen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	term := h.openTerminal(t, 100, 30)
	term.write("fundesk demo --debug\n")
	term.waitFor("--debug would write over the screen")
	term.waitFor("fundesk demo --debug 2>FILE")
	term.write("fundesk demo --debug 2>messages\n")
	term.waitFor("take the next call")
	term.send("q")
	term.wait("the end", func(screen string) bool { return !strings.Contains(screen, "take the next call") })
	messages, err := os.ReadFile(filepath.Join(h.dir, "messages"))
	if err != nil || !strings.Contains(string(messages), "message: tea.KeyPressMsg\n") {
		t.Errorf("got %v and:\n%s\nwant the names of messages", err, messages)
	}
}
