// Package outbox is the spool of changes that the service has not accepted yet, and
// of what an agent has typed and not sent. A change is on disk, flushed, before its
// first byte goes out, and erased when the service has accepted it.
//
// Each entry is one file, in the folder that says how far it has come:
//
//	queued/    waits for its turn, or for the end of its hold
//	sending/   is on its way; its sender holds a lock on the file
//	unsure/    went out and the answer was lost; it is looked up before it is sent again
//	rejected/  was refused; kept with the service's text for the agent
//	damaged/   could not be read; set aside
//	drafts/    typed, not sent
//	endings/   the outcomes of the entries of the last day
//
// Several processes share one folder. Changes of folder are made under one short
// lock; a sender that died is known by its file's lock being free.
//
// The package knows nothing of terminals or flags, and no service's rules: what an
// answer means it asks of package apiclient.
//
//	box, err := outbox.Open(dir, outbox.Options{BaseURL: base, Account: account})
//	entry, err := box.Add(outbox.Entry{Change: change})
//	report, err := box.Sender(client, outbox.SenderOptions{}).SendDue(ctx)
package outbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/durable"
)

// State is the progress of an entry.
type State string

// The states of an entry.
const (
	StateHeld     State = "held"     // Not sent before NotBefore; can be taken back.
	StateQueued   State = "queued"   // Sent when its turn comes.
	StateSending  State = "sending"  // On its way.
	StateUnsure   State = "unsure"   // Sent, the outcome is not known; looked up before anything else.
	StateRejected State = "rejected" // Refused by the service.
)

// Entry is one change: the exact request, and its progress.
type Entry struct {
	Version int    `json:"version,omitzero"` // Of the format: see formatVersion.
	ID      string `json:"id"`
	Seq     uint64 `json:"seq"` // Order in which the changes were made, over all processes.
	State   State  `json:"-"`   // From the folder and the time.
	apiclient.Change
	BaseURL   string    `json:"baseUrl"`
	Account   string    `json:"account"`
	CreatedAt time.Time `json:"createdAt"`
	Holder    string    `json:"holder,omitzero"` // The process that made it, which may hold it.
	// NotBefore is the end of a hold, or of the wait after a failure, that began at
	// WaitsSince.
	NotBefore  time.Time `json:"notBefore,omitzero"`
	WaitsSince time.Time `json:"waitsSince,omitzero"`
	// SentAt is the latest time at which its first byte may have been sent. Zero if it never was.
	SentAt    time.Time `json:"sentAt,omitzero"`
	Tries     int       `json:"tries,omitzero"`
	LastError string    `json:"lastError,omitzero"`
	// After is the entry that must be accepted before this one. This one waits while that entry is in the outbox, also
	// refused.
	After string `json:"after,omitzero"`
	// Answered: the last attempt got a complete failure of the service, so none is in flight.
	Answered bool `json:"answered,omitzero"`
	// Looking: the entry is being looked up, and not sent.
	Looking bool `json:"looking,omitzero"`
	// Fields are the fields of a refused update that were changed elsewhere after they were shown.
	Fields []string `json:"fields,omitzero"`
}

// waits reports whether the entry's time has not come. If the clock was set back to before the wait began, the wait is
// over, because its length is unknown.
func (e Entry) waits(now time.Time) bool {
	return e.NotBefore.After(now) && e.WaitsSince.Before(now.Add(clockStep))
}

// clockStep is the largest jump of a synchronised machine's clock.
const clockStep = time.Second

// Damaged is a file that could not be read as a whole entry of ours. It is set aside, never deleted.
type Damaged struct {
	Path   string
	Reason string
	// IsNewer reports that a later version of the program made it. It is left alone.
	IsNewer bool
	// IsUnread reports that the system did not let us read it. It may be whole, and is left alone.
	IsUnread bool
}

// formatVersion is the version of the format of entries and leases. A change that older programs would misread raises
// it.
const formatVersion = 1

