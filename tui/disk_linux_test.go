package tui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable/privileged"
	"fundesk/service/servicetest"
)

// smallDisk returns a disk of its own, so small that it can be filled: full takes all of its
// space, and what it returns gives it back.
func smallDisk(t *testing.T) (string, func() (free func())) {
	t.Helper()
	dir := t.TempDir()
	privileged.Mount(t, dir, "256k")
	return dir, func() func() {
		t.Helper()
		path := filepath.Join(dir, "filler")
		file, err := os.Create(path)
		servicetest.Check(t, err)
		defer func() { _ = file.Close() }()
		for _, size := range []int{4096, 1} {
			err = nil
			for err == nil {
				_, err = file.Write(make([]byte, size))
			}
			if !errors.Is(err, unix.ENOSPC) {
				t.Fatalf("fill the disk: got %v, want no space left", err)
			}
		}
		return func() {
			t.Helper()
			servicetest.Check(t, os.Remove(path))
		}
	}
}

// A full disk is reported, typed text stays on screen, nothing unsafe is called safe, and all is kept when there is
// space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, fill := smallDisk(t)
	w.connect(t, filepath.Join(dir, "outbox"))
	m := start(t, w.options, 100, 30)
	m.press("n")
	m.see("Anna Jansen", onCard(1))
	m.gone("checking")
	free := fill()
	m.press("i", "precious")
	m.see("draft not saved", "no space left on device", "precious")
	m.press("esc", "c", "1")
	m.see("sends reached, 8 characters")
	m.press("ctrl+s")
	screen := m.see("not saved", "no space left on device", "nothing was sent", onCard(1), "precious", "[1 reached]")
	if strings.Contains(screen, "reached: Anna Jansen") {
		t.Errorf("screen: what is not on disk is said to be done:\n%s", screen)
	}
	if entries, _, err := w.box.List(); err != nil || len(entries) != 0 {
		t.Errorf("outbox: got %v %v, want nothing", entries, err)
	}
	free()
	m.gone("draft not saved")
	draft, found, err := w.box.Draft(callID(1))
	if err != nil || !found || draft.Notes != "precious" || draft.ResultCode != "reached" {
		t.Errorf("draft: got %+v %v %v, want all of it", draft, found, err)
	}
	m.press("ctrl+s")
	m.see("◷ reached: Anna Jansen ▰▰▰▰▰", onCard(4))
	w.Clock.Advance(6 * time.Second)
	m.gone("not saved") // It is over with the change that was saved.
	m.press("q")
	m.ended()
	call := w.call(t, callID(1))
	if call.Status != apitype.CallCompleted || deref(call.Result.Value().Notes) != "precious" {
		t.Errorf("call: got %s %+v, want completed with the notes", call.Status, call.Result.Value())
	}
	left, err := filepath.Glob(filepath.Join(dir, "outbox", "*", ".new-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: got %v %v, want none", left, err)
	}
}

// A disk with room for the attempt but not for its notes takes neither. A change that was reported as not saved is not
// sent, and the repeated attempt is the only one.
func TestDiskThatTakesHalf(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	dir, fill := smallDisk(t)
	w.connect(t, filepath.Join(dir, "outbox"))
	d := newDriver(t, w.options)
	d.enter("n")
	w.seen()
	d.press("i")
	d.send(tea.PasteMsg{Content: strings.Repeat("long note ", 1200)})
	servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
	free := fill()
	filler := filepath.Join(dir, "filler")
	info, err := os.Stat(filler)
	servicetest.Check(t, err)
	servicetest.Check(t, os.Truncate(filler, info.Size()/4096*4096-2*4096))
	d.press("esc")
	w.seen()
	d.enter("a", "n")
	if text := d.text(); !strings.Contains(text, "not saved: no space") || !d.app.Day.IsOn(callID(1)) {
		t.Fatalf("got:\n%s\nwant the call kept", text)
	}
	if got := w.entries(t); len(got) != 0 || d.app.Day.Changes.CanUndo() {
		t.Errorf("got %v, and %d to be taken back, want nothing of what was not saved",
			got, len(d.app.Day.Changes.Held))
	}
	free()
	w.seen()
	d.enter("a", "n")
	d.sendHeld(w)
	if call := w.call(t, callID(1)); call.AttemptsCount != 1 {
		t.Errorf("got %d attempts, want the one that was made", call.AttemptsCount)
	}
}
