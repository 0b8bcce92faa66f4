package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/service"
	"fundesk/service/privacy"
)

func (p *program) personExport() *cobra.Command {
	c := &cobra.Command{
		Use:   "export UUID",
		Short: "Print everything stored about a person, as JSON",
		Long: "Export prints the person with calls, pledges, transactions, signature files,\n" +
			"marks, queue data and audit lines. With -o ndjson it prints one record per line,\n" +
			"with its kind. notAnswered holds what no answer of the interface shows. The\n" +
			"audit records the export.",
		Example: "  fundeskd person export 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c > answer.json",
		Args:    exactly("UUID"),
		RunE: about("person", func(c *cobra.Command, id apitype.UUID) error {
			return p.with(c.Context(), func(s *service.Service) error {
				export, err := privacy.New(s, nil).Export(c.Context(), id)
				if err == nil {
					err = export.Write(c.Context(), p.Out, p.output == ndjson)
				}
				if err != nil {
					return fmt.Errorf("export the person: %w", err)
				}
				return nil
			})
		}),
	}
	streams(c)
	return c
}

func (p *program) personErase() *cobra.Command {
	var request apitype.EraseRequest
	var yes bool
	c := &cobra.Command{
		Use:   "erase UUID --reason TEXT",
		Short: "Erase a person permanently",
		Long: "Erase blanks the person's name, address, contacts, birth, identifiers and bank\n" +
			"data. In calls and pledges it blanks notes, external metadata and recordings,\n" +
			"and deletes signature files. In transactions it blanks the payer. Amounts,\n" +
			"dates, codes and links stay, for the books. The person is 404 from then on, and\n" +
			"the uuid is never used again. The person's calls and pledges accept no changes.\n\n" +
			"The bytes stay in unused space of the database's files until the next fundeskd\n" +
			"clean. Backups and PostgreSQL's WAL keep them as long as you keep those. A file\n" +
			"outside the database records uuid and time, so fundeskd erasures replay can\n" +
			"repeat the erasure after a restore.\n\n" +
			"The audit keeps the reason, which must not name the person.",
		Example: "  fundeskd person erase 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --reason \"request 2026-17\" --dry-run\n" +
			"  fundeskd person erase 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --reason \"request 2026-17\" --yes",
		Args: exactly("UUID"),
		RunE: about("person", func(c *cobra.Command, id apitype.UUID) error {
			switch {
			case request.Reason == "":
				return usage("--reason is needed; it is kept in the audit")
			case !yes && !request.DryRun:
				return usage("what is erased does not come back: use --dry-run to see what it would be, and --yes to erase it")
			}
			record, err := p.erasures()
			if err != nil {
				return err
			}
			p.store.AnswerTimeout = forgoTimeout
			return answer(c.Context(), p, "erase the person", func(s *service.Service) (privacy.Erasure, error) {
				return privacy.New(s, record).Erase(c.Context(), id, request)
			}, writeErasure)
		}),
	}
	flags := c.Flags()
	flags.StringVar(&request.Reason, "reason", "", "`text`, why; such as the number of the request, never who the person is")
	flags.BoolVar(&request.DryRun, "dry-run", false, "only count what would be erased")
	flags.BoolVar(&yes, "yes", false, "erase it")
	p.erasuresFlag(c)
	return c
}

func writeErasure(w io.Writer, e privacy.Erasure) {
	switch {
	case e.Repeated:
		fmt.Fprintf(w, "person %s was erased at %s\n", e.PersonUUID, e.ErasedAt)
	case e.DryRun:
		fmt.Fprintf(w, "would erase person %s", e.PersonUUID)
	default:
		fmt.Fprintf(w, "erased person %s", e.PersonUUID)
	}
	if !e.Repeated {
		fmt.Fprintf(w, ": %s, %s, %s, %s; %s of the queue, %s\n", count(e.Calls, "call"), count(e.Pledges, "pledge"),
			count(e.Transactions, "transaction"), count(e.Signatures, "signature file"), count(e.Waiting, "call"), count(e.Leases, "lease"))
	}
	if e.Scrubbed != nil && len(e.Scrubbed.Later) > 0 {
		fmt.Fprintf(w, "the bytes remain in unused space (%s) until the next fundeskd clean\n", strings.Join(e.Scrubbed.Later, ", "))
	}
}