// Errors of an entry's state.
var (
	// ErrNotFound is an id without an entry.
	ErrNotFound = errors.New("no such entry in the outbox")
	// ErrSending is an entry that is on its way at this moment.
	ErrSending = errors.New("the change is being sent at this moment")
	// ErrSent is an entry that went out already and can no longer be taken back.
	ErrSent = errors.New("the change was sent already")
	// ErrCannotTell means that an answer was lost and the record does not show the outcome: a person must look.
	ErrCannotTell = errors.New(
		"the answer was lost, and the outcome is unknown; look at the record, then send it again or drop it",
	)
	// ErrAccount is an entry without a service and account to send it to.
	ErrAccount = errors.New("the outbox was opened without a service and account")
)

// Options of an outbox.
type Options struct {
	// BaseURL and Account choose the entries that this outbox shows and sends. Without them it lists the entries of
	// all accounts and sends none.
	BaseURL, Account string
	Now              func() time.Time // Nil means the system's clock.
	NewID            func() string    // The part of an id after its number. Nil means random.
	// Accepted is called with each accepted entry before it is erased, again after a crash in between. It may be nil.
	Accepted func(context.Context, Entry)
	// Refused is called with each entry that the service refused, before it is set aside. It may be nil.
	Refused func(context.Context, Entry)
}

// Outbox is a spool folder. It is safe for concurrent use, by several processes too.
type Outbox struct {
	dir     string
	options Options
	process string     // What it is called in endings and holds.
	mu      sync.Mutex // The folder lock belongs to the process; this one orders its goroutines.
	changed chan struct{}
	// quiesced is the end of a Quiesce.
	quiesced atomic.Pointer[time.Timer]
	// numbered means that the file of the last number is known to match the entries.
	numbered bool
}

// The folders of a spool.
const (
	dirQueued   = "queued"
	dirSending  = "sending"
	dirUnsure   = "unsure"
	dirRejected = "rejected"
	dirDamaged  = "damaged"
	dirDrafts   = "drafts"
	dirLeases   = "leases"
	dirEndings  = "endings"
)

// The order of the states for an entry that a crash left in two folders: the one that promises least about the outcome
// counts.
var precedence = []string{dirSending, dirUnsure, dirRejected, dirQueued}

// Open opens the spool in dir and creates missing folders. It refuses folders of other users, and symbolic links.
func Open(dir string, o Options) (*Outbox, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = randomID
	}
	folders := []string{"", dirQueued, dirSending, dirUnsure, dirRejected, dirDamaged, dirDrafts, dirLeases, dirEndings}
	for i, name := range folders {
		folders[i] = filepath.Join(dir, name)
	}
	if err := durable.MakeFolders(folders...); err != nil { // Flushed together.
		return nil, err
	}
	for _, folder := range folders {
		if err := ensureFolder(folder); err != nil {
			return nil, err
		}
	}
	box := &Outbox{
		dir:     dir,
		options: o,
		process: strconv.Itoa(os.Getpid()) + "-" + randomID(),
		changed: make(chan struct{}, 1),
	}
	return box, nil
}

func randomID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // It never fails.
	return hex.EncodeToString(b[:])
}

// Account returns the account whose entries the outbox shows and sends. Empty means all accounts.
func (o *Outbox) Account() string { return o.options.Account }

// Add puts a change in the spool. It is durable when Add returns: the file and its
// folder are flushed. Op, UUID, Method, Path and Body are the caller's, NotBefore holds
// the entry until then; the rest is filled in.
func (o *Outbox) Add(e Entry) (Entry, error) {
	if o.options.BaseURL == "" || o.options.Account == "" {
		return Entry{}, ErrAccount
	}
	unlock, err := o.lock()
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	e.Seq, err = o.nextSeq()
	if err != nil {
		return Entry{}, err
	}
	e.ID = strconv.FormatUint(e.Seq, 10) + "-" + o.options.NewID()
	e.BaseURL, e.Account, e.Holder = o.options.BaseURL, o.options.Account, o.process
	if !validID(e.ID) {
		return Entry{}, fmt.Errorf("add to the outbox: malformed id %q", e.ID)
	}
	e.CreatedAt, e.SentAt, e.Tries, e.LastError = o.options.Now().UTC(), time.Time{}, 0, ""
	e.WaitsSince = e.CreatedAt
	e.Version = formatVersion
	if err := writeSealed(o.path(dirQueued, e.ID), e); err != nil {
		return Entry{}, fmt.Errorf("save the change: %w", err)
	}
	e.State = o.state(dirQueued, e)
	o.wake()
	return e, nil
}

