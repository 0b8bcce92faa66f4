package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
)

// seen lets the call on screen be visible for as long as a key that ends it needs.
func (w *world) seen() { w.Clock.Advance(600 * time.Millisecond) }

// loadResults adds completed calls for person 6 with a result code each, the oldest first.
func (w *world) loadResults(requested time.Duration, codes ...string) {
	for i, code := range codes {
		w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
			UUID:          apitype.NewUUID(),
			Status:        apitype.CallCompleted,
			RequestedAt:   w.ago(requested - time.Duration(i)*time.Minute),
			LastUpdatedAt: w.ago(0),
			PersonUUID:    personID(6),
			Type:          apitype.CallVerification,
			CompletedAt:   new(w.ago(time.Minute)),
			Result: apitype.Embed(apitype.CallResult{
				ResultCode:  new(code),
				CompletedAt: new(w.ago(time.Minute)),
			}),
		}}})
	}
}

// text returns the screen without styles.
func (d *driver) text() string { return ansi.Strip(strings.Join(d.app.screen(), "\n")) }

func (d *driver) enter(keys ...string) {
	for _, key := range keys {
		d.press(key)
	}
}

// entries returns the changes in the outbox, as operation and call.
func (w *world) entries(t *testing.T) []string {
	t.Helper()
	entries, _, err := w.box.List()
	servicetest.Check(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Op+" "+render.ShortID(e.UUID))
	}
	return all
}

// Agents know the digit of a result by heart. It never changes, whatever is counted, polled or restarted.
func TestResultCodesKeepTheirDigits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.ResultCodes, w.options.StateFile = nil, t.TempDir()+"/desk/test.json"
	digits := func(d *driver, want ...string) {
		t.Helper()
		d.press("c")
		defer d.press("esc")
		for i, code := range want {
			if line := fmt.Sprintf("%d %s  ", i+1, code); !strings.Contains(d.text(), line) {
				t.Errorf("got:\n%s\nwant %q", d.text(), line)
			}
		}
	}
	d := newDriver(t, w.options)
	d.press("n")
	digits(d, "reached")
	w.loadResults(2*time.Hour, "early", "moved", "moved", "moved")
	d.untilPoll(w)
	digits(d, "reached")
	d.lacks("moved")
	// On every computer the next start has the same order, whatever was seen first or most.
	w.loadResults(2000*time.Hour, "ancient", "ancient", "ancient", "ancient", "ancient")
	d = newDriver(t, w.options)
	d.press("n")
	digits(d, "ancient", "early", "moved", "reached")
	w.options.ResultCodes = []string{"b", "a"}
	d = newDriver(t, w.options)
	d.press("n")
	digits(d, "b", "a")
}

// A result code without earlier use is asked about: it may be a typing mistake.
func TestUnknownResultCodeIsAskedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	d.enter("n", "c", "/", "m", "o", "w", "e", "d", "enter")
	if text := d.text(); !strings.Contains(text, "mowed") || d.app.Day.Form().ResultCode != "" {
		t.Fatalf("got %q and:\n%s\nwant a question", d.app.Day.Form().ResultCode, text)
	}
	d.enter("n")
	servicetest.Same(t, "after n", "", d.app.Day.Form().ResultCode)
	d.enter("esc", "c", "/", "m", "o", "w", "e", "d", "enter", "y")
	servicetest.Same(t, "after y", "mowed", d.app.Day.Form().ResultCode)
	d.enter("esc", "c", "/", "ctrl+u", "m", "o", "v", "e", "d", "enter")
	servicetest.Same(t, "a known one", "moved", d.app.Day.Form().ResultCode)
}