// forgoTimeout lets a command wait for the database as long as it takes.
const forgoTimeout = -1

func (p *program) erasuresFlag(c *cobra.Command) {
	c.Flags().StringVar(&p.erasuresLog, "erasures-log", "", "`file` outside the database that says who was erased when (default: the SQLite file with .erasures; for PostgreSQL DATABASE.erasures in the data folder)")
}

// erasuresFile returns the file that notes each erasure and its time.
func (p *program) erasuresFile() (string, error) {
	name, err := p.databaseName() // This reads the settings of the service, which may name the file of serve.
	if file := cmp.Or(p.erasuresLog, p.Getenv(variableOf("erasures-log"))); file != "" {
		return file, nil
	}
	if err != nil {
		return "", err
	}
	if file, ok := strings.CutPrefix(name, "sqlite:"); ok {
		return file + ".erasures", nil
	}
	folder := p.dataFolder()
	if folder == "" {
		return "", usage("no data folder is known; use --erasures-log FILE")
	}
	database := "fundeskd"
	if parsed, err := url.Parse(name); err == nil && len(parsed.Path) > 1 {
		database = path.Base(parsed.Path)
	}
	return filepath.Join(folder, database+".erasures"), nil
}

// erasures adds each erasure to the file: the line is on the disk before the person is erased.
func (p *program) erasures() (record func(service.ErasedPerson) error, err error) {
	name, err := p.erasuresFile()
	if err != nil {
		return nil, err
	}
	return func(person service.ErasedPerson) error { return appendNotes(name, person) }, nil
}

// appendNotes adds lines to a file that is closed to others, and returns when they are on the disk.
func appendNotes[T any](name string, notes ...T) error {
	var lines bytes.Buffer
	for _, note := range notes {
		if err := json.NewEncoder(&lines).Encode(note); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	_, missing := os.Stat(name)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("note it in a file: %w", err)
	}
	_, err = file.Write(lines.Bytes())
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil && missing != nil {
		err = durable.SyncFolder(filepath.Dir(name))
	}
	return err
}

// readNotes reads such a file. One that is not there is refused: nothing would be done, and all would seem well.
func readNotes[T any](name, what string, note func(T) (ok bool)) (err error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil || !note(one) {
			return fmt.Errorf("%s, line %d: is no %s", name, n, what)
		}
	}
	return lines.Err()
}

// recordErasures is erasures for serve: where there is no place for the file, each erasure is refused, and
// all else is served.
func (p *program) recordErasures() func(service.ErasedPerson) error {
	record, err := p.erasures()
	if err != nil {
		return func(service.ErasedPerson) error { return fmt.Errorf("note the erasure: %w", err) }
	}
	return record
}