// listTries limits how often List reads again while other processes move entries. Then it locks the folder.
const listTries = 5

// List returns all entries in the order in which they were made, and the damaged files. It takes no lock if it can, so
// that it rarely waits. If an entry was moved during the reading, and may have been missed in both of its folders, it
// reads again.
func (o *Outbox) List() ([]Entry, []Damaged, error) {
	before, err := o.listing()
	for range listTries {
		if err != nil {
			return nil, nil, err
		}
		entries, damaged, err := o.list()
		if err != nil {
			return nil, nil, err
		}
		after, err := o.listing()
		if err != nil || after == before {
			return entries, damaged, err
		}
		before = after
	}
	unlock, err := o.lock()
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	return o.list()
}

func (o *Outbox) list() ([]Entry, []Damaged, error) {
	var entries []Entry
	var damaged []Damaged
	seen := map[string]bool{}
	for _, folder := range precedence {
		found, bad, err := o.scan(folder)
		if err != nil {
			return nil, nil, err
		}
		damaged = append(damaged, bad...)
		for _, e := range found {
			if !seen[e.ID] {
				seen[e.ID] = true
				entries = append(entries, e)
			}
		}
	}
	_, torn, err := o.scanDrafts()
	if err != nil {
		return nil, nil, err
	}
	damaged = append(damaged, torn...)
	aside, err := os.ReadDir(filepath.Join(o.dir, dirDamaged))
	if err != nil {
		return nil, nil, fmt.Errorf("read the outbox: %w", err)
	}
	for _, file := range aside {
		damaged = append(
			damaged,
			Damaged{Path: filepath.Join(o.dir, dirDamaged, file.Name()), Reason: "was set aside earlier"},
		)
	}
	slices.SortFunc(
		entries,
		func(a, b Entry) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.ID, b.ID)) },
	)
	return entries, damaged, nil
}

// Show returns one entry.
func (o *Outbox) Show(id string) (Entry, error) {
	if validID(id) {
		// It may be on its way from one folder to the next.
		for _, folder := range slices.Concat(precedence, precedence) {
			e, err := readEntry(o.path(folder, id))
			if err == nil && o.Owns(e.BaseURL, e.Account) {
				e.State = o.state(folder, e)
				return e, nil
			}
		}
	}
	return Entry{}, fmt.Errorf("%s: %w", id, ErrNotFound)
}

// Recall takes an entry back that was not sent: it is erased and returned.
func (o *Outbox) Recall(id string) (Entry, error) {
	return o.remove(id, func(e Entry) error {
		if (e.State != StateHeld && e.State != StateQueued) || !e.SentAt.IsZero() {
			return ErrSent
		}
		return nil
	})
}

// Drop erases an entry in any state but on its way.
func (o *Outbox) Drop(id string) error {
	_, err := o.remove(id, func(Entry) error { return nil })
	return err
}

// remove erases an entry that may accepts.
func (o *Outbox) remove(id string, may func(Entry) error) (Entry, error) {
	unlock, err := o.lock()
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	e, err := o.Show(id)
	if err != nil {
		return Entry{}, err
	}
	if e.State == StateSending && o.inFlight(e) {
		return Entry{}, fmt.Errorf("%s: %w", id, ErrSending)
	}
	if err := may(e); err != nil {
		return Entry{}, fmt.Errorf("%s: %w", id, err)
	}
	err = o.note(e, OutcomeDropped, nil)
	if err != nil && !e.SentAt.IsZero() { // A full disk must not prevent an undo of an unsent entry.
		return Entry{}, fmt.Errorf("record the outcome of %s: %w", id, err)
	}
	return e, o.erase(id)
}

