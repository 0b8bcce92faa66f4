package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/commands/cli"
)

// heldFile is a file on this computer that names a person.
type heldFile struct {
	File string `json:"file"`
	What string `json:"what"`
}

// heldKinds say what a file is by the folder that it lies in, and how it goes.
var heldKinds = []struct{ folder, what string }{
	{"drafts", "a draft: fundesk outbox drop ID, or erase the file"},
	{"queued", "a change that waits: fundesk outbox send, or fundesk outbox drop ID"},
	{"sending", "a change on its way: fundesk outbox send"},
	{"unsure", "a change whose outcome is not known: fundesk outbox send"},
	{"rejected", "a change that was refused, with its text: fundesk outbox drop ID"},
	{"pull", "the position of a pull, with identifiers: the next pull writes it anew"},
}

// heldOf are the files of this computer that name a person, or calls of theirs, by identifiers: drafts, the outbox and positions of pulls.
func heldOf(s *cli.Session, ids []string) (held []heldFile, err error) {
	state, err := s.StateDir()
	if err != nil {
		return nil, err
	}
	held = []heldFile{}
	err = filepath.WalkDir(state, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) { // It was sent meanwhile.
			return nil
		}
		if err == nil && mentions(content, ids) {
			h := heldFile{name, "kept by fundesk: erase the file"}
			for _, kind := range heldKinds {
				if strings.Contains(filepath.ToSlash(name), "/"+kind.folder+"/") {
					h.What = kind.what
					break
				}
			}
			held = append(held, h)
		}
		return err
	})
	if err != nil {
		return nil, cli.Failure(apiclient.KindFailure, "look through %s: %s", state, err)
	}
	return held, nil
}

// mentions reports whether a file names one of some identifiers, itself or in the request that it holds.
func mentions(content []byte, ids []string) bool {
	var entry struct {
		Body []byte `json:"body"`
	}
	_, stored, _ := bytes.Cut(content, []byte("\n")) // Behind a checksum.
	_ = json.Unmarshal(stored, &entry)               // Other files have none.
	return slices.ContainsFunc(ids, func(id string) bool {
		return bytes.Contains(bytes.ToLower(content), []byte(id)) || bytes.Contains(bytes.ToLower(entry.Body), []byte(id))
	})
}