// The rating is on one key, ten on two, and nothing is saved that was not chosen.
func TestRatingKeys(t *testing.T) {
	t.Parallel()
	tests := []struct{ keys, want string }{
		{"r 1 0", "10"},
		{"r 1 i", "1 notes"},
		{"r 1 esc", "1"},
		{"r 8", "8"},
		{"r 0", "0"},
		{"r esc", "none"},
		{"r z", "none"},
		{"r 8 r -", "none"},
		{"c 1 8", "8"},
		{"c 1 1 0", "10"},
		{"c 1 1 r 7", "7"},
		{"c 1 r 4", "4"},
		{"c 1 i", "none notes"},
		{"c 1 esc", "none"},
		{"r 8 c 1 esc", "8"},
	}
	for _, test := range tests {
		t.Run(test.keys, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t, newWorld(t).options)
			d.enter("n")
			d.enter(strings.Fields(test.keys)...)
			got := "none"
			if d.app.Day.Form().Rating != nil {
				got = fmt.Sprint(*d.app.Day.Form().Rating)
			}
			if d.app.desk.Typing() {
				got += " notes"
			}
			servicetest.Same(t, "got", test.want, got)
		})
	}
}

// A whole call takes four keys, or five. A rating of one or ten is the pressed one.
func TestWholeCallInFourKeys(t *testing.T) {
	t.Parallel()
	tests := []struct{ keys, rating string }{
		{"c 1 8 ctrl+s", "8"},
		{"c 1 r 8 ctrl+s", "8"},
		{"c 1 1 ctrl+s", "1"},
		{"c 1 1 0 ctrl+s", "10"},
		{"c 1 ctrl+s", "<nil>"},
	}
	for _, test := range tests {
		t.Run(test.keys, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := newDriver(t, w.options)
			d.enter("n")
			d.enter(strings.Fields(test.keys)...)
			servicetest.Check(t, w.box.Release())
			if _, err := w.box.Sender(w.client, outbox.SenderOptions{}).SendDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			call := w.call(t, callID(1))
			got := fmt.Sprint(call.Result.Value().DonorRetentionRating)
			if call.Status != apitype.CallCompleted || got != test.rating {
				t.Errorf("got %s with rating %s, want completed with %s", call.Status, got, test.rating)
			}
			if d.app.Day.Call == nil || d.app.Day.Call.UUID != callID(4) {
				t.Error("the next call is not on the desk")
			}
		})
	}
}

// A key that is held down, or pressed twice by mistake, ends no call before the agent has seen it.
func TestHeldKeyEndsOneCall(t *testing.T) {
	t.Parallel()
	held := func(keys ...string) func(d *driver, w *world) {
		return func(d *driver, w *world) {
			for range 40 { // As a keyboard repeats them.
				w.Clock.Advance(33 * time.Millisecond)
				for _, key := range keys {
					d.send(keyPress(key))
				}
			}
		}
	}
	late := func(key string) func(d *driver, w *world) {
		return func(d *driver, w *world) {
			w.Clock.Advance(599 * time.Millisecond)
			d.send(keyPress(key))
		}
	}
	tests := []struct {
		name string
		then func(d *driver, w *world)
		want []string
	}{
		{"not reached, held", held("a"), []string{"call.attempt c0010000"}},
		{"not reached, twice", late("a"), []string{"call.attempt c0010000"}},
		{"another key that ends a call", late("X"), []string{"call.attempt c0010000"}},
		{"expire", late("e"), []string{"call.attempt c0010000"}},
		{"not reached, a second later", func(d *driver, w *world) {
			w.Clock.Advance(time.Second)
			d.send(keyPress("a"))
		}, []string{"call.attempt c0010000", "call.attempt c0040000"}},
		{
			name: "not reached, after another key",
			then: func(d *driver, w *world) { w.seen(); d.enter("j"); d.send(keyPress("a")) },
			want: []string{"call.attempt c0010000"},
		},
		{"held, on a line that stalls", func(d *driver, w *world) {
			// 10 s of 33 ms, with a stall of 150 to 900 ms each second; what was held up comes together.
			for range 200 {
				w.Clock.Advance(time.Duration(33+len(w.entries(t))) * time.Millisecond)
				d.send(keyPress("a"))
				if w.Clock.Now().Nanosecond()%int(time.Second) < int(40*time.Millisecond) {
					w.Clock.Advance(900 * time.Millisecond)
				}
			}
		}, []string{"call.attempt c0010000"}},
		{"a repeat that the terminal tells", func(d *driver, w *world) {
			w.Clock.Advance(time.Minute)
			d.send(tea.KeyPressMsg{Code: 'a', Text: "a", IsRepeat: true})
		}, []string{"call.attempt c0010000"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := newDriver(t, w.options)
			d.press("n")
			w.seen()
			d.press("a")
			test.then(d, w)
			servicetest.Same(t, "entries", test.want, w.entries(t))
			if d.app.Dialog != nil {
				t.Error("a question is open, want none")
			}
			if len(test.want) == 1 && !strings.Contains(d.app.status(), ": press it again") {
				t.Errorf("status: got %q, want why the key did nothing", d.app.status())
			}
		})
	}
}

