package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// listed returns a world with persons at few distinct times.
func listed(t *testing.T, n int) (w *servicetest.Harness, token string, order []string) {
	t.Helper()
	w = servicetest.New(t)
	token = w.Token()
	organization := w.Organization("A")
	random := rand.New(rand.NewPCG(3, 4))
	var places []service.Position
	var all []any
	for range n {
		p := servicetest.NewPerson(
			organization,
			apitype.NewTime(servicetest.Start.Add(time.Duration(random.IntN(3))*time.Millisecond)),
		)
		all = append(all, p)
		places = append(places, service.Position{At: p.CreatedAt, UUID: p.UUID})
	}
	w.LoadAll(all...)
	slices.SortFunc(places, func(a, b service.Position) int {
		if c := b.At.Compare(a.At.Time); c != 0 {
			return c
		}
		return b.UUID.Compare(a.UUID)
	})
	for _, place := range places {
		order = append(order, place.UUID.String())
	}
	return w, token, order
}

// expected returns the page that a request should get, by counting in the whole list.
// Positions are indexes; after is -1 and before is n when not given.
func expected(n, after, before, size int, backward bool) (from, to int, previous, next bool) {
	if after >= before {
		return 0, 0, false, false
	}
	start, end := after+1, before
	from, to = start, min(end, start+size)
	if backward {
		from, to = max(start, end-size), end
	}
	if from == to { // The flags speak of the place that was asked for.
		place := start
		if backward {
			place = end
		}
		return from, from, place > 0, place < n
	}
	return from, to, from > 0, to < n
}

// TestLoneBefore shows which records come with a lone before: the 50 next to it. Spec gap: S1.
// Promise S1: a lone `before` counts from the end of its range.
func TestLoneBefore(t *testing.T) {
	t.Parallel()
	w, token, order := listed(t, 60)
	edges := page(t, w.Do(token, "GET", "/api/v1/persons?first=56", "")).Edges
	got := page(t, w.Do(token, "GET", "/api/v1/persons?before="+url.QueryEscape(edges[55].Cursor), "")).ids()
	if !slices.Equal(got, order[5:55]) {
		t.Errorf("got %d records from %v, want those from the sixth to the 55th", len(got), got[:1])
	}
}

// TestPages asks for every page there is, and compares it with counting. Spec gaps: L2,
// L3.
// Promise S2: cursors at the same place are crossed.
func TestPages(t *testing.T) {
	t.Parallel()
	const n = 7
	w, token, order := listed(t, n)
	w.Serve(w.Service) // A thousand pages that are alike.
	cursors := make([]string, n)
	for i, edge := range page(t, w.Do(token, "GET", "/api/v1/persons", "")).Edges {
		cursors[i] = edge.Cursor
	}
	for after := -1; after < n; after++ {
		for before := 0; before <= n; before++ {
			for size := 0; size <= n+1; size++ {
				for _, from := range []string{"first", "last"} {
					q, backward := url.Values{}, from == "last"
					if after >= 0 {
						q.Set("after", cursors[after])
					}
					if before < n {
						q.Set("before", cursors[before])
					}
					q.Set(from, strconv.Itoa(size))
					got := page(t, w.Do(token, "GET", "/api/v1/persons?"+q.Encode(), ""))
					ids := got.ids()
					from, to, previous, next := expected(n, after, before, size, backward)
					want := apitype.PageInfo{HasPreviousPage: previous, HasNextPage: next}
					if from < to {
						want.StartCursor, want.EndCursor = &cursors[from], &cursors[to-1]
					}
					name := fmt.Sprintf("after %d before %d size %d backward %v", after, before, size, backward)
					servicetest.Same(t, name, want, got.PageInfo)
					if !slices.Equal(ids, order[from:to]) {
						t.Errorf("%s: got %v, want %v", name, ids, order[from:to])
					}
				}
			}
		}
	}
}

