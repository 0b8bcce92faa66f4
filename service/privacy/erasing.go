package privacy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// An erasure of few calls is one transaction. An erasure of many calls begins with a transaction that stores a plan
// and takes the person out of the queue. Then the calls are blanked in batches, each in a short transaction. The last
// transaction blanks the rest and leaves a tombstone. Until then answers show the person without notes. After a crash
// any process continues the plan: at its start, each minute, with each cleaning, and with another request for the
// erasure.

// plan is an erasure that was begun. As JSON it is the value of a setting until the person is erased.
type plan struct {
	Line     service.AuditLine `json:"line"`               // Its time is the time of the last transaction.
	ErasedAt *apitype.Time     `json:"erasedAt,omitempty"` // Nil means the time of the last transaction.
	// The setting, below UncleanSetting, until the files are clean.
	Until string       `json:"until"`
	Open  *openErasure `json:"open,omitempty"` // Its value. Nil means the time of the last transaction.
}

// erasedFields are the fields of an audit line about an erasure.
const erasedFields = "person,calls,pledges,transactions,signatures"

// The most calls that a transaction blanks, so that other changes do not wait long for it.
const erasedAtOnce = 50

// unrecordedError is an erasure that could not be recorded outside the database.
type unrecordedError struct{ error }

func (e unrecordedError) Unwrap() error { return e.error }

func isUnrecorded(err error) bool {
	_, is := errors.AsType[unrecordedError](err)
	return is
}

// A recorder adds an erasure to the record.
type recorder func(service.ErasedPerson) error

// erasing runs the transaction that begins an erasure. If it is refused, what it recorded is taken back: a replay would
// erase a person whose erasure was never confirmed.
func (s *Service) erasing(ctx context.Context, what string, change func(tx service.Tx, record recorder) error) error {
	var added []service.ErasedPerson
	err := s.rules.Write(ctx, service.WriteShared, what, func(tx service.Tx) error {
		return change(tx, func(person service.ErasedPerson) error {
			added = append(added, person)
			return s.record.Add(person)
		})
	})
	if err == nil || len(added) == 0 {
		return err
	}
	left := s.takeBack(context.WithoutCancel(ctx), added)
	if left != nil {
		return fmt.Errorf("%w; the record of erasures still has it: %w", err, left)
	}
	return err
}

// takeBack removes refused erasures of one person from the record. It keeps them if the person is erased all the same:
// a commit may be kept later than its caller was told. What it cannot do now is left to FinishErasures.
func (s *Service) takeBack(ctx context.Context, added []service.ErasedPerson) error {
	id, left := added[0].UUID, added
	err := s.rules.Write(ctx, service.WriteShared, "take back a refused erasure", func(tx service.Tx) error {
		err := tx.ExcludeErasure(false) // After a commit that is still under way.
		if err != nil {
			return err
		}
		_, err = tx.Person(id, service.Scope{All: true})
		if errors.Is(err, service.ErrNoRow) {
			left = nil
			return nil
		}
		if err != nil {
			return err
		}
		p, err := settingOf[plan](tx, service.ErasingSetting+id.String())
		if err != nil {
			return err
		}
		if p != nil {
			left = nil
		}
		for len(left) > 0 { // The transaction may run again.
			err := s.record.TakeBack(left[0])
			if err != nil {
				return err
			}
			left = left[1:]
		}
		return nil
	})
	if len(left) == 0 { // Whatever became of the transaction, which only looks.
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, left...)
	return err
}

// takeBackLater takes back what could not be taken back before.
func (s *Service) takeBackLater(ctx context.Context) error {
	s.mu.Lock()
	refused := s.refused
	s.refused = nil
	s.mu.Unlock()
	return each(refused, func(person service.ErasedPerson) error {
		return s.takeBack(ctx, []service.ErasedPerson{person})
	})
}

// begin records the erasure outside the database, and then erases a person with few calls at once. Of a person with
// many it stores the plan. kept is locked.
func (s *Service) begin(tx service.Tx, record recorder, kept service.Kept, now apitype.Time, p plan) error {
	id := kept.Person.UUID
	if p.ErasedAt == nil { // Else a replay has it from the record.
		err := record(service.ErasedPerson{UUID: id, ErasedAt: now})
		if err != nil {
			return unrecordedError{err}
		}
	}
	if isSmall(kept.Calls) {
		return complete(tx, kept, kept.Calls, now, p)
	}
	err := tx.ForgetPerson(id, now)
	if err != nil {
		return err
	}
	return setJSON(tx, service.ErasingSetting+id.String(), p)
}

// isSmall reports whether one transaction may blank all these calls.
func isSmall(calls []service.CallRow) bool {
	size := 0
	for _, call := range calls {
		size += call.Bytes
	}
	return size <= batchBytes && len(calls) <= erasedAtOnce
}

