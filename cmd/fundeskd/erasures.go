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
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/service"
	"fundesk/service/privacy"
)

// Each machine that serves a database has a file outside it that records each erasure. A restore puts the database back
// to a time before some of them, and a replay repeats those.

// erasuresFlag adds --erasures-log.
func erasuresFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(
		to,
		"erasures-log",
		"",
		"`file` outside the database that records each erasure with its time "+
			"(default: the SQLite file with .erasures; "+
			"for PostgreSQL DATABASE.erasures in the data folder)",
	)
}

// erasuresFile returns the file of erasures: the one of --erasures-log, of serve's variable, or next to the database.
func (p *program) erasuresFile(flag string) (string, error) {
	database, err := p.databaseName() // It may read the settings of the service, which may name the file.
	named := cmp.Or(flag, p.Getenv(variableOf("erasures-log")))
	if named != "" {
		return named, nil
	}
	if err != nil {
		return "", err
	}
	file, isFile := strings.CutPrefix(database, "sqlite:")
	if isFile {
		return file + ".erasures", nil
	}
	folder := p.dataFolder()
	if folder == "" {
		return "", usage("no data folder is known; use --erasures-log FILE")
	}
	return filepath.Join(folder, postgresName(database)+".erasures"), nil
}

// postgresName returns the name of the database in a connection URL, or fundeskd if it has none.
func postgresName(database string) string {
	parsed, err := url.Parse(database)
	isURL := err == nil && parsed.Scheme != ""
	if !isURL || len(parsed.Path) < 2 {
		return "fundeskd"
	}
	return path.Base(parsed.Path)
}

// erasuresRecord is the file of erasures.
type erasuresRecord struct {
	name string
	err  error // There is no place for the file.
}

func (p *program) recordErasures(flag string) privacy.Record {
	name, err := p.erasuresFile(flag)
	return erasuresRecord{name, err}
}

// Add adds an erasure. The line is on the disk when it returns, before the person is erased.
func (r erasuresRecord) Add(person service.ErasedPerson) error {
	if r.err != nil {
		return fmt.Errorf("record the erasure: %w", r.err)
	}
	return appendErasures(r.name, person)
}

// TakeBack removes the line of a refused erasure.
func (r erasuresRecord) TakeBack(person service.ErasedPerson) error {
	if r.err != nil {
		return nil //nolint:nilerr // It was not added.
	}
	return removeErasure(r.name, person)
}

// appendErasures adds lines to the file, which only its owner can read, and syncs it.
func appendErasures(name string, erased ...service.ErasedPerson) error {
	var lines bytes.Buffer
	for _, person := range erased {
		err := json.NewEncoder(&lines).Encode(person)
		if err != nil {
			return err
		}
	}
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err != nil {
		return err
	}
	_, missing := os.Stat(name)
	err = appendLines(name, lines.Bytes())
	if err != nil {
		return fmt.Errorf("record it in a file: %w", err)
	}
	if missing != nil {
		return durable.SyncFolder(filepath.Dir(name))
	}
	return nil
}

// appendLines adds whole lines to the file of erasures.
func appendLines(name string, lines []byte) error {
	return changeErasures(name, func(file *os.File, end int64) error {
		_, err := file.WriteAt(lines, end)
		return err
	})
}

// changeErasures changes the file of erasures, one process at a time, and syncs it. end is the end of its whole lines.
func changeErasures(name string, change func(file *os.File, end int64) error) (err error) {
	unlock, err := durable.Lock(name)
	if err != nil {
		return err
	}
	defer unlock()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	end, err := dropCutLine(file)
	if err != nil {
		return err
	}
	err = change(file, end)
	if err != nil {
		return err
	}
	return file.Sync()
}