// Requeue sends a refused or unsure entry again, because the agent decided so. An update overwrites only the values
// shown before.
func (o *Outbox) Requeue(id string) error { return o.requeue(id, nil) }

// Amend replaces a refused or unsure update by another change, after the agent has seen the changes from elsewhere.
func (o *Outbox) Amend(id string, as apiclient.Change) error { return o.requeue(id, &as) }

func (o *Outbox) requeue(id string, as *apiclient.Change) error {
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	e, err := o.Show(id)
	if err != nil {
		return err
	}
	if e.State != StateRejected && e.State != StateUnsure {
		return fmt.Errorf("%s: it is %s and is sent automatically", id, e.State)
	}
	if e.State == StateRejected {
		e.Revision, e.Fields = "", nil
	}
	if as != nil {
		e.Body, e.Seen, e.Revision, e.SentAt = as.Body, as.Seen, as.Revision, time.Time{}
	}
	e.NotBefore, e.Tries = time.Time{}, 0
	return o.move(dirQueued, e)
}

// Detach lets the entries that wait for a refused one be sent without it. The refused one stays.
func (o *Outbox) Detach(id string) error {
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	refused, err := o.Show(id)
	if err != nil {
		return err
	}
	if refused.State != StateRejected {
		return fmt.Errorf("%s: it is %s, not refused", id, refused.State)
	}
	entries, _, err := o.scan(dirQueued)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.After != id {
			continue
		}
		e.After = ""
		if err := writeSealed(o.path(dirQueued, e.ID), e); err != nil {
			return fmt.Errorf("send %s without %s: %w", e.ID, id, err)
		}
	}
	o.wake()
	return nil
}

// Release ends the hold of the entries that this process holds: they are due at once.
func (o *Outbox) Release() error {
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	entries, _, err := o.scan(dirQueued)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.State == StateHeld && e.Holder == o.process {
			e.NotBefore = time.Time{}
			if err := writeSealed(o.path(dirQueued, e.ID), e); err != nil {
				return fmt.Errorf("end the hold of %s: %w", e.ID, err)
			}
		}
	}
	o.wake()
	return nil
}

// nextSeq returns one more than the highest number ever used. A file has that number. Once a process, and if the file
// is unreadable, the names of the entries are checked, too, because the file is not flushed. It needs the folder lock.
func (o *Outbox) nextSeq() (uint64, error) {
	path := filepath.Join(o.dir, "sequence")
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read the outbox: %w", err)
	}
	last, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || !o.numbered {
		named, err := o.lastNamed()
		if err != nil {
			return 0, err
		}
		last = max(last, named)
	}
	last++
	// Not flushed: only the numbers of entries that are still there must not come again.
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n", last), 0o600); err != nil {
		return 0, fmt.Errorf("save the change: %w", err)
	}
	o.numbered = true
	return last, nil
}

// lastNamed returns the highest number in the names of the entries.
func (o *Outbox) lastNamed() (uint64, error) {
	var last uint64
	for _, folder := range precedence {
		files, err := os.ReadDir(filepath.Join(o.dir, folder))
		if err != nil {
			return 0, fmt.Errorf("read the outbox: %w", err)
		}
		for _, file := range files {
			number, _, _ := strings.Cut(file.Name(), "-")
			if seq, err := strconv.ParseUint(number, 10, 64); err == nil {
				last = max(last, seq)
			}
		}
	}
	return last, nil
}

// state returns the state of an entry, by its folder and the time.
func (o *Outbox) state(folder string, e Entry) State {
	switch folder {
	case dirSending:
		return StateSending
	case dirUnsure:
		return StateUnsure
	case dirRejected:
		return StateRejected
	default:
		if e.Tries == 0 && e.SentAt.IsZero() && e.waits(o.options.Now()) {
			return StateHeld
		}
		return StateQueued
	}
}

// Owns reports whether the outbox shows and sends the entries of a service and account.
func (o *Outbox) Owns(baseURL, account string) bool {
	return o.options.BaseURL == "" || (baseURL == o.options.BaseURL && account == o.options.Account)
}

// wake wakes a running sender of this process.
func (o *Outbox) wake() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}