// TestWalkWhileInserting walks forward and backward while records arrive as fast as they
// are taken, hundreds a second: what was there at the start comes once in each
// direction, and forward is backward reversed.
func TestWalkWhileInserting(t *testing.T) {
	t.Parallel()
	w, token, order := listed(t, 120)
	organization := page(t,
		w.Do(token, "GET", "/api/v1/persons?first=1", "")).Edges[0].Node["owningOrganization"].(map[string]any)["uuid"]
	body := fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, organization, organization)
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				w.Clock.Advance(time.Millisecond)
				w.Do(token, "POST", "/api/v1/persons", body)
			}
		}
	})
	known := map[string]bool{}
	for _, id := range order {
		known[id] = true
	}
	for _, direction := range []struct{ count, cursor string }{{"first", "after"}, {"last", "before"}} {
		var seen []string
		left := len(order)
		path := "/api/v1/persons?" + direction.count + "=7"
		for query := path; query != ""; {
			got := page(t, w.Do(token, "GET", query, ""))
			query = ""
			if direction.count == "first" {
				for _, edge := range got.Edges {
					seen = append(seen, edge.Node["uuid"].(string))
				}
				if got.PageInfo.HasNextPage {
					query = path + "&after=" + *got.PageInfo.EndCursor
				}
				continue
			}
			for _, edge := range slices.Backward(got.Edges) {
				seen = append(seen, edge.Node["uuid"].(string))
				if known[seen[len(seen)-1]] {
					left--
				}
			}
			// Going back, the new ones never end: stop behind the old ones.
			if got.PageInfo.HasPreviousPage && left > 0 {
				query = path + "&before=" + *got.PageInfo.StartCursor
			}
		}
		old := slices.DeleteFunc(seen, func(id string) bool { return !known[id] })
		if direction.count == "last" {
			slices.Reverse(old)
		}
		servicetest.Same(t, direction.count, order, old)
	}
	close(stop)
	group.Wait()
}

// TestCursorSurvivesChange shows that a cursor holds when its record changes, and is not
// bound to the filters. Spec gap: L4.
func TestCursorSurvivesChange(t *testing.T) {
	t.Parallel()
	w, token, order := listed(t, 3)
	first := page(t, w.Do(token, "GET", "/api/v1/persons?first=1", ""))
	w.Want(200, token, "PUT", "/api/v1/persons/"+order[0]+"/actions/update", `{"language":"fr"}`)
	next := page(t,
		w.Do(token, "GET", "/api/v1/persons?first=1&createdAfter=2020-01-01&after="+*first.PageInfo.EndCursor, ""))
	if len(next.Edges) != 1 || next.Edges[0].Node["uuid"] != order[1] {
		t.Errorf("got %v, want %s", next.Edges, order[1])
	}
	for _, list := range []string{"calls", "pledges"} {
		w.Want(400, token, "GET", "/api/v1/"+list+"?after="+*first.PageInfo.EndCursor, "")
	}
}

// TestBlankIBANFindsNobody shows no person for a blank filter, instead of all.
func TestBlankIBANFindsNobody(t *testing.T) {
	t.Parallel()
	w, token, _ := listed(t, 2)
	for _, blank := range []string{"%20", "+", "%09%C2%A0"} {
		got := page(t, w.Do(token, "GET", "/api/v1/persons?iban="+blank, ""))
		if len(got.Edges) > 0 || got.PageInfo.HasNextPage {
			t.Errorf("iban=%s: got %d persons, want none", blank, len(got.Edges))
		}
	}
}