// removeErasure removes a line from the end of the file, or from among those that others have added since. The last
// line takes its place before it is cut off: no line is missing at any moment, and a full disk has room for it.
func removeErasure(name string, person service.ErasedPerson) error {
	line, err := json.Marshal(person)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	return changeErasures(name, func(file *os.File, end int64) error {
		lines := make([]byte, end)
		_, err := file.ReadAt(lines, 0)
		if err != nil {
			return err
		}
		at := bytes.LastIndex(lines, line)
		if at < 0 {
			return nil
		}
		last := lines[len(lines)-len(line):]
		if bytes.IndexByte(last, '\n') != len(last)-1 {
			return fmt.Errorf("a line of %s cannot be removed: the last one is longer or shorter", name)
		}
		_, err = file.WriteAt(last, int64(at))
		if err != nil {
			return err
		}
		err = file.Sync()
		if err != nil {
			return err
		}
		return file.Truncate(end - int64(len(line)))
	})
}

// dropCutLine removes a last line that a full disk or a crash cut short: its erasure was refused, and the next line
// would be joined to it. It returns the end of the file.
func dropCutLine(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	begin := max(0, info.Size()-maxErasureLine)
	tail := make([]byte, info.Size()-begin)
	_, err = file.ReadAt(tail, begin)
	if err != nil {
		return 0, err
	}
	ended := bytes.LastIndexByte(tail, '\n') + 1
	if ended == 0 && begin > 0 {
		return 0, fmt.Errorf("%s is not a file of erasures", file.Name())
	}
	if _, isWhole := parseErasure(tail[ended:]); isWhole { // Only its end is missing.
		_, err = file.WriteAt([]byte("\n"), info.Size())
		return info.Size() + 1, err
	}
	end := begin + int64(ended)
	return end, file.Truncate(end)
}

// maxErasureLine is more than the length of a line, in bytes.
const maxErasureLine = 64 << 10

func parseErasure(line []byte) (service.ErasedPerson, bool) {
	var person service.ErasedPerson
	err := json.Unmarshal(line, &person)
	return person, err == nil && !person.UUID.IsZero() && !person.ErasedAt.IsZero()
}

// readErasures reads the file, each person once. A missing file is an error. A last line that was cut short is left
// out: its erasure was refused, or is being recorded.
func readErasures(name string) ([]service.ErasedPerson, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // It was only read.
	var persons []service.ErasedPerson
	seen := map[apitype.UUID]bool{}
	lines := bufio.NewReaderSize(file, maxErasureLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		isLast := errors.Is(err, io.EOF)
		isTooLong := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !isLast && !isTooLong {
			return nil, err
		}
		person, isErasure := parseErasure(line)
		if isErasure && !seen[person.UUID] {
			persons = append(persons, person)
			seen[person.UUID] = true
		}
		if isLast {
			return persons, nil
		}
		if !isErasure {
			return nil, fmt.Errorf("%s, line %d: is not an erasure", name, n)
		}
	}
}

// copyErasures copies erasures that another machine recorded from the database to this machine's file. It makes the
// file if there is none. It returns how many erasures of the file a database lacks that was put back and not replayed.
func (p *program) copyErasures(ctx context.Context, s *service.Service, flag string) (int, error) {
	name, err := p.erasuresFile(flag)
	if err != nil {
		return 0, err
	}
	recorded, err := readErasures(name)
	isMissing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isMissing {
		return 0, err
	}
	lacking, missing, err := compareErasures(ctx, s, recorded)
	if err == nil && (len(lacking) > 0 || isMissing) {
		err = appendErasures(name, lacking...)
	}
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	// An erasure that was under way has ended then. It is in the database, or else its line is taken back.
	err = s.Write(ctx, service.WriteShared, "wait for erasures that are under way", func(tx service.Tx) error {
		return tx.ExcludeErasure(false)
	})
	if err != nil {
		return 0, err
	}
	return stillMissing(ctx, s, name, missing)
}

