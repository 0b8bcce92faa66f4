//go:build unix

package outbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable/privileged"
	"fundesk/service/servicetest"
)

// Folders of another user are refused, and so are foreign entries and links. The others go on.
func TestWhatBelongsToOthersIsRefused(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"", dirQueued, dirDrafts} {
		dir := t.TempDir()
		open(t, dir, "https://a.example")
		privileged.GiveToOther(t, filepath.Join(dir, folder))
		if _, err := Open(dir, Options{}); err == nil {
			t.Errorf("folder %q of another user: got no error, want one", folder)
		}
	}

	dir := t.TempDir()
	box := open(t, dir, "https://a.example")
	foreign := add(t, box, attempt(t, apitype.NewUUID()))
	linked := add(t, box, attempt(t, apitype.NewUUID()))
	ours := add(t, box, attempt(t, apitype.NewUUID()))
	privileged.GiveToOther(t, box.path(dirQueued, foreign.ID))
	elsewhere := filepath.Join(t.TempDir(), "entry")
	servicetest.Check(t, os.Rename(box.path(dirQueued, linked.ID), elsewhere))
	servicetest.Check(t, os.Symlink(elsewhere, box.path(dirQueued, linked.ID)))
	entries, damaged, err := box.List()
	if err != nil || len(entries) != 1 || entries[0].ID != ours.ID {
		t.Errorf("entries: got %+v %v, want ours alone", entries, err)
	}
	var paths []string
	for _, d := range damaged {
		paths = append(paths, d.Path)
	}
	for _, id := range []string{foreign.ID, linked.ID} {
		if !slices.Contains(paths, box.path(dirQueued, id)) {
			t.Errorf("damaged: got %v, want %s among them", paths, id)
		}
	}
}

// Every file is for our eyes only.
// Promise P3: the files of the outbox are closed to others.
func TestFilesAreClosedToOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	box := open(t, dir, "https://a.example")
	add(t, box, attempt(t, apitype.NewUUID()))
	servicetest.Check(t, box.SaveDraft(apitype.NewUUID(), Draft{Notes: "typed"}))
	err := filepath.WalkDir(dir, func(path string, file os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := file.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: got %v, want it closed to others", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
