package tui

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/event"
	"fundesk/tui/page"
	"fundesk/tui/widget"
)

// driver runs the model without a program: each command at once, in order.
type driver struct {
	t   *testing.T
	app *app
}

func newDriver(t *testing.T, o Options) *driver {
	t.Helper()
	a, err := newApp(t.Context(), o)
	servicetest.Check(t, err)
	a.tick = func() tea.Cmd { return nil }
	a.free = func() {} // All tests of the process would wait for it.
	a.PreviewPause, a.Spinner = 0, widget.Spinner{}
	a.Day.Changes.Sender = o.Outbox.Sender(o.Client, outbox.SenderOptions{})
	d := &driver{t: t, app: a}
	d.run(a.Init(), 0)
	return d
}

// send passes a message and runs its results.
func (d *driver) send(msg tea.Msg) {
	d.t.Helper()
	d.deliver(msg, 0)
}

func (d *driver) deliver(msg tea.Msg, depth int) {
	_, cmd := d.app.Update(msg)
	d.run(cmd, depth)
}

func (d *driver) run(cmd tea.Cmd, depth int) {
	if cmd == nil || depth > 60 {
		return
	}
	msg := cmd()
	if msg == nil {
		return
	}
	// A batch and a sequence are slices of commands; only the batch has a name.
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		for i := range v.Len() {
			d.run(v.Index(i).Interface().(tea.Cmd), depth+1)
		}
		return
	}
	if _, quits := msg.(tea.QuitMsg); quits {
		return
	}
	d.deliver(msg, depth+1)
}

func (d *driver) press(name string) {
	ends := d.app.keys.find(name, d.app.desk.Scopes())
	if ends != nil && ends.Is(page.EndsCall) && (d.app.Dialog == nil || name == "ctrl+s") {
		lookFirst(d.t, name)
	}
	d.send(keyPress(name))
}

// size gives the terminal a size.
func (d *driver) size(columns, rows int) {
	d.t.Helper()
	d.send(tea.WindowSizeMsg{Width: columns, Height: rows})
}

// sees fails if the screen lacks one of the texts.
func (d *driver) sees(all ...string) {
	d.t.Helper()
	for _, want := range all {
		if text := d.text(); !strings.Contains(text, want) {
			d.t.Errorf("got:\n%s\nwant %q", text, want)
		}
	}
}

// lacks fails if the screen has one of the texts.
func (d *driver) lacks(all ...string) {
	d.t.Helper()
	for _, gone := range all {
		if text := d.text(); strings.Contains(text, gone) {
			d.t.Errorf("got:\n%s\nwant no %q", text, gone)
		}
	}
}

// keyPress returns a key by its name.
func keyPress(name string) tea.KeyPressMsg {
	codes := map[string]tea.KeyPressMsg{
		"enter":     {Code: tea.KeyEnter},
		"esc":       {Code: tea.KeyEscape},
		"backspace": {Code: tea.KeyBackspace},
		"space":     {Code: ' ', Text: " "},
		"up":        {Code: tea.KeyUp},
		"down":      {Code: tea.KeyDown},
		"left":      {Code: tea.KeyLeft},
		"right":     {Code: tea.KeyRight},
		"pgdown":    {Code: tea.KeyPgDown},
		"pgup":      {Code: tea.KeyPgUp},
		"home":      {Code: tea.KeyHome},
		"end":       {Code: tea.KeyEnd},
		"delete":    {Code: tea.KeyDelete},
		"tab":       {Code: tea.KeyTab},
	}
	if key, named := codes[name]; named {
		return key
	}
	if len(name) > 5 && name[:5] == "ctrl+" {
		return tea.KeyPressMsg{Code: rune(name[5]), Mod: tea.ModCtrl}
	}
	r, _ := utf8.DecodeRuneInString(name)
	return tea.KeyPressMsg{Code: r, Text: name}
}

// check holds every screen to exactly its cells.
func (d *driver) check(what string) {
	d.t.Helper()
	screen := d.app.screen()
	l := d.app.layout
	if len(screen) != max(l.Height, 0) {
		d.t.Fatalf("%s: got %d lines, want %d", what, len(screen), l.Height)
	}
	for i, line := range screen {
		if w := render.Width(line); w != l.Width {
			d.t.Fatalf("%s: line %d has %d cells, want %d: %q", what, i, w, l.Width, line)
		}
	}
}

// Random keys, pastes and sizes never panic and never draw outside the terminal.
func TestRandomKeysAndSizes(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	var keys []string
	for _, b := range registry(nil) {
		keys = append(keys, b.keys...)
	}
	keys = append(keys, "y", "0", "t", "-", "left", "right", "delete", "é", "世", "\u0301", "z")
	for seed := range 6 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 11))
			w := newWorld(t)
			w.options.ASCII = seed%2 == 0
			w.options.NoColor = seed%3 == 0
			d := newDriver(t, w.options)
			var path []string
			for range 500 {
				key := keys[random.IntN(len(keys))]
				if key == "ctrl+z" {
					continue // It leaves the program.
				}
				path = append(path, key)
				switch random.IntN(12) {
				case 0:
					width, height := 1+random.IntN(300), 1+random.IntN(100)
					path = append(path, fmt.Sprintf("%dx%d", width, height))
					d.size(width, height)
				case 1:
					d.send(tea.PasteMsg{Content: "pasted\n世界\x1b[31m\u202e text 👩‍👩‍👧"})
				case 2:
					w.Clock.Advance(time.Duration(random.IntN(8)) * time.Second)
					d.send(ticked{})
				}
				d.press(key)
				d.check(fmt.Sprint(path[max(0, len(path)-12):]))
				if random.IntN(10) == 0 {
					d.onlyReads()
				}
			}
		})
	}
}

