//go:build unix

package httpapi_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The sizes of BenchmarkLarge, in calls, and where its databases stay.
var (
	largeCalls = flag.Int("calls", 100_000, "calls in the large database of BenchmarkLarge")
	smallCalls = flag.Int("small-calls", 10_000, "calls in the small database of BenchmarkLarge")
	keep       = flag.String("keep", "", "folder that keeps the SQLite databases of BenchmarkLarge")
	fillOnly   = flag.Bool("fill-only", false, "let BenchmarkLarge fill its databases, and ask nothing")
)

// BenchmarkLarge answers the same requests from a small and a large database of each
// engine, in turn, and prints the lower quartiles of their times, which other work on the
// machine disturbs least, and their ratio: no list may hang on the number of records. Ten
// million calls need 30 GB for each engine:
//
//	go test ./service/httpapi -run '^$' -bench BenchmarkLarge -benchtime 1x -timeout 3h -calls 10000000
//
// With -keep they are filled once, and asked again and again.
// Promise S16: the lists of up to 16 organizations are merged of one index walk each.
// Promise S29: what a page includes lies together.
func BenchmarkLarge(b *testing.B) {
	for _, engine := range []struct {
		name     string
		database func(b *testing.B, calls int) string
	}{{"SQLite", largeFile}, {"PostgreSQL", largeServer}} {
		b.Run(engine.name, func(b *testing.B) {
			databases := [2]string{engine.database(b, *smallCalls), engine.database(b, *largeCalls)}
			if *fillOnly {
				return
			}
			small, large := newLarge(b, databases[0]), newLarge(b, databases[1])
			b.ResetTimer()
			for i, name := range largeNames {
				compareLarge(b, name, small, large, small.requests[i], large.requests[i])
			}
		})
	}
}

// largeFile is an SQLite file with so many calls, a kept one where there is one.
func largeFile(b *testing.B, calls int) string {
	b.Helper()
	folder := *keep
	if folder == "" {
		folder = b.TempDir()
	}
	path := filepath.Join(folder, fmt.Sprintf("large_%d.db", calls))
	if _, err := os.Stat(path); err == nil {
		return "sqlite:" + path
	}
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.Fatal(err)
	}
	fillLarge(b, "sqlite:"+partial, calls)
	servicetest.Check(b, os.Rename(partial, path))
	return "sqlite:" + path
}

// largeServer is a PostgreSQL database with so many calls.
func largeServer(b *testing.B, calls int) string {
	b.Helper()
	database := servicetest.EmptyDatabase(b)
	fillLarge(b, database, calls)
	return database
}

func fillLarge(b *testing.B, database string, calls int) {
	b.Helper()
	start := time.Now()
	servicetest.FillLarge(b, database, calls, func(text string) { b.Log(text) })
	b.Logf("%d calls are there after %v", calls, time.Since(start).Round(time.Second))
}

// largeDatabase is a service on a filled database, with the requests that fit it.
type largeDatabase struct {
	*servicetest.Harness
	token    string // Of an account that sees everything.
	one      string // Of an account of one organization.
	requests []largeRequest
}

type largeRequest struct {
	path   string
	scoped bool // Asked by the account of one organization.
}

var largeNames = []string{
	"one call", "one person", "one pledge",
	"first page", "deep page", "oldest page", "page of one organization", "page in one organization's scope",
	"page with person", "page with quality", "page with pledge", "page with transactions", "page with everything",
	"status code", "status code, deep", "external reference", "no reference", "no reference, deep",
	"requested between", "requested after", "updated in 30 days", "updated in two years",
	"persons", "persons, deep", "persons of an IBAN", "persons created after", "persons of one organization",
	"pledges", "pledges, deep", "pledges with transactions", "pledges of a person", "pledges by status", "pledges by QR", "pledges without QR",
	"pledges updated in 150 days", "pledges released in 150 days", "active pledges updated in two years",
}

