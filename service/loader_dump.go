package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"fundesk/apiclient/apitype"
)

// key stores the signing key of a dump. A database that has an account or a person keeps its own key, and refuses the
// dump of another database.
func (l *loader) key(k LoadedKey) error {
	used, err := l.tx.HasRecords()
	if err != nil {
		return err
	}
	l.keyed = true
	l.needsEnd = k.HasEnd
	seed, err := l.tx.SigningSeed()
	if err != nil {
		return err
	}
	isSame := bytes.Equal(seed, k.Seed)
	if used && !(l.skip && isSame) {
		return &Error{
			Kind:   Conflict,
			Detail: "a dump goes into an empty database; --skip-existing goes on with one that was interrupted",
		}
	}
	if used {
		l.goesOn = true
		l.changes, err = l.tx.CountChanges()
		return err
	}
	if isSame {
		return nil
	}
	if _, err := newKeys(k.Seed, l.now.Time); err != nil {
		return err
	}
	l.saved[LoadKey]++
	return l.tx.SetSigningSeed(k.Seed)
}

// row takes a row of a dump; when there are enough of a table they are saved.
func (l *loader) row(row LoadedRow) error {
	if !l.keyed {
		return &Error{Kind: Invalid, Detail: "rows of a dump come after its key"}
	}
	if err := l.otherBlocks(row); err != nil {
		return err
	}
	if row.isChange() {
		l.dumpedChanges++
	}
	if len(l.dumped) > 0 && (l.dumped[0].Table != row.Table || len(l.dumped) == loadBatch) {
		if err := l.saveDumped(); err != nil {
			return err
		}
	}
	l.dumped = append(l.dumped, row)
	return nil
}

// isChange reports whether a row is a line of the audit that is not about a load.
func (r LoadedRow) isChange() bool {
	return r.Table == "audit" && string(r.Values["operation"]) != `"`+string(AuditLoad)+`"`
}

// unchanged refuses to go on with a dump in a database that was changed since it has records of the dump. The load
// would bring back what was deleted since: the signature of an erased donor, a completed call in the queue. A dump of a
// later state is refused too, because the records that are there would stay as they are.
func (l *loader) unchanged() error {
	changes, err := l.tx.CountChanges()
	if err != nil {
		return err
	}
	isOfDump := l.changes == 0 || l.changes == changes
	if isOfDump && changes == l.dumpedChanges {
		return nil
	}
	return &Error{
		Kind: Conflict,
		Detail: "the database was changed since it has records of this dump, or the dump is of a later state: load " +
			"into an empty database",
	}
}

// otherBlocks refuses the key of a dump's blocked numbers if the database has blocked some under another key: only one
// key can be kept, and the blocks of the other would hold for no number.
func (l *loader) otherBlocks(row LoadedRow) error {
	var name, value string
	if row.Table != "settings" || json.Unmarshal(row.Values["name"], &name) != nil || name != BlockKeySetting {
		return nil
	}
	known, err := l.tx.Setting(BlockKeySetting)
	if err != nil || known == "" {
		return err
	}
	if json.Unmarshal(row.Values["value"], &value) == nil && value == known {
		return nil
	}
	return &Error{
		Kind: Conflict,
		Detail: "the database has blocked numbers of its own, and those of the dump would be lost: load into an " +
			"empty one",
	}
}

func (l *loader) saveDumped() error {
	if len(l.dumped) == 0 {
		return nil
	}
	table, rows := l.dumped[0].Table, mapped(
		l.dumped,
		func(row LoadedRow) map[string]json.RawMessage { return row.Values },
	)
	l.dumped = l.dumped[:0]
	saved, err := l.tx.InsertDumped(table, rows, l.skip)
	if saved > 0 {
		l.saved[KindOfTable(table)] += saved
	}
	if errors.Is(err, ErrExists) {
		err = &Error{Kind: Conflict, Detail: "a row of " + table + " already exists; --skip-existing passes over it"}
	}
	return err
}

// missing returns the records of a batch that are not stored yet, if stored ones are skipped.
func (l *loader) missing(batch []loading) ([]loading, error) {
	if !l.skip {
		return batch, nil
	}
	ids := map[*loadKind][]apitype.UUID{}
	for _, record := range batch {
		ids[record.kind] = append(ids[record.kind], record.id)
	}
	there := map[Taken]bool{}
	for kind, all := range ids {
		found, err := l.tx.ThereAlready(kind.table, all)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			there[Taken{kind.kind, id}] = true
		}
	}
	return slices.DeleteFunc(batch, func(r loading) bool { return there[r.row()] }), nil
}
