package tui

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

var lateSeeds = flag.Int("late", 200, "how many seeds TestLateAnswersNeverMoveTheTyping has")

// lateDriver runs the model with commands whose results come late, in any order.
type lateDriver struct {
	*driver
	random  *rand.Rand
	waiting []tea.Cmd
}

// send hands a message over; what comes of it waits.
func (d *lateDriver) send(msg tea.Msg) {
	_, cmd := d.app.Update(msg)
	d.wait(cmd)
}

// press is a key, after the call was visible where it ends that.
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
		if v := reflect.ValueOf(msg); msg != nil && v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
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

// sentence types a sentence of notes, while answers come, and tells the call in which it began.
func (d *lateDriver) sentence(w *world, text string) (began apitype.UUID) {
	d.press("i")
	if d.app.Call == nil || !d.app.desk.Typing() {
		return began
	}
	began = d.app.Call.UUID
	for _, letter := range text {
		d.send(keyPress(string(letter)))
		w.Clock.Advance(time.Duration(d.random.IntN(200)) * time.Millisecond)
		d.answer(d.random.IntN(3))
	}
	d.send(keyPress("esc"))
	return began
}

// A sentence stays in the notes of the call in which it began, and nothing is recorded that was not
// pressed, whatever comes back while it is typed, and however late.
func TestLateAnswersNeverMoveTheTyping(t *testing.T) {
	t.Parallel()
	for seed := range *lateSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 34))
			w := newQueueWorld(t)
			if seed%2 == 0 {
				w.InterfaceOnly()
			}
			a, err := newApp(t.Context(), w.options)
			if err != nil {
				t.Fatal(err)
			}
			a.tick, a.Spinner = func() tea.Cmd { return nil }, widget.Spinner{}
			a.Sender = w.box.Sender(w.options.Client, outbox.SenderOptions{})
			d := &lateDriver{driver: &driver{t: t, app: a}, random: random}
			d.wait(a.Init())
			d.answer(1000)
			typed, attempts := map[string]apitype.UUID{}, map[apitype.UUID]int{}
			var path []string
			for n := range 25 {
				step := []string{"n", "n", "sentence", "sentence", "sentence", "find", "a", "poll", "foreign", "rest", "result"}[random.IntN(11)]
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
						typed[text] = began
					}
				case "find":
					for _, key := range []string{"/", "a", "enter"} {
						d.press(key)
					}
				case "a":
					w.Clock.Advance(time.Second)
					before := len(a.Recent)
					on := a.Call
					d.send(keyPress("a"))
					if on != nil && a.Dialog == nil && len(a.Recent) > before && a.Recent[0].What == "not reached" {
						attempts[on.UUID]++
					}
				case "result":
					for _, key := range []string{"c", "1"} {
						d.press(key)
					}
				case "poll":
					d.wait(a.Perform(a.Poll()))
				case "foreign":
					if a.Call != nil && random.IntN(2) == 0 {
						w.Do(w.Token(), "PUT", "/api/v1/calls/"+a.Call.UUID.String()+"/actions/complete", `{}`)
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
			if err := a.Autosave.Flush(); err != nil {
				t.Fatal(err)
			}
			a.Written()
			w.checkTyped(t, path, typed, attempts)
		})
	}
}

// checkTyped looks for what was typed and recorded, where it belongs and nowhere else.
func (w *world) checkTyped(t *testing.T, path []string, typed map[string]apitype.UUID, attempts map[apitype.UUID]int) {
	t.Helper()
	drafts, err := w.box.Drafts()
	if err != nil {
		t.Fatal(err)
	}
	notes := map[apitype.UUID]string{}
	for _, draft := range drafts {
		notes[draft.Call] += draft.Notes
	}
	for text, call := range typed {
		if !strings.Contains(notes[call], text) {
			t.Errorf("%q: got the notes %q, want %q in those of %s", path, notes, text, desk.ShortID(call))
		}
	}
	entries, _, err := w.box.List()
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[apitype.UUID]int{}
	for _, e := range entries {
		if e.Op != apiclient.OpAddAttempt {
			t.Errorf("%q: got %s of %s, which was not pressed", path, e.Op, desk.ShortID(e.UUID))
		}
		recorded[e.UUID]++
	}
	if fmt.Sprint(recorded) != fmt.Sprint(attempts) {
		t.Errorf("%q: got the attempts %v, want %v", path, recorded, attempts)
	}
}
