//go:build unix

package httpapi_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The sizes of BenchmarkLarge, in calls.
var (
	largeCalls = flag.Int("calls", 100_000, "calls in the large database of BenchmarkLarge")
	smallCalls = flag.Int("small-calls", 10_000, "calls in the small database of BenchmarkLarge")
)

// BenchmarkLarge answers the same requests from a small and a large database of each
// engine, in turn, and prints the lower quartiles of their times, which other work on the
// machine disturbs least, and their ratio: no list may hang on the number of records. Ten
// million calls need 30 GB for each engine:
//
//	go test ./service/httpapi -run '^$' -bench BenchmarkLarge -benchtime 1x -timeout 3h -calls 10000000
//
// Promise S16: the lists of up to 16 organizations are merged of one index walk each.
// Promise S29: what a page includes lies together.
func BenchmarkLarge(b *testing.B) {
	for engine, database := range map[string]func(b testing.TB) string{
		"SQLite":     func(b testing.TB) string { return "sqlite:" + filepath.Join(b.TempDir(), "a.db") },
		"PostgreSQL": servicetest.EmptyDatabase,
	} {
		b.Run(engine, func(b *testing.B) {
			small, large := newLarge(b, database(b), *smallCalls), newLarge(b, database(b), *largeCalls)
			b.ResetTimer()
			for i, request := range small.requests {
				compareLarge(b, request.name, small, large, i)
			}
		})
	}
}

// largeDatabase is a service on a filled database, with the requests that fit it.
type largeDatabase struct {
	*servicetest.Harness
	requests []largeRequest
}

type largeRequest struct{ name, path, token string }

func newLarge(b *testing.B, database string, calls int) *largeDatabase {
	b.Helper()
	servicetest.FillLarge(b, database, calls, func(text string) { b.Log(text) })
	l := &largeDatabase{Harness: servicetest.NewOn(b, database)}
	token := l.Token()
	pageInfo := func(path, name string) any {
		return l.Do(token, "GET", path, "").Object()["pageInfo"].(map[string]any)[name]
	}
	node := func(path string) map[string]any {
		return l.Do(token, "GET", path, "").Object()["edges"].([]any)[0].(map[string]any)["node"].(map[string]any)
	}
	day := func(n int) string { return servicetest.Start.AddDate(0, 0, -n).Format(time.RFC3339) }
	middle := "requestedFrom=2000-01-01&requestedUntil=" + day(365)
	person := node("/api/v1/persons?first=1&createdAfter=" + day(300))
	organization := person["owningOrganization"].(map[string]any)["uuid"].(string)
	one := l.Token(servicetest.For(apitype.MustParseUUID(organization)))
	calls100 := "/api/v1/calls?first=100"
	persons100 := "/api/v1/persons?first=100"
	pledges100 := "/api/v1/pledges?first=100"
	deep := fmt.Sprint("&after=", pageInfo(calls100+"&"+middle, "endCursor"))
	deepPledge := fmt.Sprint(pageInfo("/api/v1/pledges?last=50", "startCursor"))
	pledge := node("/api/v1/pledges?last=1")["uuid"].(string)
	l.requests = []largeRequest{
		{"one person", "/api/v1/persons/" + person["uuid"].(string), token},
		{"one pledge", "/api/v1/pledges/" + pledge, token},
		{"first page", calls100, token},
		{"deep page", calls100 + deep, token},
		{"oldest page", "/api/v1/calls?last=100", token},
		{"page of one organization", calls100 + "&owningOrganizationUuid=" + organization, token},
		{"page in one organization's scope", calls100, one},
		{"page with everything", calls100 + "&include=personQualityResult,pledge,transactions", token},
		{"status code", calls100 + "&externalStatusCode=S1", token},
		{"external reference", calls100 + "&externalApplicationName=dialler&externalReferenceId=D-0000000005", token},
		{"no reference", calls100 + "&externalApplicationName=null&externalReferenceId=null", token},
		{"requested between", calls100 + "&" + middle, token},
		{"updated in 30 days", calls100 + "&updatedAfter=" + day(30), token},
		{"updated in two years", calls100 + "&updatedAfter=" + day(800), token},
		{"persons", persons100, token},
		{"persons created after", persons100 + "&createdAfter=" + day(100), token},
		{"persons of one organization", persons100 + "&owningOrganizationUuids=" + organization, token},
		{"pledges, deep", "/api/v1/pledges?last=100&before=" + deepPledge, token},
		{"pledges with transactions", pledges100 + "&include=transactions", token},
		{"pledges by status", pledges100 + "&status=active", token},
		{"pledges without QR", pledges100 + "&withPaymentQr=false", token},
		{"pledges released in 150 days", pledges100 + "&releasedAfter=" + day(150), token},
		{"active pledges updated in two years", pledges100 + "&status=active&updatedAfter=" + day(800), token},
	}
	return l
}

// compareLarge asks both databases in turn.
func compareLarge(b *testing.B, name string, small, large *largeDatabase, i int) {
	b.Helper()
	const rounds, warm = 91, 10 // Then plans are settled and caches filled.
	var times [2][]time.Duration
	var bytes [2]int // Of the answers: the more records, the more different ones a page includes.
	for round := range rounds {
		for n, l := range []*largeDatabase{small, large} {
			request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, l.requests[i].path, http.NoBody)
			request.Header.Set("Authorization", "Bearer "+l.requests[i].token)
			w := httptest.NewRecorder()
			start := time.Now()
			l.Handler.ServeHTTP(w, request)
			took := time.Since(start)
			if w.Code != http.StatusOK {
				b.Fatalf("%s: got %d", name, w.Code)
			}
			bytes[n] = w.Body.Len()
			if round > warm {
				times[n] = append(times[n], took)
			}
		}
	}
	quartile := func(all []time.Duration) time.Duration {
		slices.Sort(all)
		return all[len(all)/4]
	}
	before, after := quartile(times[0]), quartile(times[1])
	fmt.Printf("%-11s %-38s %4d kB %6d µs %4d kB %6d µs  ×%.2f\n", strings.SplitN(b.Name(), "/", 2)[1], name,
		bytes[0]/1000, before.Microseconds(), bytes[1]/1000, after.Microseconds(), after.Seconds()/before.Seconds())
}