// The reason why a key did nothing is not shown for the next call, which would then own the key.
func TestReplyToAKeyEndsWithTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	d.send(keyPress("a"))
	if got := d.app.status(); !strings.Contains(got, "a: press it again") {
		t.Fatalf("status: got %q, want why the key did nothing", got)
	}
	d.press("n")
	if got := d.app.status(); strings.Contains(got, "press it again") {
		t.Errorf("status at the next call: got %q, want nothing of the key before", got)
	}
}

// One u takes back what one key sent: two donors whom the agent did not reach, however quickly, are two.
func TestUndoTakesBackOneDonor(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	end := func(keys ...string) {
		w.Clock.Advance(time.Second) // The same key counts again.
		for _, key := range keys {
			d.send(keyPress(key))
		}
	}
	d.press("n")
	first := d.app.Day.Call.UUID
	end("A", "1")
	second := d.app.Day.Call.UUID
	end("A", "2")
	if got := len(w.entries(t)); got != 4 {
		t.Fatalf("got %d changes, want two attempts with their reasons", got)
	}
	for _, want := range []struct {
		call apitype.UUID
		left int
	}{{second, 2}, {first, 0}} {
		d.press("u")
		d.press("!")
		d.lacks("undone: reason of the attempt")
		d.press("esc")
		if got := w.entries(t); len(got) != want.left || d.app.Day.Call == nil || d.app.Day.Call.UUID != want.call {
			t.Errorf("got %q and the call %v, want %d changes and %v", got, d.app.Day.Call, want.left, want.call)
		}
		if said := d.app.status(); !strings.Contains(said, "undone: not reached, ") {
			t.Errorf("status: got %q, want the work that was undone", said)
		}
	}
}

// footerKeys returns the keys of the last line: with a word, or listed after the others.
func footerKeys(d *driver) []string {
	var keys []string
	for item := range strings.SplitSeq(strings.TrimSpace(ansi.Strip(d.app.footer())), "  ") {
		names := strings.Fields(item)
		if len(names) > 0 && names[0] == d.app.Say("also") {
			names = names[1:]
		} else {
			names = names[:min(len(names), 1)]
		}
		for _, name := range names {
			keys = append(keys, strings.Replace(name, "^", "ctrl+", 1))
		}
	}
	return keys
}

// entered returns all text that could have received keys.
func (d *driver) entered() string {
	text := d.app.Day.Form().Notes
	switch open := d.app.Dialog.(type) {
	case *page.Prompt:
		text += open.Editor.Value()
	case *page.Choose:
		text += open.Editor.Value()
	}
	return text
}