// FinishErasures continues the erasures that were interrupted, and takes back refused ones from the record.
func (s *Service) FinishErasures(ctx context.Context) error {
	err := s.takeBackLater(ctx)
	if err != nil {
		return err
	}
	erasing, err := service.View(ctx, s.rules, "read what is to be erased", service.Reader.Erasing)
	if err != nil {
		return err
	}
	return each(erasing, func(id apitype.UUID) error { return s.finish(ctx, id) })
}

// finish carries out the plan for a person, if there is one. A caller that goes away does not end it.
func (s *Service) finish(ctx context.Context, id apitype.UUID) error {
	ctx = withoutDeadline(context.WithoutCancel(ctx))
	blanked := map[apitype.UUID]bool{}
	for {
		calls, hasPlan, err := s.callsToBlank(ctx, id, blanked)
		if err != nil || !hasPlan {
			return err
		}
		if !isSmall(calls) {
			err := s.blankCalls(ctx, id, calls, blanked)
			if err != nil {
				return err
			}
		}
		isDone, err := s.completePlan(ctx, id, blanked)
		if err != nil || isDone {
			return err
		}
	}
}

// callsToBlank returns whether there is a plan for a person, and the calls that this process has not blanked yet.
func (s *Service) callsToBlank(
	ctx context.Context,
	id apitype.UUID,
	blanked map[apitype.UUID]bool,
) (calls []service.CallRow, hasPlan bool, err error) {
	err = s.rules.Read(ctx, service.ReadSnapshot, "read what is to be erased", func(r service.Reader) error {
		p, err := settingOf[plan](r, service.ErasingSetting+id.String())
		if err != nil || p == nil {
			return err
		}
		hasPlan = true
		kept, err := r.Kept(id)
		if err != nil {
			return err
		}
		calls = unblanked(kept.Calls, blanked)
		return nil
	})
	return calls, hasPlan, err
}

func unblanked(calls []service.CallRow, blanked map[apitype.UUID]bool) []service.CallRow {
	return slices.DeleteFunc(slices.Clone(calls), func(c service.CallRow) bool { return blanked[c.UUID] })
}

