package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// copiedAtOnce is how many erasures of the database are read at one time.
const copiedAtOnce = 1000

// copyErasures adds the erasures of the database that the file of this machine lacks: another machine, or another
// folder, has noted them. So each file outlives a restore. The file is made where there is none.
func (p *program) copyErasures(ctx context.Context, s *service.Service) error {
	name, err := p.erasuresFile()
	if err != nil {
		return err
	}
	_, missing := os.Stat(name)
	noted, _, err := readErasures(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := make(map[apitype.UUID]bool, len(noted))
	for _, person := range noted {
		known[person.UUID] = true
	}
	var lacking []service.ErasedPerson
	err = eachErasure(ctx, s, func(person service.ErasedPerson) {
		if !known[person.UUID] {
			lacking = append(lacking, person)
		}
	})
	if err != nil {
		return err
	}
	if len(lacking) == 0 && missing == nil {
		return nil
	}
	return appendNotes(name, lacking...)
}

// knownErasures returns the persons whose erasure the database has.
func knownErasures(ctx context.Context, s *service.Service) (map[apitype.UUID]bool, error) {
	known := map[apitype.UUID]bool{}
	err := eachErasure(ctx, s, func(person service.ErasedPerson) { known[person.UUID] = true })
	return known, err
}

// eachErasure hands over the erasures of the database, the newest first.
func eachErasure(ctx context.Context, s *service.Service, each func(service.ErasedPerson)) error {
	part := service.Range{Limit: copiedAtOnce}
	for {
		var rows []service.ErasedPerson
		err := s.Read(ctx, service.ReadList, "read the erasures", func(r service.Reader) (err error) {
			rows, err = r.Erasures(service.Scope{All: true}, part)
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			each(row)
		}
		if len(rows) < copiedAtOnce {
			return nil
		}
		last := rows[len(rows)-1]
		part.Below = &service.Bound{Position: service.Position{At: last.ErasedAt, UUID: last.UUID}}
	}
}
