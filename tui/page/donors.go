package page

import (
	"context"
	"maps"
	"sync"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// donors are the names of those who pledged: the list of pledges does not have them, each
// pledge by itself does. Each is read once.
type donors struct {
	mu    sync.Mutex
	names map[apitype.UUID]string // Cleaned, by pledge; "" where the account may not see it.
}

// readAtOnce is how many pledges are read beside each other.
const readAtOnce = 4

// of returns the name for a pledge; known is false until it is read.
func (d *donors) of(pledge apitype.UUID) (name string, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name, known = d.names[pledge]
	return name, known
}

// read reads the donors of pledges, and returns the first error. The names are known together:
// what is drawn does not change by itself.
func (d *donors) read(ctx context.Context, client *apiclient.Client, pledges []apitype.UUID) error {
	var group sync.WaitGroup
	var failed error
	var mu sync.Mutex
	read := map[apitype.UUID]string{}
	ids := make(chan apitype.UUID)
	for range min(readAtOnce, len(pledges)) {
		group.Go(func() {
			for id := range ids {
				pledge, err := apiclient.Decoded(client.Pledges.Get(ctx, id))
				mu.Lock()
				switch {
				case err == nil || apiclient.KindOf(err) == apiclient.KindNotFound:
					read[id] = Clean(render.PersonName(pledge.Person.Value()))
				case failed == nil:
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	for _, id := range pledges {
		ids <- id
	}
	close(ids)
	group.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.Copy(d.names, read)
	return failed
}

// missing returns the pledges whose donors are not known.
func (d *donors) missing(rows []Row) (ids []apitype.UUID) {
	for _, row := range rows {
		if _, known := d.of(row.ID); !known {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// readDonors reads the donors of pledges in sight.
func (l *List[T]) readDonors(ids []apitype.UUID) tea.Cmd {
	if len(ids) == 0 {
		return nil
	}
	return Load(l.Env, func(ctx context.Context) (any, error) { return nil, l.donors.read(ctx, l.Day.Client, ids) }, func(_ any, err error) tea.Cmd {
		l.Day.Changes.NoteConnection(err)
		l.arrange() // It may be by the donor.
		return nil  // What could not be read is asked for again with the next move.
	})
}
