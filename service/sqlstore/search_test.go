package sqlstore_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

var searches = flag.Int("searches", 500, "how many lists TestSearchModel asks each engine for")

// TestSearchModel searches parts of the list of persons, and compares them with a plain reading of all. The bounds are
// set so low that the list is merged, sorted and walked.
func TestSearchModel(t *testing.T) { //nolint:paralleltest // It sets the bounds of the package.
	servicetest.Slow(t)
	defer sqlstore.SetListBounds(12, 3)()
	for engine, database := range map[string]func(testing.TB) string{
		"SQLite":     servicetest.NewFile,
		"PostgreSQL": servicetest.PostgresDatabase,
	} {
		t.Run(engine, func(t *testing.T) {
			store := reopen(t, database(t))
			random := rand.New(rand.NewPCG(7, 11))
			organizations := []apitype.UUID{apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()}
			persons, payers := fillPersons(t, store, random, organizations)
			found := 0
			for i := range *searches {
				f := service.PersonFilter{Scope: service.Scope{All: true}}
				if n := random.IntN(3); n > 0 {
					f.Scope = service.Scope{Organizations: organizations[:n]}
				}
				if random.IntN(3) == 0 {
					f.CreatedAfter = new(apitype.TimeFromMilli(random.Int64N(60)))
				}
				if random.IntN(5) == 0 {
					f.UpdatedAfter = new(apitype.TimeFromMilli(random.Int64N(60)))
				}
				if random.IntN(9) == 0 {
					f.IBAN = "I1"
				}
				for range 1 + random.IntN(3) {
					var part []string
					for range 1 + random.IntN(2) {
						part = append(part, word(random)[:1+random.IntN(3)])
					}
					if random.IntN(3) == 0 {
						part = append(part, payerTerm(t, "ab1c"[random.IntN(4):][:1]))
					}
					f.Search = append(f.Search, part)
				}
				part := service.Range{Limit: 1 + random.IntN(12), Backward: random.IntN(2) == 0}
				for _, bound := range []**service.Bound{&part.Above, &part.Below} {
					if random.IntN(3) == 0 {
						p := persons[random.IntN(len(persons))]
						*bound = &service.Bound{
							Position:  service.Position{At: p.CreatedAt, UUID: p.UUID},
							Inclusive: random.IntN(2) == 0,
						}
					}
				}
				want := wantPersons(persons, payers, f, part)
				found += len(want)
				var got []apitype.UUID
				err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
					rows, err := r.Persons(f, part)
					for _, row := range rows {
						got = append(got, row.UUID)
					}
					return err
				})
				if diff := gocmp.Diff(want, got); diff != "" || err != nil {
					t.Fatalf("%d: %+v %+v: got %v: %s", i, f, part, err, diff)
				}
			}
			if found < *searches/2 {
				t.Errorf("got %d persons, want many", found)
			}
		})
	}
}

// word returns a term of few letters, so that many begin alike.
func word(random *rand.Rand) string {
	text := []byte("n")
	for range 2 + random.IntN(2) {
		text = append(text, "abc%_"[random.IntN(5)])
	}
	return string(text)
}

// payer is the IBAN of a payment, and the organizations of its pledge.
type payer struct {
	term          string
	organizations [2]apitype.UUID
}

func payerTerm(t *testing.T, iban string) string {
	t.Helper()
	term, err := service.PayerTerm(fmt.Appendf(nil, `{"iban":%q}`, iban))
	servicetest.Check(t, err)
	return term
}

// fillPersons makes persons, and a pledge with a payment for half of them.
func fillPersons(
	t *testing.T,
	store *sqlstore.Store,
	random *rand.Rand,
	organizations []apitype.UUID,
) ([]service.PersonRow, map[apitype.UUID]payer) {
	t.Helper()
	rows := service.Rows{}
	payers := map[apitype.UUID]payer{}
	persons := make([]service.PersonRow, 150)
	for i := range persons {
		p := service.PersonRow{
			UUID:      apitype.NewUUID(),
			Owner:     organizations[random.IntN(len(organizations))],
			CreatedAt: apitype.TimeFromMilli(random.Int64N(60)),
			UpdatedAt: apitype.TimeFromMilli(random.Int64N(60)),
			IBAN:      new(fmt.Sprint("I", random.IntN(2))),
			Doc:       []byte("{}"),
			Rev:       1,
		}
		for range random.IntN(5) {
			p.Terms = append(p.Terms, word(random))
		}
		p.Terms = append(p.Terms, service.IBANTerm(*p.IBAN))
		slices.Sort(p.Terms)
		p.Terms = slices.Compact(p.Terms)
		persons[i] = p
		if i%2 == 0 {
			continue
		}
		of := [2]apitype.UUID{organizations[random.IntN(3)], organizations[random.IntN(3)]}
		iban := "ab1"[random.IntN(3):]
		pledge := service.PledgeRow{
			UUID:       apitype.NewUUID(),
			Owner:      of[0],
			Recruiting: of[1],
			Person:     p.UUID,
			Status:     apitype.PledgeActive,
			CreatedAt:  p.CreatedAt,
			UpdatedAt:  p.UpdatedAt,
			Private:    []byte("{}"),
			Doc:        []byte("{}"),
		}
		rows.Pledges = append(rows.Pledges, pledge)
		rows.Transactions = append(rows.Transactions, service.TransactionRow{
			UUID:      apitype.NewUUID(),
			Pledge:    pledge.UUID,
			CreatedAt: p.CreatedAt,
			Doc: fmt.Appendf(nil, `{"iban":%q}`,
				strings.ToUpper(iban[:1])+[]string{" ", "\u00A0", "-", "."}[random.IntN(4)]+iban[1:]),
		})
		payers[p.UUID] = payer{payerTerm(t, iban), of}
	}
	rows.Persons = persons
	update(t, store, func(tx service.Tx) error {
		_, err := tx.InsertRows(rows)
		return err
	})
	return persons, payers
}

