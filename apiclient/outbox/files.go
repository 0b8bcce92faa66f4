package outbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"fundesk/apiclient/durable"
)

// maxFile bounds what is read of one file, in bytes.
const maxFile = 16 << 20

var (
	errTorn  = errors.New("is damaged: its checksum does not match")
	errNewer = errors.New("was made by a later version of this program, which sends it")
)

// ensureFolder creates a folder that only this user can read. It refuses a link, and a folder of another user.
func ensureFolder(path string) error {
	if err := durable.MakeFolders(path); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder (a link is refused)", path)
	}
	if !durable.OwnedByUs(info) {
		return fmt.Errorf("%s belongs to another user", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o700); err != nil {
			return fmt.Errorf("close it to others: %w", err)
		}
	}
	return nil
}

// validID keeps ids to what is safe as a file name.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && r != '-'
	})
}

func (o *Outbox) path(folder, id string) string {
	return filepath.Join(o.dir, folder, id+".json")
}

// writeSealed writes a file durably: a checksum line and the JSON.
func writeSealed(path string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	return durable.WriteFile(path, append([]byte(hex.EncodeToString(sum[:])+"\n"), data...))
}

// readSealed reads a file that writeSealed wrote.
func readSealed(path string, value any) error {
	content, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	sum, data, ok := bytes.Cut(content, []byte("\n"))
	want := sha256.Sum256(data)
	if !ok || string(sum) != hex.EncodeToString(want[:]) {
		return errTorn
	}
	var made struct{ Version int }
	if json.Unmarshal(data, &made) == nil && made.Version > formatVersion {
		return errNewer
	}
	return json.Unmarshal(data, value)
}

// move writes an entry to a folder and erases it from the others. A crash between the
// two leaves both, and precedence decides.
func (o *Outbox) move(folder string, e Entry) error {
	if err := writeSealed(o.path(folder, e.ID), e); err != nil {
		return err
	}
	for _, other := range precedence {
		if other == folder {
			continue
		}
		if err := o.unlink(other, e.ID); err != nil {
			return err
		}
	}
	o.wake()
	return nil
}

// erase removes an entry from all folders, the copy that would be sent first, so that a crash never leaves one that is
// sent blindly.
func (o *Outbox) erase(id string) error {
	for _, folder := range slices.Backward(precedence) {
		if err := o.unlink(folder, id); err != nil {
			return err
		}
	}
	return nil
}

func (o *Outbox) unlink(folder, id string) error {
	if err := durable.Erase(o.path(folder, id)); err != nil {
		return fmt.Errorf("erase from the outbox: %w", err)
	}
	return nil
}

// listing returns the names in the folders at this moment. A change of an entry is a new file, so two equal listings
// have no change between them.
func (o *Outbox) listing() (string, error) {
	var b strings.Builder
	for _, folder := range precedence {
		files, err := os.ReadDir(filepath.Join(o.dir, folder))
		if err != nil {
			return "", fmt.Errorf("read the outbox: %w", err)
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil {
				fmt.Fprintln(&b, folder, file.Name(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String(), nil
}

// scan reads the entries of one folder that belong to us; files that are not entries
// come back as damaged.
func (o *Outbox) scan(folder string) ([]Entry, []Damaged, error) {
	all, damaged, err := scanFiles(filepath.Join(o.dir, folder), readEntry)
	var entries []Entry
	for _, e := range all {
		if o.Owns(e.BaseURL, e.Account) {
			e.State = o.state(folder, e)
			entries = append(entries, e)
		}
	}
	return entries, damaged, err
}

// scanFiles reads all files of a folder. It returns unreadable ones as damaged.
func scanFiles[T any](folder string, read func(path string) (T, error)) (found []T, damaged []Damaged, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("read the outbox: %w", err)
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), durable.NewPrefix) {
			continue // It is being written, or its writer died before it was whole.
		}
		path := filepath.Join(folder, file.Name())
		value, err := read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // Moved on since the folder was read.
		case err != nil:
			damaged = append(damaged, damagedBy(path, err))
		default:
			found = append(found, value)
		}
	}
	return found, damaged, nil
}

// damagedBy returns the file that could not be read.
func damagedBy(path string, err error) Damaged {
	d := Damaged{Path: path, Reason: err.Error(), IsNewer: errors.Is(err, errNewer)}
	failed, isOfSystem := errors.AsType[*fs.PathError](err)
	if isOfSystem && !errors.Is(err, syscall.ELOOP) { // A link is nothing of ours.
		d.Reason, d.IsUnread = failed.Err.Error(), true
	}
	return d
}

// isDraft reports whether the file was a draft, which is no change.
func (d Damaged) isDraft() bool {
	folder, name := filepath.Split(d.Path)
	return filepath.Base(folder) == dirDrafts || strings.HasPrefix(name, dirDrafts+"-")
}

func readEntry(path string) (Entry, error) {
	var e Entry
	if err := readSealed(path, &e); err != nil {
		return Entry{}, err
	}
	if !validID(e.ID) || e.Method == "" || !strings.HasPrefix(e.Path, "/") {
		return Entry{}, errors.New("is not an entry of the outbox")
	}
	if e.ID+".json" != filepath.Base(path) {
		return Entry{}, errors.New("has another entry's name")
	}
	return e, nil
}

// setAside moves damaged files out of the way of the others.
func (o *Outbox) setAside(damaged []Damaged) {
	for _, d := range damaged {
		if d.IsNewer || d.IsUnread || filepath.Base(filepath.Dir(d.Path)) == dirDamaged {
			continue
		}
		name := filepath.Base(filepath.Dir(d.Path)) + "-" + filepath.Base(d.Path)
		// A file that cannot be moved stays, and is reported again.
		_ = durable.Rename(d.Path, filepath.Join(o.dir, dirDamaged, name))
	}
}

// sweep erases what writers that died left behind before it was an entry. The folder
// lock does not cover the writers of drafts, so that only old ones go.
func (o *Outbox) sweep() {
	endings, _ := os.ReadDir(filepath.Join(o.dir, dirEndings))
	oldest := o.options.Now().UTC().Add(-keptFor).Format(time.DateOnly)
	for _, day := range endings {
		if day.Name() < oldest { // Its endings are kept no longer.
			_ = durable.Remove(filepath.Join(o.dir, dirEndings, day.Name()))
		}
	}
	for _, folder := range append([]string{dirDrafts}, precedence...) {
		left, _ := filepath.Glob(filepath.Join(o.dir, folder, durable.NewPrefix+"*"))
		for _, path := range left {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > time.Minute {
				_ = os.Remove(path)
			}
		}
	}
}
