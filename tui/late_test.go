package tui

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service/servicetest"
)

var lateSeeds = flag.Int("late", 8, "how many seeds TestLateAnswersNeverMoveTheTyping has")

// lateDriver runs the model with commands that bring their results late, in any order.
type lateDriver struct {
	*driver
	random  *rand.Rand
	waiting []tea.Cmd
}

// send passes a message. Its results wait.
func (d *lateDriver) send(msg tea.Msg) {
	_, cmd := d.app.Update(msg)
	d.wait(cmd)
}

// press presses a key. If the key ends a call, the call was visible before.
func (d *lateDriver) press(name string) { d.send(keyPress(name)) }

func (d *lateDriver) wait(cmd tea.Cmd) {
	if cmd != nil {
		d.waiting = append(d.waiting, cmd)
	}
}

// answer lets some of what is under way come back.
func (d *lateDriver) answer(n int) {
	for ; n > 0 && len(d.waiting) > 0; n-- {
		i := d.random.IntN(len(d.waiting))
		cmd := d.waiting[i]
		d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
		msg := cmd()
		v := reflect.ValueOf(msg)
		if msg != nil && v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
			for j := range v.Len() {
				d.wait(v.Index(j).Interface().(tea.Cmd))
			}
			n++
			continue
		}
		if _, quits := msg.(tea.QuitMsg); msg != nil && !quits {
			d.send(msg)
		}
	}
}

// sentence types a sentence of notes, while answers come, and returns the call in which it began.
func (d *lateDriver) sentence(w *world, text string) apitype.UUID {
	d.press("i")
	var began apitype.UUID
	if d.app.Day.Call == nil || !d.app.desk.Typing() {
		return began
	}
	began = d.app.Day.Call.UUID
	for _, letter := range text {
		d.send(keyPress(string(letter)))
		w.Clock.Advance(time.Duration(d.random.IntN(200)) * time.Millisecond)
		d.answer(d.random.IntN(3))
	}
	d.send(keyPress("esc"))
	return began
}

// fix corrects the e-mail address, while answers come, and returns the donor.
func (d *lateDriver) fix(w *world, value string) apitype.UUID {
	d.press("f")
	var began apitype.UUID
	if d.app.Day.Call == nil || d.app.Dialog == nil {
		return began
	}
	began = d.app.Day.Call.UUID
	for _, key := range append(append([]string{"3"}, strings.Split(value, "")...), "enter") {
		d.press(key)
		w.Clock.Advance(time.Duration(d.random.IntN(200)) * time.Millisecond)
		d.answer(d.random.IntN(3))
	}
	d.press("esc")
	return began
}

// complete presses ctrl+s, and holds what is sent by it against the last words of the frame before.
func (d *lateDriver) complete(t *testing.T, w *world) []outbox.Entry {
	t.Helper()
	w.Clock.Advance(time.Second)
	list := func() []outbox.Entry {
		d.app.Day.Changes.Written()
		entries, _, err := w.box.List()
		servicetest.Check(t, err)
		return entries
	}
	before, frame := list(), d.text()
	if d.press("ctrl+s"); d.app.Dialog != nil {
		d.press("y") // The record was corrected, but the result means something else.
	}
	sent := slices.DeleteFunc(list(), func(e outbox.Entry) bool {
		return slices.ContainsFunc(before, func(old outbox.Entry) bool { return old.ID == e.ID })
	})
	if len(sent) == 0 {
		return nil
	}
	if want := summaryOf(t, sent); !strings.Contains(frame, want+"  ") && !strings.Contains(frame, want+" │") {
		t.Errorf("sent %q, which the frame before did not say:\n%s", want, frame)
	}
	return sent
}

// summaryOf returns the frame's summary for the bodies of a completion.
func summaryOf(t *testing.T, sent []outbox.Entry) string {
	t.Helper()
	var result apitype.CompleteCallRequest
	var fixes []string
	for _, e := range sent {
		var body struct {
			Email  *string
			OptIns struct{ Phone *bool }
		}
		into := any(&body)
		if e.Op == apiclient.OpCompleteCall {
			into = &result
		}
		servicetest.Check(t, json.Unmarshal(e.Body, into))
		if body.Email != nil {
			fixes = append(fixes, "e-mail "+*body.Email)
		}
		if body.OptIns.Phone != nil {
			fixes = append(fixes, map[bool]string{
				false: "may not be phoned any more",
				true:  "may be phoned",
			}[*body.OptIns.Phone])
		}
	}
	parts := []string{
		"^s sends " + map[string]string{
			"confirmed":     "confirmed",
			"corrected":     "corrected",
			"wants_to_stop": "wants to stop (opt-out)",
		}[deref(result.Result.ResultCode)],
	}
	parts = append(parts, fixes...)
	if result.Result.DonorRetentionRating != nil {
		parts = append(parts, "rating "+result.Result.DonorRetentionRating.String())
	}
	if n := utf8.RuneCountInString(deref(result.Result.Notes)); n > 0 {
		parts = append(parts, render.Plural(n, "character", "characters"))
	}
	return strings.Join(parts, ", ")
}

