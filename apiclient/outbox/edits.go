package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fundesk/apiclient/durable"
)

// The files of an edit. The copies are what editors save when they are made to end: nano
// the first, emacs the second.
const (
	editLock  = "lock"
	editDraft = "draft.json" // The draft as it was before.
	editNotes = "notes.txt"
)

var editCopies = []string{"notes.txt.save", "#notes.txt#"}

// ErrEdited is notes that are in an editor already.
var ErrEdited = errors.New("the notes of this call are in an editor already")

// Edit is the notes of a draft in a file for an editor. While the program lives the file
// is its own; of one that died, RescueEdits takes what the editor saved.
type Edit struct {
	Path   string // Of the file.
	box    *Outbox
	folder string
	before Draft
	lock   *os.File
}

// Edit writes the notes of a draft into a file for an editor.
func (o *Outbox) Edit(d Draft) (*Edit, error) {
	if o.options.BaseURL == "" || o.options.Account == "" {
		return nil, ErrAccount
	}
	unlock, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	d.BaseURL, d.Account = o.options.BaseURL, o.options.Account
	name := strings.TrimSuffix(filepath.Base(o.draftPath(d.Call)), ".json")
	e := &Edit{box: o, folder: filepath.Join(o.dir, dirEditing, name), before: d}
	if err := ensureFolder(e.folder); err != nil {
		return nil, err
	}
	if err := o.claimEdit(e); err != nil {
		return nil, err
	}
	e.Path = filepath.Join(e.folder, editNotes)
	if err = writeSealed(filepath.Join(e.folder, editDraft), d); err == nil {
		err = durable.WriteFile(e.Path, []byte(fileOfNotes(d.Notes)))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the notes for the editor: %w", err), e.Leave())
	}
	return e, nil
}

// claimEdit takes the folder of an edit for this process, and what an earlier one left.
func (o *Outbox) claimEdit(e *Edit) error {
	var err error
	if e.lock, err = os.OpenFile(filepath.Join(e.folder, editLock), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("lock the notes: %w", err)
	}
	if err := durable.TryLock(e.lock); err != nil {
		_ = e.lock.Close()
		if errors.Is(err, durable.ErrHeld) {
			return ErrEdited
		}
		return fmt.Errorf("lock the notes: %w", err)
	}
	if err := o.rescue(e.folder); err != nil {
		_ = e.lock.Close()
		return err
	}
	return nil
}

// fileOfNotes is notes as editors end a file.
func fileOfNotes(notes string) string {
	if notes == "" {
		return ""
	}
	return notes + "\n"
}

// Saved is the notes as the editor saved them; changed is false when it left them as they
// were. One that did not end well may have saved a copy, or emptied the file in order to
// write it.
func (e *Edit) Saved(endedWell bool) (notes string, changed bool, err error) {
	return savedNotes(e.folder, e.before.Notes, endedWell)
}

func savedNotes(folder, before string, endedWell bool) (notes string, changed bool, err error) {
	if !endedWell {
		for _, name := range editCopies {
			if text, err := readFile(filepath.Join(folder, name)); err == nil && len(text) > 0 {
				return notesOfFile(text), true, nil
			}
		}
	}
	text, err := readFile(filepath.Join(folder, editNotes))
	if err != nil {
		return "", false, fmt.Errorf("read what the editor saved: %w", err)
	}
	if string(text) == fileOfNotes(before) || !endedWell && len(text) == 0 {
		return before, false, nil
	}
	return notesOfFile(text), true, nil
}

func notesOfFile(text []byte) string {
	return strings.TrimRight(strings.ToValidUTF8(string(text), "?"), "\n")
}

// Close ends the edit and erases its files. What else an editor that did not end well has
// left stays: it finds that again with the next edit of these notes.
func (e *Edit) Close(endedWell bool) error {
	unlock, err := e.box.lock()
	if err != nil {
		return errors.Join(err, e.Leave())
	}
	defer unlock()
	return errors.Join(eraseEdit(e.folder, endedWell), e.Leave())
}

// Leave ends the edit and leaves its files to RescueEdits.
func (e *Edit) Leave() error { return e.lock.Close() }

func eraseEdit(folder string, all bool) error {
	if all {
		return os.RemoveAll(folder)
	}
	for _, name := range append([]string{editNotes, editDraft, editLock}, editCopies...) {
		if err := durable.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	_ = durable.Remove(folder) // Unless something is left.
	return nil
}

// RescueEdits saves as drafts what editors saved for programs that died meanwhile.
func (o *Outbox) RescueEdits() error {
	folders, err := os.ReadDir(filepath.Join(o.dir, dirEditing))
	if err != nil || len(folders) == 0 {
		return err
	}
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	var errs []error
	for _, folder := range folders {
		path := filepath.Join(o.dir, dirEditing, folder.Name())
		if _, err := os.Lstat(filepath.Join(path, editDraft)); err != nil {
			continue // Nothing of ours, or an editor's own.
		}
		e := &Edit{box: o, folder: path}
		switch err := o.claimEdit(e); {
		case errors.Is(err, ErrEdited):
		case err != nil:
			errs = append(errs, err)
		default:
			errs = append(errs, e.Leave())
		}
	}
	return errors.Join(errs...)
}

// rescue saves what an editor saved in a folder that nobody works in. It needs the
// folder lock.
func (o *Outbox) rescue(folder string) error {
	before, err := readDraft(filepath.Join(folder, editDraft))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !o.owns(before.BaseURL, before.Account):
		return nil
	case errors.Is(err, errTorn): // Whose notes they are is not known any more: List shows where they are.
		return durable.Rename(folder, filepath.Join(o.dir, dirDamaged, dirEditing+"-"+filepath.Base(folder)))
	case err != nil:
		return fmt.Errorf("read the notes of an editor: %w", err)
	}
	notes, changed, err := savedNotes(folder, before.Notes, false)
	if err == nil && changed {
		there, found, readErr := o.Draft(before.Call)
		if err = readErr; !found {
			there = before
		}
		if !strings.Contains(there.Notes, notes) {
			there.Notes = JoinNotes(before.Notes, notes, there.Notes)
		}
		if err == nil {
			err = o.SaveDraft(before.Call, there)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return eraseEdit(folder, false)
}
