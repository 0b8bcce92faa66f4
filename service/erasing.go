package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
)

// An erasure of many calls blanks them in batches, each in a short transaction of its own. A setting
// names the person until all are blanked. Meanwhile every request blanks these calls as it reads them,
// so that the person is erased for all readers at once. What a crash cut short is continued at the next
// start, by the cleaning, and by a repeated request for the erasure.

// ErasingSetting begins the names of these settings, which end with the person's identifier.
const ErasingSetting = "erasing-"

// finishErasure blanks the calls of a person that were not yet. A caller that leaves does not end it.
func (s *Service) finishErasure(ctx context.Context, id apitype.UUID) error {
	ctx = withoutDeadline(context.WithoutCancel(ctx))
	kept, err := View(ctx, s, "read what is to be erased", func(r Reader) (kept Kept, err error) {
		erasing, err := r.Erasing()
		if err == nil && slices.Contains(erasing, id) {
			kept, err = r.Kept(id)
		}
		return kept, err
	})
	if err != nil || kept.ErasedAt == nil {
		return err
	}
	shared := func(change func(Tx) error) error {
		return s.Write(ctx, WriteShared, "erase the calls of the person", change)
	}
	err = inBatches(kept.Calls, keptBatch/mostErased, func(ids []apitype.UUID) error {
		begun := s.clock()
		err := shared(func(tx Tx) error { return eraseCalls(tx, ids, s.TimeOf(tx)) })
		return errors.Join(err, Pause(ctx, s.clock().Sub(begun))) // Others have the writer for as long.
	})
	if err != nil {
		return err
	}
	return shared(func(tx Tx) error {
		return errors.Join(tx.ForgetPerson(id, *kept.ErasedAt), tx.DeleteSetting(ErasingSetting+id.String()))
	})
}

// FinishErasures continues erasures that were cut short.
func (s *Service) FinishErasures(ctx context.Context) error {
	erasing, err := View(ctx, s, "read what is to be erased", Reader.Erasing)
	if err != nil {
		return err
	}
	return each(erasing, func(id apitype.UUID) error { return s.finishErasure(ctx, id) })
}

// coverFor returns what blanks the calls of persons whose erasure is not finished; nil: there is none.
func coverFor(ctx context.Context, r Reader) (cover, error) {
	if !RequestOf(ctx).Erasing {
		return nil, nil
	}
	erasing, err := r.Erasing()
	if len(erasing) == 0 {
		return nil, err
	}
	return mapped(erasing, func(id apitype.UUID) []byte { return []byte(`"personUuid":"` + id.String() + `"`) }), err
}

// covered is a read that sees these calls blanked.
func covered(ctx context.Context, read func(Reader) error) func(Reader) error {
	return func(r Reader) error {
		cover, err := coverFor(ctx, r)
		if cover != nil {
			r = coveringReader{r, cover}
		}
		return cmp.Or(err, read(r))
	}
}

// coveredChange is covered for a change: it finds these calls as if they were erased already.
func coveredChange(ctx context.Context, change func(Tx) error) func(Tx) error {
	return func(tx Tx) error {
		cover, err := coverFor(ctx, tx)
		if cover != nil {
			tx = coveringTx{tx, coveringReader{tx, cover}}
		}
		return cmp.Or(err, change(tx))
	}
}

// cover blanks calls of some persons.
type cover [][]byte

func (c cover) call(row *CallRow) error {
	if !slices.ContainsFunc(c, func(person []byte) bool { return bytes.Contains(row.Doc, person) }) {
		return nil
	}
	if len(row.Private) == 0 {
		row.Private = []byte(`{}`)
	}
	return row.Erase(row.UpdatedAt)
}

func (c cover) calls(rows []CallRow) (err error) {
	for i := range rows {
		err = errors.Join(err, c.call(&rows[i]))
	}
	return err
}

// coveringReader reads calls through a cover.
type coveringReader struct {
	Reader
	cover cover
}

// Call is the call as it will be.
func (r coveringReader) Call(id apitype.UUID, scope Scope) (CallRow, error) {
	row, err := r.Reader.Call(id, scope)
	if err == nil {
		err = r.cover.call(&row)
	}
	return row, err
}

