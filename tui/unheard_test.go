package tui

import (
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/page"
)

// A key that opens a line was refused, because the call had just come, or the computer slept. What the agent types
// behind it was meant for the line: no key of it is a command, and the refusal stays.
func TestTextBehindARefusedKeyIsNoCommand(t *testing.T) {
	t.Parallel()
	tests := map[string]func(w *world){
		"the call has just come": func(*world) {},
		"the computer slept":     func(w *world) { w.Clock.Advance(time.Hour) },
	}
	for name, before := range tests {
		for _, text := range []string{"mon 18:30 after lunch", "x bij oma"} {
			t.Run(name+"/"+text, func(t *testing.T) {
				t.Parallel()
				w := newQueueWorld(t)
				d := newDriver(t, w.options)
				d.press("n")
				call := d.app.Day.Call.UUID
				before(w)
				d.send(keyPress("b"))
				for key := range strings.SplitSeq(text, "") {
					w.Clock.Advance(80 * time.Millisecond)
					if key == " " {
						key = "space"
					}
					d.send(keyPress(key))
				}
				d.send(keyPress("enter"))
				isLeft := d.app.Day.IsOn(call) && d.app.Dialog == nil && !d.app.desk.Typing()
				if got := w.entries(t); !isLeft || len(got) > 0 {
					t.Errorf("got %q and\n%s\nwant the call as it was", got, d.text())
				}
				if got := d.app.status(); !strings.Contains(got, "b: press it again") {
					t.Errorf("status: got %q, want why the line did not open", got)
				}
				w.Clock.Advance(2 * time.Second)
				d.press("b")
				if d.app.Dialog == nil {
					t.Errorf("got\n%s\nwant the line, after a pause", d.text())
				}
			})
		}
	}
}

// Only text is meant for a line: other keys keep their meaning at once, and the refused key counts again.
func TestKeysBehindARefusedKey(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T) (*world, *driver) {
		w := newQueueWorld(t)
		d := newDriver(t, w.options)
		d.press("n")
		d.send(keyPress("b"))
		w.Clock.Advance(700 * time.Millisecond)
		return w, d
	}
	_, d := refused(t)
	d.send(keyPress("ctrl+s"))
	if got := d.app.status(); !strings.Contains(got, "result") {
		t.Errorf("ctrl+s: got the status %q, want that a result is needed", got)
	}
	w, d := refused(t)
	w.Clock.Advance(time.Second)
	d.send(keyPress("b"))
	if d.app.Dialog == nil {
		t.Error("b: got no line, want it when the key comes again")
	}
	w, d = refused(t)
	w.Clock.Advance(time.Second)
	d.press("a")
	if got := w.call(t, callID(1)); got.Status != apitype.CallRequested || len(w.entries(t)) == 0 {
		t.Errorf("a, after a pause: got %q, want an attempt", w.entries(t))
	}
}

// A key that asks for a digit was refused. The digit that follows at once was meant for it, and turns no page. Other
// keys count.
func TestDigitBehindARefusedKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key    string
		isCall bool // A call has just come: its end was asked for too soon.
	}{{"A", true}, {"c", false}, {"r", false}} {
		w := newQueueWorld(t)
		d := newDriver(t, w.options)
		if test.isCall {
			d.press("n")
		}
		d.send(keyPress(test.key))
		w.Clock.Advance(300 * time.Millisecond)
		d.send(keyPress("2"))
		if d.app.current != page.DeskPage || len(w.entries(t)) > 0 {
			t.Errorf("%s 2: got page %d and %q, want the Desk as it was", test.key, d.app.current, w.entries(t))
		}
		w.Clock.Advance(time.Second)
		d.send(keyPress("2"))
		if d.app.current == page.DeskPage {
			t.Errorf("%s, a pause, 2: got the Desk, want the page of the digit", test.key)
		}
	}
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.send(keyPress("c"))
	w.Clock.Advance(300 * time.Millisecond)
	d.press("n")
	if d.app.Day.Call == nil {
		t.Error("c n: got no call, want the next one")
	}
}

// On the lists and on the Floor, too, what is typed behind a refused key is no command.
func TestTextBehindARefusedKeyOfAList(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, page  string
		keys        []string
		text        string
		isInterface bool // The service has no extensions.
	}{
		{"a filter over a record", "calls", []string{"enter", "/"}, "wolf 2", false},
		{"a filter over a pledge", "pledges", []string{"enter", "/"}, "ten t", false},
		{"a message that no desk would get", "floor", []string{"t"}, "coaching at 2", true},
		{"actions on no record", "calls", []string{"A"}, "1", false},
		{"a status of no pledge", "pledges", []string{"/", "x", "y", "z", "enter", "t"}, "1", false},
	} {
		w := newQueueWorld(t)
		if test.isInterface {
			w.InterfaceOnly(apitype.ExtensionSearch)
		}
		w.options.Page = test.page
		d := newDriver(t, w.options)
		d.enter(test.keys...)
		before := d.app.current
		for key := range strings.SplitSeq(test.text, "") {
			w.Clock.Advance(80 * time.Millisecond)
			d.send(keyPress(map[string]string{" ": "space"}[key] + strings.TrimSpace(key)))
		}
		if d.app.current != before || d.app.Dialog != nil || d.app.Day.Call != nil {
			t.Errorf("%s: got page %d, %T and\n%s\nwant nothing done", test.name, d.app.current, d.app.Dialog, d.text())
		}
	}
}
