package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// accessFile returns the file beside that of the erasures in which it is noted what was taken from
// accounts and tokens of a PostgreSQL database. A restore of SQLite reads the replaced file instead.
func accessFile(erasures string) string { return strings.TrimSuffix(erasures, ".erasures") + ".access" }

// noteAccess notes what an account has now, or all of them, where a restore cannot look.
func (p *program) noteAccess(ctx context.Context, s *service.Service, of *apitype.UUID) error {
	database, err := p.databaseName()
	if err != nil || strings.HasPrefix(database, "sqlite:") {
		return err
	}
	erasures, err := p.erasuresFile()
	if err != nil {
		return err
	}
	changes, err := s.AccessChanges(ctx, of)
	if err != nil {
		return err
	}
	var lines []byte
	for _, change := range changes {
		line, err := json.Marshal(change)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	return appendLines(accessFile(erasures), lines)
}

// readAccess returns the last of what is noted of each account, and of each token; nothing where
// there is no file.
func readAccess(name string) (changes []service.AccessChange, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	last := make(map[apitype.UUID]int)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var change service.AccessChange
		if err := json.Unmarshal(lines.Bytes(), &change); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if change.Account == nil {
			changes = append(changes, change)
			continue
		}
		at, known := last[*change.Account]
		if !known {
			at = len(changes)
			last[*change.Account], changes = at, append(changes, change)
		}
		changes[at] = change
	}
	return changes, lines.Err()
}