// blankCalls blanks calls in batches. After each it pauses for as long as the batch took, so that other changes have
// the writer for half of the time.
func (s *Service) blankCalls(
	ctx context.Context,
	person apitype.UUID,
	calls []service.CallRow,
	blanked map[apitype.UUID]bool,
) error {
	return inBatches(calls, callSize, batchBytes/erasedAtOnce, func(ids []apitype.UUID) error {
		begun := time.Now()
		err := s.rules.Write(ctx, service.WriteShared, "erase the calls of the person", func(tx service.Tx) error {
			now, err := s.rules.ChangeTime(tx)
			if err != nil {
				return err
			}
			return eraseCalls(tx, ids, now, person)
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			blanked[id] = true
		}
		return service.Pause(ctx, time.Since(begun))
	})
}

// completePlan erases the rest of a person. If many calls came in between, it changes nothing and returns false.
func (s *Service) completePlan(
	ctx context.Context,
	id apitype.UUID,
	blanked map[apitype.UUID]bool,
) (bool, error) {
	var isDone bool
	err := s.rules.Write(ctx, service.WriteShared, "erase the person", func(tx service.Tx) error {
		isDone = false
		err := tx.ExcludeErasure(false)
		if err != nil {
			return err
		}
		kept, err := tx.LockPersonData(id)
		if errors.Is(err, service.ErrNoRow) {
			isDone = true
			return nil
		}
		if err != nil {
			return err
		}
		p, err := settingOf[plan](tx, service.ErasingSetting+id.String())
		if err != nil {
			return err
		}
		left := unblanked(kept.Calls, blanked)
		isDone = p == nil || isSmall(left)
		if p == nil || !isDone {
			return nil
		}
		now, err := s.rules.ChangeTime(tx)
		if err != nil {
			return err
		}
		return complete(tx, kept, left, now, *p)
	})
	return isDone, err
}

// complete blanks these calls, the pledges and the transactions of a person, and leaves a tombstone: from then on no
// answer shows anything of the person. Amounts, dates, codes and links stay, for the books.
func complete(tx service.Tx, kept service.Kept, calls []service.CallRow, now apitype.Time, p plan) error {
	id := kept.Person.UUID
	err := inBatches(calls, callSize, 0, func(ids []apitype.UUID) error { return eraseCalls(tx, ids, now, id) })
	if err != nil {
		return err
	}
	err = inBatches(kept.Pledges, pledgeSize, 0, func(ids []apitype.UUID) error {
		save := func(p service.PledgeRow) error {
			err := tx.RewritePledge(p)
			if err != nil {
				return err
			}
			return tx.Audit(service.BlankedPledge(p.UUID, id, now))
		}
		return rewrite(ids, tx.KeptPledges, func(p *service.PledgeRow) error { return p.Erase(now) }, save)
	})
	if err != nil {
		return err
	}
	err = inBatches(kept.Transactions, transactionSize, 0, func(ids []apitype.UUID) error {
		return rewrite(ids, tx.KeptTransactions, (*service.TransactionRow).Erase, tx.RewriteTransaction)
	})
	if err != nil {
		return err
	}
	erasedAt := now
	if p.ErasedAt != nil {
		erasedAt = *p.ErasedAt
	}
	err = tx.ErasePerson(id, erasedAt)
	if err != nil {
		return err
	}
	err = p.markUnclean(tx, now)
	if err != nil {
		return err
	}
	err = tx.DeleteSetting(service.ErasingSetting + id.String())
	if err != nil {
		return err
	}
	p.Line.At = now
	return tx.Audit(p.Line)
}

// markUnclean stores that the files hold erased bytes.
func (p plan) markUnclean(tx service.Tx, now apitype.Time) error {
	if p.Open == nil {
		return tx.SetSetting(service.UncleanSetting+p.Until, now.String())
	}
	open := *p.Open
	open.Erasure.ErasedAt = now
	return setJSON(tx, service.UncleanSetting+p.Until, open)
}

// eraseCalls blanks the calls among some that are not blanked yet.
func eraseCalls(tx service.Tx, ids []apitype.UUID, now apitype.Time, person apitype.UUID) error {
	rows, err := tx.KeptCalls(ids)
	if err != nil {
		return err
	}
	return each(rows, func(row service.CallRow) error {
		isChanged, err := row.Erase(now)
		if err != nil || !isChanged {
			return err
		}
		err = tx.RewriteCall(row)
		if err != nil {
			return err
		}
		return tx.Audit(service.BlankedCall(row.UUID, &person, now))
	})
}

// rewrite reads rows of a person, changes them and saves them.
func rewrite[T any](
	ids []apitype.UUID,
	read func([]apitype.UUID) ([]T, error),
	change func(*T) error,
	save func(T) error,
) error {
	rows, err := read(ids)
	if err != nil {
		return err
	}
	return each(rows, func(row T) error {
		err := change(&row)
		if err != nil {
			return err
		}
		return save(row)
	})
}

// Erased values leave answers with the end of their transaction, and the database's files with the next cleaning after
// it. Until then a setting, written by that transaction, has the erasure.

// Settings, below UncleanSetting, for several persons. Each holds the time of the last erasure of its kind.
const (
	retiredPersons  = "retention"
	replayedPersons = "replay"
)

// openErasure is an erasure after which the files were not cleaned yet.
type openErasure struct {
	Owner   apitype.UUID `json:"owner"` // Its accounts may ask for it again.
	Erasure Erasure      `json:"erasure"`
}

// Clean removes the bytes of all erased values from the files. It leaves tables in use to the next cleaning, and names
// them.
func (s *Service) Clean(ctx context.Context) (service.Scrubbed, error) {
	done := service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	waiting, err := s.rules.Store().Unclean(ctx) // First: later erasures belong to the next cleaning.
	err = cmp.Or(err, s.FinishErasures(ctx))
	if err != nil || len(waiting) == 0 {
		return done, err
	}
	delete(waiting, uncleanTables)
	done, err = s.rules.Store().Scrub(ctx)
	if err != nil || len(done.Busy) > 0 {
		return done, err
	}
	return done, s.rules.Write(ctx, service.WriteIsolated, "note that the files are clean", func(tx service.Tx) error {
		return noteCleaned(tx, waiting, done.Left)
	})
}

// uncleanTables is the setting, below UncleanSetting, of the tables that a cleaning could not clean.
const uncleanTables = "tables"

// leftUnclean has the tables that a cleaning could not rewrite, and the erasures whose bytes they still contain.
type leftUnclean struct {
	Files    map[string]int64  `json:"files"`
	Erasures map[string]string `json:"erasures"` // With the values of their settings.
}

// noteCleaned records the erasures whose bytes are gone: all of them, unless tables could not be rewritten. Erasures
// of an earlier cleaning are gone, too, when each of its tables has another file since.
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
		if value != was { // Another erasure was committed in between.
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

// TablesLeft removes the uncleaned tables from the pending erasures, and returns their names.
func TablesLeft(waiting map[string]string) []string {
	var left leftUnclean
	_ = json.Unmarshal([]byte(waiting[uncleanTables]), &left) // A missing setting means that there are none.
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
