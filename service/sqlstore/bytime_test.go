package sqlstore_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// listed holds the parameters of a list.
type listed struct {
	owner       int
	at, updated int64
	id          apitype.UUID
	external    string
}

// TestByTimeModel asks parts of a list of calls with a filter by the time of their update, and
// compares them with a plain reading of all. The bounds are set so low that every way is gone.
func TestByTimeModel(t *testing.T) { //nolint:paralleltest // It sets the bounds of the package.
	servicetest.Slow(t)
	defer sqlstore.SetListBounds(12, 9)()
	for engine, database := range map[string]func(testing.TB) string{"SQLite": servicetest.NewFile, "PostgreSQL": servicetest.PostgresDatabase} {
		t.Run(engine, func(t *testing.T) {
			store := reopen(t, database(t))
			random := rand.New(rand.NewPCG(3, 5))
			organizations, calls := fillCalls(t, store, random, 160)
			for i := range 300 {
				f, part := service.CallFilter{Scope: service.Scope{All: true}}, service.Range{Limit: 1 + random.IntN(12), Backward: random.IntN(2) == 0}
				var owners []int
				for n := range random.IntN(3) {
					owners = append(owners, n)
				}
				if len(owners) > 0 {
					f.Scope = service.Scope{}
					for _, n := range owners {
						f.Scope.Organizations = append(f.Scope.Organizations, organizations[n])
					}
				}
				after := apitype.TimeFromMilli(random.Int64N(170))
				f.UpdatedAfter = &after
				if random.IntN(3) == 0 {
					from, until := apitype.TimeFromMilli(random.Int64N(60)), apitype.TimeFromMilli(random.Int64N(60))
					f.RequestedFrom, f.RequestedUntil = &from, &until
				}
				if random.IntN(3) == 0 {
					f.ExternalStatus = "S"
				}
				for _, bound := range []**service.Bound{&part.Above, &part.Below} {
					if random.IntN(3) == 0 {
						c := calls[random.IntN(len(calls))]
						*bound = &service.Bound{Position: service.Position{At: apitype.TimeFromMilli(c.at), UUID: c.id}, Inclusive: random.IntN(2) == 0}
					}
				}
				want := wantCalls(calls, owners, f, part)
				var got []apitype.UUID
				err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
					rows, err := r.Calls(f, part)
					for _, row := range rows {
						got = append(got, row.UUID)
					}
					return err
				})
				if diff := gocmp.Diff(want, got); diff != "" || err != nil {
					t.Fatalf("%d: %+v %+v: got %v: %s", i, f, part, err, diff)
				}
			}
		})
	}
}

// wantCalls returns a part of the list by a plain reading.
func wantCalls(calls []listed, owners []int, f service.CallFilter, part service.Range) (want []apitype.UUID) {
	compare := func(c listed, b service.Bound) int {
		return cmp.Or(cmp.Compare(c.at, b.At.UnixMilli()), c.id.Compare(b.UUID))
	}
	var passed []listed
	for _, c := range calls {
		switch {
		case len(owners) > 0 && !slices.Contains(owners, c.owner):
		case c.updated <= f.UpdatedAfter.UnixMilli():
		case f.RequestedFrom != nil && (c.at < f.RequestedFrom.UnixMilli() || c.at > f.RequestedUntil.UnixMilli()):
		case f.ExternalStatus != "" && c.external != f.ExternalStatus:
		case part.Above != nil && (compare(c, *part.Above) < 0 || compare(c, *part.Above) == 0 && !part.Above.Inclusive):
		case part.Below != nil && (compare(c, *part.Below) > 0 || compare(c, *part.Below) == 0 && !part.Below.Inclusive):
		default:
			passed = append(passed, c)
		}
	}
	slices.SortFunc(passed, func(a, b listed) int {
		order := cmp.Or(cmp.Compare(b.at, a.at), b.id.Compare(a.id))
		if part.Backward {
			return -order
		}
		return order
	})
	for _, c := range passed[:min(len(passed), part.Limit)] {
		want = append(want, c.id)
	}
	return want
}

// fillCalls makes calls of three organizations: a third was never updated, a third lately.
func fillCalls(t *testing.T, store *sqlstore.Store, random *rand.Rand, n int) (organizations []apitype.UUID, calls []listed) {
	t.Helper()
	update(t, store, func(tx service.Tx) error {
		organizations, calls = nil, nil
		persons := make([]apitype.UUID, 3)
		for i := range persons {
			organizations, persons[i] = append(organizations, apitype.NewUUID()), apitype.NewUUID()
			person := personRow(persons[i], organizations[i])
			if err := errors.Join(tx.InsertOrganization(namedA(organizations[i])), tx.InsertPerson(person, nil)); err != nil {
				return err
			}
		}
		for range n {
			c := listed{owner: random.IntN(3), at: random.Int64N(60), updated: random.Int64N(3) * random.Int64N(90), id: apitype.NewUUID()}
			row := service.CallRow{
				UUID: c.id, Owner: organizations[c.owner], Person: persons[c.owner], Status: apitype.CallRequested, Doc: []byte(`{}`), Private: []byte(`{}`),
				RequestedAt: apitype.TimeFromMilli(c.at), UpdatedAt: apitype.TimeFromMilli(c.updated),
			}
			if random.IntN(2) == 0 {
				c.external, row.ExternalStatus = "S", new("S")
			}
			if err := tx.InsertCall(row); err != nil {
				return err
			}
			calls = append(calls, c)
		}
		return nil
	})
	return organizations, calls
}

// namedA returns an organization.
func namedA(id apitype.UUID) (o service.Organization) {
	o.UUID, o.Name, o.Abbreviation = id, "A", "A"
	return o
}
