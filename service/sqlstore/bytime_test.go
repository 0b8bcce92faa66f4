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

// TestByTimeModel asks parts of a list of calls with a filter by the time of their update, and
// compares them with a plain reading of all. The bounds are set so low that every way is gone.
func TestByTimeModel(t *testing.T) { //nolint:paralleltest // It sets the bounds of the package.
	servicetest.Slow(t)
	defer sqlstore.SetListBounds(12, 9)()
	for engine, database := range map[string]func(testing.TB) string{
		"SQLite":     servicetest.NewFile,
		"PostgreSQL": servicetest.PostgresDatabase,
	} {
		t.Run(engine, func(t *testing.T) {
			store := reopen(t, database(t))
			random := rand.New(rand.NewPCG(3, 5))
			organizations, calls := fillCalls(t, store, random, 160)
			for i := range 300 {
				f := service.CallFilter{Scope: service.Scope{All: true}}
				part := service.Range{Limit: 1 + random.IntN(12), Backward: random.IntN(2) == 0}
				if n := random.IntN(3); n > 0 {
					f.Scope = service.Scope{Organizations: organizations[:n]}
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
						*bound = &service.Bound{
							Position:  service.Position{At: c.RequestedAt, UUID: c.UUID},
							Inclusive: random.IntN(2) == 0,
						}
					}
				}
				want := wantCalls(calls, f, part)
				var got []apitype.UUID
				view(t, store, func(r service.Reader) error {
					rows, err := r.Calls(f, part)
					for _, row := range rows {
						got = append(got, row.UUID)
					}
					return err
				})
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("%d: %+v %+v: %s", i, f, part, diff)
				}
			}
		})
	}
}

// wantCalls returns a part of the list by a plain reading.
func wantCalls(calls []service.CallRow, f service.CallFilter, part service.Range) []apitype.UUID {
	compare := func(c service.CallRow, b service.Position) int {
		return cmp.Or(c.RequestedAt.Compare(b.At.Time), c.UUID.Compare(b.UUID))
	}
	isBeyond := func(c service.CallRow, bound *service.Bound, sign int) bool {
		if bound == nil {
			return false
		}
		order := compare(c, bound.Position) * sign
		return order < 0 || order == 0 && !bound.Inclusive
	}
	passed := slices.DeleteFunc(slices.Clone(calls), func(c service.CallRow) bool {
		return !passes(c, f) || isBeyond(c, part.Above, 1) || isBeyond(c, part.Below, -1)
	})
	slices.SortFunc(passed, func(a, b service.CallRow) int {
		order := compare(b, service.Position{At: a.RequestedAt, UUID: a.UUID})
		if part.Backward {
			return -order
		}
		return order
	})
	var want []apitype.UUID
	for _, c := range passed[:min(len(passed), part.Limit)] {
		want = append(want, c.UUID)
	}
	return want
}

// fillCalls makes calls of three organizations: a third was never updated, a third lately.
func fillCalls(t *testing.T, store *sqlstore.Store, random *rand.Rand, n int) ([]apitype.UUID, []service.CallRow) {
	t.Helper()
	var organizations []apitype.UUID
	var calls []service.CallRow
	update(t, store, func(tx service.Tx) error {
		organizations, calls = nil, nil
		persons := make([]apitype.UUID, 3)
		for i := range persons {
			organizations, persons[i] = append(organizations, apitype.NewUUID()), apitype.NewUUID()
			person := personRow(persons[i], organizations[i])
			err := errors.Join(tx.InsertOrganization(namedA(organizations[i])), tx.InsertPerson(person, nil))
			if err != nil {
				return err
			}
		}
		for range n {
			owner := random.IntN(3)
			row := service.CallRow{
				UUID:        apitype.NewUUID(),
				Owner:       organizations[owner],
				Person:      persons[owner],
				Status:      apitype.CallRequested,
				Doc:         []byte(`{}`),
				Private:     []byte(`{}`),
				RequestedAt: apitype.TimeFromMilli(random.Int64N(60)),
				UpdatedAt:   apitype.TimeFromMilli(random.Int64N(3) * random.Int64N(90)),
			}
			if random.IntN(2) == 0 {
				row.ExternalStatus = new("S")
			}
			if err := tx.InsertCall(row); err != nil {
				return err
			}
			calls = append(calls, row)
		}
		return nil
	})
	return organizations, calls
}

// namedA returns an organization.
func namedA(id apitype.UUID) service.Organization {
	var o service.Organization
	o.UUID, o.Name, o.Abbreviation = id, "A", "A"
	return o
}
