package change

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/commands/cli"
	"fundesk/commands/localcopy"
	"fundesk/render"
)

// heldFile is a file on this computer that names a person.
type heldFile struct {
	File   string `json:"file"`
	What   string `json:"what"`
	folder string // The folder of the outbox. Empty for another file.
}

// heldKinds describe a file by its folder.
var heldKinds = []struct{ folder, what string }{
	{"drafts", "a draft"},
	{"queued", "a change that waits"},
	{"sending", "a change on its way: fundesk outbox send"},
	{"unsure", "a change whose outcome is not known: fundesk outbox send"},
	{"rejected", "a change that was refused"},
	{"pull", "the position of a pull, with identifiers: the next pull writes it again"},
}

// copyFolder is the folder of local copies.
const copyFolder = "copy"

// localFlags choose what export and erase do with the files of this computer.
type localFlags struct {
	local bool
	calls []string
}

func (f *localFlags) register(cmd *cobra.Command, does string) {
	cmd.Flags().
		BoolVar(&f.local, "local", false, does+" the files of this computer that name the person, without asking "+
			"the service")
	cmd.Flags().StringSliceVar(&f.calls, "call", nil, "with --local: a call of the person (repeatable)")
}

// held returns the files of this computer that name a person or one of the calls of --call: drafts, the outbox and
// positions of pulls.
func (f *localFlags) held(ctx context.Context, s *cli.Session, person apitype.UUID) ([]heldFile, error) {
	ids := []string{person.String()}
	for _, text := range f.calls {
		id, err := cli.ParseID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id.String())
	}
	state, err := s.StateDir()
	if err != nil {
		return nil, err
	}
	held := []heldFile{}
	err = filepath.WalkDir(state, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name == localcopy.Folder(state) {
			return fs.SkipDir // It may be large, and is asked in SQL.
		}
		if err != nil || !entry.Type().IsRegular() {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) { // It was sent in between.
			return nil
		}
		if err == nil && mentions(content, ids) {
			h := heldFile{File: name, What: "kept by fundesk"}
			for _, kind := range heldKinds {
				if strings.Contains(filepath.ToSlash(name), "/"+kind.folder+"/") {
					h.What, h.folder = kind.what, kind.folder
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
	copies, err := heldCopies(ctx, state, person)
	return append(held, copies...), err
}

// heldCopies returns the local copies with rows of a person.
func heldCopies(ctx context.Context, state string, person apitype.UUID) ([]heldFile, error) {
	paths, _ := filepath.Glob(filepath.Join(localcopy.Folder(state), "*.db")) // Its pattern is right.
	var held []heldFile
	for _, path := range paths {
		has, err := localcopy.Holds(ctx, path, person)
		if err != nil {
			return nil, cli.Failure(apiclient.KindFailure, "look through %s: %s", path, err)
		}
		if has {
			held = append(held, heldFile{File: path, What: "the copy: the rows of the person", folder: copyFolder})
		}
	}
	return held, nil
}

// exportLocal lists the files of this computer that name a person.
func (f *localFlags) exportLocal(ctx context.Context, s *cli.Session, person apitype.UUID) error {
	held, err := f.held(ctx, s, person)
	if err != nil {
		return err
	}
	return cli.ShowList(s, "", []render.Column[heldFile]{
		{Name: "file", Default: true, Value: func(h heldFile) string { return h.File }},
		{
			Name:     "what",
			Default:  true,
			Flexible: true,
			Value:    func(h heldFile) string { return h.What },
		},
	}, held)
}

// eraseLocal erases drafts, and changes that were not sent or were refused. Changes in flight and the lease of an open
// Desk stay, and are reported.
func (f *localFlags) eraseLocal(ctx context.Context, s *cli.Session, person apitype.UUID, dry, yes bool) error {
	held, err := f.held(ctx, s, person)
	if err != nil || dry {
		return errors.Join(err, f.exportLocal(ctx, s, person))
	}
	box, err := s.AnyOutbox()
	if err != nil {
		return err
	}
	left, erased := len(held), 0
	gone := slices.DeleteFunc(
		held,
		func(h heldFile) bool {
			return !slices.Contains([]string{"drafts", "queued", "rejected", copyFolder}, h.folder)
		},
	)
	if left -= len(gone); len(gone) > 0 {
		if err := s.Ask(
			ctx,
			yes,
			"erase "+cli.Count(len(gone), "file")+
				" of this computer, drafts, changes that were not sent and rows of a copy, about person "+
				person.String(),
		); err != nil {
			return err
		}
	}
	for _, h := range gone {
		switch h.folder {
		case "drafts":
			err = os.Remove(h.File)
		case copyFolder:
			err = localcopy.ErasePerson(ctx, h.File, person)
		default:
			err = box.Drop(strings.TrimSuffix(filepath.Base(h.File), ".json"))
		}
		switch _, there := os.Lstat(h.File); { // It may have been sent while the question was open.
		case err == nil:
			erased++
		case errors.Is(err, outbox.ErrSending):
			left++
		case there == nil:
			return cli.Failure(apiclient.KindFailure, "erase %s: %s", h.File, err)
		}
	}
	s.Note("erased %s", cli.Count(erased, "file"))
	if left > 0 {
		return cli.WithHint(
			cli.Failure(
				apiclient.KindFailure,
				"%s about the person left: on its way, or in use",
				cli.Count(left, "file"),
			),
			"list them with --dry-run; send what is on its way: fundesk outbox send",
		)
	}
	return nil
}

// mentions reports whether a file names one of some identifiers, itself or in the request that it holds.
func mentions(content []byte, ids []string) bool {
	var entry struct {
		Body []byte `json:"body"`
	}
	_, stored, _ := bytes.Cut(content, []byte("\n")) // Behind a checksum.
	_ = json.Unmarshal(stored, &entry)               // Other files have none.
	return slices.ContainsFunc(ids, func(id string) bool {
		return bytes.Contains(bytes.ToLower(content), []byte(id)) ||
			bytes.Contains(bytes.ToLower(entry.Body), []byte(id))
	})
}
