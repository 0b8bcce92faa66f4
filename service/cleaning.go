package service

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"fundesk/apiclient/apitype"
)

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

// openErasureOf is that of a person; nil: there is none.
func openErasureOf(tx Reader, id apitype.UUID) (*openErasure, error) {
	text, err := tx.Setting(UncleanSetting + id.String())
	if err != nil || text == "" {
		return nil, err
	}
	open := &openErasure{}
	return open, json.Unmarshal([]byte(text), open)
}

// note says that the files are to be cleaned.
func (o openErasure) note(tx Tx) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return tx.SetSetting(UncleanSetting+o.Erasure.PersonUUID.String(), string(text))
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
	return done, s.update(ctx, "note that the files are clean", func(tx Tx) (err error) {
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
	return s.update(ctx, "note the backup", func(tx Tx) error {
		return tx.SetSetting(backupSetting, strconv.FormatInt(s.timeOf(tx).UnixMilli(), 10))
	})
}

// LastBackup returns when the last backup was made, zero where there was none.
func (s *Service) LastBackup(ctx context.Context) (at time.Time, err error) {
	return viewed(ctx, s, "read when the last backup was made", func(r Reader) (time.Time, error) {
		text, err := r.Setting(backupSetting)
		if err != nil || text == "" {
			return time.Time{}, err
		}
		milliseconds, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMilli(milliseconds), err
	})
}
