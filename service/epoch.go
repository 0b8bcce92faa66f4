package service

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"fundesk/apiclient/apitype"
)

// A copy of the records belongs to an epoch. In another epoch it may hold records that are gone, or lack existing ones.

// epochSetting changes with a restore, a load, and a reset of the clock.
const epochSetting = "epoch"

// changeEpoch begins another epoch.
func changeEpoch(tx Tx) error { return tx.SetSetting(epochSetting, rand.Text()) }

// ChangeEpoch begins another epoch for restored records, and raises their revisions. Otherwise a new change could get
// the revision of a lost one, and a caller that read the lost one would overwrite the new one unnoticed.
func (s *Service) ChangeEpoch(ctx context.Context) error {
	return s.Write(ctx, WriteIsolated, "begin another epoch", func(tx Tx) error {
		return errors.Join(tx.RaiseRevisions(lostRevisions()), changeEpoch(tx))
	})
}

// lineageSetting names the database and the history of its server in which the records got their revisions.
const lineageSetting = "lineage"

// ChangeEpochIfRestored begins another epoch if the server put the database back to an earlier state: a dump that was
// restored, or a recovery to a point in time. It cannot know for a database in which it never ran.
func (s *Service) ChangeEpochIfRestored(ctx context.Context) (bool, error) {
	lineage := s.store.Lineage(ctx)
	if lineage == "" {
		return false, nil
	}
	var isRestored bool
	err := s.Write(ctx, WriteIsolated, "begin another epoch", func(tx Tx) error {
		before, err := tx.Setting(lineageSetting)
		isRestored = before != lineage
		if err != nil || !isRestored {
			return err
		}
		return errors.Join(
			tx.RaiseRevisions(lostRevisions()),
			changeEpoch(tx),
			tx.SetSetting(lineageSetting, lineage),
		)
	})
	return isRestored, err
}

// lostRevisions returns by how much revisions rise when records are put back: more than a record has changes that may
// be lost, and by another number each time, as a backup may be put back twice.
func lostRevisions() int64 {
	const lost = 1 << 20
	var random [4]byte
	_, _ = rand.Read(random[:]) // It always fills them.
	return lost + int64(binary.BigEndian.Uint32(random[:]))
}

// epochOf returns the epoch of what an account may read: of its database, its organizations and its permissions.
func epochOf(a Account) string {
	organizations := slices.SortedFunc(slices.Values(a.Scope.Organizations), apitype.UUID.Compare)
	sum := sha256.Sum256(
		fmt.Append(nil, a.Epoch, a.Scope.All, organizations, a.May(PersonsRead), a.May(CallsRead), a.May(PledgesRead)),
	)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// maxAhead is the largest lead of a database's highest time over the clock that causes no warning.
const maxAhead = 5 * 60 * 1000 // Milliseconds.

// TimesAhead returns how far the highest time of the database is ahead of its clock, and whether that is much.
func (s *Service) TimesAhead(ctx context.Context) (newest, now apitype.Time, isMuch bool, err error) {
	now, err = s.StoreTime(ctx)
	if err != nil {
		return newest, now, false, err
	}
	err = s.Read(ctx, ReadRecord, "read the highest time", func(r Reader) (err error) {
		newest, err = r.NewestChange()
		return err
	})
	return newest, now, newest.UnixMilli()-now.UnixMilli() > maxAhead, err
}

// ResetClock gives records that lie ahead the present time, begins another epoch, and returns how many there were.
func (s *Service) ResetClock(ctx context.Context) (int, error) {
	var changed int
	err := s.Write(ctx, WriteIsolated, "reset the clock", func(tx Tx) error {
		now := s.TimeOf(tx)
		changed = 0
		for _, reset := range []func(Tx, apitype.Time) (int, error){resetPersons, resetPledges, resetCalls} {
			n, err := reset(tx, now)
			if err != nil {
				return err
			}
			changed += n
		}
		if err := tx.ResetTimes(now); err != nil {
			return err
		}
		if err := changeEpoch(tx); err != nil {
			return err
		}
		return tx.Audit(AuditLine{At: now, Operation: AuditClockReset, Records: &changed})
	})
	return changed, err
}

func resetPersons(tx Tx, now apitype.Time) (int, error) {
	ids, err := tx.PersonsAhead(now)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		row, err := tx.Person(id, Scope{All: true})
		if err != nil {
			return 0, err
		}
		person, err := row.person()
		if err != nil {
			return 0, err
		}
		if person.CreatedAt.After(now.Time) {
			person.CreatedAt = now
		}
		if err := row.write(person); err != nil {
			return 0, err
		}
		row.UpdatedAt = now
		if err := tx.UpdatePerson(row); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

func resetPledges(tx Tx, now apitype.Time) (int, error) {
	ids, err := tx.PledgesAhead(now)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		row, err := tx.Pledge(id, Scope{All: true})
		if err != nil {
			return 0, err
		}
		var pledge apitype.Pledge
		if err := decode("pledge", row.Doc, &pledge); err != nil {
			return 0, err
		}
		pledge.UpdatedAt = now
		if err := row.write(pledge); err != nil {
			return 0, err
		}
		if err := tx.UpdatePledge(row); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

func resetCalls(tx Tx, now apitype.Time) (int, error) {
	ids, err := tx.CallsAhead(now)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		row, err := tx.Call(id, Scope{All: true})
		if err != nil {
			return 0, err
		}
		var call apitype.Call
		if err := decode("call", row.Doc, &call); err != nil {
			return 0, err
		}
		call.LastUpdatedAt = now
		if err := row.write(call); err != nil {
			return 0, err
		}
		if err := tx.UpdateCall(row, false); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