func (r coveringReader) WholeCall(id apitype.UUID, scope Scope, w Weight) (*WholeCall, error) {
	whole, err := r.Reader.WholeCall(id, scope, w)
	if err != nil || whole == nil {
		return whole, err
	}
	if whole.Pledge != nil {
		err = r.cover.calls(whole.Pledge.Calls)
	}
	return whole, errors.Join(err, r.cover.call(&whole.CallRow))
}

func (r coveringReader) Calls(f CallFilter, part Range) ([]CallRow, error) {
	rows, err := r.Reader.Calls(f, part)
	return rows, errors.Join(err, r.cover.calls(rows))
}

// WholePledge has its calls likewise.
func (r coveringReader) WholePledge(id apitype.UUID, scope Scope, w Weight) (*WholePledge, error) {
	whole, err := r.Reader.WholePledge(id, scope, w)
	if whole != nil {
		err = errors.Join(err, r.cover.calls(whole.Calls))
	}
	return whole, err
}

type coveringTx struct {
	Tx
	covering coveringReader
}

// Call is the call as it will be.
func (t coveringTx) Call(id apitype.UUID, scope Scope) (CallRow, error) {
	return t.covering.Call(id, scope)
}

// What is erased is gone from answers when its transaction ends, and from the files of the database
// when they were cleaned after that. Until then a setting says so, which that transaction writes.

// UncleanSetting begins the names of these settings.
const UncleanSetting = "unclean-"

// What a setting is about, beside erasures of one person, which have the person's identifier.
const (
	uncleanRetention = UncleanSetting + "retention"
	uncleanReplay    = UncleanSetting + "replay"
)

// openErasure is an erasure after which the files were not cleaned yet.
type openErasure struct {
	Owner   apitype.UUID `json:"owner"` // Its accounts may ask for it again.
	Erasure Erasure      `json:"erasure"`
}

// settingOf reads a setting that holds JSON; nil: there is none.
func settingOf[T any](r Reader, name string) (*T, error) {
	text, err := r.Setting(name)
	if err != nil || text == "" {
		return nil, err
	}
	value := new(T)
	return value, json.Unmarshal([]byte(text), value)
}

func setJSON(tx Tx, name string, value any) error {
	text, err := json.Marshal(value)
	return errors.Join(err, tx.SetSetting(name, string(text)))
}

// Clean removes from the files what is left in them of everything that was erased. Tables that are in use
// are left to the next cleaning, and named.
func (s *Service) Clean(ctx context.Context) (Scrubbed, error) {
	done := Scrubbed{Rewritten: []string{}, Later: []string{}}
	if err := s.FinishErasures(ctx); err != nil {
		return done, err
	}
	waiting, err := s.store.Unclean(ctx)
	if err != nil || len(waiting) == 0 {
		return done, err
	}
	if done, err = s.store.Scrub(ctx); err != nil || len(done.Busy) > 0 {
		return done, err
	}
	return done, s.Write(ctx, WriteIsolated, "note that the files are clean", func(tx Tx) (err error) {
		for _, name := range waiting {
			err = errors.Join(err, tx.DeleteSetting(UncleanSetting+name))
		}
		return err
	})
}

// backupSetting holds when the last backup was made, in milliseconds.
const backupSetting = "backup_at"

// NoteBackup saves that a backup was made now.
func (s *Service) NoteBackup(ctx context.Context) error {
	return s.Write(ctx, WriteIsolated, "note the backup", func(tx Tx) error { return setJSON(tx, backupSetting, s.TimeOf(tx).UnixMilli()) })
}

// LastBackup returns when the last backup was made, zero where there was none.
func (s *Service) LastBackup(ctx context.Context) (at time.Time, err error) {
	return View(ctx, s, "read when the last backup was made", func(r Reader) (time.Time, error) {
		milliseconds, err := settingOf[int64](r, backupSetting)
		if milliseconds == nil {
			return time.Time{}, err
		}
		return time.UnixMilli(*milliseconds), err
	})
}
