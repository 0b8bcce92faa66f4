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
	lacking, err := lackingErasures(ctx, s, known)
	if err != nil {
		return err
	}
	if len(lacking) == 0 && missing == nil {
		return nil
	}
	return appendNotes(name, lacking...)
}

// lackingErasures returns the erasures of the database that are not known, the newest first.
func lackingErasures(ctx context.Context, s *service.Service, known map[apitype.UUID]bool) (lacking []service.ErasedPerson, err error) {
	part := service.Range{Limit: copiedAtOnce}
	for {
		var rows []service.ErasedPerson
		err := s.Read(ctx, service.ReadList, "read the erasures", func(r service.Reader) (err error) {
			rows, err = r.Erasures(service.Scope{All: true}, part)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if !known[row.UUID] {
				lacking = append(lacking, row)
			}
		}
		if len(rows) < copiedAtOnce {
			return lacking, nil
		}
		last := rows[len(rows)-1]
		part.Below = &service.Bound{Position: service.Position{At: last.ErasedAt, UUID: last.UUID}}
	}
}
