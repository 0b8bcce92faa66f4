package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// hide takes a folder of the spool away, as a disk that does not take writes would,
// and returns what brings it back.
func hide(t *testing.T, dir, folder string) (back func()) {
	t.Helper()
	path := filepath.Join(dir, folder)
	servicetest.Check(t, os.Rename(path, path+".away"))
	return func() {
		t.Helper()
		servicetest.Check(t, os.Rename(path+".away", path))
	}
}

// onDisk returns a world with the folder of its spool, and a terminal of some columns with the first call on it.
func onDisk(t *testing.T, width int) (w *world, dir string, m *terminal) {
	t.Helper()
	w, dir = newWorld(t), t.TempDir()
	w.connect(t, dir)
	m = start(t, w.options, width, 30)
	m.press("n")
	m.see("Anna Jansen", onCard(1))
	m.gone("checking")
	return w, dir, m
}

func TestDraftThatCannotBeSavedIsSaid(t *testing.T) {
	t.Parallel()
	w, dir, m := onDisk(t, 100)
	back := hide(t, dir, "drafts")
	m.press("i", "precious")
	m.see("draft not saved", "precious")
	m.press(" words")
	m.see("precious words")
	back()
	m.gone("draft not saved") // The latest text is on disk when the program has ended: an earlier one may be the first.
	m.press("esc")
	m.gone("leave notes")
	m.press("q")
	m.see("Quit?")
	m.press("y")
	m.ended()
	draft, found, err := w.box.Draft(callID(1))
	if err != nil || !found || draft.Notes != "precious words" {
		t.Errorf("draft: got %+v %v %v, want all of it", draft, found, err)
	}
}

func TestChangeThatCannotBeSavedGivesTheTextBack(t *testing.T) {
	t.Parallel()
	w, dir, m := onDisk(t, 100)
	m.press("c", "1", "i", "precious")
	m.see("precious", "sends reached")
	back := hide(t, dir, "queued")
	m.press("ctrl+s")
	m.see("not saved", onCard(1), "precious", "[1 reached]")
	back()
	w.seen()
	m.press("ctrl+s")
	m.see(onCard(4))
	m.press("q")
	m.ended()
	if call := w.call(t, callID(1)); call.Status != apitype.CallCompleted || deref(call.Result.Value().Notes) != "precious" {
		t.Errorf("call: got %s %+v, want completed with the notes", call.Status, call.Result.Value())
	}
}

// A change that is on disk is not called lost because its draft stays.
func TestDraftThatCannotBeErasedIsSaid(t *testing.T) {
	t.Parallel()
	_, dir, m := onDisk(t, 140)
	m.press("c", "1", "i", "precious")
	m.see("precious", "sends reached")
	hide(t, dir, "drafts")
	servicetest.Check(t, os.WriteFile(filepath.Join(dir, "drafts"), nil, 0o600))
	m.press("ctrl+s")
	m.see("u takes it back", "▲", onCard(4))
	m.press("!")
	if screen := m.see("its draft could not"); strings.Contains(screen, "nothing was sent") {
		t.Errorf("screen: got that nothing was sent of what is in the outbox:\n%s", screen)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "queued", "*.json")); err != nil || len(files) != 1 {
		t.Errorf("outbox: got %v, %v, want the one change", files, err)
	}
}

// Who quits while the disk does not take what was typed is told that it is lost, whichever
// call it is for.
func TestQuittingWhileDraftsCannotBeSaved(t *testing.T) {
	t.Parallel()
	w, dir, m := onDisk(t, 100)
	back := hide(t, dir, "drafts")
	m.press("i", "precious")
	m.see("draft not saved", "precious")
	m.press("esc", "n")
	m.see(onCard(4), "draft not saved")
	m.press("q")
	m.see("Quit?", "could not be saved and is lost")
	m.press("n")
	m.gone("Quit?")
	back()
	m.gone("draft not saved")
	m.press("q")
	m.ended()
	if draft, _, err := w.box.Draft(callID(1)); err != nil || draft.Notes != "precious" {
		t.Errorf("draft: got %+v, %v, want what was typed", draft, err)
	}
}

// Drafts that cannot be read do not keep the agent from the calls.
func TestUnreadableDraftIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	w.connect(t, dir)
	m := start(t, w.options, 100, 30)
	m.see("take the next call", "Anna Jansen")
	hide(t, dir, "drafts")
	servicetest.Check(t, os.WriteFile(filepath.Join(dir, "drafts"), nil, 0o600))
	m.press("n")
	m.see(onCard(1), "1st try")
	m.until(func(screen string) bool { // Others complain of the folder, too, perhaps after it.
		return strings.Contains(screen, "cannot read what was typed for call") || strings.Contains(screen, "errors, x dismisses")
	}, []string{"that the draft cannot be read"})
	m.gone("checking")
}