// Every size is filled, and drawing changes nothing: only Update does.
func TestEverySizeIsFilled(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	for _, key := range []string{
		"", "n", "i", "esc", "?", "esc", "X", "n", "c", "esc", "2", "enter", "esc", "3", "4", "5",
		"6", "7",
	} {
		if key != "" {
			d.press(key)
		}
		for _, size := range [][2]int{
			{1, 1},
			{2, 40},
			{59, 16},
			{60, 16},
			{80, 24},
			{99, 30},
			{100, 30},
			{119, 36},
			{120, 36},
			{300, 100},
		} {
			d.size(size[0], size[1])
			d.check(fmt.Sprint(key, size))
			d.onlyReads()
		}
	}
}

func TestKeysOfOneScopeDoNotClash(t *testing.T) {
	t.Parallel()
	servicetest.Report(t, keymap(registry(nil)).clash("the registry"))
}

func TestPastedTextRunsNoKeys(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("n")
	d.send(tea.PasteMsg{Content: "aaXy"})
	if entries, _, err := w.box.List(); err != nil || len(entries) != 0 {
		t.Errorf("outbox: got %v %v, want nothing", entries, err)
	}
}

// Why a key does nothing is seen although an error waits to be dismissed, and does not
// hide the next error.
func TestReasonIsSeenBesideAnError(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newWorld(t).options)
	status := func(want string) {
		t.Helper()
		if got := d.app.status(); !strings.Contains(got, want) || !strings.Contains(got, "dismisses") {
			t.Errorf("status: got %q, want %q and how errors are dismissed", got, want)
		}
	}
	d.app.Messages.Fail("the first went wrong", nil)
	status("the first went wrong")
	d.press("ctrl+s")
	status("no call on the desk")
	d.app.Messages.Fail("the second went wrong", nil)
	status("the first went wrong")
	d.press("ctrl+s")
	d.app.notice(event.Notice{Level: event.Urgent, Text: "the third went wrong"})
	status("the third went wrong")
}

// Actions on several calls ask once more if a colleague has one of them, and do nothing without a yes.
func TestBulkAsksAboutTheCallsOfColleagues(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	request := apitype.LeaseRequest{RequestUUID: apitype.NewUUID(), UserUUID: ids(0xe0, 3)}
	_, err := w.client.Queue.Lease(t.Context(), callID(4), request)
	servicetest.Check(t, err)
	d := newDriver(t, w.options)
	d.enter("2", "g", "j", "space", "space", "space")
	for _, answer := range []struct {
		key  string
		want int
	}{{"n", 0}, {"y", 3}} {
		d.enter("A", "2", "y")
		question, ok := d.app.Dialog.(*page.Confirm)
		if !ok ||
			len(question.Lines) != 2 ||
			!strings.Contains(question.Lines[0], "another agent has this donor on the screen") {
			t.Fatalf("dialog: got %+v, want a question about the one call of the colleague\n%s", d.app.Dialog, d.text())
		}
		if len(w.entries(t)) != 0 {
			t.Error("got changes before the answer, want none")
		}
		w.Clock.Advance(time.Second) // It is seen before it is answered.
		d.press(answer.key)
		if got := w.entries(t); len(got) != answer.want {
			t.Errorf("after %s: got %q, want %d changes", answer.key, got, answer.want)
		}
	}
}

func TestBulkAsksWithCountAndNames(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.enter("2", "space", "space", "space", "A")
	text := d.text()
	if !strings.Contains(text, "Cancel the calls (2 of 3: the state of the others does not allow it)") {
		t.Fatalf("actions: got:\n%s\nwant that one of the three is completed", text)
	}
	d.enter("esc", "esc", "g", "j", "space", "space", "space")
	w.change(t, "/api/v1/calls/"+callID(5).String()+"/actions/complete") // No program here knows of it yet.
	d.enter("A", "2")
	d.check("the question")
	question, ok := d.app.Dialog.(*page.Confirm)
	if !ok || len(question.Lines) != 4 || question.Lines[0] != "Cancel the calls: 3 records" {
		t.Fatalf("dialog: got %+v, want a question with three names", d.app.Dialog)
	}
	d.press("enter")
	if entries, _, _ := w.box.List(); len(entries) != 0 {
		t.Errorf("after Enter: got %d entries, want none", len(entries))
	}
	d.press("y")
	if entries, _, _ := w.box.List(); len(entries) != 3 {
		t.Errorf("after y: got %d entries, want 3", len(entries))
	}
	d.app.Day.Changes.Sender = w.box.Sender(w.options.Client, outbox.SenderOptions{
		Notify: func(e outbox.Event) { d.run(d.app.Perform(d.app.Day.Receive(d.app.Day.Told(e))), 0) },
	})
	servicetest.Check(t, w.box.Release())
	if _, err := d.app.Day.Changes.Sender.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.press("B")
	screen := strings.Join(d.app.screen(), "\n")
	for _, want := range []string{
		"Cancel the calls: 2 of 3 done, 1 not",
		"Zoë van der Straaten  refused: 409",
		"✓ c0030000  Carla Gebeld  done",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("screen: got no %q:\n%s", want, screen)
		}
	}
}
