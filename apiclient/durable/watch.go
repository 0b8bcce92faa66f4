package durable

import "sync/atomic"

// Kind is what a [Change] does.
type Kind string

// The kinds of changes.
const (
	Wrote        Kind = "wrote"         // The file's content is now what stands there, not yet on disk.
	Flushed      Kind = "flushed"       // The file's content is on disk.
	Made         Kind = "made"          // A folder.
	Renamed      Kind = "renamed"       // To another name.
	Removed      Kind = "removed"       // The name.
	NamesFlushed Kind = "names flushed" // Of the files in a folder.
)

// Change is what this package did to a file or folder.
type Change struct {
	Kind Kind
	Path string
	To   string // The new name of what was renamed.
}

var watcher atomic.Pointer[func(Change)]

// Watch tells see of each change, after it was made; see may be called from several
// goroutines at a time. There is one watcher: tests use it to cut the power.
func Watch(see func(Change)) { watcher.Store(&see) }

// note tells the watcher of a change that was made.
func note(kind Kind, path, to string, err error) error {
	if see := watcher.Load(); see != nil && err == nil {
		(*see)(Change{Kind: kind, Path: path, To: to})
	}
	return err
}
