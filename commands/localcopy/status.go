package localcopy

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

	"fundesk/apiclient/apitype"
)

// Status describes the copy of a service and account.
type Status struct {
	File     string        `json:"file"`
	Bytes    int64         `json:"bytes"`    // Zero if there is no copy.
	SyncedAt *apitype.Time `json:"syncedAt"` // When a sync last came to its end. Nil if none did.
	Persons  int           `json:"persons"`
	Calls    int           `json:"calls"`
	Pledges  int           `json:"pledges"`
}

// StatusOf reads the status of a copy. It waits for no sync.
func StatusOf(ctx context.Context, path string) (s Status, err error) {
	s.File = path
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Bytes = info.Size()
	db, err := sql.Open("sqlite", name(path, "mode=ro&_pragma=busy_timeout(10000)"))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	isCurrent, err := newCopy(path, db, nil).isCurrent(ctx)
	if err != nil || !isCurrent { // The next sync reads everything again.
		return s, err
	}
	var synced sql.NullString
	err = db.QueryRowContext(ctx, `SELECT (SELECT max(at) FROM _synced), (SELECT count(*) FROM persons),
		(SELECT count(*) FROM calls), (SELECT count(*) FROM pledges)`).
		Scan(&synced, &s.Persons, &s.Calls, &s.Pledges)
	if err != nil || !synced.Valid {
		return s, err
	}
	at, err := apitype.ParseTime(synced.String)
	s.SyncedAt = &at
	return s, err
}