// What the footer offers works: it changes the screen, is not refused, and is not typed
// into the text that has the keys.
func TestFooterOffersWhatWorks(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	keys := []string{
		"n", "s", "i", "i", "c", "1", "r", "X", "esc", "?", ":", "/", "2", "3", "4", "5", "6", "1",
		"space", "A", "enter", "j", "x", "K", "W", "y", "t", "D",
	}
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 4))
			w := newWorld(t)
			w.refusedEntry(t)
			d := newDriver(t, w.options)
			var path []string
			for range 150 {
				key := keys[random.IntN(len(keys))]
				path = append(path, key)
				d.press(key)
				w.Clock.Advance(time.Second)
				offered := footerKeys(d)
				if len(offered) == 0 {
					t.Fatalf("%q: the footer is empty:\n%s", path, d.text())
				}
				pick := offered[random.IntN(len(offered))]
				d.app.Messages.Say("")
				before, entered, asked := d.text(), d.entered(), d.app.Dialog
				path = append(path, "footer "+pick)
				_, done := d.app.Update(keyPress(pick))
				if d.app.Messages.Reply {
					t.Errorf("%q: refused: %s", path, d.app.Messages.Text)
				}
				if asked == d.app.Dialog &&
					d.entered() != entered &&
					strings.Contains(d.entered(), pick) &&
					len(d.entered()) > len(entered) {
					t.Errorf("%q: typed into the text: %q, before %q", path, d.entered(), entered)
				}
				if done == nil && d.text() == before {
					t.Errorf("%q: nothing happens:\n%s", path, before)
				}
				d.run(done, 0)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// The footer has every key that works on a call, at each width, and words as far as there is room; the card names those
// that are pressed with each call.
func TestEachKeyOfACallIsThere(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"", "nl", "de"} {
		w := newQueueWorld(t)
		w.options.Language = language
		d := fixerOf(t, w)
		d.enter("a", "c", "1", "esc")
		for _, width := range []int{60, 80, 100, 120, 200} {
			d.size(width, 30)
			footer := ansi.Strip(d.app.footer())
			for want := range strings.FieldsSeq("n a s b / u ? X e q d c r i ctrl+s f") {
				if !slices.Contains(footerKeys(d), want) {
					t.Errorf("%q, %d columns: got %q, want %s among the keys", language, width, footer, want)
				}
			}
			for _, want := range []string{"n " + d.app.Say("next"), "? " + d.app.Say("help")} {
				if !strings.Contains(footer, want) && (width > 60 || want[0] == '?') {
					const wayOut = "; noWord in page/action.go makes room"
					t.Errorf("%q, %d columns: got %q, want %q"+wayOut, language, width, footer, want)
				}
			}
			for _, want := range []string{"c", "r", "i", "^s", "d", "y", "f"} {
				card := strings.Join(d.app.desk.Lines(d.app.layout), "\n")
				if !strings.Contains(ansi.Strip(card), want+" ") {
					t.Errorf("%q, %d columns: got no %s on the card", language, width, want)
				}
			}
		}
	}
}

// Daily work takes as few keys as ever, apart from typed text.
func TestKeysOfTheDay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		does, before, typed, after string
		most                       int
		said                       string // The send that is held.
	}{
		{"not reached", "a", "", "", 1, "not reached: Anna Jansen"},
		{"a whole call", "c 1 4", "", "ctrl+s", 4, "confirmed: Anna Jansen"},
		{"a corrected number", "f 1", "0627084034", "enter ctrl+s", 4, "corrected: Anna Jansen"},
		{"an opt-out", "f 9 n", "", "ctrl+s", 4, "wants to stop (opt-out): Anna Jansen"},
		{"another amount", "f 0", "15", "enter ctrl+s", 4, "corrected: Anna Jansen"},
		{"a callback", "b", "tomorrow 14:00", "enter", 3, "Sat 21 Nov 14:00 there (13:00 here), for you"},
	} {
		w := newQueueWorld(t)
		d := fixerOf(t, w)
		keys := slices.Concat(strings.Fields(test.before), strings.Split(test.typed, ""), strings.Fields(test.after))
		d.enter(keys...)
		n := len(keys) - len(test.typed)
		if n > test.most || d.app.Day.IsOn(callID(1)) || !strings.Contains(d.app.Day.Changes.HeldText("u"), test.said) {
			t.Errorf("%s: got %d keys and %q, want at most %d and %q",
				test.does, n, d.app.Day.Changes.HeldText("u"), test.most, test.said)
		}
	}
}
