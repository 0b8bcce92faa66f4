package privacy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// An erasure of many calls blanks them in batches, each in a short transaction of its own. A setting
// names the person until all are blanked. Meanwhile every request blanks these calls as it reads them,
// so that the person is erased for all readers at once. What a crash cut short is continued at the next
// start, by the cleaning, and by a repeated request for the erasure.

// finishErasure blanks the calls of a person that were not yet. A caller that leaves does not end it.
func (s *Service) finishErasure(ctx context.Context, id apitype.UUID) error {
	ctx = withoutDeadline(context.WithoutCancel(ctx))
	kept, err := service.View(ctx, s.rules, "read what is to be erased", func(r service.Reader) (kept service.Kept, err error) {
		erasing, err := r.Erasing()
		if err == nil && slices.Contains(erasing, id) {
			kept, err = r.Kept(id)
		}
		return kept, err
	})
	if err != nil || kept.ErasedAt == nil {
		return err
	}
	shared := func(change func(service.Tx) error) error {
		return s.rules.Write(ctx, service.WriteShared, "erase the calls of the person", change)
	}
	err = inBatches(kept.Calls, callSize, batchBytes/mostErased, func(ids []apitype.UUID) error {
		begun := time.Now()
		err := shared(func(tx service.Tx) error {
			now, err := s.rules.ChangeTime(tx)
			if err != nil {
				return err
			}
			return eraseCalls(tx, ids, now)
		})
		return errors.Join(err, service.Pause(ctx, time.Since(begun))) // Others have the writer for as long.
	})
	if err != nil {
		return err
	}
	return shared(func(tx service.Tx) error {
		return errors.Join(tx.ForgetPerson(id, *kept.ErasedAt), tx.DeleteSetting(service.ErasingSetting+id.String()))
	})
}

// FinishErasures continues erasures that were cut short.
func (s *Service) FinishErasures(ctx context.Context) error {
	erasing, err := service.View(ctx, s.rules, "read what is to be erased", service.Reader.Erasing)
	if err != nil {
		return err
	}
	return each(erasing, func(id apitype.UUID) error { return s.finishErasure(ctx, id) })
}

// What is erased is gone from answers when its transaction ends, and from the files of the database
// when they were cleaned after that. Until then a setting says so, which that transaction writes.

// Settings that are not about one person's erasure. Each holds when the last erasure of its kind was.
const (
	uncleanRetention = service.UncleanSetting + "retention"
	uncleanReplay    = service.UncleanSetting + "replay"
)

// openErasure is an erasure after which the files were not cleaned yet.
type openErasure struct {
	Owner   apitype.UUID `json:"owner"` // Its accounts may ask for it again.
	Erasure Erasure      `json:"erasure"`
}

// Clean removes from the files what is left in them of everything that was erased. Tables that are in use
// are left to the next cleaning, and named.
func (s *Service) Clean(ctx context.Context) (service.Scrubbed, error) {
	done := service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	waiting, err := s.rules.Store().Unclean(ctx) // First: what is erased from now on is the next cleaning's.
	if err = cmp.Or(err, s.FinishErasures(ctx)); err != nil || len(waiting) == 0 {
		return done, err
	}
	delete(waiting, uncleanTables)
	if done, err = s.rules.Store().Scrub(ctx); err != nil || len(done.Busy) > 0 {
		return done, err
	}
	return done, s.rules.Write(ctx, service.WriteIsolated, "note that the files are clean", func(tx service.Tx) error {
		return noteCleaned(tx, waiting, done.Left)
	})
}

// uncleanTables is the setting, below UncleanSetting, of what a cleaning could not clean.
const uncleanTables = "tables"

// leftUnclean is what a cleaning could not clean: the files of tables, and the erasures that they still hold.
type leftUnclean struct {
	Files    map[string]int64  `json:"files"`
	Erasures map[string]string `json:"erasures"` // With the values of their settings.
}

// noteCleaned notes the erasures of which nothing is left: all, unless tables could not be rewritten. Those of an
// earlier cleaning are, too, when each of these tables has another file since.
func noteCleaned(tx service.Tx, waiting map[string]string, left map[string]int64) error {
	before, err := settingOf[leftUnclean](tx, service.UncleanSetting+uncleanTables)
	if err != nil {
		return err
	}
	clean, still := waiting, map[string]string{}
	if len(left) > 0 {
		clean = map[string]string{}
		for name, value := range waiting {
			if before != nil && before.Erasures[name] == value && before.isRewritten(left) {
				clean[name] = value
			} else {
				still[name] = value
			}
		}
	}
	for name, was := range clean {
		value, err := tx.Setting(service.UncleanSetting + name)
		if err != nil {
			return err
		}
		if value != was { // More was erased meanwhile.
			continue
		}
		if err := tx.DeleteSetting(service.UncleanSetting + name); err != nil {
			return err
		}
	}
	if len(still) == 0 {
		return tx.DeleteSetting(service.UncleanSetting + uncleanTables)
	}
	return setJSON(tx, service.UncleanSetting+uncleanTables, leftUnclean{left, still})
}

// TablesLeft takes what a cleaning could not clean out of what waits for one, and returns the names of the tables.
func TablesLeft(waiting map[string]string) []string {
	var left leftUnclean
	_ = json.Unmarshal([]byte(waiting[uncleanTables]), &left) // Without it there are none.
	delete(waiting, uncleanTables)
	return slices.Sorted(maps.Keys(left.Files))
}

// isRewritten reports whether each table that is left has another file than at the earlier cleaning.
func (l leftUnclean) isRewritten(left map[string]int64) bool {
	for table, file := range left {
		if was, there := l.Files[table]; there && was == file {
			return false
		}
	}
	return true
}