func (p *program) erasuresReplay() *cobra.Command {
	var from string
	var noneExpected, keepTokens bool
	c := &cobra.Command{
		Use:   "replay",
		Short: "Repeat the erasures made after a restored backup",
		Long: "Replay reads the file that records each erasure, and erases the persons that the\n" +
			"database still has. It also reserves the uuids of unknown persons, so they are\n" +
			"never used again. Run it before you serve a restored database. You may run it at\n" +
			"any time, and again. Each machine that serves the database has such a file, with\n" +
			"all erasures; without the file replay is refused, unless --none-expected says\n" +
			"that nobody was erased. The next fundeskd clean removes the bytes.\n\n" +
			"A database that lacks an erasure was put back. It also lacks what was revoked\n" +
			"since, so replay then makes a new signing key, which ends every token: issue new\n" +
			"ones with fundeskd token issue. --keep-tokens keeps the key, which undoes every\n" +
			"revocation and every narrowed permission since the backup. A replay that finds\n" +
			"nothing changes nothing.",
		Example: "  fundeskd erasures replay\n  fundeskd erasures replay --from /var/lib/fundesk/fundeskd.db.erasures",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if from == "" {
				if from, err = p.erasuresFile(); err != nil {
					return err
				}
			}
			persons, _, err := readErasures(from)
			isMissing := errors.Is(err, fs.ErrNotExist)
			if isMissing && !noneExpected {
				return fmt.Errorf("replay the erasures: %s does not exist; name the file of another machine or folder with --from FILE, or use --none-expected if nobody was erased", from)
			}
			if err != nil && !isMissing {
				return fmt.Errorf("replay the erasures: %w", err)
			}
			p.store.AnswerTimeout = forgoTimeout
			return answer(c.Context(), p, "replay the erasures", func(s *service.Service) (replayView, error) {
				return p.replayErasures(c.Context(), s, persons, keepTokens)
			}, writeReplay)
		},
	}
	c.Flags().BoolVar(&keepTokens, "keep-tokens", false, "keep the tokens of a database that was put back, which undoes revocations and narrowed permissions since")
	c.Flags().BoolVar(&noneExpected, "none-expected", false, "do without the file: nobody was erased")
	c.Flags().StringVar(&from, "from", "", "`file` in which the erasures were noted (default: that of the database)")
	return c
}

type replayView struct {
	Noted      int  `json:"noted"`
	Replayed   int  `json:"replayed"`
	Ended      int  `json:"ended"` // Tokens.
	KeptTokens bool `json:"keptTokens"`
}

// replayErasures repeats the erasures that the database lacks. Its tokens end before that: after an interruption the
// next replay finds what is left, and ends them again.
func (p *program) replayErasures(ctx context.Context, s *service.Service, persons []service.ErasedPerson, keepTokens bool) (replayView, error) {
	view := replayView{Noted: len(persons)}
	known, err := knownErasures(ctx, s)
	if err != nil {
		return view, err
	}
	isLacking := func(person service.ErasedPerson) bool { return !known[person.UUID] }
	wasPutBack := slices.ContainsFunc(persons, isLacking)
	if wasPutBack && !keepTokens {
		rotation, err := service.RotateKey(ctx, s.Store(), p.Now)
		if err != nil {
			return view, err
		}
		view.Ended = rotation.Ended
	}
	view.KeptTokens = wasPutBack && keepTokens
	view.Replayed, err = privacy.New(s, nil).ReplayErasures(ctx, persons)
	return view, err
}

func writeReplay(w io.Writer, v replayView) {
	fmt.Fprintf(w, "noted as erased: %d; erased again: %d\n", v.Noted, v.Replayed)
	if v.KeptTokens {
		fmt.Fprintln(w, undone)
		return
	}
	if v.Replayed > 0 {
		tellEnded(w, v.Ended)
	}
}

// lastRun returns the highest number of a run of the retention that the file of erasures notes.
func (p *program) lastRun() (last int, err error) {
	name, err := p.erasuresFile()
	if err != nil {
		return 0, err
	}
	_, last, err = readErasures(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return last, err
}

// readErasures reads the file of erasures, each person once; last is the last run of the retention.
func readErasures(name string) (persons []service.ErasedPerson, last int, err error) {
	seen := map[apitype.UUID]bool{}
	err = readNotes(name, "erasure", func(person service.ErasedPerson) bool {
		last = max(last, person.Run)
		if !seen[person.UUID] {
			persons, seen[person.UUID] = append(persons, person), true
		}
		return !person.UUID.IsZero() && !person.ErasedAt.IsZero()
	})
	return persons, last, err
}
