package outbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
)

// Ending is the end of an entry: accepted, refused or dropped. It stays on disk for a day, so that every process finds
// out, whichever of them sent or dropped the entry.
type Ending struct {
	ID      string         `json:"id"`
	Op      string         `json:"op"`
	UUID    apitype.UUID   `json:"uuid"`
	Outcome Outcome        `json:"outcome"`
	WasSent bool           `json:"wasSent,omitzero"` // It may have reached the service.
	Kind    apiclient.Kind `json:"kind,omitzero"`    // Of a refusal, with its status.
	Status  int            `json:"status,omitzero"`
	At      time.Time      `json:"at"`
	By      string         `json:"by"` // The process.
	BaseURL string         `json:"baseUrl"`
	Account string         `json:"account"`
	Attempt []byte         `json:"attempt,omitzero"` // The body of an attempt.
}

// keptFor is the time for which endings stay on disk.
const keptFor = 24 * time.Hour

// note adds the end of an entry to the endings of the day. It does not flush: after a power cut the end may be
// unknown. It needs the folder lock.
func (o *Outbox) note(e Entry, outcome Outcome, why error) error {
	ending := Ending{
		ID:      e.ID,
		Op:      e.Op,
		UUID:    e.UUID,
		Outcome: outcome,
		WasSent: !e.SentAt.IsZero(),
		At:      o.options.Now().UTC(),
		By:      o.process,
		BaseURL: e.BaseURL,
		Account: e.Account,
	}
	if failure, ok := errors.AsType[*apiclient.Error](why); ok {
		ending.Kind, ending.Status = failure.Kind, failure.Status
	}
	if e.Op == apiclient.OpAddAttempt {
		ending.Attempt = e.Body
	}
	line, err := json.Marshal(ending)
	if err != nil {
		return err
	}
	path := filepath.Join(o.dir, dirEndings, ending.At.Format(time.DateOnly))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// The line before may have been cut off.
	return errors.Join(durable.Append(file, append(append([]byte("\n"), line...), '\n')), file.Close())
}

// Endings returns the ends of this account's entries within the last day, in order.
func (o *Outbox) Endings() ([]Ending, error) { return (&follower{box: o}).read() }

// Ending returns the end of an entry. found is false if it is unknown.
func (o *Outbox) Ending(id string) (last Ending, found bool, err error) {
	endings, err := o.Endings()
	for _, ending := range endings {
		if ending.ID == id {
			last, found = ending, true
		}
	}
	return last, found, err
}

// claimed returns the accepted attempts of other entries at the call of an entry.
func (o *Outbox) claimed(e Entry) []json.RawMessage {
	if e.Op != apiclient.OpAddAttempt {
		return nil
	}
	endings, _ := o.Endings() // Without them an attempt is recognised by its time alone.
	var bodies []json.RawMessage
	for _, ending := range endings {
		isOther := ending.ID != e.ID && ending.Op == e.Op && ending.UUID == e.UUID
		if isOther && ending.Outcome == OutcomeAccepted {
			bodies = append(bodies, ending.Attempt)
		}
	}
	return bodies
}

// follower reads endings as they are added.
type follower struct {
	box  *Outbox
	upTo map[string]int64 // How far each file was read.
}

// read returns the endings since the last reading.
func (f *follower) read() ([]Ending, error) {
	folder := filepath.Join(f.box.dir, dirEndings)
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f.upTo == nil {
		f.upTo = map[string]int64{}
	}
	oldest := f.box.options.Now().Add(-keptFor)
	var endings []Ending
	for _, day := range files {
		text, err := readFrom(filepath.Join(folder, day.Name()), f.upTo[day.Name()])
		if err != nil {
			return nil, err
		}
		whole := text[:bytes.LastIndexByte(text, '\n')+1]
		f.upTo[day.Name()] += int64(len(whole))
		for line := range bytes.Lines(whole) {
			var ending Ending
			if json.Unmarshal(line, &ending) == nil && ending.At.After(oldest) &&
				f.box.Owns(ending.BaseURL, ending.Account) {
				endings = append(endings, ending)
			}
		}
	}
	return endings, nil
}

// readFrom reads a file from an offset on. A missing one is empty.
func readFrom(path string, offset int64) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

// eventOf returns the event of an ending, with the entry of a refusal while that exists.
func (o *Outbox) eventOf(ending Ending) Event {
	event := Event{
		Entry:     Entry{ID: ending.ID, Change: apiclient.Change{Op: ending.Op, UUID: ending.UUID}},
		Outcome:   ending.Outcome,
		IsForeign: true,
	}
	if ending.WasSent {
		event.Entry.SentAt = ending.At
	}
	if ending.Outcome == OutcomeRejected {
		event.Entry.LastError = "it was refused"
		if e, err := o.Show(ending.ID); err == nil { // Else it was dropped since.
			event.Entry = e
		}
		why := strings.TrimPrefix(event.Entry.LastError, strconv.Itoa(ending.Status)+" ")
		event.Err = &apiclient.Error{Kind: ending.Kind, Status: ending.Status, Message: why}
	}
	return event
}

// End returns the end of an entry, which another process may have caused. isOver is false while a process sends it.
// The error of an entry that is gone without a trace is ErrNotFound.
func (o *Outbox) End(id string) (event Event, isOver bool) {
	// The entry is looked for once more after the ending: one may be added in between.
	for range 2 {
		e, err := o.Show(id)
		if err == nil && e.State != StateRejected {
			event = Event{Entry: e, Outcome: OutcomeWaiting, IsForeign: true}
			if e.LastError != "" {
				event.Err = errors.New(e.LastError)
			}
			return event, !(e.State == StateSending && o.inFlight(e))
		}
		ending, found, err := o.Ending(id)
		if found {
			return o.eventOf(ending), true
		}
		event = Event{
			Entry:     Entry{ID: id},
			Outcome:   OutcomeUnsure,
			Err:       errors.Join(err, ErrNotFound),
			IsForeign: true,
		}
	}
	return event, true
}
