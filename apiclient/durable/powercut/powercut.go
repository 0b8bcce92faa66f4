// Package powercut gives tests a disk that loses what was not flushed: it records what
// package durable does to the files of a folder, and shows what a power cut at each moment
// would have left. Only tests import it.
//
// A name is on the disk when its folder was flushed, a content when its file was; all that
// came later may be there or not, and a content may be torn.
//
//	disk := powercut.Record(t, folder)
//	… // Work; disk.Now() is the moment of what was acknowledged.
//	disk.Replay(t, func(t *testing.T, left string, moment int) { … })
package powercut

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fundesk/apiclient/durable"
)

// Disk is the recorded disk below one folder.
type Disk struct {
	folder  string
	mu      sync.Mutex
	changes []change
}

// change is one of durable's, with the content that the file had then.
type change struct {
	durable.Change
	content []byte
}

var (
	watching sync.Once
	disks    sync.Map // By folder.
)

// Record begins to record an empty folder.
func Record(t testing.TB, folder string) *Disk {
	t.Helper()
	watching.Do(func() { durable.Watch(seen) })
	d := &Disk{folder: folder}
	disks.Store(folder, d)
	t.Cleanup(func() { disks.Delete(folder) })
	return d
}

// seen gives a change to the disk that it is on.
func seen(c durable.Change) {
	for at := c.Path; at != filepath.Dir(at); at = filepath.Dir(at) {
		if d, found := disks.Load(at); found {
			d.(*Disk).add(c)
			return
		}
	}
}

func (d *Disk) add(c durable.Change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	made := change{Change: c}
	if c.Kind == durable.Wrote {
		made.content, _ = os.ReadFile(c.Path) // Its writer has it open.
	}
	d.changes = append(d.changes, made)
}

// Now returns the number of changes made so far.
func (d *Disk) Now() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.changes)
}

// cuts are the losses that a power cut may cause in unflushed data.
var cuts = []struct {
	name    string
	names   func(*rand.Rand) bool // Whether one more name of a folder was written.
	content func(*rand.Rand, []byte) []byte
}{
	{"nothing unflushed", never, func(*rand.Rand, []byte) []byte { return nil }},
	{"all", always, func(_ *rand.Rand, content []byte) []byte { return content }},
	{"names without content", always, func(*rand.Rand, []byte) []byte { return nil }},
	{"some, torn", half, func(r *rand.Rand, content []byte) []byte { return content[:r.IntN(len(content)+1)] }},
}

func never(*rand.Rand) bool  { return false }
func always(*rand.Rand) bool { return true }
func half(r *rand.Rand) bool { return r.IntN(2) == 0 }

// Replay cuts the power at every moment in each way, and hands what is left to check.
func (d *Disk) Replay(t *testing.T, check func(t *testing.T, left string, moment int)) {
	t.Helper()
	for moment := range d.Now() + 1 {
		for _, cut := range cuts {
			t.Run(fmt.Sprintf("%d/%s", moment, cut.name), func(t *testing.T) {
				left := t.TempDir()
				i := d.imageAt(moment)
				i.writeBack(rand.New(rand.NewPCG(25, uint64(moment))), cut.names)
				i.save(t, left, func(random *rand.Rand, content []byte) []byte { return cut.content(random, content) })
				check(t, left, moment)
			})
		}
	}
}

// file is a file or folder; a nil one is a name that is gone.
type file struct {
	isFolder         bool
	content, flushed []byte
	isFlushed        bool // Its content is that on the disk.
}

// naming is a change of names that is not on the disk.
type naming struct {
	path string
	file *file
}

// image holds the disk: the view of programs, the flushed content, and pending writes.
type image struct {
	folder       string
	seen, onDisk map[string]*file
	waiting      map[string][]naming // By folder, in their order.
}

// imageAt plays the changes up to a moment.
func (d *Disk) imageAt(moment int) *image {
	i := &image{
		folder:  d.folder,
		seen:    map[string]*file{},
		onDisk:  map[string]*file{},
		waiting: map[string][]naming{},
	}
	for _, c := range d.changes[:moment] {
		switch c.Kind {
		case durable.Made:
			i.name(c.Path, &file{isFolder: true, isFlushed: true})
		case durable.Wrote:
			if i.seen[c.Path] == nil {
				i.name(c.Path, &file{})
			}
			i.seen[c.Path].content, i.seen[c.Path].isFlushed = c.content, false
		case durable.Flushed:
			f := i.seen[c.Path]
			f.flushed, f.isFlushed = f.content, true
		case durable.Renamed:
			i.name(c.To, i.seen[c.Path])
			i.name(c.Path, nil)
		case durable.Removed:
			i.name(c.Path, nil)
		case durable.NamesFlushed:
			i.flushNames(c.Path, always, nil)
		}
	}
	return i
}

// name gives a name to a file, until its folder is flushed for programs alone.
func (i *image) name(path string, f *file) {
	i.seen[path] = f
	folder := filepath.Dir(path)
	i.waiting[folder] = append(i.waiting[folder], naming{path, f})
}

// flushNames puts names of a folder on the disk, in their order, as long as more are.
func (i *image) flushNames(folder string, more func(*rand.Rand) bool, random *rand.Rand) {
	for len(i.waiting[folder]) > 0 && more(random) {
		next := i.waiting[folder][0]
		i.onDisk[next.path] = next.file
		i.waiting[folder] = i.waiting[folder][1:]
	}
}

// writeBack returns the content that the system flushed by itself before the power failed.
func (i *image) writeBack(random *rand.Rand, more func(*rand.Rand) bool) {
	for _, folder := range slices.Sorted(maps.Keys(i.waiting)) {
		i.flushNames(folder, more, random)
	}
}

// save writes the content of the disk into a folder. content is the rest of a file that was not flushed since its
// change.
func (i *image) save(t *testing.T, to string, content func(*rand.Rand, []byte) []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(26, uint64(len(i.seen))))
	for _, path := range slices.Sorted(maps.Keys(i.onDisk)) { // A folder before what is in it.
		f := i.onDisk[path]
		if f == nil || !i.isReached(filepath.Dir(path)) {
			continue
		}
		target := filepath.Join(to, strings.TrimPrefix(path, i.folder))
		if f.isFolder {
			if err := os.Mkdir(target, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		left := f.flushed
		if !f.isFlushed {
			if torn := content(random, f.content); len(torn) > len(left) || left == nil {
				left = torn
			}
		}
		if err := os.WriteFile(target, left, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// isReached reports whether a folder and its parents are on the disk.
func (i *image) isReached(folder string) bool {
	for ; folder != i.folder; folder = filepath.Dir(folder) {
		if i.onDisk[folder] == nil {
			return false
		}
	}
	return true
}
