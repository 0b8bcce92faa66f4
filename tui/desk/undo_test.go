package desk_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/event"
)

const askingScript = `## letter

Do you want a letter?
- [ ] yes
- [ ] no

## end

Thank you.
`

// withScript gives the next agents a script for each call.
func (f *floor) withScript(text string) {
	f.configDir = f.t.TempDir()
	folder := filepath.Join(f.configDir, "scripts")
	servicetest.Check(f.t, os.MkdirAll(folder, 0o700))
	servicetest.Check(f.t, os.WriteFile(filepath.Join(folder, "verification.md"), []byte(text), 0o600))
}

// answer presses the key of the next step, and the digit of an answer. Zero presses none.
func (a *agent) answer(digit int) {
	answer := a.Ask.NextStep()
	if digit > 0 && answer.Next == nil {
		a.f.t.Fatalf("step %d asks nothing", a.Card().StepAt())
	}
	if digit > 0 {
		answer = answer.Next.Choices[digit-1].Pick()
	}
	a.perform(answer.Events)
}

// A second answer to a step replaces the first one in the notes, however the agent came back to the call.
func TestAnAnswerGivenAgainReplacesTheFirst(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(a *agent){
		"an undone attempt": func(a *agent) {
			a.perform(a.Finish(disposition.NotReached("")))
			a.perform(a.Changes.Undo())
		},
		"an undone completion": func(a *agent) {
			a.Form().SetResult("reached")
			a.perform(a.Finish(disposition.Complete))
			a.perform(a.Changes.Undo())
		},
		"an undone skip": func(a *agent) {
			a.perform(a.Skip())
			a.perform(a.Changes.Undo())
		},
		"the draft": func(a *agent) {
			a.perform(a.Skip())
			a.perform(a.Resume())
		},
	} {
		f := newFloor(t, 2)
		f.withScript(askingScript)
		a := f.agent(t.TempDir())
		a.perform(a.Next())
		a.answer(1)
		if back(a); !a.IsOn(f.calls[0]) || a.Form().Notes != "letter: yes" {
			t.Fatalf("%s: got %v with the notes %q", name, a.Call, a.Form().Notes)
		}
		if name != "the draft" {
			if got := a.Card().StepAt(); got != 1 || !a.Card().IsSaid(0) || !a.Card().Walk.Begun {
				t.Errorf("%s: got step %d, want the script where it was", name, got)
			}
			a.Ask.PreviousStep()
		}
		if a.answer(2); a.Form().Notes != "letter: no" {
			t.Errorf("%s: got the notes %q, want the second answer alone", name, a.Form().Notes)
		}
	}
}

// If a script asks a question twice, each answer is a line.
func TestEqualAnswersOfTwoSteps(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	f.withScript("## letter\n\nBy post?\n- [ ] yes\n- [ ] no\n\nBy mail?\n- [ ] yes\n- [ ] no\n")
	a := f.agent(t.TempDir())
	a.perform(a.Next())
	a.answer(1)
	if a.answer(1); a.Form().Notes != "letter: yes\nletter: yes" {
		t.Errorf("got the notes %q, want a line for each question", a.Form().Notes)
	}
}

// Undoing a step to another call keeps the dialled numbers, and the reason of the callback.
func TestUndoKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 2)
	a := f.agent(t.TempDir())
	person := "/api/v1/persons/" + f.call(f.calls[0]).PersonUUID.String() + "/actions/update"
	f.must(http.MethodPut, person, `{"mobilePhoneNumber":"+31611111111"}`)
	a.perform(a.Next())
	at := f.Clock.Now().Add(time.Hour)
	a.perform(a.Finish(disposition.Later(
		apitype.Callback{TimeReading: apitype.TimeReading{At: at}, Reason: "after dinner"},
		true,
	)))
	a.sendHeld()
	f.Clock.Advance(time.Hour)
	a.perform(a.Poll())
	a.pollFor(3 * time.Minute)
	ask := a.Ask.AskCallbacks().Next
	a.perform(ask.Choices[0].Pick().Events)
	check := func(when string) {
		t.Helper()
		if got := a.Card().CallbackReason; got != "after dinner" || !a.IsOn(f.calls[0]) {
			t.Errorf("%s: got the reason %q", when, got)
		}
	}
	check("from the list")
	a.perform(a.Ask.Dial().Events)
	dialled := a.Card().Dialled()
	for name, step := range map[string]func() []event.Event{
		"skip":        a.Skip,
		"not reached": func() []event.Event { return a.Finish(disposition.NotReached("")) },
	} {
		a.perform(step())
		a.perform(a.Changes.Undo())
		check(name)
		if got := a.Card().Dialled(); got.IsZero() || !got.Equal(dialled) {
			t.Errorf("%s: got a call dialled at %s, want %s", name, got, dialled)
		}
	}
}
