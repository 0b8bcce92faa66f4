//go:build unix

package httpapi_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// discard is a ResponseWriter that keeps nothing, so that only the service is measured.
type discard struct {
	header http.Header
	status int
}

// Header is the answer's header.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader keeps the status.
func (d *discard) WriteHeader(status int) { d.status = status }

// Write drops the data.
func (d *discard) Write(data []byte) (int, error) { return len(data), nil }

// persons is the size of the sample that BenchmarkRead reads, with half as many calls
// again.
var persons = flag.Int("persons", 5000, "persons in the sample of BenchmarkRead")

// BenchmarkRead answers requests from the sample, without a socket; on PostgreSQL where
// FUNDESK_TEST_POSTGRES names a server, and from the database that FUNDESK_TEST_DATABASE
// names where that is set. The goals: one record 110 µs of
// processor time, a page of 100 plain 0.5 ms, with person and pledge 1.6 ms, a deep page
// within a tenth of the first.
func BenchmarkRead(b *testing.B) {
	h := servicetest.New(b)
	if os.Getenv(servicetest.DatabaseVariable) == "" {
		h.Sample(*persons)
	}
	token := h.Token()
	first := func(path string) map[string]any {
		return h.Do(token, "GET", path, "").Object()["edges"].([]any)[0].(map[string]any)["node"].(map[string]any)
	}
	person, pledge := first("/api/v1/persons?first=1"), h.Do(token, "GET", "/api/v1/pledges/"+first("/api/v1/pledges?last=1")["uuid"].(string), "").Object()
	organization := person["owningOrganization"].(map[string]any)["uuid"].(string)
	one := first("/api/v1/calls?first=1")["uuid"].(string)
	// In the middle, as far from both ends as it gets: the oldest half begins there.
	middle := servicetest.Start.AddDate(0, -6, 0).Format(time.RFC3339)
	page := h.Do(token, "GET", "/api/v1/calls?first=1&requestedFrom=2000-01-01&requestedUntil="+middle, "").Object()
	deep := "/api/v1/calls?first=100&after=" + page["pageInfo"].(map[string]any)["endCursor"].(string)
	for _, bench := range []struct{ name, path string }{
		{"one call", "/api/v1/calls/" + one},
		{"page", "/api/v1/calls?first=100"},
		{"deep page", deep},
		{"last page", "/api/v1/calls?last=100"},
		{"page of one organization", "/api/v1/calls?first=100&owningOrganizationUuid=" + organization},
		{"page with person and pledge", "/api/v1/calls?first=100&include=person,pledge"},
		{"page with transactions", "/api/v1/calls?first=100&include=transactions"},
		{"page with everything", "/api/v1/calls?first=100&include=personQualityResult,pledge,transactions"},
		{"page of a status code", "/api/v1/calls?first=100&externalStatusCode=none"},
		{"page without reference", "/api/v1/calls?first=100&externalApplicationName=null&externalReferenceId=null"},
		{"page updated after", "/api/v1/calls?first=100&updatedAfter=" + servicetest.Start.AddDate(0, 0, -1).Format(time.RFC3339)},
		{"page updated long after", "/api/v1/calls?first=100&updatedAfter=2000-01-01"},
		{"page of persons", "/api/v1/persons?first=100"},
		{"persons of an IBAN", "/api/v1/persons?iban=NL91ABNA0417164300"},
		{"page of pledges", "/api/v1/pledges?first=100"},
		{"pledges of a person", "/api/v1/pledges?personUuid=" + pledge["person"].(map[string]any)["uuid"].(string)},
		{"pledges by status", "/api/v1/pledges?first=100&status=lead"},
		{"pledges by QR", "/api/v1/pledges?first=100&withPaymentQr=true"},
		{"pledges released after", "/api/v1/pledges?first=100&releasedAfter=" + servicetest.Start.AddDate(0, 0, -1).Format(time.RFC3339)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, bench.path, http.NoBody)
			request.Header.Set("Authorization", "Bearer "+token)
			start := processorTime(b)
			for b.Loop() {
				w := &discard{header: http.Header{}}
				h.Handler.ServeHTTP(w, request)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
			b.ReportMetric(float64((processorTime(b)-start).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// processorTime is what this process used so far: other work on the machine does not
// change it.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkCreate creates persons from many connections, each durable before it is
// answered: they share commits.
func BenchmarkCreate(b *testing.B) {
	for _, connections := range []int{1, 16, 64} {
		b.Run(strconv.Itoa(connections), func(b *testing.B) {
			h := servicetest.New(b)
			token := h.Token()
			o := owned{organization: h.Organization("A")}
			body := (&world{Harness: h}).personBody(o)
			b.SetParallelism(connections)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if got := h.Do(token, "POST", "/api/v1/persons", body); got.Status != http.StatusCreated {
						b.Error(got.Status)
						return
					}
				}
			})
		})
	}
}