// A sentence stays in the notes of the call in which it began, and a correction with its donor. No change without a key
// is recorded, and the sent values are those of the frame, whatever comes back, and however late.
func TestLateAnswersNeverMoveTheTyping(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for seed := range *lateSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 34))
			w := newQueueWorld(t)
			if seed%2 == 0 {
				w.InterfaceOnly()
			}
			w.options.Results = map[apitype.CallType][]apitype.ResultChoice{apitype.CallVerification: {
				{Code: "confirmed"},
				{Code: "corrected", Effect: new(apitype.EffectCorrected)},
				{Code: "wants_to_stop", Effect: new(apitype.EffectOptOut)},
			}}
			d := &lateDriver{driver: unreadDesk(t, w), random: random}
			a := d.app
			a.Day.Changes.Sender = w.box.Sender(w.options.Client, outbox.SenderOptions{})
			d.wait(a.Init())
			d.size(240, 50)
			d.answer(1000)
			done := worked{
				typed:    map[string]apitype.UUID{},
				attempts: map[apitype.UUID]int{},
				fixed:    map[apitype.UUID]string{},
			}
			var path []string
			for n := range 25 {
				step := []string{
					"n", "n", "sentence", "sentence", "sentence", "find", "a", "poll", "foreign",
					"rest", "result", "fix", "send",
				}[random.IntN(13)]
				path = append(path, step)
				if d.app.desk.Typing() { // The call that was typed ahead for has come.
					d.press("esc")
				}
				switch step {
				case "n":
					d.press("n")
				case "sentence":
					text := fmt.Sprintf("w%dx new street, a sad bee asks; call me.", n)
					if began := d.sentence(w, text); !began.IsZero() {
						done.typed[text] = began
					}
				case "find":
					d.enter("/", "a", "enter")
				case "a":
					w.Clock.Advance(time.Second)
					before := len(a.Day.Changes.Recent)
					on := a.Day.Call
					d.send(keyPress("a"))
					if on != nil &&
						a.Dialog == nil &&
						len(a.Day.Changes.Recent) > before &&
						a.Day.Changes.Recent[0].What == "not reached" {
						done.attempts[on.UUID]++
					}
				case "result":
					d.press("c")
					d.press(fmt.Sprint(1 + random.IntN(3)))
					d.press(fmt.Sprint(random.IntN(10)))
				case "fix":
					value := fmt.Sprintf("w%dx@example.org", n)
					if began := d.fix(w, value); !began.IsZero() {
						done.fixed[began] = value
					}
				case "send":
					done.sent = append(done.sent, d.complete(t, w)...)
				case "poll":
					d.wait(a.Perform(a.Day.Poll()))
				case "foreign":
					if a.Day.Call != nil && random.IntN(2) == 0 {
						w.Do(w.Token(), "PUT", "/api/v1/calls/"+a.Day.Call.UUID.String()+"/actions/complete", `{}`)
					}
				case "rest":
					w.Clock.Advance(time.Duration(random.IntN(4)) * time.Second)
					d.send(ticked{})
				}
				if a.Dialog != nil {
					d.press("esc")
				}
				d.answer(random.IntN(4))
			}
			d.answer(10_000)
			servicetest.Check(t, a.Day.Changes.Drafts.Flush())
			a.Day.Changes.Written()
			w.checkTyped(t, path, done)
		})
	}
}

// worked holds the work at the desk.
type worked struct {
	typed    map[string]apitype.UUID // Sentences, with the call in which each began.
	attempts map[apitype.UUID]int
	fixed    map[apitype.UUID]string // The last e-mail address of a call.
	sent     []outbox.Entry
}

// checkTyped finds typed and recorded values in their own places and in no others.
func (w *world) checkTyped(t *testing.T, path []string, done worked) {
	t.Helper()
	drafts, err := w.box.Drafts()
	servicetest.Check(t, err)
	notes, fixes := map[apitype.UUID]string{}, map[apitype.UUID]string{}
	for _, draft := range drafts {
		notes[draft.Call] += draft.Notes
		fixes[draft.Call] += draft.Corrections["email"]
	}
	for _, e := range done.sent {
		call := e.UUID
		call[0] = 0xc0 // Of the person with that number.
		notes[call] += string(e.Body)
		fixes[call] += string(e.Body)
	}
	for call, value := range done.fixed {
		if !strings.Contains(fixes[call], value) {
			t.Errorf("%q: got %q for %s, want %s", path, fixes[call], render.ShortID(call), value)
		}
	}
	for text, call := range done.typed {
		if !strings.Contains(notes[call], text) {
			t.Errorf("%q: got the notes %q, want %q in those of %s", path, notes, text, render.ShortID(call))
		}
	}
	entries, _, err := w.box.List()
	servicetest.Check(t, err)
	recorded := map[apitype.UUID]int{}
	for _, e := range entries {
		if slices.ContainsFunc(done.sent, func(sent outbox.Entry) bool { return sent.ID == e.ID }) {
			continue
		}
		servicetest.Same(t, fmt.Sprint(path), apiclient.OpAddAttempt, e.Op)
		recorded[e.UUID]++
	}
	servicetest.Same(t, fmt.Sprint(path), fmt.Sprint(done.attempts), fmt.Sprint(recorded))
}

// Results of background tasks reach the program in their order: of two writings of a draft, the later one decides
// whether it is said to be saved.
func TestResultsComeInOrder(t *testing.T) {
	t.Parallel()
	const count = 1000
	got := make(chan tea.Msg, count)
	results := mailbox{send: func(msg tea.Msg) { got <- msg }}
	for i := range count {
		results.put(i)
	}
	for want := range count {
		if msg := <-got; msg != want {
			t.Fatalf("got the result %v, want %d", msg, want)
		}
	}
}