// wantPersons returns a part of the list by a plain reading.
func wantPersons(
	persons []service.PersonRow,
	payers map[apitype.UUID]payer,
	f service.PersonFilter,
	part service.Range,
) []apitype.UUID {
	less := func(a, b service.Position) int {
		if c := a.At.Compare(b.At.Time); c != 0 {
			return c
		}
		return a.UUID.Compare(b.UUID)
	}
	at := func(p service.PersonRow) service.Position { return service.Position{At: p.CreatedAt, UUID: p.UUID} }
	inside := func(p service.PersonRow, bound *service.Bound, sign int) bool {
		if bound == nil {
			return true
		}
		c := less(at(p), bound.Position) * sign
		return c > 0 || c == 0 && bound.Inclusive
	}
	matches := func(p service.PersonRow) bool {
		terms := p.Terms
		if paid := payers[p.UUID]; slices.ContainsFunc(paid.organizations[:], f.Scope.Contains) {
			terms = append(slices.Clone(terms), paid.term)
		}
		for _, wanted := range f.Search {
			if !slices.ContainsFunc(wanted, func(term string) bool {
				return slices.ContainsFunc(terms, func(text string) bool { return strings.HasPrefix(text, term) })
			}) {
				return false
			}
		}
		return true
	}
	sorted := slices.SortedFunc(slices.Values(persons), func(a, b service.PersonRow) int { return less(at(b), at(a)) })
	if part.Backward {
		slices.Reverse(sorted)
	}
	var want []apitype.UUID
	for _, p := range sorted {
		passes := f.Scope.Contains(p.Owner) && matches(p) && inside(p, part.Above, 1) && inside(p, part.Below, -1) &&
			(f.CreatedAfter == nil || p.CreatedAt.After(f.CreatedAfter.Time)) &&
			(f.UpdatedAfter == nil || p.UpdatedAt.After(f.UpdatedAfter.Time)) && (f.IBAN == "" || *p.IBAN == f.IBAN)
		if passes && len(want) < part.Limit {
			want = append(want, p.UUID)
		}
	}
	return want
}

// TestSearchIsKept loads a database, changes and erases persons, dumps and loads it: persons are found by what they
// are.
func TestSearchIsKept(t *testing.T) { eachEmpty(t, testSearchIsKept) }

func testSearchIsKept(t *testing.T, database string) {
	store := reopen(t, database)
	copied(t, filled(t, 60), store)
	var erased service.PersonRow
	update(t, store, func(tx service.Tx) error {
		persons, err := tx.Persons(service.PersonFilter{Scope: service.Scope{All: true}}, service.Range{Limit: 2})
		if err != nil {
			return err
		}
		erased = persons[0]
		changed, err := tx.Person(persons[1].UUID, service.Scope{All: true})
		if err != nil {
			return err
		}
		changed.Doc = []byte(strings.Replace(string(changed.Doc), `"lastName":"`, `"lastName":"Éénling`, 1))
		changed.CreatedAt = apitype.NewTime(changed.CreatedAt.Add(-time.Hour))
		changed.Terms, err = service.DecodedTerms(changed.Doc)
		return errors.Join(err, tx.UpdatePerson(changed), tx.ErasePerson(erased.UUID, now))
	})
	rows, err := store.SearchRows(t.Context())
	servicetest.Check(t, err)
	for _, term := range []string{"neenling", "r", "e", "a", "i", "t"} {
		if !slices.ContainsFunc(rows, func(line string) bool { return strings.HasPrefix(line, term) }) {
			t.Errorf("got no term that begins with %s", term)
		}
	}
	other := open(t)
	copied(t, store, other)
	loaded, err := other.SearchRows(t.Context())
	servicetest.Check(t, err)
	servicetest.Same(t, "a loaded dump", sortedTerms(rows), sortedTerms(loaded))
}

// sortedTerms joins lines of which each has its terms in order.
func sortedTerms(lines []string) string {
	var sorted []string
	for _, line := range lines {
		number, terms, _ := strings.Cut(line, " ")
		sorted = append(sorted, number+" "+strings.Join(slices.Sorted(slices.Values(strings.Fields(terms))), " "))
	}
	return strings.Join(sorted, "\n")
}