// TestPagesFromWhatDoesNotPass begins pages at every record of a list with a filter that every second one passes. The
// flags are exact even if the cursor's own record is not in the list. Spec gaps: L3, L4.
func TestPagesFromWhatDoesNotPass(t *testing.T) {
	t.Parallel()
	const n, iban = 6, "NL91ABNA0417164300"
	w, token, order := listed(t, n)
	var passing []int
	for i := 1; i < n; i += 2 {
		passing = append(passing, i)
		w.Want(200, token, "PUT", "/api/v1/persons/"+order[i]+"/actions/update", `{"iban":"`+iban+`"}`)
	}
	for i, edge := range page(t, w.Do(token, "GET", "/api/v1/persons", "")).Edges {
		after, found := slices.BinarySearch(passing, i)
		before := after // How many pass before the place.
		if found {
			after++
		}
		for _, test := range []struct {
			query                string
			part                 []int
			hasPrevious, hasNext bool
		}{
			{"first=1&after=", passing[after:], after > 0, len(passing)-after > 1},
			{"last=1&before=", passing[:before], before > 1, before < len(passing)},
		} {
			got := page(t, w.Do(token, "GET", "/api/v1/persons?iban="+iban+"&"+test.query+edge.Cursor, ""))
			if got.PageInfo.HasPreviousPage != test.hasPrevious ||
				got.PageInfo.HasNextPage != test.hasNext ||
				len(got.Edges) != min(1, len(test.part)) {
				t.Errorf("%s of %d: got %d records, previous %v, next %v, want %v, %v of %v", test.query, i,
					len(got.Edges),
					got.PageInfo.HasPreviousPage, got.PageInfo.HasNextPage, test.hasPrevious, test.hasNext, test.part)
			}
		}
	}
}

// TestArrayParameters shows both forms of an array. Spec gap: L7.
func TestArrayParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.a.organization.String(), w.b.organization.String()
	for query, want := range map[string]int{
		"owningOrganizationUuids=" + a:                                   1,
		"owningOrganizationUuids=" + a + "," + b:                         2,
		"owningOrganizationUuids=" + a + "&owningOrganizationUuids=" + b: 2,
		"owningOrganizationUuids=" + a + "&owningOrganizationUuids=" + a: 1,
		"owningOrganizationUuids=" + user:                                0,
	} {
		if got := page(t, w.get("/api/v1/persons?"+query)); len(got.Edges) != want {
			t.Errorf("%s: got %d persons, want %d", query, len(got.Edges), want)
		}
	}
}

// The longest texts that the interface allows are stored and found again, also where an index
// holds several of them: none is too long for a database.
func TestLongestTextsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 1))
	longest := func() string { // Of four bytes a character, which no compression makes shorter.
		var b strings.Builder
		for range 1000 {
			b.WriteRune(rune(0x20000 + random.IntN(0xA000)))
		}
		return b.String()
	}
	application, reference, code := longest(), longest(), longest()
	call := fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20T08:00:00Z","externalMetadata":{"applicationName":%q,"referenceId":%q,"statusCode":%q}}`,
		w.a.person, application, reference, code)
	for range 2 {
		w.Want(http.StatusCreated, w.all, http.MethodPost, "/api/v1/calls", call)
	}
	for _, query := range []url.Values{
		{"externalStatusCode": {code}},
		{"externalApplicationName": {application}, "externalReferenceId": {reference}},
		{"externalApplicationName": {application}, "externalReferenceId": {reference}, "externalStatusCode": {code}},
	} {
		answer := w.get("/api/v1/calls?" + query.Encode())
		if n := strings.Count(string(answer.Body), `"cursor"`); answer.Status != http.StatusOK || n != 2 {
			t.Errorf("got %d with %d calls: %.300s, want both", answer.Status, n, answer.Body)
		}
	}
	other := url.Values{"externalStatusCode": {code[:len(code)-4] + "x"}}
	if answer := w.get("/api/v1/calls?" + other.Encode()); strings.Contains(string(answer.Body), `"cursor"`) {
		t.Errorf("got %.300s, want no call of a code that begins alike", answer.Body)
	}
	source := string([]rune(application)[:200])
	marks := w.Token(servicetest.May(service.EntitiesMark), servicetest.Sources(source))
	mark := fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20T08:00:00Z","externalSourceName":%q}]}`, w.a.call, source)
	answer := w.Do(marks, http.MethodPost, "/api/v1/entity-access/actions/mark-processed", mark)
	if answer.Status >= 300 {
		t.Errorf("mark: got %d %.300s", answer.Status, answer.Body)
	}
}