func newLarge(b *testing.B, database string) *largeDatabase {
	b.Helper()
	l := &largeDatabase{Harness: servicetest.NewOn(b, database)}
	l.token = l.Token()
	node := func(path string) map[string]any {
		return l.Do(l.token, "GET", path, "").Object()["edges"].([]any)[0].(map[string]any)["node"].(map[string]any)
	}
	cursor := func(path string) string {
		return l.Do(l.token, "GET", path, "").Object()["pageInfo"].(map[string]any)["endCursor"].(string)
	}
	day := func(n int) string { return servicetest.Start.AddDate(0, 0, -n).Format(time.RFC3339) }
	middle := "requestedFrom=2000-01-01&requestedUntil=" + day(365)
	// A cursor of each list by itself: its row, which is read along, passes the filters.
	deep := func(path string) string { return path + "&after=" + cursor(path+"&"+middle) }
	person := node("/api/v1/persons?first=1&createdAfter=" + day(300))
	organization := person["owningOrganization"].(map[string]any)["uuid"].(string)
	id, err := apitype.ParseUUID(organization)
	servicetest.Check(b, err)
	l.one = l.Token(servicetest.For(id))
	pledge := l.Do(l.token, "GET", "/api/v1/pledges/"+node("/api/v1/pledges?last=1")["uuid"].(string), "").Object()
	owner := pledge["person"].(map[string]any)["uuid"].(string)
	deepPerson := cursor("/api/v1/persons?last=50")
	deepPledge := cursor("/api/v1/pledges?last=50")
	calls100, persons100, pledges100 := "/api/v1/calls?first=100", "/api/v1/persons?first=100", "/api/v1/pledges?first=100"
	for _, path := range []string{
		l.typicalCall(), "/api/v1/persons/" + owner, "/api/v1/pledges/" + pledge["uuid"].(string),
		calls100, deep(calls100), "/api/v1/calls?last=100", calls100 + "&owningOrganizationUuid=" + organization, calls100,
		calls100 + "&include=person", calls100 + "&include=personQualityResult", calls100 + "&include=pledge", calls100 + "&include=transactions",
		calls100 + "&include=personQualityResult,pledge,transactions",
		calls100 + "&externalStatusCode=S1", deep(calls100 + "&externalStatusCode=S1"),
		calls100 + "&externalApplicationName=dialler&externalReferenceId=D-0000000005",
		calls100 + "&externalApplicationName=null&externalReferenceId=null", deep(calls100 + "&externalApplicationName=null&externalReferenceId=null"),
		calls100 + "&" + middle, calls100 + "&requestedAfter=" + day(30), calls100 + "&updatedAfter=" + day(30), calls100 + "&updatedAfter=" + day(800),
		persons100, "/api/v1/persons?last=100&before=" + deepPerson, "/api/v1/persons?iban=NL00TEST0000000005", persons100 + "&createdAfter=" + day(100),
		persons100 + "&owningOrganizationUuids=" + organization,
		pledges100, "/api/v1/pledges?last=100&before=" + deepPledge, pledges100 + "&include=transactions", "/api/v1/pledges?personUuid=" + owner,
		pledges100 + "&status=active", pledges100 + "&withPaymentQr=true", pledges100 + "&withPaymentQr=false",
		pledges100 + "&updatedAfter=" + day(150), pledges100 + "&releasedAfter=" + day(150), pledges100 + "&status=active&updatedAfter=" + day(800),
	} {
		l.requests = append(l.requests, largeRequest{path: path})
	}
	l.requests[slices.Index(largeNames, "page in one organization's scope")].scoped = true
	return l
}

// typicalCall is the path of a call whose whole answer is about as large in any database:
// they vary by what belongs to the pledge.
func (l *largeDatabase) typicalCall() (path string) {
	const size = 12_000 // Bytes.
	distance := size
	for _, edge := range l.Do(l.token, "GET", "/api/v1/calls?first=100&externalStatusCode=S1", "").Object()["edges"].([]any) {
		one := "/api/v1/calls/" + edge.(map[string]any)["node"].(map[string]any)["uuid"].(string)
		off := len(l.Do(l.token, "GET", one, "").Body) - size
		if off = max(off, -off); off < distance {
			path, distance = one, off
		}
	}
	return path
}

// compareLarge asks both databases in turn.
func compareLarge(b *testing.B, name string, small, large *largeDatabase, a, c largeRequest) {
	b.Helper()
	const rounds = 91
	times := [2][]time.Duration{}
	bytes := [2]int{} // Of the answers: the more records, the more different ones a page includes.
	for round := range rounds {
		for i, one := range []struct {
			*largeDatabase
			largeRequest
		}{{small, a}, {large, c}} {
			token := one.token
			if one.scoped {
				token = one.one
			}
			request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, one.path, http.NoBody)
			request.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			start := time.Now()
			one.Handler.ServeHTTP(w, request)
			took := time.Since(start)
			if w.Code != http.StatusOK {
				b.Fatalf("%s: got %d", name, w.Code)
			}
			bytes[i] = w.Body.Len()
			if round > 10 { // By then plans are settled and caches filled.
				times[i] = append(times[i], took)
			}
		}
	}
	quartile := func(all []time.Duration) time.Duration { slices.Sort(all); return all[len(all)/4] }
	before, after := quartile(times[0]), quartile(times[1])
	fmt.Printf("%-11s %-38s %4d kB %6d µs %4d kB %6d µs  ×%.2f\n", strings.SplitN(b.Name(), "/", 2)[1], name,
		bytes[0]/1000, before.Microseconds(), bytes[1]/1000, after.Microseconds(), after.Seconds()/before.Seconds())
}
