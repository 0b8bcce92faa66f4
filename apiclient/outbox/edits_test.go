package outbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// edit is notes in an editor of a program that may die.
func edit(t *testing.T, box *Outbox, d Draft) *Edit {
	t.Helper()
	e, err := box.Edit(d)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func saveFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What an editor saved for a program that died is a draft with the next look, once.
func TestRescueEdits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		saved func(t *testing.T, path string)
		later string // Notes that another terminal saved meanwhile.
		want  string // "" for no draft.
	}{
		{"saved", func(t *testing.T, path string) { saveFile(t, path, "before and after\n") }, "", "before and after"},
		{"nothing saved", func(*testing.T, string) {}, "", ""},
		{"in the middle of saving", func(t *testing.T, path string) { saveFile(t, path, "") }, "", ""},
		{"the file is gone", func(t *testing.T, path string) { _ = os.Remove(path) }, "", ""},
		{"a copy of what was not saved", func(t *testing.T, path string) { saveFile(t, path+".save", "typed\n") }, "", "typed"},
		{"and another terminal wrote", func(t *testing.T, path string) { saveFile(t, path, "before and after\n") }, "theirs", "before and after\ntheirs"},
		{"and it was saved already", func(t *testing.T, path string) { saveFile(t, path, "before and after\n") }, "before and after, and more", "before and after, and more"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, call := t.TempDir(), apitype.NewUUID()
			dead, box := open(t, dir, "https://a.example"), open(t, dir, "https://a.example")
			e := edit(t, dead, Draft{Call: call, ResultCode: "reached", Notes: "before"})
			test.saved(t, e.Path)
			if err := box.RescueEdits(); err != nil {
				t.Fatalf("RescueEdits: %v", err)
			}
			if _, found, err := box.Draft(call); found || err != nil {
				t.Fatalf("while the program lives: got a draft (%v), want none", err)
			}
			if _, err := box.Edit(Draft{Call: call}); !errors.Is(err, ErrEdited) {
				t.Fatalf("edit in a second terminal: got %v, want that it is in an editor", err)
			}
			if test.later != "" {
				if err := box.SaveDraft(call, Draft{ResultCode: "reached", Notes: test.later}); err != nil {
					t.Fatal(err)
				}
			}
			_ = e.lock.Close() // As when the process dies.
			for range 2 {
				if err := box.RescueEdits(); err != nil {
					t.Fatalf("RescueEdits: %v", err)
				}
			}
			draft, found, err := box.Draft(call)
			if err != nil || found != (test.want != "") || draft.Notes != test.want || found && draft.ResultCode != "reached" {
				t.Errorf("got %+v, %v, want %q", draft, err, test.want)
			}
			if left, err := os.ReadDir(filepath.Join(dir, dirEditing)); err != nil || len(left) != 0 {
				t.Errorf("got %v, %v, want nothing left", left, err)
			}
		})
	}
}

// What an editor keeps for itself stays where it looks for it, and nowhere else.
func TestAnEditorFindsItsOwnFilesAgain(t *testing.T) {
	t.Parallel()
	box, call := open(t, t.TempDir(), "https://a.example"), apitype.NewUUID()
	for _, endedWell := range []bool{false, true} {
		e := edit(t, box, Draft{Call: call, Notes: "before"})
		swap := filepath.Join(filepath.Dir(e.Path), ".notes.txt.swp")
		if !endedWell {
			saveFile(t, swap, "swap")
		}
		if _, err := os.Stat(swap); err != nil {
			t.Errorf("with its file: got %v, want its own beside it", err)
		}
		if err := e.Close(endedWell); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := os.Stat(e.Path); !os.IsNotExist(err) {
			t.Errorf("the notes after it ended: got %v, want none", err)
		}
		if _, err := os.Stat(swap); os.IsNotExist(err) != endedWell {
			t.Errorf("ended well %v: got %v of its own file", endedWell, err)
		}
		if err := box.RescueEdits(); err != nil {
			t.Errorf("RescueEdits: %v", err)
		}
	}
}

// The notes of another account are none of ours.
func TestRescueLeavesOthersEdits(t *testing.T) {
	t.Parallel()
	dir, call := t.TempDir(), apitype.NewUUID()
	theirs, ours := open(t, dir, "https://b.example"), open(t, dir, "https://a.example")
	e := edit(t, theirs, Draft{Call: call, Notes: "before"})
	saveFile(t, e.Path, "theirs\n")
	_ = e.lock.Close()
	if err := ours.RescueEdits(); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := ours.Draft(call); found {
		t.Error("got a draft of another service's, want none")
	}
	if err := theirs.RescueEdits(); err != nil {
		t.Fatal(err)
	}
	if draft, found, err := theirs.Draft(call); !found || draft.Notes != "theirs" {
		t.Errorf("got %+v, %v, want what was saved", draft, err)
	}
}

// Notes of an editor that nobody can place are kept and reported, not asked for for ever.
func TestRescueSetsTornEditsAside(t *testing.T) {
	t.Parallel()
	box := open(t, t.TempDir(), "https://a.example")
	e := edit(t, box, Draft{Call: apitype.NewUUID(), Notes: "before"})
	saveFile(t, e.Path, "precious\n")
	saveFile(t, filepath.Join(filepath.Dir(e.Path), editDraft), "torn")
	_ = e.lock.Close()
	for range 2 {
		if err := box.RescueEdits(); err != nil {
			t.Fatal(err)
		}
	}
	_, damaged, err := box.List()
	if err != nil || len(damaged) != 1 {
		t.Fatalf("got %v, %v, want one thing set aside", damaged, err)
	}
	if text, err := os.ReadFile(filepath.Join(damaged[0].Path, editNotes)); err != nil || string(text) != "precious\n" {
		t.Errorf("got %q, %v, want what was saved", text, err)
	}
}

// What a writer that died left behind does not stay, in no folder that holds notes.
func TestSweepTakesWhatWritersLeft(t *testing.T) {
	t.Parallel()
	dir, call := t.TempDir(), apitype.NewUUID()
	box := open(t, dir, "https://a.example")
	e := edit(t, box, Draft{Call: call, Notes: "before"})
	defer func() { _ = e.Close(true) }()
	long := time.Now().Add(-time.Hour)
	for _, folder := range []string{filepath.Join(dir, dirDrafts), filepath.Join(dir, dirQueued), filepath.Dir(e.Path)} {
		left, young := filepath.Join(folder, ".new-1"), filepath.Join(folder, ".new-2")
		saveFile(t, left, "precious")
		saveFile(t, young, "precious")
		if err := os.Chtimes(left, long, long); err != nil {
			t.Fatal(err)
		}
		box.sweep()
		if _, err := os.Stat(left); !os.IsNotExist(err) {
			t.Errorf("%s: got %v of what was left an hour ago, want nothing", folder, err)
		}
		if _, err := os.Stat(young); err != nil {
			t.Errorf("%s: got %v of what is being written, want it", folder, err)
		}
	}
	if _, err := os.Stat(e.Path); err != nil {
		t.Errorf("the notes: got %v, want them", err)
	}
}
