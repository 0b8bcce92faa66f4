package service

import (
	"context"
	"encoding/json"
	"errors"

	"fundesk/apiclient/apitype"
)

// What is erased is gone from answers when its transaction ends, and from the files of the database
// when they were cleaned after that. Until then a setting says so, which that transaction writes:
// after a failure, or a kill in between, whoever runs the same again has them cleaned of everything.

// UncleanSetting begins the names of these settings.
const UncleanSetting = "unclean-"

// What a setting is about, beside erasures of one person, which have the person's identifier.
const (
	uncleanRetention = UncleanSetting + "retention"
	uncleanReplay    = UncleanSetting + "replay"
)

// openErasure is an erasure after which the files were not cleaned yet.
type openErasure struct {
	Owner   apitype.UUID `json:"owner"` // Who may ask for it again, as who asked first.
	Erasure Erasure      `json:"erasure"`
}

// openErasureOf is that of a person; nil: there is none.
func openErasureOf(tx Tx, id apitype.UUID) (*openErasure, error) {
	text, err := tx.Setting(UncleanSetting + id.String())
	if errors.Is(err, ErrNoRow) {
		return nil, nil //nolint:nilnil // None is the ordinary case.
	}
	if err != nil {
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

// isUnclean reports whether a setting says that files were not cleaned.
func (s *Service) isUnclean(ctx context.Context, setting string) (unclean bool, err error) {
	err = s.view(ctx, "read the settings", func(r Reader) error {
		_, err := r.Setting(setting)
		if unclean = err == nil; errors.Is(err, ErrNoRow) {
			err = nil
		}
		return err
	})
	return unclean, err
}

// Clean removes from the files what is left in them of everything that was erased. Tables that are in use
// are left to the next cleaning, and named.
func (s *Service) Clean(ctx context.Context) (Scrubbed, error) {
	done := Scrubbed{Rewritten: []string{}, Later: []string{}}
	waiting, err := s.store.Unclean(ctx)
	if err != nil || len(waiting) == 0 {
		return done, err
	}
	if done, err = s.store.Scrub(ctx, nil, false); err != nil || len(done.Busy) > 0 {
		return done, err
	}
	return done, s.update(ctx, "note that the files are clean", func(tx Tx) (err error) {
		for _, name := range waiting {
			err = errors.Join(err, tx.DeleteSetting(UncleanSetting+name))
		}
		return err
	})
}

// clean takes from the files what is left in them of erased values, nil: of any, and then the
// setting that said so, unless some of it is left to Clean: no erasure waits for a table. It is not given
// up where the caller goes away.
func (s *Service) clean(ctx context.Context, setting string, traces [][]byte) (Scrubbed, error) {
	ctx = context.WithoutCancel(ctx)
	done, err := s.store.Scrub(ctx, traces, true)
	if err == nil && len(done.Busy) > 0 {
		return done, nil
	}
	if err != nil {
		return done, &Error{
			Kind: Unavailable, Cause: err,
			Detail: "it is erased, but the files of the database could not be cleaned of what they held; ask for the same again, and they are cleaned of everything",
		}
	}
	return done, s.update(ctx, "note that the files are clean", func(tx Tx) error { return tx.DeleteSetting(setting) })
}
