package main

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// images is how many power cuts TestPowerLoss tries. A long run has -images 2000.
var images = flag.Int("images", 8, "how many power cuts TestPowerLoss tries")

// sector is the unit that a disk writes as a whole.
const sector = 512

// TestPowerLoss records what eight writers make the program write and flush, then cuts
// the power at many moments: what was flushed is on the disk, the rest is there, absent
// or torn. In each image every person that had been acknowledged is there, none is half
// there, and nothing is wrong with the file. Names of files count as flushed: SQLite
// flushes the folder when it makes its log.
func TestPowerLoss(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	e := newFileEnvironment(t)
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A")
	e.must(&account, "account add a --all-organizations")
	before := readFiles(t, e.folder)
	log := filepath.Join(t.TempDir(), "disk")
	acknowledged := e.child(recordDisk+"="+log).writeWatched(t, organization.UUID, account.Token, log, 700)
	ops, err := readDisk(log)
	servicetest.Check(t, err)
	kinds := map[byte]int{}
	for _, op := range ops {
		kinds[op.kind]++
	}
	if kinds[opWrite] < 500 || kinds[opSync] < 3 {
		t.Fatalf("got %d writes and %d flushes, too few to be all", kinds[opWrite], kinds[opSync])
	}
	random := rand.New(rand.NewPCG(1, uint64(*images)))
	for range *images {
		cut := random.Int64N(ops[len(ops)-1].end + 1)
		image := cutPower(before, ops, cut, random)
		if problem := checkImage(t, image, acknowledged, cut); problem != "" {
			t.Errorf("power cut at %d of %d: %s", cut, ops[len(ops)-1].end, problem)
		}
	}
}

// readFiles returns the files of a folder by name.
func readFiles(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		data, e := os.ReadFile(filepath.Join(folder, entry.Name()))
		err = errors.Join(err, e)
		files[entry.Name()] = data
	}
	servicetest.Check(t, err)
	return files
}

// writeWatched creates persons by eight writers, then kills the program. For each person it returns the length of the
// disk's log at the acknowledgement, or -1 if there was none.
func (c child) writeWatched(t *testing.T, organization, token, log string, enough int) map[string]int64 {
	t.Helper()
	sent := map[string]int64{}
	done := 0
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				id := apitype.NewUUID().String()
				mu.Lock()
				sent[id] = -1
				mu.Unlock()
				if !c.create(t, id, organization, token) {
					return
				}
				there, err := os.Stat(log)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				sent[id] = there.Size()
				if done++; done == enough {
					_ = c.command.Process.Kill() // Wait reports whether it worked.
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if err := c.command.Wait(); err == nil {
		t.Error("the program ended by itself")
	}
	return sent
}

// cutPower returns the files after a power cut at a place of the log.
func cutPower(before map[string][]byte, ops []diskOp, cut int64, random *rand.Rand) map[string][]byte {
	flushed := map[string]int64{} // By file, the place in the log up to which it was flushed.
	for _, op := range ops {
		if op.kind == opSync && op.end <= cut {
			flushed[op.name] = max(flushed[op.name], op.offset)
		}
	}
	keep := []float64{0, 0.1, 0.5, 0.9, 1}[random.IntN(5)]
	torn := random.IntN(2) == 0
	files := maps.Clone(before)
	for name, data := range files {
		files[name] = append([]byte{}, data...)
	}
	for _, op := range ops {
		if op.end > cut {
			break
		}
		survives := op.end <= flushed[op.name] || op.kind == opDelete
		switch op.kind {
		case opDelete:
			delete(files, op.name)
		case opTruncate:
			if survives || random.Float64() < keep {
				files[op.name] = resized(files[op.name], op.offset)
			}
		case opWrite:
			if survives || (!torn && random.Float64() < keep) {
				files[op.name] = written(files[op.name], op.offset, op.data)
				continue
			}
			if !torn {
				continue
			}
			for from, to := int64(0), int64(0); from < int64(len(op.data)); from = to {
				// Up to the next border of a sector of the disk.
				to = min((op.offset+from)/sector*sector+sector-op.offset, int64(len(op.data)))
				if random.Float64() < keep {
					files[op.name] = written(files[op.name], op.offset+from, op.data[from:to])
				}
			}
		}
	}
	return files
}

func resized(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

func written(data []byte, offset int64, part []byte) []byte {
	if end := offset + int64(len(part)); end > int64(len(data)) {
		data = resized(data, end)
	}
	copy(data[offset:], part)
	return data
}

// checkImage starts on the files after a power cut, and returns the first mistake.
func checkImage(t *testing.T, image map[string][]byte, acknowledged map[string]int64, cut int64) string {
	t.Helper()
	folder := t.TempDir()
	for name, data := range image {
		if filepath.Ext(name) == ".db-shm" {
			continue // Not on the disk: created again.
		}
		servicetest.Check(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	defer func() { _ = os.RemoveAll(folder) }() // Many images would fill the disk.
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Database:  "sqlite:" + filepath.Join(folder, "fundeskd.db"),
		NoMigrate: true,
	})
	if err != nil {
		return err.Error()
	}
	found, err := store.Check(t.Context())
	var problem string
	if err != nil || len(found) > 0 {
		problem = "check: " + errors.Join(err, errors.New(first(found))).Error()
	}
	err = store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		for id, at := range acknowledged {
			parsed, err := apitype.ParseUUID(id)
			if err != nil {
				return err
			}
			row, err := r.Person(parsed, service.Scope{All: true})
			var person apitype.Person
			switch {
			case errors.Is(err, service.ErrNoRow) && (at < 0 || at > cut):
			case errors.Is(err, service.ErrNoRow):
				problem = "an acknowledged person is lost"
			case err != nil:
				return err
			case json.Unmarshal(row.Doc, &person) != nil || person.LastName == nil || *person.LastName != id:
				problem = "a person is half there"
			}
		}
		return nil
	})
	if err := errors.Join(err, store.Close()); err != nil {
		return err.Error()
	}
	return problem
}

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}