// lostErasures returns how many erasures of this machine's file the database lacks. It changes nothing.
func (p *program) lostErasures(ctx context.Context, s *service.Service) (int, error) {
	name, err := p.erasuresFile("")
	if err != nil {
		return 0, nil //nolint:nilerr // No folder has such a file.
	}
	recorded, err := readErasures(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	_, missing, err := compareErasures(ctx, s, recorded)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	return stillMissing(ctx, s, name, missing)
}

// stillMissing returns how many erasures the file still has, and the database still lacks.
func stillMissing(
	ctx context.Context,
	s *service.Service,
	name string,
	missing []service.ErasedPerson,
) (int, error) {
	recorded, err := readErasures(name)
	if err != nil {
		return 0, err
	}
	isRecorded := personsOf(recorded)
	isTakenBack := func(person service.ErasedPerson) bool { return !isRecorded[person.UUID] }
	_, missing, err = compareErasures(ctx, s, slices.DeleteFunc(missing, isTakenBack))
	return len(missing), err
}

// compareErasures returns the erasures of the database that a file lacks, and those of the file that the database
// lacks.
func compareErasures(
	ctx context.Context,
	s *service.Service,
	recorded []service.ErasedPerson,
) (lacking, missing []service.ErasedPerson, err error) {
	begun, err := service.View(ctx, s, "read what is to be erased", service.Reader.Erasing)
	if err != nil {
		return nil, nil, err
	}
	isThere := map[apitype.UUID]bool{} // In the database.
	for _, id := range begun {
		isThere[id] = true
	}
	isRecorded := personsOf(recorded)
	err = eachErasure(ctx, s, func(person service.ErasedPerson) {
		isThere[person.UUID] = true
		if !isRecorded[person.UUID] {
			lacking = append(lacking, person)
		}
	})
	isKnown := func(person service.ErasedPerson) bool { return isThere[person.UUID] }
	return lacking, slices.DeleteFunc(slices.Clone(recorded), isKnown), err
}

func personsOf(erasures []service.ErasedPerson) map[apitype.UUID]bool {
	persons := make(map[apitype.UUID]bool, len(erasures))
	for _, erasure := range erasures {
		persons[erasure.UUID] = true
	}
	return persons
}

// lostWarning returns a sentence about erasures that the database lacks, or an empty text.
func lostWarning(lost int) string {
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("the database lacks %s of this machine's file: it was put back, and shows erased donors again; "+
		"run fundeskd erasures replay", count(lost, "erasure"))
}

// erasurePage is the number of erasures in one read.
const erasurePage = 1000

// eachErasure hands over the erasures of the database, the newest first.
func eachErasure(ctx context.Context, s *service.Service, each func(service.ErasedPerson)) error {
	page := service.Range{Limit: erasurePage}
	for {
		var rows []service.ErasedPerson
		err := s.Read(ctx, service.ReadList, "read the erasures", func(r service.Reader) (err error) {
			rows, err = r.Erasures(service.Scope{All: true}, page)
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			each(row)
		}
		if len(rows) < erasurePage {
			return nil
		}
		last := rows[len(rows)-1]
		page.Below = &service.Bound{Position: service.Position{At: last.ErasedAt, UUID: last.UUID}}
	}
}

// replayOrder holds the flags of erasures replay.
type replayOrder struct {
	from         string // The file.
	noneExpected bool
	keepTokens   bool
	persons      []service.ErasedPerson // Of the file.
}

func (p *program) erasuresReplay() *cobra.Command {
	var o replayOrder
	return operation[replayView]{
		use:   "replay",
		short: "Repeat the erasures made after a restored backup",
		long: "Replay reads the file that records each erasure, and erases the persons that the\n" +
			"database still has. It also reserves the uuids of unknown persons, so they are\n" +
			"never used again. Run it before you serve a restored database. You may run it at\n" +
			"any time, and again. Each machine that serves the database has such a file, with\n" +
			"all erasures. Without the file replay is refused, unless --none-expected states\n" +
			"that no person was erased. The next fundeskd clean removes the bytes.\n\n" +
			"A database that lacks an erasure was restored from a backup. It also lacks later\n" +
			"revocations, so replay then makes a new signing key, which ends every token:\n" +
			"issue new ones with fundeskd token issue. --keep-tokens keeps the key, which\n" +
			"undoes every revocation and every narrowed permission since the backup.\n\n" +
			"After a restore or a takeover of PostgreSQL, replay also lets copies begin\n" +
			"again, even if no erasure is lacking. Otherwise a replay that finds none changes\n" +
			"nothing.",
		example: "  fundeskd erasures replay\n  fundeskd erasures replay --from /var/lib/fundesk/fundeskd.db.erasures",
		flags: func(flags *pflag.FlagSet) {
			flags.BoolVar(&o.keepTokens, "keep-tokens", false,
				"keep the tokens of a restored database, which undoes revocations and narrowed permissions since")
			flags.BoolVar(&o.noneExpected, "none-expected", false, "work without the file: no person was erased")
			flags.StringVar(&o.from, "from", "", "`file` that records the erasures (default: that of the database)")
		},
		check:   func(context.Context, *pflag.FlagSet) error { return p.readReplay(&o) },
		access:  access{patient: true},
		failure: "replay the erasures",
		run: func(ctx context.Context, s *service.Service) (replayView, error) {
			return p.replayErasures(ctx, s, o)
		},
		text: func(w io.Writer, v replayView) { v.write(w) },
	}.command(p)
}

// readReplay reads the file of a replay.
func (p *program) readReplay(o *replayOrder) error {
	var err error
	if o.from == "" {
		o.from, err = p.erasuresFile("")
		if err != nil {
			return err
		}
	}
	o.persons, err = readErasures(o.from)
	if errors.Is(err, fs.ErrNotExist) {
		if o.noneExpected {
			return nil
		}
		return fmt.Errorf("replay the erasures: %s does not exist; name the file of another machine or folder with "+
			"--from FILE, or use --none-expected if no person was erased", o.from)
	}
	if err != nil {
		return fmt.Errorf("replay the erasures: %w", err)
	}
	return nil
}

// replayView is the result of a replay.
type replayView struct {
	Noted      int  `json:"noted"`    // In the file.
	Replayed   int  `json:"replayed"` // Erased again.
	Ended      int  `json:"ended"`    // Tokens.
	KeptTokens bool `json:"keptTokens"`
	NewEpoch   bool `json:"newEpoch"` // Copies begin again.
}

func (v replayView) write(w io.Writer) {
	fmt.Fprintf(w, "noted as erased: %d; erased again: %d\n", v.Noted, v.Replayed)
	if v.NewEpoch {
		fmt.Fprintln(w, "copies of the records begin again: pull and copy sync refuse to go on from where they were")
	}
	if v.KeptTokens {
		fmt.Fprintln(w, keptTokensWarning)
		return
	}
	if v.Replayed > 0 {
		printEndedTokens(w, v.Ended)
	}
}

// replayErasures repeats the erasures that the database lacks. It ends the tokens first: after an interruption the next
// replay finds what is left, and ends them again.
func (p *program) replayErasures(ctx context.Context, s *service.Service, o replayOrder) (replayView, error) {
	view := replayView{Noted: len(o.persons)}
	// An erasure of many calls, or one that a crash interrupted, is in the file before the person is erased.
	err := privacy.New(s, nil).FinishErasures(ctx)
	if err != nil {
		return view, err
	}
	known := map[apitype.UUID]bool{}
	err = eachErasure(ctx, s, func(person service.ErasedPerson) { known[person.UUID] = true })
	if err != nil {
		return view, err
	}
	isLacking := func(person service.ErasedPerson) bool { return !known[person.UUID] }
	wasRestored := slices.ContainsFunc(o.persons, isLacking)
	if wasRestored && !o.keepTokens {
		rotation, err := service.RotateKey(ctx, s.Store(), p.Now)
		if err != nil {
			return view, err
		}
		view.Ended = rotation.Ended
	}
	view.KeptTokens = wasRestored && o.keepTokens
	done, err := privacy.New(s, nil).ReplayErasures(ctx, o.persons)
	view.Replayed, view.NewEpoch = done.Erased, done.NewEpoch
	return view, err
}
